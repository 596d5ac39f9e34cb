//! The lines of a transcript.

use hob_config::FailedCommands;
use hob_domain::{IssueNumber, Outcome, RepoName, RunId, Spend};
use serde::{Deserialize, Serialize};

use crate::model::Verbatim;

/// The format of the transcripts that are written.
pub const VERSION: u32 = 2;

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The format: [`VERSION`].
    pub transcript: u32,
    /// The session's id: that of its first run.
    pub session: RunId,
    /// The repository.
    pub repo: RepoName,
    /// The issue.
    pub issue: IssueNumber,
    /// The agent's name.
    pub agent: String,
}

/// A line after the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The time, in milliseconds since 1970 by this machine's clock, for display only.
    pub at_ms: u64,
    /// The event.
    #[serde(flatten)]
    pub event: SessionEvent,
}

/// An event of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum SessionEvent {
    /// A run began; one that is not the first resumes the events above.
    Started {
        /// The run.
        run: RunId,
        /// The task.
        brief: String,
        /// The limits of the run.
        limits: RunLimits,
        /// The issue's bill when the run began.
        #[serde(default, skip_serializing_if = "is_nothing")]
        bill: Spend,
    },
    /// The agent reports what it does, in a line. The native agent's turns have the events below instead.
    #[serde(rename = "said")]
    Progress {
        /// The line.
        text: String,
    },
    /// A note of Hob's about the session itself.
    Noted {
        /// One sentence.
        text: String,
    },
    /// A text to a native agent's model between its turns: Hob's before the first one, and what people say later.
    Told {
        /// The text.
        text: String,
    },
    /// The model was asked. Only the size is kept: the request consists of the events above.
    Asked {
        /// The turn, from 1.
        turn: u32,
        /// Messages in the request.
        messages: usize,
    },
    /// The model replied.
    Replied {
        /// The turn, from 1.
        turn: u32,
        /// Its name.
        #[serde(default)]
        model: String,
        /// Its words.
        text: String,
        /// Tokens sent.
        input_tokens: u64,
        /// The cached ones of them.
        cached_tokens: u64,
        /// Tokens produced.
        output_tokens: u64,
        /// The cost of the reply, in millionths of a US dollar.
        usd_micros: u64,
        /// The reply as its service wrote it, if it must be sent back unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verbatim: Option<Verbatim>,
    },
    /// The cost of the run so far, with the most that requests under way can cost. It is kept before each is sent, and once
    /// its cost is known.
    Spending {
        /// The cost.
        spend: Spend,
    },
    /// The model called a tool.
    Action {
        /// The call's id.
        id: String,
        /// The tool.
        tool: String,
        /// The arguments, as the model wrote them.
        arguments: String,
    },
    /// The tool answered.
    Result {
        /// The call's id.
        id: String,
        /// Whether it failed.
        is_error: bool,
        /// The answer, as the model got it.
        text: String,
    },
    /// A turn is complete: a run that resumes the session begins after it.
    Turned {
        /// The turn, from 1.
        turn: u32,
        /// The note that the model got after the answers, or instead of them if it called nothing.
        note: String,
        /// Bytes that commands wrote so far.
        written: u64,
        /// Replies with a failed action so far.
        errors: u32,
        /// The number of the last errors in a row.
        errors_in_row: u32,
        /// Commands that ran and failed so far.
        #[serde(default)]
        failed_commands: FailedCommands,
    },
    /// A run ended.
    Ended {
        /// The outcome.
        outcome: Outcome,
        /// The cost of the run.
        spend: Spend,
    },
}

/// Whether nothing was spent.
fn is_nothing(spend: &Spend) -> bool {
    *spend == Spend::default()
}

/// The limits of one run; `None` means no limit.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunLimits {
    /// Seconds of wall time.
    pub seconds: u64,
    /// Millionths of a US dollar.
    pub usd_micros: Option<u64>,
    /// Tokens, sent and produced.
    pub tokens: Option<u64>,
}
