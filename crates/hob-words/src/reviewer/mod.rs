//! The review of work that passed its checks, before its pull request opens: the reviewer's brief, how its findings are
//! read, which of them go back to the author, and what the pull request shows of them.
//!
//! # Guarantees
//! The reviewer does not read the author's words. The pull request opens regardless of the reviewer's answer.

mod brief;
mod cases;
mod read;
mod report;
mod share;

pub(super) use brief::push_findings;
pub use brief::{ReviewerParts, reviewer_brief};
pub use cases::{Judgement, ReviewCase, ReviewScore, SeededDefect};
pub use read::{FINDINGS_MAX, Findings, UnreadableFindings};
pub use report::{REVIEWER_ROUNDS, ReviewerReport};
pub use share::reviewer_allowance;
