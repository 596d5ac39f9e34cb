//! `hob agent run`: an agent alone on a folder.

use serde_json::{Value, json};

use rustix::process::Signal;

use crate::harness::{Gate, World};

/// A folder with a file in it, and an agent that says these things; the arguments that name both.
fn task(world: &World, replies: &Value) -> Vec<String> {
    let home = world.dir();
    std::fs::create_dir_all(home.join("work")).unwrap();
    std::fs::write(home.join("work/a.txt"), "one\n").unwrap();
    std::fs::write(home.join("task.md"), "# Say two\n\nThe file `a.txt` says two.\n").unwrap();
    let tape = home.join("tape.json");
    std::fs::write(&tape, json!({ "cassette": 1, "replies": replies }).to_string()).unwrap();
    let model = format!("model.default=cassette/{}", tape.display());
    let args =
        ["agent", "run", "--folder", "work", "--task", "task.md", "--agent", "native", "--check", "grep -q two a.txt"];
    args.into_iter().map(str::to_owned).chain(["--set".to_owned(), model]).collect()
}

#[tokio::test]
async fn an_agent_works_on_a_folder_and_its_change_stands_there() {
    let world = World::fixing().start().await;
    let done = json!({ "calls": [{ "name": "done", "arguments": { "title": "Say two", "summary": "It says two." } }] });
    let replies = json!([
        { "expect": ["Work on this task.", "The file `a.txt` says two.", "grep -q two a.txt"],
          "calls": [{ "name": "edit", "arguments": { "path": "a.txt", "old": "one", "new": "two" } }] },
        done,
        done,
    ]);
    let args = task(&world, &replies);
    let ended = world.hob(&args.iter().map(String::as_str).collect::<Vec<_>>()).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(
        ended.stdout.starts_with("done: Say two\nIt says two.\n") && ended.stdout.contains("3 turns; session task-"),
        "{ended:?}"
    );
    assert!(ended.stderr.contains("turn 1/250: edit a.txt"), "it shows its progress: {ended:?}");
    assert_eq!(std::fs::read_to_string(world.dir().join("work/a.txt")).unwrap(), "two\n");
    world.finish().await;
}

/// Requirement G4: events with a time and a percentage reach a program while the agent works.
#[tokio::test]
async fn programs_hear_how_far_an_agent_is_by_its_checklist() {
    let world = World::fixing().start().await;
    let plan = |one: &str, two: &str| {
        let steps = json!([{ "step": "Look", "state": one }, { "step": "Say two", "state": two }]);
        json!({ "calls": [{ "name": "plan", "arguments": { "steps": steps } }] })
    };
    let done = json!({ "calls": [{ "name": "done", "arguments": { "summary": "It says two." } }] });
    // It takes a step back, which is not reported as progress.
    let replies = json!([plan("done", "doing"), plan("doing", "todo"), plan("done", "done"), done, done]);
    let mut args = task(&world, &replies);
    args.extend(["--json".to_owned(), "-q".to_owned()]);
    let ended = world.hob(&args.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let mut objects = ended.objects();
    assert_eq!((ended.code, objects.pop().unwrap()["event"].as_str()), (0, Some("result")), "{ended:?}");
    assert_eq!(objects[0]["event"], "agent_started", "{ended:?}");
    let percent: Vec<u64> = objects.iter().map(|event| event["percent"].as_u64().unwrap()).collect();
    assert!(percent.is_sorted() && percent.contains(&50) && percent.last() == Some(&100), "{percent:?}");
    let steps: Vec<_> =
        objects.iter().filter_map(|event| event["text"].as_str()?.strip_suffix(" steps done")).collect();
    assert_eq!(steps, ["1 of 2", "0 of 2", "2 of 2"]);
    for event in &objects {
        assert_eq!(event["run_id"], ended.result()["session"], "{event}");
        assert!(event["time"].as_str().unwrap().ends_with('Z') && event["message"].is_string(), "{event}");
    }
    world.finish().await;
}

#[tokio::test]
async fn a_run_that_is_not_done_says_so() {
    let world = World::fixing().start().await;
    let asks = json!([{ "calls": [{ "name": "ask", "arguments": { "question": "Which two?" } }] }]);
    let mut args = task(&world, &asks);
    args.push("--json".to_owned());
    let ended = world.hob(&args.iter().map(String::as_str).collect::<Vec<_>>()).await;
    assert_eq!((ended.code, ended.result()["outcome"].as_str()), (8, Some("question")), "{ended:?}");
    assert_eq!(ended.objects().pop().unwrap()["message"], "the task is not done: asks: Which two?", "{ended:?}");
    for (changed, code, why) in [
        ("--folder", 4, "cannot use the folder"),
        ("--task", 4, "cannot read the task"),
        ("--agent", 6, "no agent `none`"),
    ] {
        let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
        let at = args.iter().position(|arg| *arg == changed).unwrap() + 1;
        args[at] = "none";
        let ended = world.hob(&args).await;
        assert_eq!(ended.code, code, "{changed}: {ended:?}");
        assert!(ended.stdout.contains(why), "{changed}: {ended:?}");
    }
    world.finish().await;
}

/// Requirement P1.
#[tokio::test]
async fn a_task_is_paused_and_its_session_goes_on() {
    let world = World::with_agent(&Gate::before("echo two > a.txt; echo said")).start().await;
    let mut gate = Gate::of(&world);
    task(&world, &json!([]));
    let args = ["agent", "run", "--folder", "work", "--task", "task.md"];
    let hob = world.starts_hob(&args).await;
    gate.reached().await;
    let session = world.hob(&["session", "list", "--json"]).await.objects().remove(0)["result"][0].take();
    let id = session["id"].as_str().unwrap();
    let paused = world.hob(&["pause", id]).await;
    assert!(paused.stdout.contains(&format!("`hob agent run --resume {id}` resumes it")), "{paused:?}");
    let ended = hob.ends_by(Signal::CONT).await;
    assert!(ended.code == 8 && ended.stderr.contains("stopped before the task was done"), "{ended:?}");
    let other = world.hob(&[&args[..], &["--resume", id, "--agent", "claude"]].concat()).await;
    assert!(other.code == 2 && other.stderr.contains("add `--agent fixer`"), "{other:?}");
    let hob = world.starts_hob(&[&args[..], &["--resume", id]].concat()).await;
    gate.reached().await;
    gate.open().await;
    let ended = hob.ends_by(Signal::CONT).await;
    assert!(ended.code == 0 && ended.stdout.contains(&format!("session {id}")), "{ended:?}");
    let shown = world.hob(&["session", "show", id, "--json"]).await.objects().remove(0)["result"].take();
    assert_eq!((shown["state"].as_str(), shown["runs"].as_array().unwrap().len()), (Some("completed"), 2));
    assert_eq!(shown["case"], Value::Null);
    assert_eq!(std::fs::read_to_string(world.dir().join("work/a.txt")).unwrap(), "two\n");
    world.finish().await;
}
