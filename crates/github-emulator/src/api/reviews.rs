//! Reviews of a pull request, and who is asked for one.

use super::{
    super::{
        call::{Answer, Call, Reply},
        page::paged,
        refusal::Refusal,
        route::{Route, delete, get, post, put},
        state::{EventKind, Issue, Review, ReviewState},
        users::Role,
        wire,
    },
    issues::BODY_MAX,
    pulls::{pull_mut, pull_of},
    review_comments::{Place, comment},
};
use crate::names::Login;

pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/pulls/{number}/reviews", list),
    post("/repos/{owner}/{repo}/pulls/{number}/reviews", create),
    get("/repos/{owner}/{repo}/pulls/{number}/reviews/{id}", show),
    put("/repos/{owner}/{repo}/pulls/{number}/reviews/{id}/dismissals", dismiss),
    get("/repos/{owner}/{repo}/pulls/{number}/requested_reviewers", requested),
    post("/repos/{owner}/{repo}/pulls/{number}/requested_reviewers", request),
    delete("/repos/{owner}/{repo}/pulls/{number}/requested_reviewers", withdraw),
];

fn list(call: &Call) -> Answer {
    let state = call.state();
    let (issue, pull) = pull_of(call, call.repository(&state, Role::Read)?)?;
    let view = call.view(&state)?;
    Ok(paged(call, pull.reviews.iter().collect(), |review| wire::review(view, issue.number, review)))
}

fn show(call: &Call) -> Answer {
    reviewed(call, call.number("id")?)
}

fn reviewed(call: &Call, id: u64) -> Answer {
    let state = call.state();
    let (issue, pull) = pull_of(call, call.repository(&state, Role::Read)?)?;
    let review = pull.reviews.iter().find(|review| review.id == id).ok_or_else(Refusal::not_found)?;
    Ok(Reply::ok(&wire::review(call.view(&state)?, issue.number, review)))
}

fn create(call: &Call) -> Answer {
    let fields = call.fields("PullRequestReview")?;
    let actor = call.actor()?;
    let body = fields.limited("body", BODY_MAX)?.unwrap_or_default();
    let verdict = match fields.text("event")?.as_deref() {
        None => ReviewState::Pending,
        Some("APPROVE") => ReviewState::Approved,
        Some("REQUEST_CHANGES") => ReviewState::ChangesRequested,
        Some("COMMENT") => ReviewState::Commented,
        Some(_) => return Err(Refusal::sentence("Event is not one of APPROVE, REQUEST_CHANGES and COMMENT")),
    };
    let places = match fields.raw("comments") {
        Some(serde_json::Value::Array(list)) => list.iter().map(Place::read).collect::<Result<Vec<_>, _>>()?,
        Some(_) | None => Vec::new(),
    };
    let asks = matches!(verdict, ReviewState::ChangesRequested | ReviewState::Commented);
    if asks && body.is_empty() && places.is_empty() {
        return Err(Refusal::sentence("Body can't be blank"));
    }
    let id = {
        let mut state = call.state();
        let id = call.forge.next_id();
        let issue = pull_mut(call, &mut state, Role::Read)?;
        if issue.author.is(actor) && matches!(verdict, ReviewState::Approved | ReviewState::ChangesRequested) {
            let verb = if verdict == ReviewState::Approved { "approve" } else { "request changes on" };
            return Err(Refusal::sentence(&format!("Can not {verb} your own pull request")));
        }
        issue.updated_at = call.now;
        if let Some(pull) = issue.pull.as_mut() {
            let commit = fields.text("commit_id")?.unwrap_or_else(|| pull.head_sha.clone());
            for place in places {
                pull.review_comments.push(comment(call, actor, place, Some(id), &commit));
            }
            pull.reviewers.retain(|login| !login.is(actor));
            pull.reviews.push(Review { id, author: actor.clone(), body, state: verdict, commit, at: call.now });
        }
        id
    };
    reviewed(call, id)
}

fn dismiss(call: &Call) -> Answer {
    let fields = call.fields("PullRequestReview")?;
    let message = fields.required("message").map_err(|_| Refusal::sentence("Message can't be blank"))?;
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

fn requested(call: &Call) -> Answer {
    let state = call.state();
    let (_, pull) = pull_of(call, call.repository(&state, Role::Read)?)?;
    let view = call.view(&state)?;
    let users: serde_json::Value = pull.reviewers.iter().map(|login| view.user(login)).collect();
    Ok(Reply::ok(&serde_json::json!({"users": users, "teams": []})))
}

fn request(call: &Call) -> Answer {
    let logins = call.fields("PullRequest")?.texts("reviewers")?.unwrap_or_default();
    let shown = change(
        call,
        |issue, login| {
            let refused = || Refusal::unprocessable("Reviews may only be requested from collaborators.");
            let own = issue.author.is(&login);
            let pull = issue.pull.as_mut().filter(|_| !own).ok_or_else(refused)?;
            let new = !pull.reviewers.contains(&login);
            if new {
                pull.reviewers.push(login.clone());
            }
            Ok(new.then_some(EventKind::ReviewRequested { reviewer: login }))
        },
        &logins,
    )?;
    Ok(Reply::created(&shown))
}

fn withdraw(call: &Call) -> Answer {
    let logins = call.fields("PullRequest")?.texts("reviewers")?.unwrap_or_default();
    let shown = change(
        call,
        |issue, login| {
            let Some(pull) = issue.pull.as_mut() else { return Ok(None) };
            let had = pull.reviewers.contains(&login);
            pull.reviewers.retain(|other| *other != login);
            Ok(had.then_some(EventKind::ReviewRequestRemoved { reviewer: login }))
        },
        &logins,
    )?;
    Ok(Reply::ok(&shown))
}

fn change(
    call: &Call,
    turn: impl Fn(&mut Issue, Login) -> Result<Option<EventKind>, Refusal>,
    logins: &[String],
) -> Result<serde_json::Value, Refusal> {
    let actor = call.actor()?;
    let mut state = call.state();
    let repo = call.repository(&state, Role::Write)?;
    let mut known = Vec::new();
    for login in logins {
        let account = state.accounts.get(login).filter(|account| repo.role(Some(account)) >= Role::Read);
        let refused = || Refusal::unprocessable("Reviews may only be requested from collaborators.");
        known.push(account.ok_or_else(refused)?.login.clone());
    }
    let issue = pull_mut(call, &mut state, Role::Write)?;
    for login in known {
        if let Some(event) = turn(issue, login)? {
            issue.record(call.forge.next_id(), actor, call.now, event);
        }
    }
    let view = call.view(&state)?;
    Ok(wire::pull(view, call.issue(view.repo)?))
}
