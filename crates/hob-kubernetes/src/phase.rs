//! The phase of a Job, by what its object says.

use k8s_openapi::api::batch::v1::Job;

/// The phase of a Job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JobPhase {
    /// Nothing of it may begin: it waits in Kueue's queue, or was preempted, or somebody suspended it.
    Suspended,
    /// Its pod is not ready: none is made yet, or it has no node, or its image is fetched.
    Pending,
    /// Its pod runs.
    Running,
    /// It ended well.
    Complete,
    /// It failed, by the condition that says so.
    Failed {
        /// The condition's reason, one word.
        reason: String,
        /// The condition's message.
        message: String,
    },
}

/// The Job's phase.
pub(crate) fn phase(job: &Job) -> JobPhase {
    let status = job.status.as_ref();
    let conditions = status.and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    let holds = |kind: &str| conditions.iter().find(|condition| condition.type_ == kind && condition.status == "True");
    if holds("Complete").is_some() {
        return JobPhase::Complete;
    }
    if let Some(failed) = holds("Failed") {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        return JobPhase::Failed { reason: text(&failed.reason), message: text(&failed.message) };
    }
    if job.spec.as_ref().and_then(|spec| spec.suspend) == Some(true) {
        return JobPhase::Suspended;
    }
    match status.and_then(|status| status.ready).unwrap_or_default() {
        0 => JobPhase::Pending,
        _ready => JobPhase::Running,
    }
}

/// Whether nothing will become of it any more.
pub(crate) fn is_finished(job: &Job) -> bool {
    match phase(job) {
        JobPhase::Complete | JobPhase::Failed { .. } => true,
        JobPhase::Suspended | JobPhase::Pending | JobPhase::Running => false,
    }
}
