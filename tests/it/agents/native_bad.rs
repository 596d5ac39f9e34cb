//! Bad commands and bad files: each costs a bounded time and ends in a plain answer.

use hob_config::AgentSettings;
use serde_json::{Value, json};

use super::{
    native::{call, native, native_with, run},
    *,
};

fn shell(command: &str) -> Value {
    json!([{ "name": "shell", "arguments": { "command": command } }])
}

/// Runs `commands`, each followed by the expected answer to the model.
async fn commands(bench: &Bench, settings: AgentSettings, commands: &[(&str, &[&str])]) {
    let mut replies: Vec<Value> = Vec::new();
    let mut expected: &[&str] = &[];
    for (command, told) in commands {
        replies.push(json!({ "expect": expected, "calls": shell(command) }));
        expected = told;
    }
    replies.push(json!({ "expect": expected, "calls": [{ "name": "done", "arguments": { "summary": "ok" } }] }));
    let report = run(bench, native_with(replies.into(), settings)).await;
    assert_eq!(report.outcome, Outcome::done("ok"));
}

#[tokio::test]
async fn a_command_that_writes_much_is_cut_in_the_middle() {
    let bench = Bench::new(&[]);
    let flood = "echo begin; head -c 60000000 /dev/zero; echo end";
    commands(&bench, AgentSettings::default(), &[(flood, &["[exit code 0]\nbegin\n", "bytes cut …]", "end\n"])]).await;
}

#[tokio::test]
async fn a_flood_ends_the_command_alone() {
    let bench = Bench::new(&[]);
    let told: &[&str] = &["the command was ended: it wrote 64 MiB, more than it may"];
    commands(&bench, AgentSettings::default(), &[("yes", told), ("echo on", &["[exit code 0]\non\n"])]).await;
}

#[tokio::test]
async fn what_the_shell_cannot_read_is_not_run_and_harms_nothing() {
    let bench = Bench::new(&[]);
    let told: &[&str] = &["not run: the shell cannot read it: sh: "];
    let steps: [(&str, &[&str]); 4] =
        [("x=1", &[]), ("touch made; echo \"open", told), ("echo 'it", told), ("echo $x; ls", &["[exit code 0]\n1\n"])];
    commands(&bench, AgentSettings::default(), &steps).await;
    assert!(!bench.path().join("made").exists());
}

#[tokio::test]
async fn a_command_in_the_background_goes_on_and_can_be_looked_at() {
    let bench = Bench::new(&[]);
    let job = json!({ "command": "echo it\\'s begun; exec sleep 600", "background": true });
    let shell = |arguments: Value, told: &[&str]| json!({ "expect": told, "calls": [{ "name": "shell", "arguments": arguments }] });
    let replies = json!([
        shell(job, &[]),
        shell(json!({ "command": "until grep -q begun \"$_hob_log\"; do :; done; cat \"$_hob_log\"; jobs", "seconds": 900 }),
              &["runs as process ", "its output is in "]),
        shell(json!({ "command": "kill $! && echo ended" }),
              &["`seconds` is 300 at most here, not 900: use `background` for more", "it's begun", "Running"]),
        { "expect": ["ended"], "calls": [{ "name": "done", "arguments": { "summary": "ok" } }] },
    ]);
    assert_eq!(run(&bench, native(replies)).await.outcome, Outcome::done("ok"));
}

#[tokio::test]
async fn a_run_whose_commands_write_too_much_ends() {
    let bench = Bench::new(&[]);
    let settings = AgentSettings { max_output: 1_000_000, ..AgentSettings::default() };
    let replies = json!([{ "calls": shell("yes") }, { "calls": shell("echo on") }]);
    let report = run(&bench, native_with(replies, settings)).await;
    let reason = failure(&report.outcome).0;
    assert!(reason.contains("more than they may"), "{reason}");
}

#[tokio::test]
async fn a_command_that_never_ends_costs_its_deadline_only() {
    let bench = Bench::new(&[("sub/a", "")]);
    let settings = AgentSettings { shell_time: Duration::from_millis(300), ..AgentSettings::default() };
    let ended: &[&str] = &["the command was ended after 0 s; the shell goes on with its variables and jobs"];
    let replaced: &[&str] = &["the command was ended after 0 s; a new shell continues in the same folder"];
    let list: &[&str] = &["[exit code 0]\na 1\n"];
    let (enters, busy) = ("cd sub; x=1", "while :; do :; done");
    let steps: [(&str, &[&str]); 5] =
        [(enters, &[]), ("cat <(sleep 600)", ended), ("echo $(ls) $x", list), (busy, replaced), ("ls", &["a\n"])];
    commands(&bench, settings, &steps).await;
}

#[tokio::test]
async fn what_a_command_leaves_running_ends_with_the_run() {
    let bench = Bench::new(&[]);
    let daemons = "sleep 600 & echo $! > pid; (sleep 600 &) ; nohup sleep 600 >/dev/null 2>&1 &";
    commands(&bench, AgentSettings::default(), &[(daemons, &["[exit code 0]"])]).await;
    let process = format!("/proc/{}/stat", bench.read("pid").trim());
    // A dead process that is not reaped stays in the list as a zombie.
    let is_gone = || fs::read_to_string(&process).map_or(true, |stat| stat.contains(") Z "));
    while !is_gone() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_command_that_reads_or_kills_its_parent_ends_and_the_next_one_runs() {
    let bench = Bench::new(&[]);
    commands(
        &bench,
        AgentSettings::default(),
        &[
            ("read x; echo \"[$x]\"; cat; cat /dev/tty", &["[]"]),
            ("sh -c 'kill -9 $PPID'", &["[signal 9; it ended the shell"]),
            ("exec >&- 2>&- 3>&-; echo on", &[]),
            ("echo on", &["[exit code 0]\non\n"]),
        ],
    )
    .await;
}

#[tokio::test]
async fn bytes_that_are_no_text_and_escapes_for_a_terminal_are_made_plain() {
    let bench = Bench::new(&[]);
    let print = r"printf '\033[31mred\033[0m \377 \033]0;title\007 10%%\r20%%\n'";
    commands(&bench, AgentSettings::default(), &[("true", &[]), (print, &["[exit code 0]\n20%\n"])]).await;
    let print = r"printf '\033[31mred\033[0m \377 x\n'";
    commands(&bench, AgentSettings::default(), &[(print, &["[exit code 0]\nred \u{fffd} x\n"])]).await;
}

/// Attack corpus E66.
#[tokio::test]
async fn huge_files_pipes_and_loops_of_links_are_plain_answers() {
    let bench = Bench::new(&[("a.txt", "needle\n")]);
    fs::File::create(bench.path().join("huge")).unwrap().set_len(2 << 30).unwrap();
    let pipe = bench.path().join("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o644);
    rustix::fs::mknodat(rustix::fs::CWD, pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    std::os::unix::fs::symlink("loop", bench.path().join("loop")).unwrap();
    std::os::unix::fs::symlink(".", bench.path().join("round")).unwrap();
    let read = |path: &str| json!({ "name": "read", "arguments": { "path": path } });
    let patch =
        "*** Begin Patch\n*** Update File: huge\n@@\n-x\n+y\n*** Update File: a.txt\n@@\n-needle\n+pin\n*** End Patch";
    let replies = json!([
        { "calls": [read("huge"), read("pipe"), read("loop"), read("round/a.txt"), { "name": "list", "arguments": {} },
                    { "name": "search", "arguments": { "pattern": "needle" } },
                    { "name": "apply_patch", "arguments": { "patch": patch } }] },
        { "expect": ["`huge` has 2147483648 bytes, more than", "`pipe` is a FIFO", "`loop` is a symbolic link", "`round` is a symbolic link",
                     "loop (link or special file)", "a.txt:1: needle", "nothing was changed. `huge`"],
          "calls": [{ "name": "done", "arguments": { "summary": "ok" } }] },
    ]);
    let report = run(&bench, native(replies)).await;
    assert_eq!(report.outcome, Outcome::done("ok"));
    assert_eq!(bench.read("a.txt"), "needle\n");
}

/// Attack corpus I100: patterns that a backtracking search would take for ever to match.
#[tokio::test]
async fn a_pattern_made_for_backtracking_is_answered() {
    let line = format!("{}!", "a".repeat(5_000));
    let bench = Bench::new(&[("a.txt", &line)]);
    let search = |pattern: &str| json!({ "name": "search", "arguments": { "pattern": pattern } });
    let replies = json!([
        { "calls": [search("(a+)+$"), search("(a|aa)+$"), search("(.*a){20}$"), search("a!")] },
        { "expect": ["a.txt:1: aaa"], "calls": [{ "name": "done", "arguments": { "summary": "ok" } }] },
    ]);
    assert_eq!(run(&bench, native(replies)).await.outcome, Outcome::done("ok"));
}

#[tokio::test]
async fn arguments_of_the_wrong_kind_and_tools_that_are_not_there_are_errors_for_the_model() {
    let bench = Bench::new(&[]);
    let wrong = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
    let replies = json!([
        { "calls": [wrong("shell", json!({ "command": 7 })), wrong("read", json!([])), wrong("plan", json!({ "steps": "none" })),
                    wrong("sudo", json!({})), wrong("shell", json!({ "command": "a\0b" })), wrong("plan", json!({ "steps": [] })),
                    wrong("shell", json!({ "command": "x".repeat(300_000) })), wrong("list", json!({})) ] },
        { "expect": ["`command`: a text, or a list", "invalid type: sequence", "`steps`: a list is expected", "no tool `sudo`", "zero byte", "no steps", "more than 262144 bytes"],
          "calls": [call("done", json!({ "summary": "ok" }))["calls"][0]] },
    ]);
    assert_eq!(run(&bench, native(replies)).await.outcome, Outcome::done("ok"));
}
