//! The result of an action: a text for the model, or the end of the run.

use hob_domain::Outcome;
use hob_process::Exit;

use crate::{model::Picture, native::tools::ToolError};

/// The result of an action.
#[derive(Debug)]
pub(in crate::native) enum Answer {
    /// A text for the model.
    Text(String),
    /// A picture, with a text about it.
    Shown(String, Picture),
    /// The output of a command that ran, with any exit code: a failing test is news.
    Ran(String, CommandResult),
    /// The end of the run.
    End(Outcome),
}

/// The end of a command that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::native) enum CommandResult {
    /// Exit code 0.
    Succeeded,
    /// Another exit code, a signal, or an end by Hob, in words.
    Failed(String),
}

impl CommandResult {
    /// The result of a command with this exit.
    pub(super) fn new(exit: Exit) -> Self {
        if exit.is_success() { Self::Succeeded } else { Self::Failed(exit.to_string()) }
    }

    /// The result of the command that an action ran; `None` if none ran.
    pub(in crate::native) fn in_answer(answer: &Result<Answer, ToolError>) -> Option<Self> {
        match answer {
            Ok(Answer::Ran(_, result)) => Some(result.clone()),
            Err(ToolError::Ended { how, .. }) => Some(Self::Failed(how.clone())),
            Ok(_) | Err(_) => None,
        }
    }
}
