//! The list of finished ledgers: a process that knows nothing reads it instead of them, and loses nothing by it.

use github_emulator::LoggedRequest;
use hob_domain::{FinishedList, IssueNumber, Record, Sha, State};
use http::Method;
use serde_json::{Value, json};

use super::reading::with_a_long_past;
use crate::harness::{World, run};

/// The list that the repository has.
async fn listed(world: &World) -> Option<FinishedList> {
    let refs = world.look("/git/matching-refs/hob/finished").await;
    let tip = refs[0]["object"]["sha"].as_str()?.to_owned();
    let commit = world.look(&format!("/git/commits/{tip}")).await;
    FinishedList::from_message(commit["message"].as_str()?).ok()
}

/// Puts another commit at the list's place.
async fn replace(world: &World, message: &str) {
    let tree = world.look("/commits/main").await["commit"]["tree"]["sha"].clone();
    let commit = json!({ "message": message, "tree": tree, "parents": [] });
    let commit = world.call("ann", Method::POST, "/git/commits", commit).await["sha"].clone();
    let moved = json!({ "sha": commit, "force": true });
    world.call("ann", Method::PATCH, "/git/refs/hob/finished", moved).await;
}

/// What a poll by a worker that knows nothing asks: the requests of the API, and whether git fetched ledgers.
async fn asked_by(world: &World, name: &str) -> (Vec<LoggedRequest>, bool) {
    let (before, worker) = (world.forge.requests().len(), world.worker(name).await);
    assert_eq!(run(&worker).await.failed, 0, "{:?}", world.failures());
    let made: Vec<_> = world.forge.requests().split_off(before);
    let fetched = made.iter().any(|call| call.path.ends_with("/git-upload-pack"));
    (made.into_iter().filter(|call| call.path.starts_with("/api/")).collect(), fetched)
}

#[tokio::test]
async fn a_fresh_process_reads_one_list_instead_of_a_long_past() {
    let world = with_a_long_past(60).await;
    assert_eq!(listed(&world).await, None, "61 more are needed");
    assert!(asked_by(&world, "first").await.1, "nothing is listed yet");
    assert_eq!(listed(&world).await.map(|list| list.len()), Some(61));
    let (made, fetched) = asked_by(&world, "second").await;
    assert!(!fetched, "{made:?}");
    // The refs, and the first look with the list; two ledgers that are not listed, and the issue of the one that is not finished.
    assert!(made.iter().filter(|call| call.counted).count() <= 6, "{made:?}");
    let (before, ended) = (world.writes().len(), world.hob(&["status"]).await);
    assert_eq!((ended.code, world.writes().len()), (0, before), "{ended:?}");
    // The page shows what finished issues cost, and reads them.
    let mut settings = world.settings.clone();
    settings.agent = "auto".to_owned();
    let chooses = world.worker_with("chooses", settings, hob_forge::Access::ReadOnly).await;
    let before = world.forge.requests().len();
    hob_worker::explain::all(&chooses).await.unwrap();
    let made = world.forge.requests().split_off(before);
    assert!(made.iter().any(|call| call.path.ends_with("/git-upload-pack")), "outcomes choose the agent: {made:?}");
    world.leave();
}

/// A ledger is at another tip than the list says, and an issue is open again: both are read.
#[tokio::test]
async fn what_moved_since_it_was_listed_is_read() {
    let world = with_a_long_past(60).await;
    asked_by(&world, "first").await;
    let record = world.record(150).await.unwrap();
    let record = Record { state: State::InReview, ..record };
    let tree = world.look("/commits/main").await["commit"]["tree"]["sha"].clone();
    let commit = json!({"message": record.to_message("in review").unwrap(), "tree": tree, "parents": []});
    let commit = world.call("ann", Method::POST, "/git/commits", commit).await["sha"].clone();
    world.call("ann", Method::PATCH, "/git/refs/hob/issues/150", json!({ "sha": commit, "force": true })).await;
    world.call("ann", Method::PATCH, "/issues/1", json!({ "state": "open" })).await;
    asked_by(&world, "second").await;
    assert_eq!(world.record(150).await.unwrap().state, State::Done, "its issue is gone");
    assert_ne!(world.record(1).await.unwrap().state, State::Done, "its issue is open again");
    world.leave();
}

#[tokio::test]
async fn a_list_that_cannot_be_read_costs_a_fetch_and_is_left_alone() {
    for message in ["no list", "1 finished ledgers\n\n{\"version\":2,\"finished\":[]}\n"] {
        let world = with_a_long_past(60).await;
        asked_by(&world, "first").await;
        replace(&world, message).await;
        let (_, fetched) = asked_by(&world, "second").await;
        assert!(fetched, "{message}");
        assert_eq!(listed(&world).await, None, "what a newer Hob wrote stays: {message}");
        world.leave();
    }
}

/// Somebody lists an issue that is not finished: an open one is read all the same.
#[tokio::test]
async fn an_open_issue_is_worked_on_whatever_the_list_says() {
    let world = with_a_long_past(60).await;
    asked_by(&world, "first").await;
    let issue = world.asks("Make more.txt", "").await;
    let mut list = listed(&world).await.unwrap();
    let record = Record { issue: IssueNumber(issue), ..world.record(150).await.unwrap() };
    let record = Record { state: State::Ready, lease: None, ..record };
    let tree = world.look("/commits/main").await["commit"]["tree"]["sha"].clone();
    let commit = json!({"message": record.to_message("ready").unwrap(), "tree": tree, "parents": []});
    let commit: Value = world.call("ann", Method::POST, "/git/commits", commit).await["sha"].clone();
    let place = json!({"ref": format!("refs/hob/issues/{issue}"), "sha": commit});
    world.call("ann", Method::POST, "/git/refs", place).await;
    list.note(IssueNumber(issue), &Sha::from(commit.as_str().unwrap()));
    replace(&world, &list.to_message().unwrap()).await;
    let worker = world.worker("second").await;
    run(&worker).await;
    assert_ne!(world.record(issue).await.unwrap().state, State::Ready, "{:?}", world.failures());
    world.leave();
}

#[tokio::test]
async fn of_two_workers_that_list_at_once_one_is_faster_and_nothing_is_lost() {
    let world = with_a_long_past(60).await;
    let (one, other) = (world.worker("one").await, world.worker("other").await);
    let (first, second) = tokio::join!(run(&one), run(&other));
    assert_eq!((first.failed, second.failed), (0, 0), "{:?}", world.failures());
    assert!(listed(&world).await.is_some_and(|list| list.len() >= 61));
    world.leave();
}
