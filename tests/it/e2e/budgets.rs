//! Budgets: of an attempt, of an issue's life, of the repository's day; the hour; and attempts that lead nowhere.

use std::{sync::Arc, time::Duration};

use hob_domain::{Allowance, BlockCode, Generation, IssueNumber, RepositoryRecord, Reservation, Spend, State, reserve};
use hob_forge::{Access, Forge};
use hob_worker::RunLimits;

use crate::harness::{Turnstile, World, run};

/// Reports its cost, in US dollars and tokens.
fn costing(script: &str, usd: &str) -> String {
    format!("{script}\necho '{{\"outcome\":\"done\",\"summary\":\"Did it.\",\"usd\":{usd},\"input_tokens\":100}}'")
}

async fn blocked_for(world: &World, issue: u64) -> Option<BlockCode> {
    let record = world.record(issue).await.unwrap();
    record.blocked.filter(|_| record.state == State::Blocked).map(|blocked| blocked.reason)
}

/// Attack corpus I97.
#[tokio::test]
async fn an_issues_budget_holds_whatever_is_answered_and_whatever_label_is_put_on_again() {
    let world = World::with_agent(&costing("echo $n > work.txt", "3.0"))
        .check("test ! -f work.txt")
        .set("budget.issue", "5.0")
        .start()
        .await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!(blocked_for(&world, issue).await, Some(BlockCode::IssueBudget));
    let spent = world.record(issue).await.unwrap().spend;
    assert_eq!(spent.usd_micros, 6_000_000, "the second round had what was left of five dollars");
    let status = world.status(issue).await;
    assert!(status.contains("budget of $5.00 (`budget.issue`) is used up. It has spent $6.00"), "{status}");

    world.comments("ann", issue, "/hob retry").await;
    world.run().await;
    world.labels_off("ann", issue, "code").await;
    world.run().await;
    world.labels_on("ann", issue, "code").await;
    world.run().await;
    assert_eq!(blocked_for(&world, issue).await, Some(BlockCode::IssueBudget));
    assert_eq!(world.briefs(issue).len(), 2, "no agent ran again");
    assert_eq!(world.record(issue).await.unwrap().spend, spent);
    world.finish().await;
}

#[tokio::test]
async fn tokens_and_attempts_of_a_life_are_limited_too() {
    for (key, value, attempts, says) in [
        ("budget.tokens", "100", 1, "budget of 100 tokens (`budget.tokens`) is used up"),
        ("limits.attempts", "1", 4, "budget of 4 attempts (`limits.attempts`) is used up"),
    ] {
        let question = r#"echo '{"outcome":"question","question":"Which?","input_tokens":100}'"#;
        let world = World::with_agent(question).set(key, value).start().await;
        let issue = world.asks("Make done.txt", "").await;
        world.run().await;
        for attempt in 1..=attempts {
            assert_eq!(blocked_for(&world, issue).await, Some(BlockCode::Question), "{key}");
            world.comments("ann", issue, &format!("Green, as in answer {attempt}.")).await;
            world.run().await;
        }
        let status = world.status(issue).await;
        assert!(status.contains(says), "{key}: {status}");
        assert_eq!(world.briefs(issue).len(), attempts, "{key}");
        world.finish().await;
    }
}

#[tokio::test]
async fn an_attempts_budget_ends_the_attempt_and_a_person_may_start_another() {
    let world = World::with_agent(&costing("echo $n >> work.txt; test $n -lt 1 || echo done > done.txt", "1.0"))
        .check("test ! -f work.txt || test -f done.txt")
        .set("budget.attempt", "1.0")
        .start()
        .await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let record = world.record(issue).await.unwrap();
    assert_eq!(blocked_for(&world, issue).await, Some(BlockCode::AttemptBudget), "{record:?}");
    assert!(world.status(issue).await.contains("The attempt's budget of $1.00 (`budget.attempt`) is used up"));
    world.comments("ann", issue, "/hob retry").await;
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

#[tokio::test]
async fn a_days_budget_is_shared_by_all_workers_and_ends_at_midnight() {
    let world = World::fixing()
        .script("fixer", &costing("echo done > done.txt", "2.0"))
        .set("budget.issue", "2.0")
        .set("budget.day", "4.0")
        .start()
        .await;
    let mut issues = Vec::new();
    for n in 0..3 {
        issues.push(world.asks(&format!("Issue {n}"), "").await);
    }
    for name in ["one", "another", "third"] {
        run(&world.worker(name).await).await;
    }
    let states = async |world: &World| {
        let mut in_review = 0;
        for issue in &issues {
            in_review += usize::from(world.labels(*issue).await.contains(&"in-review".to_owned()));
        }
        in_review
    };
    assert_eq!(states(&world).await, 2, "{:?}", world.failures());
    let why = world.hob(&["explain", &issues[2].to_string()]).await.stdout;
    assert!(why.contains("the day's budget of $4.00 is used up"), "{why}");
    assert!(why.contains("$4.00"), "{why}");
    world.forge.advance(Duration::from_secs(24 * 3600));
    world.run().await;
    assert_eq!(states(&world).await, 3, "{:?}", world.failures());
    world.finish().await;
}

/// Another worker takes that many US dollars of the day for its own issue, or all that is left.
async fn another_takes(world: &World, issue: u64, usd: Option<u64>) {
    let (forge, rules) = (world.bot(Access::ReadWrite), world.settings.repository_rules());
    let base = forge.repository().base_branch().await.unwrap();
    let taken = forge.repository_ledger().change(&base.tree, |before, nonce, now| {
        let until = now + Duration::from_secs(3_600);
        let allowance = Allowance { usd_micros: usd.map(|usd| usd * 1_000_000), ..Allowance::default() };
        let (worker, issue, generation) = ("w".into(), IssueNumber(issue), Generation(1));
        let ask = Reservation { worker, issue, generation, bill: Spend::default(), allowance, until };
        let (record, _) = reserve(before, &ask, &rules, nonce, now)?;
        Ok((record, "another begins".to_owned(), ()))
    });
    taken.await.unwrap().written().unwrap();
}

/// Four issues of which the day has room for one; another worker takes that at the request whose path ends with `path`.
async fn the_day_is_taken_at(path: &str) -> (World, hob_worker::RunSummary) {
    let turnstile = Arc::new(Turnstile::default());
    let world = World::fixing().set("budget.issue", "2.0").set("budget.day", "2.0").inside(&turnstile).start().await;
    for n in 1..=4 {
        world.asks(&format!("Issue {n}"), "").await;
    }
    let stopped = turnstile.stop_at_path(path);
    let meanwhile = async {
        let go = stopped.await.unwrap();
        another_takes(&world, 99, None).await;
        go.send(()).unwrap();
    };
    let worker = world.worker("w1").await;
    let limits = RunLimits { max_issues: Some(2), ..RunLimits::default() };
    let (summary, ()) = tokio::join!(hob_worker::run_once(&worker, limits), meanwhile);
    (world, summary.unwrap())
}

#[tokio::test]
async fn room_that_is_gone_before_the_claim_leaves_the_issues_alone() {
    let (world, summary) = the_day_is_taken_at("/events").await;
    assert_eq!((summary.worked, summary.failed), (0, 0), "{:?}", world.failures());
    for issue in 1..=4 {
        assert!(world.record(issue).await.is_none(), "issue {issue} was claimed");
    }
    world.finish().await;
}

#[tokio::test]
async fn room_that_is_gone_after_the_claim_costs_one_requeue_and_no_work() {
    let (world, summary) = the_day_is_taken_at("/git/refs").await;
    assert_eq!((summary.worked, summary.failed), (0, 0), "{:?}", world.failures());
    let record = world.record(1).await.unwrap();
    assert_eq!((record.state, record.generation.0, record.attempts.ever), (State::Ready, 1, 0));
    let labelled = world.writes().into_iter().filter(|write| write.path.contains("/issues/1/labels"));
    assert_eq!(labelled.count(), 0, "no label comes and goes");
    for issue in 2..=4 {
        assert!(world.record(issue).await.is_none(), "issue {issue} of an old queue was claimed");
    }
    // The rest of the world has no status comment: nothing was ever shown.
    world.leave();
}

#[tokio::test]
async fn ample_room_is_looked_at_again_where_others_take_of_it() {
    let turnstile = Arc::new(Turnstile::default());
    let world = World::fixing().set("budget.issue", "2.0").set("budget.day", "20.0").inside(&turnstile).start().await;
    let worker = world.worker("w1").await;
    another_takes(&world, 98, Some(2)).await;
    run(&worker).await;
    // The next poll finds a record that this worker did not write.
    another_takes(&world, 99, Some(2)).await;
    let issue = world.asks("An issue", "").await;
    let stopped = turnstile.stop_at_path("/events");
    let meanwhile = async {
        let go = stopped.await.unwrap();
        another_takes(&world, 100, None).await;
        go.send(()).unwrap();
    };
    let (summary, ()) = tokio::join!(hob_worker::run_once(&worker, RunLimits::default()), meanwhile);
    assert_eq!(summary.unwrap().worked, 0, "{:?}", world.failures());
    assert!(world.record(issue).await.is_none(), "it was claimed without room");
    world.leave();
}

#[tokio::test]
async fn a_worker_that_found_others_at_the_record_looks_before_it_writes() {
    let world = World::fixing().start().await;
    let (one, two) = (world.bot(Access::ReadWrite), world.bot(Access::ReadWrite));
    let tree = one.repository().base_branch().await.unwrap().tree;
    let writes = async |forge: &Forge| {
        let before = forge.connection().call_counts().writes;
        let changed = forge.repository_ledger().change(&tree, |before, nonce, now| {
            Ok((RepositoryRecord::next(before, nonce, now), "a change".to_owned(), ()))
        });
        changed.await.unwrap().written().unwrap();
        forge.connection().call_counts().writes - before
    };
    assert_eq!((writes(&one).await, writes(&one).await), (2, 2));
    assert_eq!((writes(&two).await, writes(&one).await), (4, 4), "neither knows of the other");
    assert_eq!((writes(&two).await, writes(&one).await), (2, 2), "both look first");
    let reads = |forge: &Forge| forge.connection().call_counts().reads;
    assert_eq!(writes(&one).await, 2);
    world.forge.advance(Duration::from_secs(3_601));
    // The forge's answers tell the time.
    assert_eq!(writes(&one).await, 2);
    let before = reads(&one);
    assert_eq!((writes(&one).await, reads(&one) - before), (2, 0), "a worker that was alone for an hour looks no more");
    world.finish().await;
}

/// Requirement A8.
/// Attack corpus I98.
#[tokio::test]
async fn the_hour_has_its_limit_however_many_workers_poll_at_once() {
    let world = World::fixing().set("limits.issues_per_hour", "3").start().await;
    for n in 0..8 {
        world.asks(&format!("Issue {n}"), "").await;
    }
    let workers = [world.worker("a").await, world.worker("b").await, world.worker("c").await];
    tokio::join!(run(&workers[0]), run(&workers[1]), run(&workers[2]));
    assert_eq!(world.pulls().await.len(), 3, "{:?}", world.failures());
    world.forge.advance(Duration::from_secs(3_601));
    world.run().await;
    assert_eq!(world.pulls().await.len(), 6);
    world.finish().await;
}

#[tokio::test]
async fn an_exhausted_quota_is_a_pause_and_no_attempt() {
    let out = r#"echo '{"outcome":"quota","reset_after":7200}'; exit 1"#;
    let script = format!("case $n in 0) {out} ;; *) echo done > done.txt ;; esac");
    let world = World::fixing().script("fixer", &script).set("limits.attempts", "1").start().await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    let record = world.record(issue).await.unwrap();
    assert_eq!((record.state, record.attempts.now, record.attempts.ever), (State::Ready, 0, 0), "{record:?}");
    world.forge.advance(Duration::from_secs(7_000));
    world.run().await;
    assert_eq!(world.briefs(issue).len(), 1, "not before the quota is there again");
    world.forge.advance(Duration::from_secs(300));
    world.run().await;
    assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

/// Attack corpus I95.
#[tokio::test]
async fn an_agent_that_is_always_killed_costs_no_attempt_and_is_handed_to_a_person_when_patience_is_over() {
    let world = World::with_agent("kill -9 $$").set("limits.patience", "2h").start().await;
    let issue = world.asks("Make done.txt", "").await;
    for _ in 0..24 {
        world.run().await;
        world.forge.advance(Duration::from_secs(300));
    }
    assert_eq!(world.record(issue).await.unwrap().attempts.ever, 0);
    world.forge.advance(Duration::from_secs(3_600));
    world.run().await;
    assert_eq!(blocked_for(&world, issue).await, Some(BlockCode::ServiceDown));
    assert!((5..9).contains(&world.briefs(issue).len()), "{}", world.briefs(issue).len());
    assert!(world.status(issue).await.contains("The agent `fixer` has failed"), "{}", world.status(issue).await);
    world.finish().await;
}

#[tokio::test]
async fn a_round_that_changes_nothing_is_the_last() {
    let world = World::with_agent("echo half > half.txt")
        .check("echo broken; test ! -f half.txt")
        .set("testing.limits.check_rounds", "9")
        .start()
        .await;
    let issue = world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!((world.briefs(issue).len(), blocked_for(&world, issue).await), (2, Some(BlockCode::ChecksFailed)));
    assert!(world.status(issue).await.contains("after 2 rounds of work"));
    world.finish().await;
}

/// Attack corpus J115: an agent that repeatedly reports a used-up quota is neither run in a loop nor for ever.
#[tokio::test]
async fn an_agent_that_never_has_a_quota_is_paused_and_in_the_end_handed_to_a_person() {
    let world = World::with_agent(r#"echo '{"outcome":"quota","reset_after":0}'"#).start().await;
    let issue = world.asks("Make done.txt", "").await;
    for _ in 0..25 {
        let runs = world.briefs(issue).len();
        world.run().await;
        world.run().await;
        assert!(world.briefs(issue).len() <= runs + 1, "no two runs without a pause");
        world.forge.advance(Duration::from_secs(3_600));
    }
    assert!(world.briefs(issue).len() >= 24);
    assert_eq!(world.labels(issue).await, ["blocked", "code"]);
    assert!(
        world.status(issue).await.contains("longer than `limits.patience` allows"),
        "{}",
        world.status(issue).await
    );
    world.finish().await;
}
