//! Long and interactive work of the native agent: jobs, output that is cut, programs that would wait for a person, loops.

use hob_process::Program;
use serde_json::{Value, json};

use super::{
    native::{call, native, run},
    *,
};

fn shell(told: &[&str], arguments: Value) -> Value {
    json!({ "expect": told, "calls": [{ "name": "shell", "arguments": arguments }] })
}

fn job(told: &[&str], arguments: Value) -> Value {
    json!({ "expect": told, "calls": [{ "name": "job", "arguments": arguments }] })
}

fn done(told: &[&str]) -> Value {
    json!({ "expect": told, "calls": [{ "name": "done", "arguments": { "summary": "ok" } }] })
}

async fn ends_well(files: &[(&str, &str)], replies: Value) {
    assert_eq!(run(&Bench::new(files), native(replies)).await.outcome, Outcome::done("ok"));
}

#[tokio::test]
async fn a_job_is_waited_for_and_its_end_is_told() {
    let waits = "until [ -e go ]; do sleep 0.01; done; echo finished; exit 3";
    let replies = json!([
        shell(&[], json!({ "command": waits, "background": true })),
        job(&["job 1 runs as process "], json!({ "id": 1, "seconds": 0 })),
        shell(&["[job 1 still runs; all of its output is in "], json!({ "command": "touch go" })),
        job(&[], json!({ "id": 1 })),
        // One that ends by itself is told with another answer.
        shell(&["[job 1 ended: exit code 3; ", "finished"], json!({ "command": "echo two", "background": true })),
        shell(
            &[],
            json!({ "command": "until [ -e \"${_hob_log%.log}.done\" ] && [ -s \"${_hob_log%.log}.exit\" ]; do :; done" })
        ),
        job(&["[job 2 `echo two` ended: exit code 0; its output is in "], json!({ "id": 9 })),
        done(&["there is no job 9"]),
    ]);
    ends_well(&[], replies).await;
}

#[tokio::test]
async fn a_job_takes_input_and_is_ended() {
    let asks = "read name; echo \"hello $name\"; exec sleep 600";
    let replies = json!([
        shell(&[], json!({ "command": asks, "background": true, "input": true })),
        job(&[], json!({ "id": 1, "input": "ann\n", "seconds": 0 })),
        shell(&[], json!({ "command": "until grep -q ann \"$_hob_log\"; do :; done" })),
        job(&[], json!({ "id": 1, "end": true })),
        shell(&["[job 1 ended: ", "hello ann"], json!({ "command": "sleep 600", "background": true })),
        job(&[], json!({ "id": 2, "input": "x" })),
        done(&["nothing was written to it: it was begun without `input`"]),
    ]);
    ends_well(&[], replies).await;
}

#[tokio::test]
async fn a_job_that_floods_is_bounded() {
    let replies = json!([
        shell(&[], json!({ "command": "yes", "background": true })),
        job(&[], json!({ "id": 1 })),
        shell(&["[job 1 ended: "], json!({ "command": "wc -c < \"$_hob_log\"" })),
        done(&["16777216"]),
    ]);
    ends_well(&[], replies).await;
}

#[tokio::test]
async fn output_that_is_cut_can_be_read_whole() {
    let replies = json!([
        shell(&[], json!({ "command": "seq 1 20000" })),
        shell(
            &["bytes cut; all of it is in "],
            json!({ "command": "grep -c . $TMPDIR/hob-*/output-1.txt; sed -n 9999p $TMPDIR/hob-*/output-1.txt" })
        ),
        done(&["20000\n9999\n"]),
    ]);
    let mut bench = Bench::new(&[]);
    let temporary = tempfile::tempdir().unwrap();
    bench.context.environment.insert("TMPDIR".into(), temporary.path().into());
    assert_eq!(run(&bench, native(replies)).await.outcome, Outcome::done("ok"));
    // It goes with the run.
    let gone = async {
        while fs::read_dir(temporary.path()).unwrap().next().is_some() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), gone).await.unwrap();
}

#[tokio::test]
async fn neither_an_editor_nor_a_pager_in_gits_settings_holds_a_command_up() {
    let bench = Bench::new(&[("a", "x")]);
    let git = "git init -q . && git config user.name a && git config user.email a@b && git add -A && git commit -qm one && \
               git config core.editor 'sleep 600;' && git config sequence.editor 'sleep 600;' && git config core.pager 'sleep 600;'";
    let made = Program::of_hob("sh", &bench.context.environment).args(["-c", git]).dir(bench.path());
    assert!(made.run(&CancellationToken::new()).await.unwrap().exit.is_success());
    let replies = json!([
        shell(
            &[],
            json!({ "command": "echo y > a && git commit -aqm two && git commit --amend && git rebase -i HEAD~1 && git -p log --oneline" })
        ),
        shell(&["two"], json!({ "command": "$EDITOR a && $PAGER a" })),
        done(&["[exit code 0]\ny\n"]),
    ]);
    assert_eq!(run(&bench, native(replies)).await.outcome, Outcome::done("ok"));
}

#[tokio::test]
async fn file_tools_say_where_they_are_after_cd() {
    let replies = json!([
        shell(&[], json!({ "command": "cd sub" })),
        call("read", json!({ "path": "b" })),
        { "expect": ["`b` does not exist [paths of this tool begin at the top of the folder, not in `sub`"],
          "calls": [{ "name": "read", "arguments": { "path": "sub/b" } }] },
        done(&["inner\n[paths of this tool begin at the top"]),
    ]);
    ends_well(&[("sub/b", "inner\n")], replies).await;
}

#[tokio::test]
async fn equal_calls_count_only_with_equal_answers() {
    let looks = json!({ "command": "cat n; echo x >> n" });
    let mut replies = vec![shell(&[], looks.clone()); 6];
    replies.push(done(&[]));
    ends_well(&[("n", "")], replies.into()).await;
    // Calls of one reply count once.
    let read = json!({ "name": "read", "arguments": { "path": "n" } });
    let replies = json!([{ "calls": [read, read, read, read] }, done(&["the same call as before in this reply"])]);
    ends_well(&[("n", "x")], replies).await;
}
