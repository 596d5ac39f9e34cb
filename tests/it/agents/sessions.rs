//! Sessions: the records of a run, and how the next one resumes it.

use std::sync::Mutex;

use hob_agent::{
    Executor, NativeAgent,
    model::{FallbackChain, Message, ModelClient, ModelError, ModelReply, ModelRequest, Stop, ToolCall, Usage},
    session::{Line, SessionEvent, SessionRecord, SessionState, Sessions},
};
use hob_bench::{INPUT_TOKENS, OUTPUT_TOKENS, Script, serve};
use hob_config::{AgentSettings, BackendKind, ModelAccess, ModelSettings, PriceSettings, Settings, StateSettings};
use hob_domain::RunId;
use serde_json::{Value, json};

use super::{
    command::sh,
    native::{call, native},
    *,
};
use crate::harness::needs;

const KEEP: StateSettings = StateSettings { keep: Duration::from_secs(3_600), sessions: 64 << 20, disk: 0 };

pub(super) struct Sitting {
    bench: Bench,
    folder: tempfile::TempDir,
}

impl Sitting {
    pub(super) fn new() -> Self {
        Self { bench: Bench::new(&[("a", "x\n")]), folder: tempfile::tempdir().unwrap() }
    }

    fn sessions(&self) -> Sessions {
        Sessions::new(self.folder.path().to_owned(), KEEP)
    }

    fn executor(&self, set: &[(&str, &str)]) -> Executor {
        let set: Vec<_> = set.iter().map(|(key, value)| (format!("agent.{key}"), (*value).to_owned())).collect();
        let settings = Settings::load(None, std::collections::HashMap::new(), &set).unwrap();
        Executor::new(self.sessions(), settings.runs)
    }

    pub(super) async fn run(&self, agent: &dyn AgentBackend) -> RunReport {
        self.executor(&[("retry_delay", "0s")])
            .run("native", agent, &self.bench.request, &self.bench.context)
            .await
            .unwrap()
    }

    fn id(&self) -> RunId {
        self.bench.request.session.clone()
    }

    /// The session, if `agent` can continue it.
    async fn resumable(&self, agent: &str) -> Option<SessionRecord> {
        let RunRequest { repo, issue, .. } = &self.bench.request;
        self.executor(&[]).resumable(&self.id(), agent, repo, *issue).await
    }

    fn lines(&self) -> Vec<Line> {
        self.sessions().read(&self.id()).unwrap().lines
    }

    pub(super) fn events(&self) -> Vec<SessionEvent> {
        self.lines().into_iter().map(|line| line.event).collect()
    }

    fn transcript(&self) -> std::path::PathBuf {
        self.sessions().transcript(&self.id()).unwrap()
    }
}

/// A model that answers with `replies` in order, keeps what it was sent, and waits for ever, or fails, at the end.
struct Model {
    replies: Mutex<Vec<Result<ModelReply, ModelError>>>,
    seen: Mutex<Vec<Vec<Message>>>,
}

impl Model {
    fn new(replies: impl IntoIterator<Item = Result<ModelReply, ModelError>>) -> Arc<Self> {
        let mut replies: Vec<_> = replies.into_iter().collect();
        replies.reverse();
        Arc::new(Self { replies: Mutex::new(replies), seen: Mutex::default() })
    }

    fn request(&self, number: usize) -> String {
        serde_json::to_string(&self.seen.lock().unwrap()[number]).unwrap()
    }
}

#[async_trait::async_trait]
impl ModelClient for Model {
    async fn complete(&self, request: &ModelRequest<'_>) -> Result<ModelReply, ModelError> {
        self.seen.lock().unwrap().push(request.messages.iter().map(|message| Message::clone(message)).collect());
        let reply = self.replies.lock().unwrap().pop();
        match reply {
            Some(reply) => reply,
            None => std::future::pending().await,
        }
    }
}

fn calls(id: &str, name: &str, arguments: Value) -> Result<ModelReply, ModelError> {
    let call = ToolCall { id: id.into(), name: name.into(), arguments: arguments.to_string() };
    let usage = Usage { input: 10, output: 1, ..Usage::default() };
    Ok(ModelReply { text: "I do it.".into(), calls: vec![call], verbatim: None, stop: Stop::Finished, usage })
}

fn done() -> Result<ModelReply, ModelError> {
    calls("end", "done", json!({ "summary": "ok" }))
}

fn agent_of(model: &Arc<Model>, settings: AgentSettings) -> NativeAgent {
    let (model, settings) = (Arc::clone(model) as Arc<dyn ModelClient>, AgentSettings { last_look: false, ..settings });
    NativeAgent::new(FallbackChain::one("model", model, PriceSettings::default()), settings)
}

fn of(model: &Arc<Model>) -> NativeAgent {
    agent_of(model, AgentSettings::default())
}

/// Requirement G1.
#[tokio::test]
async fn a_run_leaves_a_session_that_tells_it_all_and_only_its_owner_can_read() {
    use std::os::unix::fs::PermissionsExt;
    let sitting = Sitting::new();
    sitting.run(&native(json!([call("read", json!({ "path": "a" })), call("done", json!({ "summary": "ok" }))]))).await;
    let events = sitting.events();
    assert!(matches!(&events[0], SessionEvent::Started { brief, .. } if brief == "Change the greeting."), "{events:?}");
    assert!(events.contains(&SessionEvent::Result { id: "call-1-1".into(), is_error: false, text: "x\n".into() }));
    assert!(matches!(events.last(), Some(SessionEvent::Ended { outcome: Outcome::Done { .. }, .. })));
    let record = sitting.sessions().record(&sitting.id()).unwrap();
    assert_eq!((record.state, record.metrics.turns, record.metrics.actions), (SessionState::Completed, 2, 2));
    assert_eq!((record.agent.as_str(), record.issue, record.runs.len()), ("native", 7.into(), 1));
    for name in ["transcript.jsonl", "session.json"] {
        let path = sitting.transcript().with_file_name(name);
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
}

/// Requirements P1, A5: the process is gone in the middle of a turn.
#[tokio::test]
async fn a_session_whose_process_was_killed_goes_on_after_its_last_whole_turn() {
    let sitting = Sitting::new();
    let killed = Model::new([
        calls("one", "write", json!({ "path": "b", "text": "half" })),
        calls("two", "shell", json!({ "command": "touch begun; sleep 600" })),
    ]);
    let begun = sitting.bench.path().join("begun");
    let waits = async {
        while !begun.exists() {
            tokio::task::yield_now().await;
        }
    };
    let agent = of(&killed);
    tokio::select! {
        _ = sitting.run(&agent) => panic!("the command sleeps"),
        () = waits => {}
    }
    let found = sitting.sessions().record(&sitting.id()).unwrap();
    assert_eq!(found.state, SessionState::Interrupted);
    assert_eq!(sitting.resumable("native").await.unwrap().id, found.id);
    assert!(sitting.resumable("other").await.is_none());
    let repo = &sitting.bench.request.repo;
    assert!(sitting.executor(&[]).resumable(&sitting.id(), "native", repo, 8.into()).await.is_none());

    let model = Model::new([done()]);
    let report = sitting.run(&of(&model)).await;
    assert_eq!(report.outcome, Outcome::done("ok"));
    assert_eq!(report.spend.input_tokens, 10, "the earlier run's bill is its own");
    let request = model.request(0);
    for part in [
        "wrote 4 bytes",
        "cut off before this call answered",
        "[Hob] The process that ran you was killed",
        "[turn 3 of 250",
    ] {
        assert!(request.contains(part), "{part}: {request}");
    }
    let record = sitting.sessions().record(&sitting.id()).unwrap();
    assert_eq!((record.state, record.metrics.turns, record.bill().input_tokens), (SessionState::Completed, 3, 30));
}

/// Requirement S2: a resumed run continues the count of failed commands.
#[tokio::test]
async fn commands_that_failed_count_on_in_a_session_whose_process_was_killed() {
    let sitting = Sitting::new();
    let failed = |id: &str| calls(id, "shell", json!({ "command": format!("ls none-{id}") }));
    let settings = || AgentSettings {
        failed_commands: hob_config::FailedCommands { in_row: 3, total: 0 },
        ..AgentSettings::default()
    };
    let killed = Model::new([failed("one"), failed("two")]);
    let asked_again = async {
        while killed.seen.lock().unwrap().len() < 3 {
            tokio::task::yield_now().await;
        }
    };
    let agent = agent_of(&killed, settings());
    tokio::select! {
        _ = sitting.run(&agent) => panic!("the model is silent"),
        () = asked_again => {}
    }
    let report = sitting.run(&agent_of(&Model::new([failed("three"), done()]), settings())).await;
    let said = "3 commands in a row failed (`failed_commands.in_row`), the last: `shell ls none-three` (exit code 2)";
    assert_eq!(failure(&report.outcome).0, said);
}

#[tokio::test]
async fn a_damaged_tail_is_cut_off_with_a_note() {
    let sitting = Sitting::new();
    let model = Model::new([calls("one", "read", json!({ "path": "a" })), Err(ModelError::Setup("no key".into()))]);
    sitting.run(&of(&model)).await;
    let whole = sitting.lines().len();
    let mut file = fs::OpenOptions::new().append(true).open(sitting.transcript()).unwrap();
    std::io::Write::write_all(&mut file, b"{\"at_ms\":3,\"event\":\"ask\xff").unwrap();
    fs::write(sitting.transcript().with_file_name("session.json"), "{ damaged").unwrap();
    assert_eq!(sitting.sessions().record(&sitting.id()).unwrap().state, SessionState::Blocked);
    let model = Model::new([done()]);
    sitting.run(&of(&model)).await;
    let events = sitting.events();
    assert_eq!(events[whole], SessionEvent::Noted { text: "24 damaged bytes at the end were cut off".into() });
    assert!(model.request(0).contains("x\\n"), "{}", model.request(0));
}

/// Requirement G2.
#[tokio::test]
async fn a_failure_that_may_pass_is_tried_again_in_place_and_the_conversation_continues() {
    let sitting = Sitting::new();
    let lost = || Err(ModelError::Transport("the connection was lost".into()));
    let model = Model::new([calls("one", "read", json!({ "path": "a" })), lost(), done()]);
    let report = sitting.run(&of(&model)).await;
    assert_eq!(report.outcome, Outcome::done("ok"));
    assert_eq!(report.spend.input_tokens, 20);
    assert!(model.request(2).contains("The previous run ended: ") && model.request(2).contains("x\\n"));
    let again = Model::new([lost(), lost()]);
    let report = Sitting::new().run(&of(&again)).await;
    assert!(failure(&report.outcome).0.contains("the connection was lost"), "{report:?}");
    assert_eq!(again.seen.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn an_answer_reaches_the_conversation_that_asked_with_turns_of_its_own() {
    let mut sitting = Sitting::new();
    let asks = Model::new([calls("one", "ask", json!({ "question": "Which?" }))]);
    let settings = AgentSettings { max_iterations: Some(1), ..AgentSettings::default() };
    let one_turn = |model: &Arc<Model>| agent_of(model, settings.clone());
    assert_eq!(sitting.run(&one_turn(&asks)).await.outcome, Outcome::Question { question: "Which?".into() });
    sitting.bench.request.brief = "Change the greeting. Answer: the left one.".into();
    let model = Model::new([done()]);
    assert_eq!(sitting.run(&one_turn(&model)).await.outcome, Outcome::done("ok"));
    let request = model.request(0);
    assert!(
        request.contains("Which?") && request.contains("the left one") && request.contains("[turn 1 of 1"),
        "{request}"
    );
}

/// What a worker that is killed now would have spent is in the session, where the one that takes over finds it.
#[tokio::test]
async fn what_a_request_can_cost_is_in_the_session_before_the_service_gets_it() {
    needs!("python3");
    const MOST: u64 = 4_000;
    let asks = format!(
        r#"
import json, os, urllib.request
body = json.dumps({{"model": "scripted", "max_tokens": {MOST}, "messages": [{{"role": "user", "content": "x"}}]}}).encode()
for _ in range(2):
    urllib.request.urlopen(urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body)).read()
"#
    );
    let program = AgentSettings {
        backend: BackendKind::Command,
        command: vec!["python3".into(), "-c".into(), asks],
        env: vec!["OPENAI_API_KEY".into()],
        ..AgentSettings::default()
    };
    let native = AgentSettings { last_look: false, ..AgentSettings::default() };
    for (settings, most) in [(native, 16_384), (program, MOST)] {
        let sitting = Sitting::new();
        let (sessions, id, bills) = (sitting.sessions(), sitting.id(), Arc::new(Mutex::new(Vec::new())));
        let seen = Arc::clone(&bills);
        let server = serve(Script::new(["true"; 2]), move |_| {
            seen.lock().unwrap().push(sessions.record(&id).unwrap().bill().usd_micros);
        });
        let server = server.await.unwrap();
        let price = PriceSettings { input: 1.0, output: 1.0, ..PriceSettings::default() };
        let parts = AgentParts {
            agents: [("test".to_owned(), settings)].into(),
            model: ModelSettings {
                default: Some("openai/scripted".into()),
                prices: [("openai/scripted".to_owned(), price)].into(),
                ..ModelSettings::default()
            },
            variables: [("OPENAI_API_KEY".into(), "key".into())].into(),
            access: ModelAccess { openai_base_url: Some(format!("{}/v1", server.address())), ..ModelAccess::default() },
            ..AgentParts::default()
        };
        let agent = Registry::new(parts).unwrap().get("test").unwrap();
        let executor = sitting.executor(&[]);
        let report =
            executor.run("test", agent.as_ref(), &sitting.bench.request, &sitting.bench.context).await.unwrap();
        assert!(matches!(report.outcome, Outcome::Done { .. }), "{report:?}");
        let bills = bills.lock().unwrap().clone();
        assert!(bills.len() > 1 && bills.iter().all(|bill| *bill > most), "{bills:?}");
        let each = INPUT_TOKENS + OUTPUT_TOKENS;
        assert_eq!(report.spend.usd_micros, each * bills.len() as u64);
        assert_eq!(sitting.sessions().record(&sitting.id()).unwrap().bill().usd_micros, report.spend.usd_micros);
    }
}

/// Requirement G2.
#[tokio::test]
async fn an_agent_that_gives_no_sign_of_life_is_pointed_out_and_ended() {
    let mut sitting = Sitting::new();
    let executor = sitting.executor(&[("idle_warning", "50ms"), ("idle_timeout", "2s")]);
    let agent = sh("echo begins; sleep 600");
    let report = executor.run("slow", agent.as_ref(), &sitting.bench.request, &sitting.bench.context).await.unwrap();
    assert!(failure(&report.outcome).0.starts_with("the agent was idle for"), "{report:?}");
    let said = sitting.bench.said();
    assert!(said.iter().any(|line| line.starts_with("idle for 0 s; the run is ended after")), "{said:?}");
    assert!(sitting.events().contains(&SessionEvent::Progress { text: "begins".into() }));
}

#[tokio::test]
async fn a_session_that_another_process_writes_is_left_alone() {
    let sitting = Sitting::new();
    let model = Model::new([]);
    let (agent, second) = (of(&model), Model::new([done()]));
    let mut request = sitting.bench.request.clone();
    request.run = "run-2".into();
    let other = async {
        while model.seen.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        assert!(sitting.resumable("native").await.is_none());
        sitting.executor(&[]).run("native", &of(&second), &request, &sitting.bench.context).await.unwrap()
    };
    tokio::select! {
        _ = sitting.run(&agent) => panic!("its model never answers"),
        report = other => assert_eq!(report.outcome, Outcome::done("ok")),
    }
    assert_eq!(sitting.sessions().record(&"run-2".into()).unwrap().state, SessionState::Completed);
    assert_eq!(second.request(0).matches("Change the greeting").count(), 1);
}

#[tokio::test]
async fn old_sessions_go_and_so_do_the_oldest_of_too_many() {
    let sitting = Sitting::new();
    for (keep, left) in [
        (StateSettings { keep: Duration::ZERO, sessions: 64 << 20, disk: 0 }, 1),
        (StateSettings { keep: Duration::from_secs(3_600), sessions: 0, disk: 0 }, 1),
        (KEEP, 2),
    ] {
        for run in ["old", "new"] {
            let mut request = sitting.bench.request.clone();
            (request.run, request.session) = (run.into(), run.into());
            let sessions = Sessions::new(sitting.folder.path().to_owned(), keep.clone());
            let settings = Settings::load(None, std::collections::HashMap::new(), &[]).unwrap();
            let executor = Executor::new(sessions, settings.runs);
            executor.run("native", &of(&Model::new([done()])), &request, &sitting.bench.context).await.unwrap();
        }
        assert_eq!(sitting.sessions().list().len(), left, "{keep:?}");
    }
    let found = sitting.sessions().find("n", None).unwrap();
    assert_eq!(found.id, sitting.sessions().find("7", None).unwrap().id);
    for (text, said) in [("", "2 sessions begin with"), ("x", "no session `x`"), ("8", "issue 8 has no session")] {
        assert!(sitting.sessions().find(text, None).unwrap_err().to_string().contains(said), "{text}");
    }
}
