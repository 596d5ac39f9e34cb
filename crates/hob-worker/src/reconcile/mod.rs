//! One issue, one decision: observe it, decide, and carry the decision out under the lease.

mod control;
mod journaled_spend;
mod mark_ready;
mod outcome;
#[expect(clippy::module_inception, reason = "the folder's entry point, named by what it does")]
mod reconcile;
mod repair;
mod unblock;

pub use control::{Requested, kill_switch, pause, repository_record, resume, terminate};
pub(super) use journaled_spend::write_journal;
pub(super) use outcome::Reconciled;
pub(super) use reconcile::reconcile;
pub(super) use unblock::{Response, response};
pub use unblock::{approve, unblock};
