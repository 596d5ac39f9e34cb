//! What is known about a program: data, how a run is planned, how its events are read.

use std::path::{Path, PathBuf};

use hob_process::Environment;
use hob_sandbox::Tier;

use crate::{adapters::parsed_output::ParsedOutput, egress::Services, native::Speaks};

/// A version's three numbers.
pub(super) type Version = (u32, u32, u32);

/// A program that Hob knows how to run.
pub(super) struct Adapter {
    /// The program's name on the path.
    pub(super) program: &'static str,
    /// The command that installs it.
    pub(super) install: &'static str,
    /// The oldest version whose flags and events these are.
    pub(super) minimum: Version,
    /// The argument that makes it print its version.
    pub(super) version: &'static str,
    /// Variables that reach it, where they are set: keys and addresses of its services.
    pub(super) variables: &'static [&'static str],
    /// How it gets the prompt.
    pub(super) prompt: Prompt,
    /// What stands before the model's name in the names of `[model.prices]`.
    pub(super) prices: &'static str,
    /// Beginnings of names that it leaves in the folder's top, which are no work.
    pub(super) litter: &'static [&'static str],
    /// Files and folders of a repository that it takes for its own settings, programs to start and servers to ask among them.
    pub(super) controls: &'static [&'static str],
    /// How it calls the tools of an investigation.
    pub(super) speaks: Speaks,
    /// Plans a run.
    pub(super) plan: fn(&Situation<'_>) -> Plan,
    /// Reads one line of its output; what it returns is shown as progress.
    pub(super) read: fn(&str, &mut ParsedOutput) -> Option<String>,
    /// Reads what it left in its home when it ended.
    pub(super) after: Option<fn(&Path, &mut ParsedOutput)>,
}

/// How a prompt reaches a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prompt {
    /// On standard input.
    Stdin,
    /// In a file of its home, whose path the plan names.
    File,
    /// As the argument that the plan names [`PROMPT`].
    Argument,
}

/// Stands for the prompt among a plan's arguments.
pub(super) const PROMPT: &str = "{prompt}";

/// Milliseconds that a call of Hob's tools may take: a person may be asked, and the run has a limit of its own.
pub(super) const CALL_MS: u64 = 24 * 60 * 60 * 1_000;

/// What a run is planned from.
pub(super) struct Situation<'a> {
    /// The model as the program calls it.
    pub(super) model: Option<&'a str>,
    /// Where Hob's tools are as an MCP server, for a run that investigates. Its name is `hob`.
    pub(super) tools: Option<&'a str>,
    /// Where models are.
    pub(super) services: &'a Services,
    /// The variables that reach the program.
    pub(super) variables: &'a Environment,
    /// What it is held to already.
    pub(super) tier: Tier,
    /// Its home.
    pub(super) home: &'a Path,
    /// The file with the prompt, for a program that reads one.
    pub(super) prompt_file: &'a Path,
    /// Millionths of a US dollar left; none: not limited.
    pub(super) usd_micros: Option<u64>,
}

impl Situation<'_> {
    /// The value of a variable that reaches the program.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(std::ffi::OsStr::new(name)).map(|value| value.to_string_lossy().into_owned())
    }

    /// `flag` and the model, where one is named.
    pub(super) fn model_flag(&self, flag: &str) -> Vec<String> {
        self.model.map_or_else(Vec::new, |model| vec![flag.to_owned(), model.to_owned()])
    }
}

/// A run as it will be.
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
