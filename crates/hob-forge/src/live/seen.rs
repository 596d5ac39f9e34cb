//! One answer as the live check sees it, and the result of repeated requests.

use std::time::Duration;

use hob_text::clip;
use http::header;
use serde_json::Value;

use super::report::Outcome;
use crate::{ForgeError, reply::Reply};

/// Characters of the forge's words that a line shows.
const SHOWN: usize = 200;

/// A call without an answer that can be judged.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoAnswer {
    /// The run was asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// The forge did not answer, or it limits all calls.
    #[error(transparent)]
    Forge(#[from] ForgeError),
    /// The answer is not what was asked for.
    #[error("{0}")]
    Unexpected(String),
    /// GraphQL failed more than once.
    #[error("GraphQL did not answer: {0}")]
    GraphQl(String),
    /// GraphQL does not know the comment.
    #[error("GraphQL does not know the comment")]
    NoComment,
}

/// An answer.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) status: u16,
    /// The message of a refusal.
    message: String,
    pub(super) body: Value,
    pub(super) etag: Option<String>,
}

impl Seen {
    pub(super) fn new(reply: &Reply) -> Self {
        Self {
            status: reply.status.as_u16(),
            message: reply.message(),
            body: serde_json::from_slice(&reply.body).unwrap_or_default(),
            etag: reply.text(header::ETAG.as_str()).map(str::to_owned),
        }
    }

    /// Whether it is a success.
    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether it refuses with this status and these words.
    pub(super) fn refuses(&self, status: u16, words: &str) -> bool {
        self.status == status && self.message.contains(words)
    }

    /// The status, and the words of a refusal.
    pub(super) fn says(&self) -> String {
        match self.is_success() || self.status == 304 {
            true => self.status.to_string(),
            false => format!("{} \"{}\"", self.status, clip(&self.message, SHOWN)),
        }
    }

    /// As assumed if it is a success.
    pub(super) fn succeeds(&self) -> Outcome {
        if self.is_success() { Outcome::Ok(None) } else { Outcome::Differs(self.says()) }
    }

    /// As assumed if it refuses with this status and these words.
    pub(super) fn is_refusal(&self, status: u16, words: &str) -> Outcome {
        if self.refuses(status, words) { Outcome::ok(self.says()) } else { Outcome::Differs(self.says()) }
    }

    /// A text of its body; empty if it has none.
    pub(super) fn text(&self, pointer: &str) -> &str {
        self.body.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    /// A number of its body.
    pub(super) fn number(&self, pointer: &str) -> Option<u64> {
        self.body.pointer(pointer)?.as_u64()
    }
}

/// Whether a write with this answer may have had its effect without the answer saying what it created.
pub(super) fn is_unknown(asked: &Result<Seen, NoAnswer>) -> bool {
    !asked.as_ref().is_ok_and(|seen| seen.status < 500)
}

/// The result of requests until the answer was as wanted.
#[derive(Debug)]
pub(super) struct Waited {
    /// The number of requests.
    pub(super) asked: u32,
    /// The time since the write that it is about.
    pub(super) after: Duration,
    /// The last answer.
    pub(super) seen: Seen,
    /// Whether the last answer was as wanted.
    pub(super) came: bool,
}

impl Waited {
    /// As assumed if the first answer was as wanted.
    pub(super) fn is_at_once(&self) -> Outcome {
        let seconds = self.after.as_secs_f64();
        match (self.came, self.asked) {
            (true, 1) => Outcome::ok(format!("at once, after {seconds:.2} s")),
            (true, asked) => Outcome::Differs(format!("only when asked {asked} times, after {seconds:.2} s")),
            (false, asked) => {
                let says = self.seen.says();
                Outcome::Differs(format!("not within {seconds:.0} s, asked {asked} times; last: {says}"))
            }
        }
    }
}
