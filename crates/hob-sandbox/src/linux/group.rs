//! The control group of one child, if the machine delegates a part of its tree to Hob: the kernel itself enforces the
//! limits on every process of the child, and kills them all. <https://docs.kernel.org/admin-guide/cgroup-v2.html>
//!
//! - Flow: the supervisor makes a group, is in it while it starts the child, and removes it at the end. A group with
//!   controllers below it may not have processes of its own, so Hob's processes first move into one called `hob`.
//! - Guarantees: a process cannot leave the group, because it cannot write to the files of the tree.
//! - Assumptions: systemd with `Delegate=yes`, which marks what it delegates. Elsewhere there is no group, and the
//!   supervisor alone enforces everything (`tree`), as it also does beside a group.
//! - Caveats: features that the kernel lacks (`cgroup.kill` before Linux 5.14, a controller that is not delegated) are
//!   left out.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rustix::process::{Pid, getpid, test_kill_process};

use super::mounts::mounted;
use crate::Limits;

/// The attributes by which systemd marks a delegated group: `systemd.resource-control(5)`.
const MARKS: [&str; 2] = ["user.delegate", "trusted.delegate"];
/// The controllers that hold a child to its limits.
const CONTROLLERS: [&str; 2] = ["memory", "pids"];
/// The group of Hob's own processes.
const HOME: &str = "hob";
/// The prefix of a child's group; its supervisor's process id follows.
const OF_CHILD: &str = "child-";
/// Tasks for each process that the settings allow: the controller counts threads, too.
const TASKS: u64 = 16;
/// Attempts to move all processes, since others start meanwhile.
const TRIES: usize = 10;

/// A child's group.
pub(super) struct Group {
    folder: PathBuf,
    /// The group that the supervisor belongs to.
    home: PathBuf,
}

impl Group {
    /// Makes one with these limits; `None` if nothing is delegated, or it cannot be made.
    pub(super) fn new(limits: &Limits) -> Option<Self> {
        let own = own()?;
        let (base, home) = match own.parent() {
            Some(parent) if is_delegated(parent) => (parent.to_owned(), own),
            _ if is_delegated(&own) => (own.clone(), own),
            _ => return None,
        };
        let home = delegate(&base, home).ok()?;
        remove_left(&base);
        let folder = base.join(format!("{OF_CHILD}{}", getpid().as_raw_nonzero()));
        // Another process had the same number once.
        end(&folder);
        fs::remove_dir(&folder).ok();
        fs::create_dir(&folder).ok()?;
        let group = Self { folder, home };
        let most = |limit: u64, times: u64| if limit == 0 { "max".to_owned() } else { (limit * times).to_string() };
        for (file, text) in [
            ("memory.max", most(limits.memory, 1)),
            ("memory.swap.max", if limits.memory == 0 { "max".to_owned() } else { "0".to_owned() }),
            // A child that lacks one of its processes is useless.
            ("memory.oom.group", "1".to_owned()),
            ("pids.max", most(limits.processes, TASKS)),
        ] {
            // It appears with its controller.
            fs::write(group.folder.join(file), text).ok();
        }
        Some(group)
    }

    /// Starts a process that begins in the group.
    pub(super) fn inside<T>(&self, start: impl FnOnce() -> T) -> T {
        let entered = enter(&self.folder);
        let started = start();
        if entered.is_ok() {
            enter(&self.home).ok();
        }
        started
    }

    /// Whether the kernel ended it for its memory.
    pub(super) fn ran_out_of_memory(&self) -> bool {
        let told = fs::read_to_string(self.folder.join("memory.events")).unwrap_or_default();
        told.lines().filter_map(|line| line.strip_prefix("oom_kill ")).any(|times| times.trim() != "0")
    }

    /// Ends all that is in it.
    pub(super) fn end(&self) {
        end(&self.folder);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A process that sleeps in the kernel keeps the group; a later supervisor removes it then.
        fs::remove_dir(&self.folder).ok();
    }
}

fn end(group: &Path) {
    fs::write(group.join("cgroup.kill"), "1").ok();
}

fn enter(group: &Path) -> io::Result<()> {
    fs::write(group.join("cgroup.procs"), "0")
}

/// The group that this process is in.
fn own() -> Option<PathBuf> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    // Within a cgroup namespace, a group outside of it has such a path.
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/")).filter(|path| !path.starts_with(".."))?;
    let table = fs::read("/proc/self/mountinfo").ok()?;
    let top = mounted(&table).into_iter().find(|mount| mount.kind == b"cgroup2")?;
    Some(top.place.join(path))
}

fn is_delegated(group: &Path) -> bool {
    let mut value = [0; 8];
    let is = |mark: &&str| rustix::fs::getxattr(group, *mark, &mut value).is_ok_and(|length| value[..length] == *b"1");
    MARKS.iter().any(is)
}

/// Enables controllers for the groups below `base`, and returns the group in which Hob's processes are then.
fn delegate(base: &Path, own: PathBuf) -> io::Result<PathBuf> {
    let listed = |file: &str| fs::read_to_string(base.join(file)).unwrap_or_default();
    let (has, given) = (listed("cgroup.controllers"), listed("cgroup.subtree_control"));
    let is_in = |list: &str, name: &str| list.split_whitespace().any(|one| one == name);
    let wanted: Vec<_> = CONTROLLERS.into_iter().filter(|name| is_in(&has, name) && !is_in(&given, name)).collect();
    let is_given = CONTROLLERS.iter().any(|name| is_in(&given, name));
    if wanted.is_empty() && !is_given || own != base {
        for name in wanted {
            fs::write(base.join("cgroup.subtree_control"), format!("+{name}")).ok();
        }
        return Ok(own);
    }
    let home = base.join(HOME);
    match fs::create_dir(&home) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    for _ in 0..TRIES {
        for process in listed("cgroup.procs").lines() {
            // One that is gone, or a zombie, is not moved.
            fs::write(home.join("cgroup.procs"), process).ok();
        }
        let given = wanted.iter().map(|name| fs::write(base.join("cgroup.subtree_control"), format!("+{name}")));
        if given.collect::<io::Result<Vec<()>>>().is_ok() {
            break;
        }
    }
    Ok(home)
}

/// Ends and removes groups whose supervisors were killed before they could do it.
fn remove_left(base: &Path) {
    for group in fs::read_dir(base).into_iter().flatten().flatten() {
        let name = group.file_name();
        let supervisor = name.to_str().and_then(|name| name.strip_prefix(OF_CHILD)?.parse().ok());
        let is_gone = |pid: Pid| test_kill_process(pid) == Err(rustix::io::Errno::SRCH);
        if supervisor.and_then(Pid::from_raw).is_some_and(is_gone) {
            end(&group.path());
            fs::remove_dir(group.path()).ok();
        }
    }
}
