//! All ledgers of a repository at once: those of closed issues too, as long as their refs exist. One list of refs, and where there are
//! many, one fetch by git, which costs no quota.

use std::collections::HashMap;

use hob_domain::{IssueNumber, Record, Sha};

use crate::{WorkError, Worker};

/// The number of unknown ledgers from which they are fetched at once; fewer are read one by one.
pub(super) const FEW: usize = 20;

/// The newest records of a repository.
#[derive(Debug, Default)]
pub struct Ledgers {
    /// The records, by issue.
    pub records: Vec<Record>,
    /// Ledgers that cannot be read, and why.
    pub unreadable: Vec<(IssueNumber, String)>,
}

/// Reads the ledgers of a repository.
///
/// # Errors
/// [`WorkError`] of a read that is about more than one issue; nothing is written.
pub async fn ledgers(worker: &Worker) -> Result<Ledgers, WorkError> {
    let ledger = worker.forge.ledger();
    let mut tips = ledger.tips().await?.issues;
    tips.sort_by_key(|tip| tip.issue);
    let fetched = if tips.len() > FEW { messages(worker, tips.len()).await } else { HashMap::new() };
    let mut known: HashMap<&Sha, Record> = HashMap::new();
    for tip in &tips {
        let record = fetched.get(&tip.commit).and_then(|message| Record::from_message(message).ok());
        known.extend(record.filter(|(_, record)| record.issue == tip.issue).map(|(_, record)| (&tip.commit, record)));
    }
    // What moved meanwhile, and what has to be an error of its own.
    ledger.read_ahead(tips.iter().map(|tip| &tip.commit).filter(|commit| !known.contains_key(commit))).await;
    let mut ledgers = Ledgers::default();
    for tip in &tips {
        if let Some(record) = known.remove(&tip.commit) {
            ledgers.records.push(record);
            continue;
        }
        match ledger.entry(tip).await {
            Ok(entry) => ledgers.records.push(entry.record),
            Err(error) => {
                let error = WorkError::from(error);
                if !error.is_of_one_thing() {
                    return Err(error);
                }
                ledgers.unreadable.push((tip.issue, error.to_string()));
            }
        }
    }
    Ok(ledgers)
}

/// The messages of all ledgers' newest commits, through git. None if they cannot be fetched: then each of the `ledgers` is read.
pub(super) async fn messages(worker: &Worker, ledgers: usize) -> HashMap<Sha, String> {
    let fetched = async {
        Ok::<_, WorkError>(
            worker.workspace.messages(&worker.remote().await?, &worker.forge.ledger().issue_refs()).await?,
        )
    };
    fetched.await.unwrap_or_else(|error| {
        tracing::warn!(%error, ledgers, "the ledgers could not be fetched, so each is read: {error}");
        HashMap::new()
    })
}
