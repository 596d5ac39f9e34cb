//! Issues: create, change, close, reopen, assign, lock.

use serde_json::{Map, Value, json};

use super::{
    super::problem::Problem,
    doing::{Doing, Mutation, Shown, Target},
};

pub(super) const DESCRIPTION: &str = r"
extend type Mutation {
    addAssigneesToAssignable(input: AddAssigneesToAssignableInput!): AddAssigneesToAssignablePayload
    closeIssue(input: CloseIssueInput!): CloseIssuePayload
    createIssue(input: CreateIssueInput!): CreateIssuePayload
    lockLockable(input: LockLockableInput!): LockLockablePayload
    removeAssigneesFromAssignable(input: RemoveAssigneesFromAssignableInput!): RemoveAssigneesFromAssignablePayload
    reopenIssue(input: ReopenIssueInput!): ReopenIssuePayload
    unlockLockable(input: UnlockLockableInput!): UnlockLockablePayload
    updateIssue(input: UpdateIssueInput!): UpdateIssuePayload
}
input AddAssigneesToAssignableInput { assignableId: ID! assigneeIds: [ID!]! }
type AddAssigneesToAssignablePayload { assignable: Assignable }
input RemoveAssigneesFromAssignableInput { assignableId: ID! assigneeIds: [ID!]! }
type RemoveAssigneesFromAssignablePayload { assignable: Assignable }
input CloseIssueInput { issueId: ID! stateReason: IssueClosedStateReason }
type CloseIssuePayload { issue: Issue }
input ReopenIssueInput { issueId: ID! }
type ReopenIssuePayload { issue: Issue }
input CreateIssueInput {
    assigneeIds: [ID!]
    body: String
    labelIds: [ID!]
    projectIds: [ID!]
    repositoryId: ID!
    title: String!
}
type CreateIssuePayload { issue: Issue }
input UpdateIssueInput {
    assigneeIds: [ID!]
    body: String
    id: ID!
    labelIds: [ID!]
    state: IssueState
    title: String
}
type UpdateIssuePayload { actor: Actor issue: Issue }
input LockLockableInput { lockReason: LockReason lockableId: ID! }
type LockLockablePayload { actor: Actor lockedRecord: Lockable }
input UnlockLockableInput { lockableId: ID! }
type UnlockLockablePayload { actor: Actor unlockedRecord: Lockable }
";

pub(super) const MUTATIONS: &[(&str, Mutation)] = &[
    ("addAssigneesToAssignable", assign),
    ("closeIssue", close),
    ("createIssue", create),
    ("lockLockable", lock),
    ("removeAssigneesFromAssignable", unassign),
    ("reopenIssue", reopen),
    ("unlockLockable", unlock),
    ("updateIssue", update),
];

const UPDATE: &str = "PATCH /repos/{owner}/{repo}/issues/{number}";

fn create(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let repo = doing.target("repositoryId", &["Repository"])?;
    if doing.input.texts("projectIds").is_some_and(|ids| !ids.is_empty()) {
        return Err(Problem::new("NOT_IMPLEMENTED", "the embedded forge has no projects"));
    }
    let mut body = texts(doing, &["title", "body"]);
    body.extend(marks(doing, &repo)?);
    let made = doing.rest("POST /repos/{owner}/{repo}/issues", &repo, &Value::Object(body))?;
    Ok(vec![("issue", Shown::Node(made["node_id"].as_str().unwrap_or_default().to_owned()))])
}

fn update(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let issue = doing.target("id", &["Issue"])?;
    let mut body = texts(doing, &["title", "body"]);
    body.extend(marks(doing, &issue)?);
    body.extend(doing.input.text("state").map(|state| ("state".to_owned(), json!(state.to_lowercase()))));
    doing.rest(UPDATE, &issue, &Value::Object(body))?;
    Ok(vec![("actor", Shown::Actor), ("issue", Shown::Node(issue.node()))])
}

fn close(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let issue = doing.target("issueId", &["Issue"])?;
    let reason = doing.input.text("stateReason").unwrap_or("COMPLETED").to_lowercase();
    doing.rest(UPDATE, &issue, &json!({"state": "closed", "state_reason": reason}))?;
    Ok(vec![("issue", Shown::Node(issue.node()))])
}

fn reopen(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let issue = doing.target("issueId", &["Issue"])?;
    doing.rest(UPDATE, &issue, &json!({"state": "open"}))?;
    Ok(vec![("issue", Shown::Node(issue.node()))])
}

fn assign(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    assignees(doing, "POST /repos/{owner}/{repo}/issues/{number}/assignees")
}

fn unassign(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    assignees(doing, "DELETE /repos/{owner}/{repo}/issues/{number}/assignees")
}

fn assignees(doing: &Doing<'_>, endpoint: &str) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let subject = doing.target("assignableId", &["Issue", "PullRequest"])?;
    let logins = doing.logins("assigneeIds")?.unwrap_or_default();
    doing.rest(endpoint, &subject, &json!({"assignees": logins}))?;
    Ok(vec![("assignable", Shown::Node(subject.node()))])
}

fn lock(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let subject = doing.target("lockableId", &["Issue", "PullRequest"])?;
    let reason = doing.input.text("lockReason").map(|reason| match reason {
        "OFF_TOPIC" => "off-topic",
        "TOO_HEATED" => "too heated",
        "RESOLVED" => "resolved",
        _ => "spam",
    });
    doing.rest("PUT /repos/{owner}/{repo}/issues/{number}/lock", &subject, &json!({"lock_reason": reason}))?;
    Ok(vec![("actor", Shown::Actor), ("lockedRecord", Shown::Node(subject.node()))])
}

fn unlock(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let subject = doing.target("lockableId", &["Issue", "PullRequest"])?;
    doing.rest("DELETE /repos/{owner}/{repo}/issues/{number}/lock", &subject, &json!({}))?;
    Ok(vec![("actor", Shown::Actor), ("unlockedRecord", Shown::Node(subject.node()))])
}

/// These fields of the input as the REST API names them, if they were sent.
pub(super) fn texts(doing: &Doing<'_>, names: &[&str]) -> Map<String, Value> {
    let sent = names.iter().filter_map(|name| Some((name, doing.input.text(name)?)));
    sent.map(|(name, text)| ((*name).to_owned(), json!(text))).collect()
}

/// The labels and assignees of the input as the REST API names them, if they were sent.
pub(super) fn marks(doing: &Doing<'_>, target: &Target) -> Result<Map<String, Value>, Problem> {
    let labels = doing.labels("labelIds", &target.repo)?.map(|names| ("labels".to_owned(), json!(names)));
    let people = doing.logins("assigneeIds")?.map(|logins| ("assignees".to_owned(), json!(logins)));
    Ok(labels.into_iter().chain(people).collect())
}
