//! How the state looks over the wire: GitHub's own field names, every field its OpenAPI description requires.

mod account;
mod base;
mod check;
mod event;
mod git;
mod issue;
mod pull;
mod repository;

pub(super) use account::{private_account, public_account, simple_account};
pub(super) use base::{View, node_id, time};
pub(super) use git::{person, wrapped_base64};
pub(super) use issue::CONTENTS;
pub(super) use pull::Measured;
