//! Hand-overs between profiles: what one tells the next, what is refused, and how far a chain of them may go.
//!
//! # Flow
//! An agent ends its run with a [`HandOver`]. [`HandOver::check`] says which profile that is, or why it is refused;
//! [`HandOverLog::may_go_on`] says whether the chain may get longer. The transition `HandOver` writes it down.
//!
//! # Guarantees
//! A chain has at most [`CHAIN_MAX`] hand-overs until a person or a review says something new, and none goes in a circle
//! without anything new. The next profile gets what is typed here, and nothing else of the one before.

mod chain;
mod message;

pub use chain::{CHAIN_MAX, ChainEnd, ChainLink, HandOverLog, PassedOn, Received};
pub(crate) use message::write_targets;
pub use message::{HandOver, HandOverTarget, RefusedHandOver};
