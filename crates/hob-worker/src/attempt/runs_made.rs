//! The runs between base and head, as far as they were made.

use hob_domain::{Sha, Shown};
use hob_proof::Made;

/// One of the runs between base and head.
#[derive(Debug, Clone)]
pub(super) struct OneRun {
    pub(super) tree: Sha,
    pub(super) made: Made,
}

/// The runs between base and head.
#[derive(Debug, Clone)]
pub(super) struct Between {
    pub(super) needed: OneRun,
    pub(super) kept: OneRun,
}

/// The runs between base and head, and what all four show.
#[derive(Debug, Clone)]
pub(super) struct FourRuns {
    pub(super) shown: Shown,
    pub(super) between: Between,
}
