//! A check of the agent's folder before git's rules for it are read.
//!
//! Git's library opens `.gitignore` and `.gitattributes` in each folder that it visits, blocks on pipes, and descends
//! to any depth. So this check runs first and decides whether it may.

use std::{
    ffi::OsStr,
    fs,
    io::ErrorKind,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    rc::Rc,
};

use git2::Repository;
use hob_domain::shown_path;
use hob_process::Folder;
use rustix::fs::Access;

use crate::{UnfitWork, WorkspaceError, error::disk};

/// The files that git's library reads while it compares a folder.
const RULES: [&str; 2] = [".gitignore", ".gitattributes"];
/// Bytes of a file of rules; the largest known are a few KiB.
const LARGEST_RULES: u64 = 1 << 20;
/// The most nested folders. A path has at most 4,096 bytes in Linux, and the deepest packages some 50 folders.
pub(super) const DEEPEST: usize = 200;

/// Refuses files that git's library must not see, and returns the folders that it may not read.
pub(super) fn survey(tree: &Path) -> Result<Vec<PathBuf>, WorkspaceError> {
    let failed = || disk("look through", tree);
    let mut locked = Vec::new();
    // A folder stays open while folders in it wait for their turn.
    let top = Rc::new(Folder::open(tree).map_err(failed())?);
    let mut waiting = Vec::new();
    let mut next = Some((top, PathBuf::new(), 0));
    while let Some((folder, inside, depth)) = next.take() {
        for entry in folder.entries().map_err(failed())? {
            let name = entry.name();
            if RULES.iter().any(|rules| name == *rules) {
                // The target's size, because git's library follows the link.
                let size = folder.size_of_file(name.as_os_str()).map_err(failed())?;
                if size.is_some_and(|bytes| bytes.is_none_or(|bytes| bytes > LARGEST_RULES)) {
                    let path = shown(&inside.join(&name));
                    return Err(UnfitWork::Rules { path, limit: LARGEST_RULES }.into());
                }
            } else if entry.is_folder() && name != OsStr::new(".git") {
                if depth == DEEPEST {
                    // The whole path would fill a screen.
                    let top = inside.iter().next().unwrap_or_default();
                    return Err(UnfitWork::TooDeep { path: shown(Path::new(top)), limit: DEEPEST }.into());
                }
                waiting.push((Rc::clone(&folder), inside.join(name), depth + 1));
            }
        }
        drop(folder);
        while next.is_none()
            && let Some((above, path, depth)) = waiting.pop()
        {
            match above.inner(path.file_name().unwrap_or_default()) {
                Ok(folder) => next = folder.map(|folder| (Rc::new(folder), path, depth)),
                Err(error) if error.kind() == ErrorKind::PermissionDenied => locked.push(path),
                Err(error) => return Err(failed()(error)),
            }
        }
    }
    Ok(locked)
}

/// The first file that git must read and may not.
pub(super) fn unreadable(repo: &Repository, tree: &Path) -> Option<PathBuf> {
    let mut folders = vec![tree.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let (path, kind) = (entry.path(), entry.file_type().ok());
            let inside = path.strip_prefix(tree).unwrap_or(&path);
            let can_be_read = || rustix::fs::access(&path, Access::READ_OK).is_ok();
            if kind.is_some_and(|kind| kind.is_file()) && !can_be_read() && !is_ignored(repo, inside) {
                return Some(inside.to_owned());
            }
            if kind.is_some_and(|kind| kind.is_dir()) && entry.file_name() != OsStr::new(".git") {
                folders.push(path);
            }
        }
    }
    None
}

/// Whether git ignores the file, or the folder.
pub(super) fn is_ignored(repo: &Repository, path: &Path) -> bool {
    // A rule such as `target/` is about folders, which end with a slash here.
    [path.to_owned(), path.join("")].iter().any(|path| repo.is_path_ignored(path).unwrap_or(false))
}

fn shown(path: &Path) -> String {
    shown_path(path.as_os_str().as_bytes())
}
