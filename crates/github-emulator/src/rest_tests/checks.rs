//! Check runs, their annotations and their suites.

use serde_json::{Value, json};

use crate::graphql::tests::fixture::Fixture;

const RUNS: &str = "/repos/ada/site/check-runs";

fn note(line: u64, message: &str) -> Value {
    json!({"path": "work", "start_line": line, "end_line": line, "annotation_level": "warning", "message": message})
}

#[tokio::test]
async fn annotations_are_added_by_each_request_and_listed_by_pages() {
    let fixture = Fixture::start().await;
    fixture.pull("work").await;
    let output = json!({"title": "Lint", "summary": "Two.", "annotations": [note(1, "One")]});
    let body = json!({"name": "lint", "head_sha": fixture.tip("work").await, "output": output});
    let (status, run) = fixture.answer("tb", &format!("POST {RUNS}"), body).await;
    assert_eq!((status, &run["output"]["annotations_count"]), (201, &json!(1)), "{run}");
    assert_eq!(run["app"]["slug"], "hob");
    let own = format!("{RUNS}/{}", run["id"]);
    let more = json!({"output": {"title": "Lint", "summary": "Two.", "annotations": [note(2, "Two")]}});
    let (_, changed) = fixture.answer("tb", &format!("PATCH {own}"), more).await;
    assert_eq!(changed["output"]["annotations_count"], 2);
    let (_, listed) = fixture.answer("tr", &format!("GET {own}/annotations?per_page=1&page=2"), Value::Null).await;
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["message"]), (1, &json!("Two")));
    let bad = [
        json!([{"path": "work", "start_line": 2, "end_line": 1, "annotation_level": "notice", "message": "m"}]),
        json!([{"path": "work", "start_line": 1, "end_line": 1, "annotation_level": "fatal", "message": "m"}]),
        json!([{"path": "work", "start_line": 1, "end_line": 2, "start_column": 1, "annotation_level": "notice",
            "message": "m"}]),
        json!(vec![note(1, "m"); 51]),
    ];
    for annotations in bad {
        let body = json!({"output": {"title": "t", "summary": "s", "annotations": annotations}});
        assert_eq!(fixture.answer("tb", &format!("PATCH {own}"), body).await.0, 422);
    }
}

#[tokio::test]
async fn a_check_run_is_asked_for_again_by_its_own_app() {
    let fixture = Fixture::start().await;
    fixture.forge.add_user(&"other[bot]:to:write:bot".parse().unwrap());
    let sha = fixture.tip("main").await;
    let body = json!({"name": "lint", "head_sha": sha, "conclusion": "failure"});
    let (_, run) = fixture.answer("tb", &format!("POST {RUNS}"), body).await;
    let own = format!("{RUNS}/{}", run["id"]);
    let again = format!("POST {own}/rerequest");
    assert_eq!(fixture.answer("tw", &again, Value::Null).await.0, 403, "a person is not an App");
    let (status, refused) = fixture.answer("to", &again, Value::Null).await;
    assert!(status == 403 && refused["message"].as_str().unwrap().starts_with("Invalid app_id"), "{refused}");
    assert_eq!(fixture.answer("to", &format!("PATCH {own}"), json!({"name": "x"})).await.0, 403);
    assert_eq!(fixture.answer("tb", &again, Value::Null).await, (201, json!({})));
    let (_, same) = fixture.answer("tb", &format!("GET {own}"), Value::Null).await;
    assert_eq!(same["conclusion"], "failure", "the check run stays as it is");
    let suites = format!("GET /repos/ada/site/commits/{sha}/check-suites");
    let (_, listed) = fixture.answer("tr", &suites, Value::Null).await;
    assert_eq!((&listed["total_count"], &listed["check_suites"][0]["status"]), (&json!(1), &json!("queued")));
    fixture.answer("tb", &format!("PATCH {own}"), json!({"status": "in_progress"})).await;
    assert_eq!(fixture.answer("tb", &again, Value::Null).await.0, 422, "it is under way");
}

#[tokio::test]
async fn each_app_has_a_suite_of_its_own_on_a_commit() {
    let fixture = Fixture::start().await;
    fixture.forge.add_user(&"other[bot]:to:write:bot".parse().unwrap());
    let sha = fixture.tip("main").await;
    for (token, name, conclusion) in [("tb", "a", "success"), ("tb", "b", "failure"), ("to", "a", "success")] {
        let body = json!({"name": name, "head_sha": sha, "conclusion": conclusion});
        assert_eq!(fixture.answer(token, &format!("POST {RUNS}"), body).await.0, 201);
    }
    let suites = async |query: &str| {
        let path = format!("GET /repos/ada/site/commits/main/check-suites{query}");
        let listed = fixture.answer("tr", &path, Value::Null).await.1["check_suites"].clone();
        let all = listed.as_array().unwrap().iter();
        all.map(|suite| (suite["conclusion"].as_str().unwrap().to_owned(), suite["app"]["id"].clone()))
            .collect::<Vec<_>>()
    };
    let all = suites("").await;
    assert_eq!(all.iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>(), ["failure", "success"]);
    assert_eq!(suites("?check_name=b").await, all[..1]);
    assert_eq!(suites(&format!("?app_id={}", all[1].1)).await, all[1..]);
}
