//! The whole schema: each field of each type that the forge can show resolves.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::fixture::Fixture;
use crate::RemovalReason;

type Types = BTreeMap<String, Value>;

/// A query's selection of every field of a type, each type once.
fn selection(types: &Types, of: &str, seen: &mut BTreeSet<String>) -> String {
    let ty = &types[of];
    if !seen.insert(of.to_owned()) {
        return "{ __typename }".to_owned();
    }
    if ["INTERFACE", "UNION"].contains(&ty["kind"].as_str().unwrap()) {
        let names = ty["possibleTypes"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap());
        let parts: Vec<_> = names.map(|name| format!("... on {name} {}", selection(types, name, seen))).collect();
        return format!("{{ __typename {} }}", parts.join(" "));
    }
    let mut parts = vec!["__typename".to_owned()];
    for field in ty["fields"].as_array().unwrap() {
        let name = field["name"].as_str().unwrap();
        let mut base = &field["type"];
        while !base["ofType"].is_null() {
            base = &base["ofType"];
        }
        let mut args = Vec::new();
        for arg in field["args"].as_array().unwrap() {
            match arg["name"].as_str().unwrap() {
                "first" => args.push("first: 5".to_owned()),
                "number" if name == "pullRequest" => args.push("number: 2".to_owned()),
                "number" => args.push("number: 1".to_owned()),
                "itemTypes" if name == "timelineItems" => {
                    args.push("itemTypes: [ADDED_TO_MERGE_QUEUE_EVENT, REMOVED_FROM_MERGE_QUEUE_EVENT]".to_owned());
                }
                "qualifiedName" => args.push("qualifiedName: \"main\"".to_owned()),
                "name" => args.push(format!("name: \"{}\"", if name == "label" { "code" } else { "site" })),
                "path" => args.push("path: \"README.md\"".to_owned()),
                "login" => args.push("login: \"ada\"".to_owned()),
                _ => {}
            }
        }
        let args = if args.is_empty() { String::new() } else { format!("({})", args.join(", ")) };
        let base = base["name"].as_str().unwrap();
        let below = match types[base]["kind"].as_str().unwrap() {
            "SCALAR" | "ENUM" => String::new(),
            _ => selection(types, base, seen),
        };
        parts.push(format!("{name}{args} {below}"));
    }
    format!("{{ {} }}", parts.join(" "))
}

#[tokio::test]
async fn every_field_of_every_type_resolves() {
    let fixture = Fixture::start().await;
    let query = "{ __schema { types { kind name possibleTypes { name }
        fields { name args { name } type { name kind ofType { name kind ofType { name kind ofType { name kind } } } } } } } }";
    let listed = fixture.data("ta", query).await["__schema"]["types"].clone();
    let types: Types =
        listed.as_array().unwrap().iter().map(|ty| (ty["name"].as_str().unwrap().to_owned(), ty.clone())).collect();
    let mut nodes = everything(&fixture).await;
    nodes.push("repository".to_owned());
    let mut shown = BTreeSet::new();
    for id in nodes {
        // References of a type are read in a query of their own kind too, as its first field.
        let query = match id.as_str() {
            "repository" => {
                format!(
                    "{{ repository(owner: \"ada\", name: \"site\") {} rateLimit {} viewer {} }}",
                    selection(&types, "Repository", &mut BTreeSet::new()),
                    selection(&types, "RateLimit", &mut BTreeSet::new()),
                    selection(&types, "User", &mut BTreeSet::new())
                )
            }
            id => {
                let kind = fixture.data("ta", &format!("{{ node(id: \"{id}\") {{ __typename }} }}")).await;
                let kind = kind["node"]["__typename"].as_str().unwrap().to_owned();
                format!(
                    "{{ node(id: \"{id}\") {{ ... on {kind} {} }} }}",
                    selection(&types, &kind, &mut BTreeSet::new())
                )
            }
        };
        let answer = fixture.ask("ta", &query).await;
        assert_eq!(answer["errors"], Value::Null, "{query}");
        typenames(&answer["data"], &mut shown);
    }
    let objects = types.iter().filter(|(name, ty)| ty["kind"] == "OBJECT" && !name.starts_with("__"));
    let missing: Vec<_> = objects.map(|(name, _)| name.as_str()).filter(|name| !shown.contains(*name)).collect();
    // Payloads are the mutations' to show, and every edge is made in one place.
    let rest = missing.into_iter().filter(|name| !name.ends_with("Payload") && !name.ends_with("Edge"));
    // Features that the forge lacks are `null` or an empty list: they can be selected, and never have a value. No pull request here
    // waits for its merge.
    let never = [
        "AutoMergeRequest",
        "BranchProtectionRule",
        "IssueTemplate",
        "IssueType",
        "Milestone",
        "Mutation",
        "Organization",
        "Project",
        "ProjectCard",
        "ProjectColumn",
        "PullRequestTemplate",
        "Query",
        "RepositoryContactLink",
        "SearchResultItemConnection",
        "Team",
    ];
    assert_eq!(rest.collect::<Vec<_>>(), never);
}

/// A job with a step and an annotation.
async fn job(fixture: &Fixture) -> Option<String> {
    let step = json!({"name": "Build", "conclusion": "failure"});
    let note = json!({"path": "work", "start_line": 1, "end_line": 1, "annotation_level": "failure", "message": "No"});
    let job = json!({"repository": "ada/site", "head_sha": "work", "name": "ci", "conclusion": "failure",
        "steps": [step], "annotations": [note]});
    fixture.answer("ta", "POST /_forge/jobs", job).await.1["node_id"].as_str().map(str::to_owned)
}

/// Fills the repository with one of everything; answers the global ids.
async fn everything(fixture: &Fixture) -> Vec<String> {
    let mut ids = vec![fixture.issue("One").await];
    let number = fixture.pull("work").await;
    let post = |what: String, body: Value| async move {
        let made = fixture.rest("tb", &format!("POST /repos/ada/site/{what}"), body).await;
        made["node_id"].as_str().map(str::to_owned)
    };
    let pull = fixture.rest("ta", &format!("GET /repos/ada/site/pulls/{number}"), Value::Null).await;
    let sha = pull["head"]["sha"].clone();
    ids.push(pull["node_id"].as_str().unwrap().to_owned());
    let comment = fixture.rest("tb", "POST /repos/ada/site/issues/1/comments", json!({"body": "See #2"})).await;
    let made = [
        post("labels".to_owned(), json!({"name": "code"})).await,
        comment["node_id"].as_str().map(str::to_owned),
        post(format!("issues/comments/{}/reactions", comment["id"]), json!({"content": "heart"})).await,
        post("issues/1/reactions".to_owned(), json!({"content": "+1"})).await,
        post(format!("issues/{number}/comments"), json!({"body": "Well"})).await,
        post(
            format!("pulls/{number}/reviews"),
            json!({"event": "APPROVE", "body": "Good",
            "comments": [{"path": "work", "line": 1, "body": "Why?"}]}),
        )
        .await,
        post(format!("statuses/{}", sha.as_str().unwrap()), json!({"state": "success", "context": "test"})).await,
        post(
            "check-runs".to_owned(),
            json!({"name": "build", "head_sha": sha, "status": "completed", "conclusion": "failure"}),
        )
        .await,
        job(fixture).await,
    ];
    ids.extend(made.into_iter().flatten());
    for number in [1, number] {
        let labels = json!({"labels": ["code"], "assignees": ["wil"], "body": "Edited. Fixes #1"});
        fixture.rest("ta", &format!("PATCH /repos/ada/site/issues/{number}"), labels).await;
    }
    fixture
        .rest("ta", &format!("POST /repos/ada/site/pulls/{number}/requested_reviewers"), json!({"reviewers": ["wil"]}))
        .await;
    let child = fixture.rest("ta", "POST /repos/ada/site/issues", json!({"title": "Part"})).await;
    fixture.rest("ta", "POST /repos/ada/site/issues/1/sub_issues", json!({"sub_issue_id": child["id"]})).await;
    let link = "mutation($id: ID!, $oid: GitObjectID!) {
        createLinkedBranch(input: {issueId: $id, oid: $oid}) { linkedBranch { id } } }";
    let linked = fixture.ask_with("ta", link, json!({"id": ids[0], "oid": sha})).await;
    ids.push(linked["data"]["createLinkedBranch"]["linkedBranch"]["id"].as_str().unwrap().to_owned());
    for removed in [None, Some(RemovalReason::CiFailure)] {
        fixture.forge.note_merge_queue(&"ada/site".parse().unwrap(), number, removed).unwrap();
    }
    let found = fixture
        .data(
            "ta",
            "{ repository(owner: \"ada\", name: \"site\") {
        issue(number: 1) { userContentEdits(first: 1) { nodes { id } } }
        pullRequest(number: 2) { reviewThreads(first: 1) { nodes { id comments(first: 1) { nodes { id } } } } } } }",
        )
        .await;
    let of = &found["repository"];
    let thread = &of["pullRequest"]["reviewThreads"]["nodes"][0];
    for id in [&of["issue"]["userContentEdits"]["nodes"][0]["id"], &thread["id"], &thread["comments"]["nodes"][0]["id"]]
    {
        ids.push(id.as_str().unwrap().to_owned());
    }
    ids
}

fn typenames(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Array(list) => list.iter().for_each(|item| typenames(item, into)),
        Value::Object(fields) => {
            into.extend(fields.get("__typename").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|item| typenames(item, into));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
