//! The names that commands and flags had before: each still does what it did, and writes the same JSON.

use serde_json::json;

use crate::harness::{Ended, World};

#[tokio::test]
async fn every_old_name_of_a_command_that_reads_writes_what_todays_does() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.hob(&["run", "--once"]).await;
    world.asks("Next", "").await;
    std::fs::write(world.dir().join("case.md"), "").unwrap();
    for (old, today) in [
        ("list", "run --dry-run"),
        ("ready", "status --ready"),
        ("ready --limit 1 --shard 1/2", "status --ready --limit 1 --shard 1/2"),
        ("work 1 --dry-run", "run 1 --dry-run"),
        ("work 1 --parallel 2", "run 1 --jobs 2"),
        ("work", "run --sequential"),
        ("history 1", "explain 1 --history"),
        ("history 99", "explain 99 --history"),
        ("sessions", "session list"),
        ("show 1", "session show 1"),
        ("log 1", "session log 1"),
        ("replay 1 --folder .", "session replay 1 --folder ."),
        ("agents", "agent list"),
        ("investigate --text case.md", "agent investigate --task case.md"),
        ("routing", "agent routing"),
        ("settings", "config show --all"),
        ("settings --schema", "config schema"),
        ("settings --schema repository", "config schema repository"),
        ("version", "--version"),
        ("eval nowhere --first 1 --task x", "eval run nowhere --limit 1 --only x"),
        ("rehearse --repo nowhere --issue case.md", "rehearse --folder nowhere --task case.md"),
    ] {
        let [old, today] = [old, today].map(|line| line.split(' ').chain(["--json"]).collect::<Vec<_>>());
        let (was, is) = (world.hob(&old).await, world.hob(&today).await);
        assert_eq!(was.code, is.code, "{old:?}: {was:?}");
        // The usage of a wrong command line names the command, and an event has its time.
        let told = |ended: &Ended| {
            let lines = ended.stdout.lines().filter(|line| !line.contains("Usage:") && !line.contains("\"time\":"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert!(!was.stdout.is_empty(), "{old:?}: {was:?}");
        assert_eq!(told(&was), told(&is), "{old:?}");
    }
    let (list, status) = (world.hob(&["list", "--json"]).await, world.hob(&["status", "--json"]).await);
    assert_eq!(list.result(), status.result()["queue"]);
    assert_eq!(status.result()["issues"][0]["issue"], issue);
    assert_eq!(world.hob(&["work", "--json"]).await.code, 2, "without issues it is no daemon");
    world.finish().await;
}

#[tokio::test]
async fn every_old_name_of_a_command_that_writes_does_what_it_did() {
    let script = r#"echo '{"outcome":"question","question":"Which colour?"}'"#;
    let world = World::with_agent(script).start().await;
    let issue = world.asks("Paint it", "").await;
    let number = issue.to_string();
    let worked = world.hob(&["work", &number, "--json"]).await;
    assert_eq!((worked.code, &worked.result()[0]["state"]), (8, &json!("blocked")), "{worked:?}");
    let answered = world.hob(&["unblock", &number, "-m", "Green.", "--json"]).await.result();
    assert_eq!(answered, json!({ "issue": issue, "answered": true }));
    let args = ["--log-json", "run", "--max-issues", "1", "--max-runtime", "5m", "--json"];
    let ran = world.hob_with(&args, &[("RUST_LOG", "hob=debug")]).await;
    assert!(ran.code == 0 && ran.stderr.lines().any(|line| line.starts_with('{')), "{ran:?}");
    assert_eq!(ran.objects().last().unwrap()["event"], "ended");
    let ended = world.hob(&["terminate", &number, "--json"]).await.result();
    assert_eq!((&ended["asked"], &ended["done"]), (&json!("terminated"), &json!(true)), "{ended}");
    world.finish().await;
}
