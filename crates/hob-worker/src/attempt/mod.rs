//! One attempt at one issue: one lease, one end.
//!
//! # Flow
//! [`attempt()`] prepares, runs the rounds of agent and proof, publishes, and hands the [`AttemptEnd`](end::AttemptEnd) to
//! `finish`, the one writer of an end. A heartbeat beside the work renews the lease and interrupts the work.
//!
//! # Guarantees
//! Nothing here calls the code that decides about issues: an attempt begins with a lease and ends with its release, or
//! leaves the lease to expire.

mod active_profile;
mod advances;
mod agent_run;
#[expect(clippy::module_inception, reason = "the folder's entry point, named by what it does")]
mod attempt;
mod auto;
mod base;
mod branch;
mod breaker;
mod by_words;
mod candidate_notes;
mod candidates;
mod case;
mod check_job;
mod checks_run;
mod end;
mod finish;
mod four_runs;
mod hand_off;
mod hearing;
mod hearings;
mod heartbeat;
mod images;
mod job;
mod kept;
mod listen;
mod live;
mod loaded_agent;
mod merges_itself;
mod named;
mod noticed;
mod outage;
mod plan_first;
mod prepare;
mod proof;
mod prove_again;
mod publish;
mod purpose;
mod read_only;
mod remaining_allowance;
mod report;
mod rerun;
mod reservation;
mod review;
mod review_brief;
mod reviewer;
mod reviews;
mod room;
mod round;
mod rounds;
mod route;
mod run_again;
mod runs_made;
mod set_up;
mod sign;
mod split;
mod statement;
mod switch;
mod weather;

pub(super) use attempt::attempt;
pub(super) use branch::push_checkout;
pub(super) use end::Attempted;
pub(super) use prepare::checked_out;
pub(super) use prove_again::prove_again;
pub use rerun::{Rerun, rerun};
pub(super) use reservation::acquire_for_attempt;
pub(super) use room::{known_room_for, room_after_pause, room_beside_others, room_for};
pub(super) use route::{Prospect, prospect};
