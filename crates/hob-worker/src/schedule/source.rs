//! The source of an installation's repositories.

use std::{collections::BTreeSet, sync::Arc};

use futures_util::future::BoxFuture;
use hob_domain::RepoName;

use crate::{WorkError, Worker, WorkerParts};

/// The changes in an installation.
pub(super) struct RepositoryChanges {
    /// All repositories that it has now.
    pub(super) all: BTreeSet<RepoName>,
    /// Workers of the new ones.
    pub(super) new: Vec<Arc<Worker>>,
}

/// Asks for an installation's repositories, given the known ones.
pub(super) type RepositorySource =
    Box<dyn Fn(BTreeSet<RepoName>) -> BoxFuture<'static, Result<RepositoryChanges, WorkError>> + Send + Sync>;

/// Gives the parts of a repository's worker.
pub type WorkerFactory = dyn Fn(RepoName) -> WorkerParts + Send + Sync;
