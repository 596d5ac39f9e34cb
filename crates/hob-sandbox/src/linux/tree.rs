//! All processes that came from this one: it is made the parent of those that lose theirs, so that none gets away by a
//! session, a group or an environment of its own.

use std::{
    collections::{HashMap, HashSet},
    fs, io,
    path::Path,
    time::Duration,
};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process};

/// How long a process that was killed is given to be gone, before they are looked for again.
const BETWEEN: Duration = Duration::from_millis(1);

/// What all of them take together.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) processes: u64,
    /// Bytes of memory that they do not share.
    pub(super) memory: u64,
}

/// Makes this process the parent of all that came from it and lose their own.
pub(super) fn adopt() -> io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}

/// Takes note of the children that ended, and returns how `child` did, where it is one of them.
pub(super) fn reap(child: Pid) -> Option<WaitStatus> {
    let mut found = None;
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        if pid == child {
            found = Some(status);
        }
    }
    found
}

/// Kills all of them, and returns when none is left. They are stopped first: one that runs could start others faster than
/// they are found.
pub(super) fn end() {
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Err(rustix::io::Errno::CHILD) => return,
            Ok(Some(_)) => continue,
            Ok(None) | Err(_) => {}
        }
        let mut stopped = HashSet::new();
        loop {
            let running: Vec<_> = descendants().into_iter().filter(|pid| stopped.insert(*pid)).collect();
            if running.is_empty() {
                break;
            }
            running.iter().for_each(|pid| signal(*pid, Signal::STOP));
        }
        stopped.iter().for_each(|pid| signal(*pid, Signal::KILL));
        std::thread::sleep(BETWEEN);
    }
}

fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // It may be gone already: nothing is lost then.
        kill_process(pid, signal).ok();
    }
}

/// What they take now.
pub(super) fn taken() -> Taken {
    let page = rustix::param::page_size() as u64;
    let one = |pid: i32| {
        let statm = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
        let mut pages = statm.split(' ').skip(1).map(|pages| pages.parse::<u64>().unwrap_or(0));
        let (resident, shared) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
        resident.saturating_sub(shared) * page
    };
    let all = descendants();
    Taken { processes: all.len() as u64, memory: all.into_iter().map(one).sum() }
}

/// Their ids, this process's own not among them.
fn descendants() -> Vec<i32> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Some(parent) = parent(&entry.path()) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut next = vec![rustix::process::getpid().as_raw_nonzero().get()];
    while let Some(pid) = next.pop() {
        let below = children.remove(&pid).unwrap_or_default();
        found.extend(&below);
        next.extend(below);
    }
    found
}

/// The second field behind the name, which may hold anything.
fn parent(process: &Path) -> Option<i32> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}
