//! The script of a server: commands, a closing text, and faults at steps.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Input tokens that each reply reports.
pub const INPUT_TOKENS: u64 = 100;
/// Output tokens that each reply reports.
pub const OUTPUT_TOKENS: u64 = 10;

/// The script for one run of an agent.
#[derive(Debug, Clone)]
pub struct Script {
    /// Shell commands, one a step.
    pub commands: Vec<String>,
    /// Calls of other tools instead of commands, one a step: the end of the tool's name, and the arguments.
    pub calls: Vec<(String, Value)>,
    /// The last reply, after all commands or calls.
    pub ending: String,
    /// The edit for a client that has no tools and takes edits as text.
    pub edit: Option<Edit>,
    /// The steps at which the server fails.
    pub faults: Vec<FaultAt>,
}

impl Script {
    /// A script of `commands` that ends with "The work is done." and has no faults.
    pub fn new(commands: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let commands = commands.into_iter().map(Into::into).collect();
        Self { commands, calls: Vec::new(), ending: "The work is done.".to_owned(), edit: None, faults: Vec::new() }
    }

    /// Plays `fault` at the step `step`, counted from 0.
    #[must_use]
    pub fn fault(mut self, step: usize, fault: Fault, times: Times) -> Self {
        self.faults.push(FaultAt { step, fault, times });
        self
    }

    /// A script of calls of tools other than the shell.
    pub fn of_calls(calls: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        let calls = calls.into_iter().map(|(tool, arguments)| (tool.to_owned(), arguments)).collect();
        Self { calls, ..Self::new([""; 0]) }
    }

    /// Gives this edit to a client that takes edits as text.
    #[must_use]
    pub fn edit(mut self, path: &str, text: &str) -> Self {
        self.edit = Some(Edit { path: path.to_owned(), text: text.to_owned() });
        self
    }
}

/// A new file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The path in the folder.
    pub path: String,
    /// Its content, without the last line's end.
    pub text: String,
}

/// A fault at a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultAt {
    /// The step, counted from 0.
    pub step: usize,
    /// The fault.
    pub fault: Fault,
    /// How often it is played.
    pub times: Times,
}

/// How often a fault is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    /// At the first request of its step; the next one is answered.
    Once,
    /// At each request of its step: the client can never continue.
    Always,
}

/// A fault in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// Status 500.
    ServerError,
    /// Status 429 with `retry-after: 1`.
    RateLimited,
    /// Status 200 and a body that is not a reply.
    Garbage,
    /// A call whose arguments are not JSON.
    BadArguments,
    /// The connection is reset before a byte of the answer.
    Reset,
    /// The connection ends after the stream's first event.
    CutAfterFirst,
    /// The connection ends in the middle of the stream.
    CutInMiddle,
    /// Status 429: the account's quota is used up for this long.
    Quota(Duration),
    /// Status 401: the key is rejected.
    Unauthorized,
}

impl Fault {
    /// The seven transient faults: an agent survives one if it ends its work all the same.
    pub const PASSING: [Self; 7] = [
        Self::ServerError,
        Self::RateLimited,
        Self::Garbage,
        Self::BadArguments,
        Self::Reset,
        Self::CutAfterFirst,
        Self::CutInMiddle,
    ];
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::ServerError => "500",
            Self::RateLimited => "429",
            Self::Garbage => "garbage",
            Self::BadArguments => "bad arguments",
            Self::Reset => "reset",
            Self::CutAfterFirst => "cut after the first event",
            Self::CutInMiddle => "cut in the middle",
            Self::Quota(_) => "quota",
            Self::Unauthorized => "401",
        })
    }
}
