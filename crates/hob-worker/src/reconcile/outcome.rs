//! The result of reconciling an issue.

use crate::attempt::Attempted;

/// The result of reconciling an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reconciled {
    /// There was nothing to do, or another worker was faster.
    Nothing,
    /// Its labels, ledger or comment were brought up to date.
    UpToDate,
    /// It was worked on.
    Worked,
    /// A person answered: the issue is to be worked on.
    Answered,
    /// The repository has no room for another attempt: it was not claimed, or requeued before the work.
    NoRoom,
}

impl From<Attempted> for Reconciled {
    fn from(attempted: Attempted) -> Self {
        match attempted {
            Attempted::Worked => Self::Worked,
            Attempted::NoRoom => Self::NoRoom,
        }
    }
}
