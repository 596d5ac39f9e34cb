//! The log events of the real program: each says where it happened, as docs/design/logging.md has it.

use serde_json::{Value, json};

use crate::harness::World;

const DEBUG: (&str, &str) = ("RUST_LOG", "hob=debug");

#[tokio::test]
async fn an_event_within_an_attempt_names_the_attempt_and_the_forge_call() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let ended = world.hob_with(&["run", "--once", "--json"], &[DEBUG, ("HOB_LOG", "json")]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let events: Vec<Value> = ended.stderr.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let answers: Vec<&Value> = events.iter().filter(|event| event["fields"]["message"] == "answered").collect();
    let attempt = json!({ "name": "attempt", "repo": "acme/site", "issue": issue, "generation": 1, "attempt": 1 });
    let path = format!("/repos/acme/site/issues/{issue}/labels");
    let call = json!({ "name": "forge_call", "method": "POST", "path": path });
    let within = answers.iter().find(|event| event["spans"] == json!([attempt, call]));
    let fields = &within.unwrap_or_else(|| panic!("{}", ended.stderr))["fields"];
    assert!(fields["status"] == 200 && fields["duration_ms"].is_u64(), "{fields}");
    for answer in answers {
        let path = answer["span"]["path"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(!path.contains('?'), "{path}");
    }

    let wrong = world.hob_with(&["run", "--once"], &[("HOB_LOG", "debug")]).await;
    assert!(wrong.code == 2 && wrong.stderr.contains("HOB_LOG must be `json` or `text`, not `debug`"), "{wrong:?}");

    let issue = world.asks("Make it again", "").await;
    let ended = world.hob_with(&["run", "--once", "--json"], &[DEBUG]).await;
    assert_eq!(ended.code, 0, "{ended:?}");
    let said = format!(
        "DEBUG attempt{{repo=acme/site issue={issue} generation=1 attempt=1}}:forge_call{{method=POST \
         path=/repos/acme/site/issues/{issue}/labels}}: answered status=200 duration_ms="
    );
    assert!(ended.stderr.lines().any(|line| line.starts_with(&said)), "{}", ended.stderr);
    world.finish().await;
}
