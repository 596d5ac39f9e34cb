//! `apply_patch`: changes several files at once, wholly or not at all.

mod apply;
mod change;
mod command;
mod place;
mod read;
mod tool;
mod unified;

pub(super) use command::{InCommand, in_command};
pub(in crate::native) use tool::ApplyPatch;
pub(super) use tool::tool;
