//! Whether the forge may merge the work by itself, before a person looks at it.

use hob_domain::{Notable, PathGlobs, merges_itself};
use hob_words::{ReviewerReport, nothing_first};

use crate::{
    Worker,
    attempt::{job::Job, proof::Proven},
};

/// Whether it stays within the owner's paths, is proven, and nothing that a person should see or decide.
pub(super) fn may_merge_itself(worker: &Worker, job: &Job<'_>, proven: &Proven, notable: &Notable) -> bool {
    let Ok(paths) = PathGlobs::new(worker.settings.publish.auto_merge.clone()) else { return false };
    let asks = job.with_reviews(|reviews| reviews.report.as_ref().and_then(ReviewerReport::open)).is_some();
    let (shown, diff) = (&proven.shown, &proven.diff);
    let is_plain = job.checkout.conflicts().is_empty() && job.checkout.left_out().is_empty() && !asks;
    is_plain && nothing_first(shown, notable) && merges_itself(&paths, diff, shown)
}
