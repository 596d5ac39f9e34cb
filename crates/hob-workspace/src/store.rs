//! The root of all workspaces: one mirror a repository, one checkout an issue.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use hob_config::WorkspaceSettings;
use hob_domain::{IssueNumber, ProfileFiles, RepoName, Sha};
use hob_process::{Environment, unlock_folders};
use hob_text::KnownSecrets;

use crate::{
    BranchName, Checkout, Leftover, Remote, WorkspaceError,
    checkout::Sources,
    error::disk,
    forwarder::Right,
    git::{Git, done},
    git_dir::GitDir,
    in_use::InUse,
    layout::{IssueFolder, blocking, make, mirror as mirror_folder, remove, write},
    messages,
    mirror::{self, MirrorLock},
    part::{Part, Patterns},
    profiles::{self, NamedFile},
    transport::exchange,
    update::{self, BranchUpdate, Names, Updater, to_replay},
};

/// The folder of a repository's issue forms.
const FORMS: &str = ".github/ISSUE_TEMPLATE";
/// The most forms of a repository that are read.
const FORMS_MAX: usize = 30;

/// Hob's state folder, seen as mirrors and checkouts.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: PathBuf,
    git: Git,
    queues: Arc<Mutex<HashMap<RepoName, Arc<tokio::sync::Mutex<()>>>>>,
    in_use: InUse,
    secrets: KnownSecrets,
    part: Part,
    checks_base: bool,
}

impl Workspace {
    /// Opens the state folder `root`, and makes it if it is missing; git inherits `environment`.
    ///
    /// # Errors
    /// [`WorkspaceError::Disk`] if the folder cannot be made.
    pub async fn open(
        root: PathBuf,
        settings: WorkspaceSettings,
        environment: Arc<Environment>,
    ) -> Result<Self, WorkspaceError> {
        let root = std::path::absolute(&root).map_err(disk("find", root))?;
        let folder = root.clone();
        // A child in a fence can have locked it.
        blocking("open the workspace", move || {
            unlock_folders(&folder, 0).map_err(disk("unlock", &folder))?;
            make(&folder)
        })
        .await?;
        let git = Git::new(settings, environment, &root);
        let (queues, in_use, secrets) = (Arc::default(), InUse::default(), KnownSecrets::default());
        Ok(Self { root, git, queues, in_use, secrets, part: Part::default(), checks_base: false })
    }

    /// The same workspace, which keeps these secrets out of messages of commits, files and branch names.
    #[must_use]
    pub fn without(self, secrets: KnownSecrets) -> Self {
        Self { secrets, ..self }
    }

    /// The same workspace, which keeps up to `spare` trees of each kind of a repository that no issue needs any more,
    /// for the next issues.
    #[must_use]
    pub fn recycling(mut self, spare: usize) -> Self {
        self.in_use.spare = spare;
        self
    }

    /// The same workspace, which checks out these folders alone, the files above them, folders at the top whose names begin with a dot,
    /// and what the work changed elsewhere; none: all.
    #[must_use]
    pub fn within(&self, folders: &[String]) -> Self {
        Self { part: Part::new(folders), ..self.clone() }
    }

    /// The same workspace for work whose checks run on its base before the agent begins: their folder is filled beside the
    /// agent's.
    #[must_use]
    pub fn checking_base(self) -> Self {
        Self { checks_base: true, ..self }
    }

    /// Brings the mirror of a repository up to date, making it on first use; the tip of `base`.
    ///
    /// # Errors
    /// [`WorkspaceError::EmptyRepository`], [`WorkspaceError::NoSuchBranch`], [`WorkspaceError::Busy`], or what the
    /// server and the disk say.
    pub async fn fetch(&self, remote: &Remote, base: &BranchName) -> Result<Sha, WorkspaceError> {
        let _turn = self.turn(remote.repo()).await?;
        mirror::update(&self.git, &self.root, remote, base).await
    }

    /// The messages of the commits that the refs below `prefix`, such as `refs/hob/issues/`, point to on the server, by
    /// commit: one exchange with the server for any number of refs.
    ///
    /// # Errors
    /// [`WorkspaceError::Busy`], or an error of the server or the disk.
    pub async fn messages(&self, remote: &Remote, prefix: &str) -> Result<HashMap<Sha, String>, WorkspaceError> {
        let _turn = self.turn(remote.repo()).await?;
        messages::messages(&self.git, &self.root, remote, prefix).await
    }

    /// The tip of `branch`, a base branch or one of Hob's own, on the server at the last fetch; `None` if it was not
    /// there.
    ///
    /// # Errors
    /// [`WorkspaceError::Disk`] if the mirror cannot be read.
    pub async fn fetched_tip(&self, remote: &Remote, branch: &BranchName) -> Result<Option<Sha>, WorkspaceError> {
        mirror::tip(&mirror_folder(&self.root, remote.repo()), branch).await
    }

    /// The work on an issue that passed its checks and could not go to its branch, as of the last fetch.
    ///
    /// # Errors
    /// [`WorkspaceError::Disk`] when the mirror cannot be read.
    pub async fn kept(&self, remote: &Remote, issue: IssueNumber) -> Result<Option<Sha>, WorkspaceError> {
        mirror::kept(&mirror_folder(&self.root, remote.repo()), issue).await
    }

    /// Whether any of Hob's own branches was on the server at the last fetch.
    ///
    /// # Errors
    /// [`WorkspaceError::Disk`] when the mirror cannot be read.
    pub async fn has_own_branches(&self, remote: &Remote) -> Result<bool, WorkspaceError> {
        mirror::has_any(&mirror_folder(&self.root, remote.repo()), &self.git.settings().branch_prefix).await
    }

    /// Prepares the checkout of an issue: `branch` as the server had it at the last fetch if it holds its own work,
    /// otherwise from `base`.
    ///
    /// Files that an earlier run left in the folder, ignored ones included, are removed; with [`Leftover::Keep`] they
    /// stay if they belong to the same commit of the same branch, see [`Checkout::is_kept`]. With [`Leftover::StartAt`]
    /// the checkout starts at that commit, if the mirror has it and the branch has not moved elsewhere since.
    ///
    /// # Errors
    /// [`WorkspaceError::UnrelatedHistory`] if the branch has no commit in common with `base`, or errors of the server
    /// and the disk.
    pub async fn prepare(
        &self,
        remote: &Remote,
        issue: IssueNumber,
        branch: &BranchName,
        base: &Sha,
        leftover: Leftover,
    ) -> Result<Checkout, WorkspaceError> {
        let place = mirror_folder(&self.root, remote.repo());
        let folder = IssueFolder::new(&self.root, remote.repo(), issue);
        let in_use = self.in_use.begin(folder.clone());
        let ahead = if let Leftover::StartAt(commit) = &leftover { Some(commit) } else { None };
        let sources = self.sources(&place, remote, branch, base, ahead).await;
        let sources = mirror::condemned(&place, sources).await?;
        let (git, secrets) = (self.git.clone(), self.secrets.clone());
        let checkout = Checkout::new(git, secrets, folder, in_use, branch.clone(), sources);
        checkout.within(self.part.clone(), self.checks_base).laid_out(leftover).await
    }

    /// Finds the commits that the checkout is based on and starts at, and fetches what they lack.
    async fn sources(
        &self,
        mirror: &Path,
        remote: &Remote,
        branch: &BranchName,
        base: &Sha,
        ahead: Option<&Sha>,
    ) -> Result<Sources, WorkspaceError> {
        let pushed = mirror::tip(mirror, branch).await?;
        let mut tip = pushed.clone();
        if let Some(ahead) = ahead {
            // If someone moved the branch meanwhile, their version counts.
            let from = pushed.as_ref().unwrap_or(base);
            let fork = mirror::merge_base(&self.git, mirror, from, ahead).await?;
            if fork.is_some_and(|fork| pushed.is_none() || fork == *from) {
                tip = Some(ahead.clone());
            }
        }
        let (base, start) = match &tip {
            None => (base.clone(), base.clone()),
            Some(tip) => match mirror::merge_base(&self.git, mirror, base, tip).await? {
                None => {
                    return Err(WorkspaceError::UnrelatedHistory { branch: branch.clone(), base: base.clone() });
                }
                // The base contains the whole branch, as after a merge: there is no earlier work to continue.
                Some(fork) if fork == *tip => (base.clone(), base.clone()),
                Some(fork) => (fork, tip.clone()),
            },
        };
        let patterns = self.git.patterns(GitDir::Mirror(mirror), &self.part, &base, &[&start]).await?;
        self.complete(remote, &[&base, &start], patterns.as_ref()).await?;
        Ok(Sources { base, start, pushed })
    }

    /// Makes the branch of a checkout, with all its commits, start from `base`, the tip of the branch `onto`, and
    /// checks that out. Uncommitted files are removed. Nothing is pushed.
    ///
    /// # Errors
    /// [`WorkspaceError::Busy`], or what the server, the git library and the disk say.
    pub async fn update(
        &self,
        checkout: &mut Checkout,
        remote: &Remote,
        onto: &BranchName,
        base: &Sha,
        updater: Updater,
    ) -> Result<BranchUpdate, WorkspaceError> {
        if checkout.base() == base {
            return Ok(BranchUpdate::UpToDate);
        }
        let (fork, start, tip) = (checkout.base().clone(), checkout.start().clone(), checkout.tip().await?);
        let commits = to_replay(checkout.git_dir(), &fork, &start, &updater.identity).await?;
        // Commits that were never pushed have their files here.
        let needed: Vec<&Sha> = commits.iter().chain([base, &fork, &start]).collect();
        let heads: Vec<&Sha> = commits.iter().chain([&start, &tip]).collect();
        let patterns = checkout.patterns(&fork, &heads).await?;
        self.complete(remote, &needed, patterns.as_ref()).await?;
        let names = Names { branch: checkout.branch().to_string(), base: onto.to_string() };
        // To recognise a file that moved, those that are not downloaded would have to be read.
        let finds_moves = patterns.is_none();
        let updated = update::update(checkout.git_dir(), [&fork, base, &tip], names, updater, finds_moves).await?;
        checkout.move_to(base.clone(), updated.tip, updated.unresolved).await?;
        Ok(updated.update)
    }

    /// The profiles of `base`, a fetched commit: at most `max` files of each place. If the mirror lacks the content of
    /// one, it is fetched from the server.
    ///
    /// # Errors
    /// [`WorkspaceError::Busy`] if the server has to be asked, or errors of the server, the git library and the disk.
    pub async fn profile_files(&self, remote: &Remote, base: &Sha, max: usize) -> Result<ProfileFiles, WorkspaceError> {
        let objects = mirror_folder(&self.root, remote.repo()).join("objects");
        let found = profiles::found(&objects, base, max).await?;
        if found.incomplete.is_empty() {
            return Ok(found.files);
        }
        self.complete(remote, &found.incomplete.iter().collect::<Vec<_>>(), None).await?;
        Ok(profiles::found(&objects, base, max).await?.files)
    }

    /// The issue forms of `base`, a fetched commit, by their names: at most 30. If the mirror lacks the content of one,
    /// it is fetched from the server.
    ///
    /// # Errors
    /// Those of [`profile_files`](Self::profile_files).
    pub async fn issue_forms(&self, remote: &Remote, base: &Sha) -> Result<Vec<NamedFile>, WorkspaceError> {
        let objects = mirror_folder(&self.root, remote.repo()).join("objects");
        let read = || profiles::files_in(&objects, base, FORMS, is_form_file, FORMS_MAX);
        let (files, incomplete) = read().await?;
        let Some(folder) = incomplete else { return Ok(files) };
        self.complete(remote, &[&folder], None).await?;
        Ok(read().await?.0)
    }

    /// Fetches the files of `commits`, or of folders of theirs, that the mirror lacks; with `patterns` only those that these match.
    async fn complete(
        &self,
        remote: &Remote,
        commits: &[&Sha],
        patterns: Option<&Patterns>,
    ) -> Result<(), WorkspaceError> {
        let _turn = self.turn(remote.repo()).await?;
        mirror::complete(&self.git, &mirror_folder(&self.root, remote.repo()), remote, commits, patterns).await
    }

    /// Asks git for its version, such as `2.47.3`: Hob needs 2.34 or later.
    ///
    /// # Errors
    /// [`WorkspaceError::Process`] if git is not installed.
    pub async fn git_version(&self) -> Result<String, WorkspaceError> {
        let said = done("ask git for its version", self.git.local(GitDir::None(&self.root))?.arg("version")).await?;
        Ok(said.split_whitespace().nth(2).unwrap_or_default().to_owned())
    }

    /// Checks that git reaches the repository at `remote`.
    ///
    /// # Errors
    /// The server's error.
    pub async fn reach(&self, remote: &Remote) -> Result<(), WorkspaceError> {
        let route = self.git.route(remote, Right::Fetch)?;
        let command = self
            .git
            .remote(GitDir::None(&self.root), &route)?
            .args(["ls-remote", "--quiet", "--heads"])
            .arg(route.url());
        exchange("reach the repository", &route, &self.root, command.arg("refs/heads/none")).await.map(drop)
    }

    /// How long a transfer may take.
    pub fn transfer_time(&self) -> Duration {
        self.git.settings().transfer_time
    }

    /// Checks that the state folder can be written to.
    ///
    /// # Errors
    /// [`WorkspaceError::Disk`] if it cannot.
    pub async fn try_writing(&self) -> Result<(), WorkspaceError> {
        // Of its own name: the workers of a process's repositories try at the same time.
        static TRIES: AtomicU64 = AtomicU64::new(0);
        let (process, number) = (std::process::id(), TRIES.fetch_add(1, Ordering::Relaxed));
        let file = self.root.join(format!("writable-{process}-{number}"));
        blocking("write to the state folder", move || {
            write(&file, "")?;
            remove(&file)
        })
        .await
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn git(&self) -> &Git {
        &self.git
    }

    pub(super) fn secrets(&self) -> &KnownSecrets {
        &self.secrets
    }

    pub(super) fn in_use(&self) -> &InUse {
        &self.in_use
    }

    /// Waits for other tasks of this process, then takes the lock that other processes see. The wait ends: each of
    /// those tasks has a deadline.
    async fn turn(&self, repo: &RepoName) -> Result<Turn, WorkspaceError> {
        let queue = {
            let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
            queues.entry(repo.clone()).or_default().clone()
        };
        let queue = queue.lock_owned().await;
        Ok(Turn { _lock: MirrorLock::take(&self.root, repo).await?, _queue: queue })
    }
}

/// Whether a file of the folder is a form: `config.yml` configures the page on which people choose one.
fn is_form_file(name: &str) -> bool {
    let stem = name.strip_suffix(".yml").or_else(|| name.strip_suffix(".yaml"));
    stem.is_some_and(|stem| stem != "config")
}

/// The right to change a mirror. The lock is dropped first: the next in the queue must find it free.
struct Turn {
    _lock: MirrorLock,
    _queue: tokio::sync::OwnedMutexGuard<()>,
}
