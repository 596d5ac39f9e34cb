//! The repository's file, and a worker's settings with it.
//!
//! # Guarantees
//! - What the operator and the repository both may set is read at the default branch alone: no issue's branch changes it.
//! - A job keeps the settings that it began with.

use std::sync::Arc;

use hob_config::{REPOSITORY_SETTINGS_PATH, RepositorySettings};
use hob_domain::Sha;
use hob_forge::{BaseBranch, FirstLook, ForgeError, first_look};

use crate::{WorkError, Worker, memory::FileOfCommit};

/// The repository's file at a commit; that of a repository without one says nothing.
pub(super) async fn file_at(worker: &Worker, commit: &Sha) -> Result<Arc<RepositorySettings>, WorkError> {
    Ok(file_if_any(worker, commit).await?.unwrap_or_default())
}

/// The repository's file at a commit. `None` if there is none.
pub(super) async fn file_if_any(worker: &Worker, commit: &Sha) -> Result<FileOfCommit, WorkError> {
    if let Some(known) = worker.memory.read_file.at(commit) {
        return Ok(known);
    }
    let text = worker.forge.repository().file(REPOSITORY_SETTINGS_PATH, commit).await?;
    let file = parsed(worker, text)?;
    worker.memory.read_file.note(commit, &file);
    Ok(file)
}

fn parsed(worker: &Worker, text: Option<String>) -> Result<FileOfCommit, WorkError> {
    let file = text.map(|text| RepositorySettings::beside(&worker.settings, &text)).transpose()?;
    Ok(file.map(Arc::new))
}

/// The tip of the default branch, by the name that it had last: what tells the name changes with everything in the repository, and
/// would cost a call each time.
pub(super) async fn default_tip(worker: &Worker) -> Result<BaseBranch, WorkError> {
    let known = worker.memory.default_branch.lock().clone();
    let Some(name) = known else { return look_first(worker).await };
    match worker.forge.repository().tip(name).await {
        Err(ForgeError::EmptyRepository(_)) => default_branch(worker).await,
        tip => Ok(tip?),
    }
}

/// The same for a worker that knows nothing of the repository yet, which learns the repository's file at the same time.
async fn look_first(worker: &Worker) -> Result<BaseBranch, WorkError> {
    let Some(FirstLook { details, base, file }) = first_look(&worker.forge, REPOSITORY_SETTINGS_PATH).await else {
        return default_branch(worker).await;
    };
    details.fit(worker.forge.repo())?;
    note_name(worker, &base.name);
    // A file that cannot be used is read again where that matters.
    if let Ok(file) = parsed(worker, file) {
        worker.memory.read_file.note(&base.sha, &file);
    }
    Ok(base)
}

/// The default branch, by its name of now.
pub(super) async fn default_branch(worker: &Worker) -> Result<BaseBranch, WorkError> {
    let base = worker.forge.repository().base_branch().await?;
    note_name(worker, &base.name);
    Ok(base)
}

/// Notes what the default branch is called.
pub(super) fn note_name(worker: &Worker, name: &str) {
    *worker.memory.default_branch.lock() = Some(name.to_owned());
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
    match default_tip(worker).await {
        Ok(base) => in_repository(worker, &base).await,
        Err(WorkError::Forge(ForgeError::EmptyRepository(_))) => Ok(Arc::new(worker.clone())),
        Err(error) => Err(error),
    }
}
