//! System calls that wait for an answer: the kernel's seccomp user notification, `seccomp_unotify(2)`.
//!
//! - Flow: a thread installs a filter by [`Listener::install`]. From then on each call of its children, and of its own, that
//!   the filter answers with [`NOTIFY`] waits until a process that has the listener answers it: with a value, with an
//!   error or with a descriptor.
//! - Guarantees: a signal that does not end the caller does not make it call twice. A call whose listener is gone fails with
//!   `ENOSYS`.
//! - Assumptions: Linux 5.19; the thread can get no new privileges.
//! - Caveats: what a caller's memory holds can change at any time: a supervisor that lets a call [continue](Answer::Continues) after
//!   having looked at it has decided nothing.
//!
//! Leaves out: which calls those are, and what is answered. This is the one crate with unsafe code.

#![cfg(target_os = "linux")]

use std::{
    io,
    os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
};

use rustix::{
    io::Errno,
    ioctl::{IntegerSetter, Opcode, Setter, Updater, ioctl, opcode},
};

/// What a filter returns for a call that is to wait: `SECCOMP_RET_USER_NOTIF` of `linux/seccomp.h`.
pub const NOTIFY: u32 = libc::SECCOMP_RET_USER_NOTIF;

/// `SECCOMP_IOC_MAGIC` of `linux/seccomp.h`, by which its requests are numbered.
const GROUP: u8 = b'!';
const RECEIVE: Opcode = opcode::read_write::<libc::seccomp_notif>(GROUP, 0);
const SEND: Opcode = opcode::read_write::<libc::seccomp_notif_resp>(GROUP, 1);
const IS_VALID: Opcode = opcode::write::<u64>(GROUP, 2);
const SET_FLAGS: Opcode = opcode::write::<u64>(GROUP, 4);
const ADD_DESCRIPTOR: Opcode = opcode::write::<libc::seccomp_notif_addfd>(GROUP, 3);

/// One instruction of a filter.
pub type Instruction = libc::sock_filter;

/// Where calls that wait are heard of.
#[derive(Debug)]
pub struct Listener(OwnedFd);

/// A call that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    id: u64,
    /// The thread that made it, as the listener's own process would name it.
    pub thread: u32,
    /// Its number.
    pub number: i32,
    /// Its arguments.
    pub arguments: [u64; 6],
}

/// What a caller is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// This value; the kernel does nothing.
    Returns(i64),
    /// This error; the kernel does nothing.
    Fails(Errno),
    /// What the kernel does, with the arguments as they are by then.
    Continues,
}

impl Listener {
    /// Installs the filter for this thread and all that comes from it. It cannot be taken away.
    ///
    /// # Errors
    /// The system's, if the filter is not valid, or if another one above it already has a listener.
    pub fn install(filter: &[Instruction]) -> io::Result<Self> {
        let len = u16::try_from(filter.len()).map_err(|_| Errno::TOOBIG)?;
        let program = libc::sock_fprog { len, filter: filter.as_ptr().cast_mut() };
        let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
        #[expect(unsafe_code, reason = "no library that is safe to call has this call")]
        // SAFETY: the kernel copies `len` instructions from a slice of that length, which outlives the call, and writes none.
        let number =
            unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) };
        if number < 0 {
            return Err(io::Error::last_os_error());
        }
        let number = i32::try_from(number).map_err(|_| Errno::BADF)?;
        #[expect(unsafe_code, reason = "as above")]
        // SAFETY: with this flag the call returns a descriptor that it has just opened, and that nobody else owns.
        let listener = Self(unsafe { OwnedFd::from_raw_fd(number) });
        listener.answers_at_once();
        Ok(listener)
    }

    /// Lets the caller and the one that answers take turns on one processor, as only one of them has something to do: neither waits for
    /// another processor to wake. Before Linux 6.6 there is no such flag.
    fn answers_at_once(&self) {
        /// `SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP` of `linux/seccomp.h`.
        const SYNC_WAKE_UP: usize = 1;
        #[expect(unsafe_code, reason = "as above")]
        // SAFETY: the request takes a number in the place of a pointer.
        let request = unsafe { IntegerSetter::<SET_FLAGS>::new_usize(SYNC_WAKE_UP) };
        #[expect(unsafe_code, reason = "as above")]
        // SAFETY: the request and its value belong to this kind of descriptor.
        unsafe { ioctl(&self.0, request) }.ok();
    }

    /// Waits for the next call.
    ///
    /// # Errors
    /// `ENOENT` where the caller was killed meanwhile, `EINTR` where a signal came: there is no call then, and another may come.
    pub fn next(&self) -> Result<Call, Errno> {
        let data = libc::seccomp_data { nr: 0, arch: 0, instruction_pointer: 0, args: [0; 6] };
        let mut told = libc::seccomp_notif { id: 0, pid: 0, flags: 0, data };
        #[expect(unsafe_code, reason = "as above")]
        // SAFETY: the request fills in exactly such a value, which has to be zero before.
        let request = unsafe { Updater::<RECEIVE, _>::new(&mut told) };
        #[expect(unsafe_code, reason = "as above")]
        // SAFETY: the request and its value belong to this kind of descriptor.
        unsafe { ioctl(&self.0, request) }?;
        Ok(Call { id: told.id, thread: told.pid, number: told.data.nr, arguments: told.data.args })
    }

    /// Whether the call still waits. As long as it does, its thread's id is nobody else's: what was read by that id before
    /// was the caller's.
    pub fn waits(&self, call: &Call) -> bool {
        #[expect(unsafe_code, reason = "as above")]
        // SAFETY: the request reads exactly such a value.
        let request = unsafe { Setter::<IS_VALID, u64>::new(call.id) };
        #[expect(unsafe_code, reason = "as above")]
        // SAFETY: the request and its value belong to this kind of descriptor.
        unsafe { ioctl(&self.0, request) }.is_ok()
    }

    /// Answers the call.
    ///
    /// # Errors
    /// `ENOENT` where it does not wait any more.
    pub fn answer(&self, call: &Call, answer: Answer) -> Result<(), Errno> {
        let (val, error, flags) = match answer {
            Answer::Returns(value) => (value, 0, 0),
            Answer::Fails(error) => (0, -error.raw_os_error(), 0),
            Answer::Continues => (0, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
        };
        let mut said = libc::seccomp_notif_resp { id: call.id, val, error, flags };
        #[expect(unsafe_code, reason = "as above")]
        // SAFETY: the request reads exactly such a value.
        let request = unsafe { Updater::<SEND, _>::new(&mut said) };
        #[expect(unsafe_code, reason = "as above")]
        // SAFETY: the request and its value belong to this kind of descriptor.
        unsafe {
            ioctl(&self.0, request)
        }
    }

    /// Answers the call with a descriptor of the caller's own for what `given` is open for.
    ///
    /// # Errors
    /// `ENOENT` where it does not wait any more, `EMFILE` where the caller has too many.
    pub fn give(&self, call: &Call, given: BorrowedFd<'_>, close_on_exec: bool) -> Result<(), Errno> {
        let added = libc::seccomp_notif_addfd {
            id: call.id,
            flags: libc::SECCOMP_ADDFD_FLAG_SEND as u32,
            srcfd: given.as_raw_fd().unsigned_abs(),
            newfd: 0,
            newfd_flags: if close_on_exec { libc::O_CLOEXEC.unsigned_abs() } else { 0 },
        };
        #[expect(unsafe_code, reason = "as above")]
        // SAFETY: the request reads exactly such a value.
        let request = unsafe { Setter::<ADD_DESCRIPTOR, _>::new(added) };
        #[expect(unsafe_code, reason = "as above")]
        // SAFETY: the request and its value belong to this kind of descriptor.
        unsafe {
            ioctl(&self.0, request)
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
