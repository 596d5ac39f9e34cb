//! Child processes: every child Hob starts goes through here, in a process group of its own, with an environment
//! that is given and not inherited, a deadline and a cap on what is kept of its output.
//!
//! Leaves out: what is run and why (`workspace`, `agent`, `worker`).

mod brand;
mod capture;
mod hide;
mod lines;
mod mark;
mod program;
mod shell;

pub use brand::end_processes_with;
pub use capture::Captured;
pub use hide::hide_from_children;
pub use program::{Environment, Exit, Finished, ProcessError, Program};
pub use shell::{CommandEnd, CommandLimits, Ran, Shell};
