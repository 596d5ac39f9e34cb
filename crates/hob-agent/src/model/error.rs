//! Why a model gave no reply.

use std::{borrow::Cow, time::Duration};

use hob_domain::FailureClass;
use hob_egress::Stop;

/// A model that gave no reply.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The service answered with an error.
    #[error("the model's service answered {status}: {message}")]
    Status {
        /// The HTTP status, or 200 if the error came in the stream.
        status: u16,
        /// The service's message, bounded.
        message: String,
        /// The class of the failure.
        failure: FailureClass,
    },
    /// The service reported that the request is too long for the model.
    #[error("the request is too long for the model: {0}")]
    TooLong(String),
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
    #[error("the model's answer is malformed: {0}")]
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
    /// The rest of the budget does not carry the request.
    #[error("the budget of the run is spent and the agent was not done: {0}")]
    Money(#[from] Stop),
    /// Each model that was asked failed, in this order.
    #[error("{}", joined(.0))]
    All(Vec<(String, Self)>),
}

fn joined(failures: &[(String, ModelError)]) -> String {
    failures.iter().map(|(model, error)| format!("`{model}`: {error}")).collect::<Vec<_>>().join("; ")
}

impl ModelError {
    /// The service's message, if it refused the request for what is in it.
    pub(super) fn refusal(&self) -> Option<&str> {
        match self {
            Self::Status { status: 400 | 422, message, .. } => Some(message),
            Self::Status { .. }
            | Self::TooLong(_)
            | Self::Transport(_)
            | Self::Silent(_)
            | Self::Cut
            | Self::Garbage(_)
            | Self::TooBig(_)
            | Self::Cassette(_)
            | Self::Setup(_)
            | Self::Money(_)
            | Self::All(_) => None,
        }
    }

    /// A word for it, for programs: the HTTP status of an answer.
    pub(crate) fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Status { status, .. } => return Cow::Owned(status.to_string()),
            Self::TooLong(_) => "too_long",
            Self::Transport(_) => "transport",
            Self::Silent(_) => "timeout",
            Self::Cut => "cut_off",
            Self::Garbage(_) => "malformed",
            Self::TooBig(_) => "too_big",
            Self::Cassette(_) => "cassette",
            Self::Setup(_) => "setup",
            Self::Money(_) => "budget",
            Self::All(_) => "all_models",
        })
    }

    /// The class of the failure.
    pub fn failure(&self) -> FailureClass {
        match self {
            Self::Status { failure, .. } => failure.clone(),
            Self::Transport(_) | Self::Silent(_) | Self::Cut | Self::Garbage(_) | Self::TooBig(_) => {
                FailureClass::Transient { retry_after: None }
            }
            Self::Cassette(_) | Self::TooLong(_) => FailureClass::Permanent,
            Self::Setup(_) => FailureClass::Misconfigured,
            Self::Money(_) => FailureClass::NeedsHuman,
            Self::All(failures) => together(failures.iter().map(|(_, error)| error.failure())),
        }
    }

    /// Whether a shorter request may be answered.
    pub fn is_too_long(&self) -> bool {
        matches!(self.of_request(), Self::TooLong(_))
    }

    /// The most tokens that the service takes, if it says so: the smallest number of thousands that it names.
    pub fn window(&self) -> Option<u64> {
        let Self::TooLong(message) = self.of_request() else { return None };
        let plain = message.replace([',', '_'], "");
        let numbers = plain.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok());
        numbers.filter(|number| (1_000..100_000_000).contains(number)).min()
    }

    /// Whether the service rejects what it wrote for itself: signed thinking, encrypted reasoning.
    pub fn refuses_reasoning(&self) -> bool {
        let Self::Status { status: 400 | 422 | 200, message, failure: FailureClass::Permanent } = self.of_request()
        else {
            return false;
        };
        let message = message.to_lowercase();
        ["thinking", "signature", "reasoning", "encrypted"].iter().any(|sign| message.contains(sign))
    }

    /// Whether the service does not take a picture of the request.
    pub fn refuses_pictures(&self) -> bool {
        let Self::Status { status: 400 | 422, message, failure: FailureClass::Permanent } = self.of_request() else {
            return false;
        };
        message.to_lowercase().contains("image")
    }

    /// The error that may concern the request: of several only the last one.
    fn of_request(&self) -> &Self {
        match self {
            Self::All(failures) => failures.last().map_or(self, |(_, error)| error.of_request()),
            only => only,
        }
    }
}

/// The class of several failures: as soon as one model can answer, the work can continue, so the failure is as
/// transient as that of one of them. Only quotas cause a pause that does not count as an attempt.
fn together(failures: impl Iterator<Item = FailureClass>) -> FailureClass {
    let (mut waits, mut quotas_only, mut operator) = (Vec::new(), true, false);
    for failure in failures {
        match failure {
            FailureClass::Transient { retry_after } => {
                quotas_only = false;
                waits.push(retry_after);
            }
            FailureClass::QuotaExhausted { reset_after } => waits.push(reset_after),
            FailureClass::NeedsHuman | FailureClass::Misconfigured => operator = true,
            FailureClass::Permanent | FailureClass::Unfinished | FailureClass::Cancelled => {}
        }
    }
    match (waits.is_empty(), quotas_only, operator) {
        (true, _, true) => FailureClass::Misconfigured,
        (true, _, false) => FailureClass::Permanent,
        (false, true, _) => FailureClass::QuotaExhausted { reset_after: waits.into_iter().flatten().min() },
        // An unknown wait is the policy's own, which may be the shortest.
        (false, false, _) => FailureClass::Transient { retry_after: waits.into_iter().min().flatten() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_what_the_service_says() {
        for (message, window) in [
            ("prompt is too long: 205114 tokens > 200000 maximum", Some(200_000)),
            (
                "This model's maximum context length is 128,000 tokens. However, you requested 130,512 tokens",
                Some(128_000),
            ),
            ("request (9000 tokens) exceeds the available context size (8192 tokens)", Some(8_192)),
            ("too long", None),
        ] {
            assert_eq!(ModelError::TooLong(message.to_owned()).window(), window, "{message}");
        }
    }

    #[test]
    fn several_failures_are_as_bad_as_the_one_that_passes_first() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        let transient = |wait| FailureClass::Transient { retry_after: wait };
        let quota = |wait| FailureClass::QuotaExhausted { reset_after: wait };
        for (failures, all) in [
            (vec![quota(seconds(60)), quota(seconds(30))], quota(seconds(30))),
            (vec![quota(None), quota(seconds(30))], quota(seconds(30))),
            (vec![quota(seconds(60)), transient(None)], transient(None)),
            (vec![quota(seconds(60)), transient(seconds(90))], transient(seconds(60))),
            (vec![FailureClass::Misconfigured, quota(seconds(60))], quota(seconds(60))),
            (vec![FailureClass::Misconfigured, FailureClass::Permanent], FailureClass::Misconfigured),
            (vec![transient(None), FailureClass::Permanent], transient(None)),
        ] {
            assert_eq!(together(failures.clone().into_iter()), all, "{failures:?}");
        }
    }
}
