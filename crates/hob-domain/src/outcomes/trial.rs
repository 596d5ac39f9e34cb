//! What came of the work of one agent on one issue, as far as a choice among agents needs it.

use crate::{IssueNumber, IssueOutcome, OutcomeKind, ProfileName, Record, WorkedBy};

/// An issue that an agent worked on. All that the issue cost is the last agent's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentTrial {
    /// The issue.
    pub issue: IssueNumber,
    /// Who worked last.
    pub by: WorkedBy,
    /// The profile that was chosen.
    pub profile: Option<ProfileName>,
    /// How much work the router took it for; 0 if it was not asked.
    pub complexity: u8,
    /// Millionths of a US dollar; 0 if no money is known.
    pub usd_micros: u64,
    /// Whether its pull request was merged. One that waits is not.
    pub is_merged: bool,
}

impl AgentTrial {
    /// The trial of this issue. `None` if no agent has worked on it yet, or if the ledger does not say which one.
    pub fn of(record: &Record) -> Option<Self> {
        let outcome = IssueOutcome::of(record)?;
        let route = record.route.as_ref();
        Some(Self {
            issue: record.issue,
            by: record.work.by.clone()?,
            profile: route.and_then(|route| route.profile.clone()),
            complexity: route.map_or(0, |route| route.complexity),
            usd_micros: record.spend.usd_micros,
            is_merged: outcome.kind == OutcomeKind::Merged,
        })
    }
}
