//! The parts of a worker.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use hob_agent::{AgentParts, Approval, Executor, session::Sessions};
use hob_config::{AuditSink, Settings, SettingsError, Signing, Webhook, WebhookFormat};
use hob_domain::{
    Audited, Budgets, Claimant, CommitIdentity, Deed, IssueNumber, IssueStatus, Login, Record, RepoName, StepFigures,
    WorkerId, audited, has_label, noreply_email,
};
use hob_forge::{Forge, Issue, StepListener, fresh_nonce};
use hob_sandbox::{Sandbox, Tier};
use hob_text::KnownSecrets;
use hob_words::Board;
use hob_workspace::{Remote, SigningKey, Workspace};
use secrecy::SecretString;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use crate::{
    EventSink, WorkError, WorkEvent,
    audit::Audit,
    command_executor::CommandExecutor,
    earlier_checks::EarlierChecks,
    memory::{Preflight, WorkerMemory},
    metrics::METRICS,
    remote_executor::RemoteExecutor,
    spend_journal::SpendJournal,
    webhook::Receiver,
};

/// Environment of the children: agents, checks, git.
pub(super) type ChildEnvironment = BTreeMap<std::ffi::OsString, std::ffi::OsString>;

/// Someone who looks at the work from beside it, and is told what polls find and how ledgers move, so that it need not ask the forge. It
/// is called from several tasks and must not block.
pub trait Watcher: Send + Sync {
    /// A poll went well and found this. The worker has the settings that count in its repository.
    fn found(&self, worker: &Arc<Worker>, board: &Board<'_>);

    /// The repository was asked whether there is anything new, and there is not.
    fn nothing_new(&self, repo: &RepoName);

    /// The newest record of an issue, as a ledger's step or the first read of a finished ledger shows it.
    fn record(&self, repo: &RepoName, record: &Record);

    /// The repository is not polled any more.
    fn forget(&self, repo: &RepoName);
}

/// The parameters of a worker. Those of a thousand repositories share what is the same for all of them.
#[derive(Clone)]
pub struct WorkerParts {
    /// The client of the repository.
    pub forge: Forge,
    /// The settings.
    pub settings: Arc<Settings>,
    /// The forge's web address.
    pub server_url: String,
    /// The address of git's server: the forge's, or that of what forwards its requests.
    pub git_url: String,
    /// The folder of mirrors, checkouts and transcripts.
    pub state_dir: PathBuf,
    /// The parts that agents are made from.
    pub agents: Arc<AgentParts>,
    /// The environment of children.
    pub environment: Arc<ChildEnvironment>,
    /// The sandbox of children.
    pub sandbox: Sandbox,
    /// The agent that `--agent` names: it wins over labels and settings.
    pub agent: Option<String>,
    /// This process.
    pub id: WorkerId,
    /// The webhook for notifications; `None` if there is none.
    pub webhook: Option<Webhook>,
    /// The key that signs what is posted to the address of the audit trail. `None` if it is not signed.
    pub audit_key: Option<SecretString>,
    /// The destination of events.
    pub events: EventSink,
    /// Who looks at the work from beside it.
    pub watcher: Option<Arc<dyn Watcher>>,
    /// Stops the worker.
    pub cancel: CancellationToken,
    /// The person or program that approves an agent's actions that need approval.
    pub approval: Approval,
    /// Whether and when the worker's needs are checked.
    pub preflight: Preflight,
    /// What works on issues instead of this process, beside the command of the settings. `None` if nothing does.
    pub remote: Option<Arc<dyn RemoteExecutor>>,
}

/// A worker of one repository. Its clones are the same worker.
#[derive(Clone)]
pub struct Worker {
    pub(super) forge: Forge,
    pub(super) settings: Arc<Settings>,
    server_url: String,
    git_url: String,
    pub(super) workspace: Workspace,
    pub(super) children: Arc<Children>,
    pub(super) author: Arc<Author>,
    pub(super) id: WorkerId,
    pub(super) cancel: CancellationToken,
    pub(super) spend_journal: Arc<SpendJournal>,
    pub(super) earlier_checks: Arc<EarlierChecks>,
    pub(super) memory: Arc<WorkerMemory>,
    /// The receiver of notifications; `None` if there is none.
    pub(super) receiver: Option<Arc<Receiver>>,
    /// The audit trail outside of the repository; `None` if there is none.
    audit: Option<Arc<Audit>>,
    /// Held while old checkouts are removed.
    pub(super) sweep: Arc<tokio::sync::Mutex<()>>,
    /// Who looks at the work. `None` if nobody does.
    pub(super) watcher: Option<Arc<dyn Watcher>>,
    /// What works on issues instead of this process. `None` if this process does.
    pub(super) remote: Option<Arc<dyn RemoteExecutor>>,
    events: EventSink,
}

/// What child processes get: agents, checks and git.
pub(super) struct Children {
    pub(super) environment: Arc<ChildEnvironment>,
    pub(super) sandbox: Sandbox,
    /// The parts that agents are made from, without what they must not say.
    pub(super) agents: Arc<AgentParts>,
    /// The agent that `--agent` names.
    pub(super) named_agent: Option<String>,
    pub(super) executor: Executor,
    pub(super) approval: Approval,
}

/// The author of commits.
pub(super) struct Author {
    /// Asked of the forge once.
    identity: OnceCell<CommitIdentity>,
    /// The key that signs commits.
    pub(super) signing_key: Option<SigningKey>,
}

impl Worker {
    /// Makes the worker and its state folder.
    ///
    /// # Errors
    /// If the forge's address is invalid or the folder cannot be made.
    pub async fn new(parts: WorkerParts) -> Result<Self, WorkError> {
        Remote::server(parts.forge.repo().clone(), &parts.git_url, None)?;
        parts.forge.push_ledgers_to(&parts.git_url);
        // The connection's secrets are the process's; those that agents get are added to them.
        let secrets = parts.forge.connection().secrets().clone();
        secrets.add(parts.agents.given_secrets());
        let audit = audit_of(&parts, &secrets)?;
        let sessions = Sessions::new(parts.state_dir.join("sessions"), parts.settings.state.clone());
        let sessions = sessions.without(secrets.clone());
        let signing_key = match &parts.settings.publish.signing {
            Signing::Ssh(path) => Some(SigningKey::read(path, &secrets)),
            Signing::None | Signing::Api => None,
        };
        let signing_key = signing_key.transpose().map_err(|error| WorkError::Misconfigured(error.to_string()))?;
        let executor = Executor::new(sessions, parts.settings.runs.clone());
        if let Some(audit) = &audit {
            audit.begin_to_tell();
        }
        let spend_journal = Arc::new(SpendJournal::new(&parts.state_dir, parts.forge.repo()));
        let earlier_checks = EarlierChecks::new(&parts.state_dir, parts.forge.repo(), secrets.clone());
        // A process that an agent left without a sandbox may go on writing to its tree.
        let spare = if parts.sandbox.tier() == Tier::None { 0 } else { parts.settings.jobs + 1 };
        let environment = Arc::clone(&parts.environment);
        let workspace = Workspace::open(parts.state_dir, parts.settings.workspace.clone(), environment)
            .await
            .map_err(|error| WorkError::Misconfigured(format!("state folder: {error}")))?;
        let memory = Arc::new(WorkerMemory::default());
        *memory.preflight.lock() = parts.preflight;
        let command = CommandExecutor::of(&parts.settings.executor);
        let remote = command.map(|command| Arc::new(command) as Arc<dyn RemoteExecutor>).or(parts.remote);
        let told = listener(audit.clone(), parts.watcher.clone(), parts.forge.repo());
        Ok(Self {
            forge: parts.forge.telling(told),
            audit,
            settings: parts.settings,
            server_url: parts.server_url,
            git_url: parts.git_url,
            workspace: workspace.without(secrets).recycling(spare),
            children: Arc::new(Children {
                environment: parts.environment,
                sandbox: parts.sandbox,
                agents: parts.agents,
                named_agent: parts.agent,
                executor,
                approval: parts.approval,
            }),
            author: Arc::new(Author { identity: OnceCell::new(), signing_key }),
            id: parts.id,
            cancel: parts.cancel,
            spend_journal,
            earlier_checks: Arc::new(earlier_checks),
            memory,
            receiver: parts.webhook.map(Receiver::new).transpose()?.map(Arc::new),
            sweep: Arc::default(),
            watcher: parts.watcher,
            remote,
            events: parts.events,
        })
    }

    /// The same worker with other settings.
    pub(super) fn with(&self, settings: Arc<Settings>) -> Self {
        Self { settings, ..self.clone() }
    }

    /// Tells a deed outside of the repository that its ledger has not.
    pub(super) fn tell(&self, issue: IssueNumber, deed: Deed) {
        let Some(audit) = &self.audit else { return };
        let (id, repo) = (format!("{}.0", fresh_nonce()), self.forge.repo().clone());
        audit.tell(&[Audited { id, at: self.forge.now(), repo, issue, deed }]);
    }

    /// Whether deeds are told outside of the repository.
    pub(super) fn is_audited(&self) -> bool {
        self.audit.is_some()
    }

    /// Waits a little for deeds that are not told yet.
    pub(super) async fn settle_audit(&self) {
        if let Some(audit) = &self.audit {
            audit.settle().await;
        }
    }

    /// The client of the repository.
    pub fn forge(&self) -> &Forge {
        &self.forge
    }

    /// The tier of the sandbox of agents and checks.
    pub fn sandbox_tier(&self) -> Tier {
        self.children.sandbox.tier()
    }

    /// The budgets of its repository.
    pub fn budgets(&self) -> Budgets {
        self.settings.budgets()
    }

    /// The remote of the repository, with a token that is valid for a whole transfer.
    pub(super) async fn remote(&self) -> Result<Remote, WorkError> {
        let token = self.forge.connection().token(self.settings.workspace.transfer_time).await?;
        let remote = Remote::server(self.forge.repo().clone(), &self.git_url, Some(token))?;
        Ok(remote.keeping(Forge::kept_prefix()))
    }

    /// The repository's page on the forge.
    pub fn repo_url(&self) -> String {
        format!("{}/{}", self.server_url.trim_end_matches('/'), self.forge.repo())
    }

    pub(super) fn emit(&self, event: &WorkEvent) {
        METRICS.record_event(event);
        (self.events)(self.forge.repo(), event);
    }

    /// Reports the beginning of a stage of the work on an issue.
    pub(super) fn progress(&self, issue: IssueNumber, text: &str) {
        self.emit(&WorkEvent::Progress { issue, text: text.to_owned() });
    }

    /// Reports an activity within a stage.
    pub(super) fn activity(&self, issue: IssueNumber, text: &str) {
        self.emit(&WorkEvent::Activity { issue, text: text.to_owned(), share: None });
    }

    /// Reports an activity with the agent's progress in percent.
    pub(super) fn advanced(&self, issue: IssueNumber, text: &str, share: u8) {
        self.emit(&WorkEvent::Activity { issue, text: text.to_owned(), share: Some(share) });
    }

    /// A fresh claimant: the nonce is drawn for one acquisition.
    pub(super) fn claimant(&self) -> Claimant {
        Claimant {
            worker: self.id.clone(),
            nonce: fresh_nonce(),
            duration: self.settings.lease.duration,
            skew: self.settings.lease.skew,
            bill: None,
        }
    }

    /// The account the token belongs to.
    pub(super) async fn own_login(&self) -> Result<Option<Login>, WorkError> {
        Ok(self.forge.connection().login().await?)
    }

    /// The author of commits: the address of the settings, otherwise that of the worker's account, asked once.
    pub(super) async fn commit_identity(&self) -> CommitIdentity {
        let named = &self.settings.publish.author;
        let asked = self.author.identity.get_or_try_init(|| async {
            let email = match &named.email {
                _ if self.settings.publish.signing == Signing::Api => self.account_email().await?,
                None => self.account_email().await?,
                given => given.clone(),
            };
            // The forge names the account as the author of what it signs, and a sign-off has to name the same.
            let login = match self.settings.publish.signing {
                Signing::Api => self.own_login().await?,
                Signing::None | Signing::Ssh(_) => None,
            };
            let common = CommitIdentity::common(login.as_ref().map_or(&named.name, |login| login.as_str()));
            Ok::<_, WorkError>(CommitIdentity { email: email.unwrap_or(common.email), name: common.name })
        });
        match asked.await {
            Ok(identity) => identity.clone(),
            Err(error) => {
                tracing::warn!(%error, "commits have Hob's common address: the forge did not say which account it is: {error}");
                CommitIdentity::common(&named.name)
            }
        }
    }

    /// The address that the forge keeps for the worker's account; `None` if it does not tell which account that is.
    async fn account_email(&self) -> Result<Option<String>, WorkError> {
        let Some(login) = self.own_login().await? else { return Ok(None) };
        Ok(self.identity_of(&login).await?.map(|account| account.email))
    }

    /// A person as a co-author. `None` if the forge does not say which account it is.
    pub(super) async fn co_author(&self, login: &Login) -> Option<CommitIdentity> {
        self.identity_of(login).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "`{login}` is not named as a co-author: {error}");
            None
        })
    }

    /// A person as commits name them: by the name that the account shows, and by its no-reply address. `None` if the
    /// forge does not say which account it is.
    pub(super) async fn identity_of(&self, login: &Login) -> Result<Option<CommitIdentity>, WorkError> {
        let Some(account) = self.forge.connection().account(login).await? else { return Ok(None) };
        let url = self.server_url.split_once("://").map_or(self.server_url.as_str(), |(_, rest)| rest);
        let host = url.split(['/', ':']).next().unwrap_or_default();
        let email = noreply_email(account.id, login.as_str(), host);
        Ok(Some(CommitIdentity { name: account.name.unwrap_or_else(|| login.to_string()), email }))
    }

    /// The forge's web address.
    pub(super) fn server_url(&self) -> &str {
        &self.server_url
    }

    /// The account in whose name an operator's command is written.
    pub(super) async fn operator(&self) -> Result<Login, WorkError> {
        Ok(self.own_login().await?.unwrap_or_else(|| "the operator".into()))
    }

    /// Whether the issue still asks for the work.
    pub(super) fn still_wanted(&self, issue: &Issue) -> bool {
        issue.status == IssueStatus::Open && has_label(&issue.labels, &self.settings.labels.trigger)
    }
}

/// A worker's name: the machine and eight random digits, so that two processes never share one.
pub fn worker_id(host: &str) -> WorkerId {
    let host: String = host.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
    WorkerId(format!("{}-{:08x}", if host.is_empty() { "host" } else { &host }, rand::random::<u32>()))
}

/// The audit trail of the settings, if they name one.
fn audit_of(parts: &WorkerParts, secrets: &KnownSecrets) -> Result<Option<Arc<Audit>>, WorkError> {
    let misconfigured = |error: SettingsError| WorkError::Misconfigured(error.to_string());
    let Some(sink) = AuditSink::read(&parts.settings.audit).map_err(misconfigured)? else { return Ok(None) };
    let webhook = Webhook {
        url: SecretString::default(),
        secret: parts.audit_key.clone(),
        format: WebhookFormat::Json,
        timeout: parts.settings.notify.timeout,
    };
    Ok(Some(Arc::new(Audit::new(sink, &parts.state_dir, webhook, secrets.clone())?)))
}

/// Counts each step of the repository's ledgers, shows it to those who look, and tells the audit trail what it did.
fn listener(audit: Option<Arc<Audit>>, watcher: Option<Arc<dyn Watcher>>, repo: &RepoName) -> StepListener {
    let repo = repo.clone();
    StepListener::new(move |before, after, sentence| {
        METRICS.steps.note(&repo, &StepFigures::of(before, after));
        if let Some(watcher) = &watcher {
            watcher.record(&repo, after);
        }
        if let Some(audit) = &audit {
            audit.tell(&audited(&repo, before, after, sentence));
        }
    })
}
