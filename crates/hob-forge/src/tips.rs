//! Where the ledgers stand.

use std::collections::BTreeMap;

use hob_domain::{IssueNumber, RepositoryRecord, Sha};

/// Where an issue's ledger stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tip {
    /// The issue.
    pub issue: IssueNumber,
    /// The ref's commit.
    pub commit: Sha,
}

/// Where all ledgers stand.
#[derive(Debug, Clone, Default)]
pub struct Tips {
    /// Those of the issues.
    pub issues: Vec<Tip>,
    /// The repository's own.
    pub repository: Option<Sha>,
    /// Refs below the name of an issue's ledger: git lets the two not be together.
    pub obstacles: BTreeMap<IssueNumber, String>,
}

/// The tip of the repository's own ledger, as it was read or written last.
#[derive(Debug, Clone)]
pub struct RepositoryEntry {
    /// The ref's commit.
    pub commit: Sha,
    /// Its record.
    pub record: RepositoryRecord,
}

/// The number that a ledger's name ends with, as Hob writes it: digits alone.
pub(super) fn issue_number(name: &str) -> Option<IssueNumber> {
    let number = name.parse().ok().map(IssueNumber)?;
    (number.to_string() == name).then_some(number)
}
