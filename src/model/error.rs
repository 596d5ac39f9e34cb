//! Why a model gave no reply.

use std::time::Duration;

use crate::domain::FailureClass;

/// A model that gave no reply.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The service answered with an error.
    #[error("the model's service answered {status}: {message}")]
    Status {
        /// The HTTP status, or 200 where the error came in the stream.
        status: u16,
        /// What the service said, bounded.
        message: String,
        /// What kind of failure it is.
        failure: FailureClass,
    },
    /// The request or the answer did not get through.
    #[error("reach the model's service: {0}")]
    Transport(String),
    /// The service was silent for too long.
    #[error("the model's service was silent for {} s", .0.as_secs())]
    Silent(Duration),
    /// The answer ended before the reply was complete.
    #[error("the model's answer was cut off")]
    Cut,
    /// The answer is not what the interface promises.
    #[error("the model's answer makes no sense: {0}")]
    Garbage(String),
    /// The answer is larger than any reply can be.
    #[error("the model's answer has more than {0} bytes")]
    TooBig(usize),
    /// The recorded replies do not fit the run.
    #[error("cassette: {0}")]
    Cassette(String),
    /// Something has to be set up first.
    #[error("{0}")]
    Setup(String),
}

impl ModelError {
    /// What kind of failure it is.
    pub fn failure(&self) -> FailureClass {
        match self {
            Self::Status { failure, .. } => failure.clone(),
            Self::Transport(_) | Self::Silent(_) | Self::Cut | Self::Garbage(_) | Self::TooBig(_) => {
                FailureClass::Transient { retry_after: None }
            }
            Self::Cassette(_) => FailureClass::Permanent,
            Self::Setup(_) => FailureClass::NeedsHuman,
        }
    }

    /// Whether the service said that the request is too long for the model. Services have no common code for it.
    pub fn is_too_long(&self) -> bool {
        let Self::Status { status: 400 | 413, message, .. } = self else { return false };
        let message = message.to_lowercase();
        [
            "context length",
            "context_length",
            "context window",
            "too long",
            "too large",
            "too many tokens",
            "maximum number of tokens",
        ]
        .iter()
        .any(|sign| message.contains(sign))
    }
}
