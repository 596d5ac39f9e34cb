//! All processes that came from this one: it is made the parent of those that lose theirs, so that none gets away by a
//! session, a group or an environment of its own.

use std::{
    collections::{HashMap, HashSet},
    ffi::OsStr,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process};

/// How long a process that was killed is given to be gone, before they are looked for again.
const BETWEEN: Duration = Duration::from_millis(1);
/// How long all of them are given. One that sleeps in the kernel, over a disk that does not answer, ends when the disk does.
const LONGEST: Duration = Duration::from_secs(30);
/// How links to files in memory begin.
const IN_MEMORY: [&[u8]; 3] = [b"/memfd:", b"/dev/shm/", b"/dev/zero"];

/// What all of them take together.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) processes: u64,
    /// Bytes of memory that each has for itself.
    own: u64,
    /// Bytes of memory that they share, each counted once.
    shared: u64,
    /// Bytes of open files without a name, by the file system they are on.
    pub(super) unnamed: HashMap<u64, u64>,
}

impl Taken {
    /// Bytes of memory.
    pub(super) fn memory(&self) -> u64 {
        self.own + self.shared
    }
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

/// Kills all of them, and returns when none is left, or after [`LONGEST`]. They are stopped first: one that runs could start
/// others faster than they are found.
pub(super) fn end() {
    let began = Instant::now();
    while began.elapsed() < LONGEST {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Err(rustix::io::Errno::CHILD) => return,
            Ok(Some(_)) => continue,
            Ok(None) | Err(_) => {}
        }
        let mut stopped = HashSet::new();
        loop {
            let running: Vec<_> = descendants().into_iter().filter(|pid| stopped.insert(*pid)).collect();
            if running.is_empty() || began.elapsed() >= LONGEST {
                break;
            }
            running.iter().for_each(|pid| signal(*pid, Signal::STOP));
        }
        stopped.iter().for_each(|pid| signal(*pid, Signal::KILL));
        std::thread::sleep(BETWEEN);
    }
    unended(descendants().len());
}

#[expect(clippy::print_stderr, reason = "standard error is all that this process shares with Hob")]
fn unended(left: usize) {
    eprintln!("hob: {left} processes of the program did not end in {} s", LONGEST.as_secs());
}

fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // It may be gone already: nothing is lost then.
        kill_process(pid, signal).ok();
    }
}

/// What they take now. Where that may be more than `memory` bytes of it, the kernel is asked how much of it they share.
pub(super) fn taken(memory: u64) -> Taken {
    let all = descendants();
    let mut taken = Taken { processes: all.len() as u64, ..Taken::default() };
    let mut shared = 0;
    for pid in &all {
        let status = fs::read(format!("/proc/{pid}/status")).unwrap_or_default();
        taken.own += size_in(&status, "RssAnon:") + size_in(&status, "VmSwap:");
        shared += size_in(&status, "RssShmem:");
    }
    // What several of them share counts for each of them there. The kernel divides it, which takes it longer.
    if taken.own + shared > memory {
        shared = all.iter().map(|pid| fairly_shared(*pid)).sum();
    }
    let (open, unnamed) = unnamed_files(&all);
    // What is mapped may be open, too.
    taken.shared = shared.max(open);
    taken.unnamed = unnamed;
    taken
}

/// The part of shared memory that is this process's, by how many share it; where that is not told, all of it.
fn fairly_shared(pid: i32) -> u64 {
    match fs::read(format!("/proc/{pid}/smaps_rollup")) {
        Ok(table) => size_in(&table, "Pss_Shmem:"),
        Err(_) => size_in(&fs::read(format!("/proc/{pid}/status")).unwrap_or_default(), "RssShmem:"),
    }
}

/// Files that have no name and are held open: bytes of those in memory, and of others by the file system they are on.
fn unnamed_files(all: &[i32]) -> (u64, HashMap<u64, u64>) {
    let (mut memory, mut on_disk, mut seen) = (0, HashMap::new(), HashSet::new());
    for entry in opened(all) {
        let Ok(target) = fs::read_link(&entry) else { continue };
        let target = target.as_os_str().as_encoded_bytes();
        if !target.ends_with(b" (deleted)") {
            continue;
        }
        let Ok(found) = fs::metadata(&entry) else { continue };
        if !found.is_file() || found.nlink() > 0 || !seen.insert((found.dev(), found.ino())) {
            continue;
        }
        let bytes = found.blocks() * 512;
        if IN_MEMORY.iter().any(|place| target.starts_with(place)) {
            memory += bytes;
        } else {
            *on_disk.entry(found.dev()).or_default() += bytes;
        }
    }
    (memory, on_disk)
}

/// The sockets that any of them has open, by their inodes.
pub(super) fn open_sockets() -> HashSet<u64> {
    opened(&descendants()).filter_map(|entry| socket(&fs::read_link(entry).ok()?)).collect()
}

/// The socket that an open file is, by its inode, as the link to it says; none: it is no socket.
pub(super) fn socket(link: &Path) -> Option<u64> {
    link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// Whether any of them has the end of this terminal open from which it is driven.
pub(super) fn has_terminal(number: u32) -> bool {
    let drives = |entry: PathBuf| {
        let link = fs::read_link(&entry).ok()?;
        let is_driver = link.file_name() == Some(OsStr::new("ptmx"));
        let told = is_driver.then(|| entry.to_str().map(|entry| entry.replacen("/fd/", "/fdinfo/", 1)))??;
        let index =
            |line: &str| line.strip_prefix("tty-index:").is_some_and(|index| index.trim().parse() == Ok(number));
        Some(fs::read_to_string(told).ok()?.lines().any(index))
    };
    opened(&descendants()).any(|entry| drives(entry).unwrap_or(false))
}

/// What they have open, as links.
fn opened(all: &[i32]) -> impl Iterator<Item = PathBuf> {
    let of = |pid: &i32| fs::read_dir(format!("/proc/{pid}/fd"));
    all.iter().filter_map(move |pid| of(pid).ok()).flatten().flatten().map(|entry| entry.path())
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

fn parent(process: &Path) -> Option<i32> {
    crate::stat_field(process, 4)?.parse().ok()
}

/// The figure behind this word in one of the kernel's tables of sizes, in bytes.
fn size_in(table: &[u8], word: &str) -> u64 {
    let line = table.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(word.as_bytes()));
    let kib = line.and_then(|line| std::str::from_utf8(line).ok()?.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_from_the_kernels_tables() {
        let table = b"Name:\ts\xff\nRssAnon:\t    1024 kB\nRssShmem:\t       4 kB\nVmSwap:\tnonsense\n";
        let sizes = ["RssAnon:", "RssShmem:", "VmSwap:", "RssFile:"].map(|word| size_in(table, word));
        assert_eq!(sizes, [1 << 20, 4096, 0, 0]);
    }
}
