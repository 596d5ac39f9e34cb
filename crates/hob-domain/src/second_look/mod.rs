//! The second pair of eyes: what a reviewer is told of work that passed its checks, how its findings are read, what of them
//! goes back to the author, and what people read of them in the pull request.
//!
//! # Guarantees
//! The reviewer reads nothing that the author said. Whatever it answers, the pull request opens: no answer here is a reason to
//! stop.

mod brief;
mod cases;
mod finding;
mod read;
mod report;
mod share;

pub(super) use brief::push_findings;
pub use brief::{LookParts, look_brief};
pub use cases::{Judgement, ReviewCase, ReviewScore, SeededDefect};
pub use finding::{Finding, FindingSeverity};
pub use read::{FINDINGS_MAX, Findings, UnreadableFindings};
pub use report::{LOOK_ROUNDS, SecondLook};
pub use share::look_allowance;
