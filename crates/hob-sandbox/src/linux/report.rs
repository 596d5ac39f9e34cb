//! The report of the last step before the child to its supervisor: that the child begins, or why it does not.
//!
//! It goes over a pipe that the step inherits and the child does not. An exit code could be the child's own, and so could a
//! line on standard error.

use std::{
    fs::File,
    io::{PipeReader, PipeWriter, Read, Write, pipe},
    os::{
        fd::{AsRawFd, RawFd},
        unix::fs::OpenOptionsExt,
    },
};

use rustix::{
    fs::{OFlags, fcntl_setfl},
    io::{FdFlags, fcntl_setfd},
};

use super::RefusedError;

/// `O_NONBLOCK`.
const NONBLOCK: i32 = OFlags::NONBLOCK.bits() as i32;
/// Written right before the child begins. Anything that follows says why it did not.
const BEGINS: &str = "begins\n";
/// The beginning of a line that reports a refusal, once the child has begun.
const REFUSED: &str = "refused ";
/// The maximum bytes of the whole report, and of one refusal. A pipe holds 64 KiB; what does not fit is dropped.
const LONGEST: u64 = 64 << 10;
const LONGEST_LINE: usize = 200;

/// The supervisor's end, and the one that the step inherits.
pub(super) struct Report {
    told: PipeReader,
    teller: PipeWriter,
}

impl Report {
    pub(super) fn new() -> Result<Self, RefusedError> {
        let step = "listen to the last step";
        let (told, teller) = pipe().map_err(RefusedError::at(step))?;
        fcntl_setfd(&teller, FdFlags::empty()).map_err(RefusedError::at(step))?;
        // Another process may hold the pipe open when it is read.
        fcntl_setfl(&told, OFlags::NONBLOCK).map_err(RefusedError::at(step))?;
        Ok(Self { told, teller })
    }

    /// The descriptor that the step inherits.
    pub(super) fn number(&self) -> RawFd {
        self.teller.as_raw_fd()
    }

    /// Closes the step's end here.
    pub(super) fn listen(self) -> Heard {
        Heard(self.told)
    }
}

/// The report, as the supervisor reads it.
pub(super) struct Heard(PipeReader);

impl Heard {
    /// Why the child did not begin; `None` if it did. Notes its refusals. Call it when the step, or the child, has
    /// ended.
    pub(super) fn refusal(self, note: impl Fn(&str)) -> Option<String> {
        let mut bytes = Vec::new();
        // The read ends when it would block.
        self.0.take(LONGEST).read_to_end(&mut bytes).ok();
        let text = String::from_utf8_lossy(&bytes);
        let (begun, reason) = match text.strip_prefix(BEGINS) {
            Some(rest) => (true, rest),
            None => (false, &*text),
        };
        match (begun, reason) {
            (true, rest) if rest.lines().all(|line| line.starts_with(REFUSED)) => {
                rest.lines().filter_map(|line| line.strip_prefix(REFUSED)).for_each(note);
                None
            }
            (false, "") => Some("what makes the sandbox ended before the program".to_owned()),
            (_, reason) => Some(reason.to_owned()),
        }
    }
}

/// The step's end, by its number.
#[derive(Debug)]
pub(super) struct Teller(File);

impl Teller {
    pub(super) fn inherited(number: RawFd) -> Result<Self, RefusedError> {
        // Writing to a full pipe must not block.
        let opened = File::options().write(true).custom_flags(NONBLOCK).open(format!("/proc/self/fd/{number}"));
        opened.map(Self).map_err(RefusedError::at("find the way to the supervisor"))
    }

    /// The program is about to be started.
    pub(super) fn begins(&self) -> Result<(), RefusedError> {
        (&self.0).write_all(BEGINS.as_bytes()).map_err(RefusedError::at("tell the supervisor"))
    }

    /// Reports that the child was not started. If this fails, the supervisor hears nothing, which means the same.
    pub(super) fn refuses(&self, error: &RefusedError) {
        (&self.0).write_all(error.to_string().as_bytes()).ok();
    }

    /// The child was refused this.
    pub(super) fn refused(&self, what: &str) {
        let line = what.get(..LONGEST_LINE).unwrap_or(what).replace('\n', " ");
        (&self.0).write_all(format!("{REFUSED}{line}\n").as_bytes()).ok();
    }
}
