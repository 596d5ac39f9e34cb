//! How many changes a round in review makes at the forge: each counts against a limit that all of Hob's work shares.

use std::time::Duration;

use github_emulator::{Fault, LoggedRequest, What, When};
use http::Method;
use serde_json::json;

use crate::harness::{World, run};

/// The first run writes a line, the next one changes it as it was asked.
const WRITES_A_LINE: &str = r#"if [ "$n" = 0 ]; then echo one > done.txt; echo '{"outcome":"done","summary":"Wrote it."}'; exit; fi
echo ONE > done.txt
printf '%s\n' '{"outcome":"done","summary":"Shouted where it was asked.\n\nT1: Done, in capitals."}'"#;

/// What a worker sent that changes something, but for requests of GraphQL: `METHOD path`, and a push by its service alone.
fn changes(requests: &[LoggedRequest]) -> Vec<String> {
    let is_hobs = |sent: &&LoggedRequest| sent.login.as_ref().is_some_and(|login| login.as_str().starts_with("hob"));
    let may_change = |sent: &&LoggedRequest| sent.method != "GET" && !sent.path.ends_with("/git-upload-pack");
    let sent = requests.iter().filter(is_hobs).filter(may_change).filter(|sent| !sent.path.ends_with("/graphql"));
    let name = |sent: &LoggedRequest| match sent.path.split_once("/acme/site/") {
        Some((_, path)) => format!("{} {}", sent.method, path.split('/').next().unwrap_or_default()),
        None => "push".to_owned(),
    };
    sent.map(name).collect()
}

/// A world in which ann asked for changes in a review with one thread: its issue and its pull request.
async fn reviewed() -> (World, u64, u64) {
    let world = World::with_agent(WRITES_A_LINE).check("test -f done.txt").pushing_ledgers().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    world.reviews("ann", pull, ("REQUEST_CHANGES", "Nearly there."), &[(1, "Louder, please.")]).await;
    world.forge.advance(Duration::from_secs(2));
    (world, issue, pull)
}

async fn has_ended_once(world: &World, issue: u64, pull: u64, case: &str) {
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{case}: {:?}", world.failures());
    let (said, remarks) = (world.said(pull).await, world.remarks(pull).await);
    assert!(said.len() == 1 && remarks.len() == 2, "{case}: {said:?} {remarks:?}");
    assert!(world.threads(pull).await[0].2, "{case}: it was followed");
    let asked = world.look(&format!("/pulls/{pull}/requested_reviewers")).await;
    assert_eq!(asked["users"][0]["login"], "ann", "{case}: {asked}");
}

#[tokio::test]
async fn a_round_makes_eight_changes() {
    let (world, issue, pull) = reviewed().await;
    let (worker, before) = (world.worker("w1").await, world.forge.requests().len());
    assert_eq!(run(&worker).await.worked, 1, "{:?}", world.failures());
    has_ended_once(&world, issue, pull, "").await;

    assert_eq!(world.reactions_in_reviews(pull, "ann").await, (2, 0));
    let made = changes(&world.forge.requests().split_off(before));
    // The claim, the start, the branch with the round's end, settlement and release.
    assert_eq!(made, ["push", "push", "POST statuses", "push", "POST statuses", "push"]);
    // That it was seen with the start, and all that people see of the end.
    let by_graphql = worker.forge().connection().call_counts().writes - 2;
    assert_eq!(by_graphql, 2);
    world.finish().await;
}

/// How many requests of GraphQL a round makes.
async fn requests_of_a_round() -> u64 {
    let (world, ..) = reviewed().await;
    let before = world.forge.requests().len();
    world.run().await;
    let requests = world.forge.requests().split_off(before);
    world.finish().await;
    requests.iter().filter(|sent| sent.path.ends_with("/graphql")).count() as u64
}

/// Each request of GraphQL of the round is lost once, before or after its effect.
#[tokio::test]
async fn a_lost_answer_ends_a_round_once() {
    for number in 1..=requests_of_a_round().await {
        for what in [What::DropBefore, What::DropAfter] {
            let (world, issue, pull) = reviewed().await;
            let (path, case) = ("/api/graphql".to_owned(), format!("{number}, {what:?}"));
            world.forge.inject(Fault { method: None, path, login: None, when: When::Call(number), what });
            world.run().await;
            has_ended_once(&world, issue, pull, &case).await;
            world.finish().await;
        }
    }
}

/// A part that fails of the request that ends the round is made over REST, as is all of it at a server that lacks it.
#[tokio::test]
async fn what_is_not_made_in_one_request_is_made_part_by_part() {
    let number = requests_of_a_round().await;
    let lacking = json!({ "errors": [{
        "path": ["mutation", "say0"],
        "extensions": {"code": "undefinedField", "typeName": "Mutation", "fieldName": "addComment"},
        "message": "Field 'addComment' doesn't exist on type 'Mutation'",
    }] });
    let parts = ["reply0", "say0", "done0", "ask", "comment", "add", "remove"];
    let problems = parts.map(|part| json!({ "path": [part], "type": "FORBIDDEN", "message": "No." }));
    let failed = json!({ "data": { "reply0": null }, "errors": problems });
    for body in [lacking, failed] {
        let (world, issue, pull) = reviewed().await;
        let what = What::Raw { status: 200, headers: [].into(), body: body.to_string() };
        let path = "/api/graphql".to_owned();
        world.forge.inject(Fault { method: None, path, login: None, when: When::Call(number), what });
        let before = world.forge.requests().len();
        world.run().await;
        has_ended_once(&world, issue, pull, &body.to_string()).await;
        let made = changes(&world.forge.requests().split_off(before));
        let pulls = made.iter().filter(|made| *made == "POST pulls").count();
        assert_eq!(pulls, 2, "the reply, and who is asked: {made:?}");
        world.finish().await;
    }
}

/// A reply by GraphQL would join that review, and nobody would see it; the REST API takes none.
#[tokio::test]
async fn while_its_account_has_a_review_that_is_not_submitted_a_reply_goes_into_the_conversation() {
    let (world, issue, pull) = reviewed().await;
    let draft = json!({"body": "Later."});
    world.call("hob", Method::POST, &format!("/pulls/{pull}/reviews"), draft).await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    let (said, remarks) = (world.said(pull).await, world.remarks(pull).await);
    assert_eq!((said.len(), remarks.len()), (2, 1), "{said:?} {remarks:?}");
    assert!(said.iter().any(|said| said.text.contains("Done, in capitals.")), "{said:?}");
    world.finish().await;
}
