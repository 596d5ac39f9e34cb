//! What people have begun on an issue: pull requests that close it, and linked branches.

use serde_json::json;

use super::fixture::Fixture;

const BEGUN: &str = "state linkedBranches(first: 5) { nodes { id ref { name } } }
    closedByPullRequestsReferences(first: 5) { nodes { number state author { login __typename } } }";

#[tokio::test]
async fn a_branch_is_linked_until_it_is_unlinked_or_deleted() {
    let fixture = Fixture::start().await;
    let (issue, oid) = (fixture.issue("One").await, fixture.tip("main").await);
    let query = format!("{{ node(id: \"{issue}\") {{ ... on Issue {{ {BEGUN} }} }} }}");
    let create = "mutation($issue: ID!, $oid: GitObjectID!, $name: String) {
        createLinkedBranch(input: {issueId: $issue, oid: $oid, name: $name}) { linkedBranch { id ref { name } } issue { number } } }";
    let refused = fixture.ask_with("tt", create, json!({"issue": issue, "oid": oid, "name": "no"})).await;
    assert_eq!(refused["data"]["createLinkedBranch"], json!(null));
    let made = fixture.ask_with("tw", create, json!({"issue": issue, "oid": oid, "name": "wil/one"})).await;
    let made = &made["data"]["createLinkedBranch"];
    assert_eq!((&made["linkedBranch"]["ref"]["name"], &made["issue"]["number"]), (&json!("wil/one"), &json!(1)));
    fixture.ask_with("tw", create, json!({"issue": issue, "oid": oid})).await;
    let names = |of: &serde_json::Value| -> Vec<String> {
        let nodes = of["node"]["linkedBranches"]["nodes"].as_array().unwrap();
        nodes.iter().map(|node| node["ref"]["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&fixture.data("tr", &query).await), ["wil/one", "1-issue"]);
    fixture.rest("tw", "DELETE /repos/ada/site/git/refs/heads/1-issue", json!(null)).await;
    assert_eq!(names(&fixture.data("tr", &query).await), ["wil/one"]);
    let delete = "mutation($id: ID!) { deleteLinkedBranch(input: {linkedBranchId: $id}) { issue { number } } }";
    let gone = fixture.ask_with("tw", delete, json!({"id": made["linkedBranch"]["id"]})).await;
    assert_eq!(gone["data"]["deleteLinkedBranch"]["issue"]["number"], 1);
    assert!(names(&fixture.data("tr", &query).await).is_empty());
    assert_eq!(fixture.tip("wil/one").await, oid, "the branch itself stays");
}

#[tokio::test]
async fn a_pull_request_into_another_branch_closes_no_issue() {
    let fixture = Fixture::start().await;
    let issue = fixture.issue("One").await;
    let query = format!("{{ node(id: \"{issue}\") {{ ... on Issue {{ {BEGUN} }} }} }}");
    let number = fixture.pull("work").await;
    let nodes = fixture.data("tr", &query).await["node"]["closedByPullRequestsReferences"]["nodes"].clone();
    assert_eq!(nodes[0]["number"], number);
    assert_eq!((&nodes[0]["state"], &nodes[0]["author"]["__typename"]), (&json!("OPEN"), &json!("User")));
    let other = json!({"ref": "refs/heads/next", "sha": fixture.tip("main").await});
    fixture.rest("ta", "POST /repos/ada/site/git/refs", other).await;
    fixture.rest("ta", &format!("PATCH /repos/ada/site/pulls/{number}"), json!({"base": "next"})).await;
    let nodes = fixture.data("tr", &query).await["node"]["closedByPullRequestsReferences"]["nodes"].clone();
    assert_eq!(nodes, json!([]));
}
