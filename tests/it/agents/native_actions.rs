//! The native agent's permitted actions and its replies: rules, approval, speech, programs, ends of a run.

use hob_agent::{Proposal, Verdict};
use hob_config::{AgentSettings, Impact, Speech};
use hob_domain::HandOffTarget;
use serde_json::{Value, json};

use super::{
    native::{call, native, native_with, run},
    *,
};

fn done() -> Value {
    call("done", json!({ "summary": "ok" }))
}

fn is_done(report: &RunReport) {
    assert_eq!(report.outcome, Outcome::done("ok"));
}

#[tokio::test]
async fn a_command_goes_on_where_the_one_before_ended() {
    let bench = Bench::new(&[("sub/a", "x\n")]);
    let shell = |command: &str| call("shell", json!({ "command": command }));
    let replies = json!([
        shell("cd sub && export GREETING=hello"),
        { "expect": ["[exit code 0, now in sub]"], "calls": [{ "name": "shell", "arguments": { "command": "cat a; echo $GREETING; exit 3" } }] },
        { "expect": ["[exit code 3; it ended the shell: a new shell continues in the same folder", "x\nhello\n"],
          "calls": [{ "name": "shell", "arguments": { "command": "echo \"[$GREETING]\"; cat a" } }] },
        { "expect": ["[exit code 0]\n[]\nx\n"], "calls": done()["calls"] },
    ]);
    is_done(&run(&bench, native(replies)).await);
}

#[tokio::test]
async fn a_model_may_speak_as_it_was_trained() {
    let bench = Bench::new(&[("sub/a", "one\n"), ("sub/b.py", "x\n"), ("top", "top\n")]);
    let one = |name: &str, arguments: Value| json!([{ "name": name, "arguments": arguments }]);
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-one\n+two\n*** End Patch";
    let words =
        "I look at it.\n<tool_call>\n{\"name\": \"Read\", \"arguments\": {\"file_path\": \"sub/a\"}}\n</tool_call>";
    let replies = json!([
        { "calls": one("shell", json!({ "command": ["bash", "-lc", "cat a"], "workdir": "sub", "timeout_ms": 60_000 })) },
        { "expect": ["[exit code 0]\none\n"], "calls": one("Bash", json!({ "command": "cat top; cd sub", "description": "x" })) },
        { "expect": ["[exit code 0, now in sub]\ntop\n"], "calls": one("shell", json!({ "command": format!("apply_patch <<'EOF'\n{patch}\nEOF") })) },
        { "expect": ["changed sub/a"], "calls": one("exec_command", json!({ "cmd": "cat top", "workdir": "." })) },
        { "expect": ["[exit code 0]\ntop\n"], "calls": one("run_shell_command", json!({ "command": "ls", "dir_path": "/etc" })) },
        { "expect": ["`/etc` is outside the folder"], "calls": one("Grep", json!({ "pattern": "X", "glob": "*.py", "-i": true })) },
        { "expect": ["sub/b.py:1: x"], "text": words },
        { "expect": ["two\n"], "calls": one("finish", json!({ "message": "ok" })) },
    ]);
    is_done(&run(&bench, native(replies)).await);
    assert_eq!(bench.read("sub/a"), "two\n");
}

/// A rule holds for each name that a model calls a tool by.
#[tokio::test]
async fn what_is_denied_is_denied_under_each_name() {
    let bench = Bench::new(&[("a", "one\n")]);
    let settings = AgentSettings { denied: vec!["write".to_owned(), "shell".to_owned()], ..AgentSettings::default() };
    let replies = json!([
        { "calls": [
            { "name": "Write", "arguments": { "file_path": "a", "content": "two" } },
            { "name": "functions.write_file", "arguments": { "file_path": "a", "content": "two" } },
            { "name": "Bash", "arguments": { "command": "echo two > a" } } ] },
        { "expect": ["denied here by the rule `write`", "denied here by the rule `shell`"], "calls": done()["calls"] },
    ]);
    is_done(&run(&bench, native_with(replies, settings)).await);
    assert_eq!(bench.read("a"), "one\n");
}

#[tokio::test]
async fn a_plan_is_seen_by_people_and_told_where_the_run_stops_short() {
    let mut bench = Bench::new(&[]);
    let steps = json!([{ "step": "look", "state": "done" }, { "step": "mend", "state": "doing" }]);
    let replies = json!([
        call("plan", json!({ "steps": steps })),
        call("write", json!({ "path": "a", "text": "x" })),
        { "expect": ["[nearly all of the turns is used"], "calls": [{ "name": "read", "arguments": { "path": "a" } }] },
    ]);
    let settings = AgentSettings { max_iterations: Some(3), soft_limit: 60, ..AgentSettings::default() };
    let report = run(&bench, native_with(replies, settings)).await;
    let said = bench.said();
    assert!(said.contains(&"turn 1/3: plan 1 of 2 done, now: mend [low]".to_owned()), "{said:?}");
    assert!(said.last().unwrap().starts_with("ended after 3 turns, 0 errors"), "{said:?}");
    let reason = failure(&report.outcome).0;
    assert!(reason.ends_with("Its plan stood at 1 of 2 done, now: mend. It had changed a"), "{reason}");
}

#[tokio::test]
async fn a_hand_off_is_a_question_with_the_state_of_the_work() {
    let bench = Bench::new(&[]);
    let arguments = json!({ "needed": "the key", "done": "the client", "left": "the test" });
    let report = run(&bench, native(json!([call("hand_off", arguments)]))).await;
    let question = "the key\n\nDone so far: the client\n\nLeft: the test".to_owned();
    assert_eq!(report.outcome, Outcome::Question { question });
}

/// Rows M3, M10: if there are profiles, `hand_off` is to one of them, and a refused one can be corrected.
#[tokio::test]
async fn a_hand_off_to_a_profile_is_typed_and_checked() {
    let mut bench = Bench::new(&[]);
    let target = |name: &str| HandOffTarget { name: name.parse().unwrap(), description: format!("Knows {name}") };
    bench.request.hand_off_to = vec![target("cloud"), target("security")];
    let give = |to: &str, left: &str| json!({ "to": to, "reason": "It is theirs.", "done": "the zone", "left": left });
    let hand_off = |arguments: Value| json!([{ "name": "hand_off", "arguments": arguments }]);
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let replies = json!([
        { "calls": hand_off(give("sales", "all")) },
        { "expect": ["a hand-off to `sales` is not allowed here: only to `cloud`, `security`"], "calls": hand_off(give("cloud", &token)) },
        { "expect": ["holds a GitHub token"], "calls": hand_off(give("cloud", "the load balancer")) },
    ]);
    let outcome = run(&bench, native(replies)).await.outcome;
    let Outcome::HandOff(given) = outcome else { panic!("{outcome:?}") };
    assert_eq!((given.to.as_str(), given.left.as_str()), ("cloud", "the load balancer"));
}

/// Requirement P5.
#[tokio::test]
async fn a_denied_command_is_refused_and_the_run_goes_on() {
    let bench = Bench::new(&[("d/a", "x")]);
    let shell = |command: &str| json!({ "name": "shell", "arguments": { "command": command } });
    let replies = json!([
        { "calls": [shell("ls; sh -c 'rm -rf ../d'"), shell("git -C . push"), shell("echo fine")] },
        { "expect": ["rule `shell(rm -r)`", "rule `shell(git push)`", "fine"], "calls": done()["calls"] },
    ]);
    is_done(&run(&bench, native(replies)).await);
    assert_eq!(bench.read("d/a"), "x");
}

/// Requirement P6.
#[tokio::test]
async fn an_action_with_more_impact_than_runs_by_itself_waits_for_a_word() {
    let mut bench = Bench::new(&[]);
    let (sender, mut proposals) = mpsc::channel::<Proposal>(1);
    let person = tokio::spawn(async move {
        let mut seen = Vec::new();
        while let Some(proposal) = proposals.recv().await {
            seen.push((proposal.action.line.clone(), proposal.action.impact));
            let approve = proposal.action.impact == Impact::Medium;
            let verdict = if approve { Verdict::Approved } else { Verdict::Refused("not that".into()) };
            proposal.answer.send(verdict).unwrap();
        }
        seen
    });
    let replies = json!([
        { "calls": [{ "name": "write", "arguments": { "path": "a", "text": "x" } }, { "name": "list", "arguments": {} }] },
        call("shell", json!({ "command": "rm a" })),
        { "expect": ["its impact is high, and it was refused: not that"], "calls": done()["calls"] },
    ]);
    let settings = AgentSettings { approve: Impact::Low, ..AgentSettings::default() };
    bench.context.approval = Approval::Asked(sender);
    is_done(&run(&bench, native_with(replies.clone(), settings.clone())).await);
    bench.context.approval = Approval::Nobody;
    assert_eq!(bench.read("a"), "x");
    let seen = person.await.unwrap();
    assert_eq!(seen, [("write a".to_owned(), Impact::Medium), ("shell rm a".to_owned(), Impact::High)]);
    let nobody = json!([
        call("write", json!({ "path": "b", "text": "x" })),
        { "expect": ["nobody can be asked here"], "calls": done()["calls"] },
    ]);
    is_done(&run(&bench, native_with(nobody, settings)).await);
    assert!(!bench.path().join("b").exists());
}

#[tokio::test]
async fn an_approval_that_never_comes_ends_with_the_time_of_the_run() {
    let mut bench = Bench::new(&[]);
    bench.request.time = Duration::from_millis(200);
    let (sender, _proposals) = mpsc::channel::<Proposal>(1);
    let settings = AgentSettings { approve: Impact::Low, ..AgentSettings::default() };
    let replies = json!([call("write", json!({ "path": "a", "text": "x" }))]);
    bench.context.approval = Approval::Asked(sender);
    let report = run(&bench, native_with(replies, settings)).await;
    assert!(failure(&report.outcome).0.contains("ran out of time"), "{report:?}");
}

/// Requirement S3.
#[tokio::test]
async fn a_model_without_tool_calls_speaks_in_json() {
    let bench = Bench::new(&[("a", "x\n")]);
    let settings = AgentSettings { speech: Speech::Json, ..AgentSettings::default() };
    let replies = json!([
        { "expect": ["Reply with one JSON object", "- read {from?, path, to?}"],
          "text": r#"{"thinking": "look", "action": {"type": "call", "command": "cat a"}}"# },
        { "expect": ["Result of `shell`:\n[exit code 0]\nx\n"], "text": r#"{"action": {"type": "call", "comm"# },
        { "expect": ["Error: the reply is not one JSON object"],
          "text": "```json\n{\"action\": {\"type\": \"call\", \"tool\": \"write\", \"arguments\": {\"path\": \"b\", \"text\": \"1\n2\n\"},}}\n```" },
        { "expect": ["Result of `write`"], "text": r#"{"action": {"type": "done", "status": "success", "result": "ok"}}"# },
    ]);
    is_done(&run(&bench, native_with(replies, settings.clone())).await);
    assert_eq!(bench.read("b"), "1\n2\n");
    let broken = json!(vec![json!({ "text": r#"{"action": {"type": "call", "#}); 5]);
    let report = run(&bench, native_with(broken, settings.clone())).await;
    assert!(failure(&report.outcome).0.contains("5 replies in a row failed"), "{report:?}");
    let failed = json!([{ "text": r#"{"action": {"type": "done", "status": "failed", "result": "no disk"}}"# }]);
    let report = run(&bench, native_with(failed, settings)).await;
    assert_eq!(failure(&report.outcome).0, "the agent gave up: no disk");
}

/// A registry whose model replies from `replies`.
fn with_cassette(bench: &Bench, replies: Value, settings: &str) -> Registry {
    let file = bench.path().join(".cassette.json");
    fs::write(&file, json!({ "cassette": 1, "replies": replies }).to_string()).unwrap();
    registry(&format!("{settings}\n[model]\ndefault = 'cassette/{}'", file.display()))
}

/// Requirement S6.
#[tokio::test]
async fn the_ready_agent_for_files_looks_and_changes_nothing() {
    let bench = Bench::new(&[("src/a.rs", "fn main() {}\n")]);
    let replies = json!([
        { "calls": [{ "name": "ls", "arguments": { "arguments": "src" } },
                    { "name": "grep", "arguments": { "arguments": "-rn 'fn main' src" } }] },
        { "expect": ["a.rs", "src/a.rs:1:fn main() {}"], "calls": [
            { "name": "find", "arguments": { "arguments": ". -name '*.rs' -delete" } },
            { "name": "cat", "arguments": { "arguments": "src/a.rs; rm src/a.rs" } },
            { "name": "cat", "arguments": { "arguments": "src/a.rs" } } ] },
        { "expect": ["rule `shell(find -delete)`", "it is run without a shell", "fn main() {}"],
          "calls": [{ "name": "shell", "arguments": { "command": "ls" } }, { "name": "head", "arguments": { "arguments": "-n 1 src/a.rs" } }] },
        { "expect": ["there is no tool `shell`: use ls, cat, head, grep, find, plan"], "calls": done()["calls"] },
    ]);
    let registry = with_cassette(&bench, replies, "");
    is_done(&bench.run(&registry.get("file").unwrap()).await);
    assert_eq!(bench.read("src/a.rs"), "fn main() {}\n");
}

/// Requirement S5.
#[tokio::test]
async fn an_agent_can_be_limited_to_programs_of_its_settings() {
    let bench = Bench::new(&[("a", "one\ntwo\n")]);
    let settings =
        "[tools.count]\ncommand = ['wc', '-l']\nimpact = 'low'\n[agents.counter]\ntools = ['count']\napprove = 'low'";
    let replies = json!([
        call("count", json!({ "arguments": "a" })),
        { "expect": ["2 a"], "calls": [{ "name": "read", "arguments": { "path": "a" } }] },
        { "expect": ["no tool `read`: use count, plan"], "calls": done()["calls"] },
    ]);
    let registry = with_cassette(&bench, replies, settings);
    is_done(&bench.run(&registry.get("counter").unwrap()).await);
    let unknown = with_cassette(&bench, json!([]), "[agents.x]\ntools = ['cuont']").get("x").unwrap();
    let error = unknown.run(&bench.request, &bench.context).await.unwrap_err().to_string();
    assert!(error.contains("no tool `cuont`"), "{error}");
    let pattern = with_cassette(&bench, json!([]), "[agents.x]\ndenied = ['shell(']").get("x").unwrap();
    let error = pattern.run(&bench.request, &bench.context).await.unwrap_err().to_string();
    assert!(error.contains("`shell(` is not a pattern"), "{error}");
}

fn fifo(path: &Path) {
    let mode = rustix::fs::Mode::from_raw_mode(0o644);
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

/// Requirement S8. Each of two commands waits for the other: run one after the other, the first would never end.
#[tokio::test]
async fn commands_that_are_independent_run_at_the_same_time_and_answer_in_their_order() {
    let bench = Bench::new(&[]);
    for name in ["one", "two"] {
        fifo(&bench.path().join(name));
    }
    let call = |command: &str| json!({ "name": "shell", "arguments": { "command": command, "independent": true } });
    let replies = json!([
        { "calls": [{ "name": "shell", "arguments": { "command": "export X=kept; mkdir -p d" } }] },
        { "calls": [call("cat one; echo first $X; echo > two; cd d"), call("echo > one; cat two; echo second $X > made; cat made")] },
        { "expect": ["first kept", "second kept"], "calls": [{ "name": "shell", "arguments": { "command": "cat made; pwd" } }] },
        { "expect": ["[exit code 0]\nsecond kept"], "calls": done()["calls"] },
    ]);
    let report = run(&bench, native(replies)).await;
    is_done(&report);
}

/// Requirement S8: so do commands that only look, without a word of the model.
#[tokio::test]
async fn commands_that_only_look_run_at_the_same_time() {
    let bench = Bench::new(&[]);
    fifo(&bench.path().join("one"));
    let call = |command: &str| json!({ "name": "shell", "arguments": { "command": command } });
    let replies = json!([
        { "calls": [call("cat one"), call("ls"), { "name": "give", "arguments": { "arguments": "" } }] },
        { "expect": ["given", "one"], "calls": done()["calls"] },
    ]);
    let settings = "[tools.give]\ncommand = ['sh', '-c', 'echo given > one']\nimpact = 'low'\n[agents.both]\ntools = ['shell', 'give']";
    is_done(&bench.run(&with_cassette(&bench, replies, settings).get("both").unwrap()).await);
}

/// Each of the two waits for the other: run one after the other, the first would never end.
#[tokio::test]
async fn calls_that_only_look_run_at_the_same_time() {
    let bench = Bench::new(&[]);
    fifo(&bench.path().join("pipe"));
    let settings = "[tools.give]\ncommand = ['sh', '-c', 'echo given > pipe']\nimpact = 'low'\n[tools.take]\ncommand = ['cat', 'pipe']\nimpact = 'low'\n\
                    [agents.both]\ntools = ['give', 'take']";
    let replies = json!([
        { "calls": [{ "name": "take", "arguments": { "arguments": "" } }, { "name": "give", "arguments": { "arguments": "" } }] },
        { "expect": ["given"], "calls": done()["calls"] },
    ]);
    is_done(&bench.run(&with_cassette(&bench, replies, settings).get("both").unwrap()).await);
}
