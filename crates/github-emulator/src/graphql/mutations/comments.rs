//! Comments: write, change, delete, hide and show.

use serde_json::json;

use super::{
    super::{
        super::{state::Issue, users::Role},
        problem::Problem,
    },
    doing::{Doing, Mutation, Shown, Target},
};
use crate::names::Login;

pub(super) const DESCRIPTION: &str = r"
extend type Mutation {
    addComment(input: AddCommentInput!): AddCommentPayload
    deleteIssueComment(input: DeleteIssueCommentInput!): DeleteIssueCommentPayload
    minimizeComment(input: MinimizeCommentInput!): MinimizeCommentPayload
    unminimizeComment(input: UnminimizeCommentInput!): UnminimizeCommentPayload
    updateIssueComment(input: UpdateIssueCommentInput!): UpdateIssueCommentPayload
}
input AddCommentInput { body: String! subjectId: ID! }
type AddCommentPayload { commentEdge: IssueCommentEdge subject: Node }
input DeleteIssueCommentInput { id: ID! }
type DeleteIssueCommentPayload
input MinimizeCommentInput { classifier: ReportedContentClassifiers! subjectId: ID! }
type MinimizeCommentPayload { minimizedComment: Minimizable }
input UnminimizeCommentInput { subjectId: ID! }
type UnminimizeCommentPayload { unminimizedComment: Minimizable }
input UpdateIssueCommentInput { body: String! id: ID! }
type UpdateIssueCommentPayload { issueComment: IssueComment }
enum ReportedContentClassifiers { ABUSE DUPLICATE OFF_TOPIC OUTDATED RESOLVED SPAM }
";

pub(super) const MUTATIONS: &[(&str, Mutation)] = &[
    ("addComment", add),
    ("deleteIssueComment", delete),
    ("minimizeComment", minimize),
    ("unminimizeComment", unminimize),
    ("updateIssueComment", update),
];

fn add(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let subject = doing.target("subjectId", &["Issue", "PullRequest"])?;
    let body = json!({"body": doing.input.needed("body")});
    let made = doing.rest("POST /repos/{owner}/{repo}/issues/{number}/comments", &subject, &body)?;
    let comment = made["node_id"].as_str().unwrap_or_default().to_owned();
    Ok(vec![("commentEdge", Shown::Edge("IssueCommentConnection", comment)), ("subject", Shown::Node(subject.node()))])
}

fn update(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let comment = doing.target("id", &["IssueComment"])?;
    let body = json!({"body": doing.input.needed("body")});
    let id = comment.id.to_string();
    doing.rest_at("PATCH /repos/{owner}/{repo}/issues/comments/{id}", &comment, &[("id", &id)], &body)?;
    Ok(vec![("issueComment", Shown::Node(comment.node()))])
}

fn delete(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let comment = doing.target("id", &["IssueComment"])?;
    let id = comment.id.to_string();
    doing.rest_at("DELETE /repos/{owner}/{repo}/issues/comments/{id}", &comment, &[("id", &id)], &json!({}))?;
    Ok(Vec::new())
}

fn minimize(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let reason = doing.input.needed("classifier").to_owned();
    let comment = hide(doing, Some(reason))?;
    Ok(vec![("minimizedComment", Shown::Node(comment.node()))])
}

fn unminimize(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let comment = hide(doing, None)?;
    Ok(vec![("unminimizedComment", Shown::Node(comment.node()))])
}

/// Hides a comment for this reason, or shows it again.
fn hide(doing: &Doing<'_>, reason: Option<String>) -> Result<Target, Problem> {
    let comment = doing.target("subjectId", &["IssueComment", "PullRequestReviewComment"])?;
    let id = comment.id;
    let author = |issue: &Issue| -> Option<Login> {
        let plain = issue.comments.iter().find(|comment| comment.id == id).map(|comment| &comment.author);
        let on_lines = issue.pull.iter().flat_map(|pull| &pull.review_comments);
        plain.or_else(|| on_lines.clone().find(|comment| comment.id == id).map(|comment| &comment.author)).cloned()
    };
    let own = |issue: &Issue, actor: &Login| author(issue).is_some_and(|author| author.is(actor));
    doing.change(&comment, Role::Write, own, |issue, _| {
        for comment in issue.comments.iter_mut().filter(|comment| comment.id == id) {
            comment.minimized.clone_from(&reason);
        }
        let on_lines = issue.pull.iter_mut().flat_map(|pull| &mut pull.review_comments);
        for comment in on_lines.filter(|comment| comment.id == id) {
            comment.minimized.clone_from(&reason);
        }
    })?;
    Ok(comment)
}
