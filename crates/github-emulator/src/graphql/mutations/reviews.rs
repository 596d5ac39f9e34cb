//! Reviews: give one, answer and resolve its threads, ask for one.

use serde_json::json;

use super::{
    super::{
        super::{api::reply_in_draft, state::Issue, users::Role, wire::node_id},
        problem::Problem,
    },
    doing::{Doing, Mutation, Shown},
    issues::texts,
};
use crate::names::Login;

pub(super) const DESCRIPTION: &str = r"
extend type Mutation {
    addPullRequestReview(input: AddPullRequestReviewInput!): AddPullRequestReviewPayload
    addPullRequestReviewThreadReply(input: AddPullRequestReviewThreadReplyInput!): AddPullRequestReviewThreadReplyPayload
    requestReviews(input: RequestReviewsInput!): RequestReviewsPayload
    resolveReviewThread(input: ResolveReviewThreadInput!): ResolveReviewThreadPayload
    unresolveReviewThread(input: UnresolveReviewThreadInput!): UnresolveReviewThreadPayload
    updatePullRequestReviewComment(input: UpdatePullRequestReviewCommentInput!): UpdatePullRequestReviewCommentPayload
}
input AddPullRequestReviewInput { body: String commitOID: GitObjectID event: PullRequestReviewEvent pullRequestId: ID! }
type AddPullRequestReviewPayload { pullRequestReview: PullRequestReview reviewEdge: PullRequestReviewEdge }
input AddPullRequestReviewThreadReplyInput { body: String! pullRequestReviewThreadId: ID! }
type AddPullRequestReviewThreadReplyPayload { comment: PullRequestReviewComment }
input RequestReviewsInput { pullRequestId: ID! union: Boolean = false userIds: [ID!] }
type RequestReviewsPayload { actor: Actor pullRequest: PullRequest }
input ResolveReviewThreadInput { threadId: ID! }
type ResolveReviewThreadPayload { thread: PullRequestReviewThread }
input UnresolveReviewThreadInput { threadId: ID! }
type UnresolveReviewThreadPayload { thread: PullRequestReviewThread }
input UpdatePullRequestReviewCommentInput { body: String! pullRequestReviewCommentId: ID! }
type UpdatePullRequestReviewCommentPayload { pullRequestReviewComment: PullRequestReviewComment }
enum PullRequestReviewEvent { APPROVE COMMENT DISMISS REQUEST_CHANGES }
";

pub(super) const MUTATIONS: &[(&str, Mutation)] = &[
    ("addPullRequestReview", review),
    ("addPullRequestReviewThreadReply", reply),
    ("requestReviews", request),
    ("resolveReviewThread", resolve),
    ("unresolveReviewThread", unresolve),
    ("updatePullRequestReviewComment", update),
];

fn review(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let pull = doing.target("pullRequestId", &["PullRequest"])?;
    let mut body = texts(doing, &["body", "event"]);
    body.extend(doing.input.text("commitOID").map(|sha| ("commit_id".to_owned(), json!(sha))));
    let made = doing.rest("POST /repos/{owner}/{repo}/pulls/{number}/reviews", &pull, &body.into())?;
    let id = made["node_id"].as_str().unwrap_or_default().to_owned();
    Ok(vec![
        ("pullRequestReview", Shown::Node(id.clone())),
        ("reviewEdge", Shown::Edge("PullRequestReviewConnection", id)),
    ])
}

/// It is published at once, unless the account has a review that it has not submitted: then it joins that one, unseen.
fn reply(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let thread = doing.target("pullRequestReviewThreadId", &["PullRequestReviewThread"])?;
    let (id, body) = (thread.id.to_string(), json!({"body": doing.input.needed("body")}));
    let mut call = doing.at(&thread);
    call.path.extend([("number".to_owned(), thread.number.to_string()), ("id".to_owned(), id.clone())]);
    call.body = body.to_string().into();
    let made = match reply_in_draft(&call)? {
        Some(made) => made.shown(),
        None => {
            let endpoint = "POST /repos/{owner}/{repo}/pulls/{number}/comments/{id}/replies";
            doing.rest_at(endpoint, &thread, &[("id", &id)], &body)?
        }
    };
    Ok(vec![("comment", Shown::Node(made["node_id"].as_str().unwrap_or_default().to_owned()))])
}

fn update(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let comment = doing.target("pullRequestReviewCommentId", &["PullRequestReviewComment"])?;
    let id = comment.id.to_string();
    let body = json!({"body": doing.input.needed("body")});
    doing.rest_at("PATCH /repos/{owner}/{repo}/pulls/comments/{id}", &comment, &[("id", &id)], &body)?;
    Ok(vec![("pullRequestReviewComment", Shown::Node(comment.node()))])
}

/// Asks these accounts; without `union` they replace the accounts that were asked before.
fn request(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let pull = doing.target("pullRequestId", &["PullRequest"])?;
    let wanted = doing.logins("userIds")?.unwrap_or_default();
    let asked: Vec<String> = {
        let state = doing.call.state();
        let repo = state.repositories.get(pull.repo.owner(), pull.repo.name());
        let reviewers = repo.and_then(|repo| Some(repo.issues.get(&pull.number)?.pull.as_ref()?.reviewers.clone()));
        reviewers.unwrap_or_default().iter().map(ToString::to_string).collect()
    };
    let endpoint = "/repos/{owner}/{repo}/pulls/{number}/requested_reviewers";
    doing.rest(&format!("POST {endpoint}"), &pull, &json!({"reviewers": wanted}))?;
    let gone: Vec<&String> = asked.iter().filter(|login| !wanted.contains(login)).collect();
    if !doing.input.flag("union").unwrap_or(false) && !gone.is_empty() {
        doing.rest(&format!("DELETE {endpoint}"), &pull, &json!({"reviewers": gone}))?;
    }
    Ok(vec![("actor", Shown::Actor), ("pullRequest", Shown::Node(pull.node()))])
}

fn resolve(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    set_resolved(doing, true)
}

fn unresolve(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    set_resolved(doing, false)
}

/// The author of the pull request, and accounts that may write, may resolve its threads.
fn set_resolved(doing: &Doing<'_>, resolved: bool) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let thread = doing.target("threadId", &["PullRequestReviewThread"])?;
    let own = |issue: &Issue, actor: &Login| issue.author.is(actor);
    doing.change(&thread, Role::Write, own, |issue, actor| {
        let comments = issue.pull.iter_mut().flat_map(|pull| &mut pull.review_comments);
        for first in comments.filter(|comment| comment.id == thread.id) {
            // Resolving a resolved thread keeps the first account that did it.
            first.resolved_by = resolved.then(|| first.resolved_by.take().unwrap_or_else(|| actor.clone()));
        }
    })?;
    Ok(vec![("thread", Shown::Node(node_id(thread.kind, thread.id)))])
}
