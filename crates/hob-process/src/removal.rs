//! Removal of anything that a child wrote.
//!
//! - Flow: a folder's files are removed, and those of its folders that are not empty move up to the top. So each is
//!   emptied while it is one level deep, and no path grows.
//! - Guarantees: no recursion, and three descriptors and short names at any depth; no link is followed; folders without
//!   read or write permission get it.
//! - Assumptions: no process goes on writing there.

use std::{
    ffi::CStr,
    fs, io,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::fs::PermissionsExt,
    },
    path::Path,
};

use rustix::{
    fs::{
        AtFlags, CWD, Dir, FileType, Mode, OFlags, RawMode, RenameFlags, fchmod, fstat, openat, renameat_with, statat,
        unlinkat,
    },
    io::Errno,
    path::Arg,
};

/// The prefix of a folder that waits at the top for its turn.
const WAITING: &str = ".removed-";
/// The permissions that the owner needs to empty a folder.
const OWN: RawMode = 0o700;

/// Removes `path`. Links are removed, not their targets. It is fine if nothing is there.
///
/// # Errors
/// The system's, for a path that cannot be removed.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    remove_tree_until(path, &|| false)
}

/// Like [`remove_tree`], but returns early once `stop` returns true.
///
/// # Errors
/// The system's, for a path that cannot be removed.
pub fn remove_tree_until(path: &Path, stop: &dyn Fn() -> bool) -> io::Result<()> {
    let kind = match statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => FileType::from_raw_mode(found.st_mode as RawMode),
        Err(Errno::NOENT) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    remove_at(CWD, path, kind, stop)
}

/// The same for an entry of this kind in `place`.
pub(super) fn remove_at(
    place: impl AsFd + Copy,
    name: impl Arg + Copy,
    kind: FileType,
    stop: &dyn Fn() -> bool,
) -> io::Result<()> {
    let removed = match kind {
        FileType::Directory => remove_folder(place, name, stop),
        _file_or_link => Ok(unlinkat(place, name, AtFlags::empty())?),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn remove_folder(place: impl AsFd + Copy, name: impl Arg + Copy, stop: &dyn Fn() -> bool) -> io::Result<()> {
    let mut top = Top { folder: unlocked(place, name)?, waiting: 0 };
    while top.empty_a_level(stop)? {
        if stop() {
            return Ok(());
        }
    }
    Ok(unlinkat(place, name, AtFlags::REMOVEDIR)?)
}

/// The folder that is removed.
struct Top {
    folder: OwnedFd,
    /// The number of folders that moved up so far.
    waiting: u64,
}

impl Top {
    /// Removes the folder's files, and moves up its folders that are not empty; `false` if it was empty.
    fn empty_a_level(&mut self, stop: &dyn Fn() -> bool) -> io::Result<bool> {
        let mut found = false;
        for entry in Dir::read_from(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if is_itself(name) {
                continue;
            }
            if stop() {
                return Ok(true);
            }
            found = true;
            if !remove_entry(&self.folder, name, entry.file_type())? {
                self.move_up(name)?;
            }
        }
        Ok(found)
    }

    /// Empties the folder `name`; those of its folders that are not empty move up.
    fn move_up(&mut self, name: &CStr) -> io::Result<()> {
        let folder = unlocked(&self.folder, name)?;
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let inner = entry.file_name();
            if is_itself(inner) || remove_entry(&folder, inner, entry.file_type())? {
                continue;
            }
            // A folder that is moved is written to: its entry `..` changes.
            drop(unlocked(&folder, inner)?);
            loop {
                let free = format!("{WAITING}{}", self.waiting);
                self.waiting += 1;
                match renameat_with(&folder, inner, &self.folder, &free, RenameFlags::NOREPLACE) {
                    Err(Errno::EXIST | Errno::NOTEMPTY) => {}
                    moved => break moved?,
                }
            }
        }
        Ok(())
    }
}

fn is_itself(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}

/// Removes a file, a link or an empty folder; `false` if it is a folder that is not empty.
fn remove_entry(folder: &OwnedFd, name: &CStr, kind: FileType) -> io::Result<bool> {
    let kind = match kind {
        FileType::Unknown => {
            FileType::from_raw_mode(statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode as RawMode)
        }
        known => known,
    };
    let flags = if kind == FileType::Directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
    match unlinkat(folder, name, flags) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Lets the owner read and write the folder at `top` and those in it, down to `levels` levels. Landlock does not
/// prevent changes of modes, so that a child in a fence can lock folders that it may not read.
///
/// # Errors
/// The system's; a folder that disappears meanwhile is not an error.
pub fn unlock_folders(top: &Path, levels: usize) -> io::Result<()> {
    match unlock(CWD, top, levels) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn unlock(place: impl AsFd + Copy, name: impl Arg + Copy, levels: usize) -> io::Result<()> {
    let folder = unlocked(place, name)?;
    if levels == 0 {
        return Ok(());
    }
    for entry in Dir::read_from(&folder)? {
        let entry = entry?;
        let inner = entry.file_name();
        if !is_itself(inner) && entry.file_type() == FileType::Directory {
            match unlock(&folder, inner, levels - 1) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                other => other?,
            }
        }
    }
    Ok(())
}

/// Opens a folder, and lets its owner read and write it.
pub(super) fn unlocked(place: impl AsFd + Copy, name: impl Arg + Copy) -> io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = match openat(place, name, flags | OFlags::RDONLY, Mode::empty()) {
        Err(Errno::ACCESS) => {
            // Changed by its open handle: between two looks at a name a link could take its place.
            let handle = openat(place, name, flags | OFlags::PATH, Mode::empty())?;
            let permissions = fs::Permissions::from_mode(OWN);
            fs::set_permissions(format!("/proc/self/fd/{}", handle.as_raw_fd()), permissions)?;
            openat(place, name, flags | OFlags::RDONLY, Mode::empty())?
        }
        opened => opened?,
    };
    if fstat(&folder)?.st_mode as RawMode & OWN != OWN {
        fchmod(&folder, Mode::from_raw_mode(OWN))?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::mkdirat;

    use super::*;

    /// Folders in folders, deeper than any path may be long.
    fn nest(place: &Path, depth: usize) {
        let mut at = unlocked(CWD, place).unwrap();
        for _ in 0..depth {
            mkdirat(&at, "a", Mode::RWXU).unwrap();
            at = unlocked(&at, "a").unwrap();
        }
    }

    /// Attack corpus K150.
    #[test]
    fn locked_folders_are_unlocked_so_many_levels_deep() {
        let folder = tempfile::tempdir().unwrap();
        let levels: Vec<_> = ["a", "a/b", "a/b/c"].map(|path| folder.path().join(path)).into();
        let lock = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
        let mode = |path: &Path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
        fs::create_dir_all(&levels[2]).unwrap();
        fs::write(folder.path().join("outside"), "").unwrap();
        symlink(folder.path().join("outside"), levels[0].join("link")).unwrap();
        lock(&folder.path().join("outside"));
        levels.iter().rev().for_each(|path| lock(path));
        unlock_folders(&levels[0], 1).unwrap();
        assert_eq!(levels.iter().map(|path| mode(path)).collect::<Vec<_>>(), [0o700, 0o700, 0o000]);
        unlock_folders(&levels[0], 3).unwrap();
        assert_eq!(mode(&levels[2]), 0o700);
        assert_eq!(mode(&folder.path().join("outside")), 0o000, "no link is followed");
        unlock_folders(&folder.path().join("nothing"), 3).unwrap();
    }

    /// Attack corpus J106.
    #[test]
    fn folders_are_removed_however_deep_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("deep");
        fs::create_dir(&place).unwrap();
        nest(&place, 40_000);
        fs::create_dir(place.join(".removed-0")).unwrap();
        fs::write(place.join(".removed-0/x"), "").unwrap();
        remove_tree(&place).unwrap();
        assert!(!place.exists());
    }

    #[test]
    fn whatever_stands_there_goes_and_what_links_point_to_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (place, kept) = (folder.path().join("place"), folder.path().join("kept"));
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "").unwrap();
        for sub in ["a/b/c", "a/d", "locked/inner"] {
            fs::create_dir_all(place.join(sub)).unwrap();
            fs::write(place.join(sub).join("file"), "").unwrap();
            symlink(&kept, place.join(sub).join("link")).unwrap();
        }
        for sub in ["locked/inner", "locked"] {
            fs::set_permissions(place.join(sub), fs::Permissions::from_mode(0o000)).unwrap();
        }
        let link = folder.path().join("link");
        symlink(&kept, &link).unwrap();
        remove_tree_until(&place, &|| true).unwrap();
        assert!(place.exists(), "it was to stop");
        for gone in [&place, &link, &folder.path().join("nothing")] {
            remove_tree(gone).unwrap();
            assert!(gone.symlink_metadata().is_err(), "{}", gone.display());
        }
        assert!(kept.join("file").exists());
    }
}
