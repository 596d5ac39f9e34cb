//! Any program as an agent: it gets the task as text, edits the folder it runs in, and exits.
//!
//! - Flow: the program is started in the request's folder, with the brief on standard input or as an argument. Exit
//!   code 0 means done. The last line of its standard output may be a JSON object that says more: see [`Said`].
//! - Guarantees: its environment is the allow-list and the variables its settings name, never a token of the forge;
//!   its process group is gone when the run ends; its output is bounded.
//! - Caveats: a child that leaves the process group outlives it; only a sandbox ends that one.

mod backend;
mod said;

pub use backend::CommandAgent;
use said::Said;
