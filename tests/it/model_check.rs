//! The protocol, model-checked: every interleaving of a few workers that call Hob's own decision functions, with lost
//! answers, delays, crashes, stops, clocks that differ and people who interfere. Variants that lack one rule each show
//! that the checker would find the fault.
//!
//! `cargo test --test it model_check -- --nocapture` prints the figures; `HOB_MODEL_ALL=1` searches larger models too.
#![expect(clippy::print_stdout, reason = "what was searched is the test's result")]
#![expect(clippy::disallowed_methods, reason = "a test that is asked for by a variable")]

mod explore;
mod quota;
mod refs;
mod search;
mod shell;
mod world;

use std::{collections::BTreeSet, num::NonZero, time::Instant};

use explore::{Act, Bounds, Protocol};
use hob_domain::Recovery;
use refs::Pushing::{self, Both, Either, Single};
use search::{Found, Way, search};
use shell::Variant;
use stateright::{Checker, HasDiscoveries, Model, Path};
use world::World;

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Searches the whole model, for broken properties and for states from which no faultless way leads to rest.
fn check(protocol: Protocol) {
    let started = Instant::now();
    let Found { steps, states, resting, broken, stuck } = search(&protocol);
    println!("{protocol}: {steps} states, {states} of them different, {resting} at rest, {:.1?}", started.elapsed());
    if let Some((property, way)) = broken {
        panic!("not `{property}`:\n{}", told(way));
    }
    if let Some(way) = stuck {
        panic!("stuck:\n{}", told(way));
    }
    assert!(resting > 0, "the model never comes to rest");
}

/// Searches a model that does not fit into memory, for broken properties.
fn check_properties(protocol: Protocol) {
    let started = Instant::now();
    let checker = protocol.checker().threads(threads()).finish_when(HasDiscoveries::Any).spawn_bfs().join();
    let (states, different, depth) = (checker.state_count(), checker.unique_state_count(), checker.max_depth());
    println!("{protocol}: {states} states, {different} of them different, depth {depth}, {:.1?}", started.elapsed());
    if let Some((property, path)) = checker.discoveries().into_iter().next() {
        panic!("not `{property}`:\n{}", told(way(path)));
    }
}

fn way(path: Path<World, Act>) -> Way {
    let steps = path.into_vec();
    let worlds = steps.iter().skip(1).map(|(world, _)| world.clone());
    steps.iter().filter_map(|(_, act)| *act).zip(worlds).collect()
}

/// A path, one line a step: the action, and the ledger after it.
fn told(way: Way) -> String {
    way.into_iter().enumerate().map(|(n, (act, world))| format!("  {:2}. {act:?} -> {world}\n", n + 1)).collect()
}

/// The bounds that the faults of most variants need.
const TROUBLE: Bounds = Bounds { trouble: 2, people: 0 };

/// Searches a broken variant until `property` is found not to hold.
fn finds(protocol: Protocol, property: &'static str) {
    let started = Instant::now();
    let found = BTreeSet::from([property]);
    let checker = protocol.checker().finish_when(HasDiscoveries::AllOf(found)).spawn_bfs().join();
    println!("{protocol}: found after {} states, {:.1?}", checker.state_count(), started.elapsed());
    let path = checker.discovery(property);
    let path = path.unwrap_or_else(|| panic!("{protocol} was not found to break `{property}`"));
    println!("not `{property}`:\n{}", told(way(path)));
}

/// The writes of an hour, a fifth of which is kept for leases: as many as one issue's lease needs in it.
const WRITES: u8 = 30;

fn real(pushing: &[Pushing], trouble: u8, people: u8) -> Protocol {
    Protocol::new(Variant::Real, pushing, Bounds { trouble, people })
}

/// Whether the models that take minutes are searched too.
fn all() -> bool {
    std::env::var_os("HOB_MODEL_ALL").is_some()
}

#[test]
fn no_interleaving_of_two_workers_breaks_the_protocol() {
    check(real(&[Both, Single], 1, 0));
    check(real(&[Both, Single], 1, 0).with_recovery(Recovery::Block));
}

#[test]
fn people_who_act_meanwhile_do_not_break_the_protocol() {
    check(real(&[Both], 1, 1));
    check(real(&[Both, Single], 0, 1));
    check(real(&[Both, Single, Either], 0, 0));
}

#[test]
fn budgets_and_limits_do_not_break_the_protocol() {
    check(real(&[Either], 1, 0).with_bills());
    check(real(&[Either], 1, 0).with_day(1));
    for pushing in [Both, Single] {
        check(real(&[pushing], 0, 0).with_writes(WRITES));
    }
}

#[test]
fn larger_models_do_not_break_the_protocol() {
    if !all() {
        return;
    }
    for pushing in [Both, Single, Either] {
        check(real(&[pushing; 2], 1, 0));
    }
    check(real(&[Single], 1, 0).with_recovery(Recovery::Abandon));
    check_properties(real(&[Both, Single], 1, 0).with_recovery(Recovery::Abandon));
    for (pushing, trouble, people) in [
        (&[Both, Single, Either][..], 0, 1),
        (&[Both, Single, Either], 1, 0),
        (&[Both, Single], 1, 1),
        (&[Both, Single], 2, 0),
        (&[Both], 2, 2),
    ] {
        check_properties(real(pushing, trouble, people));
    }
}

#[test]
fn without_a_nonce_two_workers_hold_one_generation() {
    finds(Protocol::new(Variant::NoNonce, &[Both; 2], TROUBLE), "one generation has one holder");
}

#[test]
fn without_the_check_of_the_generation_a_stale_worker_moves_the_ref() {
    finds(Protocol::new(Variant::NoGenerationCheck, &[Both; 2], TROUBLE), "no generation goes backwards");
}

#[test]
fn without_waiting_for_the_expiry_two_workers_write() {
    finds(Protocol::new(Variant::NoWaiting, &[Both; 2], TROUBLE), "one worker may write");
}

#[test]
fn without_a_look_at_an_unknown_outcome_two_workers_write() {
    finds(Protocol::new(Variant::GuessedSuccess, &[Both; 2], TROUBLE), "one worker may write");
}

#[test]
fn without_the_lease_outlasting_a_write_a_stale_write_is_seen() {
    finds(Protocol::new(Variant::NoPermit, &[Both; 2], TROUBLE), "no stale write is seen");
}

#[test]
fn a_stop_that_puts_back_what_had_ended_is_found() {
    finds(Protocol::new(Variant::StopPutsBack, &[Both; 2], TROUBLE), "a settled state stays");
}

#[test]
fn with_the_issue_read_before_its_ledger_labels_stay_wrong() {
    let protocol = Protocol::new(Variant::IssueFirst, &[Both; 2], Bounds { trouble: 0, people: 1 });
    finds(protocol, "at rest, people see what the ledger says");
}

/// Its worker dies after the answer was said and before the ledger says that the round is over.
#[test]
fn without_a_look_for_what_was_said_a_review_is_answered_twice() {
    finds(Protocol::new(Variant::NoLook, &[Both; 1], Bounds { trouble: 1, people: 1 }), "a review is answered once");
}

/// Its worker is suspended while it pushes, for longer than its lease.
#[test]
fn a_branch_that_is_pushed_without_its_ledger_moves_under_a_lost_lease() {
    finds(Protocol::new(Variant::Unfenced, &[Both; 2], TROUBLE), "no branch is moved under a lost lease");
}

#[test]
fn a_claim_that_is_shown_first_is_found() {
    let protocol = Protocol::new(Variant::ShownFirst, &[Both], Bounds { trouble: 1, people: 0 });
    finds(protocol, "nothing is shown that the ledger does not have");
}

/// The answer to its release is lost, and another worker has begun when it tries to settle once more.
#[test]
fn a_settlement_of_a_lost_lease_takes_the_reservation_of_the_next_one() {
    finds(Protocol::new(Variant::StaleShare, &[Both; 2], TROUBLE), "work is reserved");
}

#[test]
fn without_a_reserve_a_renewal_finds_no_write() {
    let protocol = Protocol::new(Variant::NoReserve, &[Both], Bounds { trouble: 0, people: 0 });
    finds(protocol.with_writes(WRITES), "a renewal finds a write");
}
