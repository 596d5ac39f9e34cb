//! The tools of the native agent, one a file: arguments, answers, and failures.

mod action;
mod answer;
mod case;
#[cfg(test)]
mod corpus;
mod dispatch;
mod edit;
mod error;
mod fetch;
mod finish;
mod foreign;
mod found_lines;
mod globs;
mod job;
mod jobs;
mod lines;
mod list;
mod mcp;
mod patch;
mod picture;
mod plan;
mod program;
mod read;
mod scratch;
mod search;
mod shell;
mod think;
mod toolbox;
mod toolset;
mod write;

pub(super) use action::{Action, Effect};
pub(super) use answer::{Answer, CommandResult};
pub(super) use dispatch::run_action;
pub(super) use error::ToolError;
pub(super) use jobs::Jobs;
pub(super) use picture::{Pictures, picture};
pub(super) use plan::Plan;
pub(super) use program::first as program_of;
pub(super) use scratch::Scratch;
pub(super) use shell::Shell;
pub(super) use toolbox::{Toolbox, Written};
pub(super) use toolset::Toolset;
pub(crate) use toolset::built_in_tools;
