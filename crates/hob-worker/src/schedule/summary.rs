//! The limits of a run, and its result.

use std::{sync::Arc, time::Duration};

use hob_forge::{CallCounts, Rate};
use serde::{Serialize, Serializer};

use crate::{WorkError, reconcile::Reconciled};

/// The limits of one run.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunLimits {
    /// The most issues to work on.
    pub max_issues: Option<usize>,
    /// The run ends after this time like a stopped one: work in progress is requeued.
    pub max_runtime: Option<Duration>,
}

/// The result of a run.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RunSummary {
    /// Issues that were worked on.
    pub worked: usize,
    /// Issues whose labels, ledger or comment were brought up to date.
    pub reconciled: usize,
    /// Issues that failed in a way that left them to the next run.
    pub failed: usize,
    /// Repositories whose last read failed, or whose worker lacks something.
    pub repositories_failed: usize,
    /// What a worker lacks that only its operator can supply: it stopped working on its repository.
    #[serde(serialize_with = "as_text")]
    pub lacks: Option<Arc<WorkError>>,
    /// Calls to the forge.
    pub calls: CallCounts,
    /// The rest of the forge's quotas.
    pub rates: Vec<Rate>,
}

fn as_text<S: Serializer>(lacks: &Option<Arc<WorkError>>, serializer: S) -> Result<S::Ok, S::Error> {
    lacks.as_ref().map(ToString::to_string).serialize(serializer)
}

impl RunSummary {
    pub(super) fn add(&mut self, result: &Result<Reconciled, WorkError>) {
        match result {
            Ok(Reconciled::Worked) => self.worked += 1,
            Ok(Reconciled::UpToDate) => self.reconciled += 1,
            Ok(Reconciled::Nothing | Reconciled::NoRoom | Reconciled::Answered) => {}
            Err(_) => self.failed += 1,
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.worked += other.worked;
        self.reconciled += other.reconciled;
        self.failed += other.failed;
    }

    /// This run after an `earlier` one of the same process.
    pub(super) fn after(self, earlier: &Self) -> Self {
        let (worked, reconciled) = (self.worked + earlier.worked, self.reconciled + earlier.reconciled);
        Self { worked, reconciled, failed: self.failed + earlier.failed, ..self }
    }
}
