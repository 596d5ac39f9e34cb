//! The mounts that the kernel lists: `proc_pid_mountinfo(5)`.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt, path::PathBuf};

use rustix::mount::MountFlags;

/// One mount.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mounted<'a> {
    pub(super) place: PathBuf,
    /// The flags that it has there.
    pub(super) flags: MountFlags,
    /// The kind of its file system.
    pub(super) kind: &'a [u8],
}

/// All mounts, in their order.
pub(super) fn mounted(table: &[u8]) -> Vec<Mounted<'_>> {
    table.split(|byte| *byte == b'\n').filter_map(one).collect()
}

fn one(line: &[u8]) -> Option<Mounted<'_>> {
    let mut fields = line.split(|byte| *byte == b' ');
    let (place, options) = (fields.nth(4)?, fields.next()?);
    // Fields that a mount may have or not end with a dash.
    let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
    let flag = |option: &[u8]| match option {
        b"ro" => MountFlags::RDONLY,
        b"nosuid" => MountFlags::NOSUID,
        b"nodev" => MountFlags::NODEV,
        b"noexec" => MountFlags::NOEXEC,
        b"noatime" => MountFlags::NOATIME,
        b"nodiratime" => MountFlags::NODIRATIME,
        b"relatime" => MountFlags::RELATIME,
        b"nosymfollow" => MountFlags::NOSYMFOLLOW,
        _ => MountFlags::empty(),
    };
    let flags = options.split(|byte| *byte == b',').map(flag).fold(MountFlags::empty(), MountFlags::union);
    Some(Mounted { place: unescaped(place), flags, kind })
}

/// A path as the table writes it: blanks, tabs, line ends and backslashes by three octal digits.
fn unescaped(mut text: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(text.len());
    while let Some((first, rest)) = text.split_first() {
        let digits = rest.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                path.push(byte);
                text = &rest[3..];
            }
            None => {
                path.push(*first);
                text = rest;
            }
        }
    }
    OsStr::from_bytes(&path).into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_mounted_is_read_with_its_flags_and_its_name() {
        let table = b"26 1 254:0 / / rw,relatime - ext4 /dev/root rw\n\
            30 26 0:5 / /a\\040b\\134c ro,nosuid,nodev,noexec,noatime shared:2 master:1 - tmpfs none rw\nshort\n";
        let locked =
            MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::NOATIME;
        let root = Mounted { place: "/".into(), flags: MountFlags::RELATIME, kind: b"ext4" };
        assert_eq!(mounted(table), [root, Mounted { place: "/a b\\c".into(), flags: locked, kind: b"tmpfs" }]);
    }

    proptest! {
        #[test]
        fn whatever_stands_in_the_table_is_read(table in proptest::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(mounted(&table).len() <= table.split(|byte| *byte == b'\n').count());
        }
    }
}
