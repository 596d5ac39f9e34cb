//! The repository's file, a worker's settings with it, and what the first look at a repository tells beside them.
//!
//! # Guarantees
//! - What the operator and the repository both may set is read at the default branch alone: no issue's branch changes it.
//! - A job keeps the settings that it began with.

use std::{collections::BTreeMap, sync::Arc};

use hob_config::{REPOSITORY_SETTINGS_PATH, RepositorySettings};
use hob_domain::{FailureClass, IssueNumber, Sha};
use hob_forge::{BaseBranch, Comment, FirstLook, FirstQuestion, ForgeError, Issue, Tips, first_look};

use crate::{WorkError, Worker, ledgers::FEW, memory::FileOfCommit};

/// What is known of a repository's issues before they are listed: all of it was read a moment ago.
#[derive(Default)]
pub(super) struct Ahead {
    /// The default branch. `None` of a repository without commits.
    pub(super) base: Option<BaseBranch>,
    /// Of all ledgers. They are older than the rest.
    pub(super) tips: Option<Tips>,
    /// The open issues with the trigger label, as [`FirstLook::issues`] has them.
    pub(super) issues: Option<Vec<Issue>>,
    /// The comments on some of them.
    pub(super) comments: BTreeMap<IssueNumber, Vec<Comment>>,
}

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
    let Some(name) = known else {
        return match look_first(worker, &[]).await? {
            Some(FirstLook { base, .. }) => Ok(base),
            None => default_branch(worker).await,
        };
    };
    match worker.forge.repository().tip(name).await {
        Err(ForgeError::EmptyRepository(_)) => default_branch(worker).await,
        tip => Ok(tip?),
    }
}

/// What one query tells a worker that knows nothing of the repository yet; the worker remembers the branch, the repository's file and the
/// `ledgers`. `None` if the query does not tell them.
async fn look_first(worker: &Worker, ledgers: &[&Sha]) -> Result<Option<FirstLook>, WorkError> {
    let labels = &worker.settings.labels;
    let question =
        FirstQuestion { path: REPOSITORY_SETTINGS_PATH, label: &labels.trigger, blocked: &labels.blocked, ledgers };
    let Some(mut look) = first_look(&worker.forge, question).await else { return Ok(None) };
    look.details.fit(worker.forge.repo())?;
    note_name(worker, &look.base.name);
    // A file that cannot be used is read again where that matters.
    if let Ok(file) = parsed(worker, look.file.take()) {
        worker.memory.read_file.note(&look.base.sha, &file);
    }
    Ok(Some(look))
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
        Ok(file) => Arc::new(file.over(&worker.settings)),
        Err(error) if error.is_of_the_repositorys_file() => Arc::clone(&worker.settings),
        Err(error) => return Err(error),
    };
    Ok(Arc::new(worker.with(settings)))
}

/// The worker with its settings as they are in this repository now, and what the first look tells of the issues.
pub(super) async fn arrive(worker: &Worker) -> Result<(Arc<Worker>, Ahead), WorkError> {
    let is_known = worker.memory.default_branch.lock().is_some();
    let tips = if is_known { None } else { first_tips(worker).await? };
    let Some(tips) = tips else {
        let base = default_tip(worker).await?;
        return Ok((in_repository(worker, &base).await?, Ahead { base: Some(base), ..Ahead::default() }));
    };
    let look = look_first(worker, &ledgers_to_ask(&tips)).await?;
    let (base, issues, comments) = match look {
        Some(FirstLook { base, issues, comments, .. }) => (base, issues, comments),
        None => (default_branch(worker).await?, None, BTreeMap::new()),
    };
    let here = in_repository(worker, &base).await?;
    // The repository's file may name another label than the one that was asked for.
    let issues = issues.filter(|_| here.settings.labels.trigger == worker.settings.labels.trigger);
    Ok((here, Ahead { base: Some(base), tips: Some(tips), issues, comments }))
}

/// The tips of all ledgers. `None` if something is wrong with the repository: what it is shows where the repository itself is read.
async fn first_tips(worker: &Worker) -> Result<Option<Tips>, ForgeError> {
    match worker.forge.ledger().tips().await {
        Err(error) if !matches!(error.class(), FailureClass::Transient { .. }) => Ok(None),
        tips => tips.map(Some),
    }
}

/// The ledgers that the first query asks for: those of the issues only if they are few, since they may all be finished.
fn ledgers_to_ask(tips: &Tips) -> Vec<&Sha> {
    let are_few = tips.issues.len() <= FEW;
    let of_issues = tips.issues.iter().map(|tip| &tip.commit).filter(|_| are_few);
    of_issues.chain(&tips.repository).chain(tips.finished.as_ref().filter(|_| !are_few)).collect()
}

/// The worker with its settings as they are in this repository, for a command that asks for some issues only.
pub(super) async fn here(worker: &Worker) -> Result<Arc<Worker>, WorkError> {
    match default_tip(worker).await {
        Ok(base) => in_repository(worker, &base).await,
        Err(WorkError::Forge(ForgeError::EmptyRepository(_))) => Ok(Arc::new(worker.clone())),
        Err(error) => Err(error),
    }
}
