//! The protocol, model-checked: every interleaving of a few workers that call Hob's own decision functions, with lost
//! answers, delays, crashes, stops, clocks that differ and people who interfere. Variants that lack one rule each show
//! that the checker would find the fault.
//!
//! `cargo test --test it model_check -- --nocapture` prints the figures; `HOB_MODEL_ALL=1` searches larger models too.
#![expect(clippy::print_stdout, reason = "what was searched is the test's result")]
#![expect(clippy::disallowed_methods, reason = "a test that is asked for by a variable")]

mod explore;
mod shell;
mod world;

use std::{collections::BTreeSet, num::NonZero, time::Instant};

use explore::{Act, Bounds, Protocol, progress};
use hob_domain::Recovery;
use shell::Variant;
use stateright::{Checker, HasDiscoveries, Model, Path};
use world::World;

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// Searches the whole model, and prints the size of the search.
fn check(protocol: Protocol) {
    let started = Instant::now();
    let properties = protocol.properties().len();
    let checker = protocol.checker().threads(threads()).finish_when(HasDiscoveries::Any).spawn_bfs().join();
    println!(
        "{protocol}: {} states, {} of them different, depth {}, {properties} properties, {:.1?}",
        checker.state_count(),
        checker.unique_state_count(),
        checker.max_depth(),
        started.elapsed()
    );
    if let Some((property, path)) = checker.discoveries().into_iter().next() {
        panic!("not `{property}`:\n{}", told(path));
    }
}

/// A path, one line a step: the action, and the ledger after it.
fn told(path: Path<World, Act>) -> String {
    let steps = path.into_vec();
    let after = steps.iter().skip(1).map(|(world, _)| world.to_string());
    let acts = steps.iter().filter_map(|(_, act)| act.as_ref());
    acts.zip(after).enumerate().map(|(n, (act, world))| format!("  {:2}. {act:?} -> {world}\n", n + 1)).collect()
}

/// The bounds that the faults of most variants need.
const TROUBLE: Bounds = Bounds { trouble: 2, people: 0 };

/// Searches a broken variant until `property` is found not to hold.
fn finds(variant: Variant, workers: usize, bounds: Bounds, property: &'static str) {
    let protocol = Protocol::new(variant, workers, bounds);
    let started = Instant::now();
    let found = BTreeSet::from([property]);
    let checker = protocol.checker().finish_when(HasDiscoveries::AllOf(found)).spawn_bfs().join();
    println!("{variant:?}: found after {} states, {:.1?}", checker.state_count(), started.elapsed());
    let path = checker.discovery(property);
    let path = path.unwrap_or_else(|| panic!("{variant:?} was not found to break `{property}`"));
    println!("not `{property}`:\n{}", told(path));
}

/// Reviews for states from which no faultless way leads to rest.
fn never_stuck(protocol: Protocol) {
    let started = Instant::now();
    let found = progress(&protocol);
    let (states, resting) = (found.states, found.resting);
    println!("progress, {protocol}: {states} different states, {resting} of them at rest, {:.1?}", started.elapsed());
    if let Some((path, world)) = found.stuck {
        panic!("stuck after {path:#?}\n{world:#?}");
    }
    assert!(resting > 0, "the model never comes to rest");
}

fn real(workers: usize, trouble: u8, people: u8) -> Protocol {
    Protocol::new(Variant::Real, workers, Bounds { trouble, people })
}

/// Whether the models that take minutes are searched too.
fn all() -> bool {
    std::env::var_os("HOB_MODEL_ALL").is_some()
}

#[test]
fn no_interleaving_of_workers_breaks_the_protocol() {
    for (workers, trouble, people) in [(2, 1, 0), (2, 0, 1), (3, 0, 1), (1, 1, 1)] {
        check(real(workers, trouble, people));
    }
    if all() {
        for (workers, trouble, people) in [(1, 2, 2), (2, 1, 1), (2, 2, 0), (3, 1, 0)] {
            check(real(workers, trouble, people));
        }
        for recovery in [Recovery::Block, Recovery::Abandon] {
            check(real(2, 1, 1).with_recovery(recovery));
        }
    }
}

#[test]
fn rest_can_be_reached_from_every_state() {
    for (workers, trouble, people) in [(2, 1, 0), (2, 0, 1), (1, 1, 1)] {
        never_stuck(real(workers, trouble, people));
    }
    never_stuck(real(2, 1, 0).with_recovery(Recovery::Block));
    if all() {
        never_stuck(real(2, 1, 0).with_recovery(Recovery::Abandon));
        never_stuck(real(2, 1, 1));
    }
}

#[test]
fn without_a_nonce_two_workers_hold_one_generation() {
    finds(Variant::NoNonce, 2, TROUBLE, "one generation has one holder");
}

#[test]
fn without_the_check_of_the_generation_a_stale_worker_moves_the_ref() {
    finds(Variant::NoGenerationCheck, 2, TROUBLE, "no generation goes backwards");
}

#[test]
fn without_waiting_for_the_expiry_two_workers_write() {
    finds(Variant::NoWaiting, 2, TROUBLE, "one worker may write");
}

#[test]
fn without_a_look_at_an_unknown_outcome_two_workers_write() {
    finds(Variant::GuessedSuccess, 2, TROUBLE, "one worker may write");
}

#[test]
fn without_the_lease_outlasting_a_write_a_stale_write_is_seen() {
    finds(Variant::NoPermit, 2, TROUBLE, "no stale write is seen");
}

#[test]
fn a_stop_that_puts_back_what_had_ended_is_found() {
    finds(Variant::StopPutsBack, 2, TROUBLE, "a settled state stays");
}

#[test]
fn with_the_issue_read_before_its_ledger_labels_stay_wrong() {
    finds(Variant::IssueFirst, 2, Bounds { trouble: 0, people: 1 }, "at rest, people see what the ledger says");
}

/// Its worker dies after the answer was said and before the ledger says that the round is over.
#[test]
fn without_a_look_for_what_was_said_a_review_is_answered_twice() {
    finds(Variant::NoLook, 1, Bounds { trouble: 1, people: 1 }, "a review is answered once");
}

#[test]
fn a_round_that_goes_on_and_forgets_what_was_said_is_found() {
    // It takes a review, a lost answer, a block, and an answer: minutes.
    if !all() {
        return;
    }
    finds(Variant::ForgetsAnswers, 1, Bounds { trouble: 2, people: 2 }, "a review is answered once");
}
