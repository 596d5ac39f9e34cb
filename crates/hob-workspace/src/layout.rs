//! The paths on disk, and the making and removing of folders. Every path is built from checked names.
//!
//! ```text
//! ROOT/OWNER/NAME/mirror.git          Hob's: what the server has, without file contents where it can be
//! ROOT/OWNER/NAME/ledgers.git         Hob's: commits of the ledger, while many are read at once
//! ROOT/OWNER/NAME/lock                held while either of them is changed
//! ROOT/OWNER/NAME/issues/N/git        Hob's: branch, index and new objects of the issue
//! ROOT/OWNER/NAME/issues/N/tree       the agent's folder, with a throwaway `.git`
//! ROOT/OWNER/NAME/issues/N/tree.index the index as git wrote it when it filled that folder
//! ROOT/OWNER/NAME/issues/N/proof      where the checks run; `proof.index` is its index
//! ROOT/OWNER/NAME/issues/N/aside      the agent's folder of an earlier candidate, which may still be chosen
//! ROOT/OWNER/NAME/issues/N/prepared/KEY  what set-up steps left of the issue's own commits
//! ROOT/OWNER/NAME/prepared/KEY        what they left of the base branch's: `home`, and new `files` of the checkout
//! ROOT/OWNER/NAME/free                trees that no issue needs, see [`crate::pool`]
//! ROOT/OWNER/NAME/trash               folders that are to be removed
//! ```

use std::{
    fs,
    io::{self, ErrorKind},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    time::Duration,
};

use hob_domain::{IssueNumber, RepoName};
use hob_process::{Folder, remove_tree, unlock_folders};

use crate::{UnfitWork, WorkspaceError, error::disk, survey::DEEPEST};

/// The folders of one repository.
pub(super) fn repo_folder(root: &Path, repo: &RepoName) -> PathBuf {
    root.join(repo.owner()).join(repo.name())
}

/// The mirror of one repository.
pub(super) fn mirror(root: &Path, repo: &RepoName) -> PathBuf {
    repo_folder(root, repo).join("mirror.git")
}

/// The folder of everything that waits to be removed.
pub(super) fn trash(root: &Path, repo: &RepoName) -> PathBuf {
    repo_folder(root, repo).join("trash")
}

/// The folder of a repository's free trees.
pub(super) fn free(repo: &Path) -> PathBuf {
    repo.join("free")
}

/// The git directory that many commits of the ledger are fetched to.
pub(super) fn ledgers(root: &Path, repo: &RepoName) -> PathBuf {
    repo_folder(root, repo).join("ledgers.git")
}

/// A tree of an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The agent's folder.
    Agent,
    /// The folder of the checks, which no agent writes.
    Proof,
}

/// The folders of one issue.
#[derive(Debug, Clone)]
pub(super) struct IssueFolder(pub(super) PathBuf);

impl IssueFolder {
    pub(super) fn new(root: &Path, repo: &RepoName, issue: IssueNumber) -> Self {
        Self(repo_folder(root, repo).join("issues").join(issue.to_string()))
    }

    pub(super) fn git(&self) -> PathBuf {
        self.0.join("git")
    }

    /// The file with the branch's tip on the server when Hob last saw or moved it.
    pub(super) fn pushed(&self) -> PathBuf {
        self.git().join("pushed")
    }

    pub(super) fn mirror_objects(&self) -> PathBuf {
        self.repo().join("mirror.git/objects")
    }

    /// The folder of the repository's prepared set-ups.
    pub(super) fn prepared(&self) -> PathBuf {
        self.repo().join("prepared")
    }

    /// The folder of the repository.
    pub(super) fn repo(&self) -> &Path {
        self.0.ancestors().nth(2).unwrap_or(&self.0)
    }

    /// The folder of the set-ups prepared from the issue's own commits.
    pub(super) fn own_prepared(&self) -> PathBuf {
        self.0.join("prepared")
    }

    pub(super) fn index(&self) -> PathBuf {
        self.git().join("index")
    }

    pub(super) fn tree(&self) -> PathBuf {
        self.0.join("tree")
    }

    /// The folder of one of its trees.
    pub(super) fn place(&self, kind: Kind) -> PathBuf {
        match kind {
            Kind::Agent => self.tree(),
            Kind::Proof => self.0.join("proof"),
        }
    }

    /// The index by which git filled that folder last, where no child can write.
    pub(super) fn record(&self, kind: Kind) -> PathBuf {
        self.place(kind).with_extension("index")
    }

    /// The repository's free trees of a kind.
    pub(super) fn free(&self, kind: Kind) -> PathBuf {
        let name = match kind {
            Kind::Agent => "trees",
            Kind::Proof => "proofs",
        };
        free(self.repo()).join(name)
    }

    pub(super) fn aside(&self) -> PathBuf {
        self.0.join("aside")
    }

    pub(super) fn aside_index(&self) -> PathBuf {
        self.git().join("aside-index")
    }
}

/// Makes a folder and those above it, for the user alone.
pub(super) fn make(folder: &Path) -> Result<(), WorkspaceError> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(disk("make", folder))
}

/// Writes a small file.
pub(super) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), WorkspaceError> {
    fs::write(path, content).map_err(disk("write", path))
}

/// Gives a folder or file of Hob's another name. A file that has that name is replaced.
pub(super) fn moved(from: &Path, to: &Path) -> Result<(), WorkspaceError> {
    fs::rename(from, to).map_err(disk("rename", from))
}

/// Removes `path`. Links are removed, not their targets. It is fine if nothing is there.
pub(super) fn remove(path: &Path) -> Result<(), WorkspaceError> {
    remove_tree(path).map_err(disk("remove", path))
}

/// Moves a folder to the trash, under the first free name there.
pub(super) fn throw_away(folder: &Path, trash: &Path) -> Result<(), WorkspaceError> {
    make(trash)?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let mut places = (0_u32..).map(|n| trash.join(format!("{name}-{n}"))).filter(|place| !place.exists());
    loop {
        let place = places.next().unwrap_or_else(|| trash.join(&*name));
        match fs::rename(folder, &place) {
            // Another process was faster to take the name.
            Err(error) if matches!(error.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists) => {}
            done => return done.map_err(disk("rename", folder)),
        }
    }
}

/// Removes what was put aside.
pub(super) fn remove_aside(folder: &IssueFolder) -> Result<(), WorkspaceError> {
    remove(&folder.aside()).and_then(|()| remove(&folder.aside_index()))
}

/// The depth of a repository's folders that a child in a fence may have locked: `mirror.git/objects/xx`,
/// `issues/N/tree`.
const LEVELS: usize = 3;

/// Unlocks a repository's folder and its parents, with the rest of the state folder.
pub(super) fn unlock(repo: &Path) -> Result<(), WorkspaceError> {
    let above = repo.ancestors().skip(1).take(2).zip([0, 1]);
    let all = above.collect::<Vec<_>>().into_iter().rev().chain([(repo, LEVELS)]);
    all.into_iter().try_for_each(|(folder, levels)| unlock_folders(folder, levels).map_err(disk("unlock", folder)))
}

/// Gives a folder that a child could write a new inode, with all its contents. A surviving process of an earlier child
/// only has rights to the old one. It continues after a crash in the middle.
pub(super) fn renew(folder: &Path) -> Result<(), WorkspaceError> {
    let fresh = folder.with_extension("fresh");
    let failed = |path| disk("renew", path);
    match fs::symlink_metadata(folder) {
        Ok(found) if found.is_dir() => {
            make(&fresh)?;
            let (from, to) =
                (Folder::open(folder).map_err(failed(folder))?, Folder::open(&fresh).map_err(failed(&fresh))?);
            for entry in from.entries().map_err(failed(folder))? {
                from.moves(&entry, &to).map_err(failed(folder))?;
            }
            // An entry still here was put here after the crash, by a process that must have no rights here.
            remove(folder)?;
        }
        Ok(_no_folder) => return remove(folder),
        Err(error) if error.kind() == io::ErrorKind::NotFound && fresh.is_dir() => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(folder)(error)),
    }
    fs::rename(&fresh, folder).map_err(failed(folder))
}

/// Removes every `.git` below `folder`, which git's own cleaning leaves in folders with tracked files. A git directory
/// can name a program to run; one that an earlier run left must not reach the next.
pub(super) fn remove_git_folders(folder: &Path) -> Result<(), WorkspaceError> {
    let mut folders = vec![(Folder::open(folder).map_err(disk("read", folder))?, 0)];
    let failed = || disk("remove what is called `.git` in", folder);
    while let Some((folder, depth)) = folders.pop() {
        for entry in folder.entries().map_err(failed())? {
            if entry.name().eq_ignore_ascii_case(".git") {
                folder.removes(&entry.name()).map_err(failed())?;
            } else if entry.is_folder() {
                if depth == DEEPEST {
                    return Err(UnfitWork::TooDeep { path: ".".to_owned(), limit: DEEPEST }.into());
                }
                let inner = folder.inner(entry.name().as_os_str()).map_err(failed())?;
                folders.extend(inner.map(|inner| (inner, depth + 1)));
            }
        }
    }
    Ok(())
}

/// The time limit of disk and git library work. It takes seconds, unless the repository was made to take forever.
const LONGEST: Duration = Duration::from_secs(600);

/// Runs blocking disk or git library work, and waits for it no longer than [`LONGEST`].
pub(super) async fn blocking<T: Send + 'static>(
    doing: &'static str,
    work: impl FnOnce() -> Result<T, WorkspaceError> + Send + 'static,
) -> Result<T, WorkspaceError> {
    within(LONGEST, doing, work).await
}

/// A thread cannot be ended: late work continues by itself, and the issue does not wait for it.
async fn within<T: Send + 'static>(
    limit: Duration,
    doing: &'static str,
    work: impl FnOnce() -> Result<T, WorkspaceError> + Send + 'static,
) -> Result<T, WorkspaceError> {
    match tokio::time::timeout(limit, tokio::task::spawn_blocking(work)).await {
        Ok(ended) => ended.unwrap_or(Err(WorkspaceError::Task { doing })),
        Err(_late) => Err(WorkspaceError::Late { doing, minutes: limit.as_secs() / 60 }),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        os::unix::fs::{MetadataExt, PermissionsExt},
        sync::mpsc,
    };

    use super::*;

    /// Attack corpus K145.
    #[test]
    fn a_folder_that_is_renewed_is_another_with_the_same_content() {
        let place = tempfile::tempdir().unwrap();
        let (folder, fresh) = (place.path().join("tree"), place.path().join("tree.fresh"));
        renew(&folder).unwrap();
        assert!(!folder.exists());
        fs::create_dir_all(folder.join("a/b")).unwrap();
        fs::write(folder.join("a/b/c"), "kept").unwrap();
        let kept = || fs::read_to_string(folder.join("a/b/c")).unwrap() == "kept" && !fresh.exists();
        // The old one stays open, so that its number is not reused.
        let old = fs::File::open(&folder).unwrap().metadata().unwrap().ino();
        let _held = fs::File::open(&folder).unwrap();
        renew(&folder).unwrap();
        assert!(kept() && fs::metadata(&folder).unwrap().ino() != old);
        // The state after a crash: some of it moved, and all of it.
        fs::create_dir(&fresh).unwrap();
        fs::write(fresh.join("moved"), "").unwrap();
        renew(&folder).unwrap();
        assert!(kept() && folder.join("moved").exists());
        fs::rename(&folder, &fresh).unwrap();
        renew(&folder).unwrap();
        assert!(kept());
        // Files that cannot be written are moved; files that appeared since a crash are not.
        fs::create_dir_all(folder.join("locked/in")).unwrap();
        fs::set_permissions(folder.join("locked"), fs::Permissions::from_mode(0o500)).unwrap();
        fs::create_dir_all(fresh.join("a")).unwrap();
        fs::write(fresh.join("a/old"), "").unwrap();
        renew(&folder).unwrap();
        assert!(folder.join("locked/in").exists() && folder.join("a/old").exists() && !folder.join("a/b").exists());
        fs::create_dir_all(folder.join("a/b")).unwrap();
        fs::write(folder.join("a/b/c"), "kept").unwrap();
        // A link leads nowhere.
        fs::rename(&folder, place.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink(place.path().join("elsewhere"), &folder).unwrap();
        renew(&folder).unwrap();
        assert!(folder.symlink_metadata().is_err() && place.path().join("elsewhere/a/b/c").exists());
    }

    #[tokio::test]
    async fn work_that_never_ends_is_not_waited_for() {
        let (end, ends) = mpsc::channel::<()>();
        let late = within(Duration::ZERO, "read the diff", move || Ok(ends.recv().is_err())).await;
        assert_eq!(late.unwrap_err().to_string(), "read the diff: timed out after 0 min");
        drop(end);
    }
}
