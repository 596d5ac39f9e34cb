//! The comments on many issues at once: one query for fifty of them, instead of a list of the REST API for each.

use std::collections::BTreeMap;

use hob_domain::IssueNumber;
use serde::Deserialize;

use crate::{
    Comment, Forge, ForgeError, Issue,
    TokenPermission::IssuesRead,
    objects::{Objects, object_name, objects},
    open_pulls::{CommentWire, List},
};

/// Issues in one query. Comments are long, and the answer has to come within `forge.timeout`.
const BATCH: usize = 50;

pub(super) const ISSUES: Objects = Objects {
    field: "issue",
    argument: "number",
    argument_type: "Int!",
    facts: "fragment facts on Issue { comments(last: 100) { pageInfo { hasPreviousPage } nodes { fullDatabaseId createdAt \
        lastEditedAt body author { login __typename } } } }",
};

/// The facts of [`ISSUES`].
#[derive(Deserialize)]
pub(super) struct CommentsWire {
    comments: List<CommentWire>,
}

impl CommentsWire {
    /// All comments, oldest first. `None` if some are not here.
    pub(super) fn whole(self) -> Option<Vec<Comment>> {
        Some(self.comments.whole()?.into_iter().map(Comment::from).collect())
    }

    /// All comments, oldest first. `None` if there are other ones than these `told`.
    fn into_comments(self, told: u64) -> Option<Vec<Comment>> {
        let comments = self.whole()?;
        (comments.len() as u64 == told).then_some(comments)
    }
}

/// The comments on these issues, oldest first, as far as one query tells them: an issue is missing that has more than 100 of them, or
/// another number than it had when it was read.
///
/// # Errors
/// [`ForgeError`] of a query.
pub async fn comments_of_each(
    forge: &Forge,
    issues: &[&Issue],
) -> Result<BTreeMap<IssueNumber, Vec<Comment>>, ForgeError> {
    let mut found = BTreeMap::new();
    for batch in issues.chunks(BATCH) {
        let numbers = batch.iter().map(|issue| issue.number.0.into());
        let purpose = IssuesRead.to("read the issues' comments");
        let mut data = objects(forge, &ISSUES, numbers, purpose).await?.data;
        for (index, issue) in batch.iter().enumerate() {
            let wire = CommentsWire::deserialize(data["repository"][object_name(index)].take());
            let comments = wire.ok().and_then(|wire| wire.into_comments(issue.comments));
            found.extend(comments.map(|comments| (issue.number, comments)));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn comments(has_more: bool, nodes: Value, told: u64) -> Option<usize> {
        let list = json!({ "comments": { "pageInfo": { "hasPreviousPage": has_more }, "nodes": nodes } });
        CommentsWire::deserialize(list).ok()?.into_comments(told).map(|comments| comments.len())
    }

    #[test]
    fn comments_that_are_not_all_there_are_none() {
        let comment = json!({ "fullDatabaseId": "7", "createdAt": "2026-01-02T03:04:05Z", "lastEditedAt": null,
            "body": "Yes.", "author": { "login": "ann", "__typename": "User" } });
        assert_eq!(comments(false, json!([comment]), 1), Some(1));
        assert_eq!(comments(false, json!([]), 0), Some(0));
        assert_eq!(comments(false, json!([comment]), 2), None, "the list lags, or the issue does");
        assert_eq!(comments(true, json!([comment]), 1), None, "there are older ones");
        assert_eq!(comments(false, json!([comment, null]), 2), None, "one is hidden from the token");
    }
}
