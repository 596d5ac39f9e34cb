//! One identity's way to the forge, shared by all its repositories: every call of theirs passes one throttle.
//!
//! # Guarantees
//! - A read is tried again when its failure may pass; a write never is: whoever wrote looks whether it had its effect.
//!   A step of the ledger, which has an effect once at most, is tried again as a whole.
//! - Every call has a deadline; every body a cap; every wait in the queue an end.
//! - A limit that is used up closes the gate for all callers of its resource until it opens again, and a secondary limit
//!   for all callers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use hob_config::ForgeSettings;
use hob_domain::{FailureClass, Timestamp};
use http::{HeaderValue, Method, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use octocrab::Octocrab;
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;

use crate::{
    Authentication, ForgeError, Rate,
    cache::{Cache, Cached},
    clock::ForgeClock,
    purpose::Purpose,
    rates::{Rates, resource_of},
    reply::{Links, Reply, Scope, decode, exhausted},
    throttle::{Throttle, WriteTurn},
};

/// The largest answer that is read.
const BODY_MAX: usize = 16 << 20;
/// The pause before a token that was made just now is tried again.
const FRESH_PAUSE: Duration = Duration::from_secs(1);

/// Whether a client may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It may.
    ReadWrite,
    /// It may not: each write fails before it is sent.
    ReadOnly,
}

/// How many calls were made.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct CallCounts {
    /// Reads that count against the quota.
    pub reads: u64,
    /// Reads that were answered by 304 and are free.
    pub unchanged: u64,
    /// Writes.
    pub writes: u64,
}

/// A request as it is sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) method: &'a Method,
    pub(super) path: &'a str,
    pub(super) body: Option<&'a serde_json::Value>,
    pub(super) etag: Option<&'a str>,
    pub(super) purpose: Purpose<'a>,
}

impl<'a> Call<'a> {
    /// A read without conditions.
    pub(super) fn get(path: &'a str, purpose: Purpose<'a>) -> Self {
        Self { method: &Method::GET, path, body: None, etag: None, purpose }
    }
}

/// The connection of one identity.
#[derive(Debug)]
pub struct Connection {
    octocrab: Octocrab,
    authentication: Authentication,
    settings: ForgeSettings,
    base_path: String,
    access: Access,
    pub(super) cache: Cache,
    pub(super) clock: ForgeClock,
    throttle: Throttle,
    rates: Rates,
    secondary_in_a_row: AtomicU32,
    reads: AtomicU64,
    unchanged: AtomicU64,
    writes: AtomicU64,
}

impl Connection {
    /// A connection to `api_url`, for example `https://api.github.com`.
    ///
    /// # Errors
    /// [`ForgeError::Unreachable`] when the address is none or the machine's certificates cannot be read.
    pub fn new(
        api_url: &str,
        authentication: Authentication,
        settings: &ForgeSettings,
        access: Access,
    ) -> Result<Arc<Self>, ForgeError> {
        let unusable = |error: octocrab::Error| ForgeError::Unreachable {
            what: format!("use `{api_url}`"),
            reason: plain(&error),
        };
        let builder = Octocrab::builder().base_uri(api_url.trim_end_matches('/')).map_err(unusable)?;
        let base_path = url::Url::parse(api_url).map_or_else(|_| String::new(), |url| url.path().to_owned());
        Ok(Self::over(builder.build().map_err(unusable)?, &base_path, authentication, settings, access))
    }

    /// A connection over a ready `octocrab`, such as one that has its forge in the same process; `base_path` is what the
    /// addresses in the forge's links have before `/repos`.
    pub fn over(
        octocrab: Octocrab,
        base_path: &str,
        authentication: Authentication,
        settings: &ForgeSettings,
        access: Access,
    ) -> Arc<Self> {
        Arc::new(Self {
            octocrab,
            authentication,
            settings: settings.clone(),
            base_path: base_path.trim_end_matches('/').to_owned(),
            access,
            cache: Cache::default(),
            clock: ForgeClock::default(),
            throttle: Throttle::new(settings),
            rates: Rates::default(),
            secondary_in_a_row: AtomicU32::default(),
            reads: AtomicU64::default(),
            unchanged: AtomicU64::default(),
            writes: AtomicU64::default(),
        })
    }

    /// The forge's time now; the epoch before its first answer.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// How many calls were made so far, over all repositories.
    pub fn call_counts(&self) -> CallCounts {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        CallCounts { reads: count(&self.reads), unchanged: count(&self.unchanged), writes: count(&self.writes) }
    }

    /// What is left of each quota that an answer named.
    pub fn rates(&self) -> Vec<Rate> {
        self.rates.all()
    }

    /// How long the forge does not want to be asked; none: it may be.
    pub fn closed_for(&self) -> Option<Duration> {
        self.throttle.closed_for(resource_of(""))
    }

    /// The longest wait that is waited out in place.
    pub fn patience(&self) -> Duration {
        self.settings.patience
    }

    /// From now on writes are no longer spaced: the process ends, and puts back what it has in few seconds.
    pub fn skip_spacing(&self) {
        self.throttle.skip_spacing();
    }

    pub(super) fn settings(&self) -> &ForgeSettings {
        &self.settings
    }

    pub(super) fn authentication(&self) -> &Authentication {
        &self.authentication
    }

    pub(super) fn closed_to_all(&self) -> Option<Duration> {
        self.throttle.closed_to_all()
    }

    /// Reads one thing.
    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str, purpose: Purpose<'_>) -> Result<T, ForgeError> {
        let (body, _) = self.read(path, purpose).await?;
        decode(&body, purpose.what)
    }

    /// Reads what never changes under its address, such as a commit: once is enough.
    pub(super) async fn get_once<T: DeserializeOwned>(
        &self,
        path: &str,
        purpose: Purpose<'_>,
    ) -> Result<T, ForgeError> {
        match self.cache.get(path) {
            Some(known) => decode(&known.body, purpose.what),
            None => self.get(path, purpose).await,
        }
    }

    /// Waits for the turn to write.
    ///
    /// # Errors
    /// [`ForgeError::Limited`] when it would take longer than `forge.patience`, [`ForgeError::ReadOnly`].
    pub(super) async fn write_turn(&self, what: &str) -> Result<WriteTurn<'_>, ForgeError> {
        if self.access == Access::ReadOnly {
            return Err(ForgeError::ReadOnly { what: what.to_owned() });
        }
        let turn = self.throttle.write_turn(self.settings.patience).await;
        turn.map_err(|retry_after| ForgeError::Limited { what: what.to_owned(), retry_after })
    }

    /// Writes once, in its turn. What failed may have had its effect where [`ForgeError::outcome_is_unknown`].
    pub(super) async fn write_in<T: DeserializeOwned>(
        &self,
        _turn: &WriteTurn<'_>,
        (method, path): (Method, &str),
        body: &serde_json::Value,
        purpose: Purpose<'_>,
    ) -> Result<T, ForgeError> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        let reply = self.send(Call { method: &method, path, body: Some(body), etag: None, purpose }).await?;
        if !reply.status.is_success() {
            return Err(self.failure(&reply, path, purpose));
        }
        // A 204 has no body: `null` fits a caller that asks for nothing.
        decode(if reply.body.is_empty() { b"null" } else { &reply.body }, purpose.what)
    }

    /// Reads one answer, again where a failure may pass, and where the list's other pages are.
    pub(super) async fn read(&self, path: &str, purpose: Purpose<'_>) -> Result<(Bytes, Links), ForgeError> {
        let mut tried = 0;
        loop {
            let error = match self.read_once(path, purpose).await {
                Ok(read) => return Ok(read),
                Err(error) => error,
            };
            let Some(wait) = self.pause_after(&error, tried) else { return Err(error) };
            tried += 1;
            tracing::debug!(%error, wait_ms = wait.as_millis(), "a read is tried again");
            tokio::time::sleep(wait).await;
        }
    }

    /// How long to wait before the call that failed so is tried once more; none: it is not.
    pub(super) fn pause_after(&self, error: &ForgeError, tried: u32) -> Option<Duration> {
        let FailureClass::Transient { retry_after } = error.class() else { return None };
        let wait = retry_after.unwrap_or_else(|| jittered(self.settings.retry_base, tried));
        (tried < self.settings.retries && wait <= self.settings.patience).then_some(wait)
    }

    /// A pause before another round against others who write the same.
    pub(super) fn pause_of_round(&self, round: u32) -> Duration {
        jittered(self.settings.retry_base, round.min(4))
    }

    async fn read_once(&self, path: &str, purpose: Purpose<'_>) -> Result<(Bytes, Links), ForgeError> {
        let cached = self.cache.get(path);
        let tag = cached.as_ref().map(|cached| cached.etag.as_str());
        let reply = self.send(Call { etag: tag, ..Call::get(path, purpose) }).await?;
        if let (StatusCode::NOT_MODIFIED, Some(cached)) = (reply.status, cached) {
            self.unchanged.fetch_add(1, Ordering::Relaxed);
            return Ok((cached.body, cached.links));
        }
        self.reads.fetch_add(1, Ordering::Relaxed);
        if !reply.status.is_success() {
            return Err(self.failure(&reply, path, purpose));
        }
        let links = reply.links(&self.base_path);
        if let Some(etag) = reply.text(header::ETAG.as_str()) {
            self.cache.put(path, Cached { etag: etag.to_owned(), body: reply.body.clone(), links: links.clone() });
        }
        Ok((reply.body, links))
    }

    /// Sends a request as this identity, where the gate is open.
    async fn send(&self, call: Call<'_>) -> Result<Reply, ForgeError> {
        let resource = resource_of(call.path);
        if let Some(retry_after) = self.throttle.closed_for(resource) {
            return Err(ForgeError::Limited { what: call.purpose.what.to_owned(), retry_after });
        }
        let reply = self.signed(call).await?;
        let rate = reply.rate(resource);
        if let Some(wait) = exhausted(&reply, self.now()) {
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
        Ok(reply)
    }

    /// One request in this identity's name. A refused call had no effect, so two refusals are answered here: a token that
    /// was made just now may not be known everywhere yet, and is tried once more; one that is no longer accepted is
    /// replaced, once.
    async fn signed(&self, call: Call<'_>) -> Result<Reply, ForgeError> {
        let mut issued = self.issued_token(Duration::ZERO, None).await?;
        let mut reply = self.exchange(call, Some(&issued.token)).await?;
        if self.is_refusal(&reply) && issued.is_unproven() {
            tokio::time::sleep(FRESH_PAUSE).await;
            reply = self.exchange(call, Some(&issued.token)).await?;
        }
        let replaceable = matches!(self.authentication, Authentication::App(_));
        if reply.status == StatusCode::UNAUTHORIZED && replaceable {
            issued = self.issued_token(Duration::ZERO, Some(&issued)).await?;
            reply = self.exchange(call, Some(&issued.token)).await?;
        }
        if reply.status != StatusCode::UNAUTHORIZED {
            issued.accept();
        }
        Ok(reply)
    }

    fn is_refusal(&self, reply: &Reply) -> bool {
        matches!(reply.status.as_u16(), 401 | 403 | 404) && reply.limit(self.now(), 0).is_none()
    }

    /// One request and its whole answer, with this token in it; the gate is not asked.
    pub(super) async fn exchange(&self, call: Call<'_>, token: Option<&SecretString>) -> Result<Reply, ForgeError> {
        let what = call.purpose.what;
        let unreachable = |reason: String| ForgeError::Unreachable { what: what.to_owned(), reason };
        let mut builder = http::request::Builder::new().method(call.method).uri(call.path);
        builder = builder.header(header::ACCEPT, "application/vnd.github+json");
        builder = builder.header("x-github-api-version", "2022-11-28");
        if let Some(token) = token {
            // octocrab's own sign-in would leave it out of further pages where the base is not GitHub's.
            let bearer = HeaderValue::from_str(&format!("Bearer {}", token.expose_secret()));
            let mut bearer = bearer.map_err(|_invalid| ForgeError::Unauthorized)?;
            bearer.set_sensitive(true);
            builder = builder.header(header::AUTHORIZATION, bearer);
        }
        if let Some(tag) = call.etag.and_then(|etag| HeaderValue::from_str(etag).ok()) {
            builder = builder.header(header::IF_NONE_MATCH, tag);
        }
        let request = self.octocrab.build_request(builder, call.body).map_err(|error| unreachable(plain(&error)))?;
        let exchange = async {
            let answer = self.octocrab.execute(request).await.map_err(|error| unreachable(plain(&error)))?;
            let (parts, body) = answer.into_parts();
            let body = Limited::new(body, BODY_MAX).collect().await.map_err(|error| unreachable(error.to_string()))?;
            Ok(Reply { status: parts.status, headers: parts.headers, body: body.to_bytes() })
        };
        let deadline = self.settings.timeout;
        let reply = tokio::time::timeout(deadline, exchange)
            .await
            .unwrap_or_else(|_elapsed| Err(ForgeError::TimedOut { what: what.to_owned(), deadline }))?;
        if let Some(date) = reply.text(header::DATE.as_str()) {
            self.clock.set(date);
        }
        Ok(reply)
    }

    /// Why a call failed. A limit closes the gate.
    pub(super) fn failure(&self, reply: &Reply, path: &str, purpose: Purpose<'_>) -> ForgeError {
        let Some(limit) = reply.limit(self.now(), self.secondary_in_a_row.load(Ordering::Relaxed)) else {
            return reply.refusal(purpose);
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
}

/// An error of octocrab without its backtrace: the innermost cause.
fn plain(error: &octocrab::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string().lines().next().unwrap_or_default().to_owned()
}

/// An exponential pause with full jitter.
fn jittered(base: Duration, tried: u32) -> Duration {
    base.saturating_mul(1 << tried.min(10)).mul_f64(rand::random::<f64>())
}
