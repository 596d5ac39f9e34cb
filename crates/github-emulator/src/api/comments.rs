//! Comments on issues and pull requests.

use super::{
    super::{
        call::{Answer, Call, Reply},
        page::paged,
        refusal::Refusal,
        route::{Route, delete, get, patch, post},
        state::{Comment, History, Repository},
        touched::updated,
        users::Role,
        wire,
    },
    issues::{BODY_MAX, cross_reference},
    pull_moods,
};
use crate::names::Timestamp;

pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/issues/{number}/comments", list).query(&["since"]),
    post("/repos/{owner}/{repo}/issues/{number}/comments", create).body(&["body"]),
    get("/repos/{owner}/{repo}/issues/comments", list_all).query(&["sort", "direction", "since"]),
    get("/repos/{owner}/{repo}/issues/comments/{id}", show),
    patch("/repos/{owner}/{repo}/issues/comments/{id}", update).body(&["body"]),
    delete("/repos/{owner}/{repo}/issues/comments/{id}", remove),
];

fn list(call: &Call) -> Answer {
    let state = call.state();
    let issue = call.issue(call.repository(&state, Role::Read)?)?;
    let since = call.time("IssueComment", "since")?;
    let comments =
        issue.comments.iter().filter(|comment| since.is_none_or(|since| shown_update(call, comment) >= since));
    let view = call.view(&state)?;
    Ok(paged(call, comments.collect(), |comment| wire::comment(view, issue.number, comment)))
}

fn list_all(call: &Call) -> Answer {
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let since = call.time("IssueComment", "since")?;
    let all = repo.issues.values().flat_map(|issue| issue.comments.iter().map(|comment| (issue.number, comment)));
    let mut found: Vec<_> = all.filter(|(_, c)| since.is_none_or(|since| shown_update(call, c) >= since)).collect();
    match call.choice("IssueComment", "sort", &["created", "updated"])? {
        "updated" => found.sort_by_key(|(_, comment)| (comment.updated_at, comment.id)),
        _ => found.sort_by_key(|(_, comment)| comment.id),
    }
    let direction = call.choice("IssueComment", "direction", &["desc", "asc"])?;
    // Without `sort`, GitHub ignores the direction.
    if call.query("sort").is_some() && direction == "desc" {
        found.reverse();
    }
    let view = call.view(&state)?;
    Ok(paged(call, found, |(number, comment)| wire::comment(view, *number, comment)))
}

fn create(call: &Call) -> Answer {
    let fields = call.fields("IssueComment")?;
    let actor = call.actor()?;
    let mut state = call.state();
    let role = call.role(&state, call.repository(&state, Role::Read)?);
    let id = call.forge.next_id();
    let number = {
        let repo = call.repository_mut(&mut state, Role::Read)?;
        let issue = call.issue_mut(repo)?;
        fields.required("body")?;
        let body = fields.limited("body", BODY_MAX)?.unwrap_or_default();
        if issue.lock.is_some() && role < Role::Write {
            return Err(Refusal::new(http::StatusCode::FORBIDDEN, "Unable to create comment because issue is locked."));
        }
        pull_moods::has_leisure(call, "IssueComment", "body")?;
        let (created_at, updated_at) = (call.now, call.now);
        issue.comments.push(Comment {
            id,
            author: actor.clone(),
            body,
            created_at,
            updated_at,
            reactions: Vec::new(),
            history: History::default(),
            minimized: None,
        });
        issue.updated_at = call.now;
        let number = issue.number;
        cross_reference(call, repo, actor, number);
        number
    };
    let view = call.view(&state)?;
    let (_, comment) = find(view.repo, id)?;
    Ok(Reply::created(wire::comment(view, number, comment)))
}

fn show(call: &Call) -> Answer {
    let state = call.state();
    let (number, comment) = find(call.repository(&state, Role::Read)?, call.number("id")?)?;
    Ok(Reply::ok(wire::comment(call.view(&state)?, number, comment)))
}

fn update(call: &Call) -> Answer {
    let fields = call.fields("IssueComment")?;
    fields.required("body")?;
    let body = fields.limited("body", BODY_MAX)?.unwrap_or_default();
    let (id, mut state) = (call.number("id")?, call.state());
    let need = own_or(call, call.repository(&state, Role::Read)?, id)?;
    let comment = find_mut(call.repository_mut(&mut state, need)?, id)?;
    comment.edit(|| call.forge.next_id(), call.actor()?, call.now, body);
    let view = call.view(&state)?;
    let (number, comment) = find(view.repo, id)?;
    Ok(Reply::ok(wire::comment(view, number, comment)))
}

fn remove(call: &Call) -> Answer {
    let (id, mut state) = (call.number("id")?, call.state());
    let need = own_or(call, call.repository(&state, Role::Read)?, id)?;
    let repo = call.repository_mut(&mut state, need)?;
    let (number, _) = find(repo, id)?;
    if let Some(issue) = repo.issues.get_mut(&number) {
        issue.comments.retain(|comment| comment.id != id);
    }
    Ok(Reply::empty())
}

/// When a comment is shown as updated.
fn shown_update(call: &Call, comment: &Comment) -> Timestamp {
    let id = wire::node_id("IssueComment", comment.id);
    updated(&call.forge.temper, &id, comment.created_at, comment.updated_at, call.now)
}

/// A comment's author may change it; other accounts need `write`.
fn own_or(call: &Call, repo: &Repository, id: u64) -> Result<Role, Refusal> {
    let (_, comment) = find(repo, id)?;
    Ok(if comment.author.is(call.actor()?) { Role::Read } else { Role::Write })
}

/// The comment of this id and the number of its issue.
pub(super) fn find(repo: &Repository, id: u64) -> Result<(u64, &Comment), Refusal> {
    let mut all = repo.issues.values().flat_map(|issue| issue.comments.iter().map(|comment| (issue.number, comment)));
    all.find(|(_, comment)| comment.id == id).ok_or_else(Refusal::not_found)
}

/// The comment of this id, to change it.
pub(super) fn find_mut(repo: &mut Repository, id: u64) -> Result<&mut Comment, Refusal> {
    let (number, _) = find(repo, id)?;
    let issue = repo.issues.get_mut(&number).ok_or_else(Refusal::not_found)?;
    issue.comments.iter_mut().find(|comment| comment.id == id).ok_or_else(Refusal::not_found)
}
