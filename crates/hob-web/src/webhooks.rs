//! Webhooks that come to `hob run --listen`: they let the repository be polled at once.
//!
//! # Guarantees
//! - A delivery counts if it is signed with the token, and once: the body says which repository has news, and nothing else of it is
//!   used. What there is to do is read from the forge.
//! - The bytes and the time of a body are bounded before its signature is known.

use std::{
    collections::{BTreeSet, VecDeque},
    time::Duration,
};

use axum::extract::Request;
use hob_domain::{Login, RepoName};
use hob_worker::{News, NewsSender};
use http::{HeaderMap, StatusCode};
use http_body_util::{BodyExt, Limited};
use parking_lot::Mutex;
use ring::hmac;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use tokio::{sync::mpsc::error::TrySendError, time::timeout};

/// The largest body. Those of the events below have a title and at most two texts of 65,536 characters.
const BODY_MAX: usize = 2 << 20;
/// How long it may take. GitHub waits for 10 s: <https://docs.github.com/webhooks/using-webhooks/handling-webhook-deliveries>.
const BODY_TIME: Duration = Duration::from_secs(8);
/// Deliveries that are remembered.
const SEEN_MAX: usize = 4_096;
/// The events after which there may be something to do.
const EVENTS: [&str; 9] = [
    "issues",
    "issue_comment",
    "issue_dependencies",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "check_suite",
    "status",
    "push",
];

/// The receiver of webhooks.
pub(crate) struct Webhooks {
    key: hmac::Key,
    seen: Mutex<Seen>,
    news: NewsSender,
}

/// The last deliveries that were taken.
#[derive(Default)]
struct Seen {
    ids: BTreeSet<String>,
    oldest: VecDeque<String>,
}

impl Seen {
    fn note(&mut self, id: &str) {
        self.ids.insert(id.to_owned());
        self.oldest.push_back(id.to_owned());
        if self.oldest.len() > SEEN_MAX
            && let Some(oldest) = self.oldest.pop_front()
        {
            self.ids.remove(&oldest);
        }
    }
}

/// What is read of a body.
#[derive(Deserialize)]
struct Payload {
    repository: Repository,
    sender: Option<Sender>,
}

#[derive(Deserialize)]
struct Repository {
    full_name: RepoName,
}

#[derive(Deserialize)]
struct Sender {
    login: Login,
}

type Reply = (StatusCode, &'static str);

impl Webhooks {
    /// A receiver of webhooks that are signed with this token, which tells these news.
    pub(crate) fn new(token: &SecretString, news: NewsSender) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, token.expose_secret().as_bytes());
        Self { key, seen: Mutex::default(), news }
    }

    /// The answer to a delivery.
    pub(crate) async fn answer(&self, request: Request) -> Reply {
        let (head, body) = request.into_parts();
        let body = match timeout(BODY_TIME, Limited::new(body, BODY_MAX).collect()).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(_)) => return (StatusCode::PAYLOAD_TOO_LARGE, "the body is too large, or was cut off"),
            Err(_elapsed) => return (StatusCode::REQUEST_TIMEOUT, "the body took too long"),
        };
        if !self.signed(&head.headers, &body) {
            return (
                StatusCode::UNAUTHORIZED,
                "the signature is not the token's: give the webhook HOB_LISTEN_TOKEN as its secret",
            );
        }
        self.take(&head.headers, &body)
    }

    /// Whether the body is signed: the texts of the two signatures are compared in a time that does not depend on where they differ.
    fn signed(&self, headers: &HeaderMap, body: &[u8]) -> bool {
        let given = word(headers, "x-hub-signature-256");
        let tag = hmac::sign(&self.key, body);
        let wanted: String = tag.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        let wanted = hmac::sign(&self.key, format!("sha256={wanted}").as_bytes());
        hmac::verify(&self.key, given.as_bytes(), wanted.as_ref()).is_ok()
    }

    fn take(&self, headers: &HeaderMap, body: &[u8]) -> Reply {
        let (event, id) = (word(headers, "x-github-event"), word(headers, "x-github-delivery"));
        if !EVENTS.contains(&event) {
            return (StatusCode::OK, "nothing is done for this event");
        }
        if id.is_empty() || id.len() > 100 {
            return (StatusCode::BAD_REQUEST, "`X-GitHub-Delivery` is missing");
        }
        let Ok(Payload { repository, sender }) = serde_json::from_slice(body) else {
            return (
                StatusCode::BAD_REQUEST,
                "no repository is in the body: choose the content type `application/json`",
            );
        };
        let mut seen = self.seen.lock();
        if seen.ids.contains(id) {
            return (StatusCode::OK, "this delivery was taken before");
        }
        match self.news.try_send(News { repo: repository.full_name, sender: sender.map(|sender| sender.login) }) {
            Ok(()) => {
                seen.note(id);
                (StatusCode::ACCEPTED, "the repository is polled")
            }
            Err(TrySendError::Full(_)) => (StatusCode::SERVICE_UNAVAILABLE, "too much comes at once"),
            Err(TrySendError::Closed(_)) => (StatusCode::SERVICE_UNAVAILABLE, "this run polls no repository"),
        }
    }
}

/// A header as text; empty if it is missing.
fn word<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use hob_worker::{NewsReceiver, news_channel};

    use super::*;

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        all.iter().map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    fn webhooks(token: &str) -> (Webhooks, NewsReceiver) {
        let (news, receiver) = news_channel();
        (Webhooks::new(&token.into(), news), receiver)
    }

    /// The example of <https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries>.
    #[test]
    fn githubs_example_is_signed() {
        let (webhooks, _news) = webhooks("It's a Secret to Everybody");
        let right = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        let says = |signature: &str| headers(&[("x-hub-signature-256", signature)]);
        assert!(webhooks.signed(&says(right), b"Hello, World!"));
        assert!(!webhooks.signed(&says(right), b"Hello, World"));
        for wrong in [&right[7..], &right[..70], &right.to_uppercase(), ""] {
            assert!(!webhooks.signed(&says(wrong), b"Hello, World!"), "{wrong}");
        }
        assert!(!webhooks.signed(&HeaderMap::new(), b"Hello, World!"));
    }

    #[test]
    fn a_delivery_counts_once_and_only_so_many_are_remembered() {
        let (webhooks, mut news) = webhooks("x");
        let body = br#"{"action":"labeled","repository":{"full_name":"acme/site"},"sender":{"login":"ann"}}"#;
        let take = |event: &str, id: &str, body: &[u8]| {
            webhooks.take(&headers(&[("x-github-event", event), ("x-github-delivery", id)]), body).0
        };
        assert_eq!(take("ping", "1", b"{}"), StatusCode::OK);
        assert_eq!(
            (take("issues", "", body), take("issues", "1", b"payload=%7B")),
            (StatusCode::BAD_REQUEST, StatusCode::BAD_REQUEST)
        );
        assert!(news.try_recv().is_err());
        assert_eq!((take("issues", "1", body), take("issues", "1", body)), (StatusCode::ACCEPTED, StatusCode::OK));
        let told = news.try_recv().unwrap();
        assert_eq!((told.repo.to_string().as_str(), told.sender), ("acme/site", Some("ann".into())));
        assert!(news.try_recv().is_err());
        for id in 2..=SEEN_MAX + 1 {
            assert_eq!(take("issue_comment", &id.to_string(), body), StatusCode::ACCEPTED);
            news.try_recv().unwrap();
        }
        assert_eq!((take("issues", "2", body), take("issues", "1", body)), (StatusCode::OK, StatusCode::ACCEPTED));
        drop(news);
        assert_eq!(take("issues", "new", body), StatusCode::SERVICE_UNAVAILABLE);
    }
}
