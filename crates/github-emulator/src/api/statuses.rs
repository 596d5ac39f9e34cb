//! Commit statuses: set one, list them, all of a commit in one word.

use serde_json::{Value, json};

use super::{
    super::{
        call::{Answer, Call, Reply},
        page::paged,
        refusal::Refusal,
        route::{Route, post},
        state::CommitStatus,
        users::{AccountKind, Role},
        wire,
    },
    checks::own_app,
    compare::commit_of,
};
use crate::names::Login;

pub(super) const ROUTES: &[Route] =
    &[post("/repos/{owner}/{repo}/statuses/{sha}", create).body(&["state", "target_url", "description", "context"])];

fn create(call: &Call) -> Answer {
    let fields = call.fields("Status")?;
    let creator = call.actor()?.clone();
    call.repository(&call.state(), Role::Write)?;
    let absent = || Refusal::unprocessable(format!("No commit found for SHA: {}", call.part("sha")));
    let sha = commit_of(&call.read_git()?, call.part("sha")).map_err(|_| absent())?.to_string();
    let state = fields.required("state")?;
    if !matches!(state.as_str(), "error" | "failure" | "pending" | "success") {
        return Err(fields.invalid("state"));
    }
    let status = CommitStatus {
        id: call.forge.next_id(),
        sha,
        state,
        context: fields.text("context")?.unwrap_or_else(|| "default".to_owned()),
        description: fields.limited("description", 140)?,
        target_url: fields.text("target_url")?,
        app: app_of(call, &creator),
        creator,
        at: call.now,
    };
    let mut state = call.state();
    call.repository_mut(&mut state, Role::Write)?.statuses.insert(status.id, status.clone());
    Ok(Reply::created(wire::status(call.view(&state)?, &status)))
}

/// The App that acts, if an App does.
fn app_of(call: &Call, creator: &Login) -> Option<u64> {
    let kind = call.state().accounts.get(creator.as_str()).map(|account| account.kind);
    if kind == Some(AccountKind::User) { None } else { own_app(call).ok().map(|app| app.id) }
}

/// The statuses of a commit.
pub(super) fn list(call: &Call) -> Answer {
    let sha = commit_of(&call.read_git()?, call.part("sha"))?.to_string();
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let view = call.view(&state)?;
    let all = repo.statuses.values().rev().filter(|status| status.sha == sha).collect();
    Ok(paged(call, all, |status| wire::status(view, status)))
}

/// All of a commit's in one word.
pub(super) fn combined(call: &Call) -> Answer {
    let sha = commit_of(&call.read_git()?, call.part("sha"))?.to_string();
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let view = call.view(&state)?;
    let latest = repo.latest_statuses(&sha);
    let any = |wanted: &[&str]| latest.iter().any(|status| wanted.contains(&status.state.as_str()));
    let word = match () {
        () if any(&["failure", "error"]) => "failure",
        () if latest.is_empty() || any(&["pending"]) => "pending",
        () => "success",
    };
    let at = view.api(&format!("/commits/{sha}"));
    Ok(Reply::ok(json!({
        "state": word,
        "sha": sha,
        "total_count": latest.len(),
        "statuses": latest.iter().map(|status| wire::simple_status(view, status)).collect::<Value>(),
        "repository": wire::minimal_repository(view, call.role(&state, repo)),
        "commit_url": at,
        "url": format!("{at}/status"),
    })))
}
