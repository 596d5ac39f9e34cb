//! One repository's client: every call passes [`Forge::get`] or [`Forge::write`].
//!
//! # Guarantees
//! - A read is tried again when its failure may pass; a write never is: whoever wrote looks whether it had its effect.
//!   A step of the ledger, which has an effect once at most, is tried again as a whole.
//! - Every call has a deadline; every body a cap.
//! - A limit that is used up closes the gate for all callers until it opens again.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use octocrab::Octocrab;
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;

use crate::{
    config::ForgeSettings,
    domain::{FailureClass, RepoName, Timestamp},
    forge::{
        ForgeError, RepositoryEntry,
        cache::{Cache, Cached},
        clock::ForgeClock,
        throttle::Throttle,
    },
};

/// The largest answer that is read.
const BODY_MAX: usize = 16 << 20;
/// Pages of a list that are followed.
const PAGES_MAX: usize = 50;
/// The wait after a limit that names none. Source: GitHub, "Rate limits for the REST API".
const LIMIT_PAUSE: Duration = Duration::from_secs(60);

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
pub struct Tally {
    /// Reads that count against the quota.
    pub reads: u64,
    /// Reads that were answered by 304 and are free.
    pub unchanged: u64,
    /// Writes.
    pub writes: u64,
}

/// The client of one repository.
#[derive(Debug)]
pub struct Forge {
    octocrab: Octocrab,
    pub(super) repo: RepoName,
    pub(super) settings: ForgeSettings,
    pub(super) prefix: String,
    base_path: String,
    access: Access,
    cache: Cache,
    clock: ForgeClock,
    throttle: Throttle,
    /// The repository's ledger as it was read or written last.
    pub(super) repository: Mutex<Option<RepositoryEntry>>,
    reads: AtomicU64,
    unchanged: AtomicU64,
    writes: AtomicU64,
}

/// One answer, read to its end.
struct Reply {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Forge {
    /// A client of `repo` at `api_url`, for example `https://api.github.com`; `prefix` is where the ledger's refs stand.
    ///
    /// # Errors
    /// [`ForgeError::Unreachable`] when the address is none or the machine's certificates cannot be read.
    pub fn new(
        api_url: &str,
        token: &SecretString,
        repo: RepoName,
        settings: &ForgeSettings,
        prefix: &str,
        access: Access,
    ) -> Result<Self, ForgeError> {
        let unusable = |error: octocrab::Error| ForgeError::Unreachable {
            what: format!("use `{api_url}`"),
            reason: plain(&error),
        };
        let octocrab = Octocrab::builder()
            .base_uri(api_url.trim_end_matches('/'))
            .map_err(unusable)?
            .personal_token(token.expose_secret())
            .build()
            .map_err(unusable)?;
        let base_path = url::Url::parse(api_url).map_or_else(|_| String::new(), |url| url.path().to_owned());
        Ok(Self::over(octocrab, &base_path, repo, settings, prefix, access))
    }

    /// A client of `repo` over a ready `octocrab`, such as one that has its forge in the same process; `base_path` is
    /// what the addresses in the forge's links have before `/repos`.
    pub fn over(
        octocrab: Octocrab,
        base_path: &str,
        repo: RepoName,
        settings: &ForgeSettings,
        prefix: &str,
        access: Access,
    ) -> Self {
        Self {
            octocrab,
            repo,
            settings: settings.clone(),
            prefix: prefix.to_owned(),
            base_path: base_path.trim_end_matches('/').to_owned(),
            access,
            cache: Cache::default(),
            clock: ForgeClock::default(),
            throttle: Throttle::new(Duration::from_millis(settings.write_interval_ms)),
            repository: Mutex::default(),
            reads: AtomicU64::default(),
            unchanged: AtomicU64::default(),
            writes: AtomicU64::default(),
        }
    }

    /// The repository.
    pub fn repo(&self) -> &RepoName {
        &self.repo
    }

    /// The forge's time now; the epoch before its first answer.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// How many calls were made so far.
    pub fn tally(&self) -> Tally {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Tally { reads: count(&self.reads), unchanged: count(&self.unchanged), writes: count(&self.writes) }
    }

    /// The path below this repository.
    pub(super) fn path(&self, rest: &str) -> String {
        format!("/repos/{}{rest}", self.repo)
    }

    /// Reads one thing.
    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str, what: &str) -> Result<T, ForgeError> {
        let (body, _) = self.read(path, what).await?;
        decode(&body, what)
    }

    /// Reads what never changes under its address, such as a commit: once is enough.
    pub(super) async fn get_once<T: DeserializeOwned>(&self, path: &str, what: &str) -> Result<T, ForgeError> {
        match self.cache.get(path) {
            Some(known) => decode(&known.body, what),
            None => self.get(path, what).await,
        }
    }

    /// Reads a list over all its pages.
    pub(super) async fn get_all<T: DeserializeOwned>(&self, path: &str, what: &str) -> Result<Vec<T>, ForgeError> {
        let mut found = Vec::new();
        let mut next = Some(path.to_owned());
        for _page in 0..PAGES_MAX {
            let Some(path) = next else { break };
            let (body, link) = self.read(&path, what).await?;
            found.extend(decode::<Vec<T>>(&body, what)?);
            next = link;
        }
        Ok(found)
    }

    /// Writes once. What failed may have had its effect where [`ForgeError::outcome_is_unknown`].
    pub(super) async fn write<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &serde_json::Value,
        what: &str,
    ) -> Result<T, ForgeError> {
        if self.access == Access::ReadOnly {
            return Err(ForgeError::ReadOnly { what: what.to_owned() });
        }
        let _turn = self.throttle.write_turn().await;
        self.writes.fetch_add(1, Ordering::Relaxed);
        let reply = self.send(method, path, Some(body), None, what).await?;
        if !reply.status.is_success() {
            return Err(self.failure(&reply, what));
        }
        // A 204 has no body: `null` fits a caller that asks for nothing.
        decode(if reply.body.is_empty() { b"null" } else { &reply.body }, what)
    }

    async fn read(&self, path: &str, what: &str) -> Result<(Bytes, Option<String>), ForgeError> {
        let mut tried = 0;
        loop {
            let error = match self.read_once(path, what).await {
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
    pub(super) fn jittered_pause(&self, round: u32) -> Duration {
        jittered(self.settings.retry_base, round.min(4))
    }

    async fn read_once(&self, path: &str, what: &str) -> Result<(Bytes, Option<String>), ForgeError> {
        let cached = self.cache.get(path);
        let tag = cached.as_ref().map(|cached| cached.etag.as_str());
        let reply = self.send(Method::GET, path, None, tag, what).await?;
        if let (StatusCode::NOT_MODIFIED, Some(cached)) = (reply.status, cached) {
            self.unchanged.fetch_add(1, Ordering::Relaxed);
            return Ok((cached.body, cached.next));
        }
        self.reads.fetch_add(1, Ordering::Relaxed);
        if !reply.status.is_success() {
            return Err(self.failure(&reply, what));
        }
        let next = next_page(&reply.headers, &self.base_path);
        if let Some(etag) = text(&reply.headers, header::ETAG.as_str()) {
            self.cache.put(path, Cached { etag: etag.to_owned(), body: reply.body.clone(), next: next.clone() });
        }
        Ok((reply.body, next))
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&serde_json::Value>,
        etag: Option<&str>,
        what: &str,
    ) -> Result<Reply, ForgeError> {
        if let Some(retry_after) = self.throttle.closed_for() {
            return Err(ForgeError::Limited { what: what.to_owned(), retry_after });
        }
        let mut builder = http::request::Builder::new().method(method).uri(path);
        builder = builder.header(header::ACCEPT, "application/vnd.github+json");
        builder = builder.header("x-github-api-version", "2022-11-28");
        if let Some(tag) = etag.and_then(|etag| HeaderValue::from_str(etag).ok()) {
            builder = builder.header(header::IF_NONE_MATCH, tag);
        }
        let unreachable =
            |error: octocrab::Error| ForgeError::Unreachable { what: what.to_owned(), reason: plain(&error) };
        let request = self.octocrab.build_request(builder, body).map_err(unreachable)?;
        let exchange = async {
            let (parts, body) = self.octocrab.execute(request).await.map_err(unreachable)?.into_parts();
            let body = Limited::new(body, BODY_MAX)
                .collect()
                .await
                .map_err(|error| ForgeError::Unreachable { what: what.to_owned(), reason: error.to_string() })?;
            Ok(Reply { status: parts.status, headers: parts.headers, body: body.to_bytes() })
        };
        let deadline = self.settings.timeout;
        let reply = tokio::time::timeout(deadline, exchange)
            .await
            .unwrap_or_else(|_elapsed| Err(ForgeError::TimedOut { what: what.to_owned(), deadline }))?;
        if let Some(date) = text(&reply.headers, header::DATE.as_str()) {
            self.clock.set(date);
        }
        if let Some(wait) = exhausted(&reply, self.now()) {
            self.throttle.close_for(wait);
        }
        Ok(reply)
    }

    fn failure(&self, reply: &Reply, what: &str) -> ForgeError {
        let what = what.to_owned();
        let message = message_of(&reply.body);
        if let Some(retry_after) = limited(reply, &message, self.now()) {
            self.throttle.close_for(retry_after);
            return ForgeError::Limited { what, retry_after };
        }
        match reply.status.as_u16() {
            401 => ForgeError::Unauthorized,
            403 => ForgeError::Forbidden { permission: permission_for(&what), what, message },
            404 | 410 => ForgeError::NotFound { what },
            301 | 302 | 307 | 308 => ForgeError::Moved { what },
            status @ 500.. => ForgeError::Server { what, status },
            status => ForgeError::Refused { what, status, message },
        }
    }
}

/// The permission whose lack explains a refusal, from the words of what was tried.
fn permission_for(what: &str) -> &'static str {
    if what.contains("pull request") {
        "pull requests: write"
    } else if what.contains("label") || what.contains("comment") || what.contains("issue") {
        "issues: write"
    } else {
        "contents: write"
    }
}

/// How long to wait, where an answer is a rate limit's.
fn limited(reply: &Reply, message: &str, now: Timestamp) -> Option<Duration> {
    if !matches!(reply.status.as_u16(), 403 | 429) {
        return None;
    }
    let asked = number(&reply.headers, "retry-after").map(Duration::from_secs);
    let words = message.to_ascii_lowercase();
    let is_limit = reply.status.as_u16() == 429 || words.contains("rate limit") || words.contains("abuse");
    asked.or_else(|| exhausted(reply, now)).or_else(|| is_limit.then_some(LIMIT_PAUSE))
}

/// How long the primary limit is used up, where an answer says that it is.
fn exhausted(reply: &Reply, now: Timestamp) -> Option<Duration> {
    if number(&reply.headers, "x-ratelimit-remaining")? > 0 {
        return None;
    }
    let reset = i64::try_from(number(&reply.headers, "x-ratelimit-reset")?).ok()?;
    Some(Duration::from_secs((reset - now.timestamp()).max(1).unsigned_abs()))
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    text(headers, name)?.trim().parse().ok()
}

/// The path and query of the `next` link.
fn next_page(headers: &HeaderMap, base_path: &str) -> Option<String> {
    let links = text(headers, header::LINK.as_str())?;
    let next = links.split(',').find(|link| link.contains("rel=\"next\""))?;
    let address = next.split_once('<')?.1.split_once('>')?.0;
    let url = url::Url::parse(address).ok()?;
    // The client adds the base's own path again.
    let path = url.path();
    let path = path.strip_prefix(base_path).unwrap_or(path);
    Some(url.query().map_or_else(|| path.to_owned(), |query| format!("{path}?{query}")))
}

fn decode<T: DeserializeOwned>(body: &[u8], what: &str) -> Result<T, ForgeError> {
    serde_json::from_slice(body)
        .map_err(|error| ForgeError::Unreadable { what: what.to_owned(), reason: error.to_string() })
}

/// What an error body says: its message and the messages below it.
fn message_of(body: &[u8]) -> String {
    let value: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
    let mut message = value["message"].as_str().unwrap_or("no reason given").to_owned();
    for error in value["errors"].as_array().into_iter().flatten() {
        let part = error.as_str().or_else(|| error["message"].as_str()).or_else(|| error["code"].as_str());
        if let Some(part) = part {
            message = format!("{message}; {part}");
        }
    }
    crate::domain::clip(&message, 500)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_found_whatever_the_base() {
        let mut headers = HeaderMap::new();
        let link = r#"<https://ghe/api/v3/repos/a/b/issues?page=1>; rel="prev", <https://ghe/api/v3/repositories/7/issues?page=3&per_page=100>; rel="next""#;
        headers.insert(header::LINK, HeaderValue::from_static(link));
        assert_eq!(next_page(&headers, "/api/v3").as_deref(), Some("/repositories/7/issues?page=3&per_page=100"));
    }

    #[test]
    fn a_limit_is_told_from_a_refusal() {
        let reply = |status: u16, headers: &[(&'static str, &'static str)]| Reply {
            status: StatusCode::from_u16(status).unwrap(),
            headers: headers.iter().map(|(k, v)| (k.parse().unwrap(), HeaderValue::from_static(v))).collect(),
            body: Bytes::new(),
        };
        let now = Timestamp::from_timestamp(1_000, 0).unwrap();
        let spent = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1030")];
        for (reply, message, wait) in [
            (reply(403, &[]), "Resource not accessible by integration", None),
            (reply(403, &spent), "API rate limit exceeded", Some(30)),
            (reply(429, &[("retry-after", "7")]), "", Some(7)),
            (reply(403, &[]), "You have exceeded a secondary rate limit", Some(60)),
            (reply(500, &spent), "", None),
        ] {
            assert_eq!(limited(&reply, message, now).map(|wait| wait.as_secs()), wait);
        }
    }
}
