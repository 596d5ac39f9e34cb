//! Mutations: in order, each with the rights and the events of the REST API.

use serde_json::{Value, json};

use super::fixture::Fixture;

#[tokio::test]
async fn several_mutations_run_in_order_and_a_refused_one_stops_none() {
    let fixture = Fixture::start().await;
    let id = fixture.issue("One").await;
    let label = fixture.rest("ta", "POST /repos/ada/site/labels", json!({"name": "code"})).await;
    let query = "mutation($id: ID!, $label: ID!) {
        on: addLabelsToLabelable(input: {labelableId: $id, labelIds: [$label]}) { labelable { labels(first: 5) { nodes { name } } } }
        say: addComment(input: {subjectId: $id, body: \"done\"}) { commentEdge { node { id body author { login } } } subject { id } }
        gone: closeIssue(input: {issueId: \"nothing\"}) { issue { state } }
        shut: closeIssue(input: {issueId: $id, stateReason: NOT_PLANNED}) { issue { state stateReason comments { totalCount } } }
        open: reopenIssue(input: {issueId: $id}) { issue { state } }
        off: removeLabelsFromLabelable(input: {labelableId: $id, labelIds: [$label]}) { labelable { labels(first: 5) { totalCount } } }
    }";
    let answer = fixture.ask_with("tw", query, json!({"id": id, "label": label["node_id"]})).await;
    let data = &answer["data"];
    assert_eq!(data["on"]["labelable"]["labels"]["nodes"], json!([{"name": "code"}]));
    assert_eq!(data["say"]["commentEdge"]["node"]["author"]["login"], "wil");
    assert_eq!(data["say"]["subject"]["id"], id.as_str());
    assert_eq!(data["gone"], Value::Null);
    assert_eq!(
        data["shut"]["issue"],
        json!({"state": "CLOSED", "stateReason": "NOT_PLANNED", "comments": {"totalCount": 1}})
    );
    assert_eq!(
        (&data["open"]["issue"]["state"], &data["off"]["labelable"]["labels"]["totalCount"]),
        (&json!("OPEN"), &json!(0))
    );
    let errors = answer["errors"].as_array().unwrap();
    assert_eq!((errors.len(), &errors[0]["type"], &errors[0]["path"]), (1, &json!("NOT_FOUND"), &json!(["gone"])));
    let events = fixture.rest("ta", "GET /repos/ada/site/issues/1/events", Value::Null).await;
    let names: Vec<_> = events.as_array().unwrap().iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["labeled", "closed", "reopened", "unlabeled"]);
}

#[tokio::test]
async fn a_pull_request_goes_from_draft_to_merged() {
    let fixture = Fixture::start().await;
    fixture.issue("One").await;
    let number = fixture.pull("work").await;
    let of = format!(
        "{{ repository(owner: \"ada\", name: \"site\") {{ id pullRequest(number: {number}) {{
        id mergeable additions files(first: 5) {{ nodes {{ path changeType }} }} headRef {{ name target {{ oid }} }}
        commits(last: 1) {{ nodes {{ commit {{ messageHeadline messageBody oid }} }} }}
        closingIssuesReferences(first: 5) {{ nodes {{ number }} }} }} }} }}"
    );
    let seen = fixture.data("tw", &of).await["repository"].clone();
    let pull = &seen["pullRequest"];
    assert_eq!((&pull["mergeable"], &pull["additions"]), (&json!("MERGEABLE"), &json!(2)));
    assert_eq!(pull["files"]["nodes"], json!([{"path": "work", "changeType": "ADDED"}]));
    let commit = &pull["commits"]["nodes"][0]["commit"];
    assert_eq!((&commit["messageHeadline"], &commit["messageBody"]), (&json!("Add it"), &json!("With a reason.")));
    assert_eq!(pull["headRef"]["target"]["oid"], commit["oid"]);
    assert_eq!(pull["closingIssuesReferences"]["nodes"], json!([{"number": 1}]));

    let query = "mutation($id: ID!, $head: GitObjectID!) {
        convertPullRequestToDraft(input: {pullRequestId: $id}) { pullRequest { isDraft } }
        early: mergePullRequest(input: {pullRequestId: $id}) { pullRequest { merged } }
        markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } }
        updatePullRequest(input: {pullRequestId: $id, title: \"Add all\"}) { pullRequest { title } }
        addPullRequestReview(input: {pullRequestId: $id, event: APPROVE, body: \"good\"}) { pullRequestReview { state } }
        mergePullRequest(input: {pullRequestId: $id, mergeMethod: SQUASH, expectedHeadOid: $head}) {
            pullRequest { state merged mergedBy { login } reviewDecision mergeCommit { messageHeadline } } actor { login } }
    }";
    let answer = fixture.ask_with("tw", query, json!({"id": pull["id"], "head": commit["oid"]})).await;
    let merged = &answer["data"]["mergePullRequest"];
    assert_eq!((&answer["errors"][0]["path"], &answer["errors"][1]), (&json!(["early"]), &Value::Null));
    assert_eq!((&merged["actor"]["login"], &merged["pullRequest"]["state"]), (&json!("wil"), &json!("MERGED")));
    assert_eq!(merged["pullRequest"]["reviewDecision"], "APPROVED");
    assert_eq!(merged["pullRequest"]["mergeCommit"]["messageHeadline"], format!("Add all (#{number})"));
    assert_eq!(fixture.rest("ta", "GET /repos/ada/site/issues/1", Value::Null).await["state"], "closed");
}

#[tokio::test]
async fn a_review_thread_is_answered_resolved_and_opened_again() {
    let fixture = Fixture::start().await;
    let number = fixture.pull("work").await;
    let comment = json!({"body": "Why?", "path": "work", "line": 1, "side": "RIGHT"});
    let at = format!("/repos/ada/site/pulls/{number}/comments");
    let first = fixture.rest("tw", &format!("POST {at}"), comment).await;
    let threads = format!(
        "{{ repository(owner: \"ada\", name: \"site\") {{ pullRequest(number: {number}) {{
        reviewThreads(first: 10) {{ nodes {{ id isResolved resolvedBy {{ login }} path line viewerCanResolve
            comments(first: 10) {{ nodes {{ id body replyTo {{ body }} }} }} }} }} }} }} }}"
    );
    let of = |data: Value| data["repository"]["pullRequest"]["reviewThreads"]["nodes"].clone();
    let thread = of(fixture.data("tw", &threads).await)[0].clone();
    assert_eq!((&thread["isResolved"], &thread["line"], &thread["path"]), (&json!(false), &json!(1), &json!("work")));
    let id = &thread["id"];
    let reply = format!(
        "mutation {{ addPullRequestReviewThreadReply(input: {{pullRequestReviewThreadId: {id}, body: \"So.\"}}) {{
        comment {{ body replyTo {{ body }} }} }} }}"
    );
    let reply = fixture.data("ta", &reply).await["addPullRequestReviewThreadReply"]["comment"].clone();
    assert_eq!(reply, json!({"body": "So.", "replyTo": {"body": "Why?"}}));
    let resolve =
        format!("mutation {{ resolveReviewThread(input: {{threadId: {id}}}) {{ thread {{ isResolved }} }} }}");
    assert_eq!(fixture.ask("tr", &resolve).await["errors"][0]["type"], "FORBIDDEN");
    assert_eq!(fixture.data("tw", &resolve).await["resolveReviewThread"]["thread"]["isResolved"], true);
    let seen = of(fixture.data("ta", &threads).await);
    assert_eq!((seen.as_array().unwrap().len(), &seen[0]["resolvedBy"]["login"]), (1, &json!("wil")));
    assert_eq!(seen[0]["comments"]["nodes"][0]["id"], first["node_id"]);
    assert_eq!(seen[0]["comments"]["nodes"][1]["replyTo"]["body"], "Why?");
    let open = format!(
        "mutation {{ unresolveReviewThread(input: {{threadId: {id}}}) {{ thread {{ isResolved resolvedBy {{ login }} }} }} }}"
    );
    let opened = fixture.data("ta", &open).await["unresolveReviewThread"]["thread"].clone();
    assert_eq!(opened, json!({"isResolved": false, "resolvedBy": null}));
}

/// `EveryInc/compound-engineering-plugin#1196`: such a reply answers with an id and an address, and nobody sees it.
#[tokio::test]
async fn a_reply_joins_the_review_that_its_account_has_not_submitted() {
    let fixture = Fixture::start().await;
    let number = fixture.pull("work").await;
    let at = format!("/repos/ada/site/pulls/{number}");
    let comment = json!({"body": "Why?", "path": "work", "line": 1, "side": "RIGHT"});
    let first = fixture.rest("tw", &format!("POST {at}/comments"), comment).await;
    fixture.rest("ta", &format!("POST {at}/reviews"), json!({"body": "Later."})).await;
    let replies = format!("POST {at}/comments/{}/replies", first["id"]);
    let refused = fixture.rest("ta", &replies, json!({"body": "So."})).await;
    assert_eq!(refused["errors"][0]["field"], "user_id", "{refused}");
    let seen = format!(
        "{{ repository(owner: \"ada\", name: \"site\") {{ pullRequest(number: {number}) {{
        reviews(last: 1, states: [PENDING]) {{ totalCount }}
        reviewThreads(last: 1) {{ nodes {{ id comments(last: 9) {{ totalCount }} }} }} }} }} }}"
    );
    let own = fixture.data("ta", &seen).await["repository"]["pullRequest"].clone();
    assert_eq!(own["reviews"]["totalCount"], 1);
    let thread = &own["reviewThreads"]["nodes"][0]["id"];
    let reply = format!(
        "mutation {{ addPullRequestReviewThreadReply(input: {{pullRequestReviewThreadId: {thread}, body: \"So.\"}}) {{
        comment {{ state }} }} }}"
    );
    let reply = fixture.data("ta", &reply).await["addPullRequestReviewThreadReply"]["comment"].clone();
    assert_eq!(reply["state"], "PENDING");
    let others = fixture.data("tw", &seen).await["repository"]["pullRequest"].clone();
    assert_eq!(others["reviews"]["totalCount"], 0);
    assert_eq!(others["reviewThreads"]["nodes"][0]["comments"]["totalCount"], 1);
}

#[tokio::test]
async fn a_comment_is_hidden_for_a_reason_and_shown_again() {
    let fixture = Fixture::start().await;
    let issue = fixture.issue("One").await;
    let add = format!(
        "mutation {{ addComment(input: {{subjectId: \"{issue}\", body: \"old\"}}) {{ commentEdge {{ node {{ id }} }} }} }}"
    );
    let id = fixture.data("tr", &add).await["addComment"]["commentEdge"]["node"]["id"].clone();
    let hide = format!(
        "mutation {{ minimizeComment(input: {{subjectId: {id}, classifier: OFF_TOPIC}}) {{
        minimizedComment {{ isMinimized minimizedReason }} }} }}"
    );
    assert_eq!(fixture.ask("tt", &hide).await["errors"][0]["type"], "FORBIDDEN", "triage may not");
    let hidden = fixture.data("tw", &hide).await["minimizeComment"]["minimizedComment"].clone();
    assert_eq!(hidden, json!({"isMinimized": true, "minimizedReason": "off-topic"}));
    let show = format!(
        "mutation {{ unminimizeComment(input: {{subjectId: {id}}}) {{ unminimizedComment {{ isMinimized }} }} }}"
    );
    assert_eq!(fixture.data("tr", &show).await["unminimizeComment"]["unminimizedComment"]["isMinimized"], false);
}
