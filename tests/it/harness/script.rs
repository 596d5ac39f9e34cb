//! Scripts that a test writes and runs.

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

/// Writes the shell script `text` to `path`, to be run.
pub(crate) fn script(path: &Path, text: &str) {
    executable(path, format!("#!/bin/sh\n{text}\n"));
}

/// Writes the program `content` to `path`, to be run. A child writes it: while this process had the file open for
/// writing, another test could start a program, which would have it open too, and what is open for writing cannot be run.
#[expect(clippy::disallowed_methods, reason = "a test's own tool")]
pub(crate) fn executable(path: &Path, content: impl AsRef<[u8]>) {
    let mut writes = Command::new("sh");
    writes.args(["-c", "cat > \"$0\" && chmod 755 \"$0\""]).arg(path).stdin(Stdio::piped());
    let mut writes = writes.spawn().unwrap();
    writes.stdin.take().unwrap().write_all(content.as_ref()).unwrap();
    assert!(writes.wait().unwrap().success());
}
