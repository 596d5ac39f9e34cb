//! Bots: the REST API shows them by a name that ends with `[bot]`, GraphQL as a `Bot` without it, wherever they act.

use serde_json::{Value, json};

use super::fixture::Fixture;

/// A forge with an account that was declared as `app:tp:write:bot`.
async fn with_bot() -> Fixture {
    let fixture = Fixture::start().await;
    fixture.forge.add_user(&"app:tp:write:bot".parse().unwrap());
    fixture
}

#[tokio::test]
async fn a_bot_has_its_suffix_over_rest_whoever_declares_it_without() {
    let fixture = with_bot().await;
    let me = fixture.rest("tp", "GET /user", Value::Null).await;
    assert_eq!((&me["login"], &me["type"]), (&json!("app[bot]"), &json!("Bot")));
    let page = format!("{}/apps/app", fixture.forge.server_url());
    assert_eq!(fixture.rest("ta", "GET /users/app%5Bbot%5D", Value::Null).await["html_url"], page);
    assert_eq!(fixture.answer("ta", "GET /users/app", Value::Null).await.0, 404);
    assert_eq!(fixture.rest("tb", "GET /user", Value::Null).await["login"], "hob[bot]", "one suffix is enough");

    fixture.rest("tp", "POST /repos/ada/site/issues", json!({"title": "One", "body": "first"})).await;
    let found = fixture.rest("ta", "GET /repos/ada/site/issues?creator=app%5Bbot%5D", Value::Null).await;
    assert_eq!((found[0]["number"].clone(), &found[0]["user"]["login"]), (json!(1), &json!("app[bot]")));
    fixture.rest("tp", "PATCH /repos/ada/site/issues/1", json!({"title": "Two"})).await;
    let events = fixture.rest("ta", "GET /repos/ada/site/issues/1/events", Value::Null).await;
    assert_eq!(events[0]["actor"]["login"], "app[bot]");

    let file = json!({"message": "Add it", "content": "YQ==", "branch": "main"});
    let commit = fixture.rest("tp", "PUT /repos/ada/site/contents/a.txt", file).await["commit"].clone();
    assert_eq!(commit["author"]["email"], format!("{}+app[bot]@users.noreply.github.com", me["id"]));
    let shown = fixture.rest("ta", "GET /repos/ada/site/commits/main", Value::Null).await;
    assert_eq!((&shown["author"]["login"], &shown["author"]["type"]), (&json!("app[bot]"), &json!("Bot")));
}

#[tokio::test]
async fn a_bot_is_a_bot_without_the_suffix_wherever_graphql_names_who_acts() {
    let fixture = with_bot().await;
    let issue = fixture.rest("tp", "POST /repos/ada/site/issues", json!({"title": "One", "body": "first"})).await;
    fixture.rest("tp", "PATCH /repos/ada/site/issues/1", json!({"body": "second"})).await;
    fixture.rest("tp", "POST /repos/ada/site/issues/1/comments", json!({"body": "beep"})).await;
    let pull = fixture.pull("work").await;
    let review = json!({"event": "APPROVE", "body": "Good."});
    fixture.rest("tp", &format!("POST /repos/ada/site/pulls/{pull}/reviews"), review).await;
    let query = "{ repository(owner: \"ada\", name: \"site\") {
        issue(number: 1) {
            author { ...who } editor { ...who } userContentEdits(first: 1) { nodes { editor { ...who } } }
            comments(last: 1) { nodes { author { ...who ... on User { name } } } }
        }
        pullRequest(number: 2) { reviews(first: 1) { nodes { author { ...who } } } }
    } } fragment who on Actor { __typename login }";
    let data = fixture.data("ta", query).await["repository"].clone();
    let bot = json!({"__typename": "Bot", "login": "app"});
    for who in [
        "/issue/author",
        "/issue/editor",
        "/issue/userContentEdits/nodes/0/editor",
        "/issue/comments/nodes/0/author",
        "/pullRequest/reviews/nodes/0/author",
    ] {
        assert_eq!(data.pointer(who), Some(&bot), "{who}: {data}");
    }
    let id = &issue["user"]["node_id"];
    let node = fixture.data("ta", &format!("{{ node(id: {id}) {{ ... on Bot {{ id login }} }} }}")).await;
    assert_eq!(node["node"], json!({"id": id, "login": "app"}), "one id over both");
}

#[tokio::test]
async fn a_bot_has_its_whole_name_where_the_schema_has_a_user() {
    let fixture = with_bot().await;
    assert_eq!(fixture.data("tp", "{ viewer { login } }").await["viewer"]["login"], "app[bot]");
    fixture.issue("One").await;
    let number = fixture.pull("work").await;
    let sha = fixture.tip("work").await;
    let comment = json!({"body": "Why?", "path": "work", "line": 1, "side": "RIGHT", "commit_id": sha});
    fixture.rest("tw", &format!("POST /repos/ada/site/pulls/{number}/comments"), comment).await;
    let query = "{ repository(owner: \"ada\", name: \"site\") { pullRequest(number: 2) {
        reviewThreads(first: 1) { nodes { id resolvedBy { login } } } } } }";
    let thread = |data: &Value| data["repository"]["pullRequest"]["reviewThreads"]["nodes"][0].clone();
    let id = thread(&fixture.data("ta", query).await)["id"].clone();
    let resolve =
        format!("mutation {{ resolveReviewThread(input: {{threadId: {id}}}) {{ thread {{ isResolved }} }} }}");
    fixture.data("tp", &resolve).await;
    assert_eq!(thread(&fixture.data("ta", query).await)["resolvedBy"]["login"], "app[bot]");
}

#[tokio::test]
async fn a_search_finds_a_bots_issues_by_both_of_its_names() {
    let fixture = with_bot().await;
    fixture.rest("tp", "POST /repos/ada/site/issues", json!({"title": "One"})).await;
    for (name, count) in [("app/app", 1), ("app[bot]", 1), ("app", 0), ("app/hob", 0)] {
        let query = format!("{{ search(type: ISSUE, query: \"author:{name}\", first: 1) {{ issueCount }} }}");
        assert_eq!(fixture.data("ta", &query).await["search"]["issueCount"], count, "{name}");
    }
}
