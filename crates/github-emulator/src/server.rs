//! Starting the forge, and the handle on a running one.

use std::{io, path::Path, sync::Arc, time::Duration};

use axum::{Router, middleware::from_fn_with_state};
use secrecy::ExposeSecret;
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::{
    api,
    connection::{Hangup, Lines},
    envelope::envelope,
    fault_layer::faulty,
    faults::Fault,
    forge::{Forge, LoggedRequest},
    git, git_http,
    options::Options,
    pages, route,
    state::{Account, Repository},
    state_file::{StateFile, StateFileError},
    users::{AccountKind, Role, User},
    webhook_events,
    webhooks::{Delivery, Webhooks, deliver},
};
use crate::names::{Login, RepoName, Timestamp};

/// A forge that could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address is taken or not this machine's.
    #[error("listen on {address}")]
    Listen {
        /// The address that was asked for.
        address: std::net::SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The folder for the data cannot be made.
    #[error("make the forge's folder")]
    Folder(#[source] io::Error),
    /// The state that an earlier forge stored cannot be read.
    #[error("load the stored state")]
    StateFile(#[from] StateFileError),
}

/// A repository that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SeedError {
    /// There is one of this name.
    #[error("repository {0} exists")]
    Exists(RepoName),
    /// There is none of this name.
    #[error("no repository {0}")]
    Absent(RepoName),
    /// What changed could not be stored.
    #[error("store what changed")]
    Keep(#[from] io::Error),
    /// Git could not do it.
    #[error("make the repository's git data: {}", .0.message())]
    Git(git2::Error),
}

impl From<git2::Error> for SeedError {
    fn from(error: git2::Error) -> Self {
        Self::Git(error)
    }
}

/// A file of a new repository.
pub type SeedFile<'a> = (&'a str, &'a [u8], bool);

/// A forge that serves. Dropping it stops it.
#[derive(Debug)]
pub struct Running {
    forge: Arc<Forge>,
    router: Router,
    stop: CancellationToken,
    server: JoinHandle<()>,
    folder: Option<tempfile::TempDir>,
}

/// Starts a forge and serves until its handle is shut down or dropped.
///
/// # Errors
/// [`StartError`] where the address cannot be listened on or the folder cannot be made.
pub async fn serve(options: Options) -> Result<Running, StartError> {
    let folder = match &options.data {
        Some(_) => None,
        None => Some(tempfile::Builder::new().prefix("hob-forge-").tempdir().map_err(StartError::Folder)?),
    };
    let root = options.data.clone().or(folder.as_ref().map(|folder| folder.path().to_owned())).unwrap_or_default();
    let state_file = options.data.as_deref().map(StateFile::new);
    let mut forge = Forge::new(root, options.rate_limit, state_file);
    let (hooks, waiting) = Webhooks::new();
    let hooks = Arc::new(hooks);
    forge.webhooks = options.webhook.is_some().then(|| Arc::clone(&hooks));
    forge.apps.clone_from(&options.apps);
    let forge = Arc::new(forge);
    forge.resume()?;
    // Pushes that were on their way when the last process ended.
    std::fs::remove_dir_all(forge.git.spool()).ok();
    std::fs::create_dir_all(forge.git.root()).map_err(StartError::Folder)?;
    std::fs::create_dir_all(forge.git.spool()).map_err(StartError::Folder)?;
    let address = options.listen;
    let listen = |source| StartError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(listen)?;
    let bound = listener.local_addr().map_err(listen)?;
    let host = if bound.ip().is_unspecified() { "127.0.0.1".to_owned() } else { bound.ip().to_string() };
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    forge.server.get_or_init(|| format!("http://{host}:{}", bound.port()));
    let router = router(&forge);
    let stop = CancellationToken::new();
    let (stopped, serving) = (stop.clone(), router.clone());
    let server = tokio::spawn(async move {
        let serving = serving.into_make_service_with_connect_info::<Hangup>();
        let served = axum::serve(Lines(listener), serving).with_graceful_shutdown(stopped.cancelled_owned()).await;
        if let Err(error) = served {
            tracing::error!(%error, "the embedded forge stopped: {error}");
        }
    });
    webhook_events::skip_existing(&forge);
    if let Some(webhook) = options.webhook {
        let ended = stop.clone();
        tokio::spawn(async move { ended.run_until_cancelled(deliver(hooks, webhook, waiting)).await });
    }
    let running = Running { forge, router, stop, server, folder };
    for app in &options.apps {
        running.add_account(app.login(), app.role, AccountKind::Bot);
    }
    for user in options.users {
        running.add_user(&user);
    }
    running.forge.save().map_err(StartError::Folder)?;
    Ok(running)
}

fn router(forge: &Arc<Forge>) -> Router {
    let api = Router::new().nest("/api/v3", route::router(forge, api::routes()));
    let all = api
        .layer(from_fn_with_state(Arc::clone(forge), envelope))
        .merge(git_http::routes(forge))
        .merge(pages::routes(forge));
    all.layer(from_fn_with_state(Arc::clone(forge), faulty))
}

impl Running {
    /// Where the REST API is: `http://127.0.0.1:PORT/api/v3`.
    pub fn api_url(&self) -> String {
        format!("{}/api/v3", self.forge.server())
    }

    /// Where git and the pages are: `http://127.0.0.1:PORT`.
    pub fn server_url(&self) -> String {
        self.forge.server().to_owned()
    }

    /// The whole forge as a service, for a client in the same process.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// The API and git requests answered so far, oldest first.
    pub fn requests(&self) -> Vec<LoggedRequest> {
        self.forge.requests()
    }

    /// The time by the forge's clock, in whole seconds.
    pub fn now(&self) -> Timestamp {
        self.forge.now()
    }

    /// Puts the forge's clock forward.
    pub fn advance(&self, by: Duration) {
        self.forge.clock.advance(by);
    }

    /// Sets how many requests an hour an account has.
    pub fn limit_rate(&self, requests: u32) {
        self.forge.meter.set_limit(requests);
    }

    /// Sets how many writes a minute an account has: GitHub's secondary limit, which is off until it is set.
    pub fn limit_writes(&self, writes: u32) {
        self.forge.meter.set_write_limit(writes);
    }

    /// The webhooks that were sent or wait to be, oldest first.
    pub fn deliveries(&self) -> Vec<Delivery> {
        self.forge.webhooks.as_ref().map(|hooks| hooks.stored()).unwrap_or_default()
    }

    /// Sends a delivery again, with the id it had.
    pub fn redeliver(&self, id: &str) {
        if let Some(hooks) = &self.forge.webhooks {
            hooks.send_later(id.to_owned());
        }
    }

    /// Adds a fault.
    pub fn inject(&self, fault: Fault) {
        self.forge.faults.add(fault);
    }

    /// Takes all faults away.
    pub fn heal(&self) {
        self.forge.faults.clear();
    }

    /// Adds an account, or gives a known one this token and role.
    pub fn add_user(&self, user: &User) {
        self.add_account(user.login.clone(), user.role, user.kind);
        self.forge.admit(user.token.expose_secret(), user.login.clone());
    }

    /// Gives an account a role of its own in one repository.
    ///
    /// # Errors
    /// [`SeedError::Absent`] where there is no such repository.
    pub fn set_role(&self, name: &RepoName, login: &Login, role: Role) -> Result<(), SeedError> {
        self.change(name, |repo| {
            repo.collaborators.insert(login.as_str().to_ascii_lowercase(), role);
        })
    }

    /// Protects these branches: nobody below `maintain` may push to them.
    ///
    /// # Errors
    /// [`SeedError::Absent`] where there is no such repository.
    pub fn protect(&self, name: &RepoName, branches: &[&str]) -> Result<(), SeedError> {
        self.change(name, |repo| repo.protected = branches.iter().map(|&branch| branch.to_owned()).collect())
    }

    /// Makes a public repository whose branch `main` has these files (path, content, executable) in one commit, the
    /// same one on every run.
    ///
    /// # Errors
    /// [`SeedError`] where there is one of this name or git cannot do it.
    pub fn create_repository(&self, name: &RepoName, files: &[SeedFile<'_>]) -> Result<String, SeedError> {
        self.make(name, "main", |repo, branch| git::plant(repo, branch, files))
    }

    /// Makes a public repository from the `HEAD` of a local one, which is only read; its branch is `branch`.
    ///
    /// # Errors
    /// [`SeedError`] where there is one of this name or git cannot do it.
    pub fn import_repository(&self, name: &RepoName, from: &Path, branch: &str) -> Result<String, SeedError> {
        self.make(name, branch, |repo, branch| git::copy_head(repo, from, branch))
    }

    /// Stops serving: requests under way are answered first.
    pub async fn shutdown(mut self) {
        self.stop.cancel();
        // Idle connections of clients that keep them open are not waited for.
        if tokio::time::timeout(Duration::from_millis(500), &mut self.server).await.is_err() {
            self.server.abort();
        }
        drop(self.folder.take());
    }

    fn add_account(&self, login: Login, role: Role, kind: AccountKind) {
        let (id, created_at) = (self.forge.next_id(), self.forge.now());
        self.forge.state().accounts.put(Account { id, login, role, kind, created_at });
    }

    fn make(
        &self,
        name: &RepoName,
        branch: &str,
        fill: impl FnOnce(&git2::Repository, &str) -> Result<git2::Oid, git2::Error>,
    ) -> Result<String, SeedError> {
        if self.forge.state().repositories.get(name.owner(), name.name()).is_some() {
            return Err(SeedError::Exists(name.clone()));
        }
        let mut repo = Repository::new(self.forge.next_id(), name.clone(), self.forge.now());
        branch.clone_into(&mut repo.default_branch);
        let commit = fill(&self.forge.git.init(repo.id, branch)?, branch)?;
        let mut state = self.forge.state();
        if state.accounts.get(name.owner()).is_none() {
            let (id, created_at, login) = (self.forge.next_id(), self.forge.now(), name.owner().into());
            state.accounts.put(Account { id, login, role: Role::Read, kind: AccountKind::User, created_at });
        }
        state.repositories.put(repo);
        drop(state);
        self.forge.save()?;
        Ok(commit.to_string())
    }

    fn change(&self, name: &RepoName, change: impl FnOnce(&mut Repository)) -> Result<(), SeedError> {
        let mut state = self.forge.state();
        let repo = state.repositories.get_mut(name.owner(), name.name());
        repo.map(change).ok_or_else(|| SeedError::Absent(name.clone()))?;
        drop(state);
        Ok(self.forge.save()?)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.cancel();
        self.server.abort();
    }
}
