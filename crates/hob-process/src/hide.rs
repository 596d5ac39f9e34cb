//! Keeps Hob's own memory, environment and inherited files from the processes it starts.

use std::io;

/// Makes this process unreadable for others of the same user: `/proc/PID/environ` and `mem`, and `ptrace`. A child gets
/// its own setting back when it executes a program. Children do not inherit files that Hob's parent left open, such as
/// that of a token. Call it once, at the start, before any child.
///
/// Caveat: a child that runs as root can read it all the same; only a sandbox prevents that.
///
/// # Errors
/// The system's error.
pub fn hide_from_children() -> io::Result<()> {
    close_fds::set_fds_cloexec(3, &[]);
    hide_memory()
}

/// Hides memory and environment only.
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

    /// Attack corpus E63: such as the file of a token.
    #[test]
    fn a_file_that_was_left_open_is_closed_in_children() {
        use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
        let file = tempfile::tempfile().unwrap();
        fcntl_setfd(&file, FdFlags::empty()).unwrap();
        hide_from_children().unwrap();
        assert_eq!(fcntl_getfd(&file).unwrap(), FdFlags::CLOEXEC);
    }
}
