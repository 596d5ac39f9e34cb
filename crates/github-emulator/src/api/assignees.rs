//! Assignees: the possible ones and the actual ones.

use super::super::{
    call::{Answer, Call, Reply},
    fields::Fields,
    page::paged,
    refusal::Refusal,
    route::{Route, delete, get, post},
    state::{Account, EventKind, Issue, State},
    users::Role,
    wire,
};
use crate::names::Login;

/// GitHub's limit. <https://docs.github.com/rest/issues/assignees#add-assignees-to-an-issue>
const ASSIGNEES_MAX: usize = 10;

pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/assignees", list),
    get("/repos/{owner}/{repo}/assignees/{login}", check),
    post("/repos/{owner}/{repo}/issues/{number}/assignees", add).body(&["assignees"]),
    delete("/repos/{owner}/{repo}/issues/{number}/assignees", remove).body(&["assignees"]),
];

fn list(call: &Call) -> Answer {
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let can: Vec<&Account> = state.accounts.all().filter(|account| repo.role(Some(account)) >= Role::Triage).collect();
    let view = call.view(&state)?;
    Ok(paged(call, can, |account| view.user(&account.login)))
}

fn check(call: &Call) -> Answer {
    let state = call.state();
    call.repository(&state, Role::Read)?;
    assign(&state, call, &[call.part("login").to_owned()]).map_err(|_| Refusal::not_found())?;
    Ok(Reply::empty())
}

fn add(call: &Call) -> Answer {
    let logins = call.fields("Issue")?.texts("assignees")?.unwrap_or_default();
    change(call, |state, issue| {
        let mut wanted = issue.assignees.clone();
        // GitHub silently leaves out accounts that cannot be assigned.
        for login in logins.iter().filter_map(|login| assign(state, call, std::slice::from_ref(login)).ok()).flatten() {
            if !wanted.contains(&login) {
                wanted.push(login);
            }
        }
        wanted
    })
    .map(Reply::created)
}

fn remove(call: &Call) -> Answer {
    let logins: Vec<Login> =
        call.fields("Issue")?.texts("assignees")?.unwrap_or_default().into_iter().map(Login).collect();
    change(call, |_, issue| {
        issue.assignees.iter().filter(|has| !logins.iter().any(|login| login.is(has))).cloned().collect()
    })
    .map(Reply::ok)
}

fn change(call: &Call, wanted: impl FnOnce(&State, &Issue) -> Vec<Login>) -> Result<serde_json::Value, Refusal> {
    let actor = call.actor()?;
    let mut state = call.state();
    let logins = wanted(&state, call.issue(call.repository(&state, Role::Triage)?)?);
    if logins.len() > ASSIGNEES_MAX {
        return Err(Refusal::invalid("Issue", "assignees"));
    }
    put_assignees(call, call.issue_mut(call.repository_mut(&mut state, Role::Triage)?)?, actor, logins);
    let view = call.view(&state)?;
    Ok(wire::issue(view, call.issue(view.repo)?))
}

/// The logins sent in `assignees`, or in the older `assignee`, which is one or `null`.
pub(super) fn sent(fields: &Fields) -> Result<Option<Vec<String>>, Refusal> {
    if fields.has("assignees") || !fields.has("assignee") {
        return fields.texts("assignees");
    }
    Ok(Some(fields.text("assignee")?.into_iter().filter(|login| !login.is_empty()).collect()))
}

/// The accounts of these names, if each can be assigned.
///
/// # Errors
/// 422 if one cannot.
pub(super) fn assign(state: &State, call: &Call, logins: &[String]) -> Result<Vec<Login>, Refusal> {
    let repo = call.repository(state, Role::Read)?;
    let mut found = Vec::new();
    for login in logins {
        let account = state.accounts.get(login).filter(|account| repo.role(Some(account)) >= Role::Triage);
        let account = account.ok_or_else(|| Refusal::invalid("Issue", "assignees"))?;
        if !found.contains(&account.login) {
            found.push(account.login.clone());
        }
    }
    Ok(found)
}

/// Makes the assignees of an issue exactly these, with an event for each that is added or removed.
pub(super) fn put_assignees(call: &Call, issue: &mut Issue, actor: &Login, logins: Vec<Login>) {
    let had = std::mem::replace(&mut issue.assignees, logins.clone());
    for assignee in had.iter().filter(|login| !logins.contains(login)).cloned() {
        issue.record(call.forge.next_id(), actor, call.now, EventKind::Unassigned { assignee });
    }
    for assignee in logins.into_iter().filter(|login| !had.contains(login)) {
        issue.record(call.forge.next_id(), actor, call.now, EventKind::Assigned { assignee });
    }
}
