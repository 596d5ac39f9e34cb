//! Hand-offs between profiles: the message, the reasons to refuse it, and how long a chain of hand-offs may get.
//!
//! # Flow
//! An agent ends its run with a [`HandOff`]. [`HandOff::check`] returns the target profile, or the reason for a
//! refusal; [`HandOffLog::may_go_on`] says whether the chain may get longer. The transition `HandOff` records the
//! hand-off.
//!
//! # Guarantees
//! A chain has at most [`CHAIN_MAX`] hand-offs until a person or a review says something new, and no chain goes in a
//! circle unless there is something new. The next profile gets the message of this type and nothing else from the
//! previous one.

mod chain;
mod message;

pub use chain::{CHAIN_MAX, ChainEnd, ChainLink, HandOffLog, PassedOn, Received};
pub use message::write_targets;
pub use message::{HandOff, HandOffTarget, RefusedHandOff};
