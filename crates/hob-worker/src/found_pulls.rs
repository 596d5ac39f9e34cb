//! The memory of pull requests in review, so that one is asked for only where its branches have moved.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use hob_domain::{PullNumber, Sha};
use hob_forge::Pull;

/// A pull request as it was found, and the tip of its base branch then.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) pull: Pull,
    pub(super) tip: Sha,
}

/// Pull requests in review as they were found last. What the forge answers of one changes with all that happens in its
/// repository, so it is asked anew where head or base have moved.
#[derive(Debug, Default)]
pub(super) struct FoundPulls(Mutex<HashMap<PullNumber, Arc<Found>>>);

impl FoundPulls {
    /// What was found last.
    pub(super) fn get(&self, number: PullNumber) -> Option<Arc<Found>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&number).cloned()
    }

    /// Remembers what was found.
    pub(super) fn note(&self, found: Found) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= KEPT {
            all.clear();
        }
        all.insert(found.pull.number, Arc::new(found));
    }
}

/// Pull requests that are remembered at most.
const KEPT: usize = 5_000;
