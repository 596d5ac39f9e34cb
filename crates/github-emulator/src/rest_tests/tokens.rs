//! Kinds of tokens: the limits of a fine-grained one and a job's.

use serde_json::{Value, json};

use super::mood_fixture::{ROLLUP, user};
use crate::{Options, graphql::tests::fixture::Fixture};

const SITE: &str = "/repos/ada/site";

/// A pull request 1 whose head has a check run and a commit status.
async fn checked() -> (Fixture, String) {
    let fixture = Fixture::start().await;
    fixture.pull("work").await;
    let sha = fixture.tip("work").await;
    let run = json!({"head_sha": sha, "name": "test", "conclusion": "failure"});
    assert_eq!(fixture.answer("tb", &format!("POST {SITE}/check-runs"), run).await.0, 201);
    let status = json!({"context": "lint", "state": "success"});
    assert_eq!(fixture.answer("tw", &format!("POST {SITE}/statuses/{sha}"), status).await.0, 201);
    (fixture, sha)
}

#[tokio::test]
async fn a_fine_grained_token_sees_no_check_runs_and_all_statuses() {
    let (fixture, sha) = checked().await;
    fixture.forge.add_user(&user("fin:tf:write:fine-grained"));
    for below in [format!("/commits/{sha}/check-runs"), format!("/commits/{sha}/check-suites"), "/check-runs/1".into()]
    {
        let (status, said) = fixture.answer("tf", &format!("GET {SITE}{below}"), Value::Null).await;
        assert_eq!((status, said["message"].as_str()), (403, Some("Resource not accessible by personal access token")));
    }
    let (status, statuses) = fixture.answer("tf", &format!("GET {SITE}/commits/{sha}/statuses"), Value::Null).await;
    assert_eq!((status, statuses[0]["context"].as_str()), (200, Some("lint")));
    assert_eq!(fixture.answer("tw", &format!("GET {SITE}/commits/{sha}/check-runs"), Value::Null).await.0, 200);
    assert_eq!(fixture.answer("tf", "GET /user", Value::Null).await.1["type"], "User");
}

#[tokio::test]
async fn graphql_refuses_a_fine_grained_token_each_check_run() {
    let (fixture, _) = checked().await;
    fixture.forge.add_user(&user("fin:tf:write:fine-grained"));
    let answer = fixture.ask("tf", ROLLUP).await;
    let rollup = &answer["data"]["repository"]["pullRequest"]["statusCheckRollup"];
    assert_eq!(rollup["contexts"]["nodes"], json!([null, {"context": "lint"}]));
    assert_eq!(rollup["state"], "FAILURE");
    let path = json!(["repository", "pullRequest", "statusCheckRollup", "contexts", "nodes", 0]);
    let error = &answer["errors"][0];
    assert_eq!((&error["type"], &error["path"]), (&json!("FORBIDDEN"), &path));
    assert_eq!(error["message"], "Resource not accessible by personal access token");
    assert_eq!(answer["errors"].as_array().unwrap().len(), 1);
    assert_eq!(fixture.ask("tw", ROLLUP).await["errors"], Value::Null);
}

#[tokio::test]
async fn a_job_is_no_user_and_has_an_hour_in_each_repository() {
    let fixture = Fixture::start_with(Options::default()).await;
    fixture.forge.add_user(&user("github-actions:tj:write:job"));
    let (status, said) = fixture.answer("tj", "GET /user", Value::Null).await;
    assert_eq!((status, said["message"].as_str()), (403, Some("Resource not accessible by integration")));
    let left = async |path: &str| {
        let answer = fixture.send("tj", &format!("GET {path}"), Value::Null).await;
        let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
        (header("x-ratelimit-limit"), header("x-ratelimit-remaining"))
    };
    fixture.rest("ta", "POST /user/repos", json!({"name": "other"})).await;
    assert_eq!(left(SITE).await, ("1000".to_owned(), "999".to_owned()));
    assert_eq!(left("/repos/ada/site/labels").await.1, "998");
    assert_eq!(left("/repos/ada/other").await.1, "999");
    assert_eq!(left("/search/issues?q=is:open").await, ("30".to_owned(), "29".to_owned()));
    let bot = fixture.rest("ta", "GET /users/github-actions[bot]", Value::Null).await;
    assert_eq!((&bot["login"], &bot["type"]), (&json!("github-actions[bot]"), &json!("Bot")));
}
