//! `hob eval PATH` and `hob eval compare`: agents on tasks with hidden tests.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use hob_process::Program;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::harness::{Ended, World, needs};

/// Writes a file, with the folders that it needs.
pub(super) fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A task whose tests want `answer.txt` to say this, and a recording that writes it.
pub(super) fn task(tasks: &Path, name: &str, wanted: &str) -> PathBuf {
    let folder = tasks.join(name);
    put(&folder.join("task.toml"), "[agent]\ntimeout_sec = 60.0\n[verifier]\ntimeout_sec = 60.0\n");
    put(&folder.join("instruction.md"), "# Answer\n\nWrite the answer to `answer.txt`.\n");
    put(&folder.join("environment/Dockerfile"), "FROM scratch\nWORKDIR /app\nCOPY files/ /app/\n");
    put(&folder.join("environment/files/answer.txt"), "0\n");
    let script = "grep -qx \"$(cat /tests/wanted)\" /app/answer.txt\necho $((! $?)) > /logs/verifier/reward.txt\n";
    put(&folder.join("tests/test.sh"), script);
    put(&folder.join("tests/wanted"), wanted);
    let write = json!({ "name": "write", "arguments": { "path": "answer.txt", "text": format!("{wanted}\n") } });
    let done = json!({ "calls": [{ "name": "done", "arguments": { "summary": "Answered." } }] });
    let tape = json!({ "cassette": 1, "replies": [{ "calls": [write] }, done, done] });
    put(&folder.join("recording.json"), &tape.to_string());
    folder
}

async fn world() -> World {
    // It writes the text that the tests want if it can read it, and searches for it.
    let peeks = "find / -name wanted -not -path '/proc/*' 2>/dev/null | grep . > found.txt; ls /tests >> found.txt; echo 1 > answer.txt; ls /app > app.txt";
    World::fixing().script("nobody", "true").script("one", "echo 1 > answer.txt").script("peeks", peeks).start().await
}

/// The output of `--json`: the result, and the number of trials before it.
pub(super) fn result(ended: &Ended) -> (Value, usize) {
    let objects = ended.objects();
    let trials = objects.iter().filter(|object| object["event"] == "trial").count();
    let result = objects.iter().find(|object| object["event"] == "result");
    (result.unwrap_or_else(|| panic!("{ended:?}"))["result"].clone(), trials)
}

#[tokio::test]
async fn hobs_own_tasks_are_solved_by_their_recordings_and_not_by_doing_nothing() {
    needs!("cc", "node", "perl", "python3", "rustc");
    let world = world().await;
    let tasks = concat!(env!("CARGO_MANIFEST_DIR"), "/lab/tasks");
    // Toolchains are found from the operator's home.
    let environment = hob_config::child_environment();
    let home = environment.get(OsStr::new("HOME")).and_then(|home| home.to_str()).unwrap_or_default();
    let at_home = [("HOME", home)];
    let recorded = world.hob_with(&["eval", tasks, "--recorded", "--json"], &at_home).await;
    let (solved, trials) = result(&recorded);
    assert_eq!((recorded.code, solved["solved"]["count"].as_u64(), trials), (0, Some(24), 24), "{recorded:?}");
    let nothing = world.hob_with(&["eval", tasks, "--agent", "nobody", "--json"], &at_home).await;
    let (unsolved, trials) = result(&nothing);
    assert_eq!((nothing.code, trials), (0, 24), "{nothing:?}");
    // Their tests ran and said no, each of them.
    for trial in unsolved["trials"].as_array().unwrap() {
        assert_eq!((&trial["solved"], &trial["reward"]), (&json!(false), &json!(0.0)), "{trial}");
    }
    assert_eq!(unsolved["unusable"], json!([]), "{unsolved}");
    let compared = world.hob(&["eval", "compare", "eval-results/tasks-nobody", "eval-results/tasks-native"]).await;
    assert!(compared.stdout.contains("24/24 100%") && compared.stdout.contains("86%–100%"), "{compared:?}");
    assert!(compared.stdout.contains("second minus first: +100.0 points"), "{compared:?}");
    world.finish().await;
}

#[tokio::test]
async fn the_tasks_are_of_six_languages_and_their_recordings_are_their_solutions() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names = fs::read_dir(root.join("lab/tasks")).unwrap().map(|entry| entry.unwrap().file_name());
    let names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    for language in ["c", "javascript", "perl", "python", "rust", "shell"] {
        let of_it = names.iter().filter(|name| name.starts_with(&format!("{language}-"))).count();
        assert_eq!(of_it, 4, "{language}: {names:?}");
    }
    needs!("python3");
    let script = root.join("scripts/eval_recordings.py");
    let python = Program::of_hob("python3", &hob_config::child_environment()).arg(script).arg("--check");
    let checked = python.run(&CancellationToken::new()).await.unwrap();
    assert!(checked.exit.is_success(), "{checked:?}");
}

#[tokio::test]
async fn an_evaluation_goes_on_where_it_stopped_and_is_no_other_ones() {
    let world = world().await;
    let tasks = world.dir().join("two");
    task(&tasks, "first", "1");
    task(&tasks, "second", "2");
    let first = world.hob(&["eval", "two", "--agent", "one", "--task", "first", "--json"]).await;
    assert_eq!(result(&first).1, 1, "{first:?}");
    // A line that was cut off by a crash is not a trial.
    let trials = world.dir().join("eval-results/two-one/trials.jsonl");
    let whole = fs::read_to_string(&trials).unwrap();
    fs::write(&trials, format!("{whole}{{\"task\":\"sec")).unwrap();
    let rest = world.hob(&["eval", "two", "--agent", "one", "--json"]).await;
    let (report, new) = result(&rest);
    assert_eq!(
        (rest.code, new, &report["solved"]["count"], &report["solved"]["of"]),
        (0, 1, &json!(1), &json!(2)),
        "{rest:?}"
    );
    assert!(rest.stderr.contains("1 trial already in `eval-results/two-one`"), "{rest:?}");
    assert!(fs::read_to_string(&trials).unwrap().starts_with(&whole));
    let patch = fs::read_to_string(world.dir().join("eval-results/two-one/patches/first.patch")).unwrap();
    assert!(patch.contains("-0\n+1\n"), "{patch}");
    let again = world.hob(&["eval", "two", "--agent", "one", "--json"]).await;
    assert_eq!((again.code, result(&again).1), (0, 0), "{again:?}");
    let other = world.hob(&["eval", "two", "--agent", "nobody", "--results", "eval-results/two-one"]).await;
    assert_eq!(other.code, 2, "{other:?}");
    assert!(other.stderr.contains("holds the results of another evaluation (one, two)"), "{other:?}");
    world.hob(&["eval", "two", "--recorded", "-q"]).await;
    let compared = world.hob(&["eval", "compare", "eval-results/two-one", "eval-results/two-native"]).await;
    assert!(compared.stdout.contains("2 tasks tried by both; solved by both 1, by neither 0"), "{compared:?}");
    assert!(compared.stdout.contains("only by the second 1: second"), "{compared:?}");
    world.finish().await;
}

#[tokio::test]
async fn an_agent_in_a_box_sees_its_folder_in_its_place_and_no_test() {
    let world = world().await;
    task(&world.dir().join("tasks"), "first", "1");
    let ended = world
        .hob(&["eval", "tasks", "--agent", "peeks", "--json", "--set", "sandbox.write=", "--set", "sandbox.tier=box"])
        .await;
    let (report, _) = result(&ended);
    assert_eq!((ended.code, &report["solved"]["count"]), (0, &json!(1)), "{ended:?}");
    let patch = fs::read_to_string(world.dir().join("eval-results/tasks-peeks/patches/first.patch")).unwrap();
    assert!(patch.contains("+++ b/app.txt\n@@ -0,0 +1,3 @@\n+answer.txt\n+app.txt\n+found.txt"), "{patch}");
    assert!(patch.contains("b/found.txt\nnew file mode 100644\nindex 0000000..e69de29\n"), "it found a test: {patch}");
    world.finish().await;
}

#[tokio::test]
async fn what_cannot_be_tried_here_is_told_and_a_model_that_fails_is_no_answer() {
    let world = world().await;
    let tasks = world.dir().join("tasks");
    let dockerfile = |name: &str| task(&tasks, name, "1").join("environment/Dockerfile");
    put(&dockerfile("built"), "FROM scratch\nRUN apt-get install x\nWORKDIR /app\nCOPY files/ .\n");
    put(&task(&tasks, "steps", "1").join("task.toml"), "[[steps]]\nname = \"a\"\n");
    put(&task(&tasks, "odd", "1").join("task.toml"), "[agent\n");
    fs::remove_file(task(&tasks, "untested", "1").join("tests/test.sh")).unwrap();
    let linked = task(&tasks, "linked", "1").join("instruction.md");
    fs::remove_file(&linked).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &linked).unwrap();
    let all = world.hob(&["eval", "tasks", "--agent", "one"]).await;
    assert_eq!(all.code, 8, "{all:?}");
    for why in [
        "built: not tried: its image is built with `apt-get install x`",
        "steps: not tried: it sets `steps`: tasks of several steps",
        "odd: not tried: its `task.toml` cannot be read",
        "untested: not tried: it has no `tests/test.sh`",
        "instruction.md` is not a file",
        "no task of `tasks` can be tried",
    ] {
        assert!(all.stderr.contains(why), "{why}: {all:?}");
    }
    let built = world.hob(&["eval", "tasks", "--agent", "one", "--assume-built", "--task", "built"]).await;
    assert!(built.code == 0 && built.stdout.contains("1/1 100%"), "{built:?}");
    let answers = ["--agent", "native", "--set", "model.default=openai/none", "--set", "testing.model.retries=0"];
    let nobody = [("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")];
    let one = ["eval", "tasks", "--assume-built", "--task", "built", "--json"];
    let failed = world.hob_with(&[&one[..], &answers].concat(), &nobody).await;
    let (report, trials) = result(&failed);
    assert_eq!((failed.code, trials, &report["failed"][0]["task"]), (8, 0, &json!("built")), "{failed:?}");
    assert!(failed.stderr.contains("run the same command again to continue"), "{failed:?}");
    let tape = world.dir().join("tasks/built/recording.json");
    let model = format!("model.default=cassette/{}", tape.display());
    let short = ["--results", "short", "--agent", "native", "--set", &model, "--set", "agents.native.max_iterations=1"];
    let limited = world.hob(&[&one[..], &short].concat()).await;
    let (report, _) = result(&limited);
    assert_eq!((limited.code, &report["limits"]), (0, &json!({ "turns": 1 })), "{limited:?}");
    // Its output before its end counts.
    assert_eq!(report["solved"]["count"], 1, "{limited:?}");
    let nowhere = world.hob(&["eval", "nowhere"]).await;
    assert_eq!((nowhere.code, nowhere.stderr.contains("cannot read `nowhere`")), (4, true), "{nowhere:?}");
    world.finish().await;
}

/// What git says in `folder`.
async fn git(folder: &Path, args: &[&str]) -> String {
    let environment = hob_config::child_environment();
    let program = Program::of_hob("git", &environment).args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(args);
    program.dir(folder).run(&CancellationToken::new()).await.unwrap().stdout.text().trim().to_owned()
}

/// Commits what is in `folder`.
async fn commit(folder: &Path, message: &str) {
    for args in [&["init", "-q"][..], &["add", "."], &["commit", "-qm", message]] {
        git(folder, args).await;
    }
}

/// A repository with a defect, and the instance that tells it.
async fn instance(world: &World) -> Value {
    let repository = world.dir().join("repositories/acme__sums");
    put(&repository.join("sum.sh"), "echo $(($1 - $2))\n");
    let run = |cases: &str| {
        format!("case $1 in {cases}esac && echo \"ok 1 - $1\" || {{ echo \"not ok 1 - $1\"; exit 1; }}\n")
    };
    put(&repository.join("tests/run.sh"), &run("zero) [ $(sh sum.sh 0 0) = 0 ];; "));
    commit(&repository, "base").await;
    let base = git(&repository, &["rev-parse", "HEAD"]).await;
    put(&repository.join("tests/run.sh"), &run("zero) [ $(sh sum.sh 0 0) = 0 ];; two) [ $(sh sum.sh 1 1) = 2 ];; "));
    let test_patch = git(&repository, &["diff"]).await + "\n";
    put(&repository.join("later.txt"), "the answer of a later commit\n");
    commit(&repository, "later").await;
    json!({
        "instance_id": "acme__sums-1", "repo": "acme/sums", "base_commit": base, "test_patch": test_patch,
        "problem_statement": "Sums are wrong\n1 and 1 should be 2.", "FAIL_TO_PASS": "[\"two\"]", "PASS_TO_PASS": ["zero"],
    })
}

/// Attack corpus K148: code that ends its tests with exit code 0 solves nothing.
#[tokio::test]
async fn an_instance_is_solved_by_the_tests_that_it_names() {
    let mends = "sed -i 's/-/+/' sums.py";
    let exits = "printf 'import os\\nos._exit(0)\\n' > sums.py";
    let world = World::fixing().script("mends", mends).script("exits", exits).start().await;
    let repository = world.dir().join("repositories/acme__sums");
    put(&repository.join("sums.py"), "def add(a, b):\n    return a - b\n");
    let head = "import sums, unittest\n\nclass T(unittest.TestCase):\n    def test_zero(self):\n        self.assertEqual(sums.add(0, 0), 0)\n";
    put(&repository.join("test_sums.py"), head);
    commit(&repository, "base").await;
    let base = git(&repository, &["rev-parse", "HEAD"]).await;
    put(
        &repository.join("test_sums.py"),
        &format!("{head}\n    def test_two(self):\n        self.assertEqual(sums.add(1, 1), 2)\n"),
    );
    let instance = json!({
        "instance_id": "acme__sums-2", "repo": "acme/sums", "base_commit": base,
        "test_patch": git(&repository, &["diff"]).await + "\n", "problem_statement": "Sums are wrong",
        "FAIL_TO_PASS": ["test_sums.T.test_two"], "PASS_TO_PASS": ["test_sums.T.test_zero"],
    });
    put(&world.dir().join("set.jsonl"), &format!("{instance}\n"));
    let command = "python3 -m unittest -v {tests}";
    let args = ["eval", "set.jsonl", "--repositories", "repositories", "--test-command", command, "--json", "--agent"];
    for (agent, solved, why) in [("mends", true, ""), ("exits", false, "named no test")] {
        let ended = world.hob(&[&args[..], &[agent]].concat()).await;
        let (report, _trials) = result(&ended);
        let trial = &report["trials"][0];
        assert_eq!((ended.code, &trial["solved"]), (0, &json!(solved)), "{ended:?}");
        assert!(trial["why"].as_str().unwrap().contains(why), "{trial}");
    }
    world.finish().await;
}

#[tokio::test]
async fn instances_of_swe_bench_run_on_local_repositories() {
    let mend = "[ -z \"$(git log --format=%H --skip 1)\" ] || exit 1; sed -i 's/-/+/' sum.sh; rm -r tests; mkdir tests; echo true > tests/run.sh";
    let cheat = "echo true > tests/run.sh";
    let world = World::fixing().script("mends", mend).script("cheats", cheat).start().await;
    let good = instance(&world).await;
    let mut other = good.clone();
    other["instance_id"] = json!("acme__other-1");
    other["repo"] = json!("acme/other");
    put(&world.dir().join("set.jsonl"), &format!("{good}\n{other}\n{{}}\n"));
    let command = "for test in {tests}; do sh tests/run.sh $test || exit 1; done";
    let args = ["eval", "set.jsonl", "--repositories", "repositories", "--test-command", command, "--json", "--agent"];
    for (agent, solved) in [("mends", true), ("cheats", false)] {
        let ended = world.hob(&[&args[..], &[agent]].concat()).await;
        let (report, trials) = result(&ended);
        // Two of the three lines are not tried.
        assert_eq!((ended.code, trials, &report["trials"][0]["solved"]), (8, 1, &json!(solved)), "{ended:?}");
        assert!(ended.stderr.contains("acme__other-1: not tried: the repository acme/other is not in"), "{ended:?}");
        assert!(ended.stderr.contains("line 3: not tried: it is not an instance: missing field"), "{ended:?}");
    }
    let predicted = fs::read_to_string(world.dir().join("eval-results/set-mends/predictions.jsonl")).unwrap();
    let predicted: Value = serde_json::from_str(&predicted).unwrap();
    assert_eq!(predicted["instance_id"], "acme__sums-1");
    assert!(predicted["model_patch"].as_str().unwrap().contains("+echo $(($1 + $2))"), "{predicted}");
    // A command that names no test judges nothing, however it ends.
    let unread = [
        "eval",
        "set.jsonl",
        "--repositories",
        "repositories",
        "--test-command",
        "true {tests}",
        "--results",
        "unread",
    ];
    let unread = world.hob(&[&unread[..], &["--agent", "mends", "--json"]].concat()).await;
    let (report, trials) = result(&unread);
    assert_eq!((unread.code, trials), (8, 0), "{unread:?}");
    let whys = report["unusable"].to_string();
    assert!(whys.contains("its tests could not run here: the command named no test that Hob can read"), "{whys}");
    let bare = world.hob(&["eval", "set.jsonl"]).await;
    assert!(
        bare.code == 2 && bare.stderr.contains("need `--repositories DIR` and `--test-command COMMAND`"),
        "{bare:?}"
    );
    world.finish().await;
}
