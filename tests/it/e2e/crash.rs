//! Crash at every point: a worker dies before or after the effect of each request it makes, another takes up what it left.
//!
//! Every point gets a world of its own. By default the writes of the happy path are tried; with `HOB_CRASH_ALL` set,
//! every request of every scenario. `--nocapture` shows how many points were tried and survived.

use std::{panic::AssertUnwindSafe, time::Duration};

use futures_util::{FutureExt, StreamExt, stream};
use hob::{
    domain::{Record, State, status_body},
    worker::RunLimits,
};
use http::Method;
use serde_json::json;

use crate::harness::{Builder, Door, Point, Side, World, run};

/// Passes of the workers that come after; more of them means that they never come to rest.
const PASSES_MAX: usize = 8;
/// Worlds at one time.
const AT_ONCE: usize = 4;

/// A life of one issue: people do something, a worker runs, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scenario {
    Happy,
    FixedInTheSecondRound,
    Answered,
    Refused,
    Merged,
    Rejected,
    Cancelled,
}

impl Scenario {
    fn world(self) -> Builder {
        match self {
            Self::Happy | Self::Refused | Self::Merged | Self::Rejected => World::fixing(),
            Self::FixedInTheSecondRound => {
                // The first brief that tells of a failed check gets it right.
                let script = "if grep -q 'the roof leaks' {DIR}/briefs/$HOB_ISSUE-$n\n\
                    then echo done > done.txt; else echo half > done.txt; fi";
                World::with_agent(script).check("grep -q done done.txt || { echo the roof leaks; false; }")
            }
            Self::Answered | Self::Cancelled => {
                let script = "if grep -q 'Deep green' {DIR}/briefs/$HOB_ISSUE-$n\n\
                    then echo done > done.txt\n\
                    else echo half > half.txt; echo '{\"outcome\":\"question\",\"question\":\"Which colour?\"}'; fi";
                World::with_agent(script).check("test -f done.txt")
            }
        }
    }

    /// How often people do something, and a worker after them.
    fn turns(self) -> usize {
        match self {
            Self::Happy | Self::FixedInTheSecondRound | Self::Refused => 1,
            Self::Answered | Self::Merged | Self::Rejected | Self::Cancelled => 2,
        }
    }

    /// The first turn whose worker may die.
    fn first_deadly(self) -> usize {
        match self {
            Self::Happy | Self::FixedInTheSecondRound | Self::Refused | Self::Answered => 0,
            // Their first turn is one of those.
            Self::Merged | Self::Rejected | Self::Cancelled => 1,
        }
    }

    async fn deed(self, world: &World, turn: usize) {
        match (self, turn) {
            (Self::Refused, _) => {
                let issue = world.opens("out", "Make done.txt", "", &[]).await;
                world.labels_on("tess", issue, "code").await;
            }
            (_, 0) => assert_eq!(world.asks("Make done.txt", "").await, 1),
            (Self::Merged, _) => {
                let pull = world.pull().await["number"].as_u64().unwrap();
                world.call("ann", Method::PUT, &format!("/pulls/{pull}/merge"), json!({})).await;
            }
            (Self::Rejected, _) => {
                let pull = world.pull().await["number"].as_u64().unwrap();
                world.edits("ann", pull, json!({"state": "closed"})).await;
            }
            (Self::Cancelled, _) => world.comments("ann", 1, "/hob cancel").await,
            (Self::Answered, _) => {
                let record = agreed(world).await;
                assert_eq!(
                    (record.state, record.blocked.unwrap().question.as_str()),
                    (State::Blocked, "Which colour?")
                );
                assert_eq!(world.branches().await, ["hob/1-make-done-txt"], "the work so far is kept");
                world.comments("ann", 1, "Deep green.").await;
            }
            (Self::Happy | Self::FixedInTheSecondRound, _) => unreachable!("one turn"),
        }
    }

    /// What has to be true in the end, beside what [`World::finish`] wants.
    async fn holds(self, world: &World) {
        let record = agreed(world).await;
        let labels = world.labels(1).await;
        let (state, wanted) = match self {
            Self::Happy | Self::FixedInTheSecondRound | Self::Answered => (State::InReview, vec!["code", "in-review"]),
            Self::Refused => (State::Ready, vec!["code"]),
            Self::Merged => (State::Done, vec!["code"]),
            Self::Rejected => (State::Blocked, vec!["blocked", "code"]),
            Self::Cancelled => (State::Done, vec![]),
        };
        assert_eq!((record.state, labels), (state, wanted.into_iter().map(str::to_owned).collect()));
        if self == Self::Refused {
            assert!(world.status(1).await.contains("**Refused**") && world.pulls().await.is_empty());
            return assert!(world.briefs(1).is_empty() && world.branches().await.is_empty());
        }
        if self == Self::Cancelled {
            assert_eq!(world.briefs(1).len(), 1, "nobody works on it again");
            return assert!(world.pulls().await.is_empty());
        }
        let pull = world.pull().await;
        let open = if record.state == State::InReview { "open" } else { "closed" };
        assert_eq!(pull["state"], open);
        assert_eq!(record.pull_request.map(|number| number.0), pull["number"].as_u64());
        let mut changed = world.changed(pull["number"].as_u64().unwrap()).await;
        changed.sort();
        let paths: &[&str] = if self == Self::Answered { &["done.txt", "half.txt"] } else { &["done.txt"] };
        assert_eq!(changed, paths, "work that was pushed is kept");
    }
}

/// The ledger's record, which labels and comment agree with.
async fn agreed(world: &World) -> Record {
    let (record, names) = (world.record(1).await.unwrap(), &world.settings.labels);
    assert_eq!(names.changes(&world.labels(1).await, record.state), [], "the labels say what the ledger says");
    let said = status_body(&record, &world.settings.status_rules());
    assert_eq!(world.status(1).await.trim_end(), said.trim_end(), "the comment says what the ledger says");
    record
}

/// The requests of the scenario's deadly turns when nobody dies.
async fn requests(scenario: Scenario) -> Vec<String> {
    let world = scenario.world().start().await;
    let mut door = None;
    for turn in 0..scenario.turns() {
        scenario.deed(&world, turn).await;
        if turn < scenario.first_deadly() {
            world.run().await;
            continue;
        }
        let door = match &door {
            Some(door) => door,
            None => door.insert(Door::before(&world, None).await),
        };
        run(&world.worker_behind(door, "mortal").await).await;
    }
    scenario.holds(&world).await;
    world.finish().await;
    door.unwrap().passed()
}

/// One worker dies at `point`; others come until nothing is left to do, and the scenario goes on to its end.
async fn survives(scenario: Scenario, point: Point) {
    let world = scenario.world().start().await;
    let mut alive = None;
    let mut died = false;
    for turn in 0..scenario.turns() {
        scenario.deed(&world, turn).await;
        if turn < scenario.first_deadly() {
            world.run().await;
            continue;
        }
        if died {
            come_to_rest(&world).await;
            continue;
        }
        let door = match &alive {
            Some(door) => door,
            None => alive.insert(Door::before(&world, Some(point)).await),
        };
        let mortal = world.worker_behind(door, "mortal").await;
        died = tokio::select! {
            summary = mortal.run_once(RunLimits::default()) => { summary.unwrap(); false }
            () = door.silent() => true,
        };
        drop(mortal);
        if died {
            come_to_rest(&world).await;
        }
    }
    assert!(died, "the request never came");
    scenario.holds(&world).await;
    world.finish().await;
}

/// New workers, each with a folder of its own, poll until one finds nothing to do, now or later.
async fn come_to_rest(world: &World) {
    let lease = &world.settings.lease;
    world.forge.advance(lease.duration + lease.skew + Duration::from_secs(2));
    for pass in 0..PASSES_MAX {
        let next = world.worker(&format!("next{pass}")).await;
        let summary = run(&next).await;
        let waits = world.record(1).await.and_then(|record| record.retry_after).is_some();
        if summary.worked + summary.tended + summary.failed == 0 && !waits {
            return;
        }
        if waits {
            world.forge.advance(Duration::from_secs(3_601));
        }
    }
    panic!("no rest after {PASSES_MAX} passes: {:?} {:?}", world.history(1).await, world.failures());
}

/// Whether a request changes something on the forge.
fn writes(request: &str) -> bool {
    !request.starts_with("GET ") && !request.ends_with("/git-upload-pack")
}

fn every_point() -> bool {
    std::env::vars_os().any(|(name, _)| name == "HOB_CRASH_ALL")
}

#[expect(clippy::print_stdout, reason = "the figures are what one runs this for")]
async fn crash_at(scenario: Scenario, wanted: impl Fn(&str) -> bool) {
    let requests = requests(scenario).await;
    let numbered = requests.iter().enumerate().filter(|(_, request)| wanted(request)).map(|(index, _)| index);
    let points: Vec<Point> = numbered.flat_map(|index| [(index, Side::Before), (index, Side::After)]).collect();
    let tried = points.len();
    let outcomes = stream::iter(points).map(async |point| {
        let survived = AssertUnwindSafe(Box::pin(survives(scenario, point))).catch_unwind().await;
        (point, survived.is_ok())
    });
    let lost: Vec<Point> =
        outcomes.buffer_unordered(AT_ONCE).filter_map(async |(point, ok)| (!ok).then_some(point)).collect().await;
    println!("{scenario:?}: {} requests, {tried} points tried, {} survived", requests.len(), tried - lost.len());
    let named: Vec<String> =
        lost.iter().map(|(index, side)| format!("{side:?} {index}: {}", requests[*index])).collect();
    assert!(lost.is_empty(), "{scenario:?} is lost at\n{}", named.join("\n"));
    assert!(tried > 0);
}

async fn everywhere(scenario: Scenario) {
    if every_point() {
        crash_at(scenario, |_| true).await;
    }
}

#[tokio::test]
async fn a_worker_may_die_at_any_write_of_the_happy_path() {
    crash_at(Scenario::Happy, |request| every_point() || writes(request)).await;
}

#[tokio::test]
async fn a_worker_may_die_anywhere_between_two_rounds() {
    everywhere(Scenario::FixedInTheSecondRound).await;
}

#[tokio::test]
async fn a_worker_may_die_anywhere_before_and_after_an_answer() {
    everywhere(Scenario::Answered).await;
}

#[tokio::test]
async fn a_worker_may_die_anywhere_in_a_refusal() {
    everywhere(Scenario::Refused).await;
}

#[tokio::test]
async fn a_worker_may_die_anywhere_after_a_merge() {
    everywhere(Scenario::Merged).await;
}

#[tokio::test]
async fn a_worker_may_die_anywhere_after_a_rejection() {
    everywhere(Scenario::Rejected).await;
}

#[tokio::test]
async fn a_worker_may_die_anywhere_in_a_cancel() {
    everywhere(Scenario::Cancelled).await;
}
