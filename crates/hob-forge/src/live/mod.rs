//! The live check: what GitHub answers, compared with what Hob takes for granted of it (`docs/github.md`).
//!
//! # Flow
//! It makes a branch, a ref below the ledger's prefix, a label, an issue, a comment and a pull request, edits them, and reads
//! them back; then it closes or deletes them all, whatever failed before.
//!
//! # Guarantees
//! - It writes to nothing but what it made itself: the connection has a list of calls of its own, which lets a name pass only
//!   if it begins with [`TEST_PREFIX`](crate::TEST_PREFIX) and the run's own nonce, and a number only if the forge gave it to this run.
//! - The report holds neither a name nor a token, nor an address.

mod check;
mod clean;
mod graphql;
mod hide;
mod issues;
mod pulls;
mod reads;
mod refs;
mod report;
mod run;
mod seen;

pub use check::{Live, live_check};
pub use report::{LIVE_IDS, LiveLine, LiveReport, Outcome};
