//! One streamed request to a model's service, with its deadlines and retries.
//!
//! - Flow: send; read the answer's events into a [`Collect`]; on a transient failure discard the answer and send again.
//! - Guarantees: connecting, and each wait for more of the stream, has a time-out; the answer is bounded; retries are
//!   counted and wait with full jitter; a key is in a header marked sensitive, in no message and no log; redirects are
//!   not followed, so that a key goes to no other host.
//! - Money: the most of each attempt is reserved before it is sent. What the service refused is given back; an answer that was
//!   cut off, or dropped, counts as its most, because the service may bill it.
//! - Caveats: the whole of a request is bounded by the caller, who drops the future.

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use hob_config::ModelSettings;
use hob_domain::FailureClass;
use hob_egress::{Api, Bill, Reservation, ServiceTier};
use http::{HeaderMap, HeaderName, HeaderValue, header};
use secrecy::{ExposeSecret, SecretString};
use tokio::time::timeout;

use crate::{
    model::{Funds, ModelError, ModelReply, classify::status_error, collect::Collect, reader::Reader},
    report::with_causes,
};

/// Bytes of an error's body that are read.
const ERROR_MAX: usize = 64 << 10;
/// Bytes of a list of models, and how long it is waited for.
const LIST_MAX: usize = 4 << 20;
const LIST_TIME: Duration = Duration::from_secs(5);
/// How long a service is waited for in its slow tier: OpenAI's "Flex processing" guide, read 2026-11, advises 15 minutes.
const FLEX_IDLE: Duration = Duration::from_secs(15 * 60);
/// How long to wait for the end of a stream once its reply is complete: then its connection can be reused.
const END: Duration = Duration::from_secs(1);

/// The request to send. Its bytes are shared by every attempt.
pub(super) struct Call<'a> {
    pub(super) api: Api,
    pub(super) funds: Option<Funds<'a>>,
    pub(super) url: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) key: Option<SecretString>,
    /// The tier that it asks for.
    pub(super) tier: ServiceTier,
}

/// The one HTTP client of all models.
#[derive(Debug, Clone)]
pub(super) struct Http {
    client: reqwest::Client,
    idle: Duration,
    retries: u32,
    backoff: Duration,
    backoff_max: Duration,
}

/// The destination of a client's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Anywhere, through the proxy that the environment names.
    Network,
    /// A server on this machine, without TLS: no proxy, and no certificates, which a bare container may lack.
    ThisMachine,
}

/// Makes ring the process's one cryptography, as every HTTP client here expects.
pub fn use_ring() {
    // A second call is fine: the first provider stays, and it is this one.
    rustls::crypto::ring::default_provider().install_default().ok();
}

impl Http {
    /// Makes the client.
    pub(super) fn new(settings: &ModelSettings, reach: Reach) -> Result<Self, ModelError> {
        use_ring();
        let builder = match reach {
            Reach::Network => reqwest::Client::builder(),
            Reach::ThisMachine => reqwest::Client::builder().no_proxy().tls_certs_only([]),
        };
        let client = builder
            .connect_timeout(settings.connect_timeout)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("hob/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| ModelError::Setup(format!("make the HTTP client: {}", with_causes(&error))))?;
        Ok(Self {
            client,
            idle: settings.idle_timeout,
            retries: settings.retries,
            backoff: settings.backoff,
            backoff_max: settings.backoff_max,
        })
    }

    /// Sends `call` until a reply is complete or the retries are used up.
    pub(super) async fn stream<C: Collect>(&self, call: &Call<'_>, of: &str) -> Result<ModelReply, ModelError> {
        let mut attempt = 0;
        loop {
            let error = match self.attempt::<C>(call, of).await {
                Ok(reply) => return Ok(reply),
                Err(error) => without_key(error, call.key.as_ref()),
            };
            // The slow tier is not waited for twice.
            let is_over = call.tier == ServiceTier::Flex && matches!(error, ModelError::Silent(_));
            let wait = self.wait(attempt, &error.failure()).filter(|_| !is_over);
            let Some(mut wait) = wait else { return Err(self.quota_or(error)) };
            // The server may meanwhile have closed a connection that was kept for the next request.
            if attempt == 0 && matches!(error, ModelError::Transport(_)) {
                wait = Duration::ZERO;
            }
            let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            tracing::info!(error = %error, wait_ms, "the model gave no reply, trying again in {wait_ms} ms: {error}");
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }

    /// A limit that opens later than a run can wait for is a used-up quota.
    fn quota_or(&self, error: ModelError) -> ModelError {
        match error {
            ModelError::Status {
                status: 429,
                message,
                failure: FailureClass::Transient { retry_after: Some(wait) },
            } if wait > self.backoff_max => {
                let failure = FailureClass::QuotaExhausted { reset_after: Some(wait) };
                ModelError::Status { status: 429, message, failure }
            }
            error => error,
        }
    }

    /// The wait before the next attempt; `None` if there is none.
    fn wait(&self, attempt: u32, failure: &FailureClass) -> Option<Duration> {
        if attempt >= self.retries {
            return None;
        }
        match failure {
            FailureClass::Transient { retry_after: Some(wait) } => (*wait <= self.backoff_max).then_some(*wait),
            FailureClass::Transient { retry_after: None } => {
                let most = self.backoff.saturating_mul(2_u32.saturating_pow(attempt)).min(self.backoff_max);
                Some(most.mul_f64(rand::random::<f64>()))
            }
            FailureClass::Permanent
            | FailureClass::Unfinished
            | FailureClass::QuotaExhausted { .. }
            | FailureClass::NeedsHuman
            | FailureClass::Misconfigured
            | FailureClass::Cancelled => None,
        }
    }

    async fn attempt<C: Collect>(&self, call: &Call<'_>, of: &str) -> Result<ModelReply, ModelError> {
        let idle = if call.tier == ServiceTier::Flex { FLEX_IDLE.max(self.idle) } else { self.idle };
        let silent = |_elapsed| ModelError::Silent(idle);
        let request = self.client.post(&call.url).headers(call.headers.clone()).body(call.body.clone());
        let mut held = match call.funds {
            Some(funds) => Some(funds.reserve(call.api, &call.body).await?),
            None => None,
        };
        held.iter_mut().for_each(Reservation::sent);
        let sent = timeout(idle, request.send()).await.map_err(silent)?;
        let answer = sent.map_err(|error| {
            if error.is_connect() {
                held.take().into_iter().for_each(Reservation::give_back);
            }
            transport(&error)
        })?;
        let status = answer.status();
        if !status.is_success() {
            held.take().into_iter().for_each(Reservation::give_back);
            let headers = answer.headers().clone();
            return Err(status_error(status.as_u16(), &headers, &self.error_body(answer).await));
        }
        let mut reader = Reader::<C>::default();
        let mut chunks = answer.bytes_stream();
        loop {
            let patience = if reader.is_complete() { END.min(idle) } else { idle };
            let chunk = match timeout(patience, chunks.next()).await {
                Ok(Some(Ok(chunk))) => chunk,
                Ok(None) => break,
                Ok(Some(Err(_))) | Err(_) if reader.is_complete() => break,
                Ok(Some(Err(_))) => return Err(ModelError::Cut),
                Err(elapsed) => return Err(silent(elapsed)),
            };
            reader.push(&chunk)?;
        }
        let collect = reader.end()?;
        let (is_counted, bill) = (collect.is_counted(), collect.bill());
        let reply = collect.finish(of, call.body.len())?;
        match (held, call.funds) {
            (Some(held), Some(funds)) if is_counted => {
                held.settle(Bill { usage: reply.usage, ..bill });
                funds.counted(&call.body, reply.usage.input);
            }
            (Some(held), _) => held.settle_at_most(reply.usage),
            (None, _) => {}
        }
        Ok(reply)
    }

    /// What a service says of its models at `url`; `None` if it says nothing, or not soon.
    pub(super) async fn list(&self, url: &str, headers: HeaderMap) -> Option<serde_json::Value> {
        let asked = async {
            let answer = self.client.get(url).headers(headers).send().await.ok()?.error_for_status().ok()?;
            let mut body = Vec::new();
            let mut chunks = answer.bytes_stream();
            while let Some(chunk) = chunks.next().await {
                body.extend_from_slice(&chunk.ok()?);
                if body.len() > LIST_MAX {
                    return None;
                }
            }
            serde_json::from_slice(&body).ok()
        };
        timeout(LIST_TIME, asked).await.ok()?
    }

    /// The beginning of an error's body, as far as it arrived.
    async fn error_body(&self, answer: reqwest::Response) -> String {
        let mut body = Vec::new();
        let mut chunks = answer.bytes_stream();
        while let Ok(Some(Ok(chunk))) = timeout(self.idle, chunks.next()).await {
            body.extend_from_slice(&chunk[..chunk.len().min(ERROR_MAX - body.len())]);
            if body.len() >= ERROR_MAX {
                break;
            }
        }
        String::from_utf8_lossy(&body).into_owned()
    }
}

/// The headers of a JSON request, with a key in `name` after `scheme`.
pub(super) fn headers(name: HeaderName, scheme: &str, key: Option<&SecretString>) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
    if let Some(key) = key {
        let mut value = HeaderValue::try_from(format!("{scheme}{}", key.expose_secret().trim()))
            .map_err(|_| ModelError::Setup("the model's key has invalid characters".into()))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

fn transport(error: &reqwest::Error) -> ModelError {
    ModelError::Transport(with_causes(error))
}

/// Some services, and proxies before them, repeat the key they refuse.
fn without_key(error: ModelError, key: Option<&SecretString>) -> ModelError {
    match (error, key) {
        (ModelError::Status { status, message, failure }, Some(key)) if !key.expose_secret().trim().is_empty() => {
            ModelError::Status { status, message: message.replace(key.expose_secret().trim(), "[key]"), failure }
        }
        (ModelError::TooLong(message), Some(key)) if !key.expose_secret().trim().is_empty() => {
            ModelError::TooLong(message.replace(key.expose_secret().trim(), "[key]"))
        }
        (error, _) => error,
    }
}
