//! How many changes a round in review makes at the forge: each counts against a limit that all of Hob's work shares.

use std::time::Duration;

use github_emulator::LoggedRequest;

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

/// A person asks for changes in a review with one thread.
#[tokio::test]
async fn a_round_makes_thirteen_changes() {
    let world = World::with_agent(WRITES_A_LINE).check("test -f done.txt").pushing_ledgers().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let pull = world.opens_a_pull().await;
    world.reviews("ann", pull, ("REQUEST_CHANGES", "Nearly there."), &[(1, "Louder, please.")]).await;
    world.forge.advance(Duration::from_secs(2));
    let (worker, before) = (world.worker("w1").await, world.forge.requests().len());
    assert_eq!(run(&worker).await.worked, 1, "{:?}", world.failures());
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    let (said, remarks) = (world.said(pull).await, world.remarks(pull).await);
    assert!(said.len() == 1 && remarks.len() == 2, "{said:?} {remarks:?}");
    assert!(world.threads(pull).await[0].2, "it was followed");
    let asked = world.look(&format!("/pulls/{pull}/requested_reviewers")).await;
    assert_eq!(asked["users"][0]["login"], "ann", "{asked}");
    let made = changes(&world.forge.requests().split_off(before));
    // The claim, the start, the branch with a renewal, the answers, the review, settlement and release.
    let pushes = ["push", "push", "POST statuses", "push", "POST statuses", "push", "POST pulls", "push", "push"];
    assert_eq!(made, pushes);
    // That it was seen, the start, what ends the round, and that it is in review again.
    let by_graphql = worker.forge().connection().call_counts().writes - 3;
    assert_eq!(by_graphql, 4);
    world.finish().await;
}
