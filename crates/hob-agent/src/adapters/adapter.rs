//! The description of a program: data, the planning of a run, the parsing of its events.

use std::path::{Path, PathBuf};

use hob_process::Environment;
use hob_sandbox::Tier;

use crate::{adapters::parsed_output::ParsedOutput, egress::Services, native::Speaks};

/// A program's version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(pub(super) u32, pub(super) u32, pub(super) u32);

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// A program that Hob knows how to run.
pub(super) struct Adapter {
    /// The program's name on the path.
    pub(super) program: &'static str,
    /// The command that installs it.
    pub(super) install: &'static str,
    /// The oldest version with these flags and events.
    pub(super) minimum: Version,
    /// The argument that makes it print its version.
    pub(super) version: &'static str,
    /// Variables that are passed to it if they are set: keys and addresses of its services.
    pub(super) variables: &'static [&'static str],
    /// The way in which it gets the prompt.
    pub(super) prompt: Prompt,
    /// The prefix of the model's name in the names of `[model.prices]`.
    pub(super) prices: &'static str,
    /// Prefixes of names that it leaves at the top of the folder and that are not work.
    pub(super) litter: &'static [&'static str],
    /// Files and folders of a repository that it uses as its own settings, including programs to start and servers to
    /// ask.
    pub(super) controls: &'static [&'static str],
    /// The way in which it calls the tools of an investigation.
    pub(super) speaks: Speaks,
    /// Plans a run.
    pub(super) plan: fn(&Situation<'_>) -> Plan,
    /// Reads one line of its output; what it returns is shown as progress.
    pub(super) read: fn(&str, &mut ParsedOutput) -> Option<String>,
    /// Reads what it left in its home at its end.
    pub(super) after: Option<fn(&Path, &mut ParsedOutput)>,
}

/// The way in which a prompt reaches a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prompt {
    /// On standard input.
    Stdin,
    /// In a file of its home; the plan has its path.
    File,
    /// As the plan's argument [`PROMPT`].
    Argument,
}

/// The placeholder of the prompt among a plan's arguments.
pub(super) const PROMPT: &str = "{prompt}";

/// Milliseconds that a call of Hob's tools may take: a person may be asked, and the run has its own limit.
pub(super) const CALL_MS: u64 = 24 * 60 * 60 * 1_000;

/// The inputs to the planning of a run.
pub(super) struct Situation<'a> {
    /// The model as the program calls it.
    pub(super) model: Option<&'a str>,
    /// The address of Hob's tools as an MCP server, for a run that investigates. Its name is `hob`.
    pub(super) tools: Option<&'a str>,
    /// The addresses of the models' services.
    pub(super) services: &'a Services,
    /// The variables that reach the program.
    pub(super) variables: &'a Environment,
    /// The tier of the sandbox that already confines it.
    pub(super) tier: Tier,
    /// Its home.
    pub(super) home: &'a Path,
    /// The file with the prompt, for a program that reads one.
    pub(super) prompt_file: &'a Path,
    /// Millionths of a US dollar left; `None` means no limit.
    pub(super) usd_micros: Option<u64>,
    /// Whether its model's service may search the web for it.
    pub(super) searches: bool,
}

impl Situation<'_> {
    /// The value of a variable that reaches the program.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(std::ffi::OsStr::new(name)).map(|value| value.to_string_lossy().into_owned())
    }

    /// `flag` and the model, if one is named.
    pub(super) fn model_flag(&self, flag: &str) -> Vec<String> {
        self.model.map_or_else(Vec::new, |model| vec![flag.to_owned(), model.to_owned()])
    }
}

/// A planned run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// The arguments.
    pub(super) arguments: Vec<String>,
    /// Variables, beside the allow-list and those that are passed on.
    pub(super) environment: Vec<(&'static str, String)>,
    /// Files of the home, by their path in it.
    pub(super) files: Vec<(PathBuf, String)>,
}

/// Words as arguments.
pub(super) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
