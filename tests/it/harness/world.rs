//! Building a world: accounts, repository, settings and agents; and the workers that work in it.

use std::{
    collections::HashMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use github_emulator::{Options, Running, serve};
use hob_agent::{AgentParts, Approval};
use hob_config::{AgentSettings, BackendKind, RecipeSettings, Settings, Webhook, child_environment};
use hob_domain::{Claimant, EventId, RepoName, State, Transition, Trigger};
use hob_forge::{Access, Authentication, Connection, Forge};
use hob_text::KnownSecrets;
use hob_worker::{
    Preflight, RemoteExecutor, RunLimits, RunSummary, WorkEvent, Worker, WorkerParts, run_once, sandbox_of_tier,
};
use http::Method;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{BILL, Faulty, Receiver, Turnstile, WEBHOOK_SECRET, inside};

/// All accounts with a token; the token is `token-of-LOGIN`. `out` has no more rights than anyone in a public
/// repository.
const ACCOUNTS: [(&str, &str); 9] = [
    ("hob", "write"),
    ("ann", "admin"),
    ("wil", "write"),
    ("tess", "triage"),
    ("rob", "read"),
    ("out", "read"),
    ("watch", "read"),
    ("robo[bot]", "write:bot"),
    ("renovate[bot]", "write:bot"),
];

/// The pushes of ledgers in a minute.
const PUSHES: &str = "testing.forge.pushes_per_minute";

/// The repository of every world.
pub(crate) fn repo() -> RepoName {
    "acme/site".parse().unwrap()
}

/// Its name as the forge knows it, which shares no type with Hob.
pub(crate) fn repo_on_forge() -> github_emulator::RepoName {
    repo().to_string().parse().unwrap()
}

/// The options of a world.
pub(crate) struct Builder {
    files: Vec<(String, Vec<u8>)>,
    scripts: Vec<(String, String)>,
    agents: Vec<(String, AgentSettings)>,
    recipes: Vec<(String, RecipeSettings)>,
    set: Vec<(String, String)>,
    line: Line,
    receiver: Option<Receiver>,
}

/// The way of the workers' API calls to the forge.
#[derive(Clone)]
pub(super) enum Line {
    /// As in production.
    Sockets,
    /// In this process.
    Inside(Arc<Turnstile>),
}

/// A forge, its people, a repository, and the workers' surroundings. [`World::finish`] ends it.
pub(crate) struct World {
    pub(crate) forge: Running,
    pub(crate) settings: Settings,
    pub(crate) notices: Arc<Mutex<Vec<WorkEvent>>>,
    pub(super) folder: tempfile::TempDir,
    pub(super) finished: bool,
    /// The receiver of notifications, if there is one.
    pub(crate) receiver: Option<Receiver>,
    /// The initial files of every repository.
    files: Vec<(String, Vec<u8>)>,
    set: Vec<(String, String)>,
    pub(super) line: Line,
}

impl World {
    /// A world whose default agent `fixer` writes `done.txt`, which its one check requires.
    pub(crate) fn fixing() -> Builder {
        Self::with_agent("echo done > done.txt").check("test -f done.txt")
    }

    /// A world whose default agent `fixer` runs this shell script in the folder. `{DIR}` is the world's folder, `$n`
    /// counts the issue's earlier runs, `$bill` is what the run may report as its cost, and each run's brief is kept.
    pub(crate) fn with_agent(script: &str) -> Builder {
        Self::with_bare_agent("").script("fixer", script)
    }

    /// A world whose default agent `fixer` runs only this shell script in the folder.
    pub(crate) fn with_bare_agent(script: &str) -> Builder {
        let builder = Builder {
            files: vec![("README.md".into(), b"# Site\n".to_vec())],
            scripts: Vec::new(),
            agents: Vec::new(),
            recipes: Vec::new(),
            set: Vec::new(),
            line: Line::Sockets,
            receiver: None,
        };
        let builder = builder.set("agent", "fixer").set("testing.forge.retry_base", "1ms").set(PUSHES, "0");
        builder.bare_script("fixer", script)
    }
}

impl Builder {
    /// A file of the repository's first commit. `{DIR}` in it is the world's folder.
    pub(crate) fn file(mut self, path: &str, content: &str) -> Self {
        self.files.retain(|(known, _)| known != path);
        self.files.push((path.to_owned(), content.as_bytes().to_vec()));
        self
    }

    /// The one check in `.github/hob.toml`.
    pub(crate) fn check(self, command: &str) -> Self {
        self.file(".github/hob.toml", &format!("checks = [{command:?}]\n"))
    }

    /// A command agent that runs a shell script.
    pub(crate) fn script(self, name: &str, script: &str) -> Self {
        let count = "n=$(ls {DIR}/briefs | grep -c \"^$HOB_ISSUE-\"); cat > {DIR}/briefs/$HOB_ISSUE-$n\n";
        self.bare_script(name, &format!("{count}{BILL}{script}"))
    }

    /// A command agent that runs a shell script, and nothing else.
    pub(crate) fn bare_script(mut self, name: &str, script: &str) -> Self {
        self.scripts.push((name.to_owned(), script.to_owned()));
        self
    }

    /// An agent of the process's settings.
    pub(crate) fn agent(mut self, name: &str, settings: AgentSettings) -> Self {
        self.agents.push((name.to_owned(), settings));
        self
    }

    /// Lets ledgers move by push, as in production. Otherwise they move over the API, so that each push is one of a branch, and a
    /// fault of one way is not mended by the other.
    pub(crate) fn pushing_ledgers(self) -> Self {
        self.set(PUSHES, "6")
    }

    /// One setting.
    pub(crate) fn set(mut self, key: &str, value: &str) -> Self {
        self.set.push((key.to_owned(), value.to_owned()));
        self
    }

    /// A receiver of notifications.
    pub(crate) fn notified(mut self) -> Self {
        self.receiver = Some(Receiver::default());
        self
    }

    /// Lets workers reach the API without sockets, past this turnstile.
    pub(crate) fn inside(mut self, turnstile: &Arc<Turnstile>) -> Self {
        self.line = Line::Inside(Arc::clone(turnstile));
        self
    }

    /// Starts the forge and makes the repository and the trigger label.
    pub(crate) async fn start(mut self) -> World {
        // Another test may have been first; there is one provider a process.
        rustls::crypto::ring::default_provider().install_default().ok();
        let folder = tempfile::Builder::new().prefix("hob-e2e-").tempdir().unwrap();
        let here = folder.path().display().to_string();
        for (_, content) in &mut self.files {
            if let Ok(text) = std::str::from_utf8(content) {
                *content = text.replace("{DIR}", &here).into_bytes();
            }
        }
        for kept in ["briefs", "books"] {
            std::fs::create_dir(folder.path().join(kept)).unwrap();
        }
        let users = ACCOUNTS.iter().map(|(login, role)| format!("{login}:token-of-{login}:{role}").parse().unwrap());
        let options = Options {
            users: users.collect(),
            rate_limit: Some(1_000_000),
            apps: vec![super::apps::app()],
            ..Options::default()
        };
        let forge = serve(options).await.unwrap();
        forge.create_repository(&repo_on_forge(), &seeds(&self.files)).unwrap();
        let set_here = |key: &str| (key.to_owned(), "0".to_owned());
        let mut set =
            ["testing.forge.write_interval_ms", "limits.open_pulls", "testing.runs.retries"].map(set_here).to_vec();
        // One write less.
        set.push(("publish.reviewers".to_owned(), String::new()));
        // The tests of the sandbox name others.
        set.push(("sandbox.tier".to_owned(), "fence".to_owned()));
        // Scripts of agents leave their signs in the world's folder.
        set.push(("sandbox.write".to_owned(), folder.path().display().to_string()));
        if let Some(receiver) = &self.receiver {
            set.push(("notify.webhook".to_owned(), receiver.start().await));
        }
        set.extend(self.set);
        let mut settings = Settings::load(None, HashMap::new(), &set).unwrap();
        for (name, script) in &self.scripts {
            let script = format!("{script}\n").replace("{DIR}", &folder.path().display().to_string());
            let command = vec!["sh".to_owned(), "-c".to_owned(), script];
            let agent = AgentSettings { backend: BackendKind::Command, command, ..AgentSettings::default() };
            settings.agents.insert(name.clone(), agent);
        }
        settings.agents.extend(self.agents);
        settings.recipes.extend(self.recipes);
        let files = std::mem::take(&mut self.files);
        let world = World {
            forge,
            files,
            settings,
            notices: Arc::default(),
            folder,
            finished: false,
            set,
            line: self.line,
            receiver: self.receiver,
        };
        world.call("ann", Method::POST, "/labels", json!({"name": "code", "color": "5319e7"})).await;
        world
    }
}

fn seeds(files: &[(String, Vec<u8>)]) -> Vec<(&str, &[u8], bool)> {
    files.iter().map(|(path, content)| (path.as_str(), content.as_slice(), false)).collect()
}

impl World {
    /// The world's own folder, outside every checkout.
    pub(crate) fn dir(&self) -> &Path {
        self.folder.path()
    }

    /// Another repository like the first, with as many issues that have the trigger label.
    pub(crate) async fn another(&self, name: &str, issues: usize) {
        self.forge.create_repository(&name.parse().unwrap(), &seeds(&self.files)).unwrap();
        self.call_in(name, "ann", Method::POST, "/labels", json!({"name": "code", "color": "5319e7"})).await;
        for n in 0..issues {
            let issue = json!({"title": format!("Chore {n}"), "labels": ["code"]});
            self.call_in(name, "ann", Method::POST, "/issues", issue).await;
        }
    }

    /// The folder of the worker `name`'s state.
    pub(crate) fn state_dir(&self, name: &str) -> PathBuf {
        self.dir().join(format!("state-{name}"))
    }

    /// Settings of this world, as flags, for the real binary.
    pub(super) fn flags(&self) -> &[(String, String)] {
        &self.set
    }

    /// A client of the forge as the bot, beside any worker's.
    pub(crate) fn bot(&self, access: Access) -> Forge {
        self.client_of("hob", &self.settings, access)
    }

    fn client_of(&self, login: &str, settings: &Settings, access: Access) -> Forge {
        match &self.line {
            Line::Sockets => client(&self.forge.api_url(), &format!("token-of-{login}"), settings, access),
            Line::Inside(turnstile) => {
                inside::client(self.forge.router(), Some(Arc::clone(turnstile)), login, settings, access)
            }
        }
    }

    /// The data to claim an issue as the worker `name`.
    pub(crate) fn claimant(&self, name: &str) -> Claimant {
        let lease = &self.settings.lease;
        Claimant {
            worker: name.into(),
            nonce: format!("nonce-of-{name}").as_str().into(),
            duration: lease.duration,
            skew: lease.skew,
            bill: None,
        }
    }

    /// A real worker over real HTTP and real git.
    pub(crate) async fn worker(&self, name: &str) -> Arc<Worker> {
        self.worker_with(name, self.settings.clone(), Access::ReadWrite).await
    }

    /// A worker that signs in as this account.
    pub(crate) async fn worker_as(&self, login: &str, name: &str) -> Arc<Worker> {
        let forge = self.client_of(login, &self.settings, Access::ReadWrite);
        self.make(name, self.settings.clone(), forge, CancellationToken::new()).await
    }

    /// A worker whose calls to the API go through a door that loses some.
    pub(crate) async fn worker_by(&self, door: &Faulty, name: &str) -> Arc<Worker> {
        self.worker_at(&door.api_url, name).await
    }

    /// A worker whose calls to the API go to another address.
    pub(crate) async fn worker_at(&self, api_url: &str, name: &str) -> Arc<Worker> {
        let forge = client(api_url, "token-of-hob", &self.settings, Access::ReadWrite);
        self.make(name, self.settings.clone(), forge, CancellationToken::new()).await
    }

    /// The worker of a Job's pod, which has a pass, and asks the dispatcher at this address.
    pub(crate) async fn pod(&self, name: &str, dispatcher: SocketAddr, pass: &str) -> Arc<Worker> {
        let api_url = format!("http://{dispatcher}/forge");
        let forge = client(&api_url, pass, &self.settings, Access::ReadWrite);
        let parts = self.parts(name, self.settings.clone(), forge, CancellationToken::new());
        Arc::new(Worker::new(WorkerParts { git_url: format!("{api_url}/git"), ..parts }).await.unwrap())
    }

    /// A worker with its own settings.
    pub(crate) async fn worker_with(&self, name: &str, settings: Settings, access: Access) -> Arc<Worker> {
        self.worker_until(name, settings, access, CancellationToken::new()).await
    }

    /// A worker that ends when `cancel` is cancelled.
    pub(crate) async fn worker_until(
        &self,
        name: &str,
        settings: Settings,
        access: Access,
        cancel: CancellationToken,
    ) -> Arc<Worker> {
        let forge = self.client_of("hob", &settings, access);
        self.make(name, settings, forge, cancel).await
    }

    /// A worker that has issues worked on elsewhere.
    pub(crate) async fn dispatcher(&self, remote: Arc<dyn RemoteExecutor>) -> Arc<Worker> {
        let forge = self.client_of("hob", &self.settings, Access::ReadWrite);
        let parts = self.parts("dispatcher", self.settings.clone(), forge, CancellationToken::new());
        Arc::new(Worker::new(WorkerParts { remote: Some(remote), ..parts }).await.unwrap())
    }

    /// A worker that is asked to stop as soon as it tells that an issue is in `state`.
    pub(crate) async fn worker_stopped_at(&self, name: &str, state: State) -> Arc<Worker> {
        let cancel = CancellationToken::new();
        let forge = self.client_of("hob", &self.settings, Access::ReadWrite);
        let parts = self.parts(name, self.settings.clone(), forge, cancel.clone());
        let stops = move |_: &RepoName, notice: &WorkEvent| match notice {
            WorkEvent::Moved { state: now, .. } if *now == state => cancel.cancel(),
            _other => {}
        };
        Arc::new(Worker::new(WorkerParts { events: Arc::new(stops), ..parts }).await.unwrap())
    }

    async fn make(&self, name: &str, settings: Settings, forge: Forge, cancel: CancellationToken) -> Arc<Worker> {
        Arc::new(Worker::new(self.parts(name, settings, forge, cancel)).await.unwrap())
    }

    pub(super) fn parts(&self, name: &str, settings: Settings, forge: Forge, cancel: CancellationToken) -> WorkerParts {
        let notices = Arc::clone(&self.notices);
        let state_dir = self.state_dir(name);
        let agents = AgentParts {
            agents: settings.agents.clone(),
            recipes: settings.recipes.clone(),
            model: settings.model.clone(),
            ..AgentParts::default()
        };
        WorkerParts {
            forge,
            agents: Arc::new(agents),
            server_url: self.forge.server_url(),
            git_url: self.forge.server_url(),
            environment: child_environment().into(),
            sandbox: sandbox_of_tier(&settings, settings.sandbox.tier.named().unwrap(), &state_dir, super::launcher()),
            agent: None,
            id: name.into(),
            events: Arc::new(move |_: &RepoName, notice: &WorkEvent| notices.lock().unwrap().push(notice.clone())),
            watcher: None,
            cancel,
            approval: Approval::Nobody,
            webhook: Webhook::from_settings(&settings, None, Some(WEBHOOK_SECRET.into())).unwrap(),
            audit_key: Some(WEBHOOK_SECRET.into()),
            // Through the program it is wanted.
            preflight: Preflight::Done,
            remote: None,
            settings: Arc::new(settings),
            state_dir,
        }
    }

    /// A fresh worker polls once, with these settings.
    pub(crate) async fn run(&self) -> RunSummary {
        run(&self.worker("w1").await).await
    }

    /// The failures that workers reported.
    pub(crate) fn failures(&self) -> Vec<String> {
        let notices = self.notices.lock().unwrap();
        let failed = notices.iter().filter_map(|notice| match notice {
            WorkEvent::Failed { reason, .. } => Some(reason.clone()),
            _other => None,
        });
        failed.collect()
    }
}

fn client(api_url: &str, token: &str, settings: &Settings, access: Access) -> Forge {
    let identity = Authentication::Token(token.to_owned().into());
    let connection = Connection::new(api_url, identity, &settings.forge, access, KnownSecrets::default()).unwrap();
    Forge::new(connection, repo())
}

/// One poll, and the work that it finds.
pub(crate) async fn run(worker: &Arc<Worker>) -> RunSummary {
    run_once(worker, RunLimits::default()).await.unwrap()
}

/// A claim of an issue that has this title and no body, as ann's label sets it off.
pub(crate) fn claim(title: &str) -> Transition {
    let approved = hob_domain::approved_hash(title, "");
    Transition::Claim {
        trigger: Trigger { event: EventId(0), actor: "ann".into(), approved, at: None, labels: Vec::new() },
    }
}
