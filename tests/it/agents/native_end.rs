//! The gate before `done` of the native agent: what counts as shown, and what an end says that is not.

use std::sync::Mutex;

use hob_agent::{
    NativeAgent,
    model::{Cassette, FallbackChain, Message, ModelClient, ModelError, ModelReply, ModelRequest},
};
use hob_config::{AgentSettings, PriceSettings};
use hob_domain::Strain::{self, Hard, Usual};
use hob_process::Program;
use serde_json::{Value, json};

use super::{
    native::{call, native, run},
    *,
};

/// A run in a folder with a commit, a task and `checks`.
async fn gated(checks: &[&str], replies: Value) -> Outcome {
    strained(checks, replies, AgentSettings::default()).await.0
}

/// A cassette that notes how hard each request calls the work.
struct Noting {
    cassette: Cassette,
    strains: Mutex<Vec<Strain>>,
    /// The last message of each request after the first.
    heard: Mutex<Vec<String>>,
}

impl Noting {
    fn new(replies: Value) -> Arc<Self> {
        let cassette = Cassette::parse(&json!({ "cassette": 1, "replies": replies }).to_string()).unwrap();
        Arc::new(Self { cassette, strains: Mutex::default(), heard: Mutex::default() })
    }
}

#[async_trait::async_trait]
impl ModelClient for Noting {
    async fn complete(&self, request: &ModelRequest<'_>) -> Result<ModelReply, ModelError> {
        self.strains.lock().unwrap().push(request.strain);
        if let Some(Message::Results { results }) = request.messages.last().map(|last| &**last) {
            self.heard.lock().unwrap().push(results.iter().map(|result| result.text.as_str()).collect());
        }
        self.cassette.complete(request).await
    }
}

/// The same, with how hard each request called the work.
async fn strained(checks: &[&str], replies: Value, settings: AgentSettings) -> (Outcome, Vec<Strain>) {
    let mut bench = bench().await;
    bench.request.checks = checks.iter().map(|check| (*check).to_owned()).collect();
    let noting = Noting::new(replies);
    let chain = FallbackChain::one("cassette", noting.clone(), PriceSettings::default());
    let outcome = run(&bench, NativeAgent::new(chain, settings)).await.outcome;
    let strains = noting.strains.lock().unwrap().clone();
    (outcome, strains)
}

/// A folder with a commit, and a task.
async fn bench() -> Bench {
    let mut bench = Bench::new(&[("a.txt", "one\n"), ("test.sh", "grep -q two a.txt\n"), ("sub/test.sh", "exit 0\n")]);
    (bench.request.title, bench.request.body) = ("Say two".into(), "The file says two.".into());
    let git =
        "git init -q . && git config user.name a && git config user.email a@b && git add -A && git commit -qm one";
    let made = Program::of_hob("sh", &bench.context.environment).args(["-c", git]).dir(bench.path());
    assert!(made.run(&CancellationToken::new()).await.unwrap().exit.is_success());
    bench
}

fn edit() -> Value {
    json!({ "calls": [
        { "name": "edit", "arguments": { "path": "a.txt", "old": "one", "new": "two" } },
        { "name": "write", "arguments": { "path": "new.txt", "text": "x" } },
    ] })
}

fn done(told: &[&str]) -> Value {
    json!({ "expect": told, "calls": [{ "name": "done", "arguments": { "summary": "ok" } }] })
}

fn shell(command: &str) -> Value {
    call("shell", json!({ "command": command }))
}

const CHECK: &[&str] = &["sh test.sh"];

fn unverified(what: &str) -> Outcome {
    Outcome::done(format!("ok\n\nnot verified: {what}"))
}

#[tokio::test]
async fn the_first_done_is_answered_with_the_task_the_change_and_the_checks_that_did_not_run() {
    let told: &[&str] = &[
        "[Hob] Not ended yet",
        "Say two\nThe file says two.",
        "-one\n+two",
        "1 new file: new.txt",
        "`sh test.sh` did not run after the last change",
    ];
    let replies = json!([edit(), done(&[]), done(told)]);
    assert_eq!(gated(CHECK, replies).await, unverified("`sh test.sh` did not run after the last change"));
    // It is run then, and the end is a plain one.
    let replies = json!([edit(), done(&[]), shell("sh test.sh"), done(&[])]);
    assert_eq!(gated(CHECK, replies).await, Outcome::done("ok"));
    // If no file changed, there is nothing to look at.
    assert_eq!(gated(CHECK, json!([shell("ls"), done(&[])])).await, Outcome::done("ok"));
}

#[tokio::test]
async fn a_model_that_saw_all_of_it_reads_the_task_once_more_and_ends() {
    let reread: &[&str] = &["All of it was seen and passed.", "Say two\nThe file says two."];
    for commands in [
        &["git diff; sh test.sh"][..],
        &["sh test.sh", "git diff HEAD"],
        &["git --no-pager diff --color=always", "timeout 60 sh test.sh 2>&1"],
        &["git add a.txt && git commit -qm two && git show", "sh test.sh"],
        &["sh test.sh && git diff", "echo cache > new.log && rm new.log"],
    ] {
        let mut replies = vec![edit()];
        replies.extend(commands.iter().map(|command| shell(command)));
        replies.push(done(reread));
        assert_eq!(gated(CHECK, replies.into()).await, Outcome::done("ok"), "{commands:?}");
    }
    // What checks leave behind undoes nothing.
    let leaves = ["sh test.sh", "date +%N > left"];
    let replies = json!([edit(), shell("git diff"), shell("sh test.sh"), shell("date +%N > left"), done(reread)]);
    assert_eq!(gated(&leaves, replies).await, Outcome::done("ok"));
}

#[tokio::test]
async fn only_results_in_the_present_state_count() {
    let did_not_run = "`sh test.sh` did not run after the last change";
    let hidden = "`sh test.sh` is not known to have passed: the exit code was not its own, at the top of the folder";
    for (commands, missing) in [
        (&["git diff; sh test.sh", "sed -i s/two/three/ a.txt"][..], did_not_run),
        (&["git diff", "echo 'sh test.sh … git diff'"], did_not_run),
        (&["git diff", "sh test.sh | tail"], hidden),
        (&["git diff", "sh test.sh || true"], hidden),
        (&["git diff", "cd sub && sh test.sh"], hidden),
        (&["git diff", "sed -i s/two/three/ a.txt; sh test.sh"], "`sh test.sh` failed after the last change"),
    ] {
        let mut replies = vec![edit()];
        replies.extend(commands.iter().map(|command| shell(command)));
        replies.extend([done(&[]), done(&["Not ended yet", missing])]);
        assert_eq!(gated(CHECK, replies.into()).await, unverified(missing), "{commands:?}");
    }
    // A summary of the diff is not the diff.
    for part in ["git diff --stat", "git diff -- sub", "git diff | head -n 3"] {
        let replies =
            json!([edit(), shell("sh test.sh"), shell(part), done(&[]), done(&["Not ended yet", "-one\n+two"])]);
        assert_eq!(gated(CHECK, replies).await, Outcome::done("ok"), "{part}");
    }
}

#[tokio::test]
async fn without_checks_something_has_to_run_and_pass() {
    let nothing = "no test, and nothing that shows the new behaviour, is known to have passed after the last change";
    let replies = |command: &str| json!([edit(), shell(command), done(&[]), done(&["Not ended yet"])]);
    assert_eq!(gated(&[], replies("sed -i s/x/y/ new.txt; echo tests pass; cat a.txt")).await, unverified(nothing));
    assert_eq!(gated(&[], replies("sh test.sh | tail")).await, unverified(nothing));
    assert_eq!(gated(&[], replies("sh test.sh")).await, Outcome::done("ok"));
    let failed = replies("grep -q two a.txt; sh test.sh three; sh -c 'exit 3'");
    assert_eq!(
        gated(&[], failed).await,
        unverified("`grep -q two a.txt; sh test.sh three; sh -c 'exit 3'` failed after the last change")
    );
    // Texts for people are not run.
    let prose =
        json!([call("write", json!({ "path": "docs/a.md", "text": "x" })), done(&[]), done(&["Not ended yet"])]);
    assert_eq!(gated(&[], prose).await, Outcome::done("ok"));
}

#[tokio::test]
async fn a_check_that_failed_on_a_change_makes_the_rest_of_the_run_hard() {
    let failed = "sh test.sh; false";
    for (checks, commands, last_look, strains) in [
        // Before the change it may fail.
        (&["sh test.sh; false"][..], [failed, "ls"], true, [Usual, Usual, Usual, Usual]),
        (&["sh test.sh; false"], ["ls", failed], true, [Usual, Usual, Usual, Hard]),
        (&["sh test.sh; false"], ["ls", failed], false, [Usual, Usual, Usual, Hard]),
        (&[], ["ls", "sh test.sh three; sh -c 'exit 3'"], true, [Usual, Usual, Usual, Hard]),
        (&[], ["ls", "grep -q three a.txt"], true, [Usual, Usual, Usual, Usual]),
    ] {
        let replies = json!([shell(commands[0]), edit(), shell(commands[1]), call("ask", json!({ "question": "?" }))]);
        let settings = AgentSettings { last_look, ..AgentSettings::default() };
        assert_eq!(strained(checks, replies, settings).await.1, strains, "{checks:?} {commands:?} {last_look}");
    }
    // A command that changed the folder itself counts, too, and what passes later changes nothing.
    let replies = json!([
        shell("echo three > a.txt"),
        shell("sh test.sh"),
        shell("echo two > a.txt"),
        shell("sh test.sh"),
        call("ask", json!({ "question": "?" }))
    ]);
    let strains = strained(CHECK, replies, AgentSettings::default()).await.1;
    assert_eq!(strains, [Usual, Usual, Hard, Hard, Hard]);
}

#[tokio::test]
async fn a_failing_test_and_done_in_one_reply_are_not_the_end() {
    let bench = Bench::new(&[("a", "x")]);
    let replies = json!([
        { "calls": [
            { "name": "shell", "arguments": { "command": "sh -c 'exit 1'" } },
            { "name": "done", "arguments": { "summary": "early" } },
        ] },
        done(&["not ended: an earlier call of the same reply failed"]),
    ]);
    assert_eq!(run(&bench, native(replies)).await.outcome, Outcome::done("ok"));
}

#[tokio::test]
async fn an_end_before_other_calls_of_its_reply_is_none_and_they_run() {
    for (end, arguments) in [("done", json!({ "summary": "I did it." })), ("ask", json!({ "question": "Which?" }))] {
        let calls = [(end, arguments), ("shell", json!({ "command": "echo later" }))];
        let calls = calls.map(|(name, arguments)| json!({ "name": name, "arguments": arguments }));
        let told = ["not ended: another call of the same reply comes after it", "later"];
        let outcome = gated(&[], json!([{ "calls": calls }, done(&told)])).await;
        assert!(matches!(outcome, Outcome::Done { .. }), "{outcome:?}");
    }
}

/// A run with the check `sh test.sh`, which took a second on the base; the model's requests after the first, each as text.
async fn quickly_checked(replies: Value, settings: AgentSettings) -> (Outcome, Vec<String>) {
    let mut bench = bench().await;
    bench.request.checks = vec!["sh test.sh".to_owned()];
    bench.request.checks_took = [("sh test.sh".to_owned(), Duration::from_secs(1))].into();
    let noting = Noting::new(replies);
    let chain = FallbackChain::one("cassette", noting.clone(), PriceSettings::default());
    let outcome = run(&bench, NativeAgent::new(chain, settings)).await.outcome;
    let heard = noting.heard.lock().unwrap().clone();
    (outcome, heard)
}

/// The check counts its runs in a file that git sees, and that is not in the commit.
#[tokio::test]
async fn the_fast_check_runs_once_after_commands_that_change_files_of_the_commit() {
    let runs = || shell("wc -l < runs.log");
    let counted = "printf 'echo >> runs.log\ngrep -q two a.txt\n' > test.sh";
    let independent = json!({ "command": "echo two > a.txt", "independent": true });
    let replies = json!([
        shell(counted),
        runs(),
        shell("mkdir -p new; touch new/file; echo more > new.md"),
        runs(),
        shell("echo three > a.txt"),
        runs(),
        shell("sed -i s/three/four/ a.txt; sh test.sh"),
        runs(),
        shell("git commit -qam four"),
        runs(),
        call("shell", independent),
        runs(),
        call("ask", json!({ "question": "?" }))
    ]);
    let (_, heard) = quickly_checked(replies, AgentSettings::default()).await;
    let told: Vec<_> = heard.iter().map(|text| text.contains("[Hob ran `sh test.sh`")).collect();
    let number = |text: &String| text.lines().find_map(|line| line.trim().parse::<u32>().ok());
    let counts: Vec<_> = heard.iter().skip(1).step_by(2).filter_map(number).collect();
    assert_eq!(counts, [1, 1, 2, 3, 3, 4], "{heard:#?}");
    let told_at: Vec<_> = (0..told.len()).filter(|reply| told[*reply]).collect();
    assert_eq!(told_at, [0, 4], "{heard:#?}");
}

#[tokio::test]
async fn the_fast_check_runs_after_edits_and_only_its_failures_are_told() {
    let edit_to = |text: &str| call("write", json!({ "path": "a.txt", "text": text }));
    let ask = || call("ask", json!({ "question": "?" }));
    let replies = || {
        json!([
            shell("ls"),
            edit_to("three\n"),
            edit_to("four\n"),
            edit_to("two\n"),
            call("write", json!({ "path": "a.md", "text": "x" })),
            ask()
        ])
    };
    let (_, heard) = quickly_checked(replies(), AgentSettings::default()).await;
    let told: Vec<_> = heard.iter().map(|text| text.contains("[Hob ran `sh test.sh`")).collect();
    assert_eq!(told, [false, true, true, false, false], "{heard:?}");
    assert!(heard[1].contains("which passed before the work, and it fails now]\n[exit code 1]"), "{}", heard[1]);
    assert!(heard[2].contains("[Hob ran `sh test.sh`: it fails as before]"), "{}", heard[2]);
    // Where it may not run it does not.
    for settings in [
        AgentSettings { quick_check: Duration::ZERO, ..AgentSettings::default() },
        AgentSettings { approve: hob_config::Impact::Low, ..AgentSettings::default() },
    ] {
        let (_, heard) = quickly_checked(replies(), settings).await;
        assert!(!heard.iter().any(|text| text.contains("[Hob ran")), "{heard:?}");
    }
    // One that hangs is ended, and not run again.
    let replies = json!([call("write", json!({ "path": "test.sh", "text": "sleep 1000" })), edit_to("four\n"), ask()]);
    let settings = AgentSettings { shell_time: Duration::from_millis(300), ..AgentSettings::default() };
    let (_, heard) = quickly_checked(replies, settings).await;
    assert!(heard[0].contains("the command was ended after 0 s") && !heard[1].contains("[Hob ran"), "{heard:?}");
    // What it shows counts for the gate.
    let replies = json!([edit_to("two\n"), shell("git diff"), call("done", json!({ "summary": "ok" }))]);
    let (outcome, heard) = quickly_checked(replies, AgentSettings::default()).await;
    assert_eq!(outcome, Outcome::done("ok"));
    assert!(heard[1].contains("All of it was seen and passed."), "{heard:?}");
}
