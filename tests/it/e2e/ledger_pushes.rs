//! Ledgers that move by push: one exchange a step, the same guarantees, and the API where the git server does not take it.

use std::time::Duration;

use github_emulator::{Fault, LoggedRequest, What, When};
use hob_domain::{Control, IssueNumber, Nonce, Record, RepositoryRecord, Request, Sha, Timestamp, Transition};
use hob_forge::{Access, Acquisition, Forge, ForgeError, HeldLease, RENEWALS, RepositoryChange};

use crate::harness::{World, claim, repo_on_forge, run};

const PUSHES: &str = "/acme/site.git/git-receive-pack";

/// A client whose ledgers move by push.
fn pushing(world: &World) -> Forge {
    let forge = world.bot(Access::ReadWrite);
    forge.push_ledgers_to(&world.forge.server_url());
    forge
}

async fn claimed(world: &World, forge: &Forge, name: &str, issue: u64) -> Result<HeldLease, ForgeError> {
    let base = forge.repository().base_branch().await.unwrap();
    let claimant = world.claimant(name);
    forge.ledger().acquire(IssueNumber(issue), None, &claimant, &base.tree, claim("Make done.txt")).await
}

async fn let_go(forge: &Forge, lease: &HeldLease) {
    forge.ledger().release_with(lease, Transition::Requeue { reason: "let go".to_owned() }).await.unwrap();
}

/// A worker finds nothing amiss in what was left.
async fn work_on(world: World) {
    world.run().await;
    assert_eq!(world.labels(1).await, ["code", "in-review"], "{:?}", world.failures());
    world.finish().await;
}

/// How many pushes the forge was sent, and how many writes to the API's git objects and refs.
fn exchanges(world: &World) -> (usize, usize) {
    let requests = world.forge.requests();
    let sent = requests.iter().filter(|request| request.method == "POST" || request.method == "PATCH");
    let (pushes, calls): (Vec<_>, Vec<_>) = sent.partition(|request| request.path.ends_with("/git-receive-pack"));
    (pushes.len(), calls.iter().filter(|request| request.path.contains("/git/")).count())
}

#[tokio::test]
async fn each_step_is_one_push_and_the_history_is_as_over_the_api() {
    let world = World::fixing().pushing_ledgers().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let forge = pushing(&world);
    let lease = claimed(&world, &forge, "w", issue).await.unwrap();
    forge.ledger().renew(&lease).await.unwrap();
    let_go(&forge, &lease).await;
    assert_eq!(exchanges(&world), (3, 0));
    let told = world.history(issue).await;
    assert_eq!((told.len(), told[1].as_str()), (2, "requeued: let go"), "{told:?}");
    work_on(world).await;
}

#[tokio::test]
async fn of_two_that_push_from_one_tip_one_moves_it() {
    let world = World::fixing().pushing_ledgers().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let (first, second) = (pushing(&world), pushing(&world));
    let lease = claimed(&world, &first, "first", issue).await.unwrap();
    assert!(matches!(claimed(&world, &second, "second", issue).await, Err(ForgeError::Lost(_))));
    assert_eq!(exchanges(&world), (2, 0));
    let_go(&first, &lease).await;
    work_on(world).await;
}

#[tokio::test]
async fn a_server_that_takes_no_push_is_not_asked_again_for_a_while() {
    let world = World::fixing().pushing_ledgers().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let refused = What::Answer { status: 403, headers: [].into(), message: "no".to_owned() };
    world.forge.inject(Fault { method: None, path: PUSHES.to_owned(), login: None, when: When::Always, what: refused });
    let forge = pushing(&world);
    let lease = claimed(&world, &forge, "w", issue).await.unwrap();
    forge.ledger().renew(&lease).await.unwrap();
    let_go(&forge, &lease).await;
    assert_eq!(exchanges(&world), (1, 6));
    world.forge.heal();
    work_on(world).await;
}

#[tokio::test]
async fn a_push_whose_answer_is_lost_is_recognized_and_one_that_is_lost_is_made_again() {
    for (what, pushes, calls) in [(What::DropAfter, 1, 0), (What::DropBefore, 1, 2)] {
        let world = World::fixing().pushing_ledgers().start().await;
        let issue = world.asks("Make done.txt", "").await;
        let forge = pushing(&world);
        let lease = claimed(&world, &forge, "w", issue).await.unwrap();
        let (before, _) = exchanges(&world);
        world.forge.inject(Fault { method: None, path: PUSHES.to_owned(), login: None, when: When::First(1), what });
        forge.ledger().renew(&lease).await.unwrap();
        let (after, over_api) = exchanges(&world);
        assert_eq!((after - before, over_api), (pushes, calls));
        let_go(&forge, &lease).await;
        work_on(world).await;
    }
}

#[tokio::test]
async fn the_repositorys_ledger_moves_by_push_too() {
    let world = World::fixing().pushing_ledgers().start().await;
    let forge = pushing(&world);
    let base = forge.repository().base_branch().await.unwrap();
    let next =
        |before: Option<&_>, nonce, now| Ok((RepositoryRecord::next(before, nonce, now), "began".to_owned(), ()));
    forge.repository_ledger().change(&base.tree, next).await.unwrap();
    assert_eq!(exchanges(&world), (1, 0));
    world.finish().await;
}

/// Counts in the repository's ledger.
fn counted(before: Option<&RepositoryRecord>, nonce: Nonce, now: Timestamp) -> RepositoryChange<()> {
    Ok((RepositoryRecord::next(before, nonce, now), "counted".to_owned(), ()))
}

/// Acquires the lease and counts; whether both came of one push.
async fn claimed_and_counted(
    world: &World,
    forge: &Forge,
    name: &str,
    issue: u64,
) -> Result<(HeldLease, bool), ForgeError> {
    let base = forge.repository().base_branch().await.unwrap();
    let claimant = world.claimant(name);
    let acquisition = Acquisition {
        issue: IssueNumber(issue),
        seen: None,
        claimant: &claimant,
        tree: &base.tree,
        transition: claim("Make done.txt"),
    };
    let count = |_: &Record, before: Option<&_>, nonce, now| counted(before, nonce, now);
    let acquired = forge.ledger().acquire_with(acquisition, count).await;
    acquired.map(|(lease, answer)| (lease, answer.is_some()))
}

#[tokio::test]
async fn an_issue_is_worked_on_in_five_pushes_of_the_six_that_a_minute_has() {
    // Pushes are counted where writes are spaced.
    let world = World::fixing().pushing_ledgers().set("testing.forge.write_interval_ms", "1").start().await;
    world.asks("Make done.txt", "").await;
    world.run().await;
    assert_eq!(world.labels(1).await, ["code", "in-review"], "{:?}", world.failures());
    // Claim and reservation, the start, the branch with a renewal, the review, settlement and release.
    assert_eq!(exchanges(&world), (5, 0));
    assert_eq!(steps(&world, 1).await, 5);
    world.finish().await;
}

/// How often an issue's ledger moved.
async fn steps(world: &World, issue: u64) -> usize {
    world.bot(Access::ReadOnly).ledger().history(IssueNumber(issue)).await.unwrap().len()
}

#[tokio::test]
async fn a_branch_goes_alone_to_a_server_that_makes_each_update_by_itself_and_that_is_remembered() {
    let world = World::fixing().pushing_ledgers().start().await;
    world.forge.set_atomic_pushes(&repo_on_forge(), false).unwrap();
    let worker = world.worker("w").await;
    for title in ["Make done.txt", "Make done.txt again"] {
        let issue = world.asks(title, "").await;
        run(&worker).await;
        assert_eq!(world.labels(issue).await, ["code", "in-review"], "{:?}", world.failures());
        assert_eq!(steps(&world, issue).await, 4);
    }
    let asked = |request: &&LoggedRequest| request.path.contains("info/refs?service=git-receive-pack");
    assert_eq!(world.forge.requests().iter().filter(asked).count(), 3);
    world.finish().await;
}

/// Both refs move or none.
#[tokio::test]
async fn a_claim_without_its_reservation_moves_nothing() {
    let world = World::fixing().pushing_ledgers().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let (first, second) = (pushing(&world), pushing(&world));
    let base = first.repository().base_branch().await.unwrap();
    first.repository_ledger().change(&base.tree, counted).await.unwrap();
    let known = second.repository_ledger().latest().await.unwrap();
    first.repository_ledger().change(&base.tree, counted).await.unwrap();
    let (before, _) = exchanges(&world);
    // What it knows of the repository is old: the push of both fails, and the lease is acquired alone.
    let (lease, is_counted) = claimed_and_counted(&world, &second, "w", issue).await.unwrap();
    assert_eq!((exchanges(&world).0 - before, is_counted), (2, false));
    assert_ne!(second.repository_ledger().latest().await.unwrap(), known);
    assert_eq!(world.history(issue).await.len(), 1);
    let_go(&second, &lease).await;
    work_on(world).await;
}

#[tokio::test]
async fn a_claim_that_loses_its_race_reserves_nothing() {
    let world = World::fixing().pushing_ledgers().start().await;
    let issue = world.asks("Make done.txt", "").await;
    let (first, second) = (pushing(&world), pushing(&world));
    let lease = claimed(&world, &first, "first", issue).await.unwrap();
    let lost = claimed_and_counted(&world, &second, "second", issue).await;
    assert!(matches!(lost, Err(ForgeError::Lost(_))), "{lost:?}");
    assert_eq!(second.repository_ledger().latest().await.unwrap(), None);
    let_go(&first, &lease).await;
    work_on(world).await;
}

#[tokio::test]
async fn a_claim_and_its_reservation_whose_answer_is_lost_are_recognized() {
    for (what, are_both, pushes, calls) in [(What::DropAfter, true, 1, 0), (What::DropBefore, false, 1, 0)] {
        let world = World::fixing().pushing_ledgers().start().await;
        let issue = world.asks("Make done.txt", "").await;
        let forge = pushing(&world);
        world.forge.inject(Fault { method: None, path: PUSHES.to_owned(), login: None, when: When::First(1), what });
        let claimed = claimed_and_counted(&world, &forge, "w", issue).await;
        assert_eq!(exchanges(&world), (pushes, calls));
        let counted = forge.repository_ledger().latest().await.unwrap();
        assert_eq!((claimed.as_ref().is_ok_and(|claimed| claimed.1), counted.is_some()), (are_both, are_both));
        // One that was not made is claimed at the next poll.
        if let Ok((lease, _)) = claimed {
            let_go(&forge, &lease).await;
        }
        work_on(world).await;
    }
}

/// The tips of the issues' ledgers.
async fn tips(forge: &Forge) -> Vec<(IssueNumber, Sha)> {
    let tips = forge.ledger().tips().await.unwrap().issues;
    tips.into_iter().map(|tip| (tip.issue, tip.commit)).collect()
}

/// Lets time pass that nobody waits for.
async fn later(by: Duration) {
    tokio::time::pause();
    tokio::time::advance(by).await;
    tokio::time::resume();
}

#[tokio::test]
async fn what_a_process_holds_is_renewed_in_one_push() {
    let world = World::fixing().pushing_ledgers().start().await;
    let forge = pushing(&world);
    let mut leases = Vec::new();
    for title in ["Make done.txt", "Make it twice", "Make it three times"] {
        let issue = world.asks(title, "").await;
        leases.push(claimed(&world, &forge, "w", issue).await.unwrap());
    }
    let (claimed, before) = (exchanges(&world), tips(&forge).await);
    // One that is young is left alone, and so is one that is not held any more.
    forge.ledger().renew(&leases[0]).await.unwrap();
    assert_eq!(exchanges(&world), (claimed.0 + 1, 0));
    later(world.settings.lease.duration / (2 * RENEWALS)).await;
    forge.ledger().release(&leases[2]).await.unwrap();
    // One whose ledger has a request, which its own heartbeat hears of.
    let tip = forge.ledger().tip(IssueNumber(2)).await.unwrap().unwrap();
    let seen = forge.ledger().entry(&tip).await.unwrap();
    let (by, at) = ("ann".into(), forge.now());
    let pause = Request { control: Control::Pause, by, at, reason: String::new() };
    world.bot(Access::ReadWrite).ledger().ask(&seen, pause).await.unwrap();
    let (sent, between) = (exchanges(&world).0, tips(&forge).await);
    forge.ledger().renew(&leases[0]).await.unwrap();
    assert_eq!(exchanges(&world).0 - sent, 1);
    let after = tips(&forge).await;
    let moved = |a: &[_], b: &[_]| a.iter().zip(b).map(|(a, b)| a != b).collect::<Vec<_>>();
    assert_eq!(moved(&between, &after), [true, false, false]);
    assert_eq!(moved(&before, &after), [true, true, true]);
    forge.ledger().renew(&leases[1]).await.unwrap();
    assert!(leases[1].record().request().is_some());
    later(world.settings.lease.duration / (2 * RENEWALS)).await;
    let (sent, before) = (exchanges(&world).0, tips(&forge).await);
    forge.ledger().renew(&leases[1]).await.unwrap();
    assert_eq!(exchanges(&world).0 - sent, 1);
    assert_eq!(moved(&before, &tips(&forge).await), [true, true, false]);
    assert!(leases[..2].iter().all(|lease| lease.age() < Duration::from_secs(10)));
    for lease in &leases[..2] {
        let_go(&forge, lease).await;
    }
    work_on(world).await;
}

/// No such server is known among forges, so it only has to lose nothing.
#[tokio::test]
async fn a_server_that_makes_each_update_by_itself_does_no_harm() {
    let world = World::fixing().pushing_ledgers().start().await;
    world.forge.set_atomic_pushes(&repo_on_forge(), false).unwrap();
    let issue = world.asks("Make done.txt", "").await;
    let (first, second) = (pushing(&world), pushing(&world));
    let base = first.repository().base_branch().await.unwrap();
    first.repository_ledger().change(&base.tree, counted).await.unwrap();
    second.repository_ledger().latest().await.unwrap();
    first.repository_ledger().change(&base.tree, counted).await.unwrap();
    let (lease, is_counted) = claimed_and_counted(&world, &second, "w", issue).await.unwrap();
    assert!(!is_counted);
    let other = world.asks("Make done.txt again", "").await;
    let holder = claimed(&world, &first, "first", other).await.unwrap();
    assert!(matches!(claimed_and_counted(&world, &second, "second", other).await, Err(ForgeError::Lost(_))));
    let_go(&first, &holder).await;
    let_go(&second, &lease).await;
    work_on(world).await;
}
