//! Branches of an issue: make and link one, unlink one.

use serde_json::json;

use super::{
    super::{
        super::{state::LinkedBranch, users::Role, wire::node_id},
        problem::Problem,
    },
    doing::{Doing, Mutation, Shown},
};

pub(super) const DESCRIPTION: &str = r"
extend type Mutation {
    createLinkedBranch(input: CreateLinkedBranchInput!): CreateLinkedBranchPayload
    deleteLinkedBranch(input: DeleteLinkedBranchInput!): DeleteLinkedBranchPayload
}
input CreateLinkedBranchInput { issueId: ID! name: String oid: GitObjectID! repositoryId: ID }
type CreateLinkedBranchPayload { issue: Issue linkedBranch: LinkedBranch }
input DeleteLinkedBranchInput { linkedBranchId: ID! }
type DeleteLinkedBranchPayload { issue: Issue }
";

pub(super) const MUTATIONS: &[(&str, Mutation)] = &[("createLinkedBranch", create), ("deleteLinkedBranch", delete)];

/// Makes the branch, named after the issue unless the input names it, and links it.
fn create(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let issue = doing.target("issueId", &["Issue"])?;
    if doing.input.text("repositoryId").is_some() {
        let repo = doing.target("repositoryId", &["Repository"])?;
        if repo.repo != issue.repo {
            return Err(Problem::new("NOT_IMPLEMENTED", "the embedded forge links branches of the same repository"));
        }
    }
    let branch = doing.input.text("name").map_or_else(|| format!("{}-issue", issue.number), str::to_owned);
    let made = json!({"ref": format!("refs/heads/{branch}"), "sha": doing.input.needed("oid")});
    doing.rest("POST /repos/{owner}/{repo}/git/refs", &issue, &made)?;
    let id = doing.call.forge.next_id();
    doing.change(&issue, Role::Write, |_, _| false, |issue, _| issue.linked.push(LinkedBranch { id, branch }))?;
    let linked = node_id("LinkedBranch", id);
    Ok(vec![("issue", Shown::Node(issue.node())), ("linkedBranch", Shown::Node(linked))])
}

/// The branch itself stays.
fn delete(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let linked = doing.target("linkedBranchId", &["LinkedBranch"])?;
    let issue = doing.change(
        &linked,
        Role::Write,
        |_, _| false,
        |issue, _| {
            issue.linked.retain(|other| other.id != linked.id);
            node_id("Issue", issue.id)
        },
    )?;
    Ok(vec![("issue", Shown::Node(issue))])
}
