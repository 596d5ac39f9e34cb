//! Moods of issues, pull requests, comments and GraphQL: late, touched and missing answers.

use std::time::Duration;

use http::header;
use serde_json::{Value, json};

use super::mood_fixture::{ROLLUP, moody, user};
use crate::{Moods, graphql::tests::fixture::Fixture};

const SITE: &str = "/repos/ada/site";

fn switch(fixture: &Fixture, moods: &str) {
    fixture.forge.set_moods(moods.parse::<Moods>().unwrap().with_percent(100));
}

fn calm(fixture: &Fixture) {
    fixture.forge.set_moods(Moods::default());
}

#[tokio::test]
async fn events_of_an_issue_arrive_two_seconds_late() {
    let fixture = moody("event-lag").await;
    fixture.issue("One").await;
    fixture.rest("ta", &format!("POST {SITE}/labels"), json!({"name": "code"})).await;
    fixture.rest("ta", &format!("POST {SITE}/issues/1/labels"), json!({"labels": ["code"]})).await;
    let seen = async |list: &str| {
        let events = fixture.rest("tw", &format!("GET {SITE}/issues/1/{list}"), Value::Null).await;
        events.as_array().unwrap().iter().filter(|event| event["event"] == "labeled").count()
    };
    assert_eq!((seen("events").await, seen("timeline").await), (0, 0));
    fixture.forge.advance(Duration::from_secs(2));
    assert_eq!((seen("events").await, seen("timeline").await), (1, 1));
    fixture.rest("ta", &format!("DELETE {SITE}/issues/1/labels/code"), Value::Null).await;
    fixture.rest("ta", &format!("POST {SITE}/issues/1/labels"), json!({"labels": ["code"]})).await;
    calm(&fixture);
    assert_eq!(seen("events").await, 2);
}

#[tokio::test]
async fn a_pull_request_cannot_be_opened_just_after_the_push() {
    let fixture = Fixture::start().await;
    let main = fixture.tip("main").await;
    let file = json!([{"path": "a", "mode": "100644", "type": "blob", "content": "a"}]);
    let tree = fixture.rest("tw", &format!("POST {SITE}/git/trees"), json!({"base_tree": main, "tree": file})).await;
    let body = json!({"message": "Add", "tree": tree["sha"], "parents": [main]});
    let commit = fixture.rest("tw", &format!("POST {SITE}/git/commits"), body).await["sha"].clone();
    switch(&fixture, "pull-lag");
    let body = json!({"ref": "refs/heads/work", "sha": commit});
    assert_eq!(fixture.answer("tw", &format!("POST {SITE}/git/refs"), body).await.0, 201);
    let open = async || {
        let body = json!({"title": "Add", "head": "work", "base": "main"});
        fixture.answer("tw", &format!("POST {SITE}/pulls"), body).await
    };
    let (status, said) = open().await;
    let error = &said["errors"][0];
    let is_known = error["message"] == "No commits between main and work"
        || (error["field"] == "head" && error["code"] == "invalid");
    assert!(status == 422 && is_known, "{status} {said}");
    fixture.forge.advance(Duration::from_secs(2));
    let (status, said) = open().await;
    assert_eq!((status, said["errors"][0]["message"].as_str()), (403, Some("was submitted too quickly")));
    calm(&fixture);
    assert_eq!(open().await.0, 201);
}

#[tokio::test]
async fn what_was_just_opened_is_not_found_and_comments_come_too_quickly() {
    let fixture = moody("pull-lag").await;
    fixture.issue("One").await;
    let show = format!("GET {SITE}/issues/1");
    assert_eq!(fixture.answer("tw", &show, Value::Null).await.0, 404);
    fixture.forge.advance(Duration::from_secs(2));
    assert_eq!(fixture.answer("tw", &show, Value::Null).await.0, 200);
    let comment = async || {
        let (status, said) =
            fixture.answer("tw", &format!("POST {SITE}/issues/1/comments"), json!({"body": "Hello."})).await;
        (status, said["errors"][0]["message"].as_str().map(str::to_owned))
    };
    assert_eq!(comment().await, (403, Some("was submitted too quickly".to_owned())));
    calm(&fixture);
    assert_eq!(comment().await, (201, None));
    let comments = fixture.rest("tw", &format!("GET {SITE}/issues/1/comments"), Value::Null).await;
    assert_eq!(comments.as_array().unwrap().len(), 1, "the refused one had no effect");
}

#[tokio::test]
async fn a_comment_that_nobody_edited_is_shown_as_updated_a_second_later() {
    let fixture = moody("touched").await;
    fixture.issue("One").await;
    let made = fixture.rest("tw", &format!("POST {SITE}/issues/1/comments"), json!({"body": "Hello."})).await;
    assert_eq!(made["updated_at"], made["created_at"]);
    fixture.forge.advance(Duration::from_secs(1));
    let query = "{ repository(owner: \"ada\", name: \"site\") { issue(number: 1) { createdAt updatedAt
        comments(first: 1) { nodes { createdAt updatedAt lastEditedAt } } } } }";
    let shown = async || {
        let list = fixture.rest("tw", &format!("GET {SITE}/issues/1/comments"), Value::Null).await;
        let data = fixture.data("tw", query).await["repository"]["issue"]["comments"]["nodes"][0].clone();
        assert_eq!((&data["lastEditedAt"], &data["updatedAt"]), (&Value::Null, &list[0]["updated_at"]));
        let time = |name: &str| list[0][name].as_str().unwrap().parse::<crate::Timestamp>().unwrap();
        (time("updated_at") - time("created_at")).num_seconds()
    };
    assert_eq!((shown().await, shown().await), (1, 1));
    calm(&fixture);
    assert_eq!(shown().await, 0);
}

#[tokio::test]
async fn queries_fail_in_three_ways_and_a_mutation_may_have_had_its_effect() {
    let fixture = moody("queries@3").await;
    calm(&fixture);
    let id = fixture.issue("One").await;
    switch(&fixture, "queries@3");
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..30 {
        let answer = fixture.post("tw", &json!({"query": "{ viewer { login } }"})).await;
        let status = answer.status().as_u16();
        let body: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        let said = body["errors"][0]["message"].as_str().unwrap();
        let kind = body["errors"][0]["type"].as_str().unwrap_or(&said[..20]).to_owned();
        seen.insert((status, kind));
    }
    let timeout = "Something went wrong";
    let known = [(200, "RATE_LIMITED"), (200, timeout), (502, timeout)].map(|(status, kind)| (status, kind.to_owned()));
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), known);
    let mutation =
        format!("mutation {{ addComment(input: {{subjectId: \"{id}\", body: \"Hi\"}}) {{ subject {{ id }} }} }}");
    let mut failed = 0;
    for _ in 0..30 {
        let answer = fixture.post("tw", &json!({"query": mutation})).await;
        failed += usize::from(answer.status().as_u16() == 502);
    }
    calm(&fixture);
    let comments = fixture.rest("tw", &format!("GET {SITE}/issues/1/comments"), Value::Null).await;
    let done = comments.as_array().unwrap().len();
    assert!(done > 0 && done < failed, "{done} of {failed} answers 502 came after the effect");
}

#[tokio::test]
async fn an_edit_history_may_be_null() {
    let fixture = moody("queries").await;
    calm(&fixture);
    let id = fixture.issue("One").await;
    let query =
        format!("{{ node(id: \"{id}\") {{ ... on Issue {{ userContentEdits(first: 1) {{ totalCount }} }} }} }}");
    assert_eq!(fixture.data("tw", &query).await["node"]["userContentEdits"]["totalCount"], 0);
    // 60 of a hundred: some queries are answered, and this id's history is hidden.
    let hidden = async |seed: u64| {
        fixture.forge.set_moods(Moods::new([crate::Mood::Queries], seed).with_percent(60));
        let mut answers = Vec::new();
        for _ in 0..20 {
            let answer = fixture.ask("tw", &query).await;
            answers.extend(answer["data"]["node"].as_object().map(|node| node["userContentEdits"].is_null()));
        }
        assert!(answers.windows(2).all(|pair| pair[0] == pair[1]) && !answers.is_empty(), "{answers:?}");
        answers[0]
    };
    let mut both = std::collections::BTreeSet::new();
    for seed in 0..8 {
        both.insert(hidden(seed).await);
    }
    assert_eq!(both.len(), 2, "drawn by id");
}

#[tokio::test]
async fn checks_are_hidden_from_all_but_admins() {
    let fixture = Fixture::start().await;
    fixture.pull("work").await;
    let sha = fixture.tip("work").await;
    let run = json!({"head_sha": sha, "name": "test", "conclusion": "failure"});
    fixture.rest("tb", &format!("POST {SITE}/check-runs"), run).await;
    let rollup = async |token: &str| {
        let answer = fixture.ask(token, ROLLUP).await;
        let rollup = answer["data"]["repository"]["pullRequest"]["statusCheckRollup"].clone();
        (rollup, answer["errors"][0]["type"].clone(), answer["errors"][0]["message"].clone())
    };
    fixture.forge.set_moods(Moods::new([crate::Mood::HiddenChecks], 0).with_percent(0));
    let (shown, kind, said) = rollup("tw").await;
    assert_eq!((&shown["contexts"]["nodes"], &kind), (&json!([null]), &json!("FORBIDDEN")));
    assert_eq!(said, "Resource not accessible by personal access token");
    assert_eq!(rollup("tb").await.2, "Resource not accessible by integration");
    assert_eq!(rollup("ta").await.0["contexts"]["nodes"], json!([{"name": "test"}]));
    switch(&fixture, "hidden-checks");
    let (shown, kind, _) = rollup("tw").await;
    assert_eq!((shown, kind), (Value::Null, json!("FORBIDDEN")), "all of it");
    calm(&fixture);
    assert_eq!(rollup("tw").await.0["contexts"]["nodes"], json!([{"name": "test"}]));
}

#[tokio::test]
async fn too_many_points_are_refused_until_the_minute_is_over() {
    let fixture = moody("points").await;
    let ask = async || fixture.send("tw", &format!("PATCH {SITE}/issues/9"), json!({"title": "x"})).await;
    for _ in 0..180 {
        assert_eq!(ask().await.status(), 404);
    }
    let refused = ask().await;
    assert_eq!(refused.status(), 403);
    assert!(!refused.headers().contains_key(header::RETRY_AFTER), "at times, here always");
    assert!(refused.text().await.unwrap().contains("You have exceeded a secondary rate limit"));
    assert_eq!(fixture.answer("ta", &format!("GET {SITE}"), Value::Null).await.0, 200, "another account");
    fixture.forge.advance(Duration::from_secs(60));
    assert_eq!(ask().await.status(), 404);
    calm(&fixture);
    for _ in 0..200 {
        assert_eq!(ask().await.status(), 404);
    }
}

#[tokio::test]
async fn a_permission_is_shown_to_who_may_push() {
    let fixture = Fixture::start().await;
    fixture.forge.add_user(&user("ron:tro:read"));
    let ask = async |token: &str| {
        let (status, said) =
            fixture.answer(token, &format!("GET {SITE}/collaborators/wil/permission"), Value::Null).await;
        (status, said["message"].as_str().map(str::to_owned))
    };
    assert_eq!(ask("tw").await, (200, None));
    let refusal = "Must have push access to view collaborator permission.".to_owned();
    assert_eq!(ask("tro").await, (403, Some(refusal)));
}
