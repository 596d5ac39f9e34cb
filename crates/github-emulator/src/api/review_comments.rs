//! Comments on lines of a pull request's diff.

use serde_json::Value;

use super::{
    super::{
        call::{Answer, Call, Reply},
        page::paged,
        refusal::Refusal,
        route::{Route, delete, get, patch, post},
        state::{History, Pull, Repository, ReviewComment, ReviewState, State},
        users::Role,
        wire,
    },
    issues::BODY_MAX,
    pull_moods,
    pulls::{pull_mut, pull_of},
    review_place::{Place, body_of, files_at, side_name},
};
use crate::names::Login;

const LISTED: &[&str] = &["sort", "direction", "since"];

pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/pulls/{number}/comments", list).query(LISTED),
    post("/repos/{owner}/{repo}/pulls/{number}/comments", create).body(&[
        "body",
        "commit_id",
        "path",
        "position",
        "side",
        "line",
        "start_line",
        "start_side",
        "in_reply_to",
        "subject_type",
    ]),
    post("/repos/{owner}/{repo}/pulls/{number}/comments/{id}/replies", reply).body(&["body"]),
    get("/repos/{owner}/{repo}/pulls/comments", list_all).query(LISTED),
    get("/repos/{owner}/{repo}/pulls/comments/{id}", show),
    patch("/repos/{owner}/{repo}/pulls/comments/{id}", update).body(&["body"]),
    delete("/repos/{owner}/{repo}/pulls/comments/{id}", remove),
];

/// A comment at a place of the diff.
pub(super) fn comment(call: &Call, author: &Login, place: Place, review: Option<u64>, commit: &str) -> ReviewComment {
    ReviewComment {
        id: call.forge.next_id(),
        review,
        author: author.clone(),
        body: place.body,
        path: place.path,
        line: place.line,
        side: side_name(place.side).to_owned(),
        start: place.start.map(|(line, side)| (line, side_name(side).to_owned())),
        position: place.position,
        commit: commit.to_owned(),
        hunk: place.hunk,
        reply_to: None,
        created_at: call.now,
        updated_at: call.now,
        history: History::default(),
        reactions: Vec::new(),
        minimized: None,
        resolved_by: None,
    }
}

fn list(call: &Call) -> Answer {
    let state = call.state();
    let (issue, pull) = pull_of(call, call.repository(&state, Role::Read)?)?;
    listed(call, &state, pull.review_comments.iter().map(|comment| (issue.number, pull, comment)).collect())
}

fn list_all(call: &Call) -> Answer {
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let pulls = repo.issues.values().filter_map(|issue| Some((issue.number, issue.pull.as_ref()?)));
    let all = pulls.flat_map(|(number, pull)| pull.review_comments.iter().map(move |comment| (number, pull, comment)));
    listed(call, &state, all.collect())
}

/// The comments that the call asks for and its caller may see.
fn listed(call: &Call, state: &State, mut all: Vec<(u64, &Pull, &ReviewComment)>) -> Answer {
    let since = call.time("PullRequestReviewComment", "since")?;
    all.retain(|(_, pull, comment)| pull.shows(comment, call.caller.as_ref()));
    all.retain(|(_, _, comment)| since.is_none_or(|since| comment.updated_at >= since));
    match call.choice("PullRequestReviewComment", "sort", &["created", "updated", "created_at"])? {
        "updated" => all.sort_by_key(|(_, _, comment)| (comment.updated_at, comment.id)),
        _ => all.sort_by_key(|(_, _, comment)| comment.id),
    }
    let direction = call.choice("PullRequestReviewComment", "direction", &["desc", "asc"])?;
    // Without `sort`, GitHub ignores the direction.
    if call.query("sort").is_some() && direction == "desc" {
        all.reverse();
    }
    let view = call.view(state)?;
    Ok(paged(call, all, |(number, _, comment)| wire::review_comment(view, *number, comment)))
}

fn create(call: &Call) -> Answer {
    let fields = call.fields("PullRequestReviewComment")?;
    if let Some(to) = fields.number("in_reply_to")? {
        return answer_to(call, to, None);
    }
    let sent: Value = serde_json::from_slice(&call.body).unwrap_or_default();
    let (files, commit) = files_at(call, fields.text("commit_id")?.as_deref())?;
    let place = Place::read(&sent, &files)?;
    add(call, comment(call, call.actor()?, place, None, &commit))
}

fn reply(call: &Call) -> Answer {
    call.fields("PullRequestReviewComment")?;
    answer_to(call, call.number("id")?, None)
}

/// A reply as GraphQL takes it from an account with a review that it has not submitted: as a part of that. `None` without such a
/// review.
pub(crate) fn reply_in_draft(call: &Call) -> Result<Option<Reply>, Refusal> {
    let draft = {
        let state = call.state();
        let (_, pull) = pull_of(call, call.repository(&state, Role::Read)?)?;
        draft_of(pull, call.actor()?)
    };
    draft.map(|draft| answer_to(call, call.number("id")?, Some(draft))).transpose()
}

/// The review that this account has begun and not submitted.
fn draft_of(pull: &Pull, author: &Login) -> Option<u64> {
    let mut own = pull.reviews.iter().filter(|review| review.author.is(author));
    own.find(|review| review.state == ReviewState::Pending).map(|review| review.id)
}

/// A reply, as a part of the caller's `draft`. Without one the account may have none: the REST API submits each reply as a review.
fn answer_to(call: &Call, to: u64, draft: Option<u64>) -> Answer {
    let body = body_of(&serde_json::from_slice(&call.body).unwrap_or_default())?;
    let first = {
        let state = call.state();
        let (_, pull) = pull_of(call, call.repository(&state, Role::Read)?)?;
        if draft.is_none() && draft_of(pull, call.actor()?).is_some() {
            let says = "user_id can only have one pending review per pull request";
            return Err(Refusal::custom("PullRequestReview", "user_id", says));
        }
        let mut seen = pull.review_comments.iter().filter(|comment| pull.shows(comment, call.caller.as_ref()));
        seen.find(|comment| comment.id == to).cloned().ok_or_else(Refusal::not_found)?
    };
    let (id, author) = (call.forge.next_id(), call.actor()?.clone());
    // A reply to a reply belongs to the comment that began the thread.
    let reply_to = Some(first.reply_to.unwrap_or(to));
    let (created_at, updated_at) = (call.now, call.now);
    add(
        call,
        ReviewComment {
            id,
            author,
            body,
            review: draft,
            reply_to,
            created_at,
            updated_at,
            reactions: Vec::new(),
            ..first
        },
    )
}

fn add(call: &Call, comment: ReviewComment) -> Answer {
    pull_moods::has_leisure(call, "PullRequestReviewComment", "base")?;
    let id = comment.id;
    {
        let mut state = call.state();
        let issue = pull_mut(call, &mut state, Role::Read)?;
        issue.updated_at = call.now;
        issue.pull.as_mut().ok_or_else(Refusal::not_found)?.review_comments.push(comment);
    }
    let state = call.state();
    let view = call.view(&state)?;
    let (number, comment) = find(view.repo, id)?;
    Ok(Reply::created(wire::review_comment(view, number, comment)))
}

fn show(call: &Call) -> Answer {
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let (number, comment) = find(repo, call.number("id")?)?;
    let pull = repo.issues.get(&number).and_then(|issue| issue.pull.as_ref());
    if !pull.is_some_and(|pull| pull.shows(comment, call.caller.as_ref())) {
        return Err(Refusal::not_found());
    }
    Ok(Reply::ok(wire::review_comment(call.view(&state)?, number, comment)))
}

fn update(call: &Call) -> Answer {
    let fields = call.fields("PullRequestReviewComment")?;
    fields.required("body")?;
    let body = fields.limited("body", BODY_MAX)?.unwrap_or_default();
    let (actor, id) = (call.actor()?, call.number("id")?);
    {
        let mut state = call.state();
        let need = own_or(call, call.repository(&state, Role::Read)?, id)?;
        for comment in comments_beside(call.repository_mut(&mut state, need)?, id)?.iter_mut().filter(|c| c.id == id) {
            comment.edit(|| call.forge.next_id(), actor, call.now, body.clone());
        }
    }
    show(call)
}

fn remove(call: &Call) -> Answer {
    let (id, mut state) = (call.number("id")?, call.state());
    let need = own_or(call, call.repository(&state, Role::Read)?, id)?;
    comments_beside(call.repository_mut(&mut state, need)?, id)?.retain(|comment| comment.id != id);
    Ok(Reply::empty())
}

fn own_or(call: &Call, repo: &Repository, id: u64) -> Result<Role, Refusal> {
    let (_, comment) = find(repo, id)?;
    Ok(if comment.author.is(call.actor()?) { Role::Read } else { Role::Write })
}

/// The comment of this id, with the number of its pull request.
pub(super) fn find(repo: &Repository, id: u64) -> Result<(u64, &ReviewComment), Refusal> {
    let pulls = repo.issues.values().filter_map(|issue| issue.pull.as_ref().map(|pull| (issue.number, pull)));
    let mut all = pulls.flat_map(|(number, pull)| pull.review_comments.iter().map(move |comment| (number, comment)));
    all.find(|(_, comment)| comment.id == id).ok_or_else(Refusal::not_found)
}

/// The comments of the pull request that the one of this id is on, to change them.
pub(super) fn comments_beside(repo: &mut Repository, id: u64) -> Result<&mut Vec<ReviewComment>, Refusal> {
    let (number, _) = find(repo, id)?;
    let pull = repo.issues.get_mut(&number).and_then(|issue| issue.pull.as_mut());
    pull.map(|pull| &mut pull.review_comments).ok_or_else(Refusal::not_found)
}
