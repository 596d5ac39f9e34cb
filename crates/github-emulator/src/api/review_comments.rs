//! Comments on lines of a pull request's diff.

use serde_json::Value;

use super::{
    super::{
        call::{Answer, Call, Reply},
        git::changes,
        page::paged,
        refusal::Refusal,
        route::{Route, delete, get, patch, post},
        state::{History, Repository, ReviewComment},
        users::Role,
        wire,
    },
    issues::BODY_MAX,
    pulls::{pull_mut, pull_of, sides},
};
use crate::names::Login;

pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/pulls/{number}/comments", list),
    post("/repos/{owner}/{repo}/pulls/{number}/comments", create),
    post("/repos/{owner}/{repo}/pulls/{number}/comments/{id}/replies", reply),
    get("/repos/{owner}/{repo}/pulls/comments/{id}", show),
    patch("/repos/{owner}/{repo}/pulls/comments/{id}", update),
    delete("/repos/{owner}/{repo}/pulls/comments/{id}", remove),
];

/// Where a comment stands and what it says.
#[derive(Debug)]
pub(super) struct Place {
    body: String,
    path: String,
    line: Option<u64>,
    side: String,
    hunk: String,
    reply_to: Option<u64>,
}

impl Place {
    /// Reads `body`, `path`, `line` (or `position`) and `side`.
    pub(super) fn read(sent: &Value) -> Result<Self, Refusal> {
        let text = |field: &str| sent[field].as_str().map(str::to_owned);
        let missing = |field| Refusal::missing("PullRequestReviewComment", field);
        let body = text("body").filter(|body| !body.trim().is_empty()).ok_or_else(|| missing("body"))?;
        if body.chars().count() > BODY_MAX {
            let message = format!("body is too long (maximum is {BODY_MAX} characters)");
            return Err(Refusal::custom("PullRequestReviewComment", "body", message));
        }
        Ok(Self {
            body,
            path: text("path").ok_or_else(|| missing("path"))?,
            line: sent["line"].as_u64().or(sent["position"].as_u64()),
            side: text("side").unwrap_or_else(|| "RIGHT".to_owned()),
            hunk: String::new(),
            reply_to: None,
        })
    }
}

/// The comment at this place.
pub(super) fn comment(call: &Call, author: &Login, place: Place, review: Option<u64>, commit: &str) -> ReviewComment {
    ReviewComment {
        id: call.forge.next_id(),
        review,
        author: author.clone(),
        body: place.body,
        path: place.path,
        line: place.line,
        side: place.side,
        commit: commit.to_owned(),
        hunk: place.hunk,
        reply_to: place.reply_to,
        created_at: call.now,
        updated_at: call.now,
        history: History::default(),
        minimized: None,
        resolved_by: None,
    }
}

fn list(call: &Call) -> Answer {
    let state = call.state();
    let (issue, pull) = pull_of(call, call.repository(&state, Role::Read)?)?;
    let view = call.view(&state)?;
    Ok(paged(call, pull.review_comments.iter().collect(), |comment| wire::review_comment(view, issue.number, comment)))
}

fn create(call: &Call) -> Answer {
    let fields = call.fields("PullRequestReviewComment")?;
    let sent: Value = serde_json::from_slice(&call.body).unwrap_or_default();
    if let Some(to) = fields.number("in_reply_to")? {
        return answer_to(call, to, fields.required("body")?);
    }
    let mut place = Place::read(&sent)?;
    let (base, head) = sides(call)?;
    let files = changes(&call.read_git()?, base, head)?;
    let file = files.into_iter().find(|file| file.path == place.path);
    place.hunk = file.ok_or_else(|| fields.invalid("path"))?.patch.unwrap_or_default();
    add(call, place, fields.text("commit_id")?.as_deref())
}

fn reply(call: &Call) -> Answer {
    let body = call.fields("PullRequestReviewComment")?.required("body")?;
    answer_to(call, call.number("id")?, body)
}

fn answer_to(call: &Call, to: u64, body: String) -> Answer {
    let place = {
        let state = call.state();
        let (_, pull) = pull_of(call, call.repository(&state, Role::Read)?)?;
        let first = pull.review_comments.iter().find(|comment| comment.id == to).ok_or_else(Refusal::not_found)?;
        let (path, side, hunk) = (first.path.clone(), first.side.clone(), first.hunk.clone());
        Place { body, path, line: first.line, side, hunk, reply_to: Some(to) }
    };
    add(call, place, None)
}

fn add(call: &Call, place: Place, commit: Option<&str>) -> Answer {
    let actor = call.actor()?;
    let id = {
        let mut state = call.state();
        let issue = pull_mut(call, &mut state, Role::Read)?;
        issue.updated_at = call.now;
        let pull = issue.pull.as_mut().ok_or_else(Refusal::not_found)?;
        let commit = commit.unwrap_or(&pull.head_sha).to_owned();
        let comment = comment(call, actor, place, None, &commit);
        let id = comment.id;
        pull.review_comments.push(comment);
        id
    };
    let state = call.state();
    let view = call.view(&state)?;
    let (number, comment) = find(view.repo, id)?;
    Ok(Reply::created(&wire::review_comment(view, number, comment)))
}

fn show(call: &Call) -> Answer {
    let state = call.state();
    let (number, comment) = find(call.repository(&state, Role::Read)?, call.number("id")?)?;
    Ok(Reply::ok(&wire::review_comment(call.view(&state)?, number, comment)))
}

fn update(call: &Call) -> Answer {
    let fields = call.fields("PullRequestReviewComment")?;
    fields.required("body")?;
    let body = fields.limited("body", BODY_MAX)?.unwrap_or_default();
    let (actor, id) = (call.actor()?, call.number("id")?);
    {
        let mut state = call.state();
        let need = own_or(call, call.repository(&state, Role::Read)?, id)?;
        let repo = call.repository_mut(&mut state, need)?;
        let pulls = repo.issues.values_mut().filter_map(|issue| issue.pull.as_mut());
        for comment in pulls.flat_map(|pull| &mut pull.review_comments).filter(|comment| comment.id == id) {
            comment.edit(|| call.forge.next_id(), actor, call.now, body.clone());
        }
    }
    show(call)
}

fn remove(call: &Call) -> Answer {
    let (id, mut state) = (call.number("id")?, call.state());
    let need = own_or(call, call.repository(&state, Role::Read)?, id)?;
    let repo = call.repository_mut(&mut state, need)?;
    for pull in repo.issues.values_mut().filter_map(|issue| issue.pull.as_mut()) {
        pull.review_comments.retain(|comment| comment.id != id);
    }
    Ok(Reply::empty())
}

fn own_or(call: &Call, repo: &Repository, id: u64) -> Result<Role, Refusal> {
    let (_, comment) = find(repo, id)?;
    Ok(if comment.author.is(call.actor()?) { Role::Read } else { Role::Write })
}

fn find(repo: &Repository, id: u64) -> Result<(u64, &ReviewComment), Refusal> {
    let pulls = repo.issues.values().filter_map(|issue| issue.pull.as_ref().map(|pull| (issue.number, pull)));
    let mut all = pulls.flat_map(|(number, pull)| pull.review_comments.iter().map(move |comment| (number, comment)));
    all.find(|(_, comment)| comment.id == id).ok_or_else(Refusal::not_found)
}
