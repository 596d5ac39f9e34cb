//! Rulesets by their endpoints, and what they let through.

use serde_json::{Value, json};

use crate::graphql::tests::fixture::Fixture;

const SITE: &str = "/repos/ada/site";

/// A ruleset of the default branch that requires the status `hob/proof`, of this App if there is one.
fn requiring(app: Option<u64>) -> Value {
    let mut check = json!({"context": "hob/proof"});
    if let Some(app) = app {
        check["integration_id"] = json!(app);
    }
    let parameters = json!({"strict_required_status_checks_policy": false, "required_status_checks": [check]});
    json!({
        "name": "Proven",
        "target": "branch",
        "enforcement": "active",
        "conditions": {"ref_name": {"include": ["~DEFAULT_BRANCH"], "exclude": []}},
        "rules": [{"type": "required_status_checks", "parameters": parameters}],
    })
}

async fn merge(fixture: &Fixture, token: &str) -> (u16, String) {
    let (status, said) = fixture.answer(token, &format!("PUT {SITE}/pulls/1/merge"), json!({})).await;
    (status, said["message"].as_str().unwrap().trim().to_owned())
}

async fn says(fixture: &Fixture, state: &str) {
    let sha = fixture.tip("work").await;
    let body = json!({"context": "hob/proof", "state": state});
    assert_eq!(fixture.answer("tw", &format!("POST {SITE}/statuses/{sha}"), body).await.0, 201);
}

#[tokio::test]
async fn a_required_status_decides_over_the_merge() {
    let fixture = Fixture::start().await;
    fixture.pull("work").await;
    let (status, made) = fixture.answer("ta", &format!("POST {SITE}/rulesets"), requiring(None)).await;
    assert_eq!(status, 201, "{made}");
    let own = format!("{SITE}/rulesets/{}", made["id"]);
    let refused = |word: &str| {
        (405, format!("Repository rule violations found\n\nRequired status check \"hob/proof\" is {word}."))
    };
    assert_eq!(merge(&fixture, "ta").await, refused("expected"), "admins, too");
    says(&fixture, "failure").await;
    assert_eq!(merge(&fixture, "tw").await, refused("failing"));
    says(&fixture, "success").await;
    // A status of another account than the App's says nothing.
    assert_eq!(fixture.answer("ta", &format!("PUT {own}"), requiring(Some(7))).await.0, 200);
    assert_eq!(merge(&fixture, "tw").await, refused("expected"));
    assert_eq!(fixture.answer("ta", &format!("PUT {own}"), json!({"enforcement": "evaluate"})).await.0, 200);
    assert_eq!(merge(&fixture, "tw").await.0, 200);
}

#[tokio::test]
async fn only_admins_change_rulesets_and_what_is_not_obeyed_is_refused() {
    let fixture = Fixture::start().await;
    let all = format!("POST {SITE}/rulesets");
    assert_eq!(fixture.answer("tw", &all, requiring(None)).await.0, 403);
    assert_eq!(fixture.answer("ta", &all, requiring(None)).await.0, 201);
    let (status, said) = fixture.answer("ta", &all, requiring(None)).await;
    assert_eq!((status, &said["errors"]), (422, &json!(["Name must be unique"])));
    let with = |name: &str, value: Value| {
        let mut body = requiring(None);
        body["name"] = json!("Other");
        body[name] = value;
        body
    };
    for body in [
        with("target", json!("tag")),
        with("rules", json!([{"type": "code_scanning"}])),
        with("bypass_actors", json!([{"actor_type": "Team", "actor_id": 1}])),
        with("bypass_actors", json!([{"actor_type": "RepositoryRole", "actor_id": 3}])),
        with("conditions", json!({"ref_name": {"include": ["main"]}})),
        with("rules", json!([{"type": "required_status_checks", "parameters": {"required_status_checks": []}}])),
    ] {
        let (status, said) = fixture.answer("ta", &all, body).await;
        assert_eq!(status, 422, "{said}");
    }
}
