//! Workers of different age on one repository: what an older one began is carried on, and what a newer one wrote is left
//! alone.

use std::time::Duration;

use hob_domain::{Attempts, BlockCode, IssueNumber, State};
use hob_forge::Access;
use serde_json::json;

use crate::harness::{World, claim};

/// An agent that reports its cost, asks first, and works once it has an answer.
const ASKING: &str = r#"case $n in
    0) echo half > half.txt
       echo '{"outcome":"question","question":"Which colour?","usd":0.5,"input_tokens":100}' ;;
    *) echo done > done.txt
       echo '{"outcome":"done","summary":"Painted it.","usd":0.25,"input_tokens":50}' ;;
esac"#;

#[tokio::test]
async fn an_issue_that_older_workers_wrote_down_is_carried_to_its_end_and_keeps_its_bill() {
    let world = World::with_agent(ASKING).check("test -f done.txt").start().await;
    let issue = world.asks("Paint it", "").await;
    let forge = world.bot(Access::ReadWrite);
    let base = forge.repository().base_branch().await.unwrap();
    let claimant = world.claimant("older");
    let claimed = forge.ledger().acquire(IssueNumber(issue), None, &claimant, &base.tree, claim("Paint it"));
    claimed.await.unwrap();
    // A field of a still later Hob is kept, whoever writes.
    world.rewrites(issue, |record| record.into_iter().chain([("later".to_owned(), json!({"a": [1]}))]).collect()).await;
    world.is_of_version_1(issue).await;

    world.run().await;
    assert!(world.briefs(issue).is_empty(), "its lease is respected");
    world.forge.advance(world.settings.lease.duration + world.settings.lease.skew + Duration::from_secs(2));
    world.run().await;
    assert_eq!(world.history(issue).await[1], "taken over from older by w1, generation 2");
    assert_eq!(world.blocked(issue).await, Some(BlockCode::Question), "{:?}", world.failures());

    world.is_of_version_1(issue).await;
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.attempts, record.spend.usd_micros), (Attempts { now: 2, ever: 2 }, 500_000));
    world.comments("wil", issue, "Green.").await;
    assert_eq!(world.run().await.worked, 1, "{:?}", world.failures());
    assert!(world.briefs(issue)[1].contains("Green."), "{:?}", world.briefs(issue));
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);

    world.is_of_version_1(issue).await;
    let before = world.record(issue).await.unwrap();
    world.run().await;
    assert_eq!(world.record(issue).await.unwrap(), before, "nothing is left to do");
    world.merges(world.pull().await["number"].as_u64().unwrap()).await;
    world.run().await;
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.attempts), (State::Done, Attempts { now: 1, ever: 3 }));
    assert_eq!((record.spend.usd_micros, record.spend.input_tokens), (750_000, 150));
    assert_eq!(record.extra.get("later"), Some(&json!({"a": [1]})));
    world.is_of_version_1(issue).await;
    assert_eq!(world.run().await.worked, 0);
    world.finish().await;
}

#[tokio::test]
async fn a_record_that_needs_a_newer_hob_is_not_touched_and_the_others_go_on() {
    let world = World::fixing().start().await;
    let newer = world.asks("Make done.txt", "").await;
    world.run().await;
    world
        .rewrites(newer, |mut record| {
            record.insert("version".to_owned(), json!(3));
            record
        })
        .await;
    // A worker that could read it would repair the label and follow the command.
    world.labels_off("ann", newer, "in-review").await;
    world.comments("ann", newer, "/hob cancel").await;
    let tip = world.look(&format!("/git/ref/hob/issues/{newer}")).await;
    let said = world.said(newer).await.len();

    let other = world.asks("Make done.txt, too", "").await;
    let worker = world.worker("w2").await;
    let summary = crate::harness::run(&worker).await;
    assert_eq!((summary.worked, summary.failed), (1, 0), "{:?}", world.failures());
    assert_eq!(world.labels(other).await, ["code", "in-review"]);
    let failures = world.failures();
    let says = "the ledger's record has version 3, this Hob reads up to 2: update Hob";
    assert!(failures.iter().any(|failure| failure.contains(says)), "{failures:?}");
    let ended = world.hob(&["pause", &newer.to_string()]).await;
    assert!(ended.code != 0 && ended.stderr.contains(says), "{ended:?}");
    assert_eq!(world.look(&format!("/git/ref/hob/issues/{newer}")).await, tip);
    assert_eq!((world.labels(newer).await, world.said(newer).await.len()), (vec!["code".to_owned()], said));

    world
        .rewrites(newer, |mut record| {
            record.insert("version".to_owned(), json!(2));
            record
        })
        .await;
    // The label is repaired, and then the command followed.
    world.run().await;
    world.run().await;
    assert_eq!(world.record(newer).await.unwrap().state, State::Done, "{:?}", world.failures());
    world.finish().await;
}
