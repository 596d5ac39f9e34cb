//! All descendants of this process: it becomes the parent of those that lose theirs, so that none escapes by its own
//! session, group or environment.

use std::{
    collections::{HashMap, HashSet},
    ffi::OsStr,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process};

/// The wait for killed processes to end, before the next look for them.
const BETWEEN: Duration = Duration::from_millis(1);
/// How many such waits are first spent on processes that end by themselves.
const BY_ITSELF: u32 = 3;
/// The time limit for all of them. A process that sleeps in the kernel, on a disk that does not answer, ends when the
/// disk does.
const LONGEST: Duration = Duration::from_secs(30);
/// The prefixes of links to files in memory.
const IN_MEMORY: [&[u8]; 3] = [b"/memfd:", b"/dev/shm/", b"/dev/zero"];

/// The resources that all of them use together.
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

/// Makes this process the parent of all its orphaned descendants.
pub(super) fn adopt() -> io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}

/// Reaps the children that ended, and returns the status of `child` if it is one of them.
pub(super) fn reap(child: Pid) -> Option<WaitStatus> {
    let mut found = None;
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        if pid == child {
            found = Some(status);
        }
    }
    found
}

/// Kills all of them, and returns when none is left, or after [`LONGEST`]. They are stopped first: a running one could
/// start others faster than they are found.
pub(super) fn end() {
    let began = Instant::now();
    let mut waited = 0;
    while began.elapsed() < LONGEST {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Err(rustix::io::Errno::CHILD) => return,
            Ok(Some(_)) => continue,
            // The rest of a box ends with its first process. On a machine with many processes, a scan of all takes
            // longer.
            Ok(None) if waited < BY_ITSELF => {
                waited += 1;
                std::thread::sleep(BETWEEN);
                continue;
            }
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
        // It may be gone already, which is fine.
        kill_process(pid, signal).ok();
    }
}

/// The current use. If it may exceed `memory` bytes, the kernel is asked how much of it is shared.
pub(super) fn taken(memory: u64) -> Taken {
    let all = descendants();
    let mut taken = Taken { processes: all.len() as u64, ..Taken::default() };
    let mut shared = 0;
    for pid in &all {
        let status = fs::read(format!("/proc/{pid}/status")).unwrap_or_default();
        taken.own += size_in(&status, "RssAnon:") + size_in(&status, "VmSwap:");
        shared += size_in(&status, "RssShmem:");
    }
    let (open, unnamed) = unnamed_files(&all);
    let held: u64 = open.values().sum();
    // The sum counts memory that several processes share once for each, and memory that is both mapped and held open
    // twice. The kernel can tell these apart, which takes longer.
    if taken.own + shared + held > memory {
        shared = all.iter().map(|pid| fairly_shared(*pid, &open)).sum();
    }
    taken.shared = shared + held;
    taken.unnamed = unnamed;
    taken
}

/// This process's proportional share of shared memory, except for files in memory that are counted already. If the
/// kernel does not tell it, all of the shared memory.
fn fairly_shared(pid: i32, counted: &InMemory) -> u64 {
    let Ok(table) = fs::read(format!("/proc/{pid}/smaps_rollup")) else {
        return size_in(&fs::read(format!("/proc/{pid}/status")).unwrap_or_default(), "RssShmem:");
    };
    let mappings =
        if counted.is_empty() { Vec::new() } else { fs::read(format!("/proc/{pid}/smaps")).unwrap_or_default() };
    size_in(&table, "Pss_Shmem:").saturating_sub(mapped_of(counted, &mappings))
}

/// Bytes of these files in a table like `/proc/PID/smaps`, without private pages: the kernel counts those as the
/// process's own.
fn mapped_of(files: &InMemory, table: &[u8]) -> u64 {
    let (mut sum, mut is_one, mut shown) = (0, false, 0);
    for line in table.split(|byte| *byte == b'\n') {
        if line.first().is_some_and(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase()) {
            is_one = file_of(line).is_some_and(|file| files.contains_key(&file));
        } else if is_one && line.starts_with(b"Pss:") {
            shown = size_in(line, "Pss:");
        } else if is_one && line.starts_with(b"Anonymous:") {
            sum += shown.saturating_sub(size_in(line, "Anonymous:"));
        }
    }
    sum
}

/// The device and the inode of the file in a mapping's first line.
fn file_of(line: &[u8]) -> Option<(u64, u64)> {
    // A file name after them may not be valid UTF-8.
    let words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let mut words = words.skip(3).map_while(|word| std::str::from_utf8(word).ok());
    let (major, minor) = words.next()?.split_once(':')?;
    let number = |text| u32::from_str_radix(text, 16).ok();
    Some((rustix::fs::makedev(number(major)?, number(minor)?), words.next()?.parse().ok()?))
}

/// Bytes of files in memory that have no name and are held open, by device and inode.
type InMemory = HashMap<(u64, u64), u64>;

/// Files that have no name and are held open: those in memory, and bytes of others by the file system they are on.
fn unnamed_files(all: &[i32]) -> (InMemory, HashMap<u64, u64>) {
    let (mut memory, mut on_disk, mut seen) = (InMemory::new(), HashMap::new(), HashSet::new());
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
            memory.insert((found.dev(), found.ino()), bytes);
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

/// The inode of the socket that an open file's link names; `None` if it is not a socket.
pub(super) fn socket(link: &Path) -> Option<u64> {
    link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// Whether any of them has the controlling end of this terminal open.
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

/// The links of all their open files.
fn opened(all: &[i32]) -> impl Iterator<Item = PathBuf> {
    let of = |pid: &i32| fs::read_dir(format!("/proc/{pid}/fd"));
    all.iter().filter_map(move |pid| of(pid).ok()).flatten().flatten().map(|entry| entry.path())
}

/// Their ids, without this process's own.
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

/// The figure after this word in one of the kernel's tables of sizes, in bytes.
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

    #[test]
    fn what_is_mapped_of_a_file_is_found_without_what_was_changed_of_it() {
        let table = b"7f00-7f10 rw-s 00000000 00:01 4711                       /memfd:a\xff (deleted)\n\
            Size:  40 kB\nPss:  24 kB\nPss_Dirty:  24 kB\nAnonymous:  8 kB\nVmFlags: rd\n\
            a000-b000 rw-s 00000000 00:01 4712 /memfd:b (deleted)\nPss:  400 kB\nAnonymous:  0 kB\n\
            b000-c000 rw-p 00000000 00:00 0\nPss:  400 kB\nAnonymous:  400 kB\n";
        let file = |inode| InMemory::from([((rustix::fs::makedev(0, 1), inode), 1 << 20)]);
        assert_eq!([4711, 4712, 4713].map(|inode| mapped_of(&file(inode), table)), [16 << 10, 400 << 10, 0]);
    }
}
