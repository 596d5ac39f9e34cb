//! One request and its whole answer for any identity, and what the answers of one forge say about limits and time.
//!
//! # Guarantees
//! - Every call has a deadline, every body a cap, and every wait in the queue a limit.
//! - No path and no body contains a known secret: secrets are removed from a body, and such a path is refused. What people
//!   read has no other secret of a known form either.
//! - A limit that is used up closes the gate for all callers of its resource until it resets; a secondary limit closes
//!   it for all callers.

use std::{
    borrow::Cow,
    error::Error,
    fmt,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use hob_config::ForgeSettings;
use hob_domain::{FailureClass, Timestamp};
use hob_text::{KnownSecrets, value_without_tokens};
use http::{HeaderValue, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use octocrab::Octocrab;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use tokio::time::Instant;
use tracing::Instrument;

use crate::{
    ForgeError, Rate,
    call::Call,
    clock::ForgeClock,
    live_permitted::LiveList,
    permitted::{GRAPHQL, is_permitted},
    purpose::Purpose,
    rates::{Rates, resource_of},
    reply::{Reply, Scope, exhausted},
    requests::{Requests, kind_of},
    throttle::{Throttle, WriteTurn},
    wrong_server::in_plain_words,
};

/// The largest answer that is read, in bytes.
const BODY_MAX: usize = 16 << 20;

/// The largest file of which the end is read, in bytes.
pub(super) const DOWNLOAD_MAX: usize = 256 << 20;

/// The path of requests to one forge, and what its answers said.
#[derive(Debug)]
pub(super) struct Transport {
    octocrab: Octocrab,
    /// What the addresses of the REST API have before `/repos`.
    base_path: String,
    settings: ForgeSettings,
    clock: ForgeClock,
    throttle: Throttle,
    rates: Rates,
    pub(super) requests: Requests,
    secondary_in_a_row: AtomicU32,
    secrets: KnownSecrets,
    calls: Calls,
}

/// The list of permitted calls.
#[derive(Debug)]
pub(super) enum Calls {
    /// The worker's.
    OfWorkers,
    /// The live check's.
    OfLiveCheck(LiveList),
}

impl Calls {
    fn permit(&self, call: Call<'_>) -> bool {
        match self {
            Self::OfWorkers => is_permitted(call.method, call.path, call.body),
            Self::OfLiveCheck(list) => list.permits(call.method, call.path, call.body),
        }
    }
}

impl Transport {
    pub(super) fn new(
        octocrab: Octocrab,
        base_path: &str,
        settings: &ForgeSettings,
        secrets: KnownSecrets,
        calls: Calls,
    ) -> Self {
        Self {
            calls,
            octocrab,
            base_path: base_path.trim_end_matches('/').to_owned(),
            settings: settings.clone(),
            clock: ForgeClock::default(),
            throttle: Throttle::new(settings),
            rates: Rates::default(),
            requests: Requests::default(),
            secondary_in_a_row: AtomicU32::default(),
            secrets,
        }
    }

    pub(super) fn settings(&self) -> &ForgeSettings {
        &self.settings
    }

    /// The secrets that no call may contain outside its token's header.
    pub(super) fn secrets(&self) -> &KnownSecrets {
        &self.secrets
    }

    /// The list of the live check; `None` if the calls are a worker's.
    pub(super) fn live_list(&self) -> Option<&LiveList> {
        match &self.calls {
            Calls::OfWorkers => None,
            Calls::OfLiveCheck(list) => Some(list),
        }
    }

    pub(super) fn base_path(&self) -> &str {
        &self.base_path
    }

    /// The forge's current time; the epoch before its first answer.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Whether an answer has told the forge's time.
    pub(super) fn knows_the_time(&self) -> bool {
        self.clock.known().is_some()
    }

    /// The rest of each quota that an answer has named.
    pub(super) fn rates(&self) -> Vec<Rate> {
        self.rates.all()
    }

    /// How long calls to this resource must still wait.
    pub(super) fn closed_for(&self, resource: &str) -> Option<Duration> {
        self.throttle.closed_for(resource)
    }

    /// How long all calls must still wait.
    pub(super) fn closed_to_all(&self) -> Option<Duration> {
        self.throttle.closed_to_all()
    }

    /// How long the next poll waits, so that reads of work that goes on find room.
    pub(super) fn wait_of_polls(&self) -> Duration {
        self.throttle.wait_of_polls()
    }

    /// Waits for a turn to write.
    ///
    /// # Errors
    /// [`ForgeError::Limited`] if the wait would exceed `forge.patience`.
    pub(super) async fn write_turn(&self, purpose: Purpose<'_>) -> Result<WriteTurn<'_>, ForgeError> {
        let turn = self.throttle.write_turn(self.settings.patience, purpose.share, purpose.writes).await;
        turn.map_err(|retry_after| ForgeError::Limited { what: purpose.what.to_owned(), retry_after })
    }

    /// Waits for a turn to push.
    ///
    /// # Errors
    /// [`ForgeError::Limited`] if the wait would exceed `forge.patience`.
    pub(super) async fn push_turn(&self, purpose: Purpose<'_>) -> Result<WriteTurn<'_>, ForgeError> {
        let turn = self.throttle.push_turn(self.settings.patience).await;
        turn.map_err(|retry_after| ForgeError::Limited { what: purpose.what.to_owned(), retry_after })
    }

    /// How long until this many more writes fit into the longest configured window.
    pub(super) async fn wait_for_writes(&self, writes: usize) -> Duration {
        self.throttle.wait_for(writes).await
    }

    /// Stops spacing writes.
    pub(super) fn skip_spacing(&self) {
        self.throttle.skip_spacing();
    }

    /// One request with this token and its whole answer; bypasses the gate.
    pub(super) async fn exchange(&self, call: Call<'_>, token: Option<&SecretString>) -> Result<Reply, ForgeError> {
        let path = call.path.split('?').next().unwrap_or_default();
        // At the highest level, so that no filter of events removes the context.
        let span = tracing::error_span!("forge_call", method = %call.method, %path);
        self.answer(call, token).instrument(span).await
    }

    async fn answer(&self, call: Call<'_>, token: Option<&SecretString>) -> Result<Reply, ForgeError> {
        let what = call.purpose.what;
        // The only gate for everything that is sent: the token goes into a header, and nothing else may contain a
        // secret.
        let redaction = self.secrets.redaction();
        if redaction.holds(call.path) {
            return Err(ForgeError::HoldsSecret { what: what.to_owned() });
        }
        if !self.calls.permit(call) {
            return Err(ForgeError::NotPermitted { what: what.to_owned() });
        }
        let points = self.throttle.points(self.settings.patience, call).await;
        points.map_err(|retry_after| ForgeError::Limited { what: what.to_owned(), retry_after })?;
        let body = call.body.map(|body| public(call.path, redaction.value(body)));
        let mut builder = http::request::Builder::new().method(call.method).uri(address(&self.base_path, call.path));
        builder = builder.header(header::ACCEPT, call.accept);
        builder = builder.header("x-github-api-version", "2022-11-28");
        if let Some(token) = token {
            // octocrab's own sign-in would omit it from further pages if the base is not GitHub's.
            let bearer = HeaderValue::from_str(&format!("Bearer {}", token.expose_secret()));
            let mut bearer = bearer.map_err(|_invalid| ForgeError::Unauthorized)?;
            bearer.set_sensitive(true);
            builder = builder.header(header::AUTHORIZATION, bearer);
        }
        if let Some(tag) = call.etag.and_then(|etag| HeaderValue::from_str(etag).ok()) {
            builder = builder.header(header::IF_NONE_MATCH, tag);
        }
        let request =
            self.octocrab.build_request(builder, body.as_deref()).map_err(|error| unreachable(what, error))?;
        let reply = self.carry_out(request, what).await?;
        if let Some(list) = self.live_list().filter(|_| reply.status.is_success()) {
            list.note(&reply.body);
        }
        Ok(reply)
    }

    /// One push to a repository's `address` on the git server, and its whole answer. The caller has removed secrets from what
    /// it pushes.
    pub(super) async fn push(
        &self,
        address: &str,
        body: Vec<u8>,
        token: &SecretString,
        what: &str,
    ) -> Result<Reply, ForgeError> {
        let credentials = STANDARD.encode(format!("x-access-token:{}", token.expose_secret()));
        let mut basic =
            HeaderValue::try_from(format!("Basic {credentials}")).map_err(|_invalid| ForgeError::Unauthorized)?;
        basic.set_sensitive(true);
        let request = http::Request::post(format!("{address}/git-receive-pack"))
            .header(header::CONTENT_TYPE, "application/x-git-receive-pack-request")
            .header(header::ACCEPT, "application/x-git-receive-pack-result")
            .header(header::AUTHORIZATION, basic)
            .body(octocrab::OctoBody::from(body));
        let request = request.map_err(|error| unreachable(what, error))?;
        let span = tracing::error_span!("forge_call", method = %http::Method::POST, path = %request.uri().path());
        self.carry_out(request, what).instrument(span).await
    }

    /// Sends a request; its whole answer in time. Its date sets the clock.
    async fn carry_out(&self, request: http::Request<octocrab::OctoBody>, what: &str) -> Result<Reply, ForgeError> {
        let kind = kind_of(request.method(), request.uri().path());
        let exchange = async {
            let answer = self.octocrab.execute(request).await.map_err(|error| unreachable(what, error))?;
            let (parts, body) = answer.into_parts();
            let body =
                Limited::new(body, BODY_MAX).collect().await.map_err(|error| match error.is::<LengthLimitError>() {
                    true => too_large(what),
                    false => unreachable(what, error),
                })?;
            Ok(Reply { status: parts.status, headers: parts.headers, body: body.to_bytes() })
        };
        let (deadline, began) = (self.settings.timeout, Instant::now());
        let reply = tokio::time::timeout(deadline, exchange)
            .await
            .unwrap_or_else(|_elapsed| Err(ForgeError::TimedOut { what: what.to_owned(), deadline }));
        self.requests.count(kind, reply.as_ref().ok().map(|reply| reply.status));
        let reply = reply?;
        let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        tracing::debug!(status = reply.status.as_u16(), duration_ms, "answered");
        if let Some(date) = reply.text(header::DATE.as_str()) {
            self.clock.set(date);
        }
        Ok(reply)
    }

    /// The last `tail` bytes of at most `most` at an address that the forge named. No token is sent there, and no
    /// redirect is followed.
    pub(super) async fn tail_of(
        &self,
        address: &str,
        tail: usize,
        most: usize,
        what: &str,
    ) -> Result<Vec<u8>, ForgeError> {
        let unreadable = || ForgeError::Unreadable { what: what.to_owned(), source: "the address is not valid".into() };
        // octocrab would read a path as one of the API, and would use its own sign-in.
        let url =
            url::Url::parse(address).ok().filter(|url| matches!(url.scheme(), "https" | "http") && url.has_host());
        let url = url.ok_or_else(unreadable)?;
        let request = http::Request::get(url.as_str()).body(octocrab::OctoBody::empty());
        let request = request.map_err(|_invalid| unreadable())?;
        let download = async {
            let answer = self.octocrab.execute(request).await.map_err(|error| unreachable(what, error))?;
            if !answer.status().is_success() {
                return Err(ForgeError::NotFound { what: what.to_owned() });
            }
            let mut body = answer.into_body();
            let (mut kept, mut read) = (Vec::new(), 0);
            while let Some(frame) = body.frame().await {
                let Ok(data) = frame.map_err(|error| unreachable(what, error))?.into_data() else { continue };
                read += data.len();
                if read > most {
                    return Err(ForgeError::Unreadable { what: what.to_owned(), source: "it is too long".into() });
                }
                kept.extend_from_slice(&data);
                // Moved occasionally, not for each frame.
                if kept.len() > 2 * tail {
                    kept.drain(..kept.len() - tail);
                }
            }
            kept.drain(..kept.len().saturating_sub(tail));
            Ok(kept)
        };
        let deadline = self.settings.timeout;
        tokio::time::timeout(deadline, download)
            .await
            .unwrap_or_else(|_elapsed| Err(ForgeError::TimedOut { what: what.to_owned(), deadline }))
    }

    /// Records what an answer says about its quota.
    pub(super) fn note(&self, reply: &Reply, resource: &str) {
        let rate = reply.rate(resource);
        if let Some(wait) = exhausted(reply, self.now()) {
            let named = rate.as_ref().map_or(resource, |rate| &rate.resource);
            tracing::warn!(resource = named, wait_seconds = wait.as_secs(), "the quota `{named}` is used up");
            self.throttle.close(named, wait);
        }
        if let Some(rate) = rate {
            self.rates.note(rate);
        }
        if reply.status.is_success() {
            self.secondary_in_a_row.store(0, Ordering::Relaxed);
        }
    }

    /// Why a call failed. A limit closes the gate.
    pub(super) fn failure(&self, reply: &Reply, path: &str, purpose: Purpose<'_>) -> ForgeError {
        let Some(limit) = reply.limit(self.now(), self.secondary_in_a_row.load(Ordering::Relaxed)) else {
            return reply.refusal(purpose, self.now());
        };
        match limit.scope {
            Scope::Resource => {
                let resource = resource_of(path);
                self.throttle.close(reply.text("x-ratelimit-resource").unwrap_or(resource), limit.wait);
            }
            Scope::All => {
                self.secondary_in_a_row.fetch_add(1, Ordering::Relaxed);
                self.throttle.close_all(limit.wait);
            }
        }
        ForgeError::Limited { what: purpose.what.to_owned(), retry_after: limit.wait }
    }

    /// How long to wait before a retry of the failed call. `None` if it is not retried.
    pub(super) fn pause_after(&self, error: &ForgeError, tried: u32) -> Option<Duration> {
        let FailureClass::Transient { retry_after } = error.class() else { return None };
        let wait = retry_after.unwrap_or_else(|| jittered(self.settings.retry_base, tried));
        (tried < self.settings.retries && wait <= self.settings.patience).then_some(wait)
    }

    /// A pause before another round against writers of the same ref. If it were shorter than a round takes here, all
    /// losers of this round would only collide again.
    pub(super) fn pause_of_round(&self, round: u32, took: Duration) -> Duration {
        jittered(self.settings.retry_base.max(took), round.min(4))
    }
}

/// The address of a [`Call`]'s path on the server. GraphQL is beside the REST API, and its path contains no version.
/// <https://docs.github.com/enterprise-server/graphql/guides/forming-calls-with-graphql>
/// A body without other secrets of known forms. Those below `/git/` are for Hob itself: a ledger whose parts were exchanged
/// could not be read.
fn public<'a>(path: &str, body: Cow<'a, Value>) -> Cow<'a, Value> {
    if path.contains("/git/") { body } else { Cow::Owned(value_without_tokens(body.into_owned())) }
}

fn address(base_path: &str, path: &str) -> String {
    let base = if path == GRAPHQL { base_path.strip_suffix("/v3").unwrap_or(base_path) } else { base_path };
    format!("{base}{path}")
}

/// The network's error: the innermost cause. The outer ones name octocrab's own parts, and may have a backtrace.
#[derive(Debug)]
struct RootCause(Box<dyn Error + Send + Sync>);

impl RootCause {
    fn innermost(&self) -> &(dyn Error + 'static) {
        let mut cause: &(dyn Error + 'static) = self.0.as_ref();
        while let Some(source) = cause.source() {
            cause = source;
        }
        cause
    }
}

impl fmt::Display for RootCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(in_plain_words(self.innermost().to_string().lines().next().unwrap_or_default()))
    }
}

impl Error for RootCause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.innermost())
    }
}

/// The error of a call that failed in the network.
pub(super) fn unreachable(what: &str, error: impl Into<Box<dyn Error + Send + Sync>>) -> ForgeError {
    ForgeError::Unreachable { what: what.to_owned(), source: Box::new(RootCause(error.into())) }
}

/// The error of an answer that exceeds what is read.
fn too_large(what: &str) -> ForgeError {
    let why = format!("it has more than {} MiB", BODY_MAX >> 20);
    ForgeError::Unreadable { what: what.to_owned(), source: why.into() }
}

/// An exponential pause with full jitter.
fn jittered(base: Duration, tried: u32) -> Duration {
    base.saturating_mul(1 << tried.min(10)).mul_f64(rand::random::<f64>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphql_stands_beside_the_rest_api() {
        for (base, path, at) in [
            ("", "/user", "/user"),
            ("", "/graphql", "/graphql"),
            ("/api/v3", "/user", "/api/v3/user"),
            ("/api/v3", "/graphql", "/api/graphql"),
        ] {
            assert_eq!(address(base, path), at);
        }
    }

    /// The shape of octocrab's errors: its own words, the cause's and a backtrace.
    #[derive(Debug, thiserror::Error)]
    #[error("Service Error: {0}\n\nFound at 0: somewhere")]
    struct Wrapped(#[source] std::io::Error);

    #[test]
    fn what_the_network_said_stays_the_source_of_the_error() {
        let refused = || std::io::Error::new(std::io::ErrorKind::ConnectionRefused, "connection refused");
        let causes: [Box<dyn Error + Send + Sync>; 2] = [Box::new(refused()), Box::new(Wrapped(refused()))];
        for cause in causes {
            let error = unreachable("list the issues", cause);
            let says = "the forge cannot be reached to list the issues (connection refused): check GITHUB_API_URL and \
                        the network";
            assert_eq!(error.to_string(), says);
            let root = error.source().and_then(Error::source).and_then(|root| root.downcast_ref::<std::io::Error>());
            assert_eq!(root.map(std::io::Error::kind), Some(std::io::ErrorKind::ConnectionRefused));
        }
    }
}
