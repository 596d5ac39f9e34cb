//! The rehearsal: the embedded forge, people who act on it through its API, and an account of what happened.

mod account;
mod own_repository;
mod people;
mod script;
mod stage;

pub(super) use account::{expect_an_end, tell};
pub(super) use script::{bundled, own};
pub(super) use stage::Desk;
