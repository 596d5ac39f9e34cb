//! Webhook deliveries: events are posted to one address, signed, and stored, so that a test can read and repeat them.
//!
//! # Flow
//! After a write, `webhook_events` queues the events in order of their ids. A task sends them one by one. A delivery that
//! fails is stored with its status and, as on GitHub, not sent again.
//!
//! # Caveats
//! The events are: `issues` and `pull_request` (opened, closed, reopened, edited titles, labels, assignees, requested
//! reviewers, `synchronize`), `issue_comment` created, `pull_request_review` submitted and dismissed, `check_run` created and
//! completed, `push`. Edits of a body or a comment, and deletions, send none.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use bytes::Bytes;
use ring::hmac;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;

/// The most deliveries that are stored, and the most that may wait.
const STORED_MAX: usize = 1_000;
/// The time limit for a receiver. <https://docs.github.com/webhooks/using-webhooks/handling-webhook-deliveries>
const ANSWER_WITHIN: std::time::Duration = std::time::Duration::from_secs(10);

/// The receiver of webhooks.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// The address they are posted to.
    pub url: String,
    /// The secret that they are signed with; `None` if they are not signed.
    pub secret: Option<SecretString>,
}

/// One delivery, sent or on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its id, as in `X-GitHub-Delivery`; a repeated delivery has the same id.
    pub id: String,
    /// The kind of event, as in `X-GitHub-Event`.
    pub event: String,
    /// The `action` in the body, if there is one.
    pub action: Option<String>,
    /// The body.
    pub payload: Bytes,
    /// The status of the answer to each attempt; 0 if there was none.
    pub statuses: Vec<u16>,
}

/// An event to send, before it is a delivery.
#[derive(Debug)]
pub(super) struct WebhookEvent {
    pub(super) event: &'static str,
    pub(super) action: Option<&'static str>,
    pub(super) payload: Value,
}

/// The sending side of webhooks.
#[derive(Debug)]
pub(super) struct Webhooks {
    /// Everything in the state up to this id has been queued.
    pub(super) queued_up_to: AtomicU64,
    count: AtomicU64,
    stored: Mutex<Vec<Delivery>>,
    order: Mutex<()>,
    to_send: mpsc::Sender<String>,
}

impl Webhooks {
    /// Webhooks, and the queue of ids that [`deliver`] takes from.
    pub(super) fn new() -> (Self, mpsc::Receiver<String>) {
        let (to_send, waiting) = mpsc::channel(STORED_MAX);
        (
            Self {
                queued_up_to: AtomicU64::new(0),
                count: AtomicU64::new(0),
                stored: Mutex::default(),
                order: Mutex::default(),
                to_send,
            },
            waiting,
        )
    }

    /// Lets one caller at a time read the changes and queue their events, so that events stay in order.
    pub(super) fn lock_order(&self) -> MutexGuard<'_, ()> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores an event as a delivery and queues it.
    pub(super) fn queue(&self, webhook: WebhookEvent) {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let payload = Bytes::from(webhook.payload.to_string());
        let digest = hex(&Sha256::new().chain_update(number.to_be_bytes()).chain_update(&payload).finalize());
        let part = |from: usize, to: usize| digest.get(from..to).unwrap_or_default();
        let id = [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-");
        let (event, action) = (webhook.event.to_owned(), webhook.action.map(str::to_owned));
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        if stored.len() >= STORED_MAX {
            stored.remove(0);
        }
        stored.push(Delivery { id: id.clone(), event, action, payload, statuses: Vec::new() });
        drop(stored);
        self.send_later(id);
    }

    /// Queues a stored delivery. If the queue is full, it is not sent and gets no status.
    pub(super) fn send_later(&self, id: String) {
        if self.to_send.try_send(id).is_err() {
            tracing::warn!("the queue of webhooks is full: one was not sent");
        }
    }

    /// The stored deliveries, oldest first.
    pub(super) fn stored(&self) -> Vec<Delivery> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn answered(&self, id: &str, status: u16) {
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(delivery) = stored.iter_mut().find(|delivery| delivery.id == id) {
            delivery.statuses.push(status);
        }
    }
}

/// Sends what is queued, one after the other, until the queue's other end is gone.
pub(super) async fn deliver(hooks: Arc<Webhooks>, to: Webhook, mut waiting: mpsc::Receiver<String>) {
    // The client needs a provider even for plain HTTP; an existing one stays.
    rustls::crypto::ring::default_provider().install_default().ok();
    let client = match reqwest::Client::builder().timeout(ANSWER_WITHIN).build() {
        Ok(client) => client,
        Err(error) => {
            tracing::error!(%error, "no webhook can be sent: {error}");
            return;
        }
    };
    while let Some(id) = waiting.recv().await {
        let Some(delivery) = hooks.stored().into_iter().find(|delivery| delivery.id == id) else { continue };
        let mut request = client
            .post(&to.url)
            .header("content-type", "application/json")
            .header("user-agent", "GitHub-Hookshot/hob")
            .header("x-github-hook-id", "1")
            .header("x-github-event", &delivery.event)
            .header("x-github-delivery", &delivery.id);
        if let Some(secret) = &to.secret {
            request = request.header("x-hub-signature-256", signature(secret, &delivery.payload));
        }
        let status = match request.body(delivery.payload).send().await {
            Ok(response) => response.status().as_u16(),
            Err(error) => {
                tracing::warn!(%error, "a webhook was not delivered: {error}");
                0
            }
        };
        hooks.answered(&id, status);
    }
}

/// The value of `X-Hub-Signature-256`.
fn signature(secret: &SecretString, payload: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.expose_secret().as_bytes());
    format!("sha256={}", hex(hmac::sign(&key, payload).as_ref()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_githubs() {
        // The test vector of GitHub's documentation on validating webhook deliveries.
        let secret = SecretString::from("It's a Secret to Everybody");
        let value = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        assert_eq!(signature(&secret, b"Hello, World!"), value);
    }
}
