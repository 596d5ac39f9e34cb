//! The types of the schema, one file a thing: its description in GraphQL's schema language, and the resolver of its fields.
//! A new type is a file here and a line in `table`; one with a global id is found by `find`, too.

mod account;
mod check;
mod comment;
mod commit;
mod common;
mod conversation;
mod file;
mod find;
mod issue;
mod label;
mod linked;
mod pull;
mod query;
mod reaction;
mod repository;
mod review;
mod search;
mod suite;
mod table;
mod template;
mod text;
mod thread;
mod timeline;

pub(super) use find::find;
pub(super) use query::Query;
pub(super) use reaction::content;
pub(super) use table::DESCRIPTIONS;
