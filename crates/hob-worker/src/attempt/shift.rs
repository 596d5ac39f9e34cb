//! Who works now: an attempt has one agent after the other where the work is handed over.

use std::sync::{Arc, Mutex, PoisonError};

use hob_domain::{RunId, Sha};

use crate::attempt::specialist::Specialist;

/// Who works now, and in which session.
pub(super) struct Shift {
    pub(super) specialist: Specialist,
    /// What its runs are called after.
    pub(super) run: RunId,
    /// The session of its runs: that of an earlier attempt where this machine has it, else their own. No two agents share one.
    pub(super) session: RunId,
    /// The commit at which it got the work from another profile of this attempt.
    pub(super) took_over_at: Option<Sha>,
}

/// The shift that is on.
pub(super) struct Shifts(Mutex<Arc<Shift>>);

impl Shifts {
    pub(super) fn new(first: Shift) -> Self {
        Self(Mutex::new(Arc::new(first)))
    }

    pub(super) fn now(&self) -> Arc<Shift> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn begin(&self, next: Shift) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
    }
}
