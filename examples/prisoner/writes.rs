//! Changing what is outside: each attempt has a file of its own there.

use std::{
    fs::{self, OpenOptions, Permissions},
    io,
    os::unix::{
        fs::{PermissionsExt, chown, symlink},
        net::UnixListener,
    },
    path::Path,
};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::{
    attempt::{Attempt, Outcome, Told},
    raw::{Calls, SCRATCH, n},
};

pub(crate) fn attempts(told: &Told) -> Vec<Attempt> {
    let at = |name: &str| told.outside(name);
    fs::write("own", "own").unwrap();
    fs::write("own-too", "own").unwrap();
    let append = OpenOptions::new().append(true).clone();
    let pipe = mknodat(CWD, at("new-pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).map_err(io::Error::from);
    vec![
        ("make a file outside", Outcome::of(fs::write(at("new-file"), "x"))),
        ("append to a file outside", Outcome::of(append.open(at("append")))),
        ("empty a file outside", Outcome::of(OpenOptions::new().write(true).truncate(true).open(at("empty")))),
        ("cut a file outside by `truncate`", Calls::on(libc::SYS_truncate, &[], &at("truncate"), &[]).make()),
        ("remove a file outside", Outcome::of(fs::remove_file(at("remove")))),
        ("rename a file outside", Outcome::of(fs::rename(at("rename"), at("renamed")))),
        ("move a file from outside into its folder", Outcome::of(fs::rename(at("steal"), "stolen"))),
        ("move a file of its own outside", Outcome::of(fs::rename("own-too", at("new-own")))),
        ("link a file of its own outside", Outcome::of(fs::hard_link("own", at("new-hard")))),
        ("make a symbolic link outside", Outcome::of(symlink("/etc/passwd", at("new-link")))),
        ("make a folder outside", Outcome::of(fs::create_dir(at("new-folder")))),
        ("make a pipe outside", Outcome::of(pipe)),
        ("make a socket outside", Outcome::of(UnixListener::bind(at("new-socket")))),
        ("make a file in `/usr`", made_and_removed("/usr/hob-prisoner")),
        ("make a file in `/etc`", made_and_removed("/etc/hob-prisoner")),
        ("write to a file of another in `/tmp`", Outcome::of(append.open(told.text("tmp")))),
        ("write to a file of another in `/dev/shm`", Outcome::of(append.open(told.text("shm")))),
        ("leave a file in the machine's `/tmp`", left(told.text("tmp"))),
        ("leave a file in the machine's `/dev/shm`", left(told.text("shm"))),
    ]
    .into_iter()
    .chain(attributes(told))
    .chain(special())
    .collect()
}

/// What Landlock does not know about.
fn attributes(told: &Told) -> Vec<Attempt> {
    let at = |name: &str| told.outside(name);
    let nobody = Some(65_534);
    let mut xattr = Calls::default();
    let (path, name) = (xattr.text(at("attribute")), xattr.text("user.prisoner"));
    let xattr = xattr.then(libc::SYS_setxattr, &[path, name, SCRATCH, n(1), n(0)]);
    let times = Calls::on(libc::SYS_utimensat, &[n(libc::AT_FDCWD.into())], &at("times"), &[SCRATCH, n(0)]);
    vec![
        (
            "change the mode of a file outside",
            Outcome::of(fs::set_permissions(at("mode"), Permissions::from_mode(0o666))),
        ),
        ("change the owner of a file outside", Outcome::of(chown(at("owner"), nobody, nobody))),
        ("change the times of a file outside", times.make()),
        ("set an attribute of a file outside", xattr.make()),
    ]
}

/// Files that are more than files, and those of the kernel.
fn special() -> Vec<Attempt> {
    let disk = (254 << 8) | 1;
    let kind = n(i64::from(libc::S_IFBLK | 0o600));
    let block = Calls::on(libc::SYS_mknodat, &[n(libc::AT_FDCWD.into())], Path::new("disk"), &[kind, n(disk)]);
    let mode = |mode: u32| Outcome::of(fs::set_permissions("own", Permissions::from_mode(mode)));
    let born = Calls::on(
        libc::SYS_openat,
        &[n(libc::AT_FDCWD.into())],
        Path::new("born"),
        &[n(i64::from(libc::O_CREAT | libc::O_WRONLY)), n(0o4700)],
    );
    let fchmodat2 = Calls::on(libc::SYS_fchmodat2, &[n(libc::AT_FDCWD.into())], Path::new("own"), &[n(0o4700), n(0)]);
    let writable = |path: &str| Outcome::of(OpenOptions::new().write(true).open(path));
    vec![
        ("make a disk's device in its folder", block.make()),
        ("make a program setuid in its folder", mode(0o4755)),
        ("make a program setgid in its folder", mode(0o2755)),
        ("make a file that is setuid from its beginning", born.make()),
        ("make a program setuid by `fchmodat2`", fchmodat2.make()),
        ("set what runs when a program crashes", writable("/proc/sys/kernel/core_pattern")),
        ("press a key of the kernel's (`sysrq-trigger`)", writable("/proc/sysrq-trigger")),
        ("leave its control group", writable("/sys/fs/cgroup/cgroup.procs")),
        ("spare itself when memory is short", Outcome::of(fs::write("/proc/self/oom_score_adj", "-1"))),
    ]
}

fn made_and_removed(path: &str) -> Outcome {
    Outcome::of(fs::write(path, "x").and_then(|()| fs::remove_file(path)))
}

/// In a box it is another folder of that name: the guard looks whether the file is there.
fn left(beside: &str) -> Outcome {
    let made: io::Result<()> = fs::write(format!("{beside}.new"), "x");
    Outcome::Held(made.map_or_else(|error| error.to_string(), |()| "it is in a folder of its own".to_owned()))
}
