//! The repositories' git data: bare repositories on disk, each with one lock for everything that moves its refs, so that
//! a ref written through the API and a push are atomic with respect to each other. Git's programs run as children.

mod commands;
mod commit;
mod diff;
mod program;
mod push;
mod seed;
mod store;

pub(super) use commands::{Command, packet, parse_commands, refuse};
pub(super) use commit::commit_named;
pub(super) use diff::{
    FileChange, changes, changes_between, email_of, emails, merge_base, patch_between, patch_text, walk,
};
pub(super) use program::{feed, program, spawn};
pub(super) use push::{AddedCommit, RefMove, added_commits, is_forced};
pub(super) use seed::{copy_head, grow, plant};
pub(super) use store::{Access, Store};
