//! Calls that a fenced child may not make itself, and that its supervisor makes for it: sockets that lead only to the
//! run itself, named shared memory, and terminals. In a box a child makes them itself; the supervisor only reports
//! those that lead nowhere.
//!
//! - Flow: the filter suspends these calls. [`Hand::serve`] reads the arguments from the caller's memory once, decides
//!   by its own copy, and makes the call itself: on a socket that it has made for the caller, or with a descriptor that
//!   it gives to the caller. Other suspended calls are refused and noted.
//! - Guarantees: nothing is decided about memory that the caller can still change. What this thread makes for a child, it makes
//!   within the child's own rules for files, and without capabilities.
//! - Assumptions: Landlock keeps the child from binding and connecting over TCP by itself; the filter, from every other way
//!   to give a socket an address.
//! - Caveats: `listen` and calls that open other files continue in the kernel, since they decide nothing. A call that a
//!   signal interrupts before it is seen has had no effect; if its handler does not restart calls, it fails with
//!   `EINTR`, which the kernel's own `bind` never returns.

mod address;
mod files;
mod listening;
mod memory;
mod sockets;

use std::{
    collections::BTreeMap,
    os::fd::{AsFd, OwnedFd},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use hob_listener::{Answer, Call, Listener};
use libc::c_long;
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};

pub(super) use self::files::TERMINALS;
use self::{
    address::{Address, is_loopback},
    files::Files,
    sockets::Sockets,
};
use super::report::Teller;

/// The port of name servers.
const NAMES: u16 = 53;
/// The most refusals that are counted separately; others count together.
const DIFFERENT: usize = 16;

/// Calls that no child needs and that tests make all the same: they are refused, and reported. Calls that programs only
/// try, such as `io_uring`, are not among them.
pub(super) const TOLD: [(c_long, &str); 21] = [
    (libc::SYS_bpf, "bpf"),
    (libc::SYS_chroot, "chroot"),
    (libc::SYS_fsopen, "fsopen"),
    (libc::SYS_keyctl, "keyctl"),
    (libc::SYS_mount, "mount"),
    (libc::SYS_move_mount, "move_mount"),
    (libc::SYS_mq_open, "mq_open"),
    (libc::SYS_msgget, "msgget"),
    (libc::SYS_open_tree, "open_tree"),
    (libc::SYS_perf_event_open, "perf_event_open"),
    (libc::SYS_pivot_root, "pivot_root"),
    (libc::SYS_process_vm_readv, "process_vm_readv"),
    (libc::SYS_process_vm_writev, "process_vm_writev"),
    (libc::SYS_ptrace, "ptrace"),
    (libc::SYS_semget, "semget"),
    (libc::SYS_setns, "setns"),
    (libc::SYS_shmget, "shmget"),
    (libc::SYS_swapon, "swapon"),
    (libc::SYS_umount2, "umount2"),
    (libc::SYS_unshare, "unshare"),
    (libc::SYS_userfaultfd, "userfaultfd"),
];

/// The refused calls, each with a count.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    all: Mutex<BTreeMap<String, u64>>,
    /// The process that each refusal is passed on to, if it is not this one.
    teller: Option<Teller>,
}

impl Refusals {
    /// The refusals of a box, which are passed on to the supervisor as they come.
    pub(super) fn passed_on(teller: Teller) -> Self {
        Self { all: Mutex::default(), teller: Some(teller) }
    }

    /// Counts one refusal, and returns it if it is to be reported for the first time.
    pub(super) fn note(&self, what: String) -> Option<String> {
        if let Some(teller) = &self.teller {
            teller.refused(&what);
        }
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let key = if all.len() < DIFFERENT || all.contains_key(&what) { what } else { "other calls".to_owned() };
        let count = all.entry(key.clone()).or_default();
        *count += 1;
        (*count == 1).then_some(key)
    }

    /// All of them, the most frequent first; `None` if nothing was refused.
    pub(super) fn told(&self) -> Option<String> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let mut told: Vec<_> = all.iter().collect();
        told.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let told: Vec<_> = told.into_iter().map(|(what, count)| format!("{what} ({count}×)")).collect();
        (!told.is_empty()).then(|| told.join(", "))
    }
}

/// Writes a refusal to the child's standard error. If it is not read, nothing is lost.
#[expect(clippy::print_stderr, reason = "standard error is all that this process shares with Hob")]
fn tell_now(what: &str) {
    eprintln!("{}{what}", crate::REFUSED_NOW);
}

/// The answer to a suspended call.
enum Outcome {
    /// The caller gets this answer.
    Is(Answer),
    /// It is given a descriptor.
    Gives { descriptor: OwnedFd, close_on_exec: bool },
    /// It waits for another thread's answer.
    Later,
    /// It fails with this error, since the sandbox refuses it.
    Refused(Errno, String),
}

/// It is done, and returns nothing.
const DONE: Outcome = Outcome::Is(Answer::Returns(0));
/// The kernel continues the call: nothing is decided here.
const CONTINUES: Outcome = Outcome::Is(Answer::Continues);

impl From<Errno> for Outcome {
    fn from(error: Errno) -> Self {
        Self::Is(Answer::Fails(error))
    }
}

/// Makes calls for a child, or watches them.
pub(super) struct Hand {
    work: Work,
    refusals: Arc<Refusals>,
}

/// What a [`Hand`] does with calls.
enum Work {
    /// In a fence: makes the calls that the child may not make itself.
    Makes { sockets: Box<Sockets>, files: Files },
    /// In a box, which leads nowhere: only reports what the child tried.
    Watches,
}

impl Hand {
    /// For a fence. `home` holds the folder that replaces `/dev/shm`.
    pub(super) fn new(home: Option<PathBuf>, refusals: Arc<Refusals>) -> Self {
        Self { work: Work::Makes { sockets: Box::default(), files: Files::new(home) }, refusals }
    }

    /// For a box.
    pub(super) fn that_watches(refusals: Arc<Refusals>) -> Self {
        Self { work: Work::Watches, refusals }
    }

    /// Answers calls until no process is left that could make one.
    pub(super) fn serve(mut self, listener: Listener) {
        let listener = Arc::new(listener);
        loop {
            let mut watched = [PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN)];
            match poll(&mut watched, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return,
            }
            let [ready] = watched.map(|one| one.revents());
            if !ready.contains(PollFlags::IN) {
                if ready.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
                    return;
                }
                continue;
            }
            // A caller that was killed meanwhile does not wait.
            let Ok(call) = listener.next() else { continue };
            self.answer(&listener, &call);
        }
    }

    fn answer(&mut self, listener: &Arc<Listener>, call: &Call) {
        let answer = match self.outcome(listener, call) {
            Outcome::Later => return,
            Outcome::Is(answer) => answer,
            Outcome::Gives { descriptor, close_on_exec } => {
                match listener.give(call, descriptor.as_fd(), close_on_exec) {
                    Ok(()) => return,
                    Err(error) => Answer::Fails(error),
                }
            }
            Outcome::Refused(error, what) => {
                self.note(what);
                Answer::Fails(error)
            }
        };
        // It may have been killed since.
        listener.answer(call, answer).ok();
    }

    fn outcome(&mut self, listener: &Arc<Listener>, call: &Call) -> Outcome {
        let number = c_long::from(call.number);
        match (&mut self.work, number) {
            (Work::Makes { sockets, .. }, libc::SYS_socket) => sockets.make(call),
            (Work::Makes { sockets, .. }, libc::SYS_bind) => sockets.bind(listener, call),
            (Work::Makes { sockets, .. }, libc::SYS_connect) => sockets.connect(listener, call),
            (Work::Makes { sockets, .. }, libc::SYS_listen) => sockets.listen(listener, call),
            (Work::Makes { files, .. }, _) => files.outcome(listener, call).unwrap_or_else(|| refused(number)),
            (Work::Watches, libc::SYS_connect) => self.sent(listener, call, 1),
            (Work::Watches, libc::SYS_sendto) => self.sent(listener, call, 4),
            (Work::Watches, _) => refused(number),
        }
    }

    /// Answers a call in a box that sends to the address in the argument at `place`. If the address cannot be read, the
    /// kernel reports the error. A child that changes it meanwhile gains nothing, since no way leads out.
    fn sent(&self, listener: &Listener, call: &Call, place: usize) -> Outcome {
        let Ok(Address::Internet(to)) = sockets::address(listener, call, place) else { return CONTINUES };
        if !is_loopback(to) {
            return Outcome::Refused(Errno::NETUNREACH, format!("connect {to}"));
        }
        // A box sees only the address of a name server on this machine.
        if to.port() == NAMES {
            self.note(format!("connect {to}"));
        }
        CONTINUES
    }

    /// Notes a refusal, and reports it if it is the first of its kind.
    fn note(&self, what: String) {
        if let Some(first) = self.refusals.note(what) {
            tell_now(&first);
        }
    }
}

/// The answer to a call that no handler takes: always a refusal.
fn refused(number: c_long) -> Outcome {
    match TOLD.into_iter().find(|(call, _)| *call == number) {
        Some((_, name)) => Outcome::Refused(Errno::PERM, name.to_owned()),
        None => Errno::PERM.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_counted_and_bounded() {
        let refusals = Refusals::default();
        assert_eq!(refusals.told(), None);
        let first = [0; 3].map(|_| refusals.note("ptrace".to_owned()).is_some());
        assert_eq!(first, [true, false, false]);
        let told = (0..100).filter_map(|port| refusals.note(format!("connect 127.0.0.1:{port}"))).count();
        assert_eq!(told, DIFFERENT);
        let told = refusals.told().unwrap();
        assert!(told.starts_with("other calls (85×), ptrace (3×), connect 127.0.0.1:"), "{told}");
        assert_eq!(told.split(", ").count(), DIFFERENT + 1);
    }
}
