//! Removes everything from a folder that a child could write, except files that are as git wrote them, and their entries from
//! the record, so that git compares nothing once more and writes what is missing.
//!
//! The record is the index that git wrote when it filled the folder, kept where no child can write. A file stays if its
//! inode, its size and both of its times are those of the record, to the nanosecond. Each change of a file
//! sets the later of them, the time of its last change, and no child can set it back.
//!
//! Git's own comparison does not suffice: it compares whole seconds, takes what the index says of `assume-unchanged`,
//! and reads a file that is as young as the index in the form that it would commit, in which other line ends and the text
//! in `$Id: …$` do not appear. The time of the index decides how young it is, and a child in a fence can set that.
//!
//! # Caveats
//! - Files that git wrote last may have been changed within the same tick of the clock: they go.
//! - The machine's clock is not set back while children run.
//! - File systems that do not note a change through a mapping at once are not trusted: all files go there. So it is on
//!   tmpfs, and on an overlay whose upper folder is one.
//! - The times of folders are not looked at.

use std::{
    collections::{HashMap, HashSet},
    ffi::OsStr,
    fs::{self, DirBuilder},
    os::unix::{
        ffi::OsStrExt,
        fs::{DirBuilderExt, MetadataExt},
    },
    path::{Path, PathBuf},
    rc::Rc,
};

use git2::{Index, IndexEntry, IndexTime, Oid};
use hob_process::Folder;
use rustix::fs::{RawMode, Stat};

use crate::{
    WorkspaceError,
    error::{disk, library},
    layout::remove,
    part::is_elsewhere,
};

/// File systems of Linux that note every change of a file before it can be read: ext2 to ext4, XFS, Btrfs.
#[cfg(target_os = "linux")]
const TRUSTED: [u32; 3] = [0xef53, 0x5846_5342, 0x9123_683e];

/// The files by which git chose the form of the others: their paths and contents.
pub(super) type Rules = Vec<(Vec<u8>, Oid)>;

/// What a tree is to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// All files of a commit.
    All,
    /// Those that patterns match: the record has the others too.
    Part,
}

/// Removes what is not as `record` says from the folder `tree`, and from the record what is not in the folder then; returns
/// the rules by which git wrote what stays; `None` if nothing stays.
pub(super) fn remove_all_but_intact(tree: &Path, record: &Path, holds: Holds) -> Result<Option<Rules>, WorkspaceError> {
    let failed = || disk("clean", tree);
    // A record that cannot be read says nothing: nothing stays. Git checks out what a record marks only if it is told which part.
    let is_fit = |index: &Index| holds == Holds::Part || !index.iter().any(|entry| is_elsewhere(&entry));
    let index = if is_trusted(tree) { Index::open(record).ok().filter(is_fit) } else { None };
    let mut known = index.as_ref().map(Known::of).unwrap_or_default();
    let mode = mode_of_new_folders(record)?;
    let mut next = Some((Folder::open(tree).map_err(failed())?, PathBuf::new()));
    // A folder stays open while folders in it wait for their turn.
    let mut waiting: Vec<(Rc<Folder>, PathBuf)> = Vec::new();
    while let Some((folder, inside)) = next.take() {
        let folder = Rc::new(folder);
        for entry in folder.entries().map_err(failed())? {
            let path = inside.join(entry.name());
            let found = folder.stat(entry.name().as_os_str()).map_err(failed())?;
            if entry.is_folder() && known.has_folder(&path) && found.st_mode as RawMode & 0o7777 == mode {
                waiting.push((Rc::clone(&folder), path));
            } else if entry.is_folder() || !known.finds_file(&path, &found) {
                folder.removes(&entry.name()).map_err(failed())?;
            }
        }
        drop(folder);
        while next.is_none()
            && let Some((above, path)) = waiting.pop()
        {
            let name = path.file_name().unwrap_or_default();
            match above.inner(name).map_err(failed())? {
                Some(inner) if !inner.has_attributes().map_err(failed())? => next = Some((inner, path)),
                Some(_) | None => above.removes(name).map_err(failed())?,
            }
        }
    }
    match index.filter(|index| known.missing.len() < index.len()) {
        None => remove(record).map(|()| None),
        Some(mut index) => {
            let rules = rules_in(&index);
            known.forget_missing(&mut index).map_err(library("write the index"))?;
            Ok(Some(rules))
        }
    }
}

/// The rules of conversion in an index.
pub(super) fn rules(record: &Path) -> Result<Rules, WorkspaceError> {
    Index::open(record).map(|index| rules_in(&index)).map_err(library("read the index"))
}

fn rules_in(index: &Index) -> Rules {
    let is_rules = |entry: &IndexEntry| entry.path.rsplit(|byte| *byte == b'/').next() == Some(b".gitattributes");
    index.iter().filter(is_rules).map(|entry| (entry.path, entry.id)).collect()
}

/// What git wrote.
#[derive(Default)]
struct Known {
    /// The files that were not found yet, by their paths.
    missing: HashMap<Vec<u8>, IndexEntry>,
    folders: HashSet<Vec<u8>>,
    /// When it wrote the last file.
    youngest: Option<IndexTime>,
}

impl Known {
    fn of(index: &Index) -> Self {
        let mut known = Self::default();
        for entry in index.iter().filter(|entry| !is_elsewhere(entry)) {
            let mut above = Path::new(OsStr::from_bytes(&entry.path)).parent();
            while let Some(folder) = above
                && known.folders.insert(folder.as_os_str().as_bytes().to_owned())
            {
                above = folder.parent();
            }
            known.youngest = known.youngest.max(Some(entry.ctime));
            known.missing.insert(entry.path.clone(), entry);
        }
        known
    }

    fn has_folder(&self, path: &Path) -> bool {
        self.folders.contains(path.as_os_str().as_bytes())
    }

    fn finds_file(&mut self, path: &Path, found: &Stat) -> bool {
        let path = path.as_os_str().as_bytes();
        let is_intact = |entry: &IndexEntry| Some(entry.ctime) < self.youngest && is_same(entry, found);
        self.missing.get(path).is_some_and(is_intact) && self.missing.remove(path).is_some()
    }

    /// Removes the files that were not found from the index that they are from.
    fn forget_missing(&self, index: &mut Index) -> Result<(), git2::Error> {
        for path in self.missing.keys() {
            index.remove(Path::new(OsStr::from_bytes(path)), 0)?;
        }
        index.write()
    }
}

/// Whether a file is the one of the entry. The index keeps the low 32 bits of each number.
fn is_same(entry: &IndexEntry, found: &Stat) -> bool {
    let time = |time: IndexTime| (time.seconds(), time.nanoseconds());
    (entry.ino, entry.file_size, time(entry.ctime), time(entry.mtime))
        == (
            found.st_ino as u32,
            found.st_size as u32,
            (found.st_ctime as i32, found.st_ctime_nsec as u32),
            (found.st_mtime as i32, found.st_mtime_nsec as u32),
        )
}

#[cfg(target_os = "linux")]
fn is_trusted(tree: &Path) -> bool {
    rustix::fs::statfs(tree).is_ok_and(|found| TRUSTED.contains(&(found.f_type as u32)))
}

#[cfg(not(target_os = "linux"))]
fn is_trusted(_tree: &Path) -> bool {
    false
}

/// The mode of the folders that git makes, which depends on the process.
fn mode_of_new_folders(record: &Path) -> Result<RawMode, WorkspaceError> {
    let probe = record.with_extension("probe");
    remove(&probe)?;
    DirBuilder::new().mode(0o777).create(&probe).map_err(disk("make", &probe))?;
    let mode = fs::symlink_metadata(&probe).map_err(disk("look at", &probe))?.mode() as RawMode & 0o7777;
    remove(&probe).map(|()| mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_one_of_the_record_only_to_the_nanosecond() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("a"), "one").unwrap();
        let found = Folder::open(place.path()).unwrap().stat("a").unwrap();
        let time = |seconds: i64, nanoseconds: i64| IndexTime::new(seconds as i32, nanoseconds as u32);
        let entry = || IndexEntry {
            ctime: time(found.st_ctime, found.st_ctime_nsec as i64),
            mtime: time(found.st_mtime, found.st_mtime_nsec as i64),
            ino: found.st_ino as u32,
            file_size: 3,
            path: b"a".to_vec(),
            ..crate::crossed::empty(0o100_644)
        };
        assert!(is_same(&entry(), &found));
        let (changed, written) = (found.st_ctime_nsec as i64 + 1, found.st_mtime_nsec as i64 + 1);
        for (what, other) in [
            ("time of change", IndexEntry { ctime: time(found.st_ctime, changed), ..entry() }),
            ("time of writing", IndexEntry { mtime: time(found.st_mtime, written), ..entry() }),
            ("inode", IndexEntry { ino: entry().ino + 1, ..entry() }),
            ("size", IndexEntry { file_size: 0, ..entry() }),
        ] {
            assert!(!is_same(&other, &found), "{what}");
        }
    }
}
