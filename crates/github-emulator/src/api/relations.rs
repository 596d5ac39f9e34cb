//! The relations of issues: dependencies and sub-issues, both within one repository.

use super::super::{
    call::{Answer, Call, Reply},
    page::paged,
    refusal::Refusal,
    route::{Route, delete, get, post},
    state::{EventKind, Issue, Repository},
    users::Role,
    wire,
};

pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/issues/{number}/dependencies/blocked_by", blocked_by),
    post("/repos/{owner}/{repo}/issues/{number}/dependencies/blocked_by", block).body(&["issue_id"]),
    delete("/repos/{owner}/{repo}/issues/{number}/dependencies/blocked_by/{id}", unblock),
    get("/repos/{owner}/{repo}/issues/{number}/dependencies/blocking", blocking),
    get("/repos/{owner}/{repo}/issues/{number}/sub_issues", children),
    post("/repos/{owner}/{repo}/issues/{number}/sub_issues", adopt).body(&["sub_issue_id", "replace_parent"]),
    delete("/repos/{owner}/{repo}/issues/{number}/sub_issue", disown).body(&["sub_issue_id"]),
    get("/repos/{owner}/{repo}/issues/{number}/parent", parent),
];

fn blocked_by(call: &Call) -> Answer {
    listed(call, |_, issue| issue.blocked_by.clone())
}

fn blocking(call: &Call) -> Answer {
    listed(call, |repo, issue| {
        let waits = |other: &&Issue| other.blocked_by.contains(&issue.number);
        repo.issues.values().filter(waits).map(|other| other.number).collect()
    })
}

fn children(call: &Call) -> Answer {
    listed(call, |_, issue| issue.children.clone())
}

fn parent(call: &Call) -> Answer {
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let number = call.issue(repo)?.number;
    let parent = repo.issues.values().find(|other| other.children.contains(&number)).ok_or_else(Refusal::not_found)?;
    Ok(Reply::ok(wire::issue(call.view(&state)?, parent)))
}

fn block(call: &Call) -> Answer {
    let fields = call.fields("IssueDependency")?;
    let id = fields.number("issue_id")?.ok_or_else(|| fields.missing("issue_id"))?;
    change(call, id, |issue, other| {
        if issue.blocked_by.contains(&other) {
            return Err(Refusal::unprocessable("Issue is already blocked by this issue"));
        }
        issue.blocked_by.push(other);
        Ok(EventKind::BlockedByAdded { blocker: other })
    })
    .map(Reply::created)
}

fn unblock(call: &Call) -> Answer {
    change(call, call.number("id")?, |issue, other| {
        let at = issue.blocked_by.iter().position(|number| *number == other).ok_or_else(Refusal::not_found)?;
        issue.blocked_by.remove(at);
        Ok(EventKind::BlockedByRemoved { blocker: other })
    })
    .map(Reply::ok)
}

fn adopt(call: &Call) -> Answer {
    let fields = call.fields("SubIssue")?;
    let id = fields.number("sub_issue_id")?.ok_or_else(|| fields.missing("sub_issue_id"))?;
    let parent = {
        let state = call.state();
        let repo = call.repository(&state, Role::Triage)?;
        let child = by_id(repo, id)?;
        let parent = repo.issues.values().find(|issue| issue.children.contains(&child));
        parent.map(|issue| issue.number)
    };
    match parent {
        Some(parent) if fields.flag("replace_parent")?.unwrap_or(false) => {
            change(&call.with_part("number", parent.to_string()), id, leave)?;
        }
        Some(_) => return Err(Refusal::unprocessable("Sub-issue may only have one parent")),
        None => {}
    }
    change(call, id, |issue, other| {
        issue.children.push(other);
        Ok(EventKind::SubIssueAdded { child: other })
    })
    .map(Reply::created)
}

fn disown(call: &Call) -> Answer {
    let fields = call.fields("SubIssue")?;
    let id = fields.number("sub_issue_id")?.ok_or_else(|| fields.missing("sub_issue_id"))?;
    change(call, id, leave).map(Reply::ok)
}

/// Removes a sub-issue from its parent.
fn leave(parent: &mut Issue, child: u64) -> Result<EventKind, Refusal> {
    let at = parent.children.iter().position(|number| *number == child).ok_or_else(Refusal::not_found)?;
    parent.children.remove(at);
    Ok(EventKind::SubIssueRemoved { child })
}

fn listed(call: &Call, numbers: impl FnOnce(&Repository, &Issue) -> Vec<u64>) -> Answer {
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let found = numbers(repo, call.issue(repo)?).into_iter().filter_map(|number| repo.issues.get(&number)).collect();
    let view = call.view(&state)?;
    Ok(paged(call, found, |issue| wire::issue(view, issue)))
}

/// Changes the relation of the issue in the path to the one with this id, and answers that other one.
fn change(
    call: &Call,
    id: u64,
    turn: impl FnOnce(&mut Issue, u64) -> Result<EventKind, Refusal>,
) -> Result<serde_json::Value, Refusal> {
    let (actor, mut state) = (call.actor()?, call.state());
    let repo = call.repository_mut(&mut state, Role::Triage)?;
    let other = by_id(repo, id)?;
    let issue = call.issue_mut(repo)?;
    if issue.number == other {
        return Err(Refusal::unprocessable("An issue cannot stand so to itself"));
    }
    let event = turn(issue, other)?;
    issue.record(call.forge.next_id(), actor, call.now, event);
    let view = call.view(&state)?;
    view.repo.issues.get(&other).map(|issue| wire::issue(view, issue)).ok_or_else(Refusal::not_found)
}

fn by_id(repo: &Repository, id: u64) -> Result<u64, Refusal> {
    repo.issues.values().find(|issue| issue.id == id).map(|issue| issue.number).ok_or_else(Refusal::not_found)
}
