//! Reviews of a pull request: pending ones, which only their author sees, and submitted ones.

use serde_json::Value;

use super::{
    super::{
        call::{Answer, Call, Reply},
        fields::Fields,
        page::paged,
        refusal::Refusal,
        route::{Route, delete, get, post, put},
        state::{EventKind, Issue, Pull, Review, ReviewState},
        users::Role,
        wire,
    },
    issues::BODY_MAX,
    pulls::{pull_mut, pull_of},
    review_comments::comment,
    review_place::{Place, files_at},
};
use crate::names::Login;

pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/pulls/{number}/reviews", list),
    post("/repos/{owner}/{repo}/pulls/{number}/reviews", create).body(&[
        "commit_id",
        "body",
        "event",
        "comments",
        "comments.body",
        "comments.path",
        "comments.position",
        "comments.line",
        "comments.side",
        "comments.start_line",
        "comments.start_side",
    ]),
    get("/repos/{owner}/{repo}/pulls/{number}/reviews/{id}", show),
    put("/repos/{owner}/{repo}/pulls/{number}/reviews/{id}", update).body(&["body"]),
    delete("/repos/{owner}/{repo}/pulls/{number}/reviews/{id}", discard),
    get("/repos/{owner}/{repo}/pulls/{number}/reviews/{id}/comments", comments),
    post("/repos/{owner}/{repo}/pulls/{number}/reviews/{id}/events", submit).body(&["body", "event"]),
    put("/repos/{owner}/{repo}/pulls/{number}/reviews/{id}/dismissals", dismiss).body(&["message", "event"]),
];

fn list(call: &Call) -> Answer {
    let state = call.state();
    let (issue, pull) = pull_of(call, call.repository(&state, Role::Read)?)?;
    let view = call.view(&state)?;
    let seen = pull.reviews.iter().filter(|review| review.is_shown(call.caller.as_ref()));
    Ok(paged(call, seen.collect(), |review| wire::review(view, issue.number, review)))
}

fn show(call: &Call) -> Answer {
    reviewed(call, call.number("id")?)
}

fn reviewed(call: &Call, id: u64) -> Answer {
    let state = call.state();
    let (issue, pull) = pull_of(call, call.repository(&state, Role::Read)?)?;
    let review = seen(call, pull, id)?;
    Ok(Reply::ok(wire::review(call.view(&state)?, issue.number, review)))
}

fn comments(call: &Call) -> Answer {
    let state = call.state();
    let (issue, pull) = pull_of(call, call.repository(&state, Role::Read)?)?;
    let id = seen(call, pull, call.number("id")?)?.id;
    let view = call.view(&state)?;
    let of_review = pull.review_comments.iter().filter(|comment| comment.review == Some(id));
    Ok(paged(call, of_review.collect(), |comment| wire::legacy_review_comment(view, issue.number, comment)))
}

/// The review of this id, if the caller may see it.
fn seen<'s>(call: &Call, pull: &'s Pull, id: u64) -> Result<&'s Review, Refusal> {
    let mut seen = pull.reviews.iter().filter(|review| review.is_shown(call.caller.as_ref()));
    seen.find(|review| review.id == id).ok_or_else(Refusal::not_found)
}

fn create(call: &Call) -> Answer {
    let fields = call.fields("PullRequestReview")?;
    let actor = call.actor()?;
    let body = fields.limited("body", BODY_MAX)?.unwrap_or_default();
    let verdict = verdict(&fields)?;
    let (files, commit) = files_at(call, fields.text("commit_id")?.as_deref())?;
    let places = match fields.raw("comments") {
        Some(Value::Array(list)) => list.iter().map(|sent| Place::read(sent, &files)).collect::<Result<Vec<_>, _>>()?,
        Some(_) | None => Vec::new(),
    };
    let says_something = !body.is_empty() || !places.is_empty();
    let id = {
        let mut state = call.state();
        let id = call.forge.next_id();
        let issue = pull_mut(call, &mut state, Role::Read)?;
        may_say(issue, actor, verdict, says_something)?;
        issue.updated_at = call.now;
        if let Some(pull) = issue.pull.as_mut() {
            let mut own = pull.reviews.iter().filter(|review| review.author.is(actor));
            if verdict == ReviewState::Pending && own.any(|review| review.state == ReviewState::Pending) {
                return Err(Refusal::sentence("User can only have one pending review per pull request"));
            }
            for place in places {
                pull.review_comments.push(comment(call, actor, place, Some(id), &commit));
            }
            let (author, at) = (actor.clone(), call.now);
            pull.reviews.push(Review {
                id,
                author,
                body,
                state: verdict,
                commit,
                at,
                submission: id,
                reactions: Vec::new(),
            });
            if verdict != ReviewState::Pending {
                pull.reviewers.retain(|login| !login.is(actor));
            }
        }
        id
    };
    reviewed(call, id)
}

/// The review's verdict, by its `event`; pending without one.
fn verdict(fields: &Fields) -> Result<ReviewState, Refusal> {
    match fields.text("event")?.as_deref() {
        None | Some("PENDING") => Ok(ReviewState::Pending),
        Some("APPROVE") => Ok(ReviewState::Approved),
        Some("REQUEST_CHANGES") => Ok(ReviewState::ChangesRequested),
        Some("COMMENT") => Ok(ReviewState::Commented),
        Some(_) => Err(Refusal::sentence("Event is not one of APPROVE, REQUEST_CHANGES and COMMENT")),
    }
}

/// Refuses an author's verdict on their own pull request, and a verdict that needs words and has none.
fn may_say(issue: &Issue, actor: &Login, verdict: ReviewState, says_something: bool) -> Result<(), Refusal> {
    if matches!(verdict, ReviewState::ChangesRequested | ReviewState::Commented) && !says_something {
        return Err(Refusal::sentence("Body can't be blank"));
    }
    if issue.author.is(actor) && matches!(verdict, ReviewState::Approved | ReviewState::ChangesRequested) {
        let verb = if verdict == ReviewState::Approved { "approve" } else { "request changes on" };
        return Err(Refusal::sentence(&format!("Can not {verb} your own pull request")));
    }
    Ok(())
}

/// Submits a pending review.
fn submit(call: &Call) -> Answer {
    let fields = call.fields("PullRequestReview")?;
    let body = fields.limited("body", BODY_MAX)?;
    let verdict = verdict(&fields)?;
    if verdict == ReviewState::Pending {
        return Err(Refusal::sentence("Event can't be blank"));
    }
    let (actor, id) = (call.actor()?, call.number("id")?);
    {
        let mut state = call.state();
        let issue = pull_mut(call, &mut state, Role::Read)?;
        let pull = issue.pull.as_ref().ok_or_else(Refusal::not_found)?;
        let review = seen(call, pull, id)?;
        if review.state != ReviewState::Pending {
            return Err(Refusal::sentence("Can not submit a review that is not pending"));
        }
        let has_comments = pull.review_comments.iter().any(|comment| comment.review == Some(id));
        let words = body.clone().unwrap_or_else(|| review.body.clone());
        may_say(issue, actor, verdict, has_comments || !words.is_empty())?;
        issue.updated_at = call.now;
        let submission = call.forge.next_id();
        if let Some(pull) = issue.pull.as_mut() {
            pull.reviewers.retain(|login| !login.is(actor));
            for review in pull.reviews.iter_mut().filter(|review| review.id == id) {
                (review.state, review.at, review.submission) = (verdict, call.now, submission);
                review.body.clone_from(&words);
            }
        }
    }
    reviewed(call, id)
}

/// Changes the text of one's own review.
fn update(call: &Call) -> Answer {
    let fields = call.fields("PullRequestReview")?;
    let body = fields.required("body").and(fields.limited("body", BODY_MAX))?.unwrap_or_default();
    let id = call.number("id")?;
    own(call, id, |pull| {
        for review in pull.reviews.iter_mut().filter(|review| review.id == id) {
            review.body.clone_from(&body);
        }
        Ok(())
    })?;
    reviewed(call, id)
}

/// Discards one's own pending review, with its comments.
fn discard(call: &Call) -> Answer {
    call.actor()?;
    let id = call.number("id")?;
    let shown = reviewed(call, id)?;
    own(call, id, |pull| {
        if pull.reviews.iter().any(|review| review.id == id && review.state != ReviewState::Pending) {
            return Err(Refusal::sentence("Can not delete a non-pending pull request review"));
        }
        pull.reviews.retain(|review| review.id != id);
        pull.review_comments.retain(|comment| comment.review != Some(id));
        Ok(())
    })?;
    Ok(shown)
}

/// Changes the pull request that the caller's own review is on.
fn own(call: &Call, id: u64, change: impl FnOnce(&mut Pull) -> Result<(), Refusal>) -> Result<(), Refusal> {
    let (actor, mut state) = (call.actor()?, call.state());
    let issue = pull_mut(call, &mut state, Role::Read)?;
    let pull = issue.pull.as_mut().ok_or_else(Refusal::not_found)?;
    if !seen(call, pull, id)?.author.is(actor) {
        return Err(Refusal::new(http::StatusCode::FORBIDDEN, "Resource not accessible by this account"));
    }
    change(pull)
}

fn dismiss(call: &Call) -> Answer {
    let fields = call.fields("PullRequestReview")?;
    let message = fields.required("message").map_err(|_| Refusal::sentence("Message can't be blank"))?;
    if fields.text("event")?.is_some_and(|event| event != "DISMISS") {
        return Err(fields.invalid("event"));
    }
    let (actor, id) = (call.actor()?, call.number("id")?);
    {
        let mut state = call.state();
        let issue = pull_mut(call, &mut state, Role::Write)?;
        let mut reviews = issue.pull.iter_mut().flat_map(|pull| pull.reviews.iter_mut());
        let review = reviews.find(|review| review.id == id).ok_or_else(Refusal::not_found)?;
        let dismissed = std::mem::replace(&mut review.state, ReviewState::Dismissed);
        if !matches!(dismissed, ReviewState::Approved | ReviewState::ChangesRequested) {
            review.state = dismissed;
            return Err(Refusal::sentence("Can not dismiss a commented pull request review"));
        }
        let kind = EventKind::ReviewDismissed { review: id, state: dismissed, message };
        issue.record(call.forge.next_id(), actor, call.now, kind);
    }
    reviewed(call, id)
}
