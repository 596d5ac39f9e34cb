//! What the set-up steps of a repository left, kept for all runs that need the same.
//!
//! - Flow: steps run in the proof's folder and in an empty home, see [`Checkout::begin_preparing`]; what they left becomes a
//!   [`Prepared`]; it is copied into a folder before an agent or a check works there.
//! - Guarantees: it is whole, or not there; nobody who works with a copy changes it; a repository keeps a few.
//! - Caveats: programs that wrote the path of their folder into a file find it changed.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use git2::{ObjectType, Oid};
use hob_domain::Sha;
use hob_process::copy_tree;

use crate::{
    Checkout, WorkspaceError,
    error::{disk, library},
    git_dir,
    layout::{blocking, make, remove},
    object_id::oid,
    survey::survey,
};

/// How many a repository keeps: branches under way may differ in what they need.
const KEPT: usize = 4;

/// What set-up steps left.
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

    /// Copies the new files of their checkout into `folder`, where it does not have them.
    ///
    /// # Errors
    /// The system's.
    pub async fn copy_files(&self, folder: &Path) -> Result<(), WorkspaceError> {
        let (files, folder) = (self.files(), folder.to_owned());
        blocking("copy what the set-up steps left", move || copy_tree(&files, &folder).map_err(disk("fill", &folder)))
            .await
    }
}

/// A place where set-up steps work.
#[derive(Debug)]
pub struct Preparing {
    /// The clean checkout.
    pub folder: PathBuf,
    /// The empty home.
    pub home: PathBuf,
    place: tempfile::TempDir,
    kept: PathBuf,
    sha: Sha,
}

impl Checkout {
    /// The name of what `steps` leave that depend on the files `key` of the commit `sha`.
    ///
    /// # Errors
    /// [`WorkspaceError::Library`] when the commit is not there.
    pub async fn setup_key(&self, sha: &Sha, steps: &[String], key: &[String]) -> Result<String, WorkspaceError> {
        let (git, sha, steps, key) = (self.git_dir(), oid(sha)?, steps.to_vec(), key.to_vec());
        blocking("look at what set-up depends on", move || {
            let repo = git_dir::open(&git, "open the issue's git directory")?;
            let tree = repo.find_commit(sha).and_then(|commit| commit.tree());
            let tree = tree.map_err(library("read the commit's files"))?;
            let content =
                |path: &String| tree.get_path(Path::new(path)).map_or_else(|_| Oid::ZERO_SHA1, |entry| entry.id());
            let contents: Vec<String> = key.iter().map(|path| format!("{path}={}", content(path))).collect();
            let text = format!("{steps:?}\n{contents:?}");
            let name = Oid::hash_object(ObjectType::Blob, text.as_bytes()).map_err(library("name the set-up"))?;
            Ok(name.to_string())
        })
        .await
    }

    /// What was kept under the name `key`; it counts as used now.
    ///
    /// # Errors
    /// [`WorkspaceError::Disk`] when the disk fails.
    pub async fn prepared(&self, key: &str) -> Result<Option<Prepared>, WorkspaceError> {
        let place = self.issue_folder().prepared().join(key);
        blocking("look for what set-up steps left", move || {
            match fs::File::open(&place).and_then(|folder| folder.set_modified(now())) {
                Ok(()) => Ok(Some(Prepared(place))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(disk("look at", &place)(error)),
            }
        })
        .await
    }

    /// Makes a place for the steps whose result is kept under the name `key`, with the commit `sha` checked out.
    ///
    /// # Errors
    /// What git and the disk say.
    pub async fn begin_preparing(&self, key: &str, sha: &Sha) -> Result<Preparing, WorkspaceError> {
        let folder = self.proof(sha).await?;
        let (all, sha, key) = (self.issue_folder().prepared(), sha.clone(), key.to_owned());
        blocking("make a place for set-up steps", move || {
            make(&all)?;
            let place = tempfile::Builder::new().prefix(".making-").tempdir_in(&all).map_err(disk("make", &all))?;
            let home = place.path().join("home");
            make(&home)?;
            Ok(Preparing { folder, home, place, kept: all.join(key), sha })
        })
        .await
    }

    /// Keeps what the steps left. Where somebody else did so meanwhile, theirs is kept.
    ///
    /// # Errors
    /// [`WorkspaceError::Library`], [`WorkspaceError::Disk`], and [`WorkspaceError::Unfit`] for folders without end.
    pub async fn keep_prepared(&self, made: Preparing) -> Result<Prepared, WorkspaceError> {
        let (git, sha) = (self.git_dir(), oid(&made.sha)?);
        blocking("keep what the set-up steps left", move || {
            survey(&made.folder)?;
            let repo = git_dir::open(&git, "open the issue's git directory")?;
            let tree = repo.find_commit(sha).and_then(|commit| commit.tree());
            let tree = tree.map_err(library("read the commit's files"))?;
            let files = made.place.path().join("files");
            make(&files)?;
            let mut folders = vec![PathBuf::new()];
            while let Some(inside) = folders.pop() {
                let folder = made.folder.join(&inside);
                for entry in fs::read_dir(&folder).map_err(disk("read", &folder))? {
                    let entry = entry.map_err(disk("read", &folder))?;
                    let path = inside.join(entry.file_name());
                    if entry.file_name() == ".git" {
                        continue;
                    }
                    match tree.get_path(&path) {
                        Ok(known) if known.kind() == Some(ObjectType::Tree) => {
                            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                                folders.push(path);
                            }
                        }
                        Ok(_file) => {}
                        Err(_new) => {
                            make(&files.join(&inside))?;
                            fs::rename(entry.path(), files.join(&path)).map_err(disk("move", entry.path()))?;
                        }
                    }
                }
            }
            match fs::rename(made.place.path(), &made.kept) {
                Ok(()) => drop(made.place.keep()),
                Err(_) if made.kept.is_dir() => {}
                Err(error) => return Err(disk("rename", made.place.path())(error)),
            }
            forget_old(made.kept.parent().unwrap_or(&made.kept))?;
            Ok(Prepared(made.kept))
        })
        .await
    }

    /// Copies of what set-up steps left that into the agent's folder which git ignores there: the rest would be its work.
    ///
    /// # Errors
    /// [`WorkspaceError::Library`] and [`WorkspaceError::Disk`].
    pub async fn take_prepared(&self, prepared: &Prepared) -> Result<(), WorkspaceError> {
        let (git, tree, files) = (self.git_dir(), self.folder().to_owned(), prepared.files());
        blocking("copy what the set-up steps left", move || {
            survey(&tree)?;
            let repo = git_dir::open(&git, "open the issue's git directory")?;
            repo.set_workdir(&tree, false).map_err(library("look at the agent's folder"))?;
            let mut folders = vec![PathBuf::new()];
            while let Some(inside) = folders.pop() {
                let folder = files.join(&inside);
                for entry in fs::read_dir(&folder).map_err(disk("read", &folder))? {
                    let entry = entry.map_err(disk("read", &folder))?;
                    let (path, is_folder) =
                        (inside.join(entry.file_name()), entry.file_type().is_ok_and(|kind| kind.is_dir()));
                    // A rule such as `node_modules/` is about folders, and those are told by their slash.
                    let asked = if is_folder { path.join("") } else { path.clone() };
                    let place = tree.join(&path);
                    if repo.is_path_ignored(&asked).map_err(library("read what is ignored"))? {
                        if place.symlink_metadata().is_ok() {
                            continue;
                        }
                        let parent = place.parent().unwrap_or(&tree);
                        if !parent.symlink_metadata().is_ok_and(|found| found.is_dir()) {
                            continue;
                        }
                        copy_one(&entry.path(), &place, is_folder).map_err(disk("fill", &place))?;
                    } else if is_folder {
                        folders.push(path);
                    }
                }
            }
            Ok(())
        })
        .await
    }
}

fn copy_one(from: &Path, to: &Path, is_folder: bool) -> io::Result<()> {
    if is_folder {
        fs::create_dir(to)?;
        return copy_tree(from, to);
    }
    if from.symlink_metadata()?.is_file() { fs::copy(from, to).map(drop) } else { Ok(()) }
}

/// Removes all but those that were used last, and what nobody finished.
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
