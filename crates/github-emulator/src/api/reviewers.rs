//! The requested reviewers of a pull request.

use super::{
    super::{
        call::{Answer, Call, Reply},
        refusal::Refusal,
        route::{Route, delete, get, post},
        state::{EventKind, Issue},
        users::Role,
        wire,
    },
    pulls::{pull_mut, pull_of},
};
use crate::names::Login;

pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/pulls/{number}/requested_reviewers", requested),
    post("/repos/{owner}/{repo}/pulls/{number}/requested_reviewers", request).body(&["reviewers", "team_reviewers"]),
    delete("/repos/{owner}/{repo}/pulls/{number}/requested_reviewers", withdraw).body(&["reviewers"]),
];

fn requested(call: &Call) -> Answer {
    let state = call.state();
    let (_, pull) = pull_of(call, call.repository(&state, Role::Read)?)?;
    let view = call.view(&state)?;
    let users: serde_json::Value = pull.reviewers.iter().map(|login| view.user(login)).collect();
    Ok(Reply::ok(serde_json::json!({"users": users, "teams": []})))
}

fn request(call: &Call) -> Answer {
    let logins = call.fields("PullRequest")?.texts("reviewers")?.unwrap_or_default();
    // There are no teams here.
    if !call.fields("PullRequest")?.texts("team_reviewers")?.unwrap_or_default().is_empty() {
        return Err(Refusal::unprocessable(
            "Reviews may only be requested from collaborators. One or more of the teams you specified is not a collaborator \
             of the repository.",
        ));
    }
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
    Ok(Reply::created(shown))
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
    Ok(Reply::ok(shown))
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
