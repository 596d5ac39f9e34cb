//! What a worker is made of.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use hob_agent::{AgentParts, Approval, Executor, session::Sessions};
use hob_config::Settings;
use hob_domain::{Claimant, Login, WorkerId};
use hob_forge::{Forge, fresh_nonce};
use hob_workspace::{Remote, Workspace};
use tokio_util::sync::CancellationToken;

use crate::{Notice, Observer, WorkError, bills::Bills, discover::Finished};

/// Environment of the children: agents, checks, git.
pub(super) type ChildEnvironment = BTreeMap<std::ffi::OsString, std::ffi::OsString>;

/// All that a worker needs, as values.
#[derive(Clone)]
pub struct WorkerParts {
    /// The client of the repository.
    pub forge: Forge,
    /// The settings.
    pub settings: Settings,
    /// Where git pushes to: the forge's web address.
    pub server_url: String,
    /// Where mirrors, checkouts and transcripts are.
    pub state_dir: PathBuf,
    /// What agents are made from.
    pub agents: AgentParts,
    /// What children inherit.
    pub environment: ChildEnvironment,
    /// The agent that `--agent` names: it wins over labels and settings.
    pub agent: Option<String>,
    /// This process.
    pub id: WorkerId,
    /// Who listens.
    pub observer: Observer,
    /// Ends the work.
    pub cancel: CancellationToken,
    /// Who says whether an agent's action with more impact than runs by itself may run.
    pub approval: Approval,
}

/// A worker of one repository.
pub struct Worker {
    pub(super) forge: Forge,
    pub(super) settings: Settings,
    server_url: String,
    pub(super) workspace: Workspace,
    pub(super) agents: AgentParts,
    pub(super) executor: Executor,
    pub(super) environment: ChildEnvironment,
    pub(super) agent: Option<String>,
    pub(super) id: WorkerId,
    pub(super) cancel: CancellationToken,
    pub(super) approval: Approval,
    pub(super) login: tokio::sync::OnceCell<Option<Login>>,
    pub(super) bills: Bills,
    pub(super) finished: Finished,
    observer: Observer,
}

impl Worker {
    /// Makes the worker and its state folder.
    ///
    /// # Errors
    /// When the forge's address is none or the folder cannot be made.
    pub async fn new(parts: WorkerParts) -> Result<Self, WorkError> {
        Remote::server(parts.forge.repo().clone(), &parts.server_url, None)?;
        let sessions = Sessions::new(parts.state_dir.join("sessions"), parts.settings.sessions.clone());
        let executor = Executor::new(sessions, parts.settings.agent.clone());
        let bills = Bills::of(&parts.state_dir, parts.forge.repo());
        let workspace =
            Workspace::open(parts.state_dir, parts.settings.workspace.clone(), parts.environment.clone()).await?;
        Ok(Self {
            forge: parts.forge,
            settings: parts.settings,
            server_url: parts.server_url,
            workspace,
            agents: parts.agents,
            executor,
            environment: parts.environment,
            agent: parts.agent,
            id: parts.id,
            cancel: parts.cancel,
            approval: parts.approval,
            login: tokio::sync::OnceCell::new(),
            bills,
            finished: Finished::default(),
            observer: parts.observer,
        })
    }

    /// The client, for its tally.
    pub fn forge(&self) -> &Forge {
        &self.forge
    }

    /// Where git fetches and pushes, with a token that is good for a whole transfer.
    pub(super) async fn remote(&self) -> Result<Remote, WorkError> {
        let token = self.forge.connection().token(self.settings.workspace.transfer_time).await?;
        Ok(Remote::server(self.forge.repo().clone(), &self.server_url, Some(token))?)
    }

    pub(super) fn tell(&self, notice: &Notice) {
        (self.observer)(self.forge.repo(), notice);
    }

    /// A fresh claimant: the nonce is drawn for one acquisition.
    pub(super) fn claimant(&self) -> Claimant {
        Claimant {
            worker: self.id.clone(),
            nonce: fresh_nonce(),
            duration: self.settings.lease.duration,
            skew: self.settings.lease.skew,
        }
    }

    /// The account the token belongs to, asked once.
    pub(super) async fn own_login(&self) -> Result<Option<&Login>, WorkError> {
        Ok(self.login.get_or_try_init(|| self.forge.login()).await?.as_ref())
    }

    /// How often a lease is renewed.
    pub(super) fn heartbeat_interval(&self) -> Duration {
        self.settings.lease.duration / 3
    }
}

/// A worker's name: the machine and eight random digits, so that two processes never share one.
pub fn worker_id(host: &str) -> WorkerId {
    let host: String = host.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
    WorkerId(format!("{}-{:08x}", if host.is_empty() { "host" } else { &host }, rand::random::<u32>()))
}
