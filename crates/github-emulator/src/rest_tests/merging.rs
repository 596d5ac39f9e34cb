//! The requirements of a base branch, and a pull request that does not meet them.

use serde_json::{Value, json};

use crate::{
    BranchRules, Options, RemovalReason, RepoName, RequiredCheck, RequiredChecks, RequiredReviews, Seed,
    graphql::tests::fixture::Fixture,
};

const SITE: &str = "/repos/ada/site";
const PROTECTION: &str = "/repos/ada/site/branches/main/protection";

fn site() -> RepoName {
    "ada/site".parse().unwrap()
}

fn strict(names: &[&str]) -> Option<RequiredChecks> {
    Some(RequiredChecks { strict: true, ..RequiredChecks::named(names) })
}

/// The state of pull request 1, by both APIs.
async fn state(fixture: &Fixture) -> String {
    let (_, pull) = fixture.answer("tw", &format!("GET {SITE}/pulls/1"), Value::Null).await;
    let query = "{ repository(owner: \"ada\", name: \"site\") { pullRequest(number: 1) { mergeStateStatus } } }";
    let data = fixture.data("tw", query).await;
    let word = pull["mergeable_state"].as_str().unwrap();
    assert_eq!(data["repository"]["pullRequest"]["mergeStateStatus"], word.to_uppercase());
    word.to_owned()
}

async fn merge(fixture: &Fixture, token: &str, method: &str) -> (u16, String) {
    let body = json!({"merge_method": method});
    let (status, said) = fixture.answer(token, &format!("PUT {SITE}/pulls/1/merge"), body).await;
    (status, said["message"].as_str().unwrap().to_owned())
}

async fn report(fixture: &Fixture, branch: &str, context: &str, state: &str) {
    let sha = fixture.tip(branch).await;
    let body = json!({"context": context, "state": state});
    assert_eq!(fixture.answer("tw", &format!("POST {SITE}/statuses/{sha}"), body).await.0, 201);
}

/// Lets the base move on, past protection.
async fn move_base(fixture: &Fixture) {
    let body = json!({"message": "Base", "content": "eA=="});
    assert_eq!(fixture.answer("ta", &format!("PUT {SITE}/contents/base.txt"), body).await.0, 201);
}

#[tokio::test]
async fn required_checks_block_a_merge_until_they_pass() {
    let fixture = Fixture::start().await;
    fixture.pull("work").await;
    assert_eq!(state(&fixture).await, "clean");
    let required_status_checks = Some(RequiredChecks::named(&["test", "lint"]));
    fixture
        .forge
        .protect_branch(&site(), "main", BranchRules { required_status_checks, ..BranchRules::default() })
        .unwrap();
    let refused = async |said: &str| {
        assert_eq!(state(&fixture).await, "blocked");
        assert_eq!(merge(&fixture, "tw", "squash").await, (405, said.to_owned()));
    };
    refused("2 of 2 required status checks are expected.").await;
    report(&fixture, "work", "lint", "success").await;
    refused("Required status check \"test\" is expected.").await;
    report(&fixture, "work", "test", "failure").await;
    refused("Required status check \"test\" is failing.").await;
    report(&fixture, "work", "lint", "pending").await;
    refused("2 of 2 required status checks have not succeeded: 1 pending and 1 failing.").await;
    report(&fixture, "work", "lint", "success").await;
    report(&fixture, "work", "test", "success").await;
    assert_eq!(state(&fixture).await, "clean");
    report(&fixture, "work", "odd", "failure").await;
    assert_eq!(state(&fixture).await, "unstable", "a check that nobody requires");
    let query = "{ repository(owner: \"ada\", name: \"site\") { pullRequest(number: 1) { statusCheckRollup {
        contexts(first: 9) { nodes { ... on StatusContext { context isRequired(pullRequestNumber: 1) } } } } } } }";
    let data = fixture.data("tw", query).await;
    let nodes = data["repository"]["pullRequest"]["statusCheckRollup"]["contexts"]["nodes"].clone();
    let required =
        |name: &str| nodes.as_array().unwrap().iter().any(|n| n["context"] == name && n["isRequired"] == true);
    assert!(required("test") && required("lint") && !required("odd"));
    assert_eq!(merge(&fixture, "tw", "squash").await.0, 200);
}

#[tokio::test]
async fn a_check_of_one_app_is_set_by_no_other() {
    let fixture = Fixture::start().await;
    fixture.pull("work").await;
    let checks = vec![RequiredCheck { context: "test".into(), app_id: Some(15_368) }];
    let required_status_checks = Some(RequiredChecks { checks, ..RequiredChecks::default() });
    fixture
        .forge
        .protect_branch(&site(), "main", BranchRules { required_status_checks, ..BranchRules::default() })
        .unwrap();
    report(&fixture, "work", "test", "success").await;
    let run = json!({"name": "test", "head_sha": fixture.tip("work").await, "conclusion": "success"});
    fixture.answer("tb", &format!("POST {SITE}/check-runs"), run).await;
    assert_eq!(state(&fixture).await, "blocked");
    let job = json!({"repository": "ada/site", "head_sha": "work", "name": "test", "conclusion": "success"});
    assert_eq!(fixture.answer("ta", "POST /_forge/jobs", job).await.0, 201);
    assert_eq!(state(&fixture).await, "clean");
}

#[tokio::test]
async fn a_status_of_one_app_is_set_by_no_other() {
    let fixture = Fixture::start().await;
    fixture.pull("work").await;
    let bot = fixture.answer("ta", "GET /users/hob[bot]", Value::Null).await.1["id"].as_u64().unwrap();
    let set = |app_id: Option<u64>| {
        let checks = vec![RequiredCheck { context: "hob/proof".into(), app_id }];
        let required_status_checks = Some(RequiredChecks { checks, ..RequiredChecks::default() });
        let rules = BranchRules { required_status_checks, ..BranchRules::default() };
        fixture.forge.set_ruleset(&site(), "main", Some(rules)).unwrap();
    };
    let said = |word: &str| {
        let said = format!("Repository rule violations found\n\nRequired status check \"hob/proof\" is {word}.\n\n");
        (405, said)
    };
    set(Some(bot));
    let (_, rules) = fixture.answer("tt", &format!("GET {SITE}/rules/branches/main"), Value::Null).await;
    let listed = json!([{"context": "hob/proof", "integration_id": bot}]);
    assert_eq!(rules[0]["parameters"]["required_status_checks"], listed);
    let tip = fixture.tip("work").await;
    let status = async |token: &str, word: &str| {
        let sent = json!({"state": word, "context": "hob/proof"});
        assert_eq!(fixture.answer(token, &format!("POST {SITE}/statuses/{tip}"), sent).await.0, 201);
    };
    status("tw", "success").await;
    assert_eq!(merge(&fixture, "ta", "squash").await, said("expected"), "the App has said nothing");
    status("tb", "pending").await;
    status("tw", "success").await;
    assert_eq!(merge(&fixture, "ta", "squash").await, said("pending"));
    status("tb", "failure").await;
    assert_eq!(merge(&fixture, "ta", "squash").await, said("failing"));
    let merging = "mutation($id: ID!) { mergePullRequest(input: {pullRequestId: $id, mergeMethod: SQUASH}) { clientMutationId } }";
    let id = fixture.answer("ta", &format!("GET {SITE}/pulls/1"), Value::Null).await.1["node_id"].clone();
    let refused = fixture.ask_with("ta", merging, json!({"id": id})).await;
    assert_eq!(refused["errors"][0]["message"], said("failing").1, "GraphQL, too");
    // Without an App in the rule, any account that may write can say so.
    set(None);
    status("tw", "success").await;
    assert_eq!(state(&fixture).await, "clean");
    set(Some(bot));
    assert_eq!(state(&fixture).await, "blocked");
    status("tb", "success").await;
    status("tw", "failure").await;
    assert_eq!(merge(&fixture, "ta", "squash").await.0, 200);
}

#[tokio::test]
async fn a_branch_that_is_behind_is_updated() {
    let fixture = Fixture::start().await;
    fixture.pull("work").await;
    let rules = BranchRules { required_status_checks: strict(&["test"]), ..BranchRules::default() };
    fixture.forge.protect_branch(&site(), "main", rules).unwrap();
    let update = format!("PUT {SITE}/pulls/1/update-branch");
    let (status, said) = fixture.answer("tw", &update, Value::Null).await;
    assert_eq!((status, &said["message"]), (422, &json!("There are no new commits on the base branch.")));
    report(&fixture, "work", "test", "success").await;
    move_base(&fixture).await;
    assert_eq!(state(&fixture).await, "behind");
    let (status, said) = merge(&fixture, "tw", "squash").await;
    assert!(status == 405 && said.contains("out of date"), "{said}");
    let wrong = json!({"expected_head_sha": "0".repeat(40)});
    assert_eq!(fixture.answer("tw", &update, wrong).await.0, 422);
    let head = json!({"expected_head_sha": fixture.tip("work").await});
    let (status, said) = fixture.answer("tw", &update, head).await;
    assert_eq!((status, &said["message"]), (202, &json!("Updating pull request branch.")));
    assert_eq!(state(&fixture).await, "blocked", "the new head has no check yet");
    report(&fixture, "work", "test", "success").await;
    assert_eq!(state(&fixture).await, "clean");
    let (_, commits) = fixture.answer("tw", &format!("GET {SITE}/pulls/1/commits"), Value::Null).await;
    assert_eq!(commits[1]["commit"]["message"], "Merge branch 'main' into work");
}

#[tokio::test]
async fn a_branch_in_conflict_is_not_updated() {
    let fixture = Fixture::start().await;
    fixture.pull("work").await;
    let body = json!({"message": "Base", "content": "eA=="});
    fixture.answer("ta", &format!("PUT {SITE}/contents/work"), body).await;
    assert_eq!(state(&fixture).await, "dirty");
    let (status, said) = fixture.answer("tw", &format!("PUT {SITE}/pulls/1/update-branch"), Value::Null).await;
    assert_eq!((status, &said["message"]), (422, &json!("merge conflict between base and head")));
}

#[tokio::test]
async fn required_reviews_are_those_of_who_may_write() {
    let fixture = Fixture::start().await;
    fixture.pull("work").await;
    let rules = BranchRules {
        required_pull_request_reviews: Some(RequiredReviews::default()),
        required_conversation_resolution: true,
        ..BranchRules::default()
    };
    fixture.forge.protect_branch(&site(), "main", rules).unwrap();
    let decision = async || {
        let query = "{ repository(owner: \"ada\", name: \"site\") { pullRequest(number: 1) { reviewDecision
            latestReviews(first: 5) { nodes { state } } } } }";
        let pull = fixture.data("ta", query).await["repository"]["pullRequest"].clone();
        (pull["reviewDecision"].as_str().unwrap().to_owned(), pull["latestReviews"]["nodes"].as_array().unwrap().len())
    };
    let review = async |token: &str, body: Value| {
        let (status, made) = fixture.answer(token, &format!("POST {SITE}/pulls/1/reviews"), body).await;
        assert_eq!(status, 200, "{made}");
    };
    assert_eq!(decision().await, ("REVIEW_REQUIRED".to_owned(), 0));
    review("tt", json!({"event": "APPROVE"})).await;
    let said = "At least 1 approving review is required by reviewers with write access.";
    assert_eq!(merge(&fixture, "tw", "merge").await, (405, said.to_owned()), "triage is not write");
    let line = json!([{"path": "work", "line": 2, "start_line": 1, "body": "Why?"}]);
    review("tw", json!({"event": "REQUEST_CHANGES", "body": "No", "comments": line})).await;
    assert_eq!(decision().await, ("CHANGES_REQUESTED".to_owned(), 2));
    let again = json!({"reviewers": ["wil"]});
    let (status, pull) = fixture.answer("ta", &format!("POST {SITE}/pulls/1/requested_reviewers"), again).await;
    assert_eq!((status, &pull["requested_reviewers"][0]["login"]), (201, &json!("wil")), "asked again");
    assert_eq!(decision().await.1, 1, "the review of who is asked again is not the latest");
    review("tw", json!({"event": "APPROVE"})).await;
    assert_eq!(decision().await, ("APPROVED".to_owned(), 2));
    let said = "A conversation must be resolved before this pull request can be merged.";
    assert_eq!(merge(&fixture, "tw", "merge").await, (405, said.to_owned()));
    let query = "{ repository(owner: \"ada\", name: \"site\") { pullRequest(number: 1) { reviewThreads(first: 1) {
        nodes { id path line startLine diffSide startDiffSide isResolved isOutdated
        comments(first: 2) { nodes { databaseId author { login } body diffHunk createdAt } } } } } } }";
    let thread = fixture.data("ta", query).await["repository"]["pullRequest"]["reviewThreads"]["nodes"][0].clone();
    assert_eq!(
        (&thread["startLine"], &thread["line"], &thread["startDiffSide"]),
        (&json!(1), &json!(2), &json!("RIGHT"))
    );
    let first = &thread["comments"]["nodes"][0]["databaseId"];
    let replies = format!("POST {SITE}/pulls/1/comments/{first}/replies");
    assert_eq!(fixture.answer("ta", &replies, json!({"body": "So."})).await.0, 201);
    let resolve = format!(
        "mutation {{ resolveReviewThread(input: {{threadId: {}}}) {{ thread {{ isResolved }} }} }}",
        thread["id"]
    );
    fixture.data("ta", &resolve).await;
    assert_eq!(merge(&fixture, "tw", "merge").await.0, 200);
}

#[tokio::test]
async fn history_and_signatures_are_required() {
    let fixture = Fixture::start().await;
    fixture.pull("work").await;
    let linear = BranchRules { required_linear_history: true, ..BranchRules::default() };
    fixture.forge.protect_branch(&site(), "main", BranchRules { required_signatures: true, ..linear.clone() }).unwrap();
    assert_eq!(state(&fixture).await, "blocked");
    let said = "Commits must have verified signatures. This branch must not contain merge commits.";
    assert_eq!(merge(&fixture, "tw", "merge").await, (405, said.to_owned()));
    fixture.forge.protect_branch(&site(), "main", linear).unwrap();
    assert_eq!(merge(&fixture, "tw", "merge").await.0, 405);
    assert_eq!(merge(&fixture, "tw", "squash").await.0, 200);
}

#[tokio::test]
async fn protection_is_set_and_seen_by_admins_and_obeyed() {
    let fixture = Fixture::start().await;
    fixture.pull("work").await;
    let get = format!("GET {PROTECTION}");
    let (status, said) = fixture.answer("ta", &get, Value::Null).await;
    assert_eq!((status, &said["message"]), (404, &json!("Branch not protected")));
    let body = json!({"required_status_checks": {"strict": true, "contexts": [], "checks": [{"context": "test", "app_id": -1}]},
        "enforce_admins": true, "required_pull_request_reviews": {}, "restrictions": null, "allow_force_pushes": false});
    let put = format!("PUT {PROTECTION}");
    assert_eq!(fixture.answer("tw", &put, body.clone()).await.0, 403);
    for (field, value) in [("allow_deletions", json!(true)), ("restrictions", json!({"users": [], "teams": ["x"]}))] {
        let mut more = body.clone();
        more[field] = value;
        assert_eq!(fixture.answer("ta", &put, more).await.0, 422, "{field}");
    }
    let (status, set) = fixture.answer("ta", &put, body).await;
    assert_eq!((status, &set["required_status_checks"]["contexts"]), (200, &json!(["test"])), "{set}");
    assert_eq!(fixture.answer("ta", &get, Value::Null).await.1["enforce_admins"]["enabled"], true);
    assert_eq!(fixture.answer("tw", &get, Value::Null).await.0, 404, "not for who may only write");
    assert_eq!(fixture.answer("tb", &get, Value::Null).await.0, 403);
    assert_eq!(fixture.answer("ta", &format!("GET {PROTECTION}/restrictions"), Value::Null).await.0, 404);
    let (_, branch) = fixture.answer("tw", &format!("GET {SITE}/branches/main"), Value::Null).await;
    let short =
        json!({"enforcement_level": "everyone", "contexts": ["test"], "checks": [{"context": "test", "app_id": null}]});
    assert_eq!((&branch["protected"], &branch["protection"]["required_status_checks"]), (&json!(true), &short));
    let file = json!({"message": "Direct", "content": "eA=="});
    let (status, said) = fixture.answer("ta", &format!("PUT {SITE}/contents/x.txt"), file).await;
    assert_eq!((status, &said["message"]), (422, &json!("Changes must be made through a pull request.")));
    let gone = format!("DELETE {SITE}/git/refs/heads/main");
    assert_eq!(fixture.answer("ta", &gone, Value::Null).await.1["message"], "Cannot delete this branch");
    assert_eq!(merge(&fixture, "ta", "squash").await.0, 405, "admins, too");
    let signatures = format!("{PROTECTION}/required_signatures");
    assert_eq!(fixture.answer("ta", &format!("POST {signatures}"), Value::Null).await.1["enabled"], true);
    assert_eq!(fixture.answer("ta", &format!("DELETE {signatures}"), Value::Null).await.0, 204);
    assert_eq!(fixture.answer("ta", &format!("DELETE {PROTECTION}"), Value::Null).await.0, 204);
    assert_eq!(merge(&fixture, "tw", "squash").await.0, 200);
}

#[tokio::test]
async fn a_ruleset_binds_admins_and_everyone_sees_its_rules() {
    let seed = "[[repositories]]\nname = \"ann/new\"\nfiles = { \"a\" = \"1\" }\nprotection.main = { required_linear_history = true }\n\
        rulesets.main = { required_status_checks = { strict = true, contexts = [\"test\"] }, required_pull_request_reviews = {} }\n";
    let seed = Seed::parse(seed, std::path::Path::new(".")).unwrap();
    let fixture = Fixture::start_with(Options { seed, ..Options::default() }).await;
    let (_, rules) = fixture.answer("tt", "GET /repos/ann/new/rules/branches/main", Value::Null).await;
    assert_eq!((&rules[0]["type"], &rules[1]["type"]), (&json!("required_status_checks"), &json!("pull_request")));
    assert_eq!(rules[0]["parameters"]["required_status_checks"], json!([{"context": "test"}]));
    assert_eq!(rules[1]["parameters"]["required_approving_review_count"], 1);
    let (_, branch) = fixture.answer("tt", "GET /repos/ann/new/branches/main", Value::Null).await;
    assert_eq!(branch["protected"], true);
    fixture.pull("work").await;
    let set = json!({"repository": "ada/site", "branch": "main", "rules": {"required_status_checks": {"contexts": ["test"]}}});
    assert_eq!(fixture.answer("tw", "PUT /_forge/rulesets", set.clone()).await.0, 403);
    assert_eq!(fixture.answer("ta", "PUT /_forge/rulesets", set).await.0, 204);
    let said = "Repository rule violations found\n\nRequired status check \"test\" is expected.\n\n";
    assert_eq!(merge(&fixture, "ta", "squash").await, (405, said.to_owned()));
    let odd = json!({"repository": "ada/site", "branch": "main", "rules": {"required_deployments": true}});
    assert_eq!(fixture.answer("ta", "PUT /_forge/rulesets", odd).await.0, 422);
    fixture.forge.set_ruleset(&site(), "main", None).unwrap();
    assert_eq!(merge(&fixture, "ta", "squash").await.0, 200);
}

#[tokio::test]
async fn the_merge_queue_is_told_of() {
    let fixture = Fixture::start().await;
    fixture.pull("work").await;
    fixture.forge.note_merge_queue(&site(), 1, None).unwrap();
    let left = json!({"repository": "ada/site", "number": 1, "action": "remove", "reason": "CI_FAILURE"});
    assert_eq!(fixture.answer("tw", "POST /_forge/merge-queue", left.clone()).await.0, 403);
    assert_eq!(fixture.answer("ta", "POST /_forge/merge-queue", left).await.0, 204);
    let odd = json!({"repository": "ada/site", "number": 1, "action": "remove", "reason": "BORED"});
    assert_eq!(fixture.answer("ta", "POST /_forge/merge-queue", odd).await.0, 422);
    for list in ["events", "timeline"] {
        let (_, listed) = fixture.answer("tw", &format!("GET {SITE}/issues/1/{list}"), Value::Null).await;
        let names: Vec<_> = listed.as_array().unwrap().iter().map(|event| event["event"].as_str().unwrap()).collect();
        assert_eq!(names, ["added_to_merge_queue", "removed_from_merge_queue"], "{list}");
    }
    let ask = |args: &str| {
        format!(
            "{{ repository(owner: \"ada\", name: \"site\") {{ pullRequest(number: 1) {{ timelineItems(last: 1{args}) {{
            totalCount nodes {{ ... on RemovedFromMergeQueueEvent {{ reason actor {{ login }} }} }} }} }} }} }}"
        )
    };
    let found = fixture.data("tw", &ask(", itemTypes: [REMOVED_FROM_MERGE_QUEUE_EVENT]")).await;
    let items = &found["repository"]["pullRequest"]["timelineItems"];
    let event = json!({"reason": RemovalReason::CiFailure.name(), "actor": {"login": "ada"}});
    assert_eq!((&items["totalCount"], &items["nodes"][0]), (&json!(1), &event));
    let refused = fixture.ask("tw", &ask("")).await;
    assert!(refused["errors"][0]["message"].as_str().unwrap().contains("itemTypes"), "{refused}");
}
