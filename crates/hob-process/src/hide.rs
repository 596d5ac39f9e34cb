//! Keeps Hob's own memory and environment from the processes it starts.

use std::io;

/// Makes this process unreadable for others of the same user: `/proc/PID/environ` and `mem`, and `ptrace`. A child gets
/// its own setting back when it executes a program. Called once, at the start, before any child.
///
/// Caveat: a child that runs as root can read it all the same; only a sandbox prevents that.
///
/// # Errors
/// The system's error.
pub fn hide_from_children() -> io::Result<()> {
    hide_memory()
}

/// The same for memory and environment alone.
pub(super) fn hide_memory() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_process_is_not_dumpable_afterwards() {
        hide_from_children().unwrap();
        let now = rustix::process::dumpable_behavior().unwrap();
        assert_eq!(now, rustix::process::DumpableBehavior::NotDumpable);
    }
}
