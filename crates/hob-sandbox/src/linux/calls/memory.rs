//! A caller's memory, read once.

use std::{fs::File, os::unix::fs::FileExt};

use hob_listener::{Call, Listener};
use rustix::io::Errno;

/// Bytes of a path at most, its end included.
const PATH_MAX: usize = 4096;
/// Memory is readable or not by pages of this size or more.
const PAGE: u64 = 4096;

/// Up to `length` bytes at this address: fewer if the rest cannot be read.
pub(super) fn bytes(listener: &Listener, call: &Call, address: u64, length: usize) -> Result<Vec<u8>, Errno> {
    let memory = File::open(format!("/proc/{}/mem", call.thread)).map_err(|_| Errno::PERM)?;
    let mut buffer = vec![0; length];
    let count = memory.read_at(&mut buffer, address).map_err(|_| Errno::FAULT)?;
    // Until here the thread could have ended, and its id could have become another's.
    if !listener.waits(call) {
        return Err(Errno::SRCH);
    }
    buffer.truncate(count);
    Ok(buffer)
}

/// The path at this address, without the zero at its end.
pub(super) fn path(listener: &Listener, call: &Call, address: u64) -> Result<Vec<u8>, Errno> {
    let mut path = Vec::new();
    while path.len() < PATH_MAX {
        let at = address.checked_add(path.len() as u64).ok_or(Errno::FAULT)?;
        let length = usize::try_from(PAGE - at % PAGE).unwrap_or(PATH_MAX).min(PATH_MAX - path.len());
        let next = bytes(listener, call, at, length)?;
        if next.is_empty() {
            return Err(Errno::FAULT);
        }
        match next.iter().position(|byte| *byte == 0) {
            Some(end) => {
                path.extend(&next[..end]);
                return Ok(path);
            }
            None => path.extend(next),
        }
    }
    Err(Errno::NAMETOOLONG)
}
