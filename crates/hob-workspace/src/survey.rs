//! A look at the agent's folder before git's rules for it are read.
//!
//! Git's library opens `.gitignore` and `.gitattributes` in each folder that it visits, waits for whoever writes to a pipe,
//! and goes as deep as the folders do. So nobody but this look decides that it may.

use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt, path::Path};

use hob_domain::shown_path;

use crate::{UnfitWork, WorkspaceError, error::disk};

/// The files that git's library reads while it compares a folder.
const RULES: [&str; 2] = [".gitignore", ".gitattributes"];
/// Bytes of a file of rules; the largest known are a few KiB.
const LARGEST_RULES: u64 = 1 << 20;
/// Folders in folders. A path has at most 4,096 bytes in Linux, and the deepest packages some 50 folders.
const DEEPEST: usize = 200;

/// Refuses what git's library cannot be shown.
pub(super) fn survey(tree: &Path) -> Result<(), WorkspaceError> {
    let shown = |path: &Path| shown_path(path.strip_prefix(tree).unwrap_or(path).as_os_str().as_bytes());
    let mut folders = vec![(tree.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(disk("read", &folder))? {
            let entry = entry.map_err(disk("read", &folder))?;
            let path = entry.path();
            let kind = entry.file_type().map_err(disk("look at", &path))?;
            if RULES.iter().any(|name| entry.file_name() == *name) {
                // Where a link leads: git's library follows it.
                let unfit = fs::metadata(&path).is_ok_and(|found| !found.is_file() || found.len() > LARGEST_RULES);
                if unfit {
                    return Err(UnfitWork::Rules { path: shown(&path), limit: LARGEST_RULES }.into());
                }
            } else if kind.is_dir() && entry.file_name() != OsStr::new(".git") {
                if depth == DEEPEST {
                    // The whole path would fill a screen.
                    let top = folder.strip_prefix(tree).ok().and_then(|inside| inside.iter().next());
                    return Err(
                        UnfitWork::TooDeep { path: shown(Path::new(top.unwrap_or_default())), limit: DEEPEST }.into()
                    );
                }
                folders.push((path, depth + 1));
            }
        }
    }
    Ok(())
}
