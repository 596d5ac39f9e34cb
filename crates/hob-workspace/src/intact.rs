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
    path::Path,
    rc::Rc,
};

use hob_process::Folder;
use rustix::fs::{RawMode, Stat};

use crate::{
    WorkspaceError,
    error::disk,
    layout::remove,
    record::{Record, Recorded, Time},
};

/// File systems of Linux that note every change of a file before it can be read: ext2 to ext4, XFS, Btrfs.
#[cfg(target_os = "linux")]
const TRUSTED: [u32; 3] = [0xef53, 0x5846_5342, 0x9123_683e];

/// The files by which git chose the form of the others: their paths and contents.
pub(super) type Rules = Vec<(Vec<u8>, Vec<u8>)>;

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
    let is_fit = |record: &Record| holds == Holds::Part || !record.files().any(|file| file.is_elsewhere());
    let read = if is_trusted(tree) { Record::read(record).filter(is_fit) } else { None };
    let mut known = read.as_ref().map(Known::of).unwrap_or_default();
    let mode = mode_of_new_folders(record)?;
    let mut next = Some((Folder::open(tree).map_err(failed())?, Vec::new()));
    // A folder stays open while folders in it wait for their turn.
    let mut waiting: Vec<(Rc<Folder>, Vec<u8>)> = Vec::new();
    while let Some((folder, mut path)) = next.take() {
        let folder = Rc::new(folder);
        if !path.is_empty() {
            path.push(b'/');
        }
        let inside = path.len();
        for entry in folder.entries().map_err(failed())? {
            path.truncate(inside);
            path.extend_from_slice(entry.os_name().as_bytes());
            let found = folder.stat(entry.os_name()).map_err(failed())?;
            if entry.is_folder() && known.has_folder(&path) && found.st_mode as RawMode & 0o7777 == mode {
                waiting.push((Rc::clone(&folder), path.clone()));
            } else if entry.is_folder() || !known.finds_file(&path, &found) {
                folder.removes(entry.os_name()).map_err(failed())?;
            }
        }
        drop(folder);
        while next.is_none()
            && let Some((above, path)) = waiting.pop()
        {
            let name = OsStr::from_bytes(path.rsplit(|byte| *byte == b'/').next().unwrap_or_default());
            match above.inner(name).map_err(failed())? {
                Some(inner) if !inner.has_attributes().map_err(failed())? => next = Some((inner, path)),
                Some(_) | None => above.removes(name).map_err(failed())?,
            }
        }
    }
    match &read {
        Some(read) if known.stays.contains(&true) => {
            if known.stays.contains(&false) {
                read.write(record, &known.stays)?;
            }
            Ok(Some(rules_in(read)))
        }
        Some(_) | None => remove(record).map(|()| None),
    }
}

/// The rules of conversion in a record; `None` if it cannot be read.
pub(super) fn rules(record: &Path) -> Option<Rules> {
    Record::read(record).map(|record| rules_in(&record))
}

fn rules_in(record: &Record) -> Rules {
    let is_rules = |file: &Recorded<'_>| file.path.rsplit(|byte| *byte == b'/').next() == Some(b".gitattributes");
    record.files().filter(is_rules).map(|file| (file.path.to_owned(), file.object().to_owned())).collect()
}

/// What git wrote.
#[derive(Default)]
struct Known<'a> {
    /// The files by their paths, with their places in the record.
    files: HashMap<&'a [u8], (usize, Recorded<'a>)>,
    folders: HashSet<&'a [u8]>,
    /// Which entries of the record stay: those of files that were found as git wrote them, or that it did not write.
    stays: Vec<bool>,
    /// When it wrote the last file.
    youngest: Option<Time>,
}

impl<'a> Known<'a> {
    fn of(record: &'a Record) -> Self {
        let mut known = Self { files: HashMap::with_capacity(record.len()), ..Self::default() };
        let mut last: &[u8] = b"";
        for (place, file) in record.files().enumerate() {
            known.stays.push(file.is_elsewhere());
            if file.is_elsewhere() {
                continue;
            }
            // Files of one folder follow each other.
            let folder = above(file.path);
            if folder != last {
                last = folder;
                let mut folder = folder;
                while !folder.is_empty() && known.folders.insert(folder) {
                    folder = above(folder);
                }
            }
            known.youngest = known.youngest.max(Some(file.ctime()));
            known.files.insert(file.path, (place, file));
        }
        known
    }

    fn has_folder(&self, path: &[u8]) -> bool {
        self.folders.contains(path)
    }

    fn finds_file(&mut self, path: &[u8], found: &Stat) -> bool {
        let Some((place, file)) = self.files.get(path) else { return false };
        let is_intact = Some(file.ctime()) < self.youngest && is_same(file, found);
        self.stays[*place] |= is_intact;
        is_intact
    }
}

/// The folder that a path is in; empty at the top.
fn above(path: &[u8]) -> &[u8] {
    path.iter().rposition(|byte| *byte == b'/').map_or(b"", |end| &path[..end])
}

/// Whether a file is the one of the record, which has the low 32 bits of each number.
fn is_same(file: &Recorded<'_>, found: &Stat) -> bool {
    (file.inode(), file.size(), file.ctime(), file.mtime())
        == (
            found.st_ino as u32,
            found.st_size as u32,
            (found.st_ctime as u32, found.st_ctime_nsec as u32),
            (found.st_mtime as u32, found.st_mtime_nsec as u32),
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
    use git2::{Index, IndexEntry, IndexTime};

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
        let is_same = |entry: IndexEntry| {
            let place = place.path().join("index");
            let mut index = Index::open(&place).unwrap();
            index.add(&entry).unwrap();
            index.write().unwrap();
            is_same(&Record::read(&place).unwrap().files().next().unwrap(), &found)
        };
        assert!(is_same(entry()));
        let (changed, written) = (found.st_ctime_nsec as i64 + 1, found.st_mtime_nsec as i64 + 1);
        for (what, other) in [
            ("time of change", IndexEntry { ctime: time(found.st_ctime, changed), ..entry() }),
            ("time of writing", IndexEntry { mtime: time(found.st_mtime, written), ..entry() }),
            ("inode", IndexEntry { ino: entry().ino + 1, ..entry() }),
            ("size", IndexEntry { file_size: 0, ..entry() }),
        ] {
            assert!(!is_same(other), "{what}");
        }
    }
}
