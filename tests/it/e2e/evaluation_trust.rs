//! `hob eval`: what its figures are worth. Tests that cannot run count for nothing, controls tell whether they can, and several attempts at a
//! task are one task.

use std::{fs, path::Path};

use hob_bench::{Script, serve};
use hob_process::Program;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::evaluation::{put, result, task};
use crate::harness::{World, needs, skipped};

/// A solution that writes this answer.
fn solution(task: &Path, answer: &str) {
    put(&task.join("solution/solve.sh"), &format!("echo {answer} > /app/answer.txt\n"));
}

#[tokio::test]
async fn tests_that_cannot_run_are_not_tried_and_no_agent_decides_that() {
    let lies = "echo 'sh: 1: uvx: not found' > answer.txt; touch {DIR}/was-asked";
    let world = World::fixing().script("lies", lies).start().await;
    let fetching = task(&world.dir().join("fetching"), "a", "1");
    solution(&fetching, "1");
    // As most tasks for terminals have it: the reward is 0 without a test.
    let fetch = "curl -fsS http://127.0.0.1:9/install.sh | sh\nuvx pytest /tests\nif [ $? = 0 ]; then r=1; else r=0; fi\n\
                 echo $r > /logs/verifier/reward.txt\n";
    put(&fetching.join("tests/test.sh"), fetch);
    let ended = world.hob(&["eval", "fetching", "--agent", "lies", "--json"]).await;
    let (report, trials) = result(&ended);
    assert_eq!((ended.code, trials, &report["unusable"][0]["task"]), (8, 0, &json!("a")), "{ended:?}");
    let why = report["unusable"][0]["why"].as_str().unwrap();
    assert!(why.starts_with("its tests could not run here: ") && why.contains("curl"), "{why}");
    assert!(!world.dir().join("was-asked").exists(), "an agent worked on a task that cannot be judged");
    // The same words from the code under test: the task's own solution shows that its tests run.
    let honest = task(&world.dir().join("honest"), "b", "1");
    solution(&honest, "1");
    put(
        &honest.join("tests/test.sh"),
        "cat /app/answer.txt\ngrep -qx 1 /app/answer.txt\necho $((! $?)) > /logs/verifier/reward.txt\n",
    );
    let ended = world.hob(&["eval", "honest", "--agent", "lies", "--json"]).await;
    let (report, _trials) = result(&ended);
    assert_eq!((ended.code, &report["trials"][0]["reward"]), (0, &json!(0.0)), "{ended:?}");
    // No reward at all: with the solution there is one, so the work is to blame.
    put(&honest.join("tests/test.sh"), "grep -qx 1 /app/answer.txt && echo 1 > /logs/verifier/reward.txt\n");
    let ended = world.hob(&["eval", "honest", "--agent", "lies", "--results", "again", "--json"]).await;
    let (report, _trials) = result(&ended);
    assert_eq!((ended.code, &report["trials"][0]["reward"]), (0, &Value::Null), "{ended:?}");
    // And without a solution, the tests have to run on what the agent begins with.
    fs::remove_dir_all(honest.join("solution")).unwrap();
    let ended = world.hob(&["eval", "honest", "--agent", "lies", "--results", "third", "--json"]).await;
    assert_eq!((ended.code, result(&ended).1), (8, 0), "{ended:?}");
    world.finish().await;
}

/// Attack corpus K148: what ends the tests' script has no say in the reward.
#[tokio::test]
async fn a_reward_counts_only_if_its_script_came_to_its_end() {
    let kills = "printf 'echo 1 > /logs/verifier/reward.txt; kill -9 $PPID\\n' > answer.txt";
    let world = World::fixing().script("kills", kills).start().await;
    let attacked = task(&world.dir().join("tasks"), "a", "1");
    solution(&attacked, "true");
    put(
        &attacked.join("tests/test.sh"),
        "sh /app/answer.txt && r=1 || r=0\n[ \"$(cat /app/answer.txt)\" = true ] || r=0\necho $r > /logs/verifier/reward.txt\n",
    );
    let ended = world.hob(&["eval", "tasks", "--agent", "kills", "--json"]).await;
    let (report, _trials) = result(&ended);
    let trial = &report["trials"][0];
    assert_eq!((ended.code, &trial["solved"], &trial["reward"]), (0, &json!(false), &Value::Null), "{ended:?}");
    world.finish().await;
}

#[tokio::test]
async fn a_task_has_its_variables_and_its_paths() {
    let uses =
        "printf '%s\\n' \"$GREETING\" > /app/answer.txt 2>/dev/null || printf '%s\\n' \"$GREETING\" > answer.txt";
    let world = World::fixing().script("uses", uses).start().await;
    let tasks = world.dir().join("tasks");
    let with = task(&tasks, "a", "hello");
    put(
        &with.join("task.toml"),
        "[environment.env]\nGREETING = \"${NOBODY:-hello}\"\n[verifier.env]\nWANTED = \"hello\"\n",
    );
    put(
        &with.join("tests/test.sh"),
        "[ \"$GREETING\" = hello ] && grep -qx \"$WANTED\" /app/answer.txt\necho $((! $?)) > /logs/verifier/reward.txt\n",
    );
    // The native agent's own tools take the path of the task, too, in any tier.
    let write = json!({ "name": "write", "arguments": { "path": "/app/answer.txt", "text": "hello\n" } });
    let done = json!({ "calls": [{ "name": "done", "arguments": { "summary": "Answered." } }] });
    let tape = json!({ "cassette": 1, "replies": [{ "calls": [write] }, done, done] });
    put(&with.join("recording.json"), &tape.to_string());
    for args in [&["--agent", "uses"][..], &["--recorded"]] {
        let ended = world.hob(&[&["eval", "tasks", "--json"], args].concat()).await;
        assert_eq!((ended.code, &result(&ended).0["solved"]["count"]), (0, &json!(1)), "{ended:?}");
    }
    // A task does not choose where an agent's key is sent, nor a name that is withheld.
    for (name, why) in [("OPENAI_BASE_URL", "finds its model"), ("GH_TOKEN", "never passed to an agent")] {
        put(&with.join("task.toml"), &format!("[environment.env]\n{name} = \"x\"\n"));
        let ended = world.hob(&["eval", "tasks", "--agent", "uses", "--results", "none"]).await;
        assert!(ended.code == 8 && ended.stderr.contains(why), "{ended:?}");
    }
    world.finish().await;
}

#[tokio::test]
async fn a_check_says_which_tasks_can_be_used_and_why_others_cannot() {
    let world = World::fixing().start().await;
    let tasks = world.dir().join("tasks");
    for (name, answer) in [("good", "1"), ("unsolved", "2"), ("content", "1")] {
        solution(&task(&tasks, name, "1"), answer);
    }
    put(&tasks.join("content/tests/test.sh"), "echo 1 > /logs/verifier/reward.txt\n");
    task(&tasks, "bare", "1");
    put(&tasks.join("steps/task.toml"), "[[steps]]\nname = \"a\"\n");
    let checked = world.hob(&["eval", "tasks", "--check", "--json"]).await;
    let report = checked.result();
    assert_eq!((checked.code, &report["tasks"], &report["usable"]), (8, &json!(5), &json!(1)), "{checked:?}");
    let said: Vec<String> = report["checked"].as_array().unwrap().iter().map(ToString::to_string).collect();
    for (at, part) in [
        "has no solution",
        "doing nothing gets the reward 1, not 0",
        "\"nothing\":0.0,\"solution\":1.0,\"task\":\"good\",\"why\":null",
        "it sets `steps`",
        "its own solution does not solve it here",
    ]
    .into_iter()
    .enumerate()
    {
        assert!(said[at].contains(part), "{part}: {said:?}");
    }
    let shown = world.hob(&["eval", "tasks", "--check", "--only", "good"]).await;
    assert!(shown.code == 0 && shown.stdout.contains("usable"), "{shown:?}");
    assert!(!world.dir().join("eval-results").exists(), "a check leaves results");
    for (baseline, count) in [("solution", 1), ("nothing", 0)] {
        let ended = world.hob(&["eval", "tasks", "--only", "good", "--baseline", baseline, "--json"]).await;
        let report = result(&ended).0;
        assert_eq!(
            (ended.code, &report["solved"]["count"], &report["agent"]),
            (0, &json!(count), &json!(baseline)),
            "{ended:?}"
        );
    }
    world.finish().await;
}

#[tokio::test]
async fn several_attempts_give_pass_at_k_by_task() {
    let world = World::fixing().script("one", "echo 1 > answer.txt").start().await;
    let tasks = world.dir().join("two");
    task(&tasks, "first", "1");
    task(&tasks, "second", "2");
    let first = world.hob(&["eval", "two", "--agent", "one", "--json"]).await;
    assert_eq!((first.code, result(&first).1), (0, 2), "{first:?}");
    let more = world.hob(&["eval", "two", "--agent", "one", "--attempts", "3", "--json"]).await;
    let (report, new) = result(&more);
    assert_eq!((more.code, new, &report["tasks"]), (0, 4, &json!(2)), "{more:?}");
    assert_eq!((&report["solved"]["count"], &report["solved"]["of"]), (&json!(3), &json!(6)), "{report}");
    let estimates = report["pass_at"].as_array().unwrap();
    assert_eq!((estimates.len(), &estimates[2]["k"], &estimates[2]["rate"]), (3, &json!(3), &json!(0.5)), "{report}");
    // As unsure as one attempt at each of the two tasks.
    assert_eq!(estimates[0]["low"], result(&first).0["pass_at"][0]["low"], "{report}");
    let patches = world.dir().join("eval-results/two-one/patches");
    let same = fs::read_to_string(patches.join("first.patch")).unwrap()
        == fs::read_to_string(patches.join("first@3.patch")).unwrap();
    assert!(same, "{more:?}");
    let shown = world.hob(&["eval", "two", "--agent", "one", "--attempts", "3"]).await;
    assert!(shown.stdout.contains("pass@3") && shown.stdout.contains("3/6 50%"), "{shown:?}");
    world.finish().await;
}

/// In a box, an agent sees its folder where the task says that it is.
const BOX: [&str; 4] = ["--set", "sandbox.write=", "--set", "sandbox.tier=box"];

/// The commands of a recording, for a model that any agent can ask.
fn commands(recording: &Path) -> Vec<String> {
    let tape: Value = serde_json::from_str(&fs::read_to_string(recording).unwrap()).unwrap();
    let calls = tape["replies"].as_array().unwrap().iter().filter_map(|reply| reply["calls"].as_array()).flatten();
    let command = |call: &Value| Some(call["arguments"]["command"].as_str()?.to_owned());
    calls.filter_map(command).collect()
}

/// Where `scripts/agents.sh` put mini-swe-agent, and its program.
fn mini() -> Option<(String, String)> {
    let (_, agents) = std::env::vars_os().find(|(name, _)| name == "HOB_AGENTS_DIR")?;
    let folder = Path::new(&agents).join("mini-swe-agent").canonicalize().ok()?;
    let program = folder.join("bin/mini");
    program.is_file().then(|| (folder.display().to_string(), program.display().to_string()))
}

#[tokio::test]
async fn the_tasks_of_the_terminal_are_sound_and_a_scripted_model_solves_them_with_two_agents() {
    needs!("python3", "make", "cc");
    let world = World::fixing().start().await;
    let tasks = concat!(env!("CARGO_MANIFEST_DIR"), "/lab/terminal");
    let environment = hob_config::child_environment();
    let home = environment.get(std::ffi::OsStr::new("HOME")).and_then(|home| home.to_str()).unwrap_or_default();
    let checked = world.hob_with(&["eval", tasks, "--check", "--json"], &[("HOME", home)]).await;
    assert_eq!((checked.code, &checked.result()["usable"]), (0, &json!(3)), "{checked:?}");
    let recorded = [&["eval", tasks, "--recorded", "--json"], &BOX[..]].concat();
    let recorded = world.hob_with(&recorded, &[("HOME", home)]).await;
    assert_eq!((recorded.code, &result(&recorded).0["solved"]["count"]), (0, &json!(3)), "{recorded:?}");
    let Some((folder, program)) = mini() else {
        skipped("mini-swe-agent is not installed");
        return world.finish().await;
    };
    // It takes long to start: one task shows that it is evaluated like any agent.
    let task = "semver-releases";
    let commands = commands(&Path::new(tasks).join(task).join("recording.json"));
    let server = serve(Script::new(commands), |_| {}).await.unwrap();
    let backend = ["--set", "agents.mini.backend=mini-swe-agent", "--set", "agents.mini.model=openai/scripted"];
    let command = format!("agents.mini.command=[\"{program}\"]");
    let read = format!("sandbox.read=[\"{folder}\"]");
    let address = format!("{}/v1", server.address());
    let variables = [("HOME", home), ("OPENAI_BASE_URL", address.as_str()), ("OPENAI_API_KEY", "key-of-a-test")];
    let args = ["eval", tasks, "--only", task, "--agent", "mini", "--json", "--set", &command, "--set", &read];
    let ended = world.hob_with(&[&args[..], &backend, &BOX].concat(), &variables).await;
    assert_eq!((ended.code, &result(&ended).0["solved"]["count"]), (0, &json!(1)), "{ended:?}");
    world.finish().await;
}

#[tokio::test]
async fn the_instances_are_sound_and_their_repositories_are_made_the_same_everywhere() {
    needs!("python3");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mends = "if [ -f sizes.py ]; then git apply {DIR}/sizes.patch; else git apply {DIR}/envfile.patch; fi; python3 -m unittest 2>/dev/null; true";
    let world = World::fixing().script("mends", mends).start().await;
    let python = Program::of_hob("python3", &hob_config::child_environment());
    let made = python.arg(root.join("scripts/eval_instances.py")).arg(world.dir().join("repositories"));
    let made = made.run(&CancellationToken::new()).await.unwrap();
    assert!(made.exit.is_success(), "{made:?}");
    let instances = root.join("lab/instances/instances.jsonl");
    for line in fs::read_to_string(&instances).unwrap().lines() {
        let instance: Value = serde_json::from_str(line).unwrap();
        let name = instance["repo"].as_str().unwrap().trim_start_matches("pocket/");
        put(&world.dir().join(format!("{name}.patch")), instance["patch"].as_str().unwrap());
    }
    let args = [
        "eval",
        instances.to_str().unwrap(),
        "--repositories",
        "repositories",
        "--test-command",
        "python3 -m unittest -v {tests}",
        "--json",
    ];
    let checked = world.hob(&[&args[..], &["--check"]].concat()).await;
    assert_eq!((checked.code, &checked.result()["usable"]), (0, &json!(2)), "{checked:?}");
    let ended = world.hob(&[&args[..], &["--agent", "mends"]].concat()).await;
    assert_eq!((ended.code, &result(&ended).0["solved"]["count"]), (0, &json!(2)), "{ended:?}");
    // The agent's tests left byte code; a prediction has the change alone.
    let predicted = fs::read_to_string(world.dir().join("eval-results/instances-mends/predictions.jsonl")).unwrap();
    for line in predicted.lines() {
        let patch: Value = serde_json::from_str(line).unwrap();
        let patch = patch["model_patch"].as_str().unwrap();
        assert!(patch.matches("diff --git").count() == 1 && !patch.contains("pycache"), "{patch}");
    }
    world.finish().await;
}
