//! The live check: compares GitHub's answers with Hob's assumptions (`docs/design/github.md`).
//!
//! # Flow
//! It creates a branch, a ref below the ledger's prefix, a label, an issue, a comment and a pull request, edits them,
//! and reads them back; then it closes or deletes them all, even after a failure.
//!
//! # Guarantees
//! - It only writes to objects that it created: the connection has its own list of calls, which allows a name only if
//!   it begins with [`TEST_PREFIX`](crate::TEST_PREFIX) and the run's own nonce, and a number only if the forge gave it
//!   to this run.
//! - The report contains no names, tokens or addresses.

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
