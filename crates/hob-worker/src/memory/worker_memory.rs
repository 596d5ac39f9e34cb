//! The memory of one worker.

use std::sync::atomic::AtomicBool;

use parking_lot::Mutex;

use crate::memory::{
    base_checks::BaseChecks, finished::FinishedLedgers, flakes::Flakes, found_pulls::FoundPulls, handed_out::HandedOut,
    labelled_by_hand::LabelledByHand, last_page::LastPage, linked::Linked, looked_at::LookedAt, moved::Moved,
    races::Races, read_file::ReadFile, trials::Trials, trouble::Trouble,
};

/// When a worker checks what it needs.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Preflight {
    /// Before its first poll.
    #[default]
    AtStart,
    /// Once it has something to do: a run that finds nothing needs nothing.
    BeforeWork,
    /// Another worker has checked it.
    Done,
}

/// What a worker remembers of its repository.
#[derive(Debug, Default)]
pub(crate) struct WorkerMemory {
    pub(crate) base_checks: BaseChecks,
    /// The name that the default branch had last.
    pub(crate) default_branch: Mutex<Option<String>>,
    pub(crate) finished: FinishedLedgers,
    pub(crate) flakes: Flakes,
    pub(crate) found_pulls: FoundPulls,
    pub(crate) handed_out: HandedOut,
    pub(crate) labelled_by_hand: LabelledByHand,
    pub(crate) last_page: LastPage,
    pub(crate) linked: Linked,
    /// When everything that the worker needs is looked for.
    pub(crate) preflight: Mutex<Preflight>,
    /// Set once the token turned out not to see the logs of jobs.
    pub(crate) logs_are_hidden: AtomicBool,
    pub(crate) looked_at: LookedAt,
    pub(crate) moved: Moved,
    pub(crate) races: Races,
    pub(crate) read_file: ReadFile,
    pub(crate) trials: Trials,
    pub(crate) trouble: Trouble,
}
