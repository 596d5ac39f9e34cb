//! The writer of a session: the process that has its transcript locked. The lock ends with the process, however it
//! ends.

use std::{fs::File, io, path::Path, time::Duration};

use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};

/// The most tries for a lock: a reader may hold it for a moment, and a writer that was dropped holds it until its last
/// events are written.
const TRIES: u32 = 50;
/// The pause between.
const PAUSE: Duration = Duration::from_millis(2);

/// Locks the file for writing; `false` if another process has it.
pub(super) fn lock(file: &File) -> io::Result<bool> {
    for _ in 0..TRIES {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) => std::thread::sleep(PAUSE),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(false)
}

/// Waits until no process writes the file at `path`, for as long as [`lock`] does.
pub(super) fn wait_for_release(path: &Path) {
    for _ in 0..TRIES {
        if !is_held(path) {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Whether a process writes the file at `path`.
pub(super) fn is_held(path: &Path) -> bool {
    // The lock goes with the handle.
    File::open(path).is_ok_and(|file| flock(&file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK))
}
