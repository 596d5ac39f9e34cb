//! The profile or agent that works now. An attempt has several in turn if the work is handed off.

use std::sync::Arc;

use hob_domain::{RunId, Sha, has_label};
use parking_lot::Mutex;

use crate::{Worker, attempt::loaded_agent::LoadedAgent, held_issue::HeldIssue, metrics::METRICS};

/// The profile or agent that works now, and its session.
pub(super) struct ActiveProfile {
    pub(super) loaded: LoadedAgent,
    /// The id that its runs are named after.
    pub(super) run: RunId,
    /// The session of its runs: an earlier attempt's if this machine has it, otherwise their own. No two agents share
    /// one.
    pub(super) session: RunId,
    /// The commit at which it got the work from another profile of this attempt.
    pub(super) took_over_at: Option<Sha>,
    /// Which candidate of the attempt's work its runs make, from 0.
    pub(super) candidate: u32,
}

impl ActiveProfile {
    /// Logs and counts that it is loaded, with how sure the choice of the profile is, in percent.
    pub(super) fn report(&self, worker: &Worker, held: &HeldIssue, percent: Option<u8>) {
        let (issue, LoadedAgent { name, profile, took, .. }) = (&held.issue, &self.loaded);
        // The label that brought the issue here, or else what the profile is called.
        let domain = profile.as_ref().map(|profile| {
            let label = profile.matches.labels.iter().find(|label| has_label(&issue.labels, label));
            label.map_or(profile.name.as_str(), String::as_str)
        });
        METRICS.profiles.loaded(name, *took);
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

/// The one that works now.
pub(super) struct ActiveProfiles(Mutex<Arc<ActiveProfile>>);

impl ActiveProfiles {
    pub(super) fn new(first: ActiveProfile) -> Self {
        Self(Mutex::new(Arc::new(first)))
    }

    pub(super) fn now(&self) -> Arc<ActiveProfile> {
        Arc::clone(&self.0.lock())
    }

    pub(super) fn begin(&self, next: impl Into<Arc<ActiveProfile>>) {
        *self.0.lock() = next.into();
    }
}
