//! The branches that people linked to an issue.

use super::{
    super::{
        super::{
            state::{Issue, LinkedBranch, Repository},
            wire::node_id,
        },
        object::{Args, At, Out, made},
        page::connection,
    },
    commit::reference,
};

pub(super) const DESCRIPTION: &str = r"
type LinkedBranch implements Node { id: ID! ref: Ref }
";

/// A branch that is linked to an issue.
pub(super) fn object<'s>(at: &At<'s>, repo: &'s Repository, linked: &'s LinkedBranch) -> Out<'s> {
    let reference = reference(at, repo, &format!("refs/heads/{}", linked.branch));
    made("LinkedBranch", [("id", Out::leaf(node_id("LinkedBranch", linked.id))), ("ref", reference)])
}

/// A page of the branches that are linked to an issue; a deleted branch is linked no longer.
pub(super) fn branches<'s>(at: &At<'s>, args: &Args, repo: &'s Repository, issue: &'s Issue) -> Out<'s> {
    let exists =
        |linked: &&LinkedBranch| !matches!(reference(at, repo, &format!("refs/heads/{}", linked.branch)), Out::Null);
    let nodes = issue.linked.iter().filter(exists).map(|linked| (linked.id, object(at, repo, linked)));
    connection("LinkedBranchConnection", args, nodes)
}
