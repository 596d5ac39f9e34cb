//! The life of an issue by its ledger: its steps, and what each attempt cost.

use std::collections::BTreeMap;

use hob_domain::{Record, Spend, Timestamp};
use hob_forge::LedgerEntry;
use serde::Serialize;

use crate::cli::flight::{
    cost::Cost,
    told::{Cleaner, Told},
};

/// One transition.
#[derive(Debug, Serialize)]
pub(super) struct Transition {
    at: String,
    state: String,
    why: Told,
    /// Attempt, round, cost, worker and commit.
    about: Vec<Told>,
}

/// The steps of the life, without renewals of the lease.
pub(super) fn life(cleaner: &Cleaner, entries: &[LedgerEntry]) -> Vec<Transition> {
    let mut before: Option<&Record> = None;
    let mut life = Vec::new();
    for entry in entries.iter().filter(|entry| !entry.is_renewal()) {
        let record = &entry.record;
        life.push(Transition {
            at: moment(record.renewed_at),
            state: record.state.to_string(),
            why: cleaner.line(&entry.sentence),
            about: about(before, entry).iter().map(|part| cleaner.line(part)).collect(),
        });
        before = Some(record);
    }
    life
}

fn about(before: Option<&Record>, entry: &LedgerEntry) -> Vec<String> {
    let record = &entry.record;
    let spent = record.spend.since(before.map(|before| before.spend).unwrap_or_default());
    let mut about = Vec::new();
    if record.attempts.ever > 0 {
        about.push(format!("attempt {}", record.attempts.ever));
    }
    if record.review.begun > 0 {
        about.push(format!("round in review {}", record.review.begun));
    }
    if spent != Spend::default() {
        about.push(format!("cost {spent}"));
    }
    about.extend(record.lease.as_ref().map(|lease| format!("worker {}", lease.worker)));
    about.push(entry.commit.short().to_owned());
    about
}

/// What each attempt cost, and who worked on it last.
pub(super) fn attempts(cleaner: &Cleaner, entries: &[LedgerEntry]) -> Vec<Cost> {
    let mut attempts: BTreeMap<u32, (Spend, String)> = BTreeMap::new();
    let mut before = Spend::default();
    for LedgerEntry { record, .. } in entries {
        let spent = record.spend.since(before);
        before = record.spend;
        if record.attempts.ever == 0 && spent == Spend::default() {
            continue;
        }
        let (cost, by) = attempts.entry(record.attempts.ever).or_default();
        *cost = *cost + spent;
        if let Some(worked) = &record.work.by {
            let model = worked.model.as_ref().map(|model| format!(" ({model})")).unwrap_or_default();
            *by = format!("{}{model}", worked.agent);
        }
    }
    let cost = |(number, (spend, by)): (u32, (Spend, String))| {
        Cost::new(cleaner.line(&format!("attempt {number}")), cleaner.line(&by), spend)
    };
    attempts.into_iter().map(cost).collect()
}

/// A time by the forge's clock.
pub(super) fn moment(at: Timestamp) -> String {
    at.format("%Y-%m-%d %H:%M:%S UTC").to_string()
}
