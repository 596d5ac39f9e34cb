//! The HTTP client of the exporter: Hob's own, in the runtime of the rest of the program.

use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use tokio::{runtime::Handle, time::timeout};

/// The time limit of one request, the default of the protocol's exporters.
const TIME: Duration = Duration::from_secs(10);
/// Bytes of an answer; one that says what was rejected is short.
const ANSWER_MAX: usize = 64 << 10;

/// Posts spans.
#[derive(Debug)]
pub(crate) struct Client {
    http: reqwest::Client,
    /// The exporter has a thread without a runtime.
    runtime: Handle,
}

/// A request without an answer.
#[derive(Debug, thiserror::Error)]
enum Unanswered {
    #[error("no answer within {} s", TIME.as_secs())]
    Late,
    #[error("the answer has more than {ANSWER_MAX} bytes")]
    Long,
    #[error("{0}")]
    Http(#[from] reqwest::Error),
}

impl Client {
    /// A client that posts with `http`, in this runtime.
    pub(crate) fn new(http: reqwest::Client) -> Self {
        Self { http, runtime: Handle::current() }
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let sent = self.runtime.spawn(post(self.http.clone(), request)).await?;
        // The library drops the cause.
        Ok(sent.inspect_err(|error| tracing::debug!(%error, "the traces were not taken: {error}"))?)
    }
}

async fn post(http: reqwest::Client, request: Request<Bytes>) -> Result<Response<Bytes>, Unanswered> {
    let posted = async {
        let mut answer = http.execute(request.try_into()?).await?;
        let mut body = Vec::new();
        while let Some(part) = answer.chunk().await? {
            if body.len() + part.len() > ANSWER_MAX {
                return Err(Unanswered::Long);
            }
            body.extend_from_slice(&part);
        }
        let mut response = Response::new(Bytes::from(body));
        *response.status_mut() = answer.status();
        *response.headers_mut() = std::mem::take(answer.headers_mut());
        Ok(response)
    };
    timeout(TIME, posted).await.unwrap_or(Err(Unanswered::Late))
}
