//! The tips of the ledgers.

use std::collections::BTreeMap;

use hob_domain::{IssueNumber, RepositoryRecord, Sha};

/// The ref of the list of finished ledgers, below the ledger's prefix.
pub(super) const FINISHED: &str = "finished";

/// The tip of an issue's ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tip {
    /// The issue.
    pub issue: IssueNumber,
    /// The ref's commit.
    pub commit: Sha,
}

/// The tips of all ledgers.
#[derive(Debug, Clone, Default)]
pub struct Tips {
    /// The tips of the issues' ledgers.
    pub issues: Vec<Tip>,
    /// The tip of the repository's own ledger.
    pub repository: Option<Sha>,
    /// The tip of the list of finished ledgers.
    pub finished: Option<Sha>,
    /// Refs below the name of an issue's ledger; git does not allow both.
    pub obstacles: BTreeMap<IssueNumber, String>,
}

/// The tip of the repository's own ledger, as last read or written.
#[derive(Debug, Clone)]
pub struct RepositoryEntry {
    /// The ref's commit.
    pub commit: Sha,
    /// Its record.
    pub record: RepositoryRecord,
}

/// The number at the end of a ledger's name, as Hob writes it: only digits.
pub(super) fn issue_number(name: &str) -> Option<IssueNumber> {
    let number = name.parse().ok().map(IssueNumber)?;
    (number.to_string() == name).then_some(number)
}
