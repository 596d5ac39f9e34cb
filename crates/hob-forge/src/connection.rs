//! One identity's access to the forge, shared by all its repositories: reads, writes and the conditional cache.
//!
//! # Guarantees
//! - A read is retried if its failure may be transient. A write never is: its caller looks whether it had its effect. A
//!   step of the ledger, which has an effect at most once, is retried as a whole.

use std::{
    any::type_name,
    collections::BTreeSet,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use hob_config::ForgeSettings;
use hob_domain::{Login, RepoName, Timestamp};
use hob_text::{KnownSecrets, clip};
use http::{HeaderValue, StatusCode, header};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use octocrab::{
    AuthState, OctoBody, Octocrab, OctocrabBuilder,
    service::middleware::{base_uri::BaseUriLayer, extra_headers::ExtraHeadersLayer},
};
use secrecy::SecretString;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::time::Instant;

use crate::{
    Authentication, ForgeError, PassKey, Rate,
    cache::{Cache, Cached},
    call::Call,
    live_permitted::LiveList,
    purpose::Purpose,
    pushes::Pushes,
    rates::resource_of,
    reply::{Links, Reply, decode},
    requests::RequestCount,
    throttle::WriteTurn,
    transport::{Calls, DOWNLOAD_MAX, Transport, unreachable},
    wait::wait,
};

/// The pause before a refused token is tried again.
const REFUSED_PAUSE: Duration = Duration::from_secs(1);

/// The access rights of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It may read and write.
    ReadWrite,
    /// It may only read: each write fails before it is sent.
    ReadOnly,
    /// It may only make the calls of the live check.
    LiveCheck,
}

/// The number of calls.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct CallCounts {
    /// Reads that count against the quota.
    pub reads: u64,
    /// Reads that were answered with 304, which are free.
    pub unchanged: u64,
    /// Writes.
    pub writes: u64,
}

/// The connection of one identity.
#[derive(Debug)]
pub struct Connection {
    pub(super) transport: Transport,
    pub(super) authentication: Authentication,
    /// The account it signs in as, and when the forge said so. `None` before that.
    pub(super) own_login: tokio::sync::Mutex<Option<(Instant, Option<Login>)>>,
    /// The author of Hob's own comments; unset until the first one is written.
    pub(super) writer: OnceLock<Login>,
    access: Access,
    pub(super) cache: Cache,
    /// Whole answers to requests that are forwarded.
    pub(super) forwarded: Cache,
    pub(super) pushes: Pushes,
    /// Whether the last answers were two 401s in a row; the next 401 is then believed at once.
    unauthorized: AtomicBool,
    /// Objects that the forge's GraphQL lacks; these are read over REST.
    pub(super) lacking: Mutex<BTreeSet<String>>,
    reads: AtomicU64,
    unchanged: AtomicU64,
    writes: AtomicU64,
}

/// The list of calls for this access.
fn calls_of(access: Access) -> Calls {
    match access {
        Access::ReadWrite | Access::ReadOnly => Calls::OfWorkers,
        Access::LiveCheck => Calls::OfLiveCheck(LiveList::default()),
    }
}

/// A client without TLS. `None` if `base` is not a valid address.
fn plain(base: &str) -> Option<Octocrab> {
    let client = Client::builder(TokioExecutor::new()).build_http::<OctoBody>();
    let headers = vec![(header::USER_AGENT, HeaderValue::from_static("octocrab"))];
    let builder = OctocrabBuilder::new_empty().with_service(client);
    let builder = builder.with_layer(&BaseUriLayer::new(base.parse().ok()?));
    let builder = builder.with_layer(&ExtraHeadersLayer::new(Arc::new(headers)));
    builder.with_auth(AuthState::None).build().ok()
}

impl Connection {
    /// A connection to `api_url`, for example `https://api.github.com`. Its tokens are added to `secrets`; secrets are
    /// only ever sent in the header meant for them.
    ///
    /// # Errors
    /// [`ForgeError::NoAddress`] if the address is not valid, [`ForgeError::Unreachable`] if the machine's certificates
    /// cannot be read.
    pub fn new(
        api_url: &str,
        authentication: Authentication,
        settings: &ForgeSettings,
        access: Access,
        secrets: KnownSecrets,
    ) -> Result<Arc<Self>, ForgeError> {
        // octocrab panics on an address without a scheme.
        let url = web_address(api_url)?;
        let unusable = |error: octocrab::Error| unreachable(&format!("use `{api_url}`"), error);
        // Without the path, because not all addresses are below it.
        let base = url.origin().ascii_serialization();
        let octocrab = match Octocrab::builder().base_uri(base.as_str()).map_err(unusable)?.build() {
            Ok(octocrab) => octocrab,
            // A bare machine has no certificates, and the embedded forge needs none.
            Err(error) if url.scheme() == "http" => plain(&base).ok_or_else(|| unusable(error))?,
            Err(error) => return Err(unusable(error)),
        };
        Ok(Self::over(octocrab, url.path(), authentication, settings, access, secrets))
    }

    /// A connection over an existing `octocrab` whose base has no path, such as one for a forge in the same process.
    /// `base_path` is what the forge's addresses have before `/repos`.
    pub fn over(
        octocrab: Octocrab,
        base_path: &str,
        authentication: Authentication,
        settings: &ForgeSettings,
        access: Access,
        secrets: KnownSecrets,
    ) -> Arc<Self> {
        if let Authentication::Token(token) = &authentication {
            secrets.add([token.clone()]);
        }
        Arc::new(Self {
            transport: Transport::new(octocrab, base_path, settings, secrets, calls_of(access)),
            authentication,
            own_login: tokio::sync::Mutex::default(),
            writer: OnceLock::new(),
            access,
            cache: Cache::default(),
            forwarded: Cache::default(),
            pushes: Pushes::default(),
            unauthorized: AtomicBool::default(),
            lacking: Mutex::default(),
            reads: AtomicU64::default(),
            unchanged: AtomicU64::default(),
            writes: AtomicU64::default(),
        })
    }

    pub(super) fn access(&self) -> Access {
        self.access
    }

    /// The secrets that this process knows, including the connection's own tokens.
    pub fn secrets(&self) -> &KnownSecrets {
        self.transport.secrets()
    }

    /// The forge's current time; the epoch before its first answer.
    pub fn now(&self) -> Timestamp {
        self.transport.now()
    }

    /// The number of calls so far, over all repositories.
    pub fn call_counts(&self) -> CallCounts {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        CallCounts { reads: count(&self.reads), unchanged: count(&self.unchanged), writes: count(&self.writes) }
    }

    /// The number of requests so far, by kind and answer.
    pub fn request_counts(&self) -> Vec<RequestCount> {
        self.transport.requests.all()
    }

    /// Counts a read whose answer was not a 304.
    pub(super) fn count_read(&self) {
        self.reads.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a read that was answered with 304.
    pub(super) fn count_unchanged(&self) {
        self.unchanged.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a write.
    pub(super) fn count_write(&self) {
        self.writes.fetch_add(1, Ordering::Relaxed);
    }

    /// The key of the passes that are signed in this identity's name.
    pub fn pass_key(&self) -> PassKey {
        self.authentication.pass_key()
    }

    /// The forge's current time, for which it is asked if it has not answered anything yet.
    ///
    /// # Errors
    /// [`ForgeError`] of that call, which costs no quota.
    pub async fn time(&self) -> Result<Timestamp, ForgeError> {
        if !self.transport.knows_the_time() {
            self.send(Call::get("/rate_limit", Purpose::without_permission("ask for the time"))).await?;
        }
        Ok(self.now())
    }

    /// The rest of each quota that an answer has named.
    pub fn rates(&self) -> Vec<Rate> {
        self.transport.rates()
    }

    /// How long the forge must not be called. `None` if it may be called now.
    pub fn closed_for(&self) -> Option<Duration> {
        self.transport.closed_for(resource_of(""))
    }

    /// How long the next poll waits. `None` if it may begin now.
    pub fn polls_after(&self) -> Option<Duration> {
        let wait = self.closed_for().unwrap_or_default().max(self.transport.wait_of_polls());
        (!wait.is_zero()).then_some(wait)
    }

    /// The longest wait that is made in place.
    pub fn patience(&self) -> Duration {
        self.settings().patience
    }

    /// Stops spacing writes: the process is ending and has a few seconds to put back what it holds.
    pub fn skip_spacing(&self) {
        self.transport.skip_spacing();
    }

    pub(super) fn settings(&self) -> &ForgeSettings {
        self.transport.settings()
    }

    /// A token for git that is valid for `needed`, at most half an hour.
    ///
    /// # Errors
    /// [`ForgeError`] if no token can be had.
    pub async fn token(&self, needed: Duration) -> Result<SecretString, ForgeError> {
        Ok(self.authentication.token(&self.transport, needed, None).await?.token.clone())
    }

    /// Reads one object.
    pub(super) async fn get<T: Serialize + DeserializeOwned>(
        &self,
        path: &str,
        purpose: Purpose<'_>,
    ) -> Result<T, ForgeError> {
        Ok(self.read(path, purpose).await?.0)
    }

    /// Reads an object that never changes under its address, such as a commit, at most once.
    pub(super) async fn get_once<T: Serialize + DeserializeOwned>(
        &self,
        path: &str,
        purpose: Purpose<'_>,
    ) -> Result<T, ForgeError> {
        match self.cached::<T>(path) {
            Some(known) => decode(&known.body, purpose.what),
            None => self.get(path, purpose).await,
        }
    }

    /// Stores an immutable object that was learned otherwise, for [`get_once`](Self::get_once).
    pub(super) fn know<T: Serialize>(&self, path: &str, thing: &T) {
        if let Ok(body) = serde_json::to_vec(thing) {
            // Without a tag, because such an address is not requested again.
            let known = Cached { kind: type_name::<T>(), etag: String::new(), body, links: Links::default() };
            self.cache.put(path, known, self.now());
        }
    }

    /// The stored answer of an address, if it was read as this type; another type has other fields.
    fn cached<T>(&self, path: &str) -> Option<Cached> {
        self.cache.get(path, self.now()).filter(|cached| cached.kind == type_name::<T>())
    }

    /// Waits for a turn to write.
    ///
    /// # Errors
    /// [`ForgeError::Limited`] if the wait would exceed `forge.patience`, [`ForgeError::ReadOnly`].
    pub(super) async fn write_turn(&self, purpose: Purpose<'_>) -> Result<WriteTurn<'_>, ForgeError> {
        if self.access == Access::ReadOnly {
            return Err(ForgeError::ReadOnly { what: purpose.what.to_owned() });
        }
        self.transport.write_turn(purpose).await
    }

    /// How long until the hour has room for this many more writes, or for as many as it ever has, if that is less.
    pub async fn wait_for_writes(&self, writes: usize) -> Duration {
        self.transport.wait_for_writes(writes).await
    }

    /// Writes once, in turn. If [`ForgeError::outcome_is_unknown`], a failed write may have had its effect.
    pub(super) async fn write_in<T: DeserializeOwned>(
        &self,
        _turn: &WriteTurn<'_>,
        call: Call<'_>,
    ) -> Result<T, ForgeError> {
        self.count_write();
        let reply = self.send(call).await?;
        if !reply.status.is_success() {
            return Err(self.transport.failure(&reply, call.path, call.purpose));
        }
        // A 204 has no body; `null` suits a caller that needs nothing.
        decode(if reply.body.is_empty() { b"null" } else { &reply.body }, call.purpose.what)
    }

    /// Reads one answer, with retries if the failure may be transient, and the addresses of the list's other pages.
    pub(super) async fn read<T: Serialize + DeserializeOwned>(
        &self,
        path: &str,
        purpose: Purpose<'_>,
    ) -> Result<(T, Links), ForgeError> {
        let mut tried = 0;
        loop {
            let error = match self.read_once(path, purpose).await {
                Ok(read) => return Ok(read),
                Err(error) => error,
            };
            let Some(pause) = self.transport.pause_after(&error, tried) else { return Err(error) };
            tried += 1;
            wait(&error, pause).await;
        }
    }

    async fn read_once<T: Serialize + DeserializeOwned>(
        &self,
        path: &str,
        purpose: Purpose<'_>,
    ) -> Result<(T, Links), ForgeError> {
        let cached = self.cached::<T>(path);
        let tag = cached.as_ref().map(|cached| cached.etag.as_str());
        let reply = self.send(Call { etag: tag, ..Call::get(path, purpose) }).await?;
        if let (StatusCode::NOT_MODIFIED, Some(cached)) = (reply.status, cached) {
            self.count_unchanged();
            return Ok((decode(&cached.body, purpose.what)?, cached.links));
        }
        self.count_read();
        if !reply.status.is_success() {
            return Err(self.transport.failure(&reply, path, purpose));
        }
        let (read, links): (T, _) = (decode(&reply.body, purpose.what)?, reply.links(self.transport.base_path()));
        if let (Some(etag), Ok(body)) = (reply.text(header::ETAG.as_str()), serde_json::to_vec(&read)) {
            let kept = Cached { kind: type_name::<T>(), etag: etag.to_owned(), body, links: links.clone() };
            self.cache.put(path, kept, self.now());
        }
        Ok((read, links))
    }

    /// The last `tail` bytes of a file at the address that the answer at `path` names. The token is not sent there.
    pub(super) async fn download(&self, path: &str, tail: usize, purpose: Purpose<'_>) -> Result<Vec<u8>, ForgeError> {
        let reply = self.send(Call::get(path, purpose)).await?;
        self.count_read();
        match reply.text(header::LOCATION.as_str()).filter(|_| reply.status.is_redirection()) {
            Some(address) => self.transport.tail_of(address, tail, DOWNLOAD_MAX, purpose.what).await,
            None => Err(self.transport.failure(&reply, path, purpose)),
        }
    }

    /// A whole file at an address that the forge named. The token is not sent there.
    pub(super) async fn file(&self, address: &str, most: usize, what: &str) -> Result<Vec<u8>, ForgeError> {
        self.transport.tail_of(address, most, most, what).await
    }

    /// Reads once, bypassing the cache.
    pub(super) async fn send_read(&self, call: Call<'_>) -> Result<Reply, ForgeError> {
        let reply = self.send(call).await?;
        self.count_read();
        if reply.status.is_success() { Ok(reply) } else { Err(self.transport.failure(&reply, call.path, call.purpose)) }
    }

    /// The repository's current name, if the forge says that the one at `path` has moved.
    pub(super) async fn present_name(&self, path: &str) -> Option<RepoName> {
        #[derive(Deserialize)]
        struct Named {
            full_name: RepoName,
        }
        let purpose = Purpose::without_permission("learn the repository's new name");
        let moved = self.send(Call::get(path, purpose)).await.ok()?;
        let now_at = moved.moved_repository(self.transport.base_path())?;
        let named = self.send(Call::get(&now_at, purpose)).await.ok()?;
        decode::<Named>(&named.body, purpose.what).ok().map(|named| named.full_name)
    }

    /// Sends a request as this identity if the gate is open.
    pub(super) async fn send(&self, call: Call<'_>) -> Result<Reply, ForgeError> {
        let resource = resource_of(call.path);
        if let Some(retry_after) = self.transport.closed_for(resource) {
            return Err(ForgeError::Limited { what: call.purpose.what.to_owned(), retry_after });
        }
        let reply = self.signed(call).await?;
        self.transport.note(&reply, resource);
        Ok(reply)
    }

    /// One request as this identity. Refusals are handled here, since a refused call had no effect. A fresh token may
    /// not be known everywhere yet, and a server that is just starting knows none, so the call is repeated once. An
    /// App's token that is no longer accepted is replaced once.
    async fn signed(&self, call: Call<'_>) -> Result<Reply, ForgeError> {
        let replaceable = matches!(self.authentication, Authentication::App(_));
        let mut issued = self.authentication.token(&self.transport, Duration::ZERO, None).await?;
        let mut reply = self.transport.exchange(call, Some(&issued.token)).await?;
        let is_doubtful = match replaceable {
            true => self.is_refusal(&reply) && issued.is_unproven(),
            false => reply.status == StatusCode::UNAUTHORIZED && !self.unauthorized.load(Ordering::Relaxed),
        };
        if is_doubtful {
            tokio::time::sleep(REFUSED_PAUSE).await;
            reply = self.transport.exchange(call, Some(&issued.token)).await?;
        }
        if reply.status == StatusCode::UNAUTHORIZED && replaceable {
            issued = self.authentication.token(&self.transport, Duration::ZERO, Some(&issued)).await?;
            reply = self.transport.exchange(call, Some(&issued.token)).await?;
        }
        let is_unauthorized = reply.status == StatusCode::UNAUTHORIZED;
        self.unauthorized.store(is_unauthorized, Ordering::Relaxed);
        if !is_unauthorized {
            issued.accept();
        }
        Ok(reply)
    }

    fn is_refusal(&self, reply: &Reply) -> bool {
        matches!(reply.status.as_u16(), 401 | 403 | 404) && reply.limit(self.now(), 0).is_none()
    }
}

/// The API's address, in a form that a client accepts.
fn web_address(given: &str) -> Result<url::Url, ForgeError> {
    let plain = |url: &url::Url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
    };
    url::Url::parse(given).ok().filter(plain).ok_or_else(|| {
        // A refused address may contain a password, so only the part after it is repeated.
        let shown = given.rsplit_once('@').map_or_else(|| given.to_owned(), |(_, host)| format!("…@{host}"));
        ForgeError::NoAddress(clip(&shown, 200))
    })
}

#[cfg(test)]
mod tests {
    use std::{collections::HashMap, convert::Infallible};

    use super::*;
    use hob_config::Settings;
    use http::{Method, Request, Response};
    use http_body_util::Full;

    #[test]
    fn only_a_web_address_is_one_of_an_api() {
        for address in ["https://api.github.com", "http://127.0.0.1:3000/api/v3/", "https://ghe.corp/api/v3"] {
            web_address(address).unwrap();
        }
        for (address, shown) in [
            ("localhost:3000", "`localhost:3000`"),
            ("api.github.com", "`api.github.com`"),
            ("ftp://ghe.corp", "`ftp://ghe.corp`"),
            ("http://", "`http://`"),
            ("https://ghe.corp/api/v3?x=1", "x=1"),
            ("https://hob:secret@ghe.corp/api/v3", "`…@ghe.corp/api/v3`"),
            ("", "``"),
        ] {
            let says = web_address(address).unwrap_err().to_string();
            assert!(says.contains(shown) && !says.contains("secret"), "{says}");
        }
    }

    /// A connection to a forge that answers with these statuses in order, and the number of answers left.
    fn answering(statuses: &[u16]) -> (Arc<Connection>, impl Fn() -> usize) {
        let answers = Arc::new(Mutex::new(statuses.iter().rev().copied().collect::<Vec<_>>()));
        let left = Arc::clone(&answers);
        let service = tower::service_fn(move |_: Request<OctoBody>| {
            let status = answers.lock().unwrap().pop().unwrap();
            let answer = Response::builder().status(status).body(Full::from("7")).unwrap();
            async move { Ok::<_, Infallible>(answer) }
        });
        let built = OctocrabBuilder::new_empty().with_service(service).with_auth(AuthState::None).build();
        let octocrab = built.unwrap_or_else(|never| match never {});
        let settings = Settings::load(None, HashMap::new(), &[]).unwrap().forge;
        let identity = Authentication::Token("t".to_owned().into());
        let connection = Connection::over(octocrab, "", identity, &settings, Access::ReadOnly, KnownSecrets::default());
        (connection, move || left.lock().unwrap().len())
    }

    /// Attack corpus G77, G81, K151.
    #[tokio::test]
    async fn a_secret_is_sent_in_no_body_and_no_path_but_in_its_header() {
        let sent = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&sent);
        let service = tower::service_fn(move |request: Request<OctoBody>| {
            let seen = Arc::clone(&seen);
            async move {
                let (parts, body) = request.into_parts();
                let body = http_body_util::BodyExt::collect(body).await.unwrap().to_bytes();
                seen.lock().unwrap().push((parts.uri, parts.headers, String::from_utf8(body.to_vec()).unwrap()));
                Ok::<_, Infallible>(Response::new(Full::from("7")))
            }
        });
        let built = OctocrabBuilder::new_empty().with_service(service).with_auth(AuthState::None).build();
        let octocrab = built.unwrap_or_else(|never| match never {});
        let settings = Settings::load(None, HashMap::new(), &[]).unwrap().forge;
        let (identity, key) = (Authentication::Token("token-of-hob".to_owned().into()), "key of a model");
        let secrets = KnownSecrets::default();
        secrets.add([key.to_owned().into()]);
        let connection = Connection::over(octocrab, "", identity, &settings, Access::ReadWrite, secrets);
        connection.skip_spacing();
        let write = async |path: &str, text: &str| {
            let purpose = Purpose::without_permission("write");
            let turn = connection.write_turn(purpose).await.unwrap();
            let body = serde_json::json!({ "name": [text] });
            connection.write_in::<u32>(&turn, Call::write(&Method::POST, path, &body, purpose)).await
        };
        for text in [key, "token-of-hob", "dG9rZW4tb2YtaG9i", "746f6b656e2d6f662d686f62", "token%2Dof%2Dhob"] {
            write("/repos/a/b/labels", &format!("it is {text}, and \"more\"")).await.unwrap();
            let (_, headers, body) = sent.lock().unwrap().pop().unwrap();
            assert_eq!(body, r#"{"name":["it is (redacted: a secret of Hob), and \"more\""]}"#);
            assert_eq!(headers[header::AUTHORIZATION], "Bearer token-of-hob");
        }
        // A secret of a form that is known, also where no agent said it.
        write("/repos/a/b/labels", &format!("it is npm_{}", "a1B2".repeat(9))).await.unwrap();
        let (.., body) = sent.lock().unwrap().pop().unwrap();
        assert_eq!(body, r#"{"name":["it is [a secret of the form npm-access-token]"]}"#);
        for path in ["/git/refs/heads/token-of-hob", "/labels/key%20of%20a%20model?page=1"] {
            let refused = write(path, "").await.unwrap_err();
            assert!(matches!(refused, ForgeError::HoldsSecret { .. }), "{refused}");
        }
        assert!(sent.lock().unwrap().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_401_is_believed_when_it_comes_twice() {
        let (connection, left) = answering(&[401, 200, 200, 401, 200, 401, 401, 401, 200]);
        let read = async || connection.get::<u32>("/user", Purpose::without_permission("read")).await;
        for _ in 0..3 {
            assert_eq!(read().await.unwrap(), 7, "one alone, at the start and later");
        }
        for still in [2, 1] {
            assert!(matches!(read().await, Err(ForgeError::Unauthorized)));
            assert_eq!(left(), still, "asked again once, then no more");
        }
        assert_eq!(read().await.unwrap(), 7);
    }
}
