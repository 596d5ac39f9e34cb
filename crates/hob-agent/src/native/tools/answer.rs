//! What comes of an action: a text for the model, or the end of the run.

use hob_domain::Outcome;
use hob_process::Exit;

use crate::native::tools::ToolError;

/// What came of an action.
#[derive(Debug)]
pub(in crate::native) enum Answer {
    /// A text for the model.
    Text(String),
    /// What a command printed that ran, whatever its exit code: a failing test is news.
    Ran(String, CommandResult),
    /// The end of the run.
    End(Outcome),
}

/// How a command ended that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::native) enum CommandResult {
    /// With exit code 0.
    Succeeded,
    /// With another one, by a signal, or because Hob ended it: how.
    Failed(String),
}

impl CommandResult {
    /// That of a command with this exit.
    pub(super) fn of(exit: Exit) -> Self {
        if exit.is_success() { Self::Succeeded } else { Self::Failed(exit.to_string()) }
    }

    /// That of the command that an action ran; none: no command ran.
    pub(in crate::native) fn in_answer(answer: &Result<Answer, ToolError>) -> Option<Self> {
        match answer {
            Ok(Answer::Ran(_, result)) => Some(result.clone()),
            Err(ToolError::Ended { how, .. }) => Some(Self::Failed(how.clone())),
            Ok(_) | Err(_) => None,
        }
    }
}
