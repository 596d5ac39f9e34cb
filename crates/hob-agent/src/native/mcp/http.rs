//! A server behind an address: a message is the body of a POST, and the answer is JSON or a stream of events.
//!
//! - Guarantees: requests go only to the address of the settings: redirects are not followed, and addresses in answers
//!   are not used. The token is in a header marked sensitive. A request has a deadline, even if its caller no longer
//!   waits.
//! - Caveats: unsolicited messages of a server, over a stream of their own, are not read.

use std::{
    future::Future,
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use rmcp::{
    model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage, ServerResult},
    service::RoleClient,
    transport::Transport,
};
use secrecy::{ExposeSecret, SecretString};
use tokio::{sync::mpsc, time::timeout};
use url::Url;

use crate::{
    model::{Events, is_loopback, use_ring},
    native::mcp::{
        bound::{Bound, CutOff},
        error::Unreachable,
    },
};

/// The header that names the session.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The header that names the version of the protocol, once it is agreed on.
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The time limit for ending a session.
const GOODBYE: Duration = Duration::from_secs(2);

/// A server behind an address.
pub(super) struct Http {
    shared: Arc<Shared>,
    /// Messages from the server; `None` if it is cut off.
    incoming: mpsc::UnboundedReceiver<Option<ServerJsonRpcMessage>>,
}

struct Shared {
    client: reqwest::Client,
    url: Url,
    timeout: Duration,
    /// The headers of each request: credentials, and later its session.
    headers: Mutex<HeaderMap>,
    bound: Arc<Bound>,
    came: mpsc::UnboundedSender<Option<ServerJsonRpcMessage>>,
}

impl Http {
    /// The server at `url`, with the token `token`.
    ///
    /// # Errors
    /// [`Unreachable`] if the address or the token is invalid.
    pub(super) fn new(
        url: &str,
        token: Option<&SecretString>,
        timeout: Duration,
        bound: Arc<Bound>,
    ) -> Result<Self, Unreachable> {
        use_ring();
        let url = Url::parse(url.trim())?;
        // A server on this machine is not behind a proxy, and needs no certificates, which a bare container may lack.
        let builder = match (url.scheme(), is_loopback(&url)) {
            ("http", true) => reqwest::Client::builder().no_proxy().tls_certs_only([]),
            (_, true | false) => reqwest::Client::builder(),
        };
        let client = builder
            .connect_timeout(timeout)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("hob/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(Unreachable::Client)?;
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        if let Some(token) = token {
            let value = HeaderValue::try_from(format!("Bearer {}", token.expose_secret().trim()));
            let mut value = value.map_err(|_invalid| Unreachable::Token)?;
            value.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, value);
        }
        let (came, incoming) = mpsc::unbounded_channel();
        let shared = Shared { client, url, timeout, headers: Mutex::new(headers), bound, came };
        Ok(Self { shared: Arc::new(shared), incoming })
    }
}

impl Transport<RoleClient> for Http {
    type Error = io::Error;

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let shared = Arc::clone(&self.shared);
        async move {
            let late = |_elapsed| io::Error::from(io::ErrorKind::TimedOut);
            timeout(shared.timeout, shared.post(&message)).await.map_err(late)?
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.incoming.recv().await?
    }

    async fn close(&mut self) -> io::Result<()> {
        let headers = self.shared.headers();
        if headers.contains_key(SESSION) {
            let goodbye = self.shared.client.delete(self.shared.url.clone()).headers(headers).send();
            // A server that does not hear it forgets the session by itself.
            timeout(GOODBYE, goodbye).await.ok();
        }
        Ok(())
    }
}

impl Shared {
    fn headers(&self) -> HeaderMap {
        self.headers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, name: HeaderName, value: HeaderValue) {
        self.headers.lock().unwrap_or_else(PoisonError::into_inner).insert(name, value);
    }

    /// Sends a message, and passes on the answer.
    async fn post(&self, message: &ClientJsonRpcMessage) -> io::Result<()> {
        let body = serde_json::to_vec(message)?;
        let request = self.client.post(self.url.clone()).headers(self.headers()).body(body);
        let answer = request.send().await.map_err(|error| io::Error::other(error.without_url()))?;
        let status = answer.status();
        if status.is_redirection() {
            return Err(io::Error::other(format!("it answers with a redirect ({status}), which is not followed")));
        }
        if !status.is_success() {
            return Err(io::Error::other(format!("it answers with {status}")));
        }
        if let Some(session) = answer.headers().get(SESSION) {
            self.keep(SESSION, session.clone());
        }
        let kind = answer.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let is_request = matches!(message, JsonRpcMessage::Request(_));
        let read = match kind.as_str() {
            // A notification, or an answer of ours, expects no answer, even if there is a body.
            _ if !is_request || status == StatusCode::ACCEPTED => return Ok(()),
            "application/json" => self.json(answer).await,
            "text/event-stream" => self.events(answer).await,
            other => return Err(io::Error::other(format!("it answers with `{other}` instead of JSON or events"))),
        };
        if read.is_err() && self.bound.fault().is_some() {
            self.came.send(None).ok();
        }
        read
    }

    async fn json(&self, mut answer: reqwest::Response) -> io::Result<()> {
        let mut body = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(|error| io::Error::other(error.without_url()))? {
            body.extend_from_slice(&piece);
            self.bound.came(piece.len(), body.len()).map_err(cut_off)?;
        }
        self.pass_on(self.bound.read(&body).map_err(cut_off)?);
        Ok(())
    }

    /// Reads until the answer arrived: a server may keep the stream open after it.
    async fn events(&self, mut answer: reqwest::Response) -> io::Result<()> {
        let (mut events, mut since) = (Events::default(), 0);
        while let Some(piece) = answer.chunk().await.map_err(|error| io::Error::other(error.without_url()))? {
            since += piece.len();
            self.bound.came(piece.len(), since).map_err(cut_off)?;
            let complete = events.push(&piece).map_err(|_| io::Error::other("an event of it is too long"))?;
            for data in complete {
                since = 0;
                let message = self.bound.read(data.as_bytes()).map_err(cut_off)?;
                let is_answer = matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_));
                self.pass_on(message);
                if is_answer {
                    return Ok(());
                }
            }
        }
        Err(io::Error::other("its stream ended before the answer"))
    }

    fn pass_on(&self, message: ServerJsonRpcMessage) {
        if let JsonRpcMessage::Response(response) = &message
            && let ServerResult::InitializeResult(agreed) = &response.result
            && let Ok(version) = HeaderValue::from_str(agreed.protocol_version.as_str())
        {
            self.keep(VERSION, version);
        }
        // The run may be over.
        self.came.send(Some(message)).ok();
    }
}

fn cut_off(error: CutOff) -> io::Error {
    io::Error::other(error)
}
