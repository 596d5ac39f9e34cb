//! A scheduled workflow of GitHub Actions: whether it may run, and when it did.

use hob_domain::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Forge, ForgeError, TokenPermission::ActionsRead};

/// A scheduled workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduledWorkflow {
    /// Its state: `active`, or `disabled_inactivity` and others in which no trigger starts it.
    pub state: String,
    /// When its file last changed.
    pub updated_at: Timestamp,
    /// When the last two runs of the schedule began, newest first.
    pub runs: Vec<Timestamp>,
}

#[derive(Serialize, Deserialize)]
struct WorkflowWire {
    state: String,
    updated_at: Timestamp,
}

#[derive(Serialize, Deserialize)]
struct RunsWire {
    workflow_runs: Vec<RunWire>,
}

#[derive(Serialize, Deserialize)]
struct RunWire {
    created_at: Timestamp,
}

/// A workflow's file on the default branch.
#[derive(Debug, Clone, Copy)]
pub struct WorkflowFile<'a> {
    pub(super) forge: &'a Forge,
    /// Its name below `.github/workflows`.
    pub(super) name: &'a str,
}

impl WorkflowFile<'_> {
    /// The scheduled workflow. `None` if there is no such file, or if the token may not see it.
    ///
    /// # Errors
    /// [`ForgeError`] of any other failure.
    pub async fn scheduled(self) -> Result<Option<ScheduledWorkflow>, ForgeError> {
        let path = self.forge.path(&format!("/actions/workflows/{}", self.name));
        let found: WorkflowWire = match self.forge.get(&path, ActionsRead.to("read a workflow")).await {
            Err(error) if error.is_not_found() || matches!(error, ForgeError::Forbidden { .. }) => return Ok(None),
            found => found?,
        };
        let path = format!("{path}/runs?event=schedule&per_page=2");
        let runs: RunsWire = self.forge.get(&path, ActionsRead.to("list the runs of a workflow")).await?;
        let runs = runs.workflow_runs.into_iter().map(|run| run.created_at).collect();
        Ok(Some(ScheduledWorkflow { state: found.state, updated_at: found.updated_at, runs }))
    }
}
