//! Single queries: actors, search, and the order of an answer.

use serde_json::{Value, json};

use super::fixture::Fixture;

#[tokio::test]
async fn an_answer_keeps_the_order_of_its_query() {
    let fixture = Fixture::start().await;
    let query = json!({"query": "{ viewer { url login id } rateLimit { used cost } }"});
    let text = fixture.post("ta", &query).await.text().await.unwrap();
    let at = |name: &str| text.find(&format!("\"{name}\":")).unwrap();
    assert!(
        at("viewer") < at("url") && at("url") < at("login") && at("login") < at("rateLimit") && at("used") < at("cost"),
        "{text}"
    );
}

#[tokio::test]
async fn a_search_finds_what_all_its_qualifiers_hold_for() {
    let fixture = Fixture::start().await;
    for (title, labels) in [("Greet all", json!(["code"])), ("Greet one", json!([])), ("Part", json!(["code"]))] {
        fixture.rest("tw", "POST /repos/ada/site/issues", json!({"title": title, "labels": labels})).await;
    }
    let query = "query($q: String!) { search(type: ISSUE, query: $q, first: 10) {
        issueCount nodes { ... on Issue { number } } } }";
    for (wanted, numbers) in [
        ("repo:ada/site is:issue state:open label:code", json!([{"number": 3}, {"number": 1}])),
        ("greet -label:code", json!([{"number": 2}])),
        ("author:@me sort:created-asc", json!([{"number": 1}, {"number": 2}, {"number": 3}])),
        ("is:pr", json!([])),
    ] {
        let answer = fixture.ask_with("tw", query, json!({"q": wanted})).await;
        assert_eq!(answer["data"]["search"]["nodes"], numbers, "{wanted}: {answer}");
    }
}

#[tokio::test]
async fn fields_are_left_out_and_renamed_as_the_query_says() {
    let fixture = Fixture::start().await;
    let query = "query($no: Boolean!) { viewer { me: login name @skip(if: true) ...more @include(if: $no) ... @skip(if: $no) { id } } }
        fragment more on User { url }";
    let answer = fixture.ask_with("ta", query, json!({"no": false})).await;
    let keys: Vec<_> = answer["data"]["viewer"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["id", "me"]);
}

#[tokio::test]
async fn a_commit_by_its_id_says_what_the_rest_api_says_of_it() {
    let fixture = Fixture::start().await;
    let first =
        fixture.rest("ta", "GET /repos/ada/site/git/ref/heads/main", Value::Null).await["object"]["sha"].clone();
    let tree =
        fixture.rest("ta", "GET /repos/ada/site/commits/main", Value::Null).await["commit"]["tree"]["sha"].clone();
    let commit = json!({"message": "Two\n\n{}", "tree": tree, "parents": [first]});
    let made = fixture.rest("ta", "POST /repos/ada/site/git/commits", commit).await;
    let query = "query($a: GitObjectID!, $b: GitObjectID!) { repository(owner: \"ada\", name: \"site\") {
        a: object(oid: $a) { ...commit } b: object(oid: $b) { ...commit } } }
        fragment commit on Commit { oid message authoredDate tree { oid } parents(first: 1) { nodes { oid } } }";
    let unknown = "0".repeat(40);
    let answer = fixture.ask_with("tw", query, json!({"a": made["sha"], "b": unknown})).await;
    let wanted = json!({
        "oid": made["sha"],
        "message": "Two\n\n{}",
        "authoredDate": made["author"]["date"],
        "tree": {"oid": tree},
        "parents": {"nodes": [{"oid": first}]},
    });
    assert_eq!(answer["data"]["repository"], json!({"a": wanted, "b": null}), "{answer}");
}

#[tokio::test]
async fn a_commit_shows_a_file_and_says_that_there_is_none() {
    let fixture = Fixture::start().await;
    let query = "query($path: String!) { repository(owner: \"ada\", name: \"site\") { defaultBranchRef { name target {
        ... on Commit { file(path: $path) { mode type object { ... on Blob { text isBinary isTruncated } } } } } } } }";
    let file = async |path: &str| {
        let answer = fixture.ask_with("tr", query, json!({"path": path})).await;
        (answer["data"]["repository"]["defaultBranchRef"]["target"]["file"].clone(), answer["errors"][0].clone())
    };
    let text = json!({"text": "# Site\n", "isBinary": false, "isTruncated": false});
    assert_eq!(file("README.md").await, (json!({"mode": 0o100_644, "type": "blob", "object": text}), Value::Null));
    let (nothing, problem) = file(".github/none").await;
    assert_eq!((nothing, &problem["type"]), (Value::Null, &json!("NOT_FOUND")));
    assert_eq!(problem["message"], "Could not resolve file for path '.github/none'.");
    assert_eq!(problem["path"], json!(["repository", "defaultBranchRef", "target", "file"]));
}
