//! What the repository has, and what it lacks.

use hob_config::REPOSITORY_SETTINGS_PATH;
use hob_domain::{LabelSpec, ProjectFiles, Proposal, host_files, manifests, proposal};
use hob_forge::{BaseBranch, ForgeError, Pull};
use hob_workspace::BranchName;

use crate::{WorkError, Worker};

/// The first line of the settings: where editors find what may stand in them, as this release has it.
const SCHEMA: &str = concat!(
    "#:schema https://github.com/hob-worker/hob/releases/download/v",
    env!("CARGO_PKG_VERSION"),
    "/hob-repository.schema.json\n"
);
/// The path of the workflow that runs Hob in jobs.
pub const WORKFLOW_PATH: &str = ".github/workflows/hob.yml";
/// What stands behind the prefix of Hob's branches in the name of this one. No issue's branch begins so: those have a number.
const BRANCH: &str = "init";

/// A file that the repository lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    /// Its path.
    pub path: &'static str,
    /// Its content.
    pub text: String,
}

/// A repository before its first issue.
#[derive(Debug, Clone)]
pub struct Survey {
    /// The default branch.
    pub base: BaseBranch,
    /// The branch of the pull request.
    pub branch: BranchName,
    /// The pull request of an earlier call that is open.
    pub open: Option<Pull>,
    /// The labels that are missing.
    pub labels: Vec<LabelSpec>,
    /// The files that are missing.
    pub files: Vec<NewFile>,
    /// The files that are there.
    pub present: Vec<&'static str>,
    /// The checks and steps that were found, whether or not the file with them is missing.
    pub proposal: Proposal,
}

/// Reads the repository; `workflow` is what the workflow would be for a proposal, none: it is not wanted.
///
/// # Errors
/// [`WorkError`] of a read, or why nobody can work in this repository.
pub async fn survey(worker: &Worker, workflow: Option<impl FnOnce(&Proposal) -> String>) -> Result<Survey, WorkError> {
    let repository = worker.forge.repository();
    let base = repository.base_branch().await?;
    let labels = worker.forge.labels().missing(&worker.settings.labels.specs()).await?;
    let proposal = detected(worker, &base).await?;
    let settings = format!("{SCHEMA}{}", proposal.to_toml());
    let wanted = std::iter::once((REPOSITORY_SETTINGS_PATH, settings));
    let wanted = wanted.chain(workflow.map(|text| (WORKFLOW_PATH, text(&proposal))));
    let (mut files, mut present) = (Vec::new(), Vec::new());
    for (path, text) in wanted {
        match repository.file(path, &base.sha).await {
            // One that is no text is there, too.
            Ok(Some(_)) | Err(ForgeError::Unreadable { .. }) => present.push(path),
            Ok(None) => files.push(NewFile { path, text }),
            Err(error) => return Err(error.into()),
        }
    }
    let branch: BranchName = format!("{}{BRANCH}", worker.settings.workspace.branch_prefix).parse()?;
    let open = worker.forge.pulls().open_of(branch.as_str(), Some(&base.name)).await?;
    Ok(Survey { base, branch, open, labels, files, present, proposal })
}

/// The checks and steps that fit the base branch's files.
async fn detected(worker: &Worker, base: &BaseBranch) -> Result<Proposal, WorkError> {
    let repository = worker.forge.repository();
    let paths = repository.file_paths(&base.tree).await?;
    let mut texts = Vec::new();
    let all = || paths.iter().map(String::as_str);
    let (manifests, host_files) = (manifests(all()), host_files(all()));
    for path in manifests.into_iter().chain(host_files) {
        match repository.file(path, &base.sha).await {
            Ok(text) => texts.extend(text.map(|text| (path.to_owned(), text))),
            // A file that is no text, or larger than the forge shows one, tells nothing.
            Err(ForgeError::Unreadable { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(proposal(&ProjectFiles::new(paths, texts)))
}
