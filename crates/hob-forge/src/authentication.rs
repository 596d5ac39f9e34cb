//! The identity towards the forge: the owner of a token, or an App whose tokens are created on demand.
//!
//! # Guarantees
//! - An installation has one token at a time for all callers: it is created under a lock, and after a 401 a new one is
//!   created only if no other caller did so meanwhile.
//! - A token is only given out if it is valid for as long as the caller needs it, at least [`MARGIN`].
//!
//! # Caveats
//! Parts of the forge may not know a fresh token for seconds: until it was accepted once, a refusal is not believed at
//! once.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hob_domain::{Login, RepoName, Timestamp};
use http::Method;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use crate::{
    AppKey, ForgeError, PassKey,
    call::Call,
    purpose::Purpose,
    reply::{Reply, decode},
    transport::Transport,
};

/// The least remaining life of a token that is given out. GitHub's tokens live an hour.
const MARGIN: Duration = Duration::from_secs(300);
/// The longest validity that may be requested: that of a fresh token, with a margin.
const LASTS_MAX: Duration = Duration::from_secs(1_800);

/// An identity.
#[derive(Debug)]
pub enum Authentication {
    /// The owner of this token.
    Token(SecretString),
    /// An installation of an App.
    App(Box<App>),
}

/// An App's credentials, and the token of its installation.
#[derive(Debug)]
pub struct App {
    id: u64,
    installation: Option<u64>,
    repo: Option<RepoName>,
    key: AppKey,
    state: tokio::sync::Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    installation: Option<u64>,
    issued: Option<Arc<IssuedToken>>,
}

/// A token and what is known about it.
#[derive(Debug)]
pub(super) struct IssuedToken {
    pub(super) token: SecretString,
    expires_at: Option<Timestamp>,
    accepted: AtomicBool,
}

impl IssuedToken {
    /// Whether a refusal may only mean that the token is too new.
    pub(super) fn is_unproven(&self) -> bool {
        !self.accepted.load(Ordering::Relaxed)
    }

    /// Records an answer that accepted the token.
    pub(super) fn accept(&self) {
        self.accepted.store(true, Ordering::Relaxed);
    }

    fn lasts(&self, now: Timestamp, needed: Duration) -> bool {
        self.expires_at.is_none_or(|end| end > now + needed)
    }
}

#[derive(Deserialize)]
struct InstallationWire {
    id: u64,
}

#[derive(Deserialize)]
struct TokenWire {
    token: String,
    expires_at: Timestamp,
}

#[derive(Deserialize)]
struct AppWire {
    slug: String,
}

impl App {
    /// The App `id` with its private key. The installation is the given one, else that of `repo`, else the only one.
    pub fn new(id: u64, key: AppKey, installation: Option<u64>, repo: Option<RepoName>) -> Self {
        Self { id, installation, repo, key, state: tokio::sync::Mutex::default() }
    }

    async fn find_installation(&self, transport: &Transport) -> Result<u64, ForgeError> {
        if let Some(known) = self.installation {
            return Ok(known);
        }
        if let Some(repo) = &self.repo {
            let path = format!("/repos/{repo}/installation");
            let found =
                self.call::<InstallationWire>(transport, &Method::GET, &path, "find the App's installation").await;
            return match found {
                Err(error) if error.is_not_found() => {
                    Err(ForgeError::App(format!("it is not installed on {repo}: install it there")))
                }
                found => Ok(found?.id),
            };
        }
        let path = "/app/installations?per_page=100";
        let found: Vec<InstallationWire> =
            self.call(transport, &Method::GET, path, "list the App's installations").await?;
        match found.as_slice() {
            [one] => Ok(one.id),
            [] => Err(ForgeError::App("it is installed nowhere: install it on a repository".to_owned())),
            several => {
                let ids: Vec<_> = several.iter().take(10).map(|one| one.id.to_string()).collect();
                let ids = ids.join(", ");
                Err(ForgeError::App(format!("it has several installations: set `app.installation` to one of {ids}")))
            }
        }
    }

    /// A call as the App itself, signed with its key: a read or a request for a token, both harmless to repeat.
    async fn call<T: serde::de::DeserializeOwned>(
        &self,
        transport: &Transport,
        method: &Method,
        path: &str,
        what: &str,
    ) -> Result<T, ForgeError> {
        let call = Call { method, ..Call::get(path, Purpose::without_permission(what)) };
        let mut tried = 0;
        loop {
            let error = match self.call_once(transport, call).await {
                Ok(reply) => return decode(&reply.body, what),
                Err(error) => error,
            };
            let Some(wait) = transport.pause_after(&error, tried) else { return Err(error) };
            tried += 1;
            tokio::time::sleep(wait).await;
        }
    }

    async fn call_once(&self, transport: &Transport, call: Call<'_>) -> Result<Reply, ForgeError> {
        if let Some(retry_after) = transport.closed_to_all() {
            return Err(ForgeError::Limited { what: call.purpose.what.to_owned(), retry_after });
        }
        if !transport.knows_the_time() {
            // Any answer contains the forge's time; this one costs no quota.
            // <https://docs.github.com/rest/rate-limit/rate-limit>
            transport.exchange(Call::get("/rate_limit", Purpose::without_permission("ask for the time")), None).await?;
        }
        let signed =
            self.key.sign(self.id, transport.now()).ok_or_else(|| ForgeError::App("its key cannot sign".to_owned()));
        let reply = transport.exchange(call, Some(&signed?)).await?;
        match reply.status.as_u16() {
            200..300 => Ok(reply),
            401 => {
                let (says, id) = (reply.message(), self.id);
                Err(ForgeError::App(format!(
                    "the forge does not accept it ({says}): check `app.id` ({id}) and its key"
                )))
            }
            404 if call.path.ends_with("/access_tokens") => {
                Err(ForgeError::App("there is no such installation: check `app.installation`".to_owned()))
            }
            _status => Err(transport.failure(&reply, call.path, call.purpose)),
        }
    }
}

impl Authentication {
    /// The token to call with; a new one if it is `refused`.
    pub(super) async fn token(
        &self,
        transport: &Transport,
        needed: Duration,
        refused: Option<&Arc<IssuedToken>>,
    ) -> Result<Arc<IssuedToken>, ForgeError> {
        let app = match self {
            Self::Token(token) => {
                let accepted = AtomicBool::new(true);
                return Ok(Arc::new(IssuedToken { token: token.clone(), expires_at: None, accepted }));
            }
            Self::App(app) => app,
        };
        let mut state = app.state.lock().await;
        let needed = needed.clamp(MARGIN, LASTS_MAX);
        let same = |issued: &Arc<IssuedToken>| refused.is_some_and(|refused| Arc::ptr_eq(refused, issued));
        if let Some(issued) =
            state.issued.as_ref().filter(|issued| !same(issued) && issued.lasts(transport.now(), needed))
        {
            return Ok(Arc::clone(issued));
        }
        let installation = match state.installation {
            Some(known) => known,
            None => *state.installation.insert(app.find_installation(transport).await?),
        };
        let path = format!("/app/installations/{installation}/access_tokens");
        let made: TokenWire = app.call(transport, &Method::POST, &path, "sign in as the App's installation").await?;
        let token = SecretString::from(made.token);
        transport.secrets().rotate(&token);
        tracing::debug!(installation, expires_at = %made.expires_at, "a token was made");
        let accepted = AtomicBool::new(false);
        let issued = Arc::new(IssuedToken { token, expires_at: Some(made.expires_at), accepted });
        state.issued = Some(Arc::clone(&issued));
        Ok(issued)
    }

    /// The key of passes, which those who have one cannot compute.
    pub(super) fn pass_key(&self) -> PassKey {
        match self {
            Self::Token(token) => PassKey::of(token.expose_secret().as_bytes()),
            Self::App(app) => app.key.pass_key(),
        }
    }

    /// The App's own account. `None` if no App signs in.
    ///
    /// # Errors
    /// [`ForgeError`] of the call.
    pub(super) async fn app_login(&self, transport: &Transport) -> Result<Option<Login>, ForgeError> {
        let Self::App(app) = self else { return Ok(None) };
        let own: AppWire = app.call(transport, &Method::GET, "/app", "ask for the App's name").await?;
        Ok(Some(Login(format!("{}[bot]", own.slug))))
    }
}
