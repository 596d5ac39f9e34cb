//! Files of another system, which a child has in place of this machine's: [`Sandbox::rooted`](crate::Sandbox::rooted).

use std::path::Path;

/// Whether `file` is a program below `root`, as a child finds it that has those files: a link leads nowhere else.
#[cfg(target_os = "linux")]
pub fn is_program_in(root: &Path, file: &Path) -> bool {
    use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2};
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let found = openat(CWD, root, flags | OFlags::DIRECTORY, Mode::empty())
        .and_then(|root| openat2(root, file, flags, Mode::empty(), ResolveFlags::IN_ROOT))
        .and_then(fstat);
    found.is_ok_and(|found| {
        FileType::from_raw_mode(found.st_mode) == FileType::RegularFile && found.st_mode & 0o111 != 0
    })
}

/// No other system has boxes.
#[cfg(not(target_os = "linux"))]
pub fn is_program_in(_root: &Path, _file: &Path) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_program_is_found_by_links_that_mean_the_root() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("bin")).unwrap();
        std::fs::write(root.path().join("bin/box"), "").unwrap();
        symlink("/bin/box", root.path().join("bin/ls")).unwrap();
        symlink("/proc/self/exe", root.path().join("bin/outside")).unwrap();
        let is_there = |name: &str| is_program_in(root.path(), Path::new(name));
        assert!(!is_there("/bin/ls"), "nobody may start it");
        std::fs::set_permissions(root.path().join("bin/box"), PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(["/bin/ls", "/bin/outside", "/bin", "/bin/sh"].map(is_there), [true, false, false, false]);
    }
}
