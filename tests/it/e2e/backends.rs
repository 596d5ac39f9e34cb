//! The other agents: the native loop on recorded replies, and recipes.

use hob::{
    config::{AgentSettings, BackendKind},
    domain::State,
};
use serde_json::json;

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
        ..AgentSettings::default()
    };
    let world = World::fixing()
        .file("hello.sh", "echo bye\n")
        .check("test \"$(sh hello.sh)\" = hello")
        .agent("reader", agent)
        .set("agent.default", "reader")
        .start()
        .await;
    let issue = world.asks("Say hello", "It says bye.").await;
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview, "{}", world.status(issue).await);
    let pull = world.pull().await;
    let body = pull["body"].as_str().unwrap();
    for part in ["It greets now.", "**Red before, green after**", "by the agent `reader`"] {
        assert!(body.contains(part), "{part}\n{body}");
    }
    assert_eq!(world.changed(pull["number"].as_u64().unwrap()).await, ["hello.sh"]);
    world.finish().await;
}
