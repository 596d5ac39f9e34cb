//! Spend that an attempt could not write to its ledger: it waits on the machine, and in the end counts once.

use std::{fs, path::PathBuf, sync::Arc, time::Duration};

use github_emulator::{Fault, What, When};
use hob_domain::{BlockCode, Recovery, Spend, State, spend_by_day};
use hob_forge::Access;
use hob_worker::RunLimits;
use http::Method;
use serde_json::json;

use super::outages;
use crate::harness::{AT_THE_GATE, Books, Builder, Gate, Model, Turnstile, World, billed, in_virtual_time, run};

/// A world whose agent waits at the gate in its first run, and reports its cost.
fn costly() -> Builder {
    let done = billed(r#""outcome":"done","summary":"Made it.""#);
    let script = format!("[ $n -gt 0 ] || {{ {AT_THE_GATE} }}\necho done > done.txt; {done}");
    World::with_agent(&script).check("test -f done.txt")
}

/// An issue's first worker, called `slow`, at whose agent's end `meanwhile` has happened.
async fn spends_after(world: &World, meanwhile: impl AsyncFnOnce(u64)) -> u64 {
    let mut gate = Gate::of(world);
    let issue = world.asks("Make done.txt", "").await;
    let slow = world.worker("slow").await;
    let happens = async {
        gate.reached().await;
        meanwhile(issue).await;
        gate.open().await;
    };
    tokio::join!(run(&slow), happens);
    issue
}

fn past_the_lease(world: &World) -> Duration {
    world.settings.lease.duration + world.settings.lease.skew + Duration::from_secs(2)
}

/// The issue's first worker loses its lease at work, and another one closes the ledger.
async fn spends_on_a_closed_issue(world: &World) -> u64 {
    let issue = spends_after(world, async |issue| {
        world.forge.advance(past_the_lease(world));
        world.edits("ann", issue, json!({"state": "closed"})).await;
        run(&world.worker("quick").await).await;
    })
    .await;
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.spend), (State::Done, Spend::default()));
    assert_eq!(world.journaled(issue).len(), 1, "the cost is on the machine alone");
    issue
}

/// The ledger counts each run of the issue once.
async fn counts_each_run_once(world: &World, issue: u64) {
    let balance = Books::default().balance(world, issue).await;
    assert_eq!(balance, Ok(()), "{:#?} {:?}", world.history(issue).await, world.failures());
}

#[tokio::test]
async fn the_cost_of_a_run_that_lost_its_lease_is_in_the_ledger_of_the_issue_that_was_closed() {
    let world = costly().start().await;
    let issue = spends_on_a_closed_issue(&world).await;
    run(&world.worker("slow").await).await;
    counts_each_run_once(&world, issue).await;
    assert_eq!(world.record(issue).await.unwrap().state, State::Done);
    assert!(world.status(issue).await.contains("2 tokens"), "{}", world.status(issue).await);
    world.finish().await;
}

/// The worker dies when the ledger has the cost, and before the journal is without it.
#[tokio::test]
async fn a_cost_that_is_in_the_ledger_is_not_added_again() {
    let world = costly().start().await;
    let issue = spends_on_a_closed_issue(&world).await;
    let kept: Vec<(PathBuf, Vec<u8>)> =
        world.journaled(issue).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    run(&world.worker("slow").await).await;
    for (path, content) in kept {
        fs::write(path, content).unwrap();
    }
    run(&world.worker("slow").await).await;
    counts_each_run_once(&world, issue).await;
    world.finish().await;
}

/// The ledger takes the cost of the first run, and each answer that would say so is lost until the lease is over. So it takes nothing
/// of the second run.
#[test]
fn a_cost_whose_write_was_not_answered_counts_once() {
    in_virtual_time(Box::pin(async {
        let turnstile = std::sync::Arc::default();
        let done = billed(r#""outcome":"done","summary":"Made it.""#);
        let script = format!("[ $n -gt 0 ] || {{ {AT_THE_GATE} }}\necho $n > done.txt; {done}");
        let world = World::with_agent(&script).check("test ! -f done.txt || ! grep 0 done.txt").inside(&turnstile);
        let world = world.start().await;
        let issue = spends_after(&world, async |issue| {
            let fault = |method: Method, path: String, what: What| {
                let (method, login) = (Some(method.to_string()), Some("hob".into()));
                world.forge.inject(Fault { method, path, login, when: When::Always, what });
            };
            fault(Method::PATCH, format!("/repos/acme/site/git/refs/hob/issues/{issue}"), What::DropAfter);
            fault(Method::GET, format!("/repos/acme/site/git/ref/hob/issues/{issue}"), What::DropBefore);
        })
        .await;
        world.forge.heal();
        assert_eq!(world.record(issue).await.unwrap().spend.usd_micros, 1, "the ledger took the first");
        assert_eq!((world.briefs(issue).len(), world.journaled(issue).len()), (2, 1), "and the worker could not know");
        world.forge.advance(past_the_lease(&world));
        run(&world.worker("slow").await).await;
        counts_each_run_once(&world, issue).await;
        assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
        world.finish_after_faults().await;
    }));
}

/// The issue's budget is used up by a cost that the ledger does not have yet.
#[tokio::test]
async fn no_attempt_begins_before_the_cost_of_the_earlier_one_is_in_the_ledger() {
    let world = costly().set("budget.tokens", "2").start().await;
    let issue = spends_after(&world, async |_| {
        world.forge.advance(past_the_lease(&world));
        let mut settings = world.settings.clone();
        settings.recovery = Recovery::Abandon;
        run(&world.worker_with("quick", settings, Access::ReadWrite).await).await;
    })
    .await;
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.spend), (State::Ready, Spend::default()));
    let what = What::Answer { status: 502, headers: [].into(), message: "Bad Gateway".to_owned() };
    let (method, login) = (Some("POST".to_owned()), Some("hob".into()));
    let path = "/repos/acme/site/git/commits".to_owned();
    world.forge.inject(Fault { method, path, login, when: When::Call(1), what });
    run(&world.worker("slow").await).await;
    assert_eq!((world.briefs(issue).len(), world.journaled(issue).len()), (1, 1), "{:?}", world.failures());
    world.forge.heal();
    run(&world.worker("slow").await).await;
    assert_eq!(world.briefs(issue).len(), 1, "no agent runs above the budget");
    assert_eq!(world.record(issue).await.unwrap().blocked.map(|blocked| blocked.reason), Some(BlockCode::IssueBudget));
    counts_each_run_once(&world, issue).await;
    world.finish_after_faults().await;
}

#[tokio::test]
async fn a_cost_that_is_written_on_a_later_day_is_in_that_days_bill() {
    let world = costly().start().await;
    let issue = spends_on_a_closed_issue(&world).await;
    world.forge.advance(Duration::from_secs(24 * 3_600));
    run(&world.worker("slow").await).await;
    counts_each_run_once(&world, issue).await;
    let days = spend_by_day(world.repository_record().await.as_ref(), world.now().await);
    assert_eq!(days.iter().map(|day| day.spend.usd_micros).collect::<Vec<_>>(), [1], "{days:?}");
    world.finish().await;
}

/// The list of ledgers lags, and one of them seems to be missing.
#[tokio::test]
async fn a_cost_waits_for_a_ledger_that_is_not_found() {
    let world = costly().start().await;
    let issue = spends_on_a_closed_issue(&world).await;
    let what = What::Answer { status: 404, headers: [].into(), message: "Not Found".to_owned() };
    let path = format!("/repos/acme/site/git/ref/hob/issues/{issue}");
    world.forge.inject(Fault { method: None, path, login: Some("hob".into()), when: When::Always, what });
    run(&world.worker("slow").await).await;
    assert_eq!(world.journaled(issue).len(), 1, "it is kept");
    world.forge.heal();
    run(&world.worker("slow").await).await;
    counts_each_run_once(&world, issue).await;
    world.finish().await;
}

#[tokio::test]
async fn the_cost_of_an_issue_that_is_gone_is_in_its_ledger_and_nothing_is_held() {
    let world = costly().start().await;
    let issue = spends_on_a_closed_issue(&world).await;
    for path in [format!("{issue}"), format!("{issue}/**"), "comments/*".to_owned()] {
        let what = What::Answer { status: 404, headers: [].into(), message: "Not Found".to_owned() };
        let (path, login) = (format!("/repos/acme/site/issues/{path}"), Some("hob".into()));
        world.forge.inject(Fault { method: None, path, login, when: When::Always, what });
    }
    run(&world.worker("slow").await).await;
    world.forge.heal();
    counts_each_run_once(&world, issue).await;
    world.finish().await;
}

/// A worker that dies over the checks takes no cost with it.
#[tokio::test]
async fn the_cost_of_a_run_is_in_the_ledger_before_its_work_is_checked() {
    let done = billed(r#""outcome":"done","summary":"Made it.""#);
    let world = World::with_agent(&format!("echo done > done.txt; {done}"))
        .check(&format!("test ! -f done.txt || {{ {AT_THE_GATE} }}"))
        .start()
        .await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    let looks = async {
        gate.reached().await;
        counts_each_run_once(&world, issue).await;
        gate.open().await;
    };
    tokio::join!(world.run(), looks);
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

/// The worker dies when its agent has reported its cost, before the ledger has it. The session on its machine has it, and an earlier
/// session on another machine had a cost of its own.
#[tokio::test]
async fn the_cost_of_a_run_whose_worker_died_is_found_in_its_session() {
    let (done, asks) =
        (billed(r#""outcome":"done","summary":"Made it.""#), billed(r#""outcome":"question","question":"Which?""#));
    let works = format!("[ $n -gt 1 ] || {{ {AT_THE_GATE} }}\necho done > done.txt; {done}");
    let turnstile = Arc::new(Turnstile::default());
    let world = World::with_agent(&format!("if [ $n = 0 ]; then {asks}; else {works}; fi"))
        .check("test -f done.txt")
        .inside(&turnstile)
        .start()
        .await;
    let mut gate = Gate::of(&world);
    let issue = world.asks("Make done.txt", "").await;
    run(&world.worker("quick").await).await;
    world.comments("ann", issue, "Green.").await;
    let dead = world.worker("slow").await;
    let dies = async {
        gate.reached().await;
        let stopped = turnstile.stop_at_path("/git/commits");
        gate.open().await;
        stopped.await.unwrap()
    };
    // Its request never arrives.
    let _request = tokio::select! {
        _ = hob_worker::run_once(&dead, RunLimits::default()) => panic!("it was stopped"),
        there = dies => there,
    };
    drop(dead);
    turnstile.open();
    assert_eq!(world.record(issue).await.unwrap().spend.usd_micros, 1, "the ledger has the first run alone");
    world.forge.advance(past_the_lease(&world));
    run(&world.worker("slow").await).await;
    counts_each_run_once(&world, issue).await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

/// An agent tells its cost turn by turn, and once more when it is done.
#[tokio::test]
async fn the_tokens_of_each_turn_count_once() {
    let model = Model::start().await;
    let world = outages::world(&model, 1).await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    let (spend, turns) = (world.record(issue).await.unwrap().spend, model.answered() as u64);
    assert_eq!((spend.input_tokens, spend.output_tokens, turns), (10 * turns, turns, 2));
    world.finish().await;
}

/// A worker with the model, which dies while its first request is answered.
async fn dies_asking(world: &World, model: &Model) -> u64 {
    model.holds();
    let issue = world.asks("Make done.txt", "").await;
    let dead = world.worker("dead").await;
    tokio::select! {
        _ = hob_worker::run_once(&dead, RunLimits::default()) => panic!("it was stopped"),
        () = model.is_asked() => {}
    }
    drop(dead);
    model.goes_on();
    world.forge.advance(past_the_lease(world));
    issue
}

/// Another machine has no session of the dead worker: what its request may have cost is in the ledger before it is sent.
#[tokio::test]
async fn what_a_worker_that_died_on_another_machine_may_have_spent_counts() {
    // A fifth is allowed when the attempt begins; the request can cost more than a fifth of the second budget.
    for tokens in [10_000_000, 60_000] {
        let model = Model::start().await;
        let world = outages::asking(&model).set("budget.tokens", &tokens.to_string()).start().await;
        let issue = dies_asking(&world, &model).await;
        let allowed = world.record(issue).await.unwrap().lease.unwrap().may_reach.unwrap();
        run(&world.worker("other").await).await;
        let bill = world.record(issue).await.unwrap().spend;
        assert_eq!(allowed.tokens() == tokens / 5, tokens == 10_000_000, "{allowed:?}");
        assert!(allowed.tokens() <= tokens, "{allowed:?}");
        assert_eq!(bill.tokens(), allowed.tokens() + 22, "{:?}", world.failures());
        assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
        let told = world.hob(&["history", &issue.to_string()]).await;
        assert!(told.stdout.contains("added what the attempt of generation 1 spent: "), "{told:?}");
        world.finish().await;
    }
}

/// On its own machine its session has what the request could cost at most.
#[tokio::test]
async fn what_a_worker_that_died_on_this_machine_reserved_counts() {
    let model = Model::start().await;
    let world = outages::asking(&model).set("budget.tokens", "10000000").start().await;
    let issue = dies_asking(&world, &model).await;
    run(&world.worker("dead").await).await;
    let bill = world.record(issue).await.unwrap().spend;
    assert!((1_000..1_000_000).contains(&bill.tokens()), "{bill:?} {:?}", world.failures());
    world.finish().await;
}
