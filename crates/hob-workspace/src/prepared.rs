//! The results of a repository's set-up steps, kept for all runs that need the same.
//!
//! - Flow: steps run in the proof's folder and in an empty home, see [`Checkout::begin_preparing`]; their result
//!   becomes a [`Prepared`], which is copied into a folder before an agent or a check works there.
//! - Guarantees: it is whole or absent; working with a copy does not change it; a repository keeps a few. What several
//!   issues share was made from a commit of the base branch; what an issue's own commit needs belongs to that issue.
//! - Caveats: programs that wrote the path of their folder into a file find that it has changed.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use git2::{ObjectType, Oid, Repository, Tree};
use hob_domain::Sha;
use hob_process::{Folder, copy_tree};

use crate::{
    Checkout, WorkspaceError,
    error::{disk, library},
    git_dir,
    layout::{blocking, make, remove},
    object_id::oid,
    survey::survey,
};

/// The number that a repository keeps: branches under way may have different needs.
const KEPT: usize = 4;
/// Characters that end a word in a shell, beside white space.
const SHELL: &str = ";&|()<>'\"`=,";

/// The result of set-up steps.
#[derive(Debug, Clone)]
pub struct Prepared(PathBuf);

impl Prepared {
    /// The home that they had.
    pub fn home(&self) -> PathBuf {
        self.0.join("home")
    }

    fn files(&self) -> PathBuf {
        self.0.join("files")
    }

    /// Copies the new files of their checkout that `folder` does not have.
    ///
    /// # Errors
    /// The system's error.
    pub async fn copy_files(&self, folder: &Path) -> Result<(), WorkspaceError> {
        let (files, folder) = (self.files(), folder.to_owned());
        blocking("copy what the set-up steps left", move || copy_tree(&files, &folder).map_err(disk("fill", &folder)))
            .await
    }
}

/// The commit that the steps prepare from, and the folder of their result.
#[derive(Debug, Clone)]
pub struct Source {
    commit: Sha,
    of_base: bool,
    kept: PathBuf,
}

impl Source {
    /// Whether it is a commit of the base branch.
    pub fn is_the_base(&self) -> bool {
        self.of_base
    }
}

/// The folders in which set-up steps work.
#[derive(Debug)]
pub struct Preparing {
    /// The clean checkout.
    pub folder: PathBuf,
    /// The empty home.
    pub home: PathBuf,
    place: tempfile::TempDir,
    source: Source,
}

impl Checkout {
    /// The source from which `steps` prepare for the commit `sha`. They depend on the files `key`, and on those that
    /// they name. If all of these are as in the base of this work, that base is prepared, for all issues: other files
    /// of this commit may affect a step too, but must not decide anything for others. Otherwise the commit itself is
    /// prepared, for this issue alone.
    ///
    /// # Errors
    /// [`WorkspaceError::Library`] if a commit does not exist.
    pub async fn source_for(&self, sha: &Sha, steps: &[String], key: &[String]) -> Result<Source, WorkspaceError> {
        let (git, steps, key) = (self.git_dir(), steps.to_vec(), key.to_vec());
        let (sha, base, issue) = (sha.clone(), self.base().clone(), self.issue_folder().clone());
        let part = self.part().named();
        blocking("look at what set-up depends on", move || {
            let repo = git_dir::open(&git, "open the issue's git directory")?;
            let needs = |sha: &Sha| -> Result<String, WorkspaceError> {
                let tree = tree_of(&repo, sha)?;
                let named = steps.iter().flat_map(|step| step.split(|c: char| c.is_whitespace() || SHELL.contains(c)));
                let named = named.map(|word| word.trim_start_matches("./")).filter(|word| !word.is_empty());
                let content = |path: &str| {
                    let found = tree.get_path(Path::new(path)).ok();
                    found.map(|entry| format!("{path}={}", entry.id()))
                };
                let paths = key.iter().map(String::as_str).chain(named);
                Ok(format!("{:?}", paths.filter_map(content).collect::<Vec<_>>()))
            };
            let name = |of: &str| {
                let text = format!("{steps:?}\n{of}{part}");
                Oid::hash_object(ObjectType::Blob, text.as_bytes()).map_err(library("name the set-up"))
            };
            let shared = needs(&base)?;
            if needs(&sha)? == shared {
                return Ok(Source {
                    commit: base,
                    of_base: true,
                    kept: issue.prepared().join(name(&shared)?.to_string()),
                });
            }
            let own = name(&tree_of(&repo, &sha)?.id().to_string())?;
            Ok(Source { commit: sha, of_base: false, kept: issue.own_prepared().join(own.to_string()) })
        })
        .await
    }

    /// The kept result of this source; it counts as used now.
    ///
    /// # Errors
    /// [`WorkspaceError::Disk`] if the disk fails.
    pub async fn prepared(&self, source: &Source) -> Result<Option<Prepared>, WorkspaceError> {
        let place = source.kept.clone();
        blocking("look for what set-up steps left", move || {
            match fs::File::open(&place).and_then(|folder| folder.set_modified(now())) {
                Ok(()) => Ok(Some(Prepared(place))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(disk("look at", &place)(error)),
            }
        })
        .await
    }

    /// Makes folders for the steps, with the commit checked out.
    ///
    /// # Errors
    /// Errors of git and the disk.
    pub async fn begin_preparing(&self, source: Source) -> Result<Preparing, WorkspaceError> {
        let folder = self.proof(&source.commit).await?;
        blocking("make a place for set-up steps", move || {
            let all = source.kept.parent().unwrap_or(&source.kept);
            make(all)?;
            let place = tempfile::Builder::new().prefix(".making-").tempdir_in(all).map_err(disk("make", all))?;
            let home = place.path().join("home");
            make(&home)?;
            Ok(Preparing { folder, home, place, source })
        })
        .await
    }

    /// Keeps the steps' result. If another process kept one meanwhile, that one stays.
    ///
    /// # Errors
    /// [`WorkspaceError::Library`], [`WorkspaceError::Disk`], and [`WorkspaceError::Unfit`] for folders that are too
    /// deep.
    pub async fn keep_prepared(&self, made: Preparing) -> Result<Prepared, WorkspaceError> {
        let git = self.git_dir();
        blocking("keep what the set-up steps left", move || {
            survey(&made.folder)?;
            let repo = git_dir::open(&git, "open the issue's git directory")?;
            let tree = tree_of(&repo, &made.source.commit)?;
            let files = made.place.path().join("files");
            make(&files)?;
            let from = Folder::open(&made.folder).map_err(disk("read", &made.folder))?;
            let to = || Folder::open(&files).map(Some);
            move_new(&tree, Path::new(""), &from, &to).map_err(disk("move", &made.folder))?;
            let kept = made.source.kept;
            match fs::rename(made.place.path(), &kept) {
                Ok(()) => drop(made.place.keep()),
                Err(_) if kept.is_dir() => {}
                Err(error) => return Err(disk("rename", made.place.path())(error)),
            }
            forget_old(kept.parent().unwrap_or(&kept))?;
            Ok(Prepared(kept))
        })
        .await
    }

    /// Copies the steps' results into the agent's folder, but only what git ignores there: the rest would become its
    /// work.
    ///
    /// # Errors
    /// [`WorkspaceError::Library`] and [`WorkspaceError::Disk`].
    pub async fn take_prepared(&self, prepared: &Prepared) -> Result<(), WorkspaceError> {
        let (git, tree, files) = (self.git_dir(), self.folder().to_owned(), prepared.files());
        blocking("copy what the set-up steps left", move || {
            survey(&tree)?;
            let repo = git_dir::open(&git, "open the issue's git directory")?;
            repo.set_workdir(&tree, false).map_err(library("look at the agent's folder"))?;
            let from = Folder::open(&files).map_err(disk("read", &files))?;
            let to = Folder::open(&tree).map_err(disk("fill", &tree))?;
            copy_ignored(&repo, Path::new(""), &from, &to).map_err(disk("fill", &tree))
        })
        .await
    }
}

fn tree_of<'a>(repo: &'a Repository, sha: &Sha) -> Result<Tree<'a>, WorkspaceError> {
    let tree = repo.find_commit(oid(sha)?).and_then(|commit| commit.tree());
    tree.map_err(library("read the commit's files"))
}

/// Moves what the commit does not have. A folder is made in `to` only if something is moved into it. It goes as deep as
/// [`survey`] allows.
fn move_new(
    tree: &Tree<'_>,
    inside: &Path,
    from: &Folder,
    to: &dyn Fn() -> io::Result<Option<Folder>>,
) -> io::Result<()> {
    for entry in from.entries()? {
        let name = entry.name();
        let path = inside.join(&name);
        if name == ".git" {
            continue;
        }
        match tree.get_path(&path) {
            Ok(known) if known.kind() == Some(ObjectType::Tree) => {
                if let Some(inner) = from.inner(name.as_os_str())? {
                    let into = || to()?.map_or(Ok(None), |to| to.made(name.as_os_str()));
                    move_new(tree, &path, &inner, &into)?;
                }
            }
            Ok(_file) => {}
            Err(_new) => {
                if let Some(to) = to()?
                    && !from.moves(&entry, &to)?
                {
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
            }
        }
    }
    Ok(())
}

/// Copies what git ignores in the folder `inside`, and in those below it that both have.
fn copy_ignored(repo: &Repository, inside: &Path, from: &Folder, to: &Folder) -> io::Result<()> {
    for entry in from.entries()? {
        let name = entry.name();
        let path = inside.join(&name);
        // A rule such as `node_modules/` is about folders, which end with a slash here.
        let asked = if entry.is_folder() { path.join("") } else { path.clone() };
        if repo.is_path_ignored(&asked).map_err(io::Error::other)? {
            if !to.has(name.as_os_str())? {
                from.copies(&entry, to)?;
            }
        } else if entry.is_folder()
            && let (Some(from), Some(to)) = (from.inner(name.as_os_str())?, to.inner(name.as_os_str())?)
        {
            copy_ignored(repo, &path, &from, &to)?;
        }
    }
    Ok(())
}

/// Removes all but the most recently used ones, and unfinished ones.
fn forget_old(all: &Path) -> Result<(), WorkspaceError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(all).map_err(disk("read", all))?.flatten() {
        let used = entry.metadata().and_then(|found| found.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        found.push((used, entry.path()));
    }
    found.sort_unstable_by_key(|(used, _)| std::cmp::Reverse(*used));
    found.into_iter().skip(KEPT).try_for_each(|(_, path)| remove(&path))
}

fn now() -> SystemTime {
    #[expect(clippy::disallowed_methods, reason = "as old as the disk says of other folders")]
    SystemTime::now()
}
