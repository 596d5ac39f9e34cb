//! What is known of one repository.

use std::{collections::BTreeMap, sync::Arc};

use hob_domain::{IssueNumber, IssueOutcome, Record, RepositoryRecord, State, Timestamp};
use hob_words::Board;
use hob_worker::Worker;

use crate::known::issue::Known;

/// Outcomes that are kept: the newest.
const OUTCOMES_MAX: usize = 20_000;

/// What is known of one repository.
#[derive(Default)]
pub(crate) struct Repository {
    /// Its worker, since it was first polled well.
    pub(crate) worker: Option<Arc<Worker>>,
    /// When it was last polled well, by the forge's clock.
    pub(crate) polled_at: Option<Timestamp>,
    /// The issues that are not over.
    pub(crate) issues: BTreeMap<IssueNumber, Known>,
    /// Issues that cannot be read: title and reason.
    pub(crate) unreadable: BTreeMap<IssueNumber, (String, String)>,
    /// What keeps Hob from working there.
    pub(crate) trouble: Vec<String>,
    /// Why the last poll failed. `None` if it did not.
    pub(crate) failed: Option<String>,
    /// Its own record.
    pub(crate) record: Option<RepositoryRecord>,
    /// What came of each issue that was worked on.
    pub(crate) outcomes: BTreeMap<IssueNumber, IssueOutcome>,
}

impl Repository {
    pub(super) fn found(&mut self, worker: &Arc<Worker>, board: &Board<'_>) {
        let mut before = std::mem::take(&mut self.issues);
        let mut place = 0;
        for planned in board.planned {
            let number = planned.issue.number;
            if let Some(record) = &planned.issue.record {
                self.note(record);
            }
            let Some(mut known) = Known::found(planned, before.remove(&number)) else { continue };
            if planned.decision.is_a_claim() {
                place += 1;
                known.place = Some(place);
            }
            self.issues.insert(number, known);
        }
        self.unreadable = board
            .unreadable
            .iter()
            .map(|(number, title, why)| (*number, ((*title).to_owned(), (*why).to_owned())))
            .collect();
        self.trouble.clone_from(&board.trouble);
        self.record = board.repository.cloned();
        (self.worker, self.polled_at, self.failed) = (Some(Arc::clone(worker)), Some(board.now), None);
    }

    pub(super) fn nothing_new(&mut self) {
        (self.polled_at, self.failed) = (self.now(), None);
    }

    pub(super) fn record(&mut self, record: &Record) {
        self.note(record);
        if record.state == State::Done && !self.issues.contains_key(&record.issue) {
            return;
        }
        self.issues.entry(record.issue).or_insert_with(|| Known::of(record)).take(record);
    }

    pub(super) fn moved(&mut self, issue: IssueNumber, state: State, why: &str) {
        if let Some(known) = self.issues.get_mut(&issue) {
            known.moved(state, why);
        }
    }

    /// The time by the forge's clock.
    pub(crate) fn now(&self) -> Option<Timestamp> {
        self.worker.as_ref().map(|worker| worker.forge().now()).or(self.polled_at)
    }

    fn note(&mut self, record: &Record) {
        let Some(outcome) = IssueOutcome::of(record) else { return };
        self.outcomes.insert(record.issue, outcome);
        if self.outcomes.len() > OUTCOMES_MAX {
            self.outcomes.pop_first();
        }
    }
}
