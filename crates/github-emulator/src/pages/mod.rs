//! Web pages for a person to look at: a repository, an issue, a pull request. They run no script and load nothing.

mod issue;
mod layout;
mod pull;
mod repository;
mod serve;
mod text;

pub(super) use serve::routes;
