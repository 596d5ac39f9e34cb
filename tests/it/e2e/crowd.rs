//! Many issues, several workers, and the limits.

use std::{collections::BTreeSet, time::Duration};

use hob_domain::State;
use hob_worker::RunLimits;

use crate::harness::{Gate, World, run};

/// Attack corpus B19.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_workers_on_twenty_issues_open_twenty_pull_requests() {
    let world = World::with_agent("echo $HOB_ISSUE > done-$HOB_ISSUE.txt")
        .set("jobs", "2")
        .set("limits.issues_per_hour", "100")
        .start()
        .await;
    for n in 0..20 {
        world.asks(&format!("Chore {n}"), "").await;
    }
    let (one, two) = (world.worker("one").await, world.worker("two").await);
    let (first, second) = tokio::join!(run(&one), run(&two));
    assert_eq!(first.worked + second.worked, 20, "{first:?} {second:?} {:?}", world.failures());
    assert!(first.worked > 0 && second.worked > 0, "{first:?} {second:?}");
    let heads: BTreeSet<String> =
        world.pulls().await.iter().map(|pull| pull["head"]["ref"].as_str().unwrap().to_owned()).collect();
    assert_eq!((world.pulls().await.len(), heads.len()), (20, 20));
    for issue in 1..=20 {
        assert_eq!(world.labels(issue).await, ["code", "in-review"]);
        assert_eq!(world.briefs(issue).len(), 1, "issue {issue} was worked on once");
        let record = world.record(issue).await.unwrap();
        assert_eq!((record.state, record.generation.0), (State::InReview, 1));
    }
    world.finish().await;
}

/// A look at each is three calls or more.
#[tokio::test]
async fn what_another_worker_took_since_the_poll_is_passed_over_without_a_look() {
    let gate = "[ $HOB_ISSUE != 1 ] || { echo > {DIR}/arrived; read line < {DIR}/go; }; ";
    let script = format!("{gate}echo $HOB_ISSUE > done-$HOB_ISSUE.txt");
    let world = World::with_agent(&script).set("jobs", "1").set("limits.issues_per_hour", "100").start().await;
    for n in 0..4 {
        world.asks(&format!("Chore {n}"), "").await;
    }
    let (mut gate, one) = (Gate::of(&world), world.worker("one").await);
    let meanwhile = async {
        gate.reached().await;
        let second = run(&world.worker("two").await).await;
        assert_eq!(second.worked, 3, "{:?}", world.failures());
        let before = world.forge.requests().len();
        gate.open().await;
        before
    };
    let (first, before) = tokio::join!(run(&one), meanwhile);
    assert_eq!(first.worked, 1, "{:?}", world.failures());
    let since = world.forge.requests().split_off(before);
    let asked = |end: &str| since.iter().filter(|one| one.path.ends_with(end)).count();
    assert_eq!(["/issues/2", "/issues/3", "/issues/4"].map(asked), [0, 0, 0], "{since:?}");
    assert_eq!(asked("/git/matching-refs/hob/"), 1, "{since:?}");
    world.finish().await;
}

#[tokio::test]
async fn no_more_issues_are_claimed_than_an_hour_may_have() {
    let world = World::fixing().set("limits.issues_per_hour", "2").start().await;
    for n in 0..3 {
        world.asks(&format!("Chore {n}"), "").await;
    }
    assert_eq!(world.run().await.worked, 2);
    assert_eq!(world.run().await.worked, 0);
    let said = hob_worker::explain::all(&*world.worker("w1").await).await.unwrap();
    assert!(said[2].why.starts_with("2 issues were claimed within the hour, the limit"), "{said:?}");
    world.forge.advance(Duration::from_secs(3601));
    assert_eq!(world.run().await.worked, 1);
    assert_eq!(world.pulls().await.len(), 3);
    world.finish().await;
}

#[tokio::test]
async fn the_priority_label_comes_first() {
    let world = World::fixing().start().await;
    let old = world.asks("Old", "").await;
    let high = world.opens("ann", "High", "", &["code", "priority:high"]).await;
    let critical = world.opens("ann", "Critical", "", &["code", "priority:critical"]).await;
    let worker = world.worker("w1").await;
    let places: Vec<u64> = hob_worker::explain::all(&worker).await.unwrap().iter().map(|said| said.issue.0).collect();
    assert_eq!(places, [critical, high, old]);
    let limits = RunLimits { max_issues: Some(1), max_runtime: None };
    for (worked, waiting) in [(critical, high), (high, old)] {
        assert_eq!(hob_worker::run_once(&worker, limits).await.unwrap().worked, 1);
        assert!(world.labels(worked).await.contains(&"in-review".to_owned()));
        assert!(world.record(waiting).await.is_none());
    }
    world.finish().await;
}

#[tokio::test]
async fn one_bad_issue_does_not_stop_the_others() {
    let world = World::fixing().start().await;
    let bad = world.opens("ann", "\u{202e}-\u{0000}", "\u{200b}\u{1b}[31m", &["code", "agent:nobody"]).await;
    let good = world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!(world.labels(good).await, ["code", "in-review"]);
    assert_eq!(world.labels(bad).await, ["agent:nobody", "blocked", "code"]);
    world.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_workers_may_share_a_state_folder() {
    let world = World::with_agent("echo $HOB_ISSUE > done-$HOB_ISSUE.txt").set("jobs", "2").start().await;
    for n in 0..6 {
        world.asks(&format!("Chore {n}"), "").await;
    }
    let (one, two) = (world.worker("same").await, world.worker("same").await);
    let (first, second) = tokio::join!(run(&one), run(&two));
    assert_eq!(first.worked + second.worked, 6, "{first:?} {second:?} {:?}", world.failures());
    assert_eq!(world.pulls().await.len(), 6, "{:?}", world.failures());
    world.finish().await;
}
