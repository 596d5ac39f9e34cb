//! GraphQL over real HTTP, beside the REST API.

mod bots;
mod edits;
pub(crate) mod fixture;
mod linked;
mod mutations;
mod pages;
mod queries;
mod refs;
mod refusals;
mod whole;
