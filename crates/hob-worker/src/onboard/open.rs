//! Makes what is missing: the labels, the branch with the files, the pull request.

use std::time::Duration;

use hob_domain::{SignOff, count, signed_off};
use hob_forge::{ForgeError, Pull, PullDraft};
use hob_workspace::{BranchName, NewFiles, Put, WorkspaceError, put_files};
use tokio::time::Instant;

use crate::{
    WorkError, Worker,
    onboard::{
        survey::{NewFile, Survey},
        text::{LeftOut, body, message, title},
    },
};

/// The pause before a mirror that another process uses is tried again.
const BUSY_PAUSE: Duration = Duration::from_millis(500);
/// What every refusal of a workflow file has in it: `refusing to allow a GitHub App to create or update workflow …`.
const WORKFLOW_REFUSED: &str = "create or update workflow";

/// What became of the pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered {
    /// It was opened.
    Opened,
    /// It was open, and its branch has the new files now.
    Updated,
    /// It was open, and nothing has changed.
    Unchanged,
    /// It was open, and a person pushed to its branch: it is theirs.
    Theirs,
}

/// What was done.
#[derive(Debug, Clone)]
pub struct Onboarded {
    /// The pull request; none: there was nothing to put into one.
    pub pull: Option<(Pull, Offered)>,
    /// What is not in it.
    pub left_out: LeftOut,
}

/// Makes what the survey found missing, and tells each step before it begins.
///
/// # Errors
/// [`WorkError`] of a step; what was done before it stays, and the next call goes on from there.
pub async fn onboard(
    worker: &Worker,
    survey: &Survey,
    tell: &(dyn Fn(String) + Send + Sync),
) -> Result<Onboarded, WorkError> {
    for label in &survey.labels {
        tell(format!("creating the label `{}`", label.name));
        worker.forge.labels().create(std::slice::from_ref(label)).await?;
    }
    if survey.files.is_empty() {
        return Ok(Onboarded { pull: None, left_out: LeftOut::Nothing });
    }
    tell(format!("fetching the history of {}", worker.forge.repo()));
    fetch(worker, survey).await?;
    tell(format!("putting {} on the branch `{}`", count(survey.files.len(), "file"), survey.branch));
    let all: Vec<&NewFile> = survey.files.iter().collect();
    let (put, left_out) = match put(worker, survey, &all).await {
        Err(WorkError::Workspace(WorkspaceError::PushRefused { reason, .. })) if reason.contains(WORKFLOW_REFUSED) => {
            let rest: Vec<&NewFile> = all.into_iter().filter(|file| !file.is_workflow()).collect();
            if rest.is_empty() {
                return Ok(Onboarded { pull: None, left_out: LeftOut::Workflow });
            }
            tell("the token may not write workflow files: pushing without the workflows".to_owned());
            (put(worker, survey, &rest).await?, LeftOut::Workflow)
        }
        put => (put?, LeftOut::Nothing),
    };
    offer(worker, survey, (put, left_out), tell).await
}

async fn fetch(worker: &Worker, survey: &Survey) -> Result<(), WorkError> {
    let (remote, base) = (worker.remote().await?, survey.base.name.parse::<BranchName>()?);
    let patience = Instant::now() + worker.settings.workspace.transfer_time;
    loop {
        match worker.workspace.fetch(&remote, &base).await {
            Err(WorkspaceError::Busy { .. }) if Instant::now() < patience => tokio::time::sleep(BUSY_PAUSE).await,
            result => return Ok(result.map(drop)?),
        }
    }
}

async fn put(worker: &Worker, survey: &Survey, files: &[&NewFile]) -> Result<Put, WorkError> {
    let identity = worker.commit_identity().await;
    let message = match worker.settings.publish.sign_off() {
        SignOff::Yes => signed_off(&message(files), &identity),
        SignOff::No => message(files),
    };
    let new = NewFiles {
        branch: survey.branch.clone(),
        base: survey.base.sha.clone(),
        files: files.iter().map(|file| (file.path.to_owned(), file.text.clone())).collect(),
        message,
        identity,
        time: worker.forge.now(),
    };
    Ok(put_files(&worker.workspace, &worker.remote().await?, new).await?)
}

async fn offer(
    worker: &Worker,
    survey: &Survey,
    (put, left_out): (Put, LeftOut),
    tell: &(dyn Fn(String) + Send + Sync),
) -> Result<Onboarded, WorkError> {
    let done = |pull: Pull, offered: Offered| Onboarded { pull: Some((pull, offered)), left_out };
    let offered = match (&survey.open, put) {
        (Some(open), Put::There) => return Ok(done(open.clone(), Offered::Unchanged)),
        (Some(open), Put::Foreign(_)) => return Ok(done(open.clone(), Offered::Theirs)),
        (None, Put::Foreign(foreign)) => {
            let (branch, author) = (&survey.branch, foreign.author);
            return Err(WorkError::Misconfigured(format!(
                "the branch `{branch}` has a commit by {author} and no open pull request: open one from it, or delete the \
                 branch and run `hob init` again"
            )));
        }
        (Some(_), Put::Made | Put::Moved) => Offered::Updated,
        (None, Put::Made | Put::Moved | Put::There) => Offered::Opened,
    };
    tell(if offered == Offered::Opened { "opening the pull request" } else { "updating the pull request" }.to_owned());
    let files: Vec<&NewFile> =
        survey.files.iter().filter(|file| left_out == LeftOut::Nothing || !file.is_workflow()).collect();
    let draft = PullDraft {
        head: survey.branch.to_string(),
        base: survey.base.name.clone(),
        moves_base: false,
        title: title(&files),
        body: body(survey, &files, left_out, &worker.settings.labels.trigger),
        draft: false,
    };
    let mut tried = 0;
    loop {
        let error = match worker.forge.pulls().offer(&draft).await {
            Err(error @ ForgeError::Limited { .. }) => error,
            result => return Ok(done(result?, offered)),
        };
        let Some(pause) = worker.forge.pause_after(&error, tried) else { return Err(error.into()) };
        tell(format!("waiting {} s: the forge wants a pause before it opens a pull request", pause.as_secs()));
        tokio::time::sleep(pause).await;
        tried += 1;
    }
}
