//! The end of the children of a Hob that was killed: the watchdog, a second process of this program that outlives it.
//!
//! - Flow: [`start_watchdog`] first kills the children of Hobs that died on this machine. Then it starts the watchdog,
//!   with a pipe to it that no other process has. From then on each child has a variable that names this process, and
//!   its process group is announced over the pipe, and withdrawn when Hob has ended it. When Hob ends for any reason,
//!   the system closes the pipe: the watchdog then kills the announced groups and every process that has the variable,
//!   and ends.
//! - Guarantees: the watchdog has its own session, folder and name: a signal to Hob by its terminal, its group or its
//!   name does not reach the watchdog. Hob never waits for it.
//! - Assumptions: `/proc` is that of the own PID namespace. A child keeps the environment it was given, or its group.
//! - Caveats: a process that does neither is not found. Without `/proc`, only the groups are.

use std::{
    collections::HashSet,
    ffi::{OsStr, OsString},
    io::{self, BufRead, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{ChildStdin, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use rustix::process::{Pid, Signal, kill_process_group, setsid};

use crate::{
    owner::Owner,
    process_tag::{has_variable, kill_where, values_of},
};

/// The variable that names the Hob that started a process.
const VARIABLE: &str = "HOB_PROCESS";
/// The first argument of the watchdog.
const ARGUMENT: &str = "--watch-children-of";
/// The watchdog's name in process lists, so that killing all `hob` by name spares it.
const NAME: &str = "child-watchdog";

/// The watchdog of this process, and what its children are told from others by.
#[derive(Debug)]
struct Watchdog {
    owner: String,
    pipe: ChildStdin,
}

static WATCHDOG: OnceLock<Watchdog> = OnceLock::new();

/// Kills the remains of Hobs that died on this machine, and starts the watchdog of this one. Call it before the first
/// child; further calls do nothing. It reads `/proc`, so it blocks.
///
/// # Errors
/// The system's, when the watchdog cannot be started: children would outlive a Hob that is killed.
pub fn start_watchdog() -> io::Result<()> {
    static STARTED: AtomicBool = AtomicBool::new(false);
    if STARTED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let owner = Owner::this_process();
    kill_where(|environment| values_of(VARIABLE, environment).filter_map(Owner::parse).any(|one| one.died(&owner)));
    #[expect(clippy::disallowed_methods, reason = "the one child that has to outlive this process")]
    let mut command = Command::new(own_program()?);
    command.arg0(NAME).arg(ARGUMENT).arg(owner.to_string()).env_clear().current_dir("/");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    if let Some(pipe) = child.stdin.take() {
        // A stopped watchdog must not block Hob: what does not fit into the pipe is left out.
        rustix::io::ioctl_fionbio(&pipe, true)?;
        // Nothing set it before this call.
        WATCHDOG.set(Watchdog { owner: owner.to_string(), pipe }).ok();
    }
    Ok(())
}

/// The file of this program, even if another version has replaced it since.
///
/// # Errors
/// The system's, if it does not know the path.
pub fn own_program() -> io::Result<PathBuf> {
    let link = Path::new("/proc/self/exe");
    if link.exists() { Ok(link.to_owned()) } else { std::env::current_exe() }
}

/// Runs as the watchdog until its work is done, if this process was started as one; otherwise returns `false` at once.
pub fn was_watchdog(arguments: impl IntoIterator<Item = OsString>) -> bool {
    let mut arguments = arguments.into_iter().skip(1);
    let (Some(first), Some(owner)) = (arguments.next(), arguments.next()) else { return false };
    if first != ARGUMENT {
        return false;
    }
    // Each of these only makes it harder to end by mistake.
    setsid().ok();
    std::fs::write("/proc/self/comm", NAME).ok();
    for group in announced(std::io::stdin().lock()) {
        kill_process_group(group, Signal::KILL).ok();
    }
    let owner = owner.to_string_lossy().into_owned();
    kill_where(|environment| has_variable(VARIABLE, &owner, environment));
    true
}

/// The groups that were announced and not withdrawn when the pipe was closed.
fn announced(pipe: impl BufRead) -> HashSet<Pid> {
    let mut groups = HashSet::new();
    for line in pipe.lines().map_while(Result::ok) {
        let group = line.get(1..).and_then(|id| id.parse().ok()).and_then(Pid::from_raw);
        match (line.as_bytes().first(), group) {
            (Some(b'+'), Some(group)) => groups.insert(group),
            (Some(b'-'), Some(group)) => groups.remove(&group),
            _other => false,
        };
    }
    groups
}

/// The variable that a child gets; `None` if there is no watchdog.
pub(super) fn variable() -> Option<(&'static OsStr, &'static OsStr)> {
    Some((OsStr::new(VARIABLE), OsStr::new(&WATCHDOG.get()?.owner)))
}

/// Announces a child's group to the watchdog.
pub(super) fn announce(group: Pid) {
    tell('+', group);
}

/// Withdraws a group that was killed: its id may soon be another's.
pub(super) fn withdraw(group: Pid) {
    tell('-', group);
}

fn tell(sign: char, group: Pid) {
    if let Some(watchdog) = WATCHDOG.get() {
        // One write, so that lines of several threads do not mix. A watchdog that is gone, or does not read, gets it in
        // vain: the variable is left.
        (&watchdog.pipe).write_all(format!("{sign}{}\n", group.as_raw_nonzero()).as_bytes()).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_groups_that_were_not_withdrawn_are_left() {
        let said = "+7\n+8\n-7\n-9\n+x\n?6\n\n+é\n+0\n+10\n+1";
        let left = announced(said.as_bytes());
        assert_eq!(left, [1, 8, 10].into_iter().filter_map(Pid::from_raw).collect());
    }

    #[test]
    fn other_arguments_are_no_watchdogs() {
        for arguments in [&["hob"][..], &["hob", "run"], &["hob", "run", ARGUMENT], &["hob", ARGUMENT]] {
            assert!(!was_watchdog(arguments.iter().map(OsString::from)), "{arguments:?}");
        }
    }
}
