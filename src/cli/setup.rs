//! From settings and variables to a client or a worker.

use std::{path::PathBuf, sync::Arc};

use secrecy::SecretString;
use tokio_util::sync::CancellationToken;

use crate::{
    agent::{AgentParts, adapter_variables},
    cli::{
        args::Shared,
        exit::{Exit, fatal},
        remote,
    },
    config::{Settings, Standard, child_environment, hob_variables, model_access, named_environment},
    domain::RepoName,
    forge::{Access, Forge},
    worker::{Notice, Observer, Worker, WorkerParts, worker_id},
};

/// What the process was started with.
pub(super) struct Setup {
    pub(super) settings: Settings,
    pub(super) standard: Standard,
    pub(super) state_dir: PathBuf,
}

impl Setup {
    /// Reads settings and variables.
    pub(super) fn read(shared: &Shared) -> anyhow::Result<Self> {
        let settings = Settings::load(shared.config.as_deref(), hob_variables(), &shared.set)?;
        let standard = Standard::read();
        let state_dir = shared.state_dir.clone().unwrap_or_else(|| standard.state_dir.clone());
        Ok(Self { settings, standard, state_dir })
    }

    /// The repository that is named, else the git remote's, with the forge it is on.
    pub(super) async fn repository(&mut self, shared: &Shared) -> anyhow::Result<RepoName> {
        if let Some(name) = shared.repo.as_ref().or(self.standard.repository.as_ref()) {
            return name.parse().map_err(|error| fatal(Exit::Usage, format!("{error}")));
        }
        let Some(found) = remote::origin().await else {
            let help =
                "no repository is named: use `--repo OWNER/NAME`, set GITHUB_REPOSITORY, or run in a clone of it";
            return Err(fatal(Exit::Usage, help));
        };
        self.standard.forge_at(&found.server);
        Ok(found.repo)
    }

    /// The token, or what to do without one.
    pub(super) fn token(&self) -> anyhow::Result<SecretString> {
        let help = "no token: set GITHUB_TOKEN to one with contents, issues and pull requests: write \
                    (`hob rehearse` needs none)";
        self.standard.token.clone().ok_or_else(|| fatal(Exit::Token, help))
    }

    /// A worker for the repository.
    pub(super) async fn worker(
        mut self,
        shared: &Shared,
        access: Access,
        agent: Option<String>,
        listen: Listen,
    ) -> anyhow::Result<Worker> {
        let token = self.token()?;
        let repo = self.repository(shared).await?;
        let forge = Forge::new(
            &self.standard.api_url,
            &token,
            repo,
            &self.settings.forge,
            &self.settings.ledger.prefix,
            access,
        )?;
        let parts = WorkerParts {
            forge,
            agents: agent_parts(&self.settings, &self.state_dir),
            server_url: self.standard.server_url.clone(),
            token,
            state_dir: self.state_dir,
            environment: child_environment(),
            agent,
            id: worker_id(&self.standard.host),
            observer: listen.observer,
            cancel: listen.cancel,
            settings: self.settings,
        };
        Ok(Worker::new(parts).await?)
    }
}

/// Who listens to a worker, and what ends it.
pub(super) struct Listen {
    pub(super) observer: Observer,
    pub(super) cancel: CancellationToken,
}

impl Listen {
    /// Nobody listens and nothing ends it: for commands that only read.
    pub(super) fn nobody() -> Self {
        Self { observer: Arc::new(|_: &Notice| {}), cancel: CancellationToken::new() }
    }
}

/// What agents are made from: the settings, and the variables that they name.
pub(super) fn agent_parts(settings: &Settings, state_dir: &std::path::Path) -> AgentParts {
    let named = settings.agents.values().flat_map(|agent| agent.env.iter().map(String::as_str));
    let names = named.chain(adapter_variables());
    AgentParts {
        agents: settings.agents.clone(),
        recipes: settings.recipes.clone(),
        model: settings.model.clone(),
        access: model_access(),
        sessions: Some(state_dir.join("sessions")),
        homes: Some(state_dir.join("homes")),
        variables: named_environment(names),
    }
}
