//! Other processes: what they hold, what can be done to them, and rights beyond the prisoner's own.

use std::{
    fs::{self, File},
    io,
    path::Path,
    process::{Command, Stdio},
};

use rustix::{
    fs::{MemfdFlags, memfd_create},
    process::{
        Pid, PidfdFlags, PidfdGetfdFlags, Signal, getppid, kill_process, pidfd_getfd, pidfd_open, pidfd_send_signal,
    },
};

use crate::{
    attempt::{Attempt, Outcome, Told},
    raw::{Calls, SCRATCH, Word, n},
};

/// The open files above 2 that this process began with.
pub(crate) fn inherited() -> Vec<String> {
    let open = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let named = open.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())));
    // The folder that is read here is open, too.
    let other = named.filter(|(_, path)| fs::read_link(path).is_ok_and(|target| !target.ends_with("fd")));
    other.map(|(number, _)| number).filter(|number| !["0", "1", "2"].contains(&number.as_str())).collect()
}

pub(crate) fn attempts(told: &Told, inherited: Vec<String>) -> Vec<Attempt> {
    let pid = told.pid();
    let of = |name: &str| format!("/proc/{pid}/{name}");
    let parent = getppid().unwrap();
    vec![
        ("list the machine's processes", Outcome::when(Path::new(&of("stat")).exists(), "by the id of one outside")),
        ("read the arguments of a process outside", Outcome::of(some(&of("cmdline")))),
        ("read the environment of a process outside", Outcome::of(some(&of("environ")))),
        (
            "read the environment of the process that started it",
            Outcome::of(some(&format!("/proc/{}/environ", told.text("guard")))),
        ),
        ("read the environment of its supervisor", Outcome::of(some(&format!("/proc/{parent}/environ")))),
        ("read the environment of any process but its own", any_environment(told)),
        ("read the memory of a process outside", Outcome::of(File::open(of("mem")))),
        ("write to the memory of a process outside", Outcome::of(File::options().write(true).open(of("mem")))),
        ("read the map of a process's memory", Outcome::of(some(&of("maps")))),
        (
            "see which program, folder and root a process has",
            Outcome::of(fs::read_link(of("exe")).or(fs::read_link(of("cwd"))).or(fs::read_link(of("root")))),
        ),
        ("see which files a process has open", Outcome::of(fs::read_link(of("fd/0")))),
        (
            "have open files of the process that started Hob",
            Outcome::when(!inherited.is_empty(), format!("{inherited:?}")),
        ),
        ("have variables of the process that started Hob", variables(told)),
        ("start what outlives its run", outlive(told)),
    ]
    .into_iter()
    .chain(acts(told))
    .chain(slows(pid))
    .chain(rights())
    .collect()
}

/// What the file holds; nothing at all is an error.
fn some(path: &str) -> io::Result<Vec<u8>> {
    let found = fs::read(path)?;
    if found.is_empty() { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(found) }
}

/// Those of the prisoner's own box are its own.
fn any_environment(told: &Told) -> Outcome {
    let all = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("environ"));
    let own = Path::new("/proc/self/environ").canonicalize().unwrap();
    let holds = |path: &Path| {
        let found = fs::read(path).unwrap_or_default();
        *path != *own && String::from_utf8_lossy(&found).contains(told.text("canary"))
    };
    match all.into_iter().find(|path| holds(path)) {
        Some(path) => Outcome::Through(path.display().to_string()),
        None => Outcome::Held("no environment with the canary is readable".to_owned()),
    }
}

fn variables(told: &Told) -> Outcome {
    #[expect(clippy::disallowed_methods, reason = "the prisoner is no part of Hob")]
    let mut all = std::env::vars();
    let found = all.find(|(_, value)| value.contains(told.text("canary")));
    Outcome::when(found.is_some(), found.map_or("none with the canary".to_owned(), |(name, _)| name))
}

/// A process in a session of its own, whose parent ends. The guard looks for the mark.
fn outlive(told: &Told) -> Outcome {
    fs::write(told.text("mark"), "").unwrap();
    #[expect(clippy::disallowed_methods, reason = "the prisoner is no part of Hob")]
    let mut session = Command::new("setsid");
    let started =
        session.args(["sh", "-c", "tail -f \"$0\" & :", told.text("mark")]).env_clear().env("PATH", "/usr/bin:/bin");
    let started = started.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    Outcome::Held(started.map_or_else(|error| error.to_string(), |_| "it was gone with the run".to_owned()))
}

/// Acting on a process outside; no signal here does anything to it.
fn acts(told: &Told) -> Vec<Attempt> {
    let (raw, guard) = (told.pid(), told.text("guard").parse().unwrap());
    let pid = Pid::from_raw(raw).unwrap();
    let number = n(raw.into());
    let handle = || pidfd_open(pid, PidfdFlags::empty()).map_err(io::Error::from);
    let steal = || Ok::<_, io::Error>(pidfd_getfd(handle()?, 0, PidfdGetfdFlags::empty())?);
    let signal = libc::SIGURG.into();
    let mut info = Calls::default();
    // `siginfo_t`: number, no error, `SI_QUEUE`.
    let queued = info.bytes(&[&libc::SIGURG.to_le_bytes()[..], &[0; 4], &(-1_i32).to_le_bytes(), &[0; 116]].concat());
    let mut vectors = Calls::default();
    let (mine, its) = (vectors.numbers(&[0x0040_2000, 8]), vectors.numbers(&[0x1000, 8]));
    let read = [number, mine, n(1), its, n(1), n(0)];
    const SEIZE: i64 = 0x4206;
    vec![
        ("signal a process outside", Outcome::of(kill_process(pid, Signal::URG).map_err(io::Error::from))),
        (
            "signal the process that started it",
            Outcome::of(kill_process(Pid::from_raw(guard).unwrap(), Signal::URG).map_err(io::Error::from)),
        ),
        ("signal its supervisor", Outcome::of(kill_process(getppid().unwrap(), Signal::URG).map_err(io::Error::from))),
        (
            "signal by a handle of the process",
            Outcome::of(handle().and_then(|handle| Ok(pidfd_send_signal(handle, Signal::URG)?))),
        ),
        ("signal with a value", info.then(libc::SYS_rt_sigqueueinfo, &[number, n(signal), queued]).make()),
        ("signal one thread", Calls::one(libc::SYS_tgkill, &[number, number, n(signal)]).make()),
        ("take an open file from a process", Outcome::of(steal())),
        ("trace a process outside", Calls::one(libc::SYS_ptrace, &[n(SEIZE), number]).make()),
        (
            "read a process's memory by `process_vm_readv`",
            vectors.then(libc::SYS_process_vm_readv, &read).admitted_by(&[libc::EFAULT, libc::EINVAL]).make(),
        ),
        ("compare what processes have open", Calls::one(libc::SYS_kcmp, &[number, number]).make()),
        ("enter the network namespace of a process", Outcome::of(File::open(format!("/proc/{raw}/ns/net")))),
    ]
}

/// Making a process outside slower, or ending it by a limit.
fn slows(pid: i32) -> Vec<Attempt> {
    let number = n(pid.into());
    let limit = Calls::one(libc::SYS_prlimit64, &[number, n(libc::RLIMIT_CORE.into()), SCRATCH]);
    const BATCH: i64 = 3;
    const NO_USER: Word = Word::Is(54_321);
    const BEST_EFFORT_LAST: i64 = (2 << 13) | 7;
    let mut cpus = Calls::default();
    let all = cpus.bytes(&[0xff; 128]);
    vec![
        ("set a limit of a process outside", limit.make()),
        ("lower the priority of a process outside", Calls::one(libc::SYS_setpriority, &[n(0), number, n(1)]).make()),
        (
            "lower the priority of all processes of a user",
            Calls::one(libc::SYS_setpriority, &[n(2), NO_USER, n(1)]).admitted_by(&[libc::ESRCH]).make(),
        ),
        (
            "change the scheduling of a process outside",
            Calls::one(libc::SYS_sched_setscheduler, &[number, n(BATCH), SCRATCH]).make(),
        ),
        (
            "choose the processors of a process outside",
            cpus.then(libc::SYS_sched_setaffinity, &[number, n(128), all]).make(),
        ),
        (
            "change the disk priority of a process outside",
            Calls::one(libc::SYS_ioprio_set, &[n(1), number, n(BEST_EFFORT_LAST)]).make(),
        ),
    ]
}

/// Rights beyond its own.
fn rights() -> Vec<Attempt> {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.trim().to_owned()
    };
    let limits = fs::read_to_string("/proc/self/limits").unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap_or_default().to_owned();
    let capabilities = format!("{} {}", field("CapPrm:"), field("CapEff:"));
    let any = capabilities.contains(|digit: char| digit != '0' && digit != ' ');
    let mut more = Calls::default();
    // No more than what everybody has without a sandbox.
    let one_byte = more.numbers(&[1, 1]);
    let more = more.then(libc::SYS_prlimit64, &[n(0), n(libc::RLIMIT_CORE.into()), one_byte]);
    let mut first = Calls::default();
    let first_in_line = first.bytes(&1_u64.to_le_bytes());
    let first = first.then(libc::SYS_sched_setscheduler, &[n(0), n(1), first_in_line]);
    vec![
        (
            "win rights by a setuid program",
            Outcome::when(field("NoNewPrivs:") != "1", format!("NoNewPrivs: {}", field("NoNewPrivs:"))),
        ),
        ("have a capability", Outcome::when(any, capabilities)),
        ("become another user", Calls::one(libc::SYS_setuid, &[n(65_534)]).make()),
        ("leave its groups", Calls::one(libc::SYS_setgroups, &[n(0), n(0)]).make()),
        ("raise a limit of its own", more.make()),
        ("be dumped when it crashes", Outcome::when(core.split_whitespace().nth(5) != Some("0"), core)),
        ("run before everybody else", first.make()),
        ("run a program from memory", from_memory()),
    ]
}

/// A program that is in no folder.
fn from_memory() -> Outcome {
    let run = || {
        let memory = File::from(memfd_create("prisoner", MemfdFlags::empty())?);
        io::copy(&mut File::open("/usr/bin/true")?, &mut &memory)?;
        let path = format!("/proc/{}/fd/{}", std::process::id(), std::os::fd::AsRawFd::as_raw_fd(&memory));
        #[expect(clippy::disallowed_methods, reason = "the prisoner is no part of Hob")]
        let mut command = Command::new(path);
        let ended = command.env_clear().status()?;
        if ended.success() { Ok(()) } else { Err(io::Error::other(ended.to_string())) }
    };
    Outcome::of(run())
}

/// Standard input from a namespace of its own, for `setns`.
pub(crate) fn own_namespace() -> Stdio {
    File::open("/proc/self/ns/uts").map_or_else(|_| Stdio::null(), Stdio::from)
}

/// What the call before returned.
pub(crate) const LAST: Word = Word::Last;
