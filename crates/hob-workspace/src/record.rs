//! The record of a tree: the index that git wrote when it filled the tree, read as bytes.
//!
//! Git's library would compute the hash of all of it and copy each path, which takes longer than all else that is done to a tree
//! whose files are as git wrote them. Nobody but Hob and its git can write a record, so its hash is not verified: git does not
//! verify it either.
//!
//! The format is [git's](https://git-scm.com/docs/index-format), of versions 2 and 3. Any other record is not read, and a tree
//! without a record is written anew.

use std::{fs, path::Path};

use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

use crate::{
    WorkspaceError,
    layout::{moved, write},
};

const SIGNATURE: &[u8; 4] = b"DIRC";
/// Bytes before the first entry: the signature, the version, and the number of entries.
const HEADER: usize = 12;
/// Bytes of an entry before its path, without and with the flags of version 3.
const FIXED: [usize; 2] = [62, 64];
/// Where the numbers and names of an entry are.
const CTIME: usize = 0;
const MTIME: usize = 8;
const INODE: usize = 20;
const SIZE: usize = 36;
const OBJECT: usize = 40;
const FLAGS: usize = 60;
/// The flag of an entry that has more flags, and of those the one for files that are not checked out.
const EXTENDED: u16 = 0x4000;
const SKIP_WORKTREE: u16 = 0x4000;
/// Entries end at a multiple of so many bytes, after at least one zero.
const ALIGNED: usize = 8;
/// Bytes of an object's name, and of the hash at the end.
const NAME: usize = 20;

/// A time as git keeps it: the low 32 bits of the seconds, and the nanoseconds.
pub(super) type Time = (u32, u32);

/// A record.
#[derive(Debug)]
pub(super) struct Record {
    bytes: Vec<u8>,
    /// Where each entry starts, and where the last one ends.
    starts: Vec<usize>,
}

/// A file in a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recorded<'a> {
    /// From its start to that of the next one.
    bytes: &'a [u8],
    pub(super) path: &'a [u8],
}

impl Record {
    /// The record in a file; `None` if there is none that can be read.
    pub(super) fn read(place: &Path) -> Option<Self> {
        let bytes = fs::read(place).ok()?;
        let count = number(&bytes, 8)?;
        if !bytes.starts_with(SIGNATURE) || !matches!(number(&bytes, 4)?, 2 | 3) {
            return None;
        }
        let mut starts = vec![HEADER];
        for _ in 0..count {
            let start = *starts.last()?;
            starts.push(start + entry_at(&bytes, start)?.bytes.len());
        }
        has_only_hints(&bytes, *starts.last()?)?;
        Some(Self { bytes, starts })
    }

    /// The number of its files.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Its files, by their paths.
    pub(super) fn files(&self) -> impl Iterator<Item = Recorded<'_>> {
        self.starts[..self.len()].iter().filter_map(|start| entry_at(&self.bytes, *start))
    }

    /// Writes it again, with the files for which `stays` is true. Git makes the rest of an index again.
    pub(super) fn write(&self, place: &Path, stays: &[bool]) -> Result<(), WorkspaceError> {
        let mut kept = Vec::with_capacity(self.bytes.len());
        kept.extend_from_slice(&self.bytes[..HEADER]);
        let mut count = 0_u32;
        for (_, file) in stays.iter().zip(self.files()).filter(|(stays, _)| **stays) {
            kept.extend_from_slice(file.bytes);
            count += 1;
        }
        kept[8..HEADER].copy_from_slice(&count.to_be_bytes());
        let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, &kept);
        kept.extend_from_slice(hash.as_ref());
        // A process that is killed leaves the whole of one or the other.
        let new = place.with_extension("index.new");
        write(&new, kept)?;
        moved(&new, place)
    }
}

impl Recorded<'_> {
    pub(super) fn ctime(&self) -> Time {
        self.time(CTIME)
    }

    pub(super) fn mtime(&self) -> Time {
        self.time(MTIME)
    }

    /// The low 32 bits of the inode.
    pub(super) fn inode(&self) -> u32 {
        number(self.bytes, INODE).unwrap_or_default()
    }

    /// The low 32 bits of the size in bytes.
    pub(super) fn size(&self) -> u32 {
        number(self.bytes, SIZE).unwrap_or_default()
    }

    /// The name of its content.
    pub(super) fn object(&self) -> &[u8] {
        &self.bytes[OBJECT..OBJECT + NAME]
    }

    /// Whether it is marked as not checked out.
    pub(super) fn is_elsewhere(&self) -> bool {
        flags(self.bytes, FLAGS).is_some_and(|first| first & EXTENDED != 0)
            && flags(self.bytes, FLAGS + 2).is_some_and(|more| more & SKIP_WORKTREE != 0)
    }

    fn time(&self, at: usize) -> Time {
        (number(self.bytes, at).unwrap_or_default(), number(self.bytes, at + 4).unwrap_or_default())
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn flags(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// The entry that starts there, if all of it is there.
fn entry_at(bytes: &[u8], start: usize) -> Option<Recorded<'_>> {
    let entry = bytes.get(start..)?;
    let fixed = FIXED[usize::from(flags(entry, FLAGS)? & EXTENDED != 0)];
    // The flags have the length of a path too, but not of a long one.
    let path = entry.get(fixed..)?;
    let path = &path[..path.iter().position(|byte| *byte == 0)?];
    let end = (fixed + path.len()) / ALIGNED * ALIGNED + ALIGNED;
    Some(Recorded { bytes: entry.get(..end)?, path })
}

/// `None` if there is more after the entries than the hash and what makes git faster: git must understand what has a name of
/// small letters, such as entries that are in another file.
fn has_only_hints(bytes: &[u8], mut at: usize) -> Option<()> {
    let end = bytes.len().checked_sub(NAME)?;
    while at < end {
        bytes.get(at)?.is_ascii_uppercase().then_some(())?;
        at += 8 + usize::try_from(number(bytes, at + 4)?).ok()?;
    }
    (at == end).then_some(())
}

#[cfg(test)]
mod tests {
    use git2::{Index, IndexEntry, IndexEntryExtendedFlag, IndexTime, Oid};

    use super::*;

    fn index_at(place: &Path, paths: &[(String, bool)]) {
        let mut index = Index::open(place).unwrap();
        for (n, (path, elsewhere)) in paths.iter().enumerate() {
            let n = n as u32;
            let flag = if *elsewhere { IndexEntryExtendedFlag::SKIP_WORKTREE.bits() } else { 0 };
            let entry = IndexEntry {
                ctime: IndexTime::new(i32::MAX, n),
                mtime: IndexTime::new(-1, n + 1),
                ino: u32::MAX - n,
                file_size: 100 + n,
                id: Oid::from_bytes(&[n as u8; 20]).unwrap(),
                path: path.clone().into_bytes(),
                flags_extended: flag,
                ..crate::crossed::empty(0o100_644)
            };
            index.add(&entry).unwrap();
        }
        index.write().unwrap();
    }

    /// All lengths of a path, of which the padding depends, and one that its length does not fit into the flags.
    fn paths() -> Vec<(String, bool)> {
        let lengths = (1..20).chain([0xffe, 0xfff, 0x1000, 0x1001]);
        let mut paths: Vec<_> = lengths.map(|length| ("a".repeat(length), length % 3 == 0)).collect();
        paths.push((".gitattributes".to_owned(), false));
        paths.sort();
        paths
    }

    #[test]
    fn a_record_has_what_gits_library_wrote_and_the_other_way_round() {
        let place = tempfile::tempdir().unwrap();
        let (place, all) = (place.path().join("tree.index"), paths());
        index_at(&place, &all);
        let record = Record::read(&place).unwrap();
        assert_eq!(record.len(), all.len());
        for (n, (file, (path, elsewhere))) in record.files().zip(&all).enumerate() {
            let n = n as u32;
            assert_eq!((file.path, file.is_elsewhere()), (path.as_bytes(), *elsewhere));
            assert_eq!((file.ctime(), file.mtime()), ((i32::MAX as u32, n), (u32::MAX, n + 1)));
            assert_eq!((file.inode(), file.size(), file.object()), (u32::MAX - n, 100 + n, &[n as u8; 20][..]));
        }
        let stays: Vec<bool> = (0..all.len()).map(|n| n % 4 != 1).collect();
        record.write(&place, &stays).unwrap();
        // The library verifies the hash.
        let left = Index::open(&place).unwrap();
        let of = |(path, _): &(String, bool)| path.clone().into_bytes();
        let wanted: Vec<_> = all.iter().zip(&stays).filter(|(_, stays)| **stays).map(|(path, _)| of(path)).collect();
        assert_eq!(left.iter().map(|entry| entry.path).collect::<Vec<_>>(), wanted);
        assert_eq!(Record::read(&place).unwrap().len(), wanted.len());
    }

    #[test]
    fn a_record_that_is_cut_or_of_another_kind_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("tree.index");
        assert!(Record::read(&place).is_none());
        index_at(&place, &paths());
        let whole = fs::read(&place).unwrap();
        for length in (0..whole.len()).step_by(97).chain(whole.len() - 30..whole.len()) {
            fs::write(&place, &whole[..length]).unwrap();
            assert!(Record::read(&place).is_none(), "{length} bytes");
        }
        let end = whole.len() - NAME;
        for (what, change) in [
            ("version", (4..8, vec![0, 0, 0, 4])),
            ("signature", (0..4, b"dirc".to_vec())),
            ("one entry more", (8..12, u32::to_be_bytes(paths().len() as u32 + 1).to_vec())),
            ("one entry less", (8..12, u32::to_be_bytes(paths().len() as u32 - 1).to_vec())),
            ("entries elsewhere", (end..end, b"link\0\0\0\0".to_vec())),
            ("a hint that is cut", (end..end, b"TREE\0\0\0\x01".to_vec())),
        ] {
            let mut bytes = whole.clone();
            bytes.splice(change.0, change.1);
            fs::write(&place, bytes).unwrap();
            assert!(Record::read(&place).is_none(), "{what}");
        }
        let mut hinted = whole;
        hinted.splice(end..end, *b"TREE\0\0\0\x01x");
        fs::write(&place, hinted).unwrap();
        assert!(Record::read(&place).is_some());
    }
}
