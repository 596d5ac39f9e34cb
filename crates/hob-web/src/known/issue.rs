//! What is known of one issue.

use hob_domain::{Decision, Planned, Record, State, Timestamp, WaitReason};
use hob_worker::decision_text;

/// Moves that are kept.
const MOVES_MAX: usize = 50;

/// A move that this process saw.
#[derive(Debug, Clone)]
pub(crate) struct Move {
    pub(crate) state: State,
    pub(crate) at: Timestamp,
    /// Why. Empty if it is not known.
    pub(crate) why: String,
}

/// What is known of one issue.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) title: String,
    /// The newest record. `None` if it was never claimed.
    pub(crate) record: Option<Record>,
    /// When it was created, or its record was first seen.
    pub(crate) created_at: Timestamp,
    /// What would be done about it at the last poll, or why nothing. `None` if its record moved since.
    pub(crate) why: Option<String>,
    /// Its place among those that the next free job takes, from 1.
    pub(crate) place: Option<usize>,
    pub(crate) moves: Vec<Move>,
}

impl Known {
    /// An issue of which only the record is known.
    pub(super) fn of(record: &Record) -> Self {
        Self {
            title: String::new(),
            record: None,
            created_at: record.since.at,
            why: None,
            place: None,
            moves: Vec::new(),
        }
    }

    /// The issue as a poll found it. `None` if nothing is to be done about it, and nobody waits for anything.
    pub(super) fn found(planned: &Planned<'_>, before: Option<Self>) -> Option<Self> {
        let is_over = matches!(
            planned.decision,
            Decision::Wait(WaitReason::Finished | WaitReason::NotTriggered | WaitReason::Dashboard)
        );
        if is_over {
            return None;
        }
        let issue = planned.issue;
        let mut known = Self {
            title: issue.title.clone(),
            record: None,
            created_at: issue.created_at,
            why: None,
            place: None,
            moves: Vec::new(),
        };
        if let Some(before) = before {
            (known.record, known.moves) = (before.record, before.moves);
        }
        match &issue.record {
            // A step may have come while the poll read.
            Some(record) if known.record.as_ref().is_none_or(|before| before.renewed_at <= record.renewed_at) => {
                known.take(record);
            }
            Some(_) => {}
            None => known.record = None,
        }
        // After the record, which takes away what was said of the one before.
        known.why = Some(decision_text(&planned.decision));
        Some(known)
    }

    /// Takes a newer record.
    pub(super) fn take(&mut self, record: &Record) {
        let (state, at) = (record.state, record.since.at);
        if self.moves.last().is_none_or(|last| last.state != state) {
            if self.moves.len() == MOVES_MAX {
                self.moves.remove(0);
            }
            self.moves.push(Move { state, at, why: String::new() });
            (self.why, self.place) = (None, None);
        }
        self.record = Some(record.clone());
    }

    /// Notes why it came to its state.
    pub(super) fn moved(&mut self, state: State, why: &str) {
        if let Some(last) = self.moves.last_mut().filter(|last| last.state == state) {
            why.clone_into(&mut last.why);
        }
    }

    /// Its state.
    pub(crate) fn state(&self) -> State {
        self.record.as_ref().map_or(State::Ready, |record| record.state)
    }

    /// Since when it is there.
    pub(crate) fn since(&self) -> Timestamp {
        self.record.as_ref().map_or(self.created_at, |record| record.since.at)
    }
}
