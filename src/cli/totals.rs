//! The results and costs of each agent's sessions. A session of a profile has the profile's name.

use std::collections::BTreeMap;

use hob_agent::session::{SessionRecord, SessionState};
use hob_domain::{Spend, dollars};
use serde::Serialize;

use crate::cli::layout::Table;

/// The sessions of one agent or profile.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Total {
    agent: String,
    sessions: usize,
    /// Their runs: a session that is resumed has several.
    runs: usize,
    done: usize,
    blocked: usize,
    /// Failed, or cut off.
    failed: usize,
    spend: Spend,
}

/// The totals, by name.
pub(super) fn totals(records: &[SessionRecord]) -> Vec<Total> {
    let mut totals: BTreeMap<&str, Total> = BTreeMap::new();
    for record in records {
        let total = totals.entry(&record.agent).or_default();
        total.agent.clone_from(&record.agent);
        total.sessions += 1;
        total.runs += record.runs.len();
        match record.state {
            SessionState::Completed => total.done += 1,
            SessionState::Blocked => total.blocked += 1,
            SessionState::Failed | SessionState::Interrupted => total.failed += 1,
            SessionState::Pending | SessionState::Running => {}
        }
        total.spend = total.spend + record.bill();
    }
    totals.into_values().collect()
}

pub(super) fn table(totals: &[Total]) -> Table {
    let mut table = Table::new(&["agent", "sessions", "runs", "done", "blocked", "failed", "cost", "minutes"], &[]);
    for total in totals {
        let minutes = total.spend.wall_seconds.div_ceil(60).to_string();
        let counts =
            [total.sessions, total.runs, total.done, total.blocked, total.failed].map(|count| count.to_string());
        let rest = [dollars(total.spend.usd_micros), minutes];
        table.row([total.agent.clone()].into_iter().chain(counts).chain(rest).collect());
    }
    table
}
