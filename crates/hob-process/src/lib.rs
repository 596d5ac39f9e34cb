//! Child processes: every child of Hob goes through here, in its own process group, with an explicit environment
//! instead of an inherited one, a deadline, and a cap on the output that is kept.
//!
//! Leaves out: what is run and why (`workspace`, `agent`, `worker`).

mod background;
mod capture;
mod copy;
mod dialogue;
mod end_marker;
mod environment;
mod first_process;
mod folder;
mod hide;
mod lines;
mod owner;
mod process_tag;
mod program;
mod quoted;
mod removal;
mod second_signal;
mod shell;
mod starts;
mod watchdog;

pub use background::drop_in_background;
pub use capture::Captured;
pub use copy::copy_tree;
pub use dialogue::Dialogue;
pub use environment::Environment;
pub use first_process::was_first_process;
pub use folder::{Entry, Folder};
pub use hide::hide_from_children;
pub use process_tag::TaggedProcesses;
pub use program::{Exit, Finished, ProcessError, Program, has_program};
pub use quoted::quoted;
pub use removal::{remove_tree, remove_tree_until, unlock_folders};
pub use second_signal::exit_at_second;
pub use shell::{CommandEnd, CommandLimits, Ran, Shell};
pub use starts::{Start, fault_at_start, fault_of_file, start};
pub use watchdog::{own_program, start_watchdog, was_watchdog};
