//! The supervisor of one child: it starts the child, and stays until none of the child's processes is left.
//!
//! - Flow: it reads a [`Launch`] from its standard input, starts the child from a thread that has restricted itself, or
//!   in a box by Hob's program, and waits. When the child ends, Hob asks for the end with `SIGTERM`, or Hob is gone, it
//!   kills everything that is left and ends as the child did.
//! - Guarantees: a process cannot escape by a session, a group, an environment or a parent that ends, because the
//!   supervisor becomes the parent of all of them. Hob's death is seen by the kernel's own handle of the process,
//!   however Hob dies.
//! - Assumptions: only Hob kills it; Landlock keeps the child from doing so.

use std::{
    collections::{BTreeSet, HashMap},
    fs, io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::{fs::MetadataExt, net::UnixStream, process::CommandExt},
    },
    path::PathBuf,
    process::{Child, Command, ExitCode},
    sync::{Arc, OnceLock},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{DumpableBehavior, Pid, PidfdFlags, WaitStatus, getppid, pidfd_open},
    thread::{CpuSet, sched_getaffinity, sched_setaffinity},
};

use super::{
    RefusedError, bubblewrap,
    calls::Refusals,
    confine,
    group::Group,
    layout::Layout,
    namespaces, refused,
    report::{Heard, Report},
    tree,
};
use crate::{Launch, Maker, Measured, Plan, Tier, measure};

/// The shortest time between two measurements of its folders, unless the disk is short of space.
const WATCH: Duration = Duration::from_secs(1);
/// The shortest time between two measurements, as a multiple of the time that the last one took.
const SELDOM: Duration = Duration::from_secs(5);
/// and how many times the time that it took is to pass in between.
const SHARE: u32 = 20;
/// The exit code if Hob asked for the end: a shell's for a program that `SIGTERM` ended.
const TERMINATED: u8 = 128 + 15;
/// The longest launch that can be Hob's: an argument may have 128 KiB, an environment as much again.
const LONGEST: usize = 16 << 20;

/// Supervises the child that standard input describes.
pub(crate) fn supervise() -> ExitCode {
    let launch = match prepare() {
        Ok(launch) => launch,
        Err(error) => return refused("", &error),
    };
    run(&launch).unwrap_or_else(|error| {
        tree::end();
        refused(&launch.nonce, &error)
    })
}

fn prepare() -> Result<Launch, RefusedError> {
    // Keeps the child's secrets from the terminal and from processes that may not trace this one.
    rustix::process::setsid().ok();
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(RefusedError::at("hide"))?;
    read_launch()
}

fn run(launch: &Launch) -> Result<ExitCode, RefusedError> {
    let owner = owner(launch.owner)?;
    tree::adopt().map_err(RefusedError::at("adopt what the child leaves"))?;
    let (asked, ask) = UnixStream::pair().map_err(RefusedError::at("listen for signals"))?;
    signal_hook::low_level::pipe::register(signal_hook::consts::SIGTERM, ask)
        .map_err(RefusedError::at("listen for signals"))?;
    fs::write("/proc/self/oom_score_adj", "800").ok();
    use_processors(launch.plan.limits.processors).map_err(RefusedError::at("limit the processors"))?;
    let disk = Disk::new(&launch.plan)?;
    let refusals = Arc::<Refusals>::default();
    let group = Group::new(&launch.plan.limits);
    let start = || start(launch, &refusals);
    let (child, heard) = group.as_ref().map_or_else(start, |group| group.inside(start))?;
    let all = All { plan: &launch.plan, disk, group };
    let ended = wait(all, &owner, &asked, child);
    let reason = heard.and_then(|heard| heard.refusal(|what| drop(refusals.note(what.to_owned()))));
    if let Some(told) = refusals.told() {
        tell(&format!("\n{}{told}", crate::refusals_by(&launch.nonce)));
    }
    match (ended?, reason) {
        (Ended::ByItself(_), Some(reason)) => Err(RefusedError::LastStep(reason)),
        (Ended::ByItself(status), None) => Ok(ending(status, launch.plan.tier)),
        (Ended::ByUs(code), _) => Ok(ExitCode::from(code)),
    }
}

/// Lets this process and what it starts use only the first of the processors that it may use; 0 means all of them.
fn use_processors(most: u64) -> rustix::io::Result<()> {
    if most == 0 {
        return Ok(());
    }
    let (may, mut used) = (sched_getaffinity(None)?, CpuSet::new());
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    (0..CpuSet::MAX_CPU)
        .filter(|processor| may.is_set(*processor))
        .take(most)
        .for_each(|processor| used.set(processor));
    sched_setaffinity(None, &used)
}

/// How the child ended.
enum Ended {
    ByItself(WaitStatus),
    ByUs(u8),
}

/// All descendants of the child, and their use of resources.
struct All<'a> {
    plan: &'a Plan,
    disk: Disk,
    group: Option<Group>,
}

impl All<'_> {
    /// Ends all of it.
    fn end(&self) {
        self.group.iter().for_each(Group::end);
        tree::end();
    }

    /// The limit that it exceeded, if any.
    fn excess(&mut self) -> Option<String> {
        excess(self.plan, &mut self.disk)
    }

    /// The limit for which the kernel ended it.
    fn ended_for(&self) -> Option<String> {
        self.group.as_ref().filter(|group| group.ran_out_of_memory()).map(|_| too_much_memory(self.plan))
    }
}

/// Waits until the child ends, or must be ended.
fn wait(mut all: All<'_>, owner: &OwnedFd, asked: &UnixStream, child: Pid) -> Result<Ended, RefusedError> {
    let child_handle = pidfd_open(child, PidfdFlags::empty()).map_err(RefusedError::at("watch the child"))?;
    loop {
        let ready = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
        let mut watched = [ready(owner.as_fd()), ready(asked.as_fd()), ready(child_handle.as_fd())];
        let wait = Timespec { tv_sec: WATCH.as_secs() as i64, tv_nsec: 0 };
        match poll(&mut watched, Some(&wait)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(RefusedError::at("watch the child")(error)),
        }
        let [owner_ended, end_wanted, _] = watched.map(|one| !one.revents().is_empty());
        if owner_ended || end_wanted {
            all.end();
            return Ok(Ended::ByUs(TERMINATED));
        }
        let reaped = tree::reap(child);
        let excess = if reaped.is_some() { all.ended_for() } else { all.excess() };
        if let Some(reason) = excess {
            all.end();
            tell(&format!("hob: the sandbox ended the program: {reason}"));
            return Ok(Ended::ByUs(crate::REFUSED));
        }
        if let Some(status) = reaped {
            all.end();
            return Ok(Ended::ByItself(status));
        }
    }
}

#[expect(clippy::print_stderr, reason = "standard error is all that this process shares with Hob")]
fn tell(what: &str) {
    eprintln!("{what}");
}

/// Reads exactly the launch, so that the rest is left to the child.
fn read_launch() -> Result<Launch, RefusedError> {
    let mut length = [0; 4];
    read_exactly(&mut length)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > LONGEST {
        return Err(RefusedError::at("read what to start")(io::Error::from(io::ErrorKind::FileTooLarge)));
    }
    let mut bytes = vec![0; length];
    read_exactly(&mut bytes)?;
    Ok(postcard::from_bytes(&bytes)?)
}

fn read_exactly(mut buffer: &mut [u8]) -> Result<(), RefusedError> {
    while !buffer.is_empty() {
        match rustix::io::read(rustix::stdio::stdin(), &mut *buffer) {
            Ok(0) => return Err(RefusedError::at("read what to start")(io::Error::from(io::ErrorKind::UnexpectedEof))),
            Ok(count) => buffer = &mut buffer[count..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(RefusedError::at("read what to start")(error)),
        }
    }
    Ok(())
}

/// The kernel's handle of the process that the child must not outlive.
fn owner(id: i32) -> Result<OwnedFd, RefusedError> {
    let gone = || RefusedError::at("find Hob")(io::Error::from(io::ErrorKind::NotFound));
    let owner = Pid::from_raw(id).ok_or_else(gone)?;
    let handle = pidfd_open(owner, PidfdFlags::empty()).map_err(RefusedError::at("find Hob"))?;
    // Its id may have been reused since; the current parent was the parent all the time.
    if getppid() == Some(owner) { Ok(handle) } else { Err(gone()) }
}

/// Starts the child, and returns the report of the process that does so, if it is another one.
fn start(launch: &Launch, refusals: &Arc<Refusals>) -> Result<(Pid, Option<Heard>), RefusedError> {
    let (child, heard) = match launch.plan.tier {
        Tier::Box => boxed(launch).map(|(child, heard)| (child, Some(heard)))?,
        Tier::Fence | Tier::None => (confine::start(launch, refusals)?, None),
    };
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let id = id.ok_or_else(|| RefusedError::at("start the child")(io::Error::other("it has no id")))?;
    Ok((id, heard))
}

/// Starts the maker of a box, which starts Hob's program there to start the child.
#[expect(clippy::disallowed_methods, reason = "the supervisor is what `hob-process` starts children by")]
fn boxed(launch: &Launch) -> Result<(Child, Heard), RefusedError> {
    let report = Report::new()?;
    let layout = Layout::new(&launch.plan, &launch.folder)?;
    let step = confine::arguments(launch, &layout.launcher, report.number())?;
    let (program, arguments) = match launch.plan.maker {
        Maker::Bubblewrap => bubblewrap::command(&layout)?,
        Maker::Hob => namespaces::command(layout, report.number())?,
    };
    let child = Command::new(program)
        .args(arguments)
        .args(step)
        .args(&launch.arguments)
        .env_clear()
        .envs(launch.environment.iter().map(|(name, value)| (name, value)))
        // The folder may exist only in the box, which then enters it itself.
        .current_dir("/")
        .process_group(0)
        .spawn();
    Ok((child.map_err(RefusedError::at("start what makes the box"))?, report.listen()))
}

/// Signals that end a program which does not expect them, including that of a lack of memory.
const FATAL: [i32; 9] = [
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGKILL,
    libc::SIGSEGV,
    libc::SIGSYS,
    libc::SIGTERM,
    libc::SIGXCPU,
];

/// Ends as the child did. The maker of a box reports a child that a signal ended as a shell does, by its exit code.
fn ending(status: WaitStatus, tier: Tier) -> ExitCode {
    let code = status.exit_status().filter(|_| tier == Tier::Box);
    let told = code.and_then(|code| FATAL.into_iter().find(|signal| code == 128 + signal));
    if let Some(signal) = status.terminating_signal().or(told) {
        // The child left no core dump, and this process must not either.
        signal_hook::low_level::emulate_default_handler(signal).ok();
        return ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX));
    }
    ExitCode::from(status.exit_status().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}

fn too_much_memory(plan: &Plan) -> String {
    format!("it used more than {} MiB of memory (`sandbox.memory`)", plan.limits.memory >> 20)
}

/// The limit that is exceeded, if any.
fn excess(plan: &Plan, disk: &mut Disk) -> Option<String> {
    let limits = plan.limits;
    let taken = tree::taken(limits.memory);
    let past = |taken: u64, limit: u64| limit > 0 && taken > limit;
    if past(taken.memory(), limits.memory) {
        return Some(too_much_memory(plan));
    }
    if past(taken.processes, limits.processes) {
        return Some(format!("it ran more than {} processes (`sandbox.processes`)", limits.processes));
    }
    if past(disk.grew(&taken.unnamed), limits.disk) {
        return Some(format!("it wrote more than {} MiB (`sandbox.disk`)", limits.disk >> 20));
    }
    None
}

/// The growth of the child's folders. Measuring large folders takes long, so it is done if the file system has less
/// free space than it should, and otherwise only as often as it costs little. Others use the file system too, so free
/// space alone proves nothing, except for folders that cannot be read.
struct Disk {
    folders: Vec<PathBuf>,
    devices: BTreeSet<u64>,
    free: u64,
    /// Measured concurrently: in a large checkout it takes longer than most children.
    before: Arc<OnceLock<Measured>>,
    limit: u64,
    last: Instant,
    cost: Duration,
    grown: u64,
}

impl Disk {
    fn new(plan: &Plan) -> Result<Self, RefusedError> {
        let folders: Vec<_> = plan.write.iter().chain(&plan.root).filter_map(|path| path.canonicalize().ok()).collect();
        let devices = folders.iter().filter_map(|folder| Some(fs::metadata(folder).ok()?.dev())).collect();
        let before = Arc::<OnceLock<Measured>>::default();
        let limit = plan.limits.disk;
        if limit > 0 {
            let (folders, before) = (folders.clone(), Arc::clone(&before));
            let measure = move || before.set(measure_all(&folders));
            thread::Builder::new().spawn(measure).map_err(RefusedError::at("measure the child's folders"))?;
        }
        let (free, last) = (free(&folders), Instant::now());
        Ok(Self { folders, devices, free, before, limit, last, cost: Duration::ZERO, grown: 0 })
    }

    /// The growth in bytes, with open files that no longer have a name, by their file systems.
    fn grew(&mut self, unnamed: &HashMap<u64, u64>) -> u64 {
        let Some(before) = self.before.get() else { return 0 };
        let gone = self.free.saturating_sub(free(&self.folders));
        if gone > self.limit || self.last.elapsed() > (self.cost * SHARE).max(SELDOM) {
            let began = Instant::now();
            let now = measure_all(&self.folders);
            self.grown = now.bytes.saturating_sub(before.bytes);
            if before.whole && !now.whole {
                self.grown = self.grown.max(gone);
            }
            (self.last, self.cost) = (Instant::now(), began.elapsed());
        }
        self.grown + self.devices.iter().filter_map(|device| unnamed.get(device)).sum::<u64>()
    }
}

fn measure_all(folders: &[PathBuf]) -> Measured {
    let add = |sum: Measured, one: Measured| Measured { bytes: sum.bytes + one.bytes, whole: sum.whole && one.whole };
    folders.iter().map(|folder| measure(folder)).fold(Measured { bytes: 0, whole: true }, add)
}

fn free(folders: &[PathBuf]) -> u64 {
    let one = |folder: &PathBuf| rustix::fs::statvfs(folder).map(|found| found.f_bfree * found.f_frsize);
    folders.iter().filter_map(|folder| one(folder).ok()).min().unwrap_or(u64::MAX)
}
