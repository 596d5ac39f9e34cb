//! From settings and variables to a client or a worker.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use hob_agent::{AgentParts, Approval, variables_of_agents};
use hob_config::{
    SecretFiles, Settings, SettingsError, Standard, Webhook, child_environment, hob_variables, operator_file,
    own_secrets,
};
use hob_domain::RepoName;
use hob_forge::{Access, Connection, Forge};
use hob_sandbox::{Sandbox, Tier};
use hob_text::KnownSecrets;
use hob_worker::{
    EventSink, Preflight, Repositories, Watcher, WorkEvent, Worker, WorkerParts, WorkerPool, sandbox, sandbox_of_tier,
    worker_id,
};
use secrecy::SecretString;
use tokio_util::sync::CancellationToken;

use crate::cli::{
    args::Shared,
    executor::{Asks, of_jobs},
    exit::{Exit, fatal},
    remote, sign_in,
};

/// Hob's settings and variables.
pub(super) struct Setup {
    /// Boxed: it has some kilobytes, and the future of each command holds it more than once.
    pub(super) settings: Box<Settings>,
    pub(super) standard: Standard,
    /// Tokens and keys that files gave.
    pub(super) files: SecretFiles,
    pub(super) state_dir: PathBuf,
    /// The folder in which replies are recorded.
    pub(super) record: Option<PathBuf>,
    /// Whether this process answers the pods of its Jobs.
    pub(super) listens: bool,
    /// The webhook for notifications.
    webhook: Option<Webhook>,
    /// The key that signs what the audit trail posts.
    audit_key: Option<SecretString>,
    /// The secrets that must not leave this process.
    pub(super) secrets: KnownSecrets,
}

impl Setup {
    /// Reads settings and variables.
    pub(super) fn read(shared: &Shared) -> anyhow::Result<Self> {
        let mut settings =
            Settings::load(operator_file(shared.config.clone())?.as_deref(), hob_variables(), &shared.set)?;
        let files = SecretFiles::read(variables_of_agents(&settings)).map_err(SettingsError::from)?;
        let standard = Standard::read(&files);
        settings.at_forge(&standard.api_url);
        let state_dir = shared.state_dir.clone().unwrap_or_else(|| standard.state_dir.clone());
        let secrets = KnownSecrets::default();
        secrets.add(own_secrets(&files));
        secrets.add(AgentParts::new(&settings, &state_dir, &files).given_secrets());
        let (webhook, audit_key) = (Webhook::read(&settings, &files)?, Webhook::key(&files));
        let settings = Box::new(settings);
        Ok(Self { settings, standard, files, state_dir, record: None, listens: false, webhook, audit_key, secrets })
    }

    /// The repositories given by flags, otherwise by GITHUB_REPOSITORY.
    fn named(&self, shared: &Shared) -> anyhow::Result<Vec<RepoName>> {
        let names = match shared.repo.as_slice() {
            [] => self.standard.repository.as_slice(),
            flags => flags,
        };
        self.each_once(names)
    }

    /// The repositories that the settings name.
    fn of_settings(&self) -> anyhow::Result<Vec<RepoName>> {
        self.each_once(&self.settings.repositories)
    }

    /// The repositories of these names or addresses.
    fn each_once(&self, names: &[String]) -> anyhow::Result<Vec<RepoName>> {
        let mut named: Vec<RepoName> = Vec::new();
        for name in names {
            let name = match remote::parse(name) {
                Some(found) if self.standard.is_at(&found.server) => found.repo,
                Some(found) => {
                    let (there, here) = (found.server, &self.standard.server_url);
                    let help = format!("`{name}` is on {there}, not on {here}: set GITHUB_SERVER_URL to work there");
                    return Err(fatal(Exit::Usage, help));
                }
                None => name.parse().map_err(|error| fatal(Exit::Usage, format!("{error}")))?,
            };
            if !named.iter().any(|known| known.is(&name)) {
                named.push(name);
            }
        }
        Ok(named)
    }

    /// The git remote's repository, with the forge it is on.
    async fn of_this_folder(&mut self) -> anyhow::Result<RepoName> {
        let Some(found) = remote::origin().await else {
            let help = "no repository is given\nhint: use `--repo OWNER/NAME`, set GITHUB_REPOSITORY or the setting \
                        `repositories`, or run Hob in a clone";
            return Err(fatal(Exit::Usage, help));
        };
        self.standard.forge_at(&found.server).map_err(|error| fatal(Exit::Usage, error.to_string()))?;
        self.settings.at_forge(&self.standard.api_url);
        Ok(found.repo)
    }

    /// The one repository that a command is about.
    pub(super) async fn repository(&mut self, shared: &Shared) -> anyhow::Result<RepoName> {
        match self.the_one(shared)? {
            Some(one) => Ok(one),
            None => self.of_this_folder().await,
        }
    }

    /// The repository that is named, also by the settings, for a command that works on one.
    pub(super) fn the_one(&self, shared: &Shared) -> anyhow::Result<Option<RepoName>> {
        if let Some(one) = self.at_most_one(shared)? {
            return Ok(Some(one));
        }
        let mut named = self.of_settings()?;
        if named.len() > 1 {
            let names: Vec<_> = named.iter().map(ToString::to_string).collect();
            let help =
                format!("this command takes one repository\nhint: use `--repo` with one of {}", names.join(", "));
            return Err(fatal(Exit::Usage, help));
        }
        Ok(named.pop())
    }

    /// The repository that a flag or GITHUB_REPOSITORY names, for a command about one. The repositories of the settings
    /// are what to work on; they do not limit lists of what is on this machine.
    pub(super) fn at_most_one(&self, shared: &Shared) -> anyhow::Result<Option<RepoName>> {
        let mut named = self.named(shared)?;
        if named.len() > 1 {
            let names: Vec<_> = named.iter().map(ToString::to_string).collect();
            let help = format!("this command takes one repository, but `--repo` names {}", names.join(", "));
            return Err(fatal(Exit::Usage, help));
        }
        Ok(named.pop())
    }

    /// The repositories to work on: those that are named, otherwise the settings', otherwise the App's, otherwise this
    /// folder's.
    async fn repositories(&mut self, shared: &Shared) -> anyhow::Result<Repositories> {
        for named in [self.named(shared)?, self.of_settings()?] {
            if !named.is_empty() {
                return Ok(Repositories::Named(named));
            }
        }
        if self.settings.app.id > 0 {
            return Ok(Repositories::OfInstallation);
        }
        Ok(Repositories::Named(vec![self.of_this_folder().await?]))
    }

    fn connection(&self, access: Access, repo: Option<&RepoName>) -> anyhow::Result<Arc<Connection>> {
        self.settings.refuse_testing_at(&self.standard.api_url)?;
        let identity = sign_in::identity(&self.settings.app, &self.standard, repo, &self.secrets)?;
        let secrets = self.secrets.clone();
        Ok(Connection::new(&self.standard.api_url, identity, &self.settings.forge, access, secrets)?)
    }

    /// A client of `repo` that makes the calls of the live check and no others.
    pub(super) fn live_forge(&self, repo: &str) -> anyhow::Result<Forge> {
        let repo: RepoName = repo.parse().map_err(|error| fatal(Exit::Usage, format!("{error}")))?;
        let connection = self.connection(Access::LiveCheck, Some(&repo))?;
        Ok(Forge::new(connection, repo))
    }

    /// A worker for the one repository.
    pub(super) async fn worker(
        mut self,
        shared: &Shared,
        access: Access,
        agent: Option<String>,
        listen: Listen,
    ) -> anyhow::Result<Arc<Worker>> {
        let repo = self.repository(shared).await?;
        let connection = self.connection(access, Some(&repo))?;
        let factory = self.factory(&connection, access, agent, Preflight::AtStart, listen).await?;
        Ok(Arc::new(Worker::new(factory(repo)).await?))
    }

    /// The same, with a state folder of its own and the sandbox of agents and checks: it starts some, and only reads the forge.
    pub(super) async fn worker_that_runs(mut self, shared: &Shared, state_dir: &Path) -> anyhow::Result<Arc<Worker>> {
        let repo = self.repository(shared).await?;
        let connection = self.connection(Access::ReadOnly, Some(&repo))?;
        state_dir.clone_into(&mut self.state_dir);
        // What the access is to the factory: whether it starts anything.
        let factory = self.factory(&connection, Access::ReadWrite, None, Preflight::AtStart, Listen::nobody()).await?;
        Ok(Arc::new(Worker::new(factory(repo)).await?))
    }

    /// The workers of all repositories. Those of several check what they need when they have something to do.
    pub(super) async fn pool(
        mut self,
        shared: &Shared,
        access: Access,
        agent: Option<String>,
        preflight: Preflight,
        listen: impl FnOnce(&Repositories) -> Listen,
    ) -> anyhow::Result<WorkerPool> {
        let repositories = self.repositories(shared).await?;
        let first = match &repositories {
            Repositories::Named(names) => names.first(),
            Repositories::OfInstallation => None,
        };
        let connection = self.connection(access, first)?;
        let listen = listen(&repositories);
        let (settings, cancel) = (Arc::new(Settings::clone(&self.settings)), listen.cancel.clone());
        let is_one = matches!(&repositories, Repositories::Named(names) if names.len() == 1);
        let preflight = if is_one { preflight } else { Preflight::BeforeWork };
        let factory = Arc::new(self.factory(&connection, access, agent, preflight, listen).await?);
        Ok(WorkerPool::new(connection, settings, cancel, repositories, factory))
    }

    /// The parts of each repository's worker.
    async fn factory(
        self,
        connection: &Arc<Connection>,
        access: Access,
        agent: Option<String>,
        preflight: Preflight,
        listen: Listen,
    ) -> anyhow::Result<impl Fn(RepoName) -> WorkerParts + Send + Sync + 'static> {
        let asks = self.listens.then(|| Asks { connection, server_url: &self.standard.server_url });
        let remote = of_jobs(&self.settings, asks)?;
        let (connection, id) = (Arc::clone(connection), worker_id(&self.standard.host));
        let agents =
            AgentParts { record: self.record.clone(), ..AgentParts::new(&self.settings, &self.state_dir, &self.files) };
        let (agents, environment) = (Arc::new(agents), Arc::new(child_environment()));
        let settings = Arc::new(Settings::clone(&self.settings));
        // A command that only reads starts nothing in it.
        let sandbox = match access {
            Access::ReadOnly => sandbox_of_tier(&self.settings, Tier::Fence, &self.state_dir, launcher()),
            Access::ReadWrite | Access::LiveCheck => sandbox_of(&self.settings, &self.state_dir).await,
        };
        Ok(move |repo| WorkerParts {
            forge: Forge::new(Arc::clone(&connection), repo),
            agents: Arc::clone(&agents),
            server_url: self.standard.server_url.clone(),
            git_url: self.standard.git_url(),
            state_dir: self.state_dir.clone(),
            environment: Arc::clone(&environment),
            sandbox: sandbox.clone(),
            agent: agent.clone(),
            id: id.clone(),
            events: Arc::clone(&listen.events),
            watcher: listen.watcher.clone(),
            cancel: listen.cancel.clone(),
            approval: listen.approval.clone(),
            webhook: self.webhook.clone(),
            audit_key: self.audit_key.clone(),
            preflight,
            remote: remote.clone(),
            settings: Arc::clone(&settings),
        })
    }
}

/// The sandbox of agents and checks; this program starts them.
pub(super) async fn sandbox_of(settings: &Settings, state_dir: &Path) -> Sandbox {
    sandbox(settings, state_dir, launcher()).await
}

/// This program, which starts children in a sandbox.
pub(super) fn launcher() -> PathBuf {
    hob_process::own_program().unwrap_or_else(|_| PathBuf::from("hob"))
}

/// The observer, the cancellation and the approval of a worker.
pub(super) struct Listen {
    pub(super) events: EventSink,
    pub(super) watcher: Option<Arc<dyn Watcher>>,
    pub(super) cancel: CancellationToken,
    pub(super) approval: Approval,
}

impl Listen {
    /// No observer and no cancellation: for commands that only read or make one change.
    pub(super) fn nobody() -> Self {
        let events = Arc::new(|_: &RepoName, _: &WorkEvent| {});
        Self { events, watcher: None, cancel: CancellationToken::new(), approval: Approval::Nobody }
    }
}
