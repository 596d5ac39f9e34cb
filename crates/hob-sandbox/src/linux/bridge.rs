//! The way out of a box: a connection to a port of its loopback goes to the proxy's socket, and nowhere else.
//!
//! The process that carries it is the child's sibling in the box. It is started before the child is restricted, and ends
//! with the box.

use std::{
    ffi::OsString,
    io,
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    os::{
        fd::{AsFd, OwnedFd},
        unix::{net::UnixStream, process::CommandExt},
    },
    path::PathBuf,
    process::{Command, ExitCode, Stdio},
    thread,
};

use serde::{Deserialize, Serialize};

use crate::launch::BRIDGE;

/// The port and the socket that a bridge joins.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Way {
    pub(super) socket: PathBuf,
    pub(super) port: u16,
}

/// Opens the port, and starts the process that serves it with the open port as its standard input.
pub(super) fn start(way: &Way, launcher: &[OsString]) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, way.port))?;
    let (program, words) = launcher.split_first().ok_or(io::ErrorKind::NotFound)?;
    #[expect(clippy::disallowed_methods, reason = "the box's own process, which ends with it")]
    let mut command = Command::new(program);
    command.args(words).arg(BRIDGE).arg(&way.socket).env_clear().process_group(0);
    command.stdin(OwnedFd::from(listener)).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    Ok(())
}

/// Serves the port until the box ends.
pub(crate) fn bridge(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let (Some(socket), Ok(listener)) = (arguments.next(), std::io::stdin().as_fd().try_clone_to_owned()) else {
        return ExitCode::FAILURE;
    };
    let listener = TcpListener::from(listener);
    for stream in listener.incoming().flatten() {
        let socket = socket.clone();
        // If the proxy is gone, the connection is closed, which the client sees.
        thread::spawn(move || carry(&stream, &UnixStream::connect(socket).ok()?).ok());
    }
    ExitCode::FAILURE
}

/// Carries bytes both ways until both sides are done.
fn carry(inside: &TcpStream, outside: &UnixStream) -> io::Result<()> {
    let (mut inside_reads, mut outside_writes) = (inside.try_clone()?, outside.try_clone()?);
    let out = thread::spawn(move || {
        io::copy(&mut inside_reads, &mut outside_writes).ok();
        outside_writes.shutdown(Shutdown::Write).ok();
    });
    let (mut outside_reads, mut inside_writes) = (outside, inside);
    io::copy(&mut outside_reads, &mut inside_writes).ok();
    inside.shutdown(Shutdown::Write).ok();
    out.join().ok();
    Ok(())
}
