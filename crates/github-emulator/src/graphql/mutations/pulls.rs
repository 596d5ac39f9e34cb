//! Pull requests: create, change, close, reopen, merge, draft or ready.

use serde_json::{Value, json};

use super::{
    super::{super::users::Role, problem::Problem},
    doing::{Doing, Mutation, Shown, Target},
    issues::{marks, texts},
};

pub(super) const DESCRIPTION: &str = r"
extend type Mutation {
    closePullRequest(input: ClosePullRequestInput!): ClosePullRequestPayload
    convertPullRequestToDraft(input: ConvertPullRequestToDraftInput!): ConvertPullRequestToDraftPayload
    createPullRequest(input: CreatePullRequestInput!): CreatePullRequestPayload
    markPullRequestReadyForReview(input: MarkPullRequestReadyForReviewInput!): MarkPullRequestReadyForReviewPayload
    mergePullRequest(input: MergePullRequestInput!): MergePullRequestPayload
    reopenPullRequest(input: ReopenPullRequestInput!): ReopenPullRequestPayload
    updatePullRequest(input: UpdatePullRequestInput!): UpdatePullRequestPayload
    updatePullRequestBranch(input: UpdatePullRequestBranchInput!): UpdatePullRequestBranchPayload
}
input ClosePullRequestInput { pullRequestId: ID! }
type ClosePullRequestPayload { pullRequest: PullRequest }
input ConvertPullRequestToDraftInput { pullRequestId: ID! }
type ConvertPullRequestToDraftPayload { pullRequest: PullRequest }
input CreatePullRequestInput {
    baseRefName: String!
    body: String
    draft: Boolean = false
    headRefName: String!
    headRepositoryId: ID
    maintainerCanModify: Boolean = true
    repositoryId: ID!
    title: String!
}
type CreatePullRequestPayload { pullRequest: PullRequest }
input MarkPullRequestReadyForReviewInput { pullRequestId: ID! }
type MarkPullRequestReadyForReviewPayload { pullRequest: PullRequest }
input MergePullRequestInput {
    commitBody: String
    commitHeadline: String
    expectedHeadOid: GitObjectID
    mergeMethod: PullRequestMergeMethod = MERGE
    pullRequestId: ID!
}
type MergePullRequestPayload { actor: Actor pullRequest: PullRequest }
input UpdatePullRequestBranchInput { expectedHeadOid: GitObjectID pullRequestId: ID! }
type UpdatePullRequestBranchPayload { pullRequest: PullRequest }
input ReopenPullRequestInput { pullRequestId: ID! }
type ReopenPullRequestPayload { pullRequest: PullRequest }
input UpdatePullRequestInput {
    assigneeIds: [ID!]
    baseRefName: String
    body: String
    labelIds: [ID!]
    pullRequestId: ID!
    state: PullRequestUpdateState
    title: String
}
type UpdatePullRequestPayload { actor: Actor pullRequest: PullRequest }
enum PullRequestUpdateState { CLOSED OPEN }
";

pub(super) const MUTATIONS: &[(&str, Mutation)] = &[
    ("closePullRequest", close),
    ("convertPullRequestToDraft", to_draft),
    ("createPullRequest", create),
    ("markPullRequestReadyForReview", to_ready),
    ("mergePullRequest", merge),
    ("reopenPullRequest", reopen),
    ("updatePullRequest", update),
    ("updatePullRequestBranch", update_branch),
];

const UPDATE: &str = "PATCH /repos/{owner}/{repo}/pulls/{number}";

fn create(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let repo = doing.target("repositoryId", &["Repository"])?;
    if doing.input.text("headRepositoryId").is_some_and(|head| head != repo.node()) {
        return Err(Problem::new(
            "UNPROCESSABLE",
            "Head repository can't be another repository: the forge has no forks",
        ));
    }
    let branch = |name| doing.input.needed(name).trim_start_matches("refs/heads/").to_owned();
    let mut body = texts(doing, &["title", "body"]);
    let more = json!({
        "base": branch("baseRefName"),
        "head": branch("headRefName"),
        "draft": doing.input.flag("draft"),
        "maintainer_can_modify": doing.input.flag("maintainerCanModify"),
    });
    body.extend(more.as_object().cloned().unwrap_or_default());
    let made = doing.rest("POST /repos/{owner}/{repo}/pulls", &repo, &Value::Object(body))?;
    Ok(vec![("pullRequest", Shown::Node(made["node_id"].as_str().unwrap_or_default().to_owned()))])
}

fn update(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let pull = target(doing)?;
    let mut body = texts(doing, &["title", "body"]);
    body.extend(doing.input.text("baseRefName").map(|base| ("base".to_owned(), json!(base))));
    body.extend(doing.input.text("state").map(|state| ("state".to_owned(), json!(state.to_lowercase()))));
    doing.rest(UPDATE, &pull, &Value::Object(body))?;
    let marks = marks(doing, &pull)?;
    if !marks.is_empty() {
        doing.rest("PATCH /repos/{owner}/{repo}/issues/{number}", &pull, &Value::Object(marks))?;
    }
    Ok(vec![("actor", Shown::Actor), ("pullRequest", Shown::Node(pull.node()))])
}

fn update_branch(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let pull = target(doing)?;
    let body = json!({"expected_head_sha": doing.input.text("expectedHeadOid")});
    doing.rest("PUT /repos/{owner}/{repo}/pulls/{number}/update-branch", &pull, &body)?;
    Ok(vec![("pullRequest", Shown::Node(pull.node()))])
}

fn close(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    turn(doing, "closed")
}

fn reopen(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    turn(doing, "open")
}

fn turn(doing: &Doing<'_>, state: &str) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let pull = target(doing)?;
    doing.rest(UPDATE, &pull, &json!({"state": state}))?;
    Ok(vec![("pullRequest", Shown::Node(pull.node()))])
}

fn merge(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let (pull, input) = (target(doing)?, doing.input);
    let mut body = json!({"merge_method": input.text("mergeMethod").unwrap_or("MERGE").to_lowercase()});
    let sent = [("commit_title", "commitHeadline"), ("commit_message", "commitBody"), ("sha", "expectedHeadOid")];
    for (rest, graphql) in sent {
        if let Some(text) = input.text(graphql) {
            body[rest] = json!(text);
        }
    }
    doing.rest("PUT /repos/{owner}/{repo}/pulls/{number}/merge", &pull, &body)?;
    Ok(vec![("actor", Shown::Actor), ("pullRequest", Shown::Node(pull.node()))])
}

fn to_draft(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    set_draft(doing, true)
}

fn to_ready(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    set_draft(doing, false)
}

fn set_draft(doing: &Doing<'_>, draft: bool) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let pull = target(doing)?;
    let now = doing.call.now;
    let own = |issue: &super::super::super::state::Issue, actor: &crate::names::Login| issue.author.is(actor);
    doing.change(&pull, Role::Write, own, |issue, _| {
        issue.updated_at = now;
        if let Some(pull) = issue.pull.as_mut() {
            pull.draft = draft;
        }
    })?;
    Ok(vec![("pullRequest", Shown::Node(pull.node()))])
}

fn target(doing: &Doing<'_>) -> Result<Target, Problem> {
    doing.target("pullRequestId", &["PullRequest"])
}
