//! Any program as an agent: it gets the task as text, edits the folder it runs in, and exits.
//!
//! - Flow: the program is started in the request's folder, with the brief on standard input or as an argument. Exit
//!   code 0 means done. The last line of its standard output may be a JSON object that says more: see [`ResultLine`].
//! - Guarantees: its environment is the allow-list and the variables its settings name, never a token of the forge;
//!   its processes are gone when the run ends, those that left its process group too; its output is bounded.
//! - Caveats: a process that left the group and emptied its environment outlives it; only a sandbox ends that one.

mod backend;
mod result_line;

pub use backend::CommandAgent;
pub(super) use backend::{cannot_run, is_there};
pub(super) use result_line::ResultLine;
