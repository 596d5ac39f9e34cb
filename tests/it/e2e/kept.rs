//! Work that passed its checks and cannot go to its branch waits under a ref of Hob's own: the next machine publishes
//! it, and no agent does it again.

use std::time::Duration;

use github_emulator::{Fault, When};
use hob_domain::{BlockCode, State};
use http::Method;
use serde_json::json;

use crate::{
    e2e::refused_pushes::refuses,
    harness::{World, run},
};

const WORKS: &str =
    r#"echo "${n}" > done.txt; echo '{"outcome":"done","title":"Write it down","summary":"Made it once."}'"#;

/// A rule about the names of branches refuses the push of the first machine.
async fn refused() -> (World, u64, String) {
    let world = World::with_agent(WORKS).check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.forge.inject(refuses_once(issue));
    run(&world.worker("one").await).await;
    assert_eq!(world.blocked(issue).await, Some(BlockCode::PushRefused), "{:?}", world.failures());
    let head = world.record(issue).await.unwrap().work.head.unwrap().to_string();
    assert_eq!(world.kept(issue).await.as_ref(), Some(&head));
    (world, issue, head)
}

impl World {
    /// The commit that waits for the issue.
    async fn kept(&self, issue: u64) -> Option<String> {
        let refs = self.look(&format!("/git/matching-refs/hob/kept/issues/{issue}")).await;
        refs.as_array().unwrap().first().map(|found| found["object"]["sha"].as_str().unwrap().to_owned())
    }
}

/// Requirement A7: another machine publishes the work, with its agent's own text.
#[tokio::test]
async fn work_that_a_rule_refused_is_published_by_another_machine() {
    let (world, issue, head) = refused().await;
    world.comments("ann", issue, "/hob retry").await;
    run(&world.worker("two").await).await;
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview, "{:?}", world.failures());
    assert_eq!(world.briefs(issue).len(), 1, "no agent works again");
    let pull = world.pull().await;
    assert_eq!((&pull["head"]["sha"], &pull["title"]), (&json!(head), &json!("Write it down")));
    assert!(pull["body"].as_str().unwrap().contains("Made it once."), "{pull}");
    assert_eq!(world.kept(issue).await, None);
    world.finish().await;
}

/// Words that come with the answer say what is wanted now, which is not the waiting work.
#[tokio::test]
async fn an_answer_in_words_is_worked_on() {
    let (world, issue, head) = refused().await;
    world.comments("ann", issue, "Write the date, too.").await;
    run(&world.worker("two").await).await;
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview, "{:?}", world.failures());
    assert_eq!(world.briefs(issue).len(), 2);
    assert_ne!(world.pull().await["head"]["sha"], json!(head));
    assert_eq!(world.kept(issue).await, None);
    world.finish().await;
}

/// Attack corpus L158: a ref is not a ledger: what somebody else puts there is not published.
#[tokio::test]
async fn somebody_elses_commit_is_not_taken_for_the_work() {
    let (world, issue, head) = refused().await;
    let other = world.pushes("wil", "wils-branch", "evil.txt", "mine\n").await;
    let name = format!("/git/refs/hob/kept/issues/{issue}");
    world.call("wil", Method::PATCH, &name, json!({"sha": other, "force": true})).await;
    world.comments("ann", issue, "/hob retry").await;
    run(&world.worker("two").await).await;
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview, "{:?}", world.failures());
    assert_eq!(world.briefs(issue).len(), 2);
    assert_ne!(world.pull().await["head"]["sha"], json!(head));
    let pull = world.pull().await["number"].as_u64().unwrap();
    assert_eq!(world.changed(pull).await, ["done.txt"]);
    assert_eq!(world.kept(issue).await, None);
    world.finish().await;
}

/// Work in progress does not move a branch under review, so a round's work waits in the same way.
#[tokio::test]
async fn a_rounds_work_is_published_by_another_machine() {
    let world = World::with_agent(WORKS).check("test -f done.txt").start().await;
    let issue = world.asks("Make done.txt", "").await;
    run(&world.worker("one").await).await;
    let pull = world.pull().await["number"].as_u64().unwrap();
    world.forge.advance(Duration::from_secs(2));
    let review = json!({"event": "REQUEST_CHANGES", "body": "Once more.", "comments": []});
    world.call("ann", Method::POST, &format!("/pulls/{pull}/reviews"), review).await;
    world.forge.inject(refuses_once(issue));
    run(&world.worker("one").await).await;
    assert_eq!(world.blocked(issue).await, Some(BlockCode::PushRefused), "{:?}", world.failures());
    let head = world.record(issue).await.unwrap().work.head.unwrap().to_string();
    assert_eq!(world.kept(issue).await.as_ref(), Some(&head));
    world.comments("ann", issue, "/hob retry").await;
    run(&world.worker("two").await).await;
    assert_eq!(world.record(issue).await.unwrap().state, State::InReview, "{:?}", world.failures());
    assert_eq!(world.briefs(issue).len(), 2, "no agent works again");
    assert_eq!(world.pull().await["head"]["sha"], json!(head));
    assert_eq!(world.kept(issue).await, None);
    world.finish_after_faults().await;
}

/// GitHub's git server refuses one push, which is the one to the issue's branch.
fn refuses_once(issue: u64) -> Fault {
    let reason = "push declined due to repository rule violations";
    Fault { when: When::First(1), ..refuses(&format!("hob/{issue}-make-done-txt"), reason, &[]) }
}
