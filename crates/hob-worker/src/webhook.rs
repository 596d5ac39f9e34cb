//! The webhook: the one address in Hob's settings that signed notifications are posted to. `notify` decides
//! what is posted and when.
//!
//! # Guarantees
//! - No notification takes longer than `notify.timeout`, all tries together.
//! - Redirects are not followed, answers are not read, and no message contains the address.

use std::time::Duration;

use hob_config::{Webhook, WebhookFormat};
use hob_domain::FailureClass;
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use ring::hmac;
use secrecy::{ExposeSecret, SecretString};
use tokio::time::{Instant, timeout_at};

use crate::WorkError;

/// Tries of one notification.
const TRIES: u32 = 3;
/// The pause before the second try; it doubles.
const PAUSE: Duration = Duration::from_millis(500);

/// The receiver of notifications.
pub(super) struct Receiver {
    client: reqwest::Client,
    webhook: Webhook,
}

/// A notification that was not received.
#[derive(Debug, thiserror::Error)]
pub(super) enum WebhookError {
    /// The receiver could not be reached.
    #[error("the receiver cannot be reached: {0}")]
    Transport(String),
    /// It answered with an error, or with a redirect.
    #[error("the receiver answered {status}")]
    Status {
        /// The status.
        status: u16,
        /// The wait that it asked for.
        retry_after: Option<Duration>,
    },
    /// It took too long.
    #[error("the receiver did not answer within {0:?}")]
    TimedOut(Duration),
}

impl WebhookError {
    fn class(&self) -> FailureClass {
        match self {
            Self::Transport(_) => FailureClass::Transient { retry_after: None },
            Self::Status { status: 408 | 429 | 500.., retry_after } => {
                FailureClass::Transient { retry_after: *retry_after }
            }
            Self::Status { .. } | Self::TimedOut(_) => FailureClass::Permanent,
        }
    }
}

/// A notification in its posted form.
pub(super) struct Delivery {
    pub(super) id: String,
    pub(super) event: &'static str,
    pub(super) body: String,
}

impl Receiver {
    /// Makes the client.
    pub(super) fn new(webhook: Webhook) -> Result<Self, WorkError> {
        hob_agent::model::use_ring();
        let mut client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("hob/", env!("CARGO_PKG_VERSION")));
        // Plain HTTP is for this machine only, without a proxy.
        if webhook.url.expose_secret().starts_with("http:") {
            client = client.no_proxy();
        }
        let client = client.build().map_err(|error| WorkError::Misconfigured(format!("the webhook: {error}")))?;
        Ok(Self { client, webhook })
    }

    /// How long a notification may take.
    pub(super) fn timeout(&self) -> Duration {
        self.webhook.timeout
    }

    /// The shape of the bodies.
    pub(super) fn format(&self) -> WebhookFormat {
        self.webhook.format
    }

    /// Posts a notification, and retries if that may help and time is left.
    pub(super) async fn deliver(&self, delivery: &Delivery) -> Result<(), WebhookError> {
        let ends = Instant::now() + self.webhook.timeout;
        let mut tried = 0;
        loop {
            let late = |_elapsed| Err(WebhookError::TimedOut(self.webhook.timeout));
            let Err(error) = timeout_at(ends, self.post(delivery)).await.unwrap_or_else(late) else { return Ok(()) };
            tried += 1;
            let FailureClass::Transient { retry_after } = error.class() else { return Err(error) };
            let next = Instant::now() + retry_after.unwrap_or_default().max(PAUSE * (1 << (tried - 1)));
            if tried == TRIES || next >= ends {
                return Err(error);
            }
            tokio::time::sleep_until(next).await;
        }
    }

    async fn post(&self, delivery: &Delivery) -> Result<(), WebhookError> {
        let mut request = self
            .client
            .post(self.webhook.url.expose_secret())
            .header(CONTENT_TYPE, "application/json")
            .header("x-hob-event", delivery.event)
            .header("x-hob-delivery", &delivery.id);
        if let Some(secret) = &self.webhook.secret {
            request = request.header("x-hob-signature-256", signature(secret, delivery.body.as_bytes()));
        }
        let answer = request.body(delivery.body.clone()).send().await;
        let answer = answer.map_err(|error| WebhookError::Transport(in_words(&error.without_url())))?;
        if answer.status().is_success() {
            return Ok(());
        }
        let seconds = answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        Err(WebhookError::Status { status: answer.status().as_u16(), retry_after: seconds.map(Duration::from_secs) })
    }
}

/// The value of `X-Hob-Signature-256`.
fn signature(secret: &SecretString, body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.expose_secret().as_bytes());
    let hex: String = hmac::sign(&key, body).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

/// An error with its causes, in one line.
fn in_words(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    std::iter::once(error.to_string()).chain(causes.map(ToString::to_string)).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_the_one_that_receivers_of_githubs_webhooks_check() {
        // The test vector of GitHub's documentation on validating webhook deliveries.
        let secret = SecretString::from("It's a Secret to Everybody");
        let value = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        assert_eq!(signature(&secret, b"Hello, World!"), value);
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        let status = |status| WebhookError::Status { status, retry_after: None }.class();
        for (code, again) in
            [(302, false), (400, false), (404, false), (408, true), (429, true), (500, true), (503, true)]
        {
            assert_eq!(matches!(status(code), FailureClass::Transient { .. }), again, "{code}");
        }
    }
}
