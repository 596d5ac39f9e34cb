//! What people see of a transition, comment and labels, comes in one request, and part by part where that does not work.

use github_emulator::{Fault, What, When};
use http::Method;
use serde_json::json;

use crate::harness::{Gate, World, in_virtual_time};

const STATUS: &str = "<!-- hob:status";

/// A world whose agent waits at the gate.
async fn waiting() -> (World, Gate, u64) {
    let script = Gate::before("echo done > done.txt");
    let world = World::fixing().script("fixer", &script).pushing_ledgers().start().await;
    let gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    (world, gate, issue)
}

/// Each write that the worker sent, without the pushes: `METHOD path`, and how many requests of GraphQL.
fn writes(world: &World) -> (Vec<String>, usize) {
    let requests = world.forge.requests();
    let sent =
        requests.iter().filter(|sent| sent.login.as_ref().is_some_and(|login| login.as_str().starts_with("hob")));
    let sent = sent.filter(|sent| sent.method != "GET" && !sent.path.contains(".git/"));
    let (graphql, rest): (Vec<_>, Vec<_>) = sent.partition(|sent| sent.path.ends_with("/graphql"));
    let short = |path: &str| path.split("/acme/site/").last().unwrap_or_default().to_owned();
    (rest.iter().map(|sent| format!("{} {}", sent.method, short(&sent.path))).collect(), graphql.len())
}

async fn is_shown_once(world: &World, issue: u64) {
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    let said = world.said(issue).await;
    assert_eq!(said.iter().filter(|said| said.text.starts_with(STATUS)).count(), 1, "{said:?}");
    assert!(world.status(issue).await.contains("In review"), "{}", world.status(issue).await);
}

#[tokio::test]
async fn comment_and_labels_change_in_one_request() {
    let world = World::fixing().pushing_ledgers().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    is_shown_once(&world, issue).await;
    let (rest, _) = writes(&world);
    let of_issue: Vec<_> =
        rest.iter().filter(|sent| sent.starts_with("POST issues") || sent.contains("comments")).collect();
    assert!(of_issue.is_empty(), "{rest:?}");
    world.finish().await;
}

/// An issue costs four writes of the API.
#[tokio::test]
async fn the_review_is_asked_for_in_the_request_that_shows_it() {
    let world = World::fixing().set("publish.reviewers", "actor,wil").pushing_ledgers().start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    is_shown_once(&world, issue).await;
    let pull = world.pull().await;
    let asked = pull["requested_reviewers"].as_array().unwrap().iter().map(|user| user["login"].as_str().unwrap());
    assert_eq!(asked.collect::<Vec<_>>(), ["wil", "ann"]);
    let (rest, _) = writes(&world);
    let rest: Vec<_> = rest.iter().filter(|sent| *sent != "POST labels").collect();
    assert!(
        matches!(rest[..], [pull, status] if pull == "POST pulls" && status.starts_with("POST statuses/")),
        "{rest:?}"
    );
    world.finish().await;
}

/// Of those who are asked together one does not exist, or is the author: the others are asked, and the comment says so.
#[tokio::test]
async fn a_reviewer_who_is_refused_is_told_in_the_comment() {
    for reviewers in ["ann,nobody", "ann,hob"] {
        let world = World::fixing().set("publish.reviewers", reviewers).pushing_ledgers().start().await;
        let issue = world.asks("Make done.txt", "").await;
        world.run().await;
        is_shown_once(&world, issue).await;
        let pull = world.pull().await;
        assert_eq!(pull["requested_reviewers"][0]["login"], "ann", "{reviewers}: {:?}", world.failures());
        let status = world.status(issue).await;
        assert!(status.contains("could not be asked for a review"), "{reviewers}: {status}");
        world.finish().await;
    }
}

#[test]
fn a_claim_whose_agent_does_not_start_soon_is_shown() {
    in_virtual_time(async {
        for (milliseconds, is_shown) in [(2000, false), (4000, true)] {
            let world = World::fixing().pushing_ledgers().start().await;
            let issue = world.asks("Make done.txt", "").await;
            let what = What::Delay(milliseconds);
            // Whether a branch is in the way is asked before the agent starts.
            let path = "/repos/acme/site/git/ref/heads/hob".to_owned();
            world.forge.inject(Fault { method: None, path, login: None, when: When::First(1), what });
            world.run().await;
            is_shown_once(&world, issue).await;
            let (rest, _) = writes(&world);
            let shown = rest.iter().filter(|sent| *sent == "POST issues/1/labels").count();
            assert_eq!(shown == 1, is_shown, "{milliseconds} ms: {rest:?}");
            world.finish().await;
        }
    });
}

/// A person deletes what this path names while the agent works.
async fn deleted_meanwhile(path: impl AsyncFnOnce(&World, u64) -> String) {
    let (world, mut gate, issue) = waiting().await;
    tokio::join!(world.run(), async {
        gate.reached().await;
        let path = path(&world, issue).await;
        world.call("ann", Method::DELETE, &path, json!({})).await;
        gate.open().await;
    });
    is_shown_once(&world, issue).await;
    world.finish().await;
}

#[tokio::test]
async fn a_comment_that_a_person_deleted_is_written_again() {
    deleted_meanwhile(async |world, issue| {
        let said = world.look(&format!("/issues/{issue}/comments")).await;
        format!("/issues/comments/{}", said[0]["id"])
    })
    .await;
}

#[tokio::test]
async fn a_label_that_a_person_deleted_is_made_again() {
    deleted_meanwhile(async |_, _| "/labels/in-review".to_owned()).await;
}

/// Each request of GraphQL is lost once, before or after its effect.
#[tokio::test]
async fn a_lost_answer_writes_no_second_comment() {
    let (world, mut gate, issue) = waiting().await;
    tokio::join!(world.run(), async {
        gate.reached().await;
        gate.open().await;
    });
    is_shown_once(&world, issue).await;
    let (_, requests) = writes(&world);
    world.finish().await;
    for number in 1..=requests as u64 {
        for what in [What::DropBefore, What::DropAfter] {
            let (path, when) = ("/api/graphql".to_owned(), When::Call(number));
            let world = World::fixing().pushing_ledgers().start().await;
            let issue = world.asks("Make done.txt", "").await;
            world.forge.inject(Fault { method: None, path, login: None, when, what });
            world.run().await;
            is_shown_once(&world, issue).await;
            world.finish().await;
        }
    }
}

/// The first request of GraphQL that follows a push is the one that shows that the agent starts.
fn number_of_the_first(world: &World) -> u64 {
    let requests = world.forge.requests();
    let mut asked = 0;
    let mut was_pushed = false;
    for sent in requests.iter().filter(|sent| sent.method == "POST") {
        if sent.path.ends_with("/graphql") {
            asked += 1;
            if was_pushed {
                return asked;
            }
        }
        was_pushed = sent.path.ends_with("/git-receive-pack");
    }
    panic!("nothing was shown by GraphQL: {requests:?}");
}

#[tokio::test]
async fn a_server_without_these_mutations_is_asked_once() {
    let world = World::fixing().pushing_ledgers().start().await;
    world.asks("Make done.txt", "").await;
    world.run().await;
    let first = number_of_the_first(&world);
    world.finish().await;
    let world = World::fixing().pushing_ledgers().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let body = json!({"errors": [{
        "path": ["mutation", "addComment"],
        "extensions": {"code": "undefinedField", "typeName": "Mutation", "fieldName": "addComment"},
        "message": "Field 'addComment' doesn't exist on type 'Mutation'",
    }]});
    let what = What::Raw { status: 200, headers: [].into(), body: body.to_string() };
    let path = "/api/graphql".to_owned();
    world.forge.inject(Fault { method: None, path, login: None, when: When::Call(first), what });
    world.run().await;
    is_shown_once(&world, issue).await;
    let (rest, _) = writes(&world);
    let of_issue = rest.iter().filter(|sent| sent.contains("issues/"));
    assert_eq!(of_issue.count(), 5, "three changes of labels, and the comment twice: {rest:?}");
    world.finish().await;
}
