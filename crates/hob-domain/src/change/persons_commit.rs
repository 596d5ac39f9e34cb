//! Commits of people on Hob's branch, for the agent that goes on after them.

use crate::{FileChange, Sha};

/// A commit that is not Hob's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonsCommit {
    /// The commit.
    pub sha: Sha,
    /// The author that it names, as [`shown_path`](crate::shown_path) writes it.
    pub author: String,
    /// The first line of its message.
    pub subject: String,
    /// What it changes, the first files; empty for a merge.
    pub files: Vec<FileChange>,
    /// How many more files it changes.
    pub more_files: usize,
}
