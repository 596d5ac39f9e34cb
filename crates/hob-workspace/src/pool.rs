//! Trees that no issue needs any more, for issues that need one: to clean a tree takes a tenth of the time that it
//! takes to make one.
//!
//! ```text
//! ROOT/OWNER/NAME/free/trees/K/{files,index}    agents' folders, and the record of what git wrote there
//! ROOT/OWNER/NAME/free/proofs/K/{files,index}   folders of checks
//! ```
//!
//! - Guarantees: a tree belongs to one issue or to none, because one rename of its folder takes or frees it. There are
//!   no more free ones of a kind than names for them, for all processes that share the folder. Folders of checks become
//!   folders of checks only.
//! - Assumptions: the issue that takes one trusts nothing in it, see [`crate::intact`]. So it does not matter in which state an
//!   issue, or a process that was killed, left it; nor whether its record is that of another tree.

use std::{fs, path::Path};

use hob_process::unlock_folders;

use crate::{
    WorkspaceError,
    error::disk,
    layout::{IssueFolder, Kind, make, moved, remove, throw_away},
};

/// The names in the folder of a free tree.
const FILES: &str = "files";
const INDEX: &str = "index";

/// Frees a tree of an issue that nobody uses; if there are `most` free ones already, it goes to the trash.
pub(super) fn put(issue: &IssueFolder, kind: Kind, most: usize) -> Result<(), WorkspaceError> {
    let (tree, record) = (issue.place(kind), issue.record(kind));
    // Without a record all of it would have to be written again.
    if most == 0 || !is_folder(&tree) || !record.is_file() {
        return Ok(());
    }
    let freed = tree.with_extension("freed");
    // What a crash left there.
    discard(&freed, issue)?;
    make(&freed)?;
    moved(&record, &freed.join(INDEX))?;
    // A folder that is moved is written to: its entry `..` changes. A child can have locked it.
    unlock_folders(&tree, 0).map_err(disk("unlock", &tree))?;
    moved(&tree, &freed.join(FILES))?;
    let free = issue.free(kind);
    make(&free)?;
    // A name that has a folder with something in it cannot be taken.
    if (0..most).any(|name| fs::rename(&freed, free.join(name.to_string())).is_ok()) {
        return Ok(());
    }
    discard(&freed, issue)
}

/// Makes a free tree an issue's, which has none of this kind; returns whether there was one.
pub(super) fn take(issue: &IssueFolder, kind: Kind) -> Result<bool, WorkspaceError> {
    // The trees of an issue are taken at the same time.
    let taken = issue.place(kind).with_extension("taken");
    discard(&taken, issue)?;
    let Ok(free) = fs::read_dir(issue.free(kind)) else { return Ok(false) };
    for name in free.flatten() {
        // Another process may have been faster.
        if fs::rename(name.path(), &taken).is_err() {
            continue;
        }
        let (files, index) = (taken.join(FILES), taken.join(INDEX));
        if is_folder(&files) && index.is_file() && unlock_folders(&files, 0).is_ok() {
            moved(&index, &issue.record(kind))?;
            moved(&files, &issue.place(kind))?;
            remove(&taken)?;
            return Ok(true);
        }
        discard(&taken, issue)?;
    }
    Ok(false)
}

/// Moves a tree to the trash, which is emptied beside the work.
pub(super) fn discard(place: &Path, issue: &IssueFolder) -> Result<(), WorkspaceError> {
    match fs::symlink_metadata(place) {
        Ok(_) => throw_away(place, &issue.repo().join("trash")),
        Err(_) => Ok(()),
    }
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

#[cfg(test)]
mod tests {
    use std::{path::PathBuf, sync::Barrier, thread::scope};

    use super::*;

    const ISSUES: usize = 8;
    const FREE: usize = 3;

    fn with_tree(root: &Path, issue: usize) -> IssueFolder {
        let folder = IssueFolder(root.join("issues").join(issue.to_string()));
        make(&folder.place(Kind::Agent)).unwrap();
        fs::write(folder.place(Kind::Agent).join("from"), issue.to_string()).unwrap();
        fs::write(folder.record(Kind::Agent), issue.to_string()).unwrap();
        folder
    }

    /// Processes share nothing but the folder, and neither do these threads.
    #[test]
    fn a_tree_goes_to_one_of_those_that_want_it_and_the_bound_holds_for_all_that_free() {
        let place = tempfile::tempdir().unwrap();
        let at_once = |does: &(dyn Fn(usize) + Sync)| {
            let barrier = Barrier::new(ISSUES);
            scope(|scope| {
                for issue in 0..ISSUES {
                    let barrier = &barrier;
                    scope.spawn(move || {
                        barrier.wait();
                        does(issue);
                    });
                }
            });
        };
        let free = || fs::read_dir(place.path().join("free/trees")).unwrap().count();
        for _ in 0..20 {
            remove(&place.path().join("issues")).unwrap();
            let issues: Vec<_> = (0..ISSUES).map(|issue| with_tree(place.path(), issue)).collect();
            at_once(&|issue| put(&issues[issue], Kind::Agent, FREE).unwrap());
            assert_eq!(free(), FREE);
            at_once(&|issue| {
                let is_taken = take(&issues[issue], Kind::Agent).unwrap();
                assert_eq!(is_taken, issues[issue].place(Kind::Agent).exists());
            });
            let trees: Vec<PathBuf> =
                issues.iter().map(|issue| issue.place(Kind::Agent)).filter(|p| p.exists()).collect();
            assert_eq!((trees.len(), free()), (FREE, 0));
            for tree in trees {
                let from = fs::read_to_string(tree.join("from")).unwrap();
                assert_eq!(fs::read_to_string(tree.with_extension("index")).unwrap(), from);
            }
        }
    }
}
