//! `hob eval` on tasks, instances and changes that are unlike those of a tutorial.

use std::{fs, os::unix::fs::symlink, path::Path};

use hob_process::Program;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::evaluation::{put, result, task};
use crate::harness::{World, needs};

/// The reasons of a check, by task; null where one is usable.
fn reasons(report: &Value) -> Vec<(String, Value)> {
    let all = report["checked"].as_array().unwrap().iter();
    all.map(|task| (task["task"].as_str().unwrap().to_owned(), task["why"].clone())).collect()
}

/// As Harbor does: the first line of a script says what runs it, its folder is a copy, `/logs` has three folders, a truth value is a number,
/// and only an exit code of a signal says that something ended it.
#[tokio::test]
async fn scripts_run_as_harbor_runs_them() {
    needs!("python3");
    let world = World::fixing().start().await;
    let tasks = world.dir().join("tasks");
    let judges = "import pathlib\nok = pathlib.Path('/app/answer.txt').read_text().strip() == '1'\n\
                  pathlib.Path('/logs/verifier/reward.txt').write_text(str(int(ok)))\n";
    let bash = "grep -qx 1 /app/answer.txt && r=true || r=false\n";
    for (name, test, solve) in [
        (
            "python",
            format!("#!/usr/bin/env python3\n{judges}"),
            "#!/usr/bin/env python3\nopen('/app/answer.txt', 'w').write('1\\n')\n",
        ),
        (
            "truth",
            format!("{bash}echo \"{{\\\"reward\\\": $r}}\" > /logs/verifier/reward.json\nexit -1\n"),
            "echo 1 > answer.txt\n",
        ),
        (
            "writes",
            format!(
                "set -e\necho > /tests/x\necho > /logs/agent/x\necho > /logs/artifacts/x\n{bash}[ $r = true ] && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n"
            ),
            "echo 1 > /solution/made && cp /solution/made /app/answer.txt\n",
        ),
        // The lines of a script that are still to come are not written by what it runs.
        (
            "rewrites",
            format!(
                "echo 'echo 1 > /logs/verifier/reward.txt' >> /tests/test.sh\n{bash}[ $r = true ] && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n"
            ),
            "echo 1 > answer.txt\n",
        ),
        ("linked", String::new(), "echo 1 > answer.txt\n"),
    ] {
        let folder = task(&tasks, name, "1");
        put(&folder.join("tests/test.sh"), &test);
        put(&folder.join("solution/solve.sh"), solve);
    }
    fs::remove_file(tasks.join("linked/tests/test.sh")).unwrap();
    put(&tasks.join("linked/tests/real.sh"), &format!("#!/usr/bin/env python3\n{judges}"));
    symlink("real.sh", tasks.join("linked/tests/test.sh")).unwrap();
    let checked = world.hob(&["eval", "tasks", "--check", "--json"]).await;
    assert_eq!(checked.code, 0, "{:?}", reasons(&checked.result()));
    world.finish().await;
}

#[tokio::test]
async fn a_check_says_what_was_wrong_and_tries_a_task_as_often_as_it_is_asked_to() {
    let world = World::fixing().start().await;
    let tasks = world.dir().join("tasks");
    let made = |name: &str, test: &str, solve: &str| {
        let folder = task(&tasks, name, "1");
        if !test.is_empty() {
            put(&folder.join("tests/test.sh"), test);
        }
        put(&folder.join("solution/solve.sh"), solve);
        folder
    };
    made("fails", "", "echo no such tool >&2; exit 7");
    made("flaky", "echo $((RANDOM % 2)) > /logs/verifier/reward.txt\n", "true");
    let hangs = made("hangs", "sleep 600", "true");
    put(&hangs.join("task.toml"), "[verifier]\ntimeout_sec = 1.0\n");
    made("odd", "echo 1 > /logs/verifier/score.txt\n", "true");
    made("shell", "#!/usr/bin/env no-such-shell\necho 1 > /logs/verifier/reward.txt\n", "true");
    let checked = world.hob(&["eval", "tasks", "--check", "--attempts", "60", "--json"]).await;
    for ((name, why), part) in reasons(&checked.result()).iter().zip([
        "its own solution does not solve it here (reward 0): `solve.sh` failed (exit code 7): no such tool",
        " of 60)",
        "its tests could not run here: the tests timed out after 1 s",
        "the tests wrote no `/logs/verifier/reward.json` and no `/logs/verifier/reward.txt` (exit code 0)",
        "no-such-shell",
    ]) {
        assert!(why.as_str().is_some_and(|why| why.contains(part)), "{name}: {why}");
    }
    let none = world.hob(&["eval", "tasks", "--only", "zzz"]).await;
    assert!(none.code == 2 && none.stderr.contains("has a name that holds the text of `--only`"), "{none:?}");
    world.finish().await;
}

/// What no agent could solve here is not its failure, with or without a sign of it.
#[tokio::test]
async fn a_task_that_its_own_solution_does_not_solve_is_not_counted() {
    let world = World::fixing().script("nobody", "true").script("one", "echo 1 > answer.txt").start().await;
    let tasks = world.dir().join("tasks");
    for (name, wanted) in [("good", "1"), ("elsewhere", "2")] {
        put(&task(&tasks, name, wanted).join("solution/solve.sh"), "echo 1 > /app/answer.txt\n");
    }
    let ended = world.hob(&["eval", "tasks", "--agent", "nobody", "--json"]).await;
    let (report, trials) = result(&ended);
    assert_eq!((ended.code, trials, &report["unusable"][0]["task"]), (8, 1, &json!("elsewhere")), "{ended:?}");
    assert_eq!((&report["tasks"], &report["solved"]["of"]), (&json!(1), &json!(1)), "{report}");
    // Nor does an attempt count that its tests took for a solution before that was known.
    let elsewhere = tasks.join("elsewhere");
    put(&elsewhere.join("tests/test.sh"), "echo 1 > /logs/verifier/reward.txt\n");
    world.hob(&["eval", "./tasks", "--agent", "one", "--json"]).await;
    put(&elsewhere.join("tests/test.sh"), "echo 0 > /logs/verifier/reward.txt\n");
    let ended = world.hob(&["eval", "tasks", "--agent", "one", "--attempts", "2", "--json"]).await;
    let (report, _) = result(&ended);
    assert_eq!((ended.code, &report["tasks"], &report["solved"]["count"]), (8, &json!(1), &json!(2)), "{ended:?}");
    world.finish().await;
}

async fn git(folder: &Path, args: &[&str]) -> String {
    let git = Program::of_hob("git", &hob_config::child_environment()).args(args).dir(folder);
    let ended = git.run(&CancellationToken::new()).await.unwrap();
    assert!(ended.exit.is_success(), "{args:?}: {ended:?}");
    ended.stdout.text()
}

/// A change with links, modes, bytes of any kind and a renamed file, in a repository with a folder whose name is a revision's.
#[tokio::test]
async fn the_patch_of_any_change_can_be_applied() {
    needs!("python3");
    let work = "printf 'caf\\351 2\\n' > latin.txt; printf '\\0\\2' > b.bin; chmod +x run.sh; ln -sfn run.sh link; mv a.txt b.txt; \
                mkdir sub && (cd sub && git init -q); head -c 40000000 /dev/urandom > big.bin; printf '1\\n' > 'we\"ird'; echo 1 > base/x";
    let world = World::fixing().script("odd", work).start().await;
    let repository = world.dir().join("clones/acme__odd");
    fs::create_dir_all(repository.join("base")).unwrap();
    let was = [
        ("latin.txt", b"caf\xe9 1\n".as_slice()),
        ("b.bin", &[0, 1]),
        ("run.sh", b"true\n"),
        ("a.txt", b"moved\n"),
        ("base/x", b"0\n"),
        ("tests/test_old.py", b"import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n"),
        ("tests/__init__.py", b""),
    ];
    for (name, text) in was {
        fs::create_dir_all(repository.join(name).parent().unwrap()).unwrap();
        fs::write(repository.join(name), text).unwrap();
    }
    symlink("a.txt", repository.join("link")).unwrap();
    let commit = async |message: &str| {
        git(&repository, &["add", "--all"]).await;
        let author = ["-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "--quiet", "--message", message];
        git(&repository, &author).await;
        git(&repository, &["rev-parse", "HEAD"]).await.trim().to_owned()
    };
    git(&repository, &["init", "--quiet"]).await;
    let base = commit("base").await;
    // The tests: one is renamed, one comes with links.
    fs::rename(repository.join("tests/test_old.py"), repository.join("tests/test_new.py")).unwrap();
    symlink("data", repository.join("tests/linked")).unwrap();
    symlink("nowhere", repository.join("tests/dangling")).unwrap();
    fs::write(repository.join("tests/data"), "1").unwrap();
    let looks = "import os, unittest\nclass T(unittest.TestCase):\n    def test_b(self):\n        self.assertTrue(os.path.islink('tests/linked') and os.path.islink('tests/dangling'))\n        \
                 self.assertFalse(os.path.exists('tests/test_old.py'))\n        self.assertEqual(open('base/x').read(), '1\\n')\n";
    fs::write(repository.join("tests/test_b.py"), looks).unwrap();
    let tests = commit("tests").await;
    let test_patch = git(&repository, &["diff", "--binary", &base, &tests]).await;
    let instance = |id: &str, base: &str, test_patch: &str| {
        json!({ "instance_id": id, "repo": "acme/odd", "base_commit": base, "problem_statement": "Do it.", "test_patch": test_patch,
                "FAIL_TO_PASS": ["tests.test_b.T.test_b"], "PASS_TO_PASS": ["tests.test_new.T.test_a"] })
    };
    let absent = "1".repeat(40);
    let stale = "diff --git a/no b/no\n--- a/no\n+++ b/no\n@@ -1 +1 @@\n-1\n+2\n";
    let lines = [
        instance("odd-1", &base, &test_patch),
        instance("odd-2", &absent, &test_patch),
        instance("odd-3", &base, stale),
    ];
    put(&world.dir().join("odd.jsonl"), &lines.map(|line| format!("{line}\n")).concat());
    let run = ["eval", "odd.jsonl", "--repositories", "clones", "--agent", "odd", "--json", "--test-command"];
    let ended = world.hob(&[&run[..], &["python3 -W always -m unittest -v {tests}"]].concat()).await;
    let (report, trials) = result(&ended);
    assert_eq!((ended.code, trials, &report["solved"]["count"]), (8, 1, &json!(1)), "{ended:?}");
    assert!(report["unusable"][0]["why"].as_str().unwrap().contains("its `base_commit` 1111"), "{report}");
    assert!(report["unusable"][1]["why"].as_str().unwrap().contains("its `test_patch` does not apply"), "{report}");
    let predictions = fs::read_to_string(world.dir().join("eval-results/odd-odd/predictions.jsonl")).unwrap();
    let prediction: Value = serde_json::from_str(predictions.trim()).unwrap();
    let patch = prediction["model_patch"].as_str().unwrap();
    assert!(patch.starts_with("Left out, because the patch would be too large: big.bin\ndiff --git "), "{patch}");
    let fresh = world.dir().join("fresh");
    git(world.dir(), &["clone", "--quiet", repository.to_str().unwrap(), "fresh"]).await;
    git(&fresh, &["checkout", "--quiet", &base]).await;
    put(&fresh.join("../prediction.patch"), patch);
    git(&fresh, &["apply", "../prediction.patch"]).await;
    assert_eq!(fs::read(fresh.join("latin.txt")).unwrap(), b"caf\xe9 2\n");
    assert_eq!(fs::read(fresh.join("b.bin")).unwrap(), [0, 2]);
    assert_eq!(fs::read_link(fresh.join("link")).unwrap(), Path::new("run.sh"));
    let status = git(&fresh, &["-c", "core.quotePath=true", "status", "--porcelain"]).await;
    let wanted = " D a.txt\n M b.bin\n M base/x\n M latin.txt\n M link\n M run.sh\n?? b.txt\n?? \"we\\\"ird\"\n";
    assert_eq!(status, wanted, "{patch}");
    world.finish().await;
}
