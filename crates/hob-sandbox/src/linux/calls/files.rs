//! Files of the machine that a fenced child gets one by one: named shared memory, from a folder of the run instead of
//! `/dev/shm`, and terminals that the run has made.

use std::{cell::OnceCell, os::fd::OwnedFd, path::PathBuf};

use hob_listener::{Call, Listener};
use libc::c_long;
use rustix::{
    fs::{AtFlags, CWD, Mode, OFlags, linkat, mkdir, openat, unlinkat},
    io::Errno,
};

use super::{CONTINUES, DONE, Outcome, memory};
use crate::linux::tree;

const SHARED: &[u8] = b"/dev/shm/";
/// The devices that make new terminals, and the folder with their other ends.
pub(in crate::linux) const TERMINALS: [&str; 2] = ["/dev/ptmx", "/dev/pts"];

/// The folder in the child's home that replaces `/dev/shm`.
const STANDS_FOR_SHARED: &str = ".dev-shm";

pub(super) struct Files {
    home: Option<PathBuf>,
    /// Made on first use.
    shared: OnceCell<Option<OwnedFd>>,
}

impl Files {
    pub(super) fn new(home: Option<PathBuf>) -> Self {
        Self { home, shared: OnceCell::new() }
    }

    /// The answer to a call about files; `None` for any other call.
    pub(super) fn outcome(&self, listener: &Listener, call: &Call) -> Option<Outcome> {
        let path = |place: usize| memory::path(listener, call, call.arguments[place]);
        let flags = |place: usize| call.arguments[place] as u32;
        let outcome = match c_long::from(call.number) {
            libc::SYS_openat => path(1).map(|path| self.open(&path, flags(2), flags(3))),
            libc::SYS_linkat => both(path(1), path(3)).map(|(from, to)| self.link(&from, &to)),
            libc::SYS_unlinkat => path(1).map(|path| self.unlink(&path)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open => path(0).map(|path| self.open(&path, flags(1), flags(2))),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_link => both(path(0), path(1)).map(|(from, to)| self.link(&from, &to)),
            #[cfg(target_arch = "x86_64")]
            libc::SYS_unlink => path(0).map(|path| self.unlink(&path)),
            _ => return None,
        };
        // The kernel also refuses a call whose arguments cannot be read here.
        Some(outcome.unwrap_or(CONTINUES))
    }

    fn open(&self, path: &[u8], flags: u32, mode: u32) -> Outcome {
        let flags = OFlags::from_bits_retain(flags);
        let opened = if let Some((shared, name)) = self.shared(path) {
            let mode = Mode::from_raw_mode(mode & 0o777);
            openat(shared, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, mode)
        } else if let Some(found) = terminal(path) {
            let Ok(found) = found else { return Errno::ACCESS.into() };
            let kept = flags & (OFlags::ACCMODE | OFlags::NONBLOCK);
            let opened = openat(CWD, found, kept | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty());
            // The run may have closed its own terminal meanwhile, and the next one with this number may belong to
            // anyone.
            if matches!(terminal(path), Some(Err(_))) {
                return Errno::ACCESS.into();
            }
            opened
        } else {
            return CONTINUES;
        };
        match opened {
            Ok(descriptor) => Outcome::Gives { descriptor, close_on_exec: flags.contains(OFlags::CLOEXEC) },
            Err(error) => error.into(),
        }
    }

    fn link(&self, from: &[u8], to: &[u8]) -> Outcome {
        let (Some((shared, from)), Some((_, to))) = (self.shared(from), self.shared(to)) else {
            return CONTINUES;
        };
        done(linkat(shared, from, shared, to, AtFlags::empty()))
    }

    fn unlink(&self, path: &[u8]) -> Outcome {
        match self.shared(path) {
            Some((shared, name)) => done(unlinkat(shared, name, AtFlags::empty())),
            None => CONTINUES,
        }
    }

    /// The folder that replaces `/dev/shm`, and the name in it, if the path leads there.
    fn shared<'a>(&self, path: &'a [u8]) -> Option<(&OwnedFd, &'a [u8])> {
        let name = path.strip_prefix(SHARED)?;
        let is_one = !name.is_empty() && !name.contains(&b'/') && name != b"." && name != b"..";
        is_one.then_some((self.shared.get_or_init(|| self.make_shared()).as_ref()?, name))
    }

    /// Makes that folder. Children with the same home share it.
    fn make_shared(&self) -> Option<OwnedFd> {
        let folder = self.home.as_ref()?.join(STANDS_FOR_SHARED);
        mkdir(&folder, Mode::RWXU).ok();
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(CWD, folder, flags, Mode::empty()).ok()
    }
}

/// The terminal that a path leads to: a new one, or the other end of one that the run has open. An error if it is not
/// the run's.
fn terminal(path: &[u8]) -> Option<Result<String, Errno>> {
    let [new, ends] = TERMINALS;
    if path == new.as_bytes() {
        return Some(Ok(new.to_owned()));
    }
    let name = path.strip_prefix(ends.as_bytes())?.strip_prefix(b"/")?;
    let number: u32 = std::str::from_utf8(name).ok()?.parse().ok()?;
    let own = tree::has_terminal(number);
    Some(own.then(|| format!("{ends}/{number}")).ok_or(Errno::ACCESS))
}

fn both(from: Result<Vec<u8>, Errno>, to: Result<Vec<u8>, Errno>) -> Result<(Vec<u8>, Vec<u8>), Errno> {
    Ok((from?, to?))
}

fn done(result: Result<(), Errno>) -> Outcome {
    result.map_or_else(Outcome::from, |()| DONE)
}
