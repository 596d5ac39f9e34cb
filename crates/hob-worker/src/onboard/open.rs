//! Makes what is missing: the labels, the branch with the files, the pull request.

use hob_forge::{Pull, PullDraft};
use hob_text::count;
use hob_workspace::{Put, WorkspaceError};

use crate::{
    WorkError, Worker, offer,
    onboard::{
        survey::{NewFile, Survey},
        text::{LeftOut, body, message, title},
    },
};

/// What every refusal of a workflow file has in it: `refusing to allow a GitHub App to create or update workflow …`.
const WORKFLOW_REFUSED: &str = "create or update workflow";

/// The state of the pull request.
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

/// The result of onboarding.
#[derive(Debug, Clone)]
pub struct Onboarded {
    /// The pull request; `None` if there was nothing to put into one.
    pub pull: Option<(Pull, Offered)>,
    /// The parts that are not in it.
    pub left_out: LeftOut,
}

/// Makes what the survey found missing, and tells each step before it begins.
///
/// # Errors
/// [`WorkError`] of a step; earlier steps stay, and the next call continues from there.
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
    offer::fetch(worker, &survey.base).await?;
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
    offer_files(worker, survey, put, left_out, tell).await
}

async fn put(worker: &Worker, survey: &Survey, files: &[&NewFile]) -> Result<Put, WorkError> {
    let texts = files.iter().map(|file| (file.path.to_owned(), file.text.clone())).collect();
    offer::put(worker, &survey.base, &survey.branch, texts, &message(files)).await
}

async fn offer_files(
    worker: &Worker,
    survey: &Survey,
    put: Put,
    left_out: LeftOut,
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
        body: body(survey, &files, left_out),
        draft: false,
    };
    Ok(done(offer::open(worker, &draft, tell).await?, offered))
}
