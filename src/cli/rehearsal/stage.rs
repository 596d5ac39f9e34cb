//! The stage: a forge of our own on a free port, the people on it, and a real worker.

use std::{path::Path, sync::Arc};

use anyhow::Context;
use github_emulator::{AccountKind, Options, Role, Running, SeedFile, TokenKind, User};
use hob_agent::{AgentParts, Approval};
use hob_config::{Settings, child_environment};
use hob_domain::RepoName;
use hob_forge::{Access, Authentication, Connection, Forge};
use hob_text::KnownSecrets;
use hob_worker::{Preflight, Worker, WorkerParts, worker_id};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::cli::{
    output::Naming,
    progress::{self, Addresses, Grouping, Show, View, Watch},
    rehearsal::{own_repository::OwnRepository, people::Person},
    screen::Screen,
    setup::sandbox_of,
    web::Web,
};

/// Tokens of the people; they open this forge alone, which only this machine can reach.
const MAINTAINER: &str = "maintainer-token";
const OUTSIDER: &str = "outsider-token";
const WORKER: &str = "worker-token";

/// The parts of a rehearsal. Dropping it ends the forge and removes its files.
pub(in crate::cli) struct Stage {
    pub(super) forge: Running,
    pub(super) worker: Arc<Worker>,
    pub(super) maintainer: Person,
    pub(super) outsider: Person,
    pub(in crate::cli) watch: Watch,
    /// Mirrors, checkouts and transcripts; gone with the stage.
    _state: TempDir,
}

/// The display of a rehearsal, and the approver of its agents' actions.
pub(in crate::cli) struct Desk {
    pub(in crate::cli) show: Show,
    /// Whether the forge stays, so that its addresses keep working.
    pub(in crate::cli) addresses: Addresses,
    pub(in crate::cli) screen: Screen,
    pub(in crate::cli) approval: Approval,
    /// The page that is kept with the forge.
    pub(in crate::cli) web: Option<Web>,
}

/// The source of the stage's repository.
pub(super) enum Source<'a> {
    /// Files that Hob brings.
    Files(&'a [SeedFile<'a>]),
    /// The `HEAD` of a git repository, which is only read.
    Folder(&'a Path),
}

impl Stage {
    /// Sets the stage.
    pub(super) async fn set(
        mut settings: Settings,
        repo: RepoName,
        source: Source<'_>,
        agents: AgentParts,
        agent: Option<String>,
        desk: &Desk,
    ) -> anyhow::Result<Self> {
        // The embedded forge needs no pause between writes.
        settings.forge.write_interval_ms = 0;
        let forge = github_emulator::serve(Options { users: users(), ..Options::default() }).await?;
        let name = repo.to_string().parse()?;
        match source {
            Source::Files(files) => forge.create_repository(&name, files)?,
            Source::Folder(folder) => {
                let own = OwnRepository::find(folder).await?;
                forge
                    .import_repository(&name, own.folder(), "main")
                    .with_context(|| format!("`{}` cannot be read", folder.display()))?
            }
        };
        let state = tempfile::Builder::new().prefix("hob-rehearsal-").tempdir()?;
        let (show, addresses, cancel) = (desk.show, desk.addresses, CancellationToken::new());
        let (naming, grouping) = (Naming::One, Grouping::Off);
        let view = View { show, naming, addresses, grouping, keeps: progress::SUMMARY };
        let (events, watch) = progress::sink(view, &desk.screen, &cancel);
        let (events, watcher) = Web::around(desk.web.as_ref(), events);
        let address = format!("{}/repos/{repo}", forge.api_url());
        let identity = Authentication::Token(WORKER.into());
        let connection =
            Connection::new(&forge.api_url(), identity, &settings.forge, Access::ReadWrite, KnownSecrets::default())?;
        let client = Forge::new(connection, repo);
        let parts = WorkerParts {
            forge: client,
            server_url: forge.server_url(),
            git_url: forge.server_url(),
            state_dir: state.path().join("state"),
            agents: Arc::new(agents),
            environment: Arc::new(child_environment()),
            sandbox: sandbox_of(&settings, state.path()).await,
            agent,
            id: worker_id("rehearsal"),
            events,
            watcher,
            cancel,
            approval: desk.approval.clone(),
            webhook: None,
            audit_key: None,
            preflight: Preflight::AtStart,
            remote: None,
            settings: Arc::new(settings),
        };
        let worker = Arc::new(Worker::new(parts).await?);
        hob_agent::model::use_ring();
        // The forge is on this machine: it needs no certificates, which a bare machine does not have.
        let people = reqwest::Client::builder().no_proxy().tls_certs_only([]).build()?;
        let maintainer = Person::new(&people, &address, MAINTAINER);
        let outsider = Person::new(&people, &address, OUTSIDER);
        Ok(Self { forge, worker, maintainer, outsider, watch, _state: state })
    }

    /// The address of the repository's pages.
    pub(in crate::cli) fn web_address(&self) -> String {
        format!("{}/{}", self.forge.server_url(), self.worker.forge().repo())
    }
}

fn users() -> Vec<User> {
    let user = |login: &str, token: &str, role, kind| User {
        login: login.into(),
        token: token.to_owned().into(),
        role,
        kind,
        token_kind: TokenKind::Classic,
    };
    vec![
        user("ann", MAINTAINER, Role::Admin, AccountKind::User),
        user("otto", OUTSIDER, Role::Triage, AccountKind::User),
        user("hob", WORKER, Role::Write, AccountKind::Bot),
    ]
}
