//! Agents that speak the Agent Client Protocol: a scripted one, and real ones where they are installed.

use hob_bench::{INPUT_TOKENS, Kind, OUTPUT_TOKENS, Running, Script, serve};
use hob_config::{AgentSettings, BackendKind};
use hob_domain::{Checklist, FailureClass, Spend, StepState};
use hob_sandbox::Sandbox;

use super::{
    adapters::{installed_as, registry_at},
    *,
};
use crate::harness::{PYTHON, needs, skipped};

/// The scripted agent, playing `scene`.
fn scripted(scene: &str, model: Option<&str>) -> Arc<dyn AgentBackend> {
    let script = include_str!("acp_agent.py");
    let command = [PYTHON, "-c", script, scene].map(str::to_owned).to_vec();
    let model = model.map(str::to_owned);
    let settings = AgentSettings { backend: BackendKind::Acp, command, model, ..AgentSettings::default() };
    let parts = AgentParts { agents: [("acp".to_owned(), settings)].into(), ..AgentParts::default() };
    Registry::new(parts).unwrap().get("acp").unwrap()
}

#[tokio::test]
async fn an_agent_works_in_a_session_and_its_last_words_are_its_report() {
    needs!(PYTHON);
    let mut bench = Bench::new(&[]);
    let report = bench.run(&scripted("works", Some("large"))).await;
    let (summary, title) = ("It was rude.".into(), Some("Greet politely".into()));
    assert_eq!(report.outcome, Outcome::Done { summary, title });
    assert_eq!(
        report.spend,
        Spend { usd_micros: 125_000, wall_seconds: report.spend.wall_seconds, ..Spend::default() }
    );
    assert_eq!(bench.read("asked.txt"), "allow_once allow_once\n", "the sandbox is the boundary");
    assert!(bench.read("prompt.txt").starts_with("Change the greeting.\n\nNobody can answer you"));
    assert!(bench.path().join("model-large").exists());
    let told: Vec<_> = std::iter::from_fn(|| bench.progress.try_recv().ok()).collect();
    let texts: Vec<_> = told.iter().map(|line| line.text.as_str()).filter(|text| !text.is_empty()).collect();
    assert_eq!(texts, ["scripted 1.0", "Write greeting.txt", "make test"]);
    let checklist = told.iter().find_map(|line| line.checklist.clone()).unwrap();
    assert_eq!(checklist.standing(), Checklist::new([("Greet".to_owned(), StepState::Doing)]).unwrap().standing());
}

/// Without a sandbox what it does is held by nothing but its permissions.
#[tokio::test]
async fn without_a_sandbox_an_agent_may_read_and_edit() {
    needs!(PYTHON);
    let mut bench = Bench::new(&[]);
    bench.context.sandbox = Sandbox::none();
    let report = bench.run(&scripted("works", None)).await;
    assert!(matches!(report.outcome, Outcome::Done { .. }), "{:?}", report.outcome);
    assert_eq!(bench.read("asked.txt"), "allow_once reject_once\n");
}

/// What people say while it works is the next prompt.
#[tokio::test]
async fn what_people_say_meanwhile_is_the_next_prompt() {
    needs!(PYTHON);
    let bench = Bench::new(&[]);
    bench.context.steering.begin_run();
    let (comment, author) = (hob_domain::CommentId(5), "ann".into());
    bench.context.steering.say(hob_agent::Said {
        comment,
        author,
        body: String::new(),
        told: "Ann says: louder".into(),
    });
    let report = bench.run(&scripted("works", None)).await;
    assert!(matches!(report.outcome, Outcome::Done { .. }), "{:?}", report.outcome);
    assert!(bench.read("prompt.txt").ends_with("Ann says: louder"));
    assert_eq!(bench.context.steering.heard(), [comment]);
}

#[tokio::test]
async fn an_agent_that_wants_a_sign_in_gets_one_by_key() {
    needs!(PYTHON);
    let report = Bench::new(&[]).run(&scripted("key", None)).await;
    assert!(matches!(report.outcome, Outcome::Done { .. }), "{:?}", report.outcome);
}

/// Hob gives the permissions, not the agent's own model; and models may be offered without an option.
#[tokio::test]
async fn an_agent_is_put_into_the_mode_that_asks() {
    needs!(PYTHON);
    let bench = Bench::new(&[]);
    let report = bench.run(&scripted("older", Some("large"))).await;
    assert!(matches!(report.outcome, Outcome::Done { .. }), "{:?}", report.outcome);
    assert!(bench.path().join("mode-default").exists() && bench.path().join("model-large").exists());
}

/// A real agent and where it works.
struct Real {
    bench: Bench,
    server: Running,
    report: RunReport,
}

/// Runs a real agent with a scripted model, where `scripts/agents.sh` installed it.
async fn real(name: &str, words: &[&str], key: &str, sandbox: Sandbox) -> Option<Real> {
    let Some(program) = installed_as(name, words[0]) else {
        skipped(&format!("{name} is not installed"));
        return None;
    };
    let server = serve(Script::new(["echo hello > greeting.txt"]).edit("greeting.txt", "hello"), |_| {}).await.unwrap();
    let command = [program.display().to_string()].into_iter().chain(words[1..].iter().map(|word| (*word).to_owned()));
    let settings = AgentSettings {
        backend: BackendKind::Acp,
        command: command.collect(),
        env: vec![key.into()],
        ..AgentSettings::default()
    };
    let homes = tempfile::tempdir().unwrap();
    let agents = registry_at(&server, homes.path(), [("acp".to_owned(), settings)].into());
    let mut bench = Bench::new(&[("README.md", "A repository.\n")]);
    bench.context.environment = hob_config::child_environment();
    bench.context.sandbox = sandbox;
    bench.request.brief = "Write `hello` into greeting.txt.".into();
    git2::Repository::init(bench.path()).unwrap();
    let report = bench.run(&agents.get("acp").unwrap()).await;
    Some(Real { bench, server, report })
}

/// It does the work, its last words are its report, and its cost is measured.
async fn does_the_work(name: &str, words: &[&str], key: &str) {
    let Some(Real { bench, server, report }) = real(name, words, key, crate::harness::sandbox()).await else { return };
    let Outcome::Done { summary, .. } = &report.outcome else {
        panic!("{name}: {:?} {:?}", report.outcome, server.seen());
    };
    assert_eq!(summary, "The work is done.", "{name}");
    assert_eq!(bench.read("greeting.txt").trim(), "hello", "{name}");
    let replies = server.replies() as u64;
    let tokens = (report.spend.input_tokens, report.spend.output_tokens);
    assert_eq!(tokens, (replies * INPUT_TOKENS, replies * OUTPUT_TOKENS), "{name}: {:?}", server.seen());
    assert!(report.spend.usd_micros > 0, "{name}: {:?}", report.spend);
}

/// Without a sandbox nothing but Hob's answer keeps it from the command.
#[tokio::test]
async fn a_real_agent_asks_before_a_command_and_takes_no_for_an_answer() {
    let Some(Real { bench, server, report }) =
        real("gemini", &["gemini", "--acp"], "GEMINI_API_KEY", Sandbox::none()).await
    else {
        return;
    };
    assert!(server.seen().iter().any(|seen| seen.kind == Kind::Step(0)), "{:?}", report.outcome);
    assert!(!bench.path().join("greeting.txt").exists());
}

#[tokio::test]
async fn gemini_works_by_the_protocol() {
    does_the_work("gemini", &["gemini", "--acp"], "GEMINI_API_KEY").await;
}

#[tokio::test]
async fn claude_works_by_the_protocol() {
    does_the_work("claude-acp", &["claude-agent-acp"], "ANTHROPIC_API_KEY").await;
}

#[tokio::test]
async fn each_end_says_what_it_was() {
    needs!(PYTHON);
    let in_an_hour = FailureClass::QuotaExhausted { reset_after: Some(Duration::from_secs(3_600)) };
    for (scene, model, class, says) in [
        ("refuses", None, FailureClass::NeedsHuman, "its model refused: No."),
        ("login", None, FailureClass::Misconfigured, "its key or login is missing: name the key's variable in `env`"),
        ("signed out", None, FailureClass::Misconfigured, "was not let in: API Error: 403 no such flag"),
        ("older", Some("huge"), FailureClass::Misconfigured, "does not offer this `model`; it offers large"),
        ("works", Some("huge"), FailureClass::Misconfigured, "does not offer this `model`; it offers small, large"),
        ("plain", Some("huge"), FailureClass::Misconfigured, "lets no model be chosen"),
        ("dies", None, FailureClass::Permanent, "no such table"),
        ("fails in words", None, FailureClass::Permanent, "no such table"),
        ("fails by name", None, FailureClass::Permanent, "no such table"),
        ("cannot read", None, FailureClass::Permanent, "no such table"),
        // Nobody cancelled it.
        ("ends its turn", None, FailureClass::Unfinished, "stopped before the end: `cancelled`"),
        ("floods", None, FailureClass::Permanent, "a message of more than 16 MiB"),
        ("limited", None, in_an_hour, "its quota is used up: 429: rate limit, try again in 1h"),
    ] {
        let report = Bench::new(&[]).run(&scripted(scene, model)).await;
        let (reason, failed) = failure(&report.outcome);
        assert!(reason.contains(says) && *failed == class, "{scene}: {reason} {failed:?}");
    }
    let nothing = AgentSettings { backend: BackendKind::Acp, ..AgentSettings::default() };
    let parts = AgentParts { agents: [("acp".to_owned(), nothing)].into(), ..AgentParts::default() };
    let error = Registry::new(parts).unwrap().get("acp").err().unwrap().to_string();
    assert!(error.contains("its `command` is empty: name the program"), "{error}");
}

/// A kind of permission of its own, a request that cannot be read, updates that nobody knows, and a cost in another currency.
#[tokio::test]
async fn an_agent_beside_the_protocol_is_answered_all_the_same() {
    needs!(PYTHON);
    let mut bench = Bench::new(&[]);
    let report = bench.run(&scripted("asks oddly", None)).await;
    assert!(matches!(report.outcome, Outcome::Done { .. }), "{:?}", report.outcome);
    assert_eq!(bench.read("asked.txt"), "yes\n-32602\n");
    let told: Vec<_> = std::iter::from_fn(|| bench.progress.try_recv().ok()).map(|line| line.text).collect();
    assert!(told.iter().any(|text| text == "its cost in EUR is not counted"), "{told:?}");
    assert_eq!(report.spend.usd_micros, 0);
}

/// It is asked to end its turn before it is ended.
#[tokio::test]
async fn a_cancelled_run_asks_the_agent_to_end_its_turn() {
    needs!(PYTHON);
    let mut bench = Bench::new(&[]);
    let (agent, mut progress) = (scripted("waits", None), std::mem::replace(&mut bench.progress, mpsc::channel(1).1));
    let mut run = std::pin::pin!(bench.run(&agent));
    while tokio::select! {
        line = progress.recv() => line.unwrap().text != "Wait",
        ended = &mut run => panic!("{ended:?}"),
    } {}
    bench.context.cancel.cancel();
    let report = run.await;
    assert_eq!(*failure(&report.outcome).1, FailureClass::Cancelled);
    assert!(bench.path().join("cancelled").exists());
}
