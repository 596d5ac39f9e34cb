//! Reactions: add and remove.

use serde_json::json;

use super::{
    super::{
        super::{state::Reaction, wire::node_id},
        problem::Problem,
        types::content,
    },
    doing::{Doing, Mutation, Shown, Target},
};

pub(super) const DESCRIPTION: &str = r"
extend type Mutation {
    addReaction(input: AddReactionInput!): AddReactionPayload
    removeReaction(input: RemoveReactionInput!): RemoveReactionPayload
}
input AddReactionInput { content: ReactionContent! subjectId: ID! }
type AddReactionPayload { reaction: Reaction reactionGroups: [ReactionGroup!] subject: Reactable }
input RemoveReactionInput { content: ReactionContent! subjectId: ID! }
type RemoveReactionPayload { reactionGroups: [ReactionGroup!] subject: Reactable }
";

pub(super) const MUTATIONS: &[(&str, Mutation)] = &[("addReaction", add), ("removeReaction", remove)];

fn add(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let subject = doing.target(
        "subjectId",
        &["Issue", "PullRequest", "IssueComment", "PullRequestReview", "PullRequestReviewComment"],
    )?;
    let id = subject.id.to_string();
    let body = json!({"content": content(doing.input.needed("content"))});
    let made = match subject.kind {
        "IssueComment" => {
            let endpoint = "POST /repos/{owner}/{repo}/issues/comments/{id}/reactions";
            doing.rest_at(endpoint, &subject, &[("id", &id)], &body)?
        }
        "PullRequestReviewComment" => {
            let endpoint = "POST /repos/{owner}/{repo}/pulls/comments/{remark}/reactions";
            doing.rest_at(endpoint, &subject, &[("remark", &id)], &body)?
        }
        "PullRequestReview" => json!({"id": to_review(doing, &subject, content(doing.input.needed("content")))?}),
        _ => doing.rest("POST /repos/{owner}/{repo}/issues/{number}/reactions", &subject, &body)?,
    };
    let reaction = made["id"].as_u64().unwrap_or_default();
    let mut shown = about(&subject);
    shown.push(("reaction", Shown::Node(node_id("Reaction", reaction))));
    Ok(shown)
}

/// Adds a reaction to a review, which the REST API has no endpoint for; returns its id.
fn to_review(doing: &Doing<'_>, subject: &Target, content: &str) -> Result<u64, Problem> {
    let (actor, now, mut state) = (doing.call.actor()?.clone(), doing.call.now, doing.call.state());
    let repo = state.repositories.get_mut(subject.repo.owner(), subject.repo.name());
    let pull = repo.and_then(|repo| repo.issues.get_mut(&subject.number)).and_then(|issue| issue.pull.as_mut());
    let review = pull.and_then(|pull| pull.reviews.iter_mut().find(|review| review.id == subject.id));
    let all = &mut review.ok_or_else(|| Problem::not_found("Could not find the review."))?.reactions;
    if let Some(known) = all.iter().find(|known| known.author.is(&actor) && known.content == content) {
        return Ok(known.id);
    }
    let id = doing.call.forge.next_id();
    all.push(Reaction { id, author: actor, content: content.to_owned(), at: now });
    Ok(id)
}

fn remove(doing: &Doing<'_>) -> Result<Vec<(&'static str, Shown)>, Problem> {
    let subject = subject(doing)?;
    let wanted = content(doing.input.needed("content"));
    let actor = doing.call.actor()?;
    let mine = {
        let state = doing.call.state();
        let repo = state.repositories.get(subject.repo.owner(), subject.repo.name());
        let issue = repo.and_then(|repo| repo.issues.get(&subject.number));
        let of_comment = issue.and_then(|issue| issue.comments.iter().find(|comment| comment.id == subject.id));
        let pull = issue.and_then(|issue| issue.pull.as_ref());
        let remarks = pull.into_iter().flat_map(|pull| &pull.review_comments);
        let all: Option<&Vec<Reaction>> = match subject.kind {
            "IssueComment" => of_comment.map(|comment| &comment.reactions),
            "PullRequestReviewComment" => {
                remarks.into_iter().find(|comment| comment.id == subject.id).map(|comment| &comment.reactions)
            }
            _ => issue.map(|issue| &issue.reactions),
        };
        let found = all.into_iter().flatten().find(|one| one.author.is(actor) && one.content == wanted);
        found.map(|reaction| reaction.id.to_string())
    };
    let mine = mine.ok_or_else(|| Problem::not_found("Could not find a reaction of yours with this content."))?;
    let id = subject.id.to_string();
    match subject.kind {
        "IssueComment" => {
            let endpoint = "DELETE /repos/{owner}/{repo}/issues/comments/{id}/reactions/{reaction}";
            doing.rest_at(endpoint, &subject, &[("id", &id), ("reaction", &mine)], &json!({}))?
        }
        "PullRequestReviewComment" => {
            let endpoint = "DELETE /repos/{owner}/{repo}/pulls/comments/{remark}/reactions/{reaction}";
            doing.rest_at(endpoint, &subject, &[("remark", &id), ("reaction", &mine)], &json!({}))?
        }
        _ => {
            let endpoint = "DELETE /repos/{owner}/{repo}/issues/{number}/reactions/{reaction}";
            doing.rest_at(endpoint, &subject, &[("reaction", &mine)], &json!({}))?
        }
    };
    Ok(about(&subject))
}

fn about(subject: &Target) -> Vec<(&'static str, Shown)> {
    vec![("reactionGroups", Shown::Field("reactionGroups", subject.node())), ("subject", Shown::Node(subject.node()))]
}

/// What a reaction can be taken back from: those on reviews stay.
fn subject(doing: &Doing<'_>) -> Result<Target, Problem> {
    doing.target("subjectId", &["Issue", "PullRequest", "IssueComment", "PullRequestReviewComment"])
}
