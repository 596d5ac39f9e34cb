//! The other agents: the native loop on recorded replies, and recipes.

use hob_config::{AgentSettings, BackendKind};
use hob_domain::State;
use serde_json::{Value, json};

use crate::harness::World;

#[tokio::test]
async fn the_native_agent_turns_a_red_check_green() {
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("greeting.json");
    let replies = json!({"cassette": 1, "note": "made for this test", "replies": [
        {"expect": ["Say hello"], "text": "I look first.", "calls": [{"name": "read", "arguments": {"path": "hello.sh"}}]},
        {"expect": ["echo bye"], "calls": [
            {"name": "write", "arguments": {"path": "hello.sh", "text": "echo hello\n"}}], "usage": {"input": 900, "output": 40}},
        {"calls": [{"name": "done", "arguments": {"summary": "It greets now."}}]},
    ]});
    std::fs::write(&cassette, replies.to_string()).unwrap();
    let agent = AgentSettings {
        backend: BackendKind::Native,
        model: Some(format!("cassette/{}", cassette.display())),
        last_look: false,
        ..AgentSettings::default()
    };
    let world = World::fixing()
        .file("hello.sh", "echo bye\n")
        .check("test \"$(sh hello.sh)\" = hello")
        .agent("reader", agent)
        .set("agent", "reader")
        .start()
        .await;
    let issue = world.asks("Say hello", "It says bye.").await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview, "{}", world.status(issue).await);
    let pull = world.pull().await;
    let body = pull["body"].as_str().unwrap();
    for part in ["It greets now.", "**Proven**, by check", "by the agent `reader`"] {
        assert!(body.contains(part), "{part}\n{body}");
    }
    assert_eq!(world.changed(pull["number"].as_u64().unwrap()).await, ["hello.sh"]);
    let history = world.history(issue).await;
    let spent = history.iter().position(|line| line.starts_with("the agent spent 940 tokens")).unwrap();
    assert!(history[spent + 1].starts_with("opened the pull request"), "the bill is kept before the work: {history:?}");
    world.finish().await;
}

#[tokio::test]
async fn issues_worked_on_at_once_are_recorded_each_in_a_file_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let cassette = folder.path().join("cassette.json");
    let call = |name: &str, arguments: Value| json!({"calls": [{"name": name, "arguments": arguments}]});
    let replies = json!({"cassette": 1, "replies": [
        call("write", json!({"path": "fixed.txt", "text": "fixed\n"})),
        call("done", json!({"summary": "It is fixed."})),
    ]});
    std::fs::write(&cassette, replies.to_string()).unwrap();
    let model = Some(format!("cassette/{}", cassette.display()));
    let agent = AgentSettings { backend: BackendKind::Native, model, ..AgentSettings::default() };
    let world = World::fixing().agent("writer", agent).set("agent", "writer").start().await;
    for title in ["One", "Two", "Three"] {
        world.asks(title, "Please.").await;
    }
    let records = folder.path().join("records");
    let ended = world.hob(&["run", "--once", "--jobs", "3", "--record", records.to_str().unwrap()]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let mut issues = Vec::new();
    for entry in std::fs::read_dir(&records).unwrap() {
        let path = entry.unwrap().path();
        let recorded: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let names: Vec<_> =
            recorded["replies"].as_array().unwrap().iter().map(|reply| &reply["calls"][0]["name"]).collect();
        assert_eq!(names, ["write", "done"], "{recorded}");
        issues.push(path.file_name().unwrap().to_str().unwrap().split('-').nth(2).unwrap().to_owned());
    }
    issues.sort();
    assert_eq!(issues, ["1", "2", "3"]);
    world.finish().await;
}

/// Requirement S7.
#[tokio::test]
async fn a_recipe_of_the_repository_needs_no_model() {
    let settings = r#"
        checks = ["grep -q 2026 NOTICE"]
        [agents.notice]
        backend = "recipe"
        recipe = "notice"
        [recipes.notice]
        description = "Brings the year up to date."
        steps = [{ replace = "2025", with = "2026", in = "NOTICE" }, { run = "echo run > by-shell.txt" }]
    "#;
    let world = World::fixing().file(".github/hob.toml", settings).file("NOTICE", "Copyright 2025\n").start().await;
    let issue = world.opens("ann", "New year", "", &["code", "agent:notice"]).await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["agent:notice", "code", "in-review"], "{}", world.status(issue).await);
    let pull = world.pull().await;
    assert_eq!(world.changed(pull["number"].as_u64().unwrap()).await, ["NOTICE", "by-shell.txt"]);
    assert!(pull["body"].as_str().unwrap().contains("**Proven**, by check"), "{}", pull["body"]);
    world.finish().await;
}

#[tokio::test]
async fn a_recipe_applies_the_diff_in_the_issue() {
    let settings = r#"
        checks = ["grep -q hello greeting.txt"]
        agent = "patch"
        [agents.patch]
        backend = "recipe"
        recipe = "patch"
        [recipes.patch]
        steps = [{ apply = "issue-diff" }]
    "#;
    let world = World::fixing().file(".github/hob.toml", settings).file("greeting.txt", "bye\n").start().await;
    let diff = "Please:\n\n```diff\n--- a/greeting.txt\n+++ b/greeting.txt\n@@ -1 +1 @@\n-bye\n+hello\n```\n";
    let issue = world.asks("Greet", diff).await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{}", world.status(issue).await);
    world.finish().await;
}
