//! What came of the work: one outcome an issue, from its ledger alone, and their sums.

pub(crate) mod bill;
pub(crate) mod outcome;
pub(crate) mod step_figures;
pub(crate) mod sums;
pub(crate) mod trial;
