//! The reviews of one attempt's work before its pull request.

use hob_domain::{ChangeText, Diff, Spend};
use hob_words::ReviewerReport;

/// The reviews of one attempt.
#[derive(Debug, Default)]
pub(super) struct Reviews {
    /// The reviewer's verdict; `None` if there was no review.
    pub(super) report: Option<ReviewerReport>,
    /// The work of a candidate that the report is about already.
    pub(super) looked_at: Option<Diff>,
    /// The number of reviews.
    pub(super) count: u32,
    /// The spend of the reviews.
    pub(super) taken: Spend,
    /// The work that went back last, and what its author said of it.
    pub(super) sent_back: Option<(Diff, ChangeText)>,
}
