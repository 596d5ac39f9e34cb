//! Resolves threads of a review. Only GraphQL has threads; the REST API has their comments.

use hob_domain::PullNumber;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    ForgeError, HeldLease, Reviews,
    TokenPermission::{PullRequestsRead, PullRequestsWrite},
    mutations::{numbered, resolve_threads},
    open_pulls::Id,
};

/// The newest threads of a pull request, as [`threads`] reads them.
macro_rules! newest_threads {
    () => {
        "reviewThreads(last: 100) { nodes { id isResolved comments(first: 1) { nodes { fullDatabaseId } } } }"
    };
}
pub(super) const THREADS: &str = newest_threads!();
pub(super) const QUERY: &str = concat!(
    "query($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, name: $name) { pullRequest(number: $number) { ",
    newest_threads!(),
    " } } }"
);

/// A thread on a line.
pub(super) struct Thread {
    pub(super) id: String,
    is_resolved: bool,
    /// The comment that begins it.
    pub(super) first: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ThreadWire {
    id: String,
    is_resolved: bool,
    comments: CommentsWire,
}

#[derive(Deserialize)]
struct CommentsWire {
    nodes: Vec<Option<CommentWire>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommentWire {
    full_database_id: Id,
}

impl Reviews<'_> {
    /// Resolves the open threads, among the newest hundred, that begin with these comments.
    ///
    /// # Errors
    /// [`ForgeError`] of the query or the write; [`ForgeError::Refused`] if some could not be resolved.
    pub async fn resolve(self, lease: &HeldLease, first: &[u64]) -> Result<(), ForgeError> {
        let open = self.open_threads(self.pull, first).await?;
        if open.is_empty() {
            return Ok(());
        }
        let purpose = PullRequestsWrite.to("resolve threads");
        self.forge.mutate(lease, &resolve_threads(open.len()), numbered("t", &open).into(), purpose).await
    }

    async fn open_threads(self, pull: PullNumber, first: &[u64]) -> Result<Vec<String>, ForgeError> {
        let repo = self.forge.repo();
        let variables = json!({ "owner": repo.owner(), "name": repo.name(), "number": pull.0 });
        let purpose = PullRequestsRead.to("read the threads");
        let data = self.forge.connection().query(QUERY, variables, purpose).await?.data;
        let threads = threads(&data)
            .map_err(|source| ForgeError::Unreadable { what: purpose.what.to_owned(), source: source.into() })?;
        Ok(threads.into_iter().filter(|thread| thread.is_open_among(first)).map(|thread| thread.id).collect())
    }
}

/// The threads that a query of [`THREADS`] has.
pub(super) fn threads(data: &Value) -> Result<Vec<Thread>, serde_json::Error> {
    let nodes = &data["repository"]["pullRequest"]["reviewThreads"]["nodes"];
    let threads = Vec::<Option<ThreadWire>>::deserialize(nodes)?.into_iter().flatten();
    let of = |ThreadWire { id, is_resolved, comments }| {
        let first = comments.nodes.into_iter().next().flatten().map(|comment: CommentWire| comment.full_database_id.0);
        Thread { id, is_resolved, first }
    };
    Ok(threads.map(of).collect())
}

impl Thread {
    /// Whether it is open, and begins with one of these comments.
    pub(super) fn is_open_among(&self, first: &[u64]) -> bool {
        !self.is_resolved && self.first.is_some_and(|begins| first.contains(&begins))
    }
}
