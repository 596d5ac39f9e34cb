//! The contract between Hob and an agent.
//!
//! Flow: the worker builds a [`RunRequest`], calls [`AgentBackend::run`], reads the [`RunReport`].
//! Guarantees asked of a backend: it returns before the request's time is over or soon after `cancel`; no child of it
//! lives on; it writes nowhere but into the request's folder and its own session.

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    agent::Approval,
    domain::{FailureClass, Progress, RunReport, RunRequest, Spend},
    process::Environment,
};

/// What surrounds a run.
#[derive(Debug, Clone)]
pub struct RunContext {
    /// Ends the run.
    pub cancel: CancellationToken,
    /// Where progress goes; a full channel drops lines, it never slows the run.
    pub progress: mpsc::Sender<Progress>,
    /// The environment the agent's children start from.
    pub environment: Environment,
    /// Who says whether an action with more impact than runs by itself may run.
    pub approval: Approval,
}

impl RunContext {
    /// Tells whoever watches what happens now.
    pub fn say(&self, text: impl Into<String>) {
        // Nobody has to watch: a closed or full channel is not the agent's trouble.
        self.progress.try_send(Progress { text: text.into(), spent: None }).ok();
    }

    /// Tells what the run has cost so far: if it is cut short, that much is known.
    pub fn spent(&self, spent: Spend) {
        self.progress.try_send(Progress { text: String::new(), spent: Some(spent) }).ok();
    }
}

/// Something that works on an issue in a folder.
#[async_trait::async_trait]
pub trait AgentBackend: Send + Sync {
    /// Works until the outcome is known. An agent that fails at its work is an [`Outcome`](crate::domain::Outcome),
    /// not an error.
    ///
    /// # Errors
    /// [`AgentError`] when the agent could not be run at all.
    async fn run(&self, request: &RunRequest, context: &RunContext) -> Result<RunReport, AgentError>;
}

/// An agent that could not be run at all.
#[derive(Debug, thiserror::Error)]
#[error("run the agent: {reason}")]
pub struct AgentError {
    /// What is wrong and what to do.
    pub reason: String,
    /// Whether trying again can help.
    pub failure: FailureClass,
}
