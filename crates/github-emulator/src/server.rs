//! Starting the forge, and the handle on a running one.

use std::{io, path::Path, sync::Arc, time::Duration};

use axum::{Router, middleware::from_fn_with_state, routing::any};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::{
    advisory::KnownAdvisory,
    api, attachments,
    branch_rules::BranchRules,
    connection::{Hangup, HangupListener},
    control, control_jobs, control_pulls,
    envelope::envelope,
    fault_layer::faulty,
    faults::Fault,
    forge::{Attachment, Forge, LoggedRequest},
    git, git_http, graphql,
    job::{Job, JobChange, JobIds},
    job_log, job_making,
    merge_queue::RemovalReason,
    moods::Moods,
    options::Options,
    pages,
    refusal::Refusal,
    route,
    seed::SeedError,
    snapshots::{self, SnapshotError},
    sow::{add_user, begin, make_repository},
    state::{EventKind, Repository},
    state_file::{StateFile, StateFileError},
    users::{Role, User},
    verification, waiting_runs, webhook_events,
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
        /// The system's error.
        source: io::Error,
    },
    /// The folder for the data cannot be made.
    #[error("make the forge's folder")]
    Folder(#[source] io::Error),
    /// The state that an earlier forge stored cannot be read.
    #[error("load the stored state")]
    StateFile(#[from] StateFileError),
    /// Its initial contents cannot be made.
    #[error("seed the forge")]
    Seed(#[from] SeedError),
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
/// [`StartError`] if it cannot listen at the address or make the folder.
pub async fn serve(options: Options) -> Result<Running, StartError> {
    let folder = match &options.data {
        Some(_) => None,
        None => Some(tempfile::Builder::new().prefix("hob-forge-").tempdir().map_err(StartError::Folder)?),
    };
    let root = options.data.clone().or(folder.as_ref().map(|folder| folder.path().to_owned())).unwrap_or_default();
    let open = |data: &Path| StateFile::open(data, || snapshots::finish(data));
    let (state_file, stored) = options.data.as_deref().map(open).transpose()?.unzip();
    let mut forge = Forge::new(root, options.rate_limit, state_file);
    (forge.users, forge.seed) = (options.users, options.seed);
    let (hooks, waiting) = Webhooks::new();
    let hooks = Arc::new(hooks);
    forge.webhooks = options.webhook.is_some().then(|| Arc::clone(&hooks));
    forge.apps.clone_from(&options.apps);
    let forge = Arc::new(forge);
    forge.resume(stored.flatten()).map_err(StartError::Folder)?;
    let address = options.listen;
    let listen = |source| StartError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(listen)?;
    let bound = listener.local_addr().map_err(listen)?;
    let host = if bound.ip().is_unspecified() { "127.0.0.1".to_owned() } else { bound.ip().to_string() };
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    forge.server.get_or_init(|| format!("http://{host}:{}", bound.port()));
    // Every account is known before the first request is answered: clients may have waited for this address.
    let beginning = Arc::clone(&forge);
    let begun = tokio::task::spawn_blocking(move || begin(&beginning, &api::routes().collect::<Vec<_>>()));
    begun.await.map_err(|died| StartError::Folder(io::Error::other(died)))??;
    webhook_events::skip_existing(&forge);
    forge.temper.set(options.moods);
    let router = router(&forge);
    let stop = CancellationToken::new();
    let (stopped, serving) = (stop.clone(), router.clone());
    let server = tokio::spawn(async move {
        let serving = serving.into_make_service_with_connect_info::<Hangup>();
        let served =
            axum::serve(HangupListener(listener), serving).with_graceful_shutdown(stopped.cancelled_owned()).await;
        if let Err(error) = served {
            tracing::error!(%error, "the embedded forge stopped: {error}");
        }
    });
    if let Some(webhook) = options.webhook {
        let ended = stop.clone();
        tokio::spawn(async move { ended.run_until_cancelled(deliver(hooks, webhook, waiting)).await });
    }
    Ok(Running { forge, router, stop, server, folder })
}

fn router(forge: &Arc<Forge>) -> Router {
    // A service of its own: below `/api/v3` no page's path may match what the API does not have.
    let api = Router::new().nest_service("/api/v3", route::router(forge, api::routes(), api::merge_the_ready));
    let api = api
        .route("/api", any(route::absent))
        .route("/api/", any(route::absent))
        .route("/api/{*rest}", any(route::absent))
        .merge(route::pages(forge, graphql::ROUTES, api::merge_the_ready));
    let all = api
        .merge(control::routes(forge))
        .merge(route::table(forge, control_jobs::ROUTES.iter().chain(control_pulls::ROUTES), api::merge_the_ready))
        .layer(from_fn_with_state(Arc::clone(forge), envelope))
        .merge(git_http::routes(forge))
        .merge(attachments::routes(forge))
        .merge(job_log::routes(forge))
        .merge(pages::routes(forge));
    all.layer(from_fn_with_state(Arc::clone(forge), faulty))
}

impl Running {
    /// The address of the REST API: `http://127.0.0.1:PORT/api/v3`.
    pub fn api_url(&self) -> String {
        format!("{}/api/v3", self.forge.server())
    }

    /// The address of git and the pages: `http://127.0.0.1:PORT`.
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

    /// Sets an account's limit of requests an hour.
    pub fn limit_rate(&self, requests: u32) {
        self.forge.meter.set_limit(requests);
    }

    /// Sets an account's limit of writes a minute: GitHub's secondary limit, which is off until it is set.
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

    /// Stores a file like an attachment to a text; returns its address for the text.
    pub fn attach(&self, content_type: &str, bytes: &[u8]) -> String {
        let attachment = Attachment { content_type: content_type.to_owned(), bytes: bytes.to_owned() };
        attachments::attach(&self.forge, attachment)
    }

    /// Adds a fault.
    pub fn inject(&self, fault: Fault) {
        self.forge.faults.add(fault);
    }

    /// Removes all faults.
    pub fn heal(&self) {
        self.forge.faults.clear();
    }

    /// Replaces the moods, and restarts their draws; [`Moods::default`] switches them off.
    pub fn set_moods(&self, moods: Moods) {
        self.forge.temper.set(moods);
        self.forge.points.forget();
    }

    /// Adds an account, or gives a known one this token and role.
    pub fn add_user(&self, user: &User) {
        add_user(&self.forge, user);
    }

    /// Renames an account: its actions are shown under the new name, and the old one is unknown; `false` if there is no
    /// such account. The repositories that it owns keep their names.
    ///
    /// # Errors
    /// [`io::Error`] if it could not be stored.
    pub fn rename_account(&self, from: &Login, to: &Login) -> io::Result<bool> {
        let is_known = self.forge.rename_account(from, to)?;
        self.forge.save()?;
        Ok(is_known)
    }

    /// Makes an advisory known, which dependency reviews have from then on.
    pub fn add_advisory(&self, known: KnownAdvisory) {
        self.forge.advisories().push(known);
    }

    /// Gives an account its own role in one repository.
    ///
    /// # Errors
    /// [`SeedError::Absent`] if there is no such repository.
    pub fn set_role(&self, name: &RepoName, login: &Login, role: Role) -> Result<(), SeedError> {
        self.change(name, |repo| {
            repo.collaborators.insert(login.as_str().to_ascii_lowercase(), role);
        })
    }

    /// Protects these branches: accounts below `maintain` may not push to them.
    ///
    /// # Errors
    /// [`SeedError::Absent`] if there is no such repository.
    pub fn protect(&self, name: &RepoName, branches: &[&str]) -> Result<(), SeedError> {
        self.change(name, |repo| repo.protected = branches.iter().map(|&branch| branch.to_owned()).collect())
    }

    /// Lets an account sign commits with an SSH key, given as a line `ssh-ed25519 AAAA…`. `false` if there is no such
    /// account, or it is not such a key.
    pub fn add_signing_key(&self, login: &Login, line: &str) -> bool {
        verification::public_key(line)
            .is_some_and(|key| self.forge.state().accounts.add_signing_key(login.as_str(), key))
    }

    /// Sets the requirements of a branch's protection.
    ///
    /// # Errors
    /// [`SeedError::Absent`] if there is no such repository.
    pub fn protect_branch(&self, name: &RepoName, branch: &str, rules: BranchRules) -> Result<(), SeedError> {
        self.change(name, |repo| {
            repo.rules.insert(branch.to_owned(), rules);
        })
    }

    /// Sets the requirements of a ruleset for a branch, of admins too; without rules it requires nothing.
    ///
    /// # Errors
    /// [`SeedError`] if there is no such repository.
    pub fn set_ruleset(&self, name: &RepoName, branch: &str, rules: Option<BranchRules>) -> Result<(), SeedError> {
        let set = control_pulls::set_ruleset(&self.forge, name, branch, rules);
        set.map_err(|refusal| refused("a ruleset", name, &refusal))?;
        Ok(self.forge.save()?)
    }

    /// Whether the repository's git server makes all updates of an atomic push or none, as GitHub's does. One that does not takes the
    /// push, and each update by itself.
    ///
    /// # Errors
    /// [`SeedError`] if there is no such repository or git fails.
    pub fn set_atomic_pushes(&self, name: &RepoName, are_known: bool) -> Result<(), SeedError> {
        let mut id = 0;
        self.change(name, |repo| id = repo.id)?;
        let set =
            self.forge.git.open(id).and_then(|repo| repo.config()?.set_bool("receive.advertiseAtomic", are_known));
        set.map_err(SeedError::Git)
    }

    /// Notes that a pull request was added to the merge queue, or removed from it for a reason. There is no queue.
    ///
    /// # Errors
    /// [`SeedError`] if there is no such open pull request.
    pub fn note_merge_queue(
        &self,
        name: &RepoName,
        number: u64,
        removed: Option<RemovalReason>,
    ) -> Result<(), SeedError> {
        let kind = removed.map_or(EventKind::AddedToMergeQueue, |reason| EventKind::RemovedFromMergeQueue { reason });
        let noted = control_pulls::record(&self.forge, name, number, &name.owner().into(), kind);
        noted.map_err(|refusal| refused("the merge queue", name, &refusal))?;
        self.forge.save()?;
        webhook_events::queue_new_events(&self.forge);
        Ok(())
    }

    /// Makes a public repository whose branch `main` has these files (path, content, executable) in one commit, the
    /// same one on every run.
    ///
    /// # Errors
    /// [`SeedError`] if there is one of this name or git fails.
    pub fn create_repository(&self, name: &RepoName, files: &[SeedFile<'_>]) -> Result<String, SeedError> {
        let plant = |repo: &git2::Repository, branch: &str| git::plant(repo, branch, files);
        make_repository(&self.forge, name, "main", plant).map(|commit| commit.to_string())
    }

    /// Makes a public repository from the `HEAD` of a local one, which is only read; its branch is `branch`.
    ///
    /// # Errors
    /// [`SeedError`] if there is one of this name or git fails.
    pub fn import_repository(&self, name: &RepoName, from: &Path, branch: &str) -> Result<String, SeedError> {
        let copy = |repo: &git2::Repository, branch: &str| git::copy_head(repo, from, branch);
        make_repository(&self.forge, name, branch, copy).map(|commit| commit.to_string())
    }

    /// Makes a job of GitHub Actions: nothing runs workflows here.
    ///
    /// # Errors
    /// [`SeedError`] if there is no such repository or commit, or the run has a job of this name.
    pub fn create_job(&self, name: &RepoName, job: &Job) -> Result<JobIds, SeedError> {
        let made = job_making::make(&self.forge, name, job).map_err(|refusal| refused("a job", name, &refusal))?;
        self.forge.save()?;
        Ok(made)
    }

    /// Changes a job, by its id.
    ///
    /// # Errors
    /// [`SeedError`] if there is no such repository or job.
    pub fn change_job(&self, name: &RepoName, job: u64, change: &JobChange) -> Result<(), SeedError> {
        let changed = job_making::change(&self.forge, name, job, change);
        changed.map_err(|refusal| refused("a job", name, &refusal))?;
        Ok(self.forge.save()?)
    }

    /// Sets the workflows that run for pull requests, each with the names of its jobs. If a job's token opens a pull
    /// request or pushes to it, their runs wait for an approval; nothing else starts them.
    ///
    /// # Errors
    /// [`SeedError`] if there is no such repository.
    pub fn set_pull_workflows(&self, name: &RepoName, workflows: &[(&str, &[&str])]) -> Result<(), SeedError> {
        let owned = |text: &&str| (*text).to_owned();
        let named = workflows.iter().map(|(workflow, jobs)| (owned(workflow), jobs.iter().map(owned).collect()));
        let set = waiting_runs::set_workflows(&self.forge, name, named);
        set.map_err(|refusal| refused("workflows of pull requests", name, &refusal))?;
        Ok(self.forge.save()?)
    }

    /// Sets the state of the workflow with this file name, such as `disabled_inactivity`.
    ///
    /// # Errors
    /// [`SeedError`] if there is no such repository, or GitHub has no such state.
    pub fn set_workflow_state(&self, name: &RepoName, file: &str, state: &str) -> Result<(), SeedError> {
        let set = job_making::set_workflow_state(&self.forge, name, file, state);
        set.map_err(|refusal| refused("the state of a workflow", name, &refusal))?;
        Ok(self.forge.save()?)
    }

    /// Approves the runs that wait on the head of a pull request: their jobs begin to wait for a runner.
    ///
    /// # Errors
    /// [`SeedError`] if there is no such repository or pull request, or no run waits there.
    pub fn approve_workflows(&self, name: &RepoName, number: u64) -> Result<(), SeedError> {
        let approved = waiting_runs::approve(&self.forge, name, number);
        approved.map_err(|refusal| refused("an approval", name, &refusal))?;
        Ok(self.forge.save()?)
    }

    /// Resets the forge to its start: its accounts and its seed.
    ///
    /// # Errors
    /// [`SnapshotError`] if it cannot be made again or stored.
    pub async fn reset(&self) -> Result<(), SnapshotError> {
        self.in_background(|forge| snapshots::reset(forge, &api::routes().collect::<Vec<_>>())).await
    }

    /// Stores the current state of the forge under this name.
    ///
    /// # Errors
    /// [`SnapshotError`] if it cannot be stored.
    pub async fn take_snapshot(&self, name: &str) -> Result<(), SnapshotError> {
        let name = name.to_owned();
        self.in_background(move |forge| snapshots::take(forge, &name)).await
    }

    /// Restores a snapshot of the forge. Ids keep growing, and so does the clock.
    ///
    /// # Errors
    /// [`SnapshotError`] if there is none of this name, or it cannot be restored.
    pub async fn restore_snapshot(&self, name: &str) -> Result<(), SnapshotError> {
        let name = name.to_owned();
        self.in_background(move |forge| snapshots::restore(forge, &name)).await
    }

    async fn in_background(
        &self,
        work: impl FnOnce(&Arc<Forge>) -> Result<(), SnapshotError> + Send + 'static,
    ) -> Result<(), SnapshotError> {
        let forge = Arc::clone(&self.forge);
        tokio::task::spawn_blocking(move || work(&forge)).await.map_err(io::Error::other)?
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

    fn change(&self, name: &RepoName, change: impl FnOnce(&mut Repository)) -> Result<(), SeedError> {
        let mut state = self.forge.state();
        let repo = state.repositories.get_mut(name.owner(), name.name());
        repo.map(change).ok_or_else(|| SeedError::Absent(name.clone()))?;
        drop(state);
        Ok(self.forge.save()?)
    }
}

fn refused(what: &str, repository: &RepoName, refusal: &Refusal) -> SeedError {
    let (what, refusal) = (what.to_owned(), refusal.to_string());
    SeedError::Refused { what, repository: repository.clone(), refusal }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.cancel();
        self.server.abort();
        // A connection may outlive this; the next process with this folder does not wait for it.
        self.forge.close();
    }
}
