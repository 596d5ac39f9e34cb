//! The repositories' git data: bare repositories on disk, each with one lock for everything that moves its refs, so that
//! a ref written through the API and a push are atomic with respect to each other.

mod commands;
mod diff;
mod http;
mod moves;
mod push;
mod seed;
mod store;

pub(super) use commands::parse_commands;
pub(super) use diff::{FileChange, changes, changes_between, merge_base, patch_text, walk};
pub(super) use http::routes as http_routes;
pub(super) use moves::{RefMove, moved};
pub(super) use push::{Brought, brought, is_forced};
pub(super) use seed::{copy_head, plant};
pub(super) use store::{Access, Store};
