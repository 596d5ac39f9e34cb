//! The loop: discover, claim, run, prove, publish.
//!
//! Flow: the snapshot of what the forge says → [`plan`](hob_domain::plan()) → an action an issue → for a claim: trust, lease,
//! checkout, agent, checks, push, pull request. Everything on the way can die; the next worker goes on from labels,
//! ledger and branch.

mod answer;
mod approve;
mod attempt;
mod bills;
mod chosen;
mod claim;
mod context;
mod control;
mod crew;
mod discover;
mod dispatch;
mod drift;
mod ending;
mod error;
mod heartbeat;
mod inspect;
mod notice;
mod prepare;
mod publish;
mod reserve;
mod rounds;
mod run;
mod seat;
mod settle;
mod survey;
mod trust;

pub use chosen::{Came, Order, WorkedOn};
pub use context::{Worker, WorkerParts, worker_id};
pub use control::Asked;
pub use crew::{Crew, Outfit, Repositories};
pub use error::WorkError;
pub use inspect::Explained;
pub use notice::{Notice, Observer};
pub use run::{RunLimits, RunSummary};
