//! The repository's file, and a worker's settings with it.
//!
//! # Guarantees
//! - What the operator and the repository both may set is read at the default branch alone: no issue's branch changes it.
//! - A job keeps the settings that it began with.

use std::sync::Arc;

use hob_config::{REPOSITORY_SETTINGS_PATH, RepositorySettings};
use hob_domain::Sha;
use hob_forge::{BaseBranch, ForgeError};

use crate::{WorkError, Worker};

/// The repository's file at a commit; that of a repository without one says nothing.
pub(super) async fn file_at(worker: &Worker, commit: &Sha) -> Result<Arc<RepositorySettings>, WorkError> {
    if let Some(known) = worker.memory.read_file.at(commit) {
        return Ok(known);
    }
    let text = worker.forge.repository().file(REPOSITORY_SETTINGS_PATH, commit).await?.unwrap_or_default();
    let file = Arc::new(RepositorySettings::beside(&worker.settings, &text)?);
    worker.memory.read_file.note(commit, &file);
    Ok(file)
}

/// The tip of the default branch, by the name that it had last: what tells the name changes with everything in the repository, and
/// would cost a call each time.
pub(super) async fn default_tip(worker: &Worker) -> Result<BaseBranch, WorkError> {
    let known = worker.memory.default_branch.lock().clone();
    if let Some(name) = known {
        match worker.forge.repository().tip(name).await {
            Err(ForgeError::EmptyRepository(_)) => {}
            tip => return Ok(tip?),
        }
    }
    default_branch(worker).await
}

/// The default branch, by its name of now.
pub(super) async fn default_branch(worker: &Worker) -> Result<BaseBranch, WorkError> {
    let base = worker.forge.repository().base_branch().await?;
    *worker.memory.default_branch.lock() = Some(base.name.clone());
    Ok(base)
}

/// The worker with its settings as they are in this repository, whose default branch is `base`. A file that cannot be used changes
/// none: the attempt that needs it says so.
pub(super) async fn in_repository(worker: &Worker, base: &BaseBranch) -> Result<Arc<Worker>, WorkError> {
    let settings = match file_at(worker, &base.sha).await {
        Ok(file) => file.over(&worker.settings),
        Err(error) if error.is_of_the_repositorys_file() => worker.settings.clone(),
        Err(error) => return Err(error),
    };
    Ok(Arc::new(worker.with(settings)))
}

/// The same for a command, at what the default branch has now.
pub(super) async fn here(worker: &Worker) -> Result<Arc<Worker>, WorkError> {
    match worker.forge.repository().base_branch().await {
        Ok(base) => in_repository(worker, &base).await,
        Err(ForgeError::EmptyRepository(_)) => Ok(Arc::new(worker.clone())),
        Err(error) => Err(error.into()),
    }
}
