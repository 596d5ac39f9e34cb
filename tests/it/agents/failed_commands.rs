//! Failed commands: which ones count, and when they end a run.

use hob_config::{AgentSettings, FailedCommands};
use hob_domain::FailureClass;
use serde_json::{Value, json};

use super::{
    native::{call, native, native_with, run},
    *,
};

fn shell(command: &str) -> Value {
    call("shell", json!({ "command": command }))
}

fn done() -> Value {
    call("done", json!({ "summary": "ok" }))
}

fn limited(in_row: u32, total: u32) -> AgentSettings {
    AgentSettings {
        failed_commands: FailedCommands { in_row, total },
        shell_time: Duration::from_millis(300),
        ..AgentSettings::default()
    }
}

/// Requirement S2: after each command, a number of errors in a row or in all ends the run.
#[tokio::test]
async fn commands_that_fail_end_a_run_in_a_row_and_in_all() {
    let bench = Bench::new(&[]);
    // An exit code, a signal, and the end of its time.
    let in_row = json!([shell("ls none"), shell("kill -9 $$"), shell("echo begun; sleep 600")]);
    let report = run(&bench, native_with(in_row, limited(3, 5))).await;
    let (reason, class) = failure(&report.outcome);
    assert_eq!(
        reason,
        "3 commands in a row failed (`failed_commands.in_row`), the last: `shell echo begun; sleep 600` (ended after 0 s)"
    );
    assert_eq!(*class, FailureClass::Permanent);
    let replies = (1..=5).flat_map(|n| [shell(&format!("(exit {n})")), shell(&format!("echo {n}"))]);
    let report = run(&bench, native_with(replies.collect(), limited(3, 5))).await;
    assert_eq!(
        failure(&report.outcome).0,
        "5 commands of the run failed (`failed_commands.total`), the last: `shell (exit 5)` (exit code 5)"
    );
    // The third of one reply is the last that is run.
    let call = |n: u32| json!({ "name": "shell", "arguments": { "command": format!("echo {n} >> ran; (exit 1)") } });
    run(&bench, native_with(json!([{ "calls": [call(1), call(2), call(3), call(4)] }]), limited(3, 5))).await;
    assert_eq!(bench.read("ran"), "1\n2\n3\n");
}

/// Requirement S2: work on code, where red tests are ordinary, has no such limit by default; refused and background
/// commands do not count as failed.
#[tokio::test]
async fn red_tests_and_what_did_not_run_are_no_failed_commands() {
    let bench = Bench::new(&[]);
    let red = (1..=20).map(|n| shell(&format!("(exit {n})"))).chain([done()]);
    assert_eq!(run(&bench, native(red.collect())).await.outcome, Outcome::done("ok"));
    let background = call("shell", json!({ "command": "exit 1", "background": true }));
    let replies = json!([shell("git push"), background, call("read", json!({ "path": "none" })), done()]);
    assert_eq!(run(&bench, native_with(replies, limited(1, 1))).await.outcome, Outcome::done("ok"));
}

/// Requirements S2 and S6: three in a row, five in all, and the model is told how many.
#[tokio::test]
async fn the_ready_agents_end_after_three_commands_that_failed() {
    let bench = Bench::new(&[]);
    let failed = |n: u32, expect: Value| json!({ "expect": expect, "calls": [{ "name": "ls", "arguments": { "arguments": format!("none{n}") } }] });
    let told = json!(["failed commands: 2 of 3 in a row, 2 of 5"]);
    let replies = json!([failed(1, json!([])), failed(2, json!([])), failed(3, told), done()]);
    let file = bench.path().join(".cassette.json");
    fs::write(&file, json!({ "cassette": 1, "replies": replies }).to_string()).unwrap();
    let registry = registry(&format!("[model]\ndefault = 'cassette/{}'", file.display()));
    let report = bench.run(&registry.get("file").unwrap()).await;
    assert_eq!(
        failure(&report.outcome).0,
        "3 commands in a row failed (`failed_commands.in_row`), the last: `ls none3` (exit code 2)"
    );
}
