//! What came of agents' work on issues, as each poll finds it in the ledgers that it reads: a choice among agents costs no call.

use std::collections::BTreeMap;

use hob_domain::{AgentTrial, IssueNumber, Record};
use parking_lot::Mutex;

/// Issues that are remembered at most, those with the highest numbers: half a megabyte.
const KEPT: usize = 2_000;

/// The trials of a repository, by issue.
#[derive(Debug, Default)]
pub(crate) struct Trials(Mutex<BTreeMap<IssueNumber, AgentTrial>>);

impl Trials {
    /// Remembers what the ledger says.
    pub(crate) fn note(&self, record: &Record) {
        let mut trials = self.0.lock();
        match AgentTrial::of(record) {
            Some(trial) => drop(trials.insert(record.issue, trial)),
            None => drop(trials.remove(&record.issue)),
        }
        if trials.len() > KEPT {
            trials.pop_first();
        }
    }

    /// All of them but that of `except`, oldest issue first.
    pub(crate) fn others(&self, except: IssueNumber) -> Vec<AgentTrial> {
        self.0.lock().values().filter(|trial| trial.issue != except).cloned().collect()
    }
}
