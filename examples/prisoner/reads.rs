//! Reading what is outside, by every name that leads there.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::symlink,
    path::Path,
};

use crate::{
    attempt::{Attempt, Outcome, Told},
    raw::{Calls, SCRATCH, Word, n},
};

pub(crate) fn attempts(told: &Told) -> Vec<Attempt> {
    let secret = told.outside("secret");
    let full = secret.display();
    let pid = told.pid();
    let linked = symlink(&secret, "link").and_then(|()| fs::read("link"));
    let hard = fs::hard_link(&secret, "hard").and_then(|()| fs::read("hard"));
    let listing = |path: &str| Outcome::of(fs::read_dir(path));
    let optional = |key: &str, look: fn(&str) -> Outcome| {
        told.get(key).map_or_else(|| Outcome::NotHere(format!("there is no {key} to read")), look)
    };
    vec![
        ("read a file outside by its path", read(&secret)),
        ("read it by `..`", read("../outside/secret")),
        ("read it by a symbolic link", Outcome::of(linked)),
        ("read it by a hard link", Outcome::of(hard)),
        ("read it by `/proc/self/root`", read(format!("/proc/self/root{full}"))),
        ("read it by `/proc/self/cwd/..`", read("/proc/self/cwd/../outside/secret")),
        ("read it by the root of another process", read(format!("/proc/{pid}/root{full}"))),
        ("read it by the folder of another process", read(format!("/proc/{pid}/cwd/secret"))),
        ("read it by an open file of another process", read(format!("/proc/{pid}/fd/0"))),
        ("read it by a handle", by_handle(&secret)),
        ("open a file by a handle", handle().make()),
        (
            "list the folder above",
            Outcome::of(fs::read_dir("..").and_then(|names| {
                // In a box the folder above is another one, with the prisoner's alone.
                let mut names = names.flatten().map(|entry| entry.file_name());
                names.find(|name| name == "outside").ok_or(io::ErrorKind::NotFound.into())
            })),
        ),
        ("list the home of the account that started Hob", optional("home", |home| Outcome::of(fs::read_dir(home)))),
        ("list `/root`", listing("/root")),
        ("read `/etc/shadow`", read("/etc/shadow")),
        ("read `/etc/machine-id`", read("/etc/machine-id")),
        ("read a file of another in `/tmp`", read(told.text("tmp"))),
        ("read a file of another in `/dev/shm`", read(told.text("shm"))),
        ("read a disk", optional("disk", |disk| Outcome::of(File::open(disk)))),
        ("read the memory of the machine", open("/dev/mem").or(open("/proc/kcore"))),
        ("read the kernel's log", Outcome::of(nonblocking("/dev/kmsg"))),
        ("list `/sys/kernel`", listing("/sys/kernel")),
        ("see that a file outside exists, and its size", Outcome::of(fs::metadata(&secret))),
        ("watch the names in a folder outside change", watch(secret.parent().unwrap())),
    ]
}

fn read(path: impl AsRef<Path>) -> Outcome {
    Outcome::of(fs::read(path))
}

fn open(path: &str) -> Outcome {
    Outcome::of(File::open(path))
}

impl Outcome {
    /// The first way that gets through, else the other.
    fn or(self, other: Self) -> Self {
        if matches!(self, Self::Through(_)) { self } else { other }
    }
}

fn nonblocking(path: &str) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

/// A handle of the file, and the file by it. Handles have at most 128 bytes.
fn by_handle(path: &Path) -> Outcome {
    let mut calls = Calls::default();
    let (handle, mount) = (calls.bytes(&[&128_u32.to_le_bytes()[..], &[0; 132]].concat()), SCRATCH);
    let path = calls.text(path);
    calls
        .then(libc::SYS_name_to_handle_at, &[n(libc::AT_FDCWD.into()), path, handle, mount])
        .then(libc::SYS_open_by_handle_at, &[n(libc::AT_FDCWD.into()), handle])
        .make()
}

/// A handle of no file.
fn handle() -> Calls {
    let mut calls = Calls::default();
    let handle = calls.bytes(&[&8_u32.to_le_bytes()[..], &1_u32.to_le_bytes(), &[1; 8]].concat());
    let calls = calls.then(libc::SYS_open_by_handle_at, &[n(libc::AT_FDCWD.into()), handle]);
    calls.admitted_by(&[libc::ESTALE, libc::EINVAL, libc::EOPNOTSUPP])
}

fn watch(folder: &Path) -> Outcome {
    let mut calls = Calls::default();
    let folder = calls.text(folder);
    calls
        .then(libc::SYS_inotify_init1, &[])
        .then(libc::SYS_inotify_add_watch, &[Word::Last, folder, n(libc::IN_ALL_EVENTS.into())])
        .make()
}
