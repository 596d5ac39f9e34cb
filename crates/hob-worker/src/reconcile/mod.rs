//! One issue, one decision: observe it, decide, and carry the decision out under the lease.
//!
//! Large futures are boxed by the function that makes them: one that its caller moves onto the heap takes room on the
//! caller's stack first.

mod control;
mod follow_commands;
mod follow_waiting;
mod journaled_spend;
mod mark_ready;
mod outcome;
mod patience;
mod pushed;
#[expect(clippy::module_inception, reason = "the folder's entry point, named by what it does")]
mod reconcile;
mod repair;
mod rerun;
mod seek_answer;
mod sign_off;
mod ticked;
mod unblock;

pub use control::{Requested, forget, kill_switch, pause, resume, terminate};
pub(super) use journaled_spend::write_journal;
pub(super) use outcome::Reconciled;
pub(super) use reconcile::{look_for_answer, look_for_commands, reconcile};
pub(super) use seek_answer::{Slot, unanswered};
pub(super) use ticked::carry_out_tick;
pub use unblock::{Approved, approve, unblock};
