//! Typed settings, one section a file, and the only reader of the environment.

mod environment;
mod workspace;

pub use environment::child_environment;
pub use workspace::WorkspaceSettings;
