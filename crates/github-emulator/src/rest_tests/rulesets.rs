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

/// What auto-merge answers for pull request 1.
async fn auto(fixture: &Fixture, token: &str, verb: &str, more: &str) -> Value {
    let number = "{ repository(owner: \"ada\", name: \"site\") { pullRequest(number: 1) { id } } }";
    let id = fixture.data(token, number).await["repository"]["pullRequest"]["id"].clone();
    let fields = "pullRequest { autoMergeRequest { mergeMethod enabledBy { login } } }";
    let query =
        format!("mutation {{ {verb}PullRequestAutoMerge(input: {{pullRequestId: {id}{more}}}) {{ {fields} }} }}");
    fixture.ask(token, &query).await
}

fn message(answer: &Value) -> &str {
    answer["errors"][0]["message"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn auto_merge_waits_for_what_is_required_and_then_merges() {
    let fixture = Fixture::start().await;
    fixture.pull("work").await;
    let allow = json!({"allow_auto_merge": true});
    assert_eq!(message(&auto(&fixture, "tw", "enable", "").await), "Auto merge is not allowed for this repository");
    assert_eq!(fixture.answer("ta", &format!("PATCH {SITE}"), allow).await.1["allow_auto_merge"], true);
    let clean = auto(&fixture, "tw", "enable", "").await;
    assert_eq!(message(&clean), "Pull request Pull request is in clean status");
    assert_eq!(fixture.answer("ta", &format!("POST {SITE}/rulesets"), requiring(None)).await.0, 201);
    let other = auto(&fixture, "tw", "enable", &format!(", expectedHeadOid: \"{}\"", "0".repeat(40))).await;
    assert_eq!(message(&other), "Head branch was modified. Review and try the merge again.");
    assert_eq!(auto(&fixture, "tt", "enable", "").await["errors"][0]["type"], "FORBIDDEN");

    let head = format!(", mergeMethod: SQUASH, expectedHeadOid: \"{}\"", fixture.tip("work").await);
    let on = auto(&fixture, "tw", "enable", &head).await;
    let request = &on["data"]["enablePullRequestAutoMerge"]["pullRequest"]["autoMergeRequest"];
    assert_eq!(*request, json!({"mergeMethod": "SQUASH", "enabledBy": {"login": "wil"}}));
    let pull = format!("GET {SITE}/pulls/1");
    let shown = fixture.answer("tw", &pull, Value::Null).await.1;
    assert_eq!((&shown["auto_merge"]["merge_method"], &shown["merged"]), (&json!("squash"), &json!(false)));
    let off = auto(&fixture, "tw", "disable", "").await;
    assert_eq!(off["data"]["disablePullRequestAutoMerge"]["pullRequest"]["autoMergeRequest"], Value::Null);
    assert_eq!(message(&auto(&fixture, "tw", "disable", "").await), "Can't disable auto-merge for this pull request.");
    says(&fixture, "pending").await;
    auto(&fixture, "tw", "enable", &head).await;
    assert_eq!(fixture.answer("tw", &pull, Value::Null).await.1["merged"], false);
    says(&fixture, "success").await;
    let merged = fixture.answer("tw", &pull, Value::Null).await.1;
    assert_eq!((&merged["merged"], &merged["merged_by"]["login"]), (&json!(true), &json!("wil")));
}
