//! The edit history of issues and comments.

use std::time::Duration;

use serde_json::{Value, json};

use super::fixture::Fixture;
use crate::Options;

const HISTORY: &str = "includesCreatedEdit lastEditedAt editor { login } userContentEdits(first: 10) {
    totalCount nodes { editedAt diff editor { login } id } }";

#[tokio::test]
async fn an_edit_over_rest_keeps_who_when_and_the_former_text() {
    let fixture = Fixture::start().await;
    let id = fixture.issue("One").await;
    let query = format!("{{ node(id: \"{id}\") {{ ... on Issue {{ createdAt {HISTORY} }} }} }}");
    let fresh = fixture.data("ta", &query).await["node"].clone();
    assert_eq!((&fresh["includesCreatedEdit"], &fresh["lastEditedAt"]), (&json!(false), &Value::Null));
    assert_eq!(fresh["userContentEdits"]["totalCount"], 0);

    fixture.forge.advance(Duration::from_secs(60));
    fixture.rest("tw", "PATCH /repos/ada/site/issues/1", json!({"title": "Two"})).await;
    assert_eq!(fixture.data("ta", &query).await["node"]["userContentEdits"]["totalCount"], 0, "a title must be a text");
    fixture.rest("tw", "PATCH /repos/ada/site/issues/1", json!({"body": "As it is."})).await;
    let edited = fixture.data("ta", &query).await["node"].clone();
    assert_eq!((&edited["includesCreatedEdit"], &edited["editor"]["login"]), (&json!(true), &json!("wil")));
    let edits = &edited["userContentEdits"]["nodes"];
    let told: Vec<_> = edits.as_array().unwrap().iter().map(|edit| (&edit["diff"], &edit["editor"]["login"])).collect();
    assert_eq!(told, [(&json!("As it is."), &json!("wil")), (&json!("As it was."), &json!("ada"))]);
    assert_eq!((&edits[0]["editedAt"], &edits[1]["editedAt"]), (&edited["lastEditedAt"], &edited["createdAt"]));
    let one = format!("{{ node(id: {}) {{ ... on UserContentEdit {{ diff }} }} }}", edits[1]["id"]);
    assert_eq!(fixture.data("ta", &one).await["node"]["diff"], "As it was.");
}

#[tokio::test]
async fn comments_keep_their_history_over_rest_and_graphql_alike() {
    let fixture = Fixture::start().await;
    fixture.issue("One").await;
    let made = fixture.rest("tr", "POST /repos/ada/site/issues/1/comments", json!({"body": "first"})).await;
    let id = made["node_id"].as_str().unwrap();
    fixture
        .rest("tr", &format!("PATCH /repos/ada/site/issues/comments/{}", made["id"]), json!({"body": "second"}))
        .await;
    let update = format!(
        "mutation {{ updateIssueComment(input: {{id: \"{id}\", body: \"third\", clientMutationId: \"7\"}}) {{
            clientMutationId issueComment {{ body {HISTORY} }} }} }}"
    );
    let done = fixture.data("tw", &update).await["updateIssueComment"].clone();
    assert_eq!((&done["clientMutationId"], &done["issueComment"]["body"]), (&json!("7"), &json!("third")));
    let edits = done["issueComment"]["userContentEdits"]["nodes"].as_array().unwrap().clone();
    let texts: Vec<_> = edits.iter().map(|edit| edit["diff"].as_str().unwrap()).collect();
    assert_eq!(texts, ["third", "second", "first"]);
    assert_eq!(done["issueComment"]["editor"]["login"], "wil");
}

#[tokio::test]
async fn the_history_survives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let options = || Options { data: Some(folder.path().to_owned()), ..Options::default() };
    let first = Fixture::start_with(options()).await;
    let id = first.issue("One").await;
    first.rest("ta", "PATCH /repos/ada/site/issues/1", json!({"body": "As it is."})).await;
    first.forge.shutdown().await;
    let second = Fixture::start_with(options()).await;
    let query = format!("{{ node(id: \"{id}\") {{ ... on Issue {{ {HISTORY} }} }} }}");
    assert_eq!(second.data("ta", &query).await["node"]["userContentEdits"]["nodes"][1]["diff"], "As it was.");
}
