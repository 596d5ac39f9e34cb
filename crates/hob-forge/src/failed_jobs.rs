//! Failed jobs of GitHub Actions: their output, and running them again.
//!
//! # Flow
//! The job names its failed step. The API answers with a separate address of the log, which is valid for a minute and
//! is read without the token. <https://docs.github.com/rest/actions/workflow-jobs>

use hob_domain::Timestamp;
use hob_text::failing_part;
use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    Forge, ForgeError, HeldLease,
    TokenPermission::{ActionsRead, ActionsWrite},
};

/// Bytes at the log's end that are kept.
const TAIL: usize = 1 << 20;

/// Why a job failed.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct JobFailure {
    /// The first step that failed. `None` if no step did.
    pub step: Option<String>,
    /// The end of that step's output.
    pub log: String,
}

#[derive(Serialize, Deserialize)]
struct JobWire {
    run_id: u64,
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
pub struct FailedJob<'a> {
    pub(super) forge: &'a Forge,
    /// Its id, which is that of its check run.
    pub(super) job: u64,
}

impl FailedJob<'_> {
    fn path(self) -> String {
        self.forge.path(&format!("/actions/jobs/{}", self.job))
    }

    async fn wire(self) -> Result<JobWire, ForgeError> {
        self.forge.get(&self.path(), ActionsRead.to("read a job")).await
    }

    /// The workflow run that it belongs to.
    ///
    /// # Errors
    /// As for [`failure`](Self::failure).
    pub async fn run(self) -> Result<u64, ForgeError> {
        Ok(self.wire().await?.run_id)
    }

    /// Which step failed, and its output.
    ///
    /// # Errors
    /// [`ForgeError::Forbidden`] if the token may not see it, [`ForgeError::NotFound`] if it is gone.
    pub async fn failure(self) -> Result<JobFailure, ForgeError> {
        let (job, path) = (self.wire().await?, self.path());
        let failed = |step: &StepWire| matches!(step.conclusion.as_deref(), Some("failure" | "timed_out"));
        let step = job.steps.into_iter().find(failed);
        let purpose = ActionsRead.to("read the log of a job");
        let log = self.forge.connection().download(&format!("{path}/logs"), TAIL, purpose).await?;
        let (from, until) = step.as_ref().map_or((None, None), |step| (step.started_at, step.completed_at));
        let log = failing_part(&String::from_utf8_lossy(&log), from, until);
        Ok(JobFailure { step: step.map(|step| step.name), log })
    }
}

/// A run of a workflow.
#[derive(Debug, Clone, Copy)]
pub struct WorkflowRun<'a> {
    pub(super) forge: &'a Forge,
    pub(super) id: u64,
}

impl WorkflowRun<'_> {
    /// Runs its failed jobs again.
    ///
    /// # Errors
    /// [`ForgeError::Forbidden`] if the token may not, or if the run cannot run again.
    pub async fn rerun_failed_jobs(self, lease: &HeldLease) -> Result<(), ForgeError> {
        let path = self.forge.path(&format!("/actions/runs/{}/rerun-failed-jobs", self.id));
        let purpose = ActionsWrite.to("let failed jobs run once more");
        self.forge.create_held::<Value>(lease, Method::POST, &path, &json!({}), purpose).await?;
        Ok(())
    }
}
