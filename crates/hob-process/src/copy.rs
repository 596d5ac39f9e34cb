//! A safe copy of anything that a child wrote.

use std::{io, path::Path};

use crate::Folder;

/// Copies the contents of the folder `from` into the folder `to`, for the owner. Links are copied as links; anything
/// but files, folders and links is left out, and so are names that `to` has already.
///
/// # Errors
/// The system's, for a path that cannot be read or written.
pub fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    Folder::open(from)?.copies_all(Folder::open(to)?)
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::{
            fs::{PermissionsExt, symlink},
            net::UnixListener,
        },
        sync::atomic::{AtomicBool, Ordering},
    };

    use super::*;

    /// Attack corpus K145: another process goes on writing there, and puts a link in the place of a folder.
    #[test]
    fn a_folder_that_becomes_a_link_leads_no_copy_outside() {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        for folder in ["from/sub", "to/sub", "outside"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for n in 0..50 {
            fs::write(at(&format!("from/sub/{n}")), "x").unwrap();
        }
        symlink(at("outside"), at("link")).unwrap();
        let swap = || {
            let (one, other) = (at("link"), at("to/sub"));
            let flags = rustix::fs::RenameFlags::EXCHANGE;
            rustix::fs::renameat_with(rustix::fs::CWD, one, rustix::fs::CWD, other, flags).unwrap();
        };
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    swap();
                }
            });
            let copied: Result<Vec<()>, _> = (0..300).map(|_| copy_tree(&at("from"), &at("to"))).collect();
            // Before anything can fail: the other thread is joined.
            done.store(true, Ordering::Relaxed);
            copied.unwrap();
        });
        assert_eq!(fs::read_dir(at("outside")).unwrap().count(), 0, "nothing was written where the link leads");
        // Each copy may have met the link, as the threads were scheduled; the last one meets the folder.
        if at("to/sub").is_symlink() {
            swap();
        }
        copy_tree(&at("from"), &at("to")).unwrap();
        assert_eq!(fs::read_dir(at("to/sub")).unwrap().count(), 50, "and what was to be copied was");
    }

    #[test]
    fn files_folders_and_links_are_copied_and_what_is_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("a/b")).unwrap();
        fs::create_dir_all(to.join("a")).unwrap();
        fs::write(from.join("a/b/new"), "new").unwrap();
        fs::write(from.join("a/kept"), "other").unwrap();
        fs::write(to.join("a/kept"), "kept").unwrap();
        fs::set_permissions(from.join("a/b/new"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("/etc/shadow", from.join("link")).unwrap();
        let _socket = UnixListener::bind(from.join("socket")).unwrap();
        copy_tree(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("a/b/new")).unwrap(), "new");
        assert_eq!(fs::metadata(to.join("a/b/new")).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(fs::read_to_string(to.join("a/kept")).unwrap(), "kept");
        assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("/etc/shadow"));
        assert!(!to.join("socket").exists());
    }
}
