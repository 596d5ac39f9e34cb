//! The lines of a transcript.

use serde::{Deserialize, Serialize};

use crate::domain::{IssueNumber, Outcome, RepoName, RunId};

/// The format of the transcripts that are written.
pub const VERSION: u32 = 1;

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The format: [`VERSION`].
    pub transcript: u32,
    /// The run.
    pub run: RunId,
    /// The repository.
    pub repo: RepoName,
    /// The issue.
    pub issue: IssueNumber,
}

/// A line after the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Milliseconds since the run began.
    pub at_ms: u64,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The run began.
    Started {
        /// What works: an agent's or a model's name.
        agent: String,
        /// The task.
        brief: String,
    },
    /// The model was asked. Only the size is kept: the request is what stands above.
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
        /// Those of them that were cached.
        cached_tokens: u64,
        /// Tokens produced.
        output_tokens: u64,
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
    /// The run ended.
    Ended {
        /// How.
        outcome: Outcome,
    },
}
