//! The first process of a container: it starts Hob, passes signals on to it, and reaps orphans.
//!
//! - Flow: if this program is process 1, it starts itself again with the same arguments, variables and open files, and
//!   waits. It passes on each signal that asks for an end, and ends as Hob does; the kernel then kills what is left.
//! - Reason: the kernel makes process 1 the parent of each orphan, and gives it no signal that it does not handle. Hob
//!   cannot reap strangers itself, since it would take the exit statuses of its own children from the code that waits
//!   for them.
//! - Guarantees: its memory and environment are as hidden as Hob's.

use std::{
    io,
    os::{
        fd::AsFd,
        unix::{net::UnixStream, process::CommandExt},
    },
    process::{Command, ExitCode},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, wait},
    termios::tcsetpgrp,
};
use signal_hook::{consts::SIGCHLD, low_level::pipe};

use crate::{hide::hide_memory, watchdog::own_program};

/// The signals by which people and programs end a container.
const PASSED_ON: [Signal; 4] = [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT];

/// Runs as the first process until Hob ends, if this process is one; otherwise does nothing.
pub fn was_first_process() -> Option<ExitCode> {
    (std::process::id() == 1).then(|| run().unwrap_or_else(|error| refused(&error)))
}

#[expect(clippy::print_stderr, reason = "before the command line is read nothing else can say it")]
fn refused(error: &io::Error) -> ExitCode {
    eprintln!("hob: it is the first process and cannot start itself as a second one: {error}");
    ExitCode::FAILURE
}

fn run() -> io::Result<ExitCode> {
    hide_memory()?;
    let ended = heard(SIGCHLD)?;
    let asked = PASSED_ON.map(|signal| Ok((signal, heard(signal.as_raw())?)));
    let asked = asked.into_iter().collect::<io::Result<Vec<_>>>()?;
    let hob = start()?;
    loop {
        while let Some((pid, status)) = wait(WaitOptions::NOHANG)? {
            if pid == hob {
                return Ok(code(status));
            }
        }
        let all = asked.iter().map(|(_, pipe)| pipe).chain([&ended]);
        let mut watched: Vec<_> = all.map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)).collect();
        match poll(&mut watched, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        arrived(&ended);
        for (signal, pipe) in &asked {
            for _ in 0..arrived(pipe) {
                // It may have ended just now.
                kill_process(hob, *signal).ok();
            }
        }
    }
}

/// A pipe that gets a byte for each signal.
fn heard(signal: i32) -> io::Result<UnixStream> {
    let (reader, writer) = UnixStream::pair()?;
    reader.set_nonblocking(true)?;
    pipe::register(signal, writer)?;
    Ok(reader)
}

/// The number of signals since the last call.
fn arrived(pipe: &UnixStream) -> usize {
    let mut bytes = [0; 64];
    rustix::io::read(pipe, &mut bytes).unwrap_or(0)
}

/// Starts Hob in its own group, the terminal's: a key such as Ctrl-C reaches it once, and not by way of this process.
fn start() -> io::Result<Pid> {
    let mut arguments = std::env::args_os();
    #[expect(clippy::disallowed_methods, reason = "it is Hob itself, with the environment that it was given")]
    let mut command = Command::new(own_program()?);
    command.arg0(arguments.next().unwrap_or_else(|| "hob".into())).args(arguments).process_group(0);
    let id = i32::try_from(command.spawn()?.id()).ok().and_then(Pid::from_raw);
    let hob = id.ok_or_else(|| io::Error::other("it has no id"))?;
    // Usually there is no terminal.
    tcsetpgrp(rustix::stdio::stdin(), hob).ok();
    Ok(hob)
}

/// The exit code by which a shell reports this end.
fn code(status: WaitStatus) -> ExitCode {
    let by_signal = status.terminating_signal().map(|signal| 128 + signal);
    let code = by_signal.or_else(|| status.exit_status()).and_then(|code| u8::try_from(code).ok());
    ExitCode::from(code.unwrap_or(u8::MAX))
}
