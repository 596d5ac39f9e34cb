//! The client's reading of recorded answers of GitHub's, compared with the recording.
//!
//! # Caveats
//! The recordings cover 12 kinds of Hob's calls: the repository, also one that was renamed, the names in its top folder, its
//! labels, its issues over their pages, an issue that is opened, its labels, a commit's statuses, and the moves of refs.
//! [docs/design/github.md](../../../docs/design/github.md) says what supports the others.

use hob_domain::{
    ForgeCheckState, IssueNumber, IssueStatus, LabelChange, LabelSpec, ProofState, ProofStatus, SUB_ISSUE_MARK, Sha,
    Timestamp,
};
use hob_forge::{CallCounts, ForgeError};
use http::Method;
use serde_json::Value;

use super::{
    packages::installed,
    replay::{Exchange, Replay, exchanges, scenarios},
};

/// The scenarios that a test below plays.
pub(super) const PLAYED: [&str; 11] = [
    "add-labels-to-issue",
    "create-status",
    "errors",
    "get-content",
    "get-repository",
    "git-refs",
    "labels",
    "lock-issue",
    "paginate-issues",
    "rename-repository",
    "search-issues",
];

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn time(value: &Value) -> Timestamp {
    text(value).parse().unwrap()
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| text(&one["name"])).collect()
}

#[test]
fn each_scenario_with_an_answer_to_a_call_of_hobs_is_played() {
    let Some(folder) = installed() else { return };
    let is_of_hob = |name: &String| exchanges(&folder, name).iter().any(Exchange::is_of_hob);
    let mut of_hob: Vec<String> = scenarios(&folder).into_iter().filter(is_of_hob).collect();
    of_hob.sort();
    assert_eq!(of_hob, PLAYED);
}

#[tokio::test]
async fn a_repository_is_read_as_recorded_and_asked_for_again_by_its_tag() {
    let Some(folder) = installed() else { return };
    let replay = Replay::of(&folder, "get-repository", &[]).await;
    let recorded = replay.recorded(&Method::GET, "");
    for _ in 0..2 {
        let details = replay.forge.repository().details().await.unwrap();
        assert_eq!(details.default_branch, text(&recorded.body["default_branch"]));
        assert_eq!(details.archived, recorded.body["archived"]);
        assert_eq!(details.has_issues, recorded.body["has_issues"]);
        // The recording does not name the caller, so nothing counts as forbidden.
        assert!(!details.is_read_only);
    }
    let tags: Vec<_> = replay.asked().into_iter().map(|asked| asked.tag).collect();
    assert_eq!(tags, [None, recorded.header("etag").map(str::to_owned)]);
    let connection = replay.forge.connection();
    assert_eq!(connection.call_counts(), CallCounts { reads: 1, unchanged: 1, writes: 0 });
    let number = |name: &str| recorded.header(name).unwrap().parse::<u64>().unwrap();
    let rates = connection.rates();
    let [rate] = rates.as_slice() else { panic!("{rates:?}") };
    assert_eq!(rate.resource, recorded.header("x-ratelimit-resource").unwrap());
    assert_eq!((rate.limit, rate.remaining), (number("x-ratelimit-limit"), number("x-ratelimit-remaining")));
    assert_eq!(u64::try_from(rate.reset.timestamp()).unwrap(), number("x-ratelimit-reset"));
    let date = chrono::DateTime::parse_from_rfc2822(recorded.header("date").unwrap()).unwrap();
    assert!(connection.now() >= date.to_utc(), "the forge's time is that of its answers");
    replay.end();
}

#[tokio::test]
async fn a_repository_that_was_renamed_is_told_by_its_new_name() {
    let Some(folder) = installed() else { return };
    let replay = Replay::of(&folder, "rename-repository", &[]).await;
    let error = replay.forge.repository().details().await.unwrap_err();
    let ForgeError::Moved { to: Some(name), .. } = error else { panic!("{error}") };
    let at_its_number = replay.all_recorded(&Method::GET, "").find(|one| one.path.starts_with("/repositories/"));
    assert_eq!(name.to_string(), text(&at_its_number.unwrap().body["full_name"]));
    assert_ne!(name, *replay.forge.repo());
    replay.end();
}

#[tokio::test]
async fn the_names_in_the_top_folder_are_read_as_recorded() {
    let Some(folder) = installed() else { return };
    let replay = Replay::of(&folder, "get-content", &[]).await;
    let read = replay.forge.repository().top_names(&Sha::from("main")).await.unwrap();
    assert_eq!(read, names(&replay.recorded(&Method::GET, "/contents/").body));
    replay.end();
}

#[tokio::test]
async fn issues_are_read_over_their_recorded_pages_and_opened() {
    let Some(folder) = installed() else { return };
    let replay = Replay::of(&folder, "paginate-issues", &[]).await;
    let pages: Vec<&Exchange> = replay.all_recorded(&Method::GET, "/issues").collect();
    let recorded: Vec<&Value> = pages.iter().flat_map(|page| page.body.as_array().unwrap()).collect();
    assert_eq!((pages.len(), recorded.len()), (5, 13));
    for _ in 0..2 {
        let found = replay.forge.issues().open_with("code").await.unwrap();
        assert!(found.unreadable.is_empty(), "{:?}", found.unreadable);
        assert_eq!(found.issues.len(), recorded.len());
        for (issue, recorded) in found.issues.iter().zip(&recorded) {
            assert_eq!((issue.number, issue.title.as_str()), (number(recorded), text(&recorded["title"])));
            assert_eq!(issue.body, recorded["body"].as_str().unwrap_or_default());
            assert_eq!(issue.author.as_ref().unwrap().as_str(), text(&recorded["user"]["login"]));
            assert_eq!(issue.status == IssueStatus::Open, recorded["state"] == "open");
            assert_eq!(issue.labels, names(&recorded["labels"]));
            assert_eq!(
                (issue.created_at, issue.updated_at),
                (time(&recorded["created_at"]), time(&recorded["updated_at"]))
            );
            assert_eq!(Some(issue.comments), recorded["comments"].as_u64());
            // GitHub's pages have an address of their own host, which stays as it is.
            assert_eq!(issue.html_url, text(&recorded["html_url"]));
        }
    }
    let tags: Vec<_> = replay.asked().into_iter().map(|asked| asked.tag).collect();
    let recorded_tags = pages.iter().map(|page| page.header("etag").map(str::to_owned));
    assert_eq!(tags[5..], recorded_tags.collect::<Vec<_>>());
    assert_eq!(replay.forge.connection().call_counts(), CallCounts { reads: 5, unchanged: 5, writes: 0 });
    opens(&replay).await;
    replay.end();
}

#[tokio::test]
async fn an_issue_that_is_opened_has_the_number_that_was_recorded() {
    let Some(folder) = installed() else { return };
    for scenario in ["lock-issue", "search-issues"] {
        let replay = Replay::of(&folder, scenario, &[]).await;
        opens(&replay).await;
        replay.end();
    }
}

fn number(issue: &Value) -> IssueNumber {
    IssueNumber(issue["number"].as_u64().unwrap())
}

/// Opens as many issues as were recorded.
async fn opens(replay: &Replay) {
    let lease = replay.lease().await;
    let body = format!("{SUB_ISSUE_MARK}1 1 1 -->\nx");
    for recorded in replay.all_recorded(&Method::POST, "/issues") {
        let opened = replay.forge.sub_issues().open(&lease, "Chore", &body).await.unwrap();
        assert_eq!(opened.number, number(&recorded.body));
    }
}

#[tokio::test]
async fn labels_are_put_on_an_issue_as_recorded() {
    let Some(folder) = installed() else { return };
    let replay = Replay::of(&folder, "add-labels-to-issue", &[]).await;
    opens(&replay).await;
    let lease = replay.lease().await;
    replay.forge.labels().change(&lease, &LabelChange::Add("Foo".to_owned())).await.unwrap();
    replay.end();
}

#[tokio::test]
async fn a_repository_lacks_no_label_that_was_recorded_and_gets_another() {
    let Some(folder) = installed() else { return };
    let replay = Replay::of(&folder, "labels", &[]).await;
    let label = |name: &str| LabelSpec { name: name.to_owned(), color: "663399", description: "x" };
    let there = names(&replay.recorded(&Method::GET, "/labels").body);
    let specs: Vec<_> = there.iter().copied().chain(["test-label"]).map(label).collect();
    for _ in 0..2 {
        let missing = replay.forge.labels().missing(&specs).await.unwrap();
        assert_eq!(missing.iter().map(|spec| spec.name.as_str()).collect::<Vec<_>>(), ["test-label"]);
    }
    let tags: Vec<_> = replay.asked().into_iter().map(|asked| asked.tag).collect();
    assert_eq!(tags, [None, replay.recorded(&Method::GET, "/labels").header("etag").map(str::to_owned)]);
    replay.forge.labels().create(&[label("test-label")]).await.unwrap();
    replay.end();
}

#[tokio::test]
async fn a_label_that_github_refuses_is_told_in_its_words() {
    let Some(folder) = installed() else { return };
    let replay = Replay::of(&folder, "errors", &[]).await;
    let label = LabelSpec { name: "foo".to_owned(), color: "invalid", description: "x" };
    let error = replay.forge.labels().create(&[label]).await.unwrap_err();
    let recorded = replay.recorded(&Method::POST, "/labels");
    let ForgeError::Refused { status, message, .. } = error else { panic!("{error}") };
    assert_eq!(status, recorded.status);
    let error = &recorded.body["errors"][0];
    assert_eq!(
        message,
        format!("{}; {} {}", text(&recorded.body["message"]), text(&error["field"]), text(&error["code"]))
    );
    replay.end();
}

#[tokio::test]
async fn the_statuses_of_a_commit_are_set_and_read_as_recorded() {
    let Some(folder) = installed() else { return };
    let replay = Replay::of(&folder, "create-status", &[]).await;
    let recorded = replay.recorded(&Method::GET, "/statuses");
    let sha = Sha::from(recorded.path.split('/').rev().nth(1).unwrap());
    let checks = replay.forge.head_checks(&sha).all().await.unwrap();
    let statuses = recorded.body.as_array().unwrap();
    assert!(time(&statuses[0]["created_at"]) > time(&statuses[1]["created_at"]), "GitHub has the newest first");
    let read = checks.iter().map(|check| (check.name.as_str(), check.says.as_str(), check.run, check.state));
    let state = |status: &Value| match text(&status["state"]) {
        "success" => ForgeCheckState::Passed,
        "failure" => ForgeCheckState::Failed,
        other => panic!("{other}"),
    };
    let sent = statuses
        .iter()
        .map(|one| (text(&one["context"]), one["description"].as_str().unwrap_or_default(), None, state(one)));
    assert_eq!(read.collect::<Vec<_>>(), sent.collect::<Vec<_>>());
    let lease = replay.lease().await;
    for state in [ProofState::Failure, ProofState::Success] {
        let status = ProofStatus { head: sha.clone(), state, says: "x".to_owned() };
        replay.forge.statuses().set(&lease, &status, "https://example.com").await.unwrap();
    }
    replay.end();
}

/// A ledger's ref is made, moved and taken away as a branch was.
#[tokio::test]
async fn a_ref_is_made_moved_and_deleted_as_recorded() {
    let Some(folder) = installed() else { return };
    let aliases = [
        ("/git/refs/hob/issues/1", "/git/refs/heads/test"),
        ("/git/refs/hob/unsigned/issues/1", "/git/refs/heads/test"),
    ];
    let replay = Replay::of(&folder, "git-refs", &aliases).await;
    let lease = replay.lease().await;
    replay.forge.ledger().renew(&lease).await.unwrap();
    replay.forge.staging(IssueNumber(1)).remove(&lease).await.unwrap();
    let moves = replay.asked().into_iter().filter(|asked| asked.path.contains("/git/refs"));
    let moves: Vec<_> = moves.map(|asked| (asked.method.to_string(), asked.body["force"].clone())).collect();
    assert_eq!(
        moves,
        [("POST".to_owned(), Value::Null), ("PATCH".to_owned(), false.into()), ("DELETE".to_owned(), Value::Null)]
    );
    replay.end();
}
