//! The Hob that started a process, by its PID namespace, process id and start time: no two processes of a machine share
//! all three, and whether it is alive can be checked.

use std::{fmt, fs, path::Path};

use hob_sandbox::stat_field;
use rustix::process::{Pid, test_kill_process};

/// One process of this machine. Ids of two PID namespaces say nothing about each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Owner {
    /// The inode of the PID namespace; 0 if there is no `/proc`.
    namespace: u64,
    pid: i32,
    /// Clock ticks since the machine started; 0 if there is no `/proc`.
    started: u64,
}

impl Owner {
    /// This process.
    pub(super) fn this_process() -> Self {
        let pid = rustix::process::getpid().as_raw_nonzero().get();
        Self { namespace: own_namespace().unwrap_or(0), pid, started: start_of(pid).unwrap_or(0) }
    }

    /// Reads what [`fmt::Display`] wrote.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let mut parts = std::str::from_utf8(text).ok()?.splitn(3, '-');
        let mut part = || parts.next();
        Some(Self { namespace: part()?.parse().ok()?, pid: part()?.parse().ok()?, started: part()?.parse().ok()? })
    }

    /// Whether it was a process of `here`'s namespace and has ended. A process that exists and cannot be inspected
    /// counts as it.
    pub(super) fn died(&self, here: &Self) -> bool {
        let Some(pid) = Pid::from_raw(self.pid) else { return false };
        let known = self.namespace != 0 && self.namespace == here.namespace && self.started != 0;
        known
            && match start_of(self.pid) {
                Some(started) => started != self.started,
                None => test_kill_process(pid) == Err(rustix::io::Errno::SRCH),
            }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.namespace, self.pid, self.started)
    }
}

fn own_namespace() -> Option<u64> {
    let link = fs::read_link("/proc/self/ns/pid").ok()?;
    link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

fn start_of(pid: i32) -> Option<u64> {
    stat_field(&Path::new("/proc").join(pid.to_string()), 22)?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_from_another_that_has_its_id() {
        let here = Owner::this_process();
        assert_eq!(Owner::parse(here.to_string().as_bytes()), Some(here.clone()));
        assert!(!here.died(&here));
        assert!(Owner { started: here.started + 1, ..here.clone() }.died(&here));
        // Another namespace's processes cannot be seen.
        assert!(!Owner { namespace: here.namespace + 1, started: 1, ..here.clone() }.died(&here));
        // No process has an id so large.
        assert!(Owner { pid: i32::MAX, ..here.clone() }.died(&here));
        for text in ["", "1", "1-2", "1-2-x", "1-2-3-4"] {
            assert_eq!(Owner::parse(text.as_bytes()), None, "{text}");
        }
    }
}
