//! Finished ledgers of issues that are not open: nothing is done about them, so a poll only has to know which ones they are.
//!
//! # Flow
//! A process that knows nothing of the repository takes them from the repository's list, and gets those that are not listed in one
//! `git fetch` of bare commits. A poll that knows of enough more than the list has writes the next one.
//!
//! # Guarantees
//! A list that is missing, old or unreadable costs time and nothing else: it names tips, and a ledger at another tip is read.

use hob_domain::{FailureClass, Record, Sha, State};
use hob_forge::{ForgeError, Tip, Tips, finished_list, write_finished_list};

use crate::{
    Worker,
    agent::is_auto,
    ledgers::{FEW, messages},
    repository_file::default_tip,
};

/// Whether the issue needs no further look. A holder in a finished ledger died before it had shown the end.
pub(super) fn is_finished(record: &Record) -> bool {
    record.state == State::Done && record.lease.is_none()
}

/// Remembers a finished ledger, which no later poll reads again.
pub(super) fn note_finished(worker: &Worker, tip: &Tip, record: &Record) {
    worker.memory.finished.note(tip);
    if let Some(watcher) = &worker.watcher {
        watcher.record(worker.forge.repo(), record);
    }
}

/// Learns which of these ledgers are finished. Those that nothing tells are read one by one.
pub(super) async fn learn_finished(worker: &Worker, tips: &Tips, unknown: Vec<&Tip>) {
    let finished = &worker.memory.finished;
    let listed = tips.finished.as_ref().filter(|tip| !finished.has_read(Some(tip)));
    if let Some(tip) = listed.filter(|_| unknown.len() > FEW && !needs_records(worker)) {
        read_list(worker, tip).await;
    }
    let unknown: Vec<_> = unknown.into_iter().filter(|tip| !finished.has(tip)).collect();
    if unknown.len() > FEW && finished.may_be_fetched() {
        let messages = messages(worker, unknown.len()).await;
        for tip in unknown {
            let record = messages.get(&tip.commit).and_then(|message| Record::from_message(message).ok());
            let record =
                record.map(|(_, record)| record).filter(|record| record.issue == tip.issue && is_finished(record));
            if let Some(record) = record {
                worker.memory.trials.note(&record);
                note_finished(worker, tip, &record);
            }
        }
    }
}

/// Whether somebody here asks what finished ledgers say: the page, or the choice of an agent by outcomes.
fn needs_records(worker: &Worker) -> bool {
    let rules = worker.memory.read_file.last().unwrap_or_default();
    worker.watcher.is_some() || is_auto(worker, &rules)
}

/// Reads the list. One that cannot be read, or that a newer Hob wrote, is left alone.
async fn read_list(worker: &Worker, tip: &Sha) {
    match finished_list(&worker.forge, tip).await {
        Ok(list) => worker.memory.finished.note_list(tip, &list, !needs_records(worker)),
        Err(error) => give_up(worker, &error),
    }
}

/// Writes the next list if it would have enough more than the last one.
pub(super) async fn list_finished(worker: &Worker, tips: &Tips) {
    let (finished, from) = (&worker.memory.finished, tips.finished.as_ref());
    let next = || finished.next_list(&tips.issues, FEW);
    let Some(mut list) = next() else { return };
    if let Some(tip) = from.filter(|tip| !finished.has_read(Some(tip))) {
        read_list(worker, tip).await;
        let Some(after) = next() else { return };
        list = after;
    }
    // What the trouble is shows where the branch is needed.
    let Ok(base) = default_tip(worker).await else { return };
    match write_finished_list(&worker.forge, from, &base.tree, &list).await {
        Ok(Some(tip)) => finished.note_list(&tip, &list, false),
        // Another worker was faster: the next poll reads its list.
        Ok(None) => {}
        Err(error) => give_up(worker, &error),
    }
}

/// Leaves the list alone from now on, unless the failure may pass.
fn give_up(worker: &Worker, error: &ForgeError) {
    tracing::debug!(%error, "the list of finished ledgers is not used: {error}");
    if !matches!(error.class(), FailureClass::Transient { .. }) {
        worker.memory.finished.give_list_up();
    }
}
