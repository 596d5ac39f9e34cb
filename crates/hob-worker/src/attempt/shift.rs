//! The profile or agent that works now: an attempt has one after the other if the work is handed off.

use std::sync::{Arc, Mutex, PoisonError};

use hob_domain::{RunId, Sha, has_label};

use crate::{Worker, attempt::specialist::Specialist, counters::loaded, held_issue::HeldIssue};

/// The profile or agent that works now, and its session.
pub(super) struct Shift {
    pub(super) specialist: Specialist,
    /// The id that its runs are named after.
    pub(super) run: RunId,
    /// The session of its runs: an earlier attempt's if this machine has it, otherwise their own. No two agents share
    /// one.
    pub(super) session: RunId,
    /// The commit at which it got the work from another profile of this attempt.
    pub(super) took_over_at: Option<Sha>,
}

impl Shift {
    /// Tells whoever operates Hob who is loaded: the profile with how sure that is, in percent, or an agent of the settings.
    pub(super) fn tell(&self, worker: &Worker, held: &HeldIssue, percent: Option<u8>) {
        let (issue, Specialist { name, profile, took, .. }) = (&held.issue, &self.specialist);
        // The label that brought the issue here, or else what the profile is called.
        let domain = profile.as_ref().map(|profile| {
            let label = profile.matches.labels.iter().find(|label| has_label(&issue.labels, label));
            label.map_or(profile.name.as_str(), String::as_str)
        });
        loaded(name, *took);
        held.durations().loads.push(*took);
        tracing::info!(
            event = "agent_loaded",
            repo = %worker.forge.repo(),
            issue = issue.number.0,
            session = self.session.as_str(),
            agent = name.as_str(),
            domain,
            confidence = percent.map(|percent| f64::from(percent) / 100.0),
            load_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            "`{name}` is loaded"
        );
    }
}

/// The current shift.
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
