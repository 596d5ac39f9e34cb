//! The real server: the client that reaches it, and one request to it in Hob's name.

use std::{
    ffi::OsStr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use hob_process::Environment;
use http::{
    HeaderMap, HeaderValue, Method,
    header::{self, InvalidHeaderValue},
};

use crate::Remote;

/// The timeout of a connection to the server: shorter than git's own, so that the cause is reported.
const CONNECT: Duration = Duration::from_secs(20);
/// How long a connection is kept for the next command. Servers keep them longer, so none is closed while in use.
const IDLE: Duration = Duration::from_secs(5);

/// The HTTP clients of a workspace, made when they are first needed: reading the machine's certificates takes a while.
#[derive(Debug, Clone)]
pub(crate) struct Clients {
    proxy: Option<String>,
    no_proxy: Option<String>,
    plain: Arc<OnceLock<reqwest::Client>>,
    secure: Arc<OnceLock<reqwest::Client>>,
}

impl Clients {
    /// Clients that go through the proxy that `environment` names, for https only: so does git.
    pub(crate) fn new(environment: &Environment) -> Self {
        let named = |name: &str| environment.get(OsStr::new(name)).and_then(|value| value.to_str()).map(str::to_owned);
        let proxy = named("HTTPS_PROXY").filter(|address| !address.is_empty());
        Self { proxy, no_proxy: named("NO_PROXY"), plain: Arc::default(), secure: Arc::default() }
    }

    /// The client for an address.
    ///
    /// # Errors
    /// [`NoClient`] if the machine's certificates or the proxy's address are unusable.
    pub(super) fn client(&self, url: &str) -> Result<reqwest::Client, NoClient> {
        let is_secure = url.starts_with("https:");
        let kept = if is_secure { &self.secure } else { &self.plain };
        if let Some(client) = kept.get() {
            return Ok(client.clone());
        }
        let client = if is_secure { self.secure() } else { Self::builder().tls_certs_only([]).build() };
        let client = client.map_err(NoClient)?;
        Ok(kept.get_or_init(|| client).clone())
    }

    fn secure(&self) -> reqwest::Result<reqwest::Client> {
        let builder = Self::builder();
        let Some(address) = &self.proxy else { return builder.build() };
        let beside = self.no_proxy.as_deref().and_then(reqwest::NoProxy::from_string);
        builder.proxy(reqwest::Proxy::https(address)?.no_proxy(beside)).build()
    }

    fn builder() -> reqwest::ClientBuilder {
        // A second call is fine: the first provider stays, and it is this one.
        rustls::crypto::ring::default_provider().install_default().ok();
        let builder = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        builder.connect_timeout(CONNECT).pool_idle_timeout(IDLE)
    }
}

/// The HTTP client could not be made.
#[derive(Debug, thiserror::Error)]
#[error("make the HTTP client: {}", chain(.0))]
pub(crate) struct NoClient(#[source] reqwest::Error);

/// There is nothing to send requests with.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoUpstream {
    #[error("the token is not valid in a header: {0}")]
    Token(#[from] InvalidHeaderValue),
    #[error(transparent)]
    Client(#[from] NoClient),
}

/// The server did not answer.
#[derive(Debug, thiserror::Error)]
#[error("unable to access '{url}': {}", chain(.source))]
pub(super) struct Unreachable {
    url: String,
    source: reqwest::Error,
}

/// One repository at its server, with the right to use it.
pub(super) struct Upstream {
    client: reqwest::Client,
    /// The repository's address.
    url: String,
    authorization: Option<HeaderValue>,
}

impl Upstream {
    /// The repository of `remote` at its address, `url`.
    ///
    /// # Errors
    /// [`NoUpstream`] if the token cannot be sent or there is no client.
    pub(super) fn of(remote: &Remote, url: &str, clients: &Clients) -> Result<Self, NoUpstream> {
        let authorization = remote.authorization().map(|text| HeaderValue::from_str(&text));
        let mut authorization = authorization.transpose()?;
        if let Some(value) = &mut authorization {
            value.set_sensitive(true);
        }
        Ok(Self { client: clients.client(url)?, url: url.to_owned(), authorization })
    }

    /// Sends a request on, and returns the beginning of its answer.
    ///
    /// # Errors
    /// [`Unreachable`] says in one line why the server did not answer.
    pub(super) async fn send(
        &self,
        method: Method,
        service: &str,
        mut headers: HeaderMap,
        body: Option<reqwest::Body>,
    ) -> Result<reqwest::Response, Unreachable> {
        if let Some(authorization) = &self.authorization {
            headers.insert(header::AUTHORIZATION, authorization.clone());
        }
        let mut request = self.client.request(method, format!("{}{service}", self.url)).headers(headers);
        if let Some(body) = body {
            request = request.body(body);
        }
        let sent = request.send().await;
        sent.map_err(|error| Unreachable { url: self.url.clone(), source: error.without_url() })
    }
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
