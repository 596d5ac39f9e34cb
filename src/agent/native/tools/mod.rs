//! The tools of the native agent, one a file: what each takes, what it answers, and how it fails.

mod action;
mod edit;
mod error;
mod finish;
mod list;
mod read;
mod search;
mod shell;
mod toolbox;
mod write;

pub(super) use action::{Action, Effect, tools};
pub(super) use error::ToolError;
pub(super) use toolbox::{Answer, Toolbox};
