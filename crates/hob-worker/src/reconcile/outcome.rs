//! What became of an issue that was reconciled.

/// What became of an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reconciled {
    /// There was nothing to do, or another worker was faster.
    Nothing,
    /// Its labels, ledger or comment were brought up to date.
    UpToDate,
    /// It was worked on.
    Worked,
}
