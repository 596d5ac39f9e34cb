//! The memory of one worker.

use std::sync::atomic::AtomicBool;

use parking_lot::Mutex;

use crate::memory::{
    base_checks::BaseChecks, finished::FinishedLedgers, flakes::Flakes, found_pulls::FoundPulls,
    labelled_by_hand::LabelledByHand, last_page::LastPage, linked::Linked, looked_at::LookedAt, races::Races,
    read_file::ReadFile, trouble::Trouble,
};

/// What a worker remembers of its repository.
#[derive(Debug, Default)]
pub(crate) struct WorkerMemory {
    pub(crate) base_checks: BaseChecks,
    /// The name that the default branch had last.
    pub(crate) default_branch: Mutex<Option<String>>,
    pub(crate) finished: FinishedLedgers,
    pub(crate) flakes: Flakes,
    pub(crate) found_pulls: FoundPulls,
    /// Set once everything that the worker needs was found.
    pub(crate) is_ready: AtomicBool,
    pub(crate) labelled_by_hand: LabelledByHand,
    pub(crate) last_page: LastPage,
    pub(crate) linked: Linked,
    /// Set once the token turned out not to see the logs of jobs.
    pub(crate) logs_are_hidden: AtomicBool,
    pub(crate) looked_at: LookedAt,
    pub(crate) races: Races,
    pub(crate) read_file: ReadFile,
    pub(crate) trouble: Trouble,
}
