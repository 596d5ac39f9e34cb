//! Investigations by other agents' command lines: over MCP, or by the last line that they print.

use hob_bench::Script;
use hob_config::{AdapterName, AgentSettings, BackendKind};
use hob_domain::investigation::{CaseStatus, EvidenceKind};
use serde_json::{Value, json};

use super::{
    adapters::{Installed, registry_of},
    investigation::{Desk, act, answer, concluded, deployment, judge, killed_in_the_middle, of, person, to},
    *,
};
use crate::harness::{needs, script};

/// The calls of the whole case; the run is killed while a person reads the one that goes back.
fn calls() -> Vec<Value> {
    let look = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
    vec![
        look("read_evidence", json!({ "id": "E2" })),
        to("normalize"),
        answer("Q1", &["E2"], "Signing."),
        answer("Q2", &["E2"], "1.4.2"),
        to("investigate"),
        to("conclude"),
        look("read", json!({ "path": "deploy/job.yml" })),
        answer("Q3", &["E2"], "The key has expired."),
        judge("H1", &["E3"], "disproved"),
        answer("Q4", &["E4"], "Nothing: the job is as it was."),
        judge("H2", &["E2", "E4"], "validated"),
        to("intake"),
        answer("Q5", &["E2"], "The platform team."),
        answer("Q6", &["E2"], "No."),
        to("conclude"),
        act("conclude", &["E2", "E4"], json!({ "conclusion": "The key DEPLOY_KEY_2024 has expired." })),
    ]
}

/// The program investigates, is killed in the middle, and goes on to the end; what is the same whatever the program.
async fn over_a_kill(desk: &mut Desk, agent: &Arc<dyn AgentBackend>) -> RunReport {
    let mut asked = person(&mut desk.bench);
    desk.bench.request.purpose = hob_domain::RunPurpose::Investigate;
    let shown = killed_in_the_middle(desk, agent.as_ref(), &mut asked).await;
    assert_eq!(of(&shown, "transition_state conclude").number, 6);
    assert!(of(&shown, "read deploy/job.yml").effect.starts_with("[evidence E4, "), "{shown:#?}");

    desk.bench.request.run = "run-2".into();
    let report = desk.run(agent.as_ref()).await;
    let summary = concluded(desk, &report);
    assert!(summary.contains("16 iterations"), "{summary}");
    // It began again within the same limit.
    assert_eq!(desk.iterations().last().unwrap().number, 16);
    report
}

/// A command line that is installed, with a model that plays `calls`.
async fn real(name: AdapterName) {
    let calls = calls();
    let script = calls.iter().map(|call| {
        let tool: &'static str = call["name"].as_str().unwrap().to_owned().leak();
        (tool, call["arguments"].clone())
    });
    let Some(installed) = Installed::new(name, Script::of_calls(script)).await else { return };
    let mut desk = Desk::new(deployment());
    desk.bench.context.environment = hob_config::child_environment();
    desk.bench.request.time = Duration::from_secs(120);
    let report = over_a_kill(&mut desk, &installed.agent).await;
    assert!(report.spend.tokens() > 0, "{report:?}");
}

/// Requirement P3.
#[tokio::test]
async fn claude_investigates_over_a_kill_to_its_report() {
    real(AdapterName::Claude).await;
}

/// Requirement P3.
#[tokio::test]
async fn codex_investigates_over_a_kill_to_its_report() {
    real(AdapterName::Codex).await;
}

/// Requirement P3.
#[tokio::test]
async fn copilot_investigates_over_a_kill_to_its_report() {
    real(AdapterName::Copilot).await;
}

/// Requirement P3.
#[tokio::test]
async fn gemini_investigates_over_a_kill_to_its_report() {
    real(AdapterName::Gemini).await;
}

/// Requirement P3.
#[tokio::test]
async fn opencode_investigates_over_a_kill_to_its_report() {
    real(AdapterName::Opencode).await;
}

/// A stand-in for Copilot's command line that plays `calls`, and the folder that it is in.
fn stand_in(calls: &[Value], settings: AgentSettings) -> (Arc<dyn AgentBackend>, tempfile::TempDir) {
    let place = tempfile::tempdir().unwrap();
    let program = place.path().join("copilot");
    script(&program, &format!("exec python3 {}/client.py \"$@\"", place.path().display()));
    fs::write(place.path().join("client.py"), include_str!("mcp_client.py")).unwrap();
    let calls: Vec<Value> = calls
        .iter()
        .map(|call| if call.is_string() { call.clone() } else { json!([call["name"], call["arguments"]]) })
        .collect();
    fs::write(place.path().join("calls.json"), json!(calls).to_string()).unwrap();
    let agents = registry_of((AdapterName::Copilot, &program), place.path(), settings);
    (agents.get("copilot").unwrap(), place)
}

fn left(place: &tempfile::TempDir, name: &str) -> Vec<String> {
    let text = fs::read_to_string(place.path().join(name)).unwrap_or_default();
    text.split("\n=====\n").filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Requirements P3, P1 and P6, by the interface that GitHub documents.
#[tokio::test]
async fn a_program_that_speaks_mcp_investigates_over_a_kill_to_its_report() {
    needs!("python3");
    let (agent, place) = stand_in(&calls(), AgentSettings::default());
    let mut desk = Desk::new(deployment());
    over_a_kill(&mut desk, &agent).await;
    let told = left(&place, "told");
    assert_eq!(told.len(), 2);
    for part in
        ["You are an investigator of Hob", "the MCP server `hob`", "Q6, required: Is production affected? [open]"]
    {
        assert!(told[0].contains(part), "{part}\n{}", told[0]);
    }
    for part in ["Q4, required: What changed before? [high] Nothing", "E4: output read deploy/job.yml", "H2, validated"]
    {
        assert!(told[1].contains(part), "{part}\n{}", told[1]);
    }
    let heard = left(&place, "heard");
    assert!(heard[0].contains("2: sign: key DEPLOY_KEY_2024 expired\n"), "{heard:#?}");
    assert!(heard[5].starts_with("failed: refused: the gate of `conclude` does not hold"), "{heard:#?}");
    assert!(heard[6].starts_with("[evidence E4, 39 bytes]\nimage: shop:1.4.2"), "{heard:#?}");
    assert!(
        heard[6].ends_with("[turn 7 of 50]\n[case: investigate: 2 of 6 questions answered, 0 of 3 hypotheses tested]")
    );
    assert!(heard.last().unwrap().contains("The run has ended"), "{heard:#?}");
}

/// Requirement P6: what needs a word where nobody is there ends the run and the program, and so does a question; nothing more runs.
#[tokio::test]
async fn what_a_person_has_to_say_ends_the_program() {
    needs!("python3");
    let asks = act("request_evidence", &[], json!({ "request": "Who renews the key?" }));
    let late = answer("Q1", &["E2"], "Signing.");
    let write = json!({ "name": "write", "arguments": { "path": "a", "text": "b" } });
    let (agent, place) =
        stand_in(&[write, to("normalize"), late.clone(), asks, late.clone(), late], AgentSettings::default());
    let mut desk = Desk::new(deployment());
    desk.bench.request.purpose = hob_domain::RunPurpose::Investigate;
    let report = desk.run(agent.as_ref()).await;
    let Outcome::ApprovalNeeded { proposed } = report.outcome else { panic!("{report:?}") };
    assert_eq!(proposed.line, "transition_state normalize");
    assert!(left(&place, "heard")[0].starts_with("failed: there is no tool `write`"));
    assert_eq!((desk.record().state.as_str(), desk.record().answered()), ("intake", 0));

    // The call that was made behind the end counts for nothing, and the program was ended for it.
    fs::write(place.path().join("next"), "3").unwrap();
    desk.bench.request.run = "run-2".into();
    let report = desk.run(agent.as_ref()).await;
    assert_eq!(report.outcome, Outcome::Question { question: "Who renews the key?".to_owned() });
    assert_eq!((desk.record().status(), desk.record().answered()), (CaseStatus::Waiting, 0));
    // As long as nobody answers, it is not run.
    let runs = left(&place, "told").len();
    desk.run(agent.as_ref()).await;
    assert_eq!(left(&place, "told").len(), runs);
    desk.brings(EvidenceKind::Comment, "ann", "The platform team.");
    desk.bench.request.run = "run-3".into();
    fs::write(place.path().join("next"), "9").unwrap();
    desk.run(agent.as_ref()).await;
    assert!(left(&place, "told").last().unwrap().contains("new evidence: E4"));
}

/// Requirement P4, and what a program says that stops before the end.
#[tokio::test]
async fn a_program_that_stops_early_is_run_again_and_a_limit_ends_it() {
    needs!("python3");
    let look = |path: &str| json!({ "name": "list", "arguments": { "path": path } });
    let ends = json!("ends");
    let settings = AgentSettings { max_iterations: Some(3), ..AgentSettings::default() };
    let calls = [look("."), ends.clone(), look("deploy"), look("."), look("deploy"), look(".")];
    let (agent, place) = stand_in(&calls, settings);
    let mut desk = Desk::new(deployment());
    desk.bench.request.purpose = hob_domain::RunPurpose::Investigate;
    let report = desk.run(agent.as_ref()).await;
    assert!(failure(&report.outcome).0.contains("not done after 3 turns"), "{report:?}");
    assert_eq!((left(&place, "told").len(), desk.record().metrics.iterations), (2, 3));

    // One that calls nothing has its words for a question.
    let (agent, _place) = stand_in(&[], AgentSettings::default());
    desk.bench.request.run = "run-2".into();
    let report = desk.run(agent.as_ref()).await;
    let question = "It ended without a result; its last words were: That is all.\n\nWhat should it do next?";
    assert_eq!(report.outcome, Outcome::Question { question: question.to_owned() });
}

/// Requirement P3, for a program that speaks no MCP: an action a run.
#[tokio::test]
async fn a_command_investigates_by_the_last_line_that_it_prints() {
    let place = tempfile::tempdir().unwrap();
    let program = place.path().join("agent");
    let runs = format!(
        "n=$(cat {0}/next 2>/dev/null || echo 1); echo $((n + 1)) > {0}/next; cat > {0}/told-$n; cat {0}/say-$n",
        place.path().display()
    );
    script(&program, &runs);
    let say = |call: &Value| json!({ "tool": call["name"], "arguments": call["arguments"] }).to_string();
    let calls = calls();
    let mut lines: Vec<String> = calls.iter().map(say).collect();
    // Words before it are passed over, and a line that is no action is answered with why.
    lines[0] = format!("I look at the log.\n{}", lines[0]);
    lines.insert(1, "I do not know.".to_owned());
    for (at, line) in lines.iter().enumerate() {
        fs::write(place.path().join(format!("say-{}", at + 1)), line).unwrap();
    }
    let settings = AgentSettings {
        backend: BackendKind::Command,
        command: vec![program.display().to_string()],
        ..AgentSettings::default()
    };
    let agents = [("mine".to_owned(), settings)].into();
    let agent = Registry::new(AgentParts { agents, ..AgentParts::default() }).unwrap().get("mine").unwrap();
    over_a_kill(&mut Desk::new(deployment()), &agent).await;
    let told = |n: usize| fs::read_to_string(place.path().join(format!("told-{n}"))).unwrap();
    assert!(told(1).contains("- answer_question {") && told(1).contains("on one line"), "{}", told(1));
    assert!(told(2).contains("2: sign: key DEPLOY_KEY_2024 expired"), "{}", told(2));
    assert!(told(3).contains("Your last line was not an action."), "{}", told(3));
    assert_eq!(fs::read_to_string(place.path().join("next")).unwrap().trim(), "18");
}
