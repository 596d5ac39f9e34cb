//! Resolves threads of a review. Only GraphQL has threads; the REST API has their comments.

use hob_domain::PullNumber;
use serde::Deserialize;
use serde_json::json;

use crate::{
    ForgeError, HeldLease, Reviews,
    TokenPermission::{PullRequestsRead, PullRequestsWrite},
    mutations::{numbered, resolve_threads},
    open_pulls::Id,
};

pub(super) const QUERY: &str = "query($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, name: $name) { \
    pullRequest(number: $number) { reviewThreads(last: 100) { nodes { id isResolved comments(first: 1) { nodes { \
    fullDatabaseId } } } } } } }";

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
        self.forge.mutate(lease, &resolve_threads(open.len()), numbered("t", &open), purpose).await
    }

    pub(super) async fn open_threads(self, pull: PullNumber, first: &[u64]) -> Result<Vec<String>, ForgeError> {
        let repo = self.forge.repo();
        let variables = json!({ "owner": repo.owner(), "name": repo.name(), "number": pull.0 });
        let purpose = PullRequestsRead.to("read the threads");
        let mut data = self.forge.connection().query(QUERY, variables, purpose).await?.data;
        let threads = data["repository"]["pullRequest"]["reviewThreads"]["nodes"].take();
        let threads = Vec::<Option<ThreadWire>>::deserialize(threads)
            .map_err(|error| ForgeError::Unreadable { what: purpose.what.to_owned(), source: error.into() })?;
        let begins = |thread: &ThreadWire| {
            let comment = thread.comments.nodes.first().and_then(Option::as_ref);
            comment.is_some_and(|comment| first.contains(&comment.full_database_id.0))
        };
        let open = threads.into_iter().flatten().filter(|thread| !thread.is_resolved && begins(thread));
        Ok(open.map(|thread| thread.id).collect())
    }
}
