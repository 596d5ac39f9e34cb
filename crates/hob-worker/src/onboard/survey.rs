//! The files and labels that the repository has, and those that it lacks.

use hob_config::REPOSITORY_SETTINGS_PATH;
use hob_domain::{
    LabelNames, LabelSpec, NotSplit, ProjectFiles, Proposal, Workflows, host_files, manifests, proposal, split_workflow,
};
use hob_forge::{BaseBranch, ForgeError, Pull};
use hob_workspace::BranchName;

use crate::{WorkError, Worker, repository_file::here};

/// The first line of the settings: the address at which editors find this release's schema of them.
const SCHEMA: &str = concat!(
    "#:schema https://github.com/hob-worker/hob/releases/download/v",
    env!("CARGO_PKG_VERSION"),
    "/hob-repository.schema.json\n"
);
/// The path of the workflow that labels and answers start.
pub const WORKFLOW_PATH: &str = ".github/workflows/hob.yml";
/// The path of the workflow that a schedule starts.
pub const SCHEDULE_PATH: &str = ".github/workflows/hob-schedule.yml";
/// The name of this branch after the prefix of Hob's branches. No issue's branch begins so: those have a number.
const BRANCH: &str = "init";

/// A file that the repository lacks, or that is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    /// Its path.
    pub path: &'static str,
    /// Its content.
    pub text: String,
    /// Whether the repository has the file: only a workflow whose schedule moves to its own file is changed.
    pub replaces: bool,
}

impl NewFile {
    fn new(path: &'static str, text: String) -> Self {
        Self { path, text, replaces: false }
    }

    /// Whether only a token with its own permission for it may write it.
    pub fn is_workflow(&self) -> bool {
        self.path != REPOSITORY_SETTINGS_PATH
    }
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
    /// The label that hands an issue to Hob.
    pub trigger: String,
    /// The labels that are missing.
    pub labels: Vec<LabelSpec>,
    /// The files that are missing or changed.
    pub files: Vec<NewFile>,
    /// The files that are there, and stay.
    pub present: Vec<&'static str>,
    /// Why the existing workflow keeps its schedule beside its other triggers; `None` if it has no schedule, or it
    /// moves.
    pub not_split: Option<NotSplit>,
    /// The checks and steps that were found, whether or not the settings file is missing.
    pub proposal: Proposal,
}

/// Reads the repository; `workflows` are the settings of proposed workflows, `None` if they are not wanted.
///
/// # Errors
/// [`WorkError`] of a read, or why no one can work in this repository.
pub async fn survey(
    worker: &Worker,
    workflows: Option<impl FnOnce(&LabelNames, &Proposal) -> Workflows>,
) -> Result<Survey, WorkError> {
    let worker = &here(worker).await?;
    let repository = worker.forge.repository();
    let base = repository.base_branch().await?;
    let labels = worker.forge.labels().missing(&worker.settings.labels.specs()).await?;
    let proposal = detected(worker, &base).await?;
    let mut found = Found::default();
    let settings = format!("{SCHEMA}{}", proposal.to_toml());
    match text_of(worker, &base, REPOSITORY_SETTINGS_PATH).await? {
        Some(_) => found.present.push(REPOSITORY_SETTINGS_PATH),
        None => found.files.push(NewFile::new(REPOSITORY_SETTINGS_PATH, settings)),
    }
    if let Some(workflows) = workflows {
        found.see_workflows(worker, &base, workflows(&worker.settings.labels, &proposal)).await?;
    }
    let Found { files, present, not_split } = found;
    let branch: BranchName = format!("{}{BRANCH}", worker.settings.workspace.branch_prefix).parse()?;
    let open = worker.forge.pulls().open_of(branch.as_str(), Some(&base.name)).await?;
    let trigger = worker.settings.labels.trigger.clone();
    Ok(Survey { base, branch, open, trigger, labels, files, present, not_split, proposal })
}

/// The text of a file on the base branch; `None` if it does not exist.
async fn text_of(worker: &Worker, base: &BaseBranch, path: &str) -> Result<Option<String>, WorkError> {
    match worker.forge.repository().file(path, &base.sha).await {
        // A file that is not text exists, too.
        Err(ForgeError::Unreadable { .. }) => Ok(Some(String::new())),
        found => Ok(found?),
    }
}

/// The files found so far.
#[derive(Default)]
struct Found {
    files: Vec<NewFile>,
    present: Vec<&'static str>,
    not_split: Option<NotSplit>,
}

impl Found {
    /// The two workflows. If one exists whose schedule is beside its other triggers, its schedule moves to the other
    /// one.
    async fn see_workflows(
        &mut self,
        worker: &Worker,
        base: &BaseBranch,
        proposed: Workflows,
    ) -> Result<(), WorkError> {
        let (old, schedule) =
            (text_of(worker, base, WORKFLOW_PATH).await?, text_of(worker, base, SCHEDULE_PATH).await?);
        if schedule.is_some() {
            self.present.push(SCHEDULE_PATH);
        }
        let split = match (&old, &schedule) {
            (None, _) => None,
            (Some(_), Some(_)) => Some(Ok(None)),
            (Some(old), None) => Some(split_workflow(old, &proposed)),
        };
        let (new, replaces) = match split {
            None => (proposed, false),
            Some(Ok(Some(split))) => (split, true),
            Some(kept) => {
                self.present.push(WORKFLOW_PATH);
                self.not_split = kept.err();
                return Ok(());
            }
        };
        self.files.push(NewFile { replaces, ..NewFile::new(WORKFLOW_PATH, new.hob) });
        if schedule.is_none() {
            self.files.push(NewFile::new(SCHEDULE_PATH, new.schedule));
        }
        Ok(())
    }
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
            // A file that is not text, or larger than the forge shows, tells nothing.
            Err(ForgeError::Unreadable { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(proposal(&ProjectFiles::new(paths, texts)))
}
