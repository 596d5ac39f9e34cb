//! Refs that move together or not at all, and commits on a branch.

use serde_json::{Value, json};

use super::fixture::Fixture;

const NOWHERE: &str = "0000000000000000000000000000000000000000";
const UPDATE: &str = "mutation($repo: ID!, $updates: [RefUpdate!]!) {
    updateRefs(input: {repositoryId: $repo, refUpdates: $updates, clientMutationId: \"m\"}) { clientMutationId } }";
const COMMIT: &str = "mutation($input: CreateCommitOnBranchInput!) {
    createCommitOnBranch(input: $input) { commit { oid message parents(first: 1) { nodes { oid } } } ref { name target { oid } } } }";

async fn repository(fixture: &Fixture) -> String {
    let found = fixture.data("ta", "{ repository(owner: \"ada\", name: \"site\") { id } }").await;
    found["repository"]["id"].as_str().unwrap().to_owned()
}

/// A commit on top of `parent`, on no branch.
async fn commit(fixture: &Fixture, parent: &str, message: &str) -> String {
    let tree =
        fixture.rest("ta", &format!("GET /repos/ada/site/git/commits/{parent}"), Value::Null).await["tree"]["sha"]
            .clone();
    let commit = json!({"message": message, "tree": tree, "parents": [parent]});
    let made = fixture.rest("ta", "POST /repos/ada/site/git/commits", commit).await;
    made["sha"].as_str().unwrap().to_owned()
}

/// The message of the refusal of these moves, or nothing if they are made.
async fn moved(fixture: &Fixture, token: &str, updates: Value) -> Option<String> {
    let repo = repository(fixture).await;
    let answer = fixture.ask_with(token, UPDATE, json!({"repo": repo, "updates": updates})).await;
    if answer["data"]["updateRefs"] == json!({"clientMutationId": "m"}) {
        assert_eq!(answer["errors"], Value::Null);
        return None;
    }
    Some(answer["errors"][0]["message"].as_str().unwrap().to_owned())
}

/// The refs below `refs/hob`, each with its target.
async fn refs(fixture: &Fixture) -> Vec<(String, String)> {
    let found = fixture.rest("ta", "GET /repos/ada/site/git/matching-refs/hob/", Value::Null).await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    found.as_array().unwrap().iter().map(|one| (text(&one["ref"]), text(&one["object"]["sha"]))).collect()
}

#[tokio::test]
async fn refs_move_together_or_not_at_all() {
    let fixture = Fixture::start().await;
    let base = fixture.tip("main").await;
    let (one, two) = (commit(&fixture, &base, "one").await, commit(&fixture, &base, "two").await);
    let next = commit(&fixture, &one, "next").await;
    let (a, b) = ("refs/hob/issues/1", "refs/hob/repository");
    let update = |name: &str, before: &str, after: &str| json!({"name": name, "beforeOid": before, "afterOid": after});
    let made = json!([update(a, NOWHERE, &one), update(b, NOWHERE, &one)]);
    assert_eq!(moved(&fixture, "tw", made.clone()).await, None);
    let there = [(a.to_owned(), one.clone()), (b.to_owned(), one.clone())];
    assert_eq!(refs(&fixture).await, there);

    let folder = json!([update("refs/hob/x", NOWHERE, &one), update("refs/hob/x/y", NOWHERE, &one)]);
    for (updates, why) in [
        (made, "Reference cannot be updated"),
        (json!([update(a, &one, &next), update(b, &two, &next)]), "Reference cannot be updated"),
        (json!([update(a, &one, &next), update(b, &one, &two)]), "Update is not a fast forward"),
        (json!([update(a, &one, &next), update(b, &one, &"1".repeat(40))]), "Object does not exist"),
        (
            json!([update(a, &one, &next), update(a, &one, &next)]),
            "Multiple updates for ref 'refs/hob/issues/1' not allowed",
        ),
        (json!([update(a, &one, NOWHERE), update("refs/hob/none", NOWHERE, NOWHERE)]), "Reference does not exist"),
        (
            json!([update(a, &one, &next), update("hob", NOWHERE, &one)]),
            "Reference name must start with 'refs/' and have at least two slashes",
        ),
        (json!([update(a, &one, &next), update("refs/pull/1/head", NOWHERE, &one)]), "Reference is read-only"),
        (folder, "Reference cannot be created"),
    ] {
        assert_eq!(moved(&fixture, "tw", updates).await.as_deref(), Some(why));
        assert_eq!(refs(&fixture).await, there, "{why}");
    }
    assert!(moved(&fixture, "tt", json!([update(a, &one, &next)])).await.is_some(), "triage is not enough");

    let forced = json!([{"name": b, "afterOid": two, "force": true}, update(a, &one, NOWHERE)]);
    assert_eq!(moved(&fixture, "tw", forced).await, None);
    assert_eq!(refs(&fixture).await, [(b.to_owned(), two)]);
}

#[tokio::test]
async fn rules_of_a_branch_hold_for_refs_that_move_with_others() {
    let fixture = Fixture::start().await;
    let base = fixture.tip("main").await;
    let next = commit(&fixture, &base, "next").await;
    let gone = json!([{"name": "refs/heads/main", "beforeOid": base, "afterOid": NOWHERE}]);
    assert_eq!(moved(&fixture, "ta", gone).await.as_deref(), Some("Cannot delete the default branch"));
    let rules = json!({"name": "closed", "target": "branch", "enforcement": "active",
        "conditions": {"ref_name": {"include": ["refs/heads/main"], "exclude": []}},
        "rules": [{"type": "update"}]});
    let (status, made) = fixture.answer("ta", "POST /repos/ada/site/rulesets", rules).await;
    assert_eq!(status, 201, "{made}");
    let both = json!([
        {"name": "refs/hob/issues/1", "beforeOid": NOWHERE, "afterOid": next},
        {"name": "refs/heads/main", "beforeOid": base, "afterOid": next}]);
    assert_eq!(moved(&fixture, "tw", both).await.as_deref(), Some("Cannot update this protected ref."));
    assert_eq!((refs(&fixture).await, fixture.tip("main").await), (Vec::new(), base.clone()));
    let input = json!({"branch": {"repositoryNameWithOwner": "ada/site", "branchName": "main"}, "expectedHeadOid": base,
        "message": {"headline": "Add it"}, "fileChanges": {"additions": [{"path": "a.txt", "contents": "YQ=="}]}});
    let refused = fixture.ask_with("tw", COMMIT, json!({"input": input})).await;
    assert_eq!(refused["errors"][0]["message"], "Cannot update this protected ref.");
    assert_eq!(fixture.tip("main").await, base);
}

#[tokio::test]
async fn a_ref_is_made_and_deleted_by_its_id() {
    let fixture = Fixture::start().await;
    let (repo, base) = (repository(&fixture).await, fixture.tip("main").await);
    let create = "mutation($repo: ID!, $oid: GitObjectID!) {
        createRef(input: {repositoryId: $repo, name: \"refs/heads/next\", oid: $oid}) { ref { id name prefix target { oid } } } }";
    let made = fixture.ask_with("tw", create, json!({"repo": repo, "oid": base})).await;
    let made = &made["data"]["createRef"]["ref"];
    assert_eq!((&made["name"], &made["prefix"]), (&json!("next"), &json!("refs/heads/")));
    let shown = fixture.rest("ta", "GET /repos/ada/site/git/ref/heads/next", Value::Null).await;
    assert_eq!((&made["target"]["oid"], &made["id"]), (&shown["object"]["sha"], &shown["node_id"]));
    let again = fixture.ask_with("tw", create, json!({"repo": repo, "oid": base})).await;
    assert_eq!(again["errors"][0]["message"], "Reference already exists");
    let delete = "mutation($id: ID!) { deleteRef(input: {refId: $id, clientMutationId: \"d\"}) { clientMutationId } }";
    let gone = fixture.ask_with("tw", delete, json!({"id": made["id"]})).await;
    assert_eq!(gone["data"]["deleteRef"], json!({"clientMutationId": "d"}));
    assert_eq!(fixture.answer("ta", "GET /repos/ada/site/git/ref/heads/next", Value::Null).await.0, 404);
    let none = fixture.ask_with("tw", delete, json!({"id": "nothing"})).await;
    assert_eq!(none["errors"][0]["type"], "NOT_FOUND");
}

#[tokio::test]
async fn a_commit_on_a_branch_is_the_forges_own_and_needs_the_tip_that_was_seen() {
    let fixture = Fixture::start().await;
    let base = fixture.tip("main").await;
    let input = |expected: &str, changes: Value| {
        json!({"input": {"branch": {"repositoryNameWithOwner": "ada/site", "branchName": "main"}, "expectedHeadOid": expected,
            "message": {"headline": "Add it", "body": "With a reason."}, "fileChanges": changes}})
    };
    let changes =
        json!({"additions": [{"path": "docs/a.txt", "contents": "YQo="}], "deletions": [{"path": "README.md"}]});
    let made = fixture.ask_with("tw", COMMIT, input(&base, changes.clone())).await;
    let made = &made["data"]["createCommitOnBranch"];
    let tip = fixture.tip("main").await;
    assert_eq!((&made["commit"]["oid"], &made["ref"]["target"]["oid"]), (&json!(tip), &json!(tip)));
    assert_eq!(made["commit"]["parents"]["nodes"], json!([{"oid": base}]));
    assert_eq!(made["commit"]["message"], "Add it\n\nWith a reason.");
    let shown = fixture.rest("ta", "GET /repos/ada/site/commits/main", Value::Null).await;
    let verification = &shown["commit"]["verification"];
    assert_eq!((&verification["verified"], &verification["reason"]), (&json!(true), &json!("valid")));
    assert_eq!((&shown["author"]["login"], &shown["commit"]["committer"]["name"]), (&json!("wil"), &json!("GitHub")));
    let files: Vec<_> = shown["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file["filename"].clone(), file["status"].clone()))
        .collect();
    assert_eq!(files, [(json!("README.md"), json!("removed")), (json!("docs/a.txt"), json!("added"))]);

    let stale = fixture.ask_with("tw", COMMIT, input(&base, changes)).await;
    let message = format!("Expected branch to point to \"{base}\" but it did not.  Pull and try again.");
    assert_eq!((&stale["errors"][0]["type"], &stale["errors"][0]["message"]), (&json!("STALE_DATA"), &json!(message)));
    assert_eq!(stale["data"]["createCommitOnBranch"], Value::Null);
    let absent = fixture.ask_with("tw", COMMIT, input(&tip, json!({"deletions": [{"path": "README.md"}]}))).await;
    let message = format!("A path was requested for deletion which does not exist as of commit oid `{tip}`");
    assert_eq!(
        (&absent["errors"][0]["type"], &absent["errors"][0]["message"]),
        (&json!("UNPROCESSABLE"), &json!(message))
    );
    let refused = fixture.ask_with("tt", COMMIT, input(&tip, json!({}))).await;
    assert_eq!(refused["data"]["createCommitOnBranch"], Value::Null, "triage is not enough");
    assert_eq!(fixture.tip("main").await, tip);
}
