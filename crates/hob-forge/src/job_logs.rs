//! What a job of GitHub Actions printed where it failed.
//!
//! # Flow
//! The job names its failed step. Its log is at an address of its own, which the API answers with and which is good for a
//! minute: it is asked for without the token. <https://docs.github.com/rest/actions/workflow-jobs>

use hob_domain::{Timestamp, failing_part};
use serde::{Deserialize, Serialize};

use crate::{Forge, ForgeError, TokenPermission::ActionsRead};

/// Bytes of the log that are kept, from its end.
const TAIL: usize = 1 << 20;

/// Why a job failed.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct JobFailure {
    /// The first step that failed; none where no step did.
    pub step: Option<String>,
    /// What that step printed; the end of it.
    pub log: String,
}

#[derive(Serialize, Deserialize)]
struct JobWire {
    #[serde(default)]
    steps: Vec<StepWire>,
}

#[derive(Serialize, Deserialize)]
struct StepWire {
    name: String,
    conclusion: Option<String>,
    started_at: Option<Timestamp>,
    completed_at: Option<Timestamp>,
}

/// One job.
#[derive(Debug, Clone, Copy)]
pub struct JobLog<'a> {
    pub(super) forge: &'a Forge,
    /// Its id, which is that of its check run.
    pub(super) job: u64,
}

impl JobLog<'_> {
    /// Which step failed, and what it printed.
    ///
    /// # Errors
    /// [`ForgeError::Forbidden`] where the token may not see it, [`ForgeError::NotFound`] where it is gone.
    pub async fn failure(self) -> Result<JobFailure, ForgeError> {
        let path = self.forge.path(&format!("/actions/jobs/{}", self.job));
        let job: JobWire = self.forge.get(&path, ActionsRead.to("read a job")).await?;
        let failed = |step: &StepWire| matches!(step.conclusion.as_deref(), Some("failure" | "timed_out"));
        let step = job.steps.into_iter().find(failed);
        let purpose = ActionsRead.to("read the log of a job");
        let log = self.forge.connection().download(&format!("{path}/logs"), TAIL, purpose).await?;
        let (from, until) = step.as_ref().map_or((None, None), |step| (step.started_at, step.completed_at));
        let log = failing_part(&String::from_utf8_lossy(&log), from, until);
        Ok(JobFailure { step: step.map(|step| step.name), log })
    }
}
