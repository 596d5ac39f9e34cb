//! Leases: a dead worker's issue is taken over, a live one's is not.

use std::time::Duration;

use github_emulator::{Fault, What, When};
use hob_domain::{BlockCode, IssueNumber, LabelChange, Recovery, RunId, RunPurpose, State, Transition, WorkedBy};
use hob_forge::{Access, Forge, ForgeError, HeldLease};
use hob_words::STATUS_MARK;
use hob_worker::RunLimits;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::harness::{Gate, World, claim, run};

/// Another worker claims the issue and gets as far as `state`; then nothing more is heard of it.
async fn claimed_by_another(world: &World, issue: u64) -> (Forge, HeldLease) {
    let forge = world.bot(Access::ReadWrite);
    let base = forge.repository().base_branch().await.unwrap();
    let claimant = world.claimant("other");
    let claim = forge.ledger().acquire(IssueNumber(issue), None, &claimant, &base.tree, claim("Make done.txt"));
    let lease = claim.await.unwrap();
    (forge, lease)
}

fn past_the_lease(world: &World) -> Duration {
    world.settings.lease.duration + world.settings.lease.skew + Duration::from_secs(2)
}

/// Attack corpus B19.
#[tokio::test]
async fn a_live_lease_is_not_taken() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let (forge, lease) = claimed_by_another(&world, issue).await;
    let before = world.writes().len();
    world.run().await;
    world.forge.advance(world.settings.lease.duration);
    world.run().await;
    assert_eq!((world.writes().len(), world.briefs(issue).len()), (before, 0));

    // A renewal keeps it for as long again.
    forge.ledger().renew(&lease).await.unwrap();
    world.forge.advance(world.settings.lease.duration);
    world.run().await;
    assert!(world.briefs(issue).is_empty());
    forge.ledger().release_with(&lease, Transition::Requeue { reason: "let go".to_owned() }).await.unwrap();
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    world.finish().await;
}

#[tokio::test]
async fn an_expired_lease_is_taken_over_and_the_work_goes_on() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let (forge, lease) = claimed_by_another(&world, issue).await;
    world.forge.advance(past_the_lease(&world));
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    assert_eq!(world.history(issue).await[1], "taken over from other by w1, generation 2");

    // The dead one wakes up: it has lost, and writes nothing.
    assert!(forge.ledger().renew(&lease).await.is_err() && lease.lost().is_cancelled());
    assert!(forge.ledger().release(&lease).await.is_err());
    world.pull().await;
    world.finish().await;
}

#[tokio::test]
async fn a_worker_that_dies_while_its_agent_works_is_followed_by_another() {
    let world = World::fixing().script("fixer", &Gate::before("echo done > done.txt")).start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let dead = world.worker("dead").await;
    tokio::select! {
        _ = hob_worker::run_once(&dead, RunLimits::default()) => panic!("nobody opened the gate"),
        () = gate.reached() => {}
    }
    drop(dead);
    assert_eq!(world.labels(issue).await, ["code", "in-progress"]);
    world.run().await;
    assert_eq!(world.briefs(issue).len(), 1, "its lease still lasts");

    world.forge.advance(past_the_lease(&world));
    let opens = async {
        gate.reached().await;
        gate.open().await;
    };
    tokio::join!(world.run(), opens);
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    assert_eq!(world.pull().await["head"]["ref"], format!("hob/{issue}-make-done-txt"));
    assert!(world.history(issue).await.contains(&"taken over from dead by w1, generation 2".to_owned()));
    world.finish().await;
}

#[tokio::test]
async fn a_worker_with_other_settings_claims_nothing_beside_one_that_works() {
    let world = World::fixing().script("fixer", &Gate::before("echo done > done.txt")).start().await;
    let mut gate = Gate::of(&world);
    let (first, second) = (world.asks("Make done.txt", "").await, world.asks("Make done.txt, too", "").await);
    let first_worker = world.worker("first").await;
    // Beside what the world sets.
    let flags = [("budget.issue", "9"), ("budget.day", "40"), ("jobs", "3"), ("limits.open_pulls", "0")]
        .map(|(k, v)| (k.to_owned(), v.to_owned()));
    let dearer = hob_config::Settings::load(None, [].into(), &flags).unwrap().shared;
    let mut settings = world.settings.clone();
    settings.shared = dearer;
    let other = world.worker_with("other", settings, Access::ReadWrite).await;
    let beside = async {
        gate.reached().await;
        assert_eq!(run(&other).await.worked, 0);
        let said = hob_worker::explain::one(&other, IssueNumber(second)).await.unwrap().unwrap().why;
        let told = "worker first works here with other settings (`budget.day`, `budget.issue`), and nothing is claimed beside it";
        assert!(said.starts_with(told), "{said}");
        gate.open().await;
    };
    let one = RunLimits { max_issues: Some(1), ..RunLimits::default() };
    let (worked, ()) = tokio::join!(hob_worker::run_once(&first_worker, one), beside);
    assert_eq!(
        (worked.unwrap().worked, world.labels(first).await.as_slice()),
        (1, ["code", "in-review"].map(str::to_owned).as_slice())
    );
    let opens = async {
        gate.reached().await;
        gate.open().await;
    };
    let (worked, ()) = tokio::join!(run(&other), opens);
    assert_eq!((worked.worked, world.labels(second).await), (1, vec!["code".to_owned(), "in-review".to_owned()]));
    world.finish().await;
}

#[tokio::test]
async fn a_dead_workers_issue_is_blocked_where_the_settings_say_so() {
    let world = World::fixing().set("recovery", "block").start().await;
    let issue = world.asks("Make done.txt", "").await;
    claimed_by_another(&world, issue).await;
    world.forge.advance(past_the_lease(&world));
    world.run().await;
    assert_eq!(world.settings.recovery, Recovery::Block);
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    assert_eq!(world.record(issue).await.unwrap().blocked.unwrap().reason, BlockCode::WorkerDied);
    world.comments("ann", issue, "/hob retry").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    world.finish().await;
}

#[tokio::test]
async fn a_dead_workers_issue_is_put_back_where_the_settings_say_so() {
    let world = World::fixing().set("recovery", "abandon").start().await;
    let issue = world.asks("Make done.txt", "").await;
    claimed_by_another(&world, issue).await;
    world.forge.advance(past_the_lease(&world));
    world.run().await;
    assert_eq!((world.labels(issue).await, world.briefs(issue).len()), (vec!["code".to_owned()], 0));
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"]);
    world.finish().await;
}

#[tokio::test]
async fn a_worker_that_is_told_to_stop_keeps_the_work_puts_its_issue_back_and_ends_its_agent() {
    let script = format!("echo half > half.txt\n{}", Gate::before("echo done > done.txt"));
    let world = World::fixing().script("fixer", &script).start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let cancel = CancellationToken::new();
    let worker = world.worker_until("w1", world.settings.clone(), Access::ReadWrite, cancel.clone()).await;
    let stops = async {
        gate.reached().await;
        cancel.cancel();
    };
    tokio::join!(run(&worker), stops);
    assert_eq!(world.labels(issue).await, ["code"]);
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.attempts.now, record.lease), (State::Ready, 0, None));
    assert_eq!(world.history(issue).await.last().unwrap(), "requeued: the worker was stopped");
    assert_eq!(world.branches().await, ["hob/1-make-done-txt"], "the work so far is on its branch");
    let go_on = async {
        gate.reached().await;
        gate.open().await;
    };
    let next = world.worker("w2").await;
    let (summary, ()) = tokio::join!(run(&next), go_on);
    assert_eq!(summary.worked, 1, "{:?}", world.failures());
    let pull = world.pull().await;
    assert_eq!(world.changed(pull["number"].as_u64().unwrap()).await, ["done.txt", "half.txt"]);
    assert!(world.briefs(issue)[1].contains("The folder has earlier work on this issue"));
    world.finish().await;
}

/// Found by the model check: a stop between the ledger's last word and its labels put the issue back, question and all.
#[tokio::test]
async fn a_worker_that_is_told_to_stop_undoes_nothing_that_had_ended() {
    let asks = r#"echo '{"outcome":"question","question":"Which colour?"}'"#;
    for (script, state) in [("echo done > done.txt", State::InReview), (asks, State::Blocked)] {
        let world = World::fixing().script("fixer", script).start().await;
        let issue = world.asks("Make done.txt", "").await;
        run(&world.worker_stopped_at("w1", state).await).await;
        let record = world.record(issue).await.unwrap();
        assert_eq!((record.state, record.attempts.now, record.lease), (state, 1, None));
        let label = world.settings.labels.of(state).unwrap();
        assert_eq!(world.labels(issue).await, if label < "code" { [label, "code"] } else { ["code", label] });
        world.finish().await;
    }
}

#[tokio::test]
async fn a_worker_that_lost_its_lease_writes_nothing_more() {
    let world = World::fixing().script("fixer", &Gate::before("echo done > done.txt")).start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let slow = world.worker("slow").await;
    let overtaken = async {
        gate.reached().await;
        world.forge.advance(past_the_lease(&world));
        // Another takes over and closes the ledger, as after a cancel.
        world.edits("ann", issue, json!({"state": "closed"})).await;
        let other = world.worker("quick").await;
        run(&other).await;
        gate.open().await;
    };
    let (summary, ()) = tokio::join!(run(&slow), overtaken);
    assert_eq!(summary.worked, 0, "{:?}", world.failures());
    assert!(world.pulls().await.is_empty() && world.branches().await.is_empty());
    assert_eq!(world.record(issue).await.unwrap().state, State::Done);
    world.finish().await;
}

/// A machine that was suspended, or so slow that the lease does not cover the next write.
#[tokio::test]
async fn a_holder_that_comes_late_renews_its_lease_and_goes_on() {
    let world = World::fixing().script("fixer", &Gate::before("echo done > done.txt")).start().await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let late = async {
        gate.reached().await;
        world.forge.advance(past_the_lease(&world));
        gate.open().await;
    };
    tokio::join!(world.run(), late);
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    assert_eq!((world.record(issue).await.unwrap().generation.0, world.briefs(issue).len()), (1, 1));
    world.finish().await;
}

#[tokio::test]
async fn a_late_write_is_made_while_the_issue_is_its_writers_and_not_afterwards() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let (forge, lease) = claimed_by_another(&world, issue).await;
    let label = |change: fn(String) -> LabelChange, name: &str| {
        let (forge, lease, change) = (&forge, &lease, change(name.to_owned()));
        // An answer tells the time.
        async move {
            forge.issues().get(IssueNumber(issue)).await.unwrap();
            forge.labels().change(lease, &change).await
        }
    };
    world.forge.advance(past_the_lease(&world));
    label(LabelChange::Add, "assigned").await.unwrap();
    assert_eq!(world.labels(issue).await, ["assigned", "code"]);

    world.forge.advance(past_the_lease(&world));
    world.run().await;
    let lost = label(LabelChange::Remove, "in-review").await.unwrap_err();
    assert!(matches!(lost, ForgeError::Lost(_)) && lease.lost().is_cancelled(), "{lost}");
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

/// A worker died after it had pushed and written its comment, and before it could note either.
#[tokio::test]
async fn what_a_dead_worker_left_half_done_is_taken_up() {
    let world = World::fixing().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let (forge, lease) = claimed_by_another(&world, issue).await;
    let branch = format!("hob/{issue}-make-done-txt");
    let start = Transition::StartAgent {
        agent: "fixer".to_owned(),
        by: WorkedBy { agent: "fixer".to_owned(), model: None },
        purpose: RunPurpose::Work,
        branch: branch.clone(),
        session: RunId("the-dead-ones".to_owned()),
    };
    forge.ledger().transition(&lease, start).await.unwrap();
    world.pushes("hob", &branch, "first.txt", "by the dead one").await;
    world.comments("hob", issue, &format!("{STATUS_MARK}\n**In progress**")).await;
    world.comments("out", issue, &format!("{STATUS_MARK}\nnot Hob's")).await;
    world.labels_on("hob", issue, "assigned").await;
    world.labels_on("hob", issue, "in-progress").await;

    world.forge.advance(past_the_lease(&world));
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    let pull = world.pull().await;
    assert_eq!(pull["head"]["ref"], branch);
    let mut changed = world.changed(pull["number"].as_u64().unwrap()).await;
    changed.sort();
    assert_eq!(changed, ["done.txt", "first.txt"], "the dead one's work is kept");
    assert!(world.status(issue).await.contains("**In review**"));
    assert_eq!(world.said(issue).await.len(), 2);
    world.finish().await;
}

#[tokio::test]
async fn a_lease_is_renewed_while_the_agent_works() {
    let gated = Gate::before("echo done > done.txt");
    let world = World::fixing()
        .script("fixer", &gated)
        .set("testing.lease.duration", "3s")
        .set("testing.forge.timeout", "1s")
        .start()
        .await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let meanwhile = async {
        gate.reached().await;
        // The ledger says when it has happened.
        let forge = world.bot(Access::ReadOnly);
        let renewal = async {
            while !forge
                .ledger()
                .history(IssueNumber(issue))
                .await
                .unwrap()
                .iter()
                .any(|entry| entry.sentence == "renewed the lease")
            {
                tokio::task::yield_now().await;
            }
        };
        // A renewal that never comes fails the test instead of hanging it.
        tokio::time::timeout(Duration::from_secs(60), renewal).await.unwrap();
        gate.open().await;
    };
    tokio::join!(world.run(), meanwhile);
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    assert_eq!(world.record(issue).await.unwrap().generation.0, 1);
    world.finish().await;
}

#[tokio::test]
async fn a_heartbeat_that_finds_the_lease_taken_ends_the_agent() {
    let world = World::fixing()
        .script("fixer", &Gate::before("echo done > done.txt"))
        .set("testing.lease.duration", "3s")
        .set("testing.forge.timeout", "1s")
        .start()
        .await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let slow = world.worker("slow").await;
    let (forge, claimant) = (world.bot(Access::ReadWrite), world.claimant("quick"));
    let overtaken = async {
        gate.reached().await;
        let base = forge.repository().base_branch().await.unwrap();
        loop {
            world.forge.advance(past_the_lease(&world));
            forge.repository().base_branch().await.unwrap();
            let tip = forge.ledger().tip(IssueNumber(issue)).await.unwrap().unwrap();
            let seen = forge.ledger().entry(&tip).await.unwrap();
            let taken = forge.ledger().acquire(
                IssueNumber(issue),
                Some(&seen),
                &claimant,
                &base.tree,
                Transition::Reconcile { what: "taken over".to_owned() },
            );
            // A heartbeat that comes in between renews the lease: then it is taken the next time.
            if let Ok(lease) = taken.await {
                return lease;
            }
        }
        // The gate stays closed: only the heartbeat can end the agent.
    };
    let (summary, lease) = tokio::join!(run(&slow), overtaken);
    assert_eq!((summary.worked, summary.failed), (0, 0), "{:?}", world.failures());
    assert!(world.branches().await.is_empty());
    forge.ledger().release(&lease).await.unwrap();
    world.labels_off("ann", issue, "code").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, Vec::<String>::new());
    world.finish().await;
}

#[tokio::test]
async fn a_heartbeat_that_the_forge_does_not_answer_ends_nothing() {
    let gated = Gate::before("echo done > done.txt");
    let world = World::fixing()
        .script("fixer", &gated)
        .set("testing.lease.duration", "3s")
        .set("testing.forge.timeout", "1s")
        .start()
        .await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let meanwhile = async {
        gate.reached().await;
        let before = world.record(issue).await.unwrap().renewed_at;
        let what = What::Answer { status: 502, headers: [].into(), message: "Bad Gateway".to_owned() };
        let (path, login) = (format!("/repos/acme/site/git/ref/hob/issues/{issue}"), Some("hob".into()));
        world.forge.inject(Fault { method: None, path, login, when: When::First(6), what });
        let renewal = async {
            while world.record(issue).await.unwrap().renewed_at == before {
                tokio::task::yield_now().await;
            }
        };
        // A renewal that never comes fails the test instead of hanging it.
        tokio::time::timeout(Duration::from_secs(60), renewal).await.unwrap();
        gate.open().await;
    };
    tokio::join!(world.run(), meanwhile);
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish_after_faults().await;
}
