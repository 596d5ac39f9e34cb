//! The disk space that a folder takes.

use std::{ffi::CString, os::fd::OwnedFd, path::Path, rc::Rc};

use rustix::{
    fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat},
    path::Arg,
};

/// Bytes on the disk.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// Bytes of everything that could be measured.
    pub bytes: u64,
    /// Whether that was all.
    pub whole: bool,
}

/// Bytes on the disk below `folder`. Links are not followed, and what cannot be read counts as zero.
pub fn bytes_on_disk(folder: &Path) -> u64 {
    measure(folder).bytes
}

/// Like [`bytes_on_disk`], with whether all of it could be read. It descends by file descriptors, so no path is too
/// long for it and a concurrent writer cannot redirect it.
pub fn measure(folder: &Path) -> Measured {
    let Ok(top) = open(CWD, folder) else { return Measured { bytes: 0, whole: false } };
    let mut found = Measured { bytes: 0, whole: true };
    // A folder stays open while folders in it wait for their turn.
    let mut next: Vec<(Rc<OwnedFd>, CString)> = Vec::new();
    found.add(Rc::new(top), &mut next);
    while let Some((above, name)) = next.pop() {
        match open(&*above, name.as_c_str()) {
            Ok(folder) => found.add(Rc::new(folder), &mut next),
            Err(rustix::io::Errno::NOENT) => {}
            Err(_) => found.whole = false,
        }
    }
    found
}

impl Measured {
    fn add(&mut self, folder: Rc<OwnedFd>, next: &mut Vec<(Rc<OwnedFd>, CString)>) {
        let Ok(entries) = Dir::read_from(&*folder) else {
            self.whole = false;
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let Ok(status) = statat(&*folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            self.bytes += u64::try_from(status.st_blocks).unwrap_or(0) * 512;
            if FileType::from_raw_mode(status.st_mode) == FileType::Directory {
                next.push((Rc::clone(&folder), name.to_owned()));
            }
        }
    }
}

fn open(place: impl std::os::fd::AsFd, name: impl Arg) -> rustix::io::Result<OwnedFd> {
    openat(place, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use rustix::fs::mkdirat;

    use super::*;

    /// Attack corpus K133.
    #[test]
    fn what_lies_deeper_than_any_path_is_counted_and_what_is_locked_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let mut at = open(CWD, folder.path()).unwrap();
        // 30 names of 200 bytes are more than the 4,096 of a path.
        let name = "a".repeat(200);
        for _ in 0..30 {
            mkdirat(&at, &*name, Mode::RWXU).unwrap();
            at = open(&at, &*name).unwrap();
        }
        let file = openat(&at, "big", OFlags::WRONLY | OFlags::CREATE, Mode::RUSR).unwrap();
        rustix::io::write(&file, &[7; 8192]).unwrap();
        rustix::fs::fsync(&file).unwrap();
        let found = measure(folder.path());
        assert!(found.whole && found.bytes >= 8192, "{found:?}");
        fs::create_dir(folder.path().join("b")).unwrap();
        fs::set_permissions(folder.path().join("b"), fs::Permissions::from_mode(0o000)).unwrap();
        let root = rustix::process::geteuid().is_root();
        assert_eq!(measure(folder.path()).whole, root);
        // So that it can be removed.
        fs::set_permissions(folder.path().join("b"), fs::Permissions::from_mode(0o700)).unwrap();
        assert!(!measure(&folder.path().join("nothing")).whole);
    }
}
