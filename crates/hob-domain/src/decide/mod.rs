//! What comes next for each issue of a repository, and why one has to wait.

pub(crate) mod assignee;
pub(crate) mod others_work;
pub(crate) mod plan;
pub(crate) mod snapshot;
pub(crate) mod wait;
