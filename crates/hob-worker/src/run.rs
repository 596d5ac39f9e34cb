//! How far a run goes and what it did; and the run of one repository alone.

use std::time::Duration;

use hob_forge::{Rate, Tally};
use serde::Serialize;

use crate::{
    WorkError, Worker,
    claim::Taken,
    dispatch::{Dispatch, Mode},
};

/// How far one run goes.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunLimits {
    /// Issues to work on at most.
    pub max_issues: Option<usize>,
    /// After this time the run ends as a stopped one does: work in hand is put back.
    pub max_runtime: Option<Duration>,
}

/// What a run did.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RunSummary {
    /// Issues that were worked on.
    pub worked: usize,
    /// Issues whose labels, ledger or comment were brought up to date.
    pub tended: usize,
    /// Issues that failed in a way that left them to the next run.
    pub failed: usize,
    /// Repositories that could not be asked when they were asked last.
    pub repositories_failed: usize,
    /// Calls to the forge.
    pub calls: Tally,
    /// What is left of the forge's quotas.
    pub rates: Vec<Rate>,
}

impl RunSummary {
    pub(super) fn add(&mut self, taken: &Result<Taken, WorkError>) {
        match taken {
            Ok(Taken::Worked) => self.worked += 1,
            Ok(Taken::Tended) => self.tended += 1,
            Ok(Taken::Nothing) | Err(WorkError::Stopped) => {}
            Err(_) => self.failed += 1,
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.worked += other.worked;
        self.tended += other.tended;
        self.failed += other.failed;
    }

    /// This run after an `earlier` one of the same process.
    pub(super) fn after(self, earlier: &Self) -> Self {
        let (worked, tended) = (self.worked + earlier.worked, self.tended + earlier.tended);
        Self { worked, tended, failed: self.failed + earlier.failed, ..self }
    }
}

impl Worker {
    /// Polls once and works on all that is there.
    ///
    /// # Errors
    /// [`WorkError`] when the forge could not be asked; one issue's trouble is not the run's.
    pub async fn run_once(&self, limits: RunLimits) -> Result<RunSummary, WorkError> {
        self.dispatch(limits, Mode::Once).run().await
    }

    /// Polls until the worker is stopped or its limits are reached. It survives any error.
    pub async fn run_forever(&self, limits: RunLimits) -> RunSummary {
        self.dispatch(limits, Mode::Forever).run().await.unwrap_or_default()
    }

    pub(super) fn dispatch(&self, limits: RunLimits, mode: Mode) -> Dispatch<&Self> {
        let mut dispatch =
            Dispatch::new(self.forge.connection(), &self.settings, self.cancel.clone(), (limits, mode), None);
        dispatch.seat(self);
        dispatch
    }
}
