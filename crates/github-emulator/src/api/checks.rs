//! Check runs, which only Apps write: an account of type Bot acts as one.

use serde_json::{Value, json};

use super::{
    super::{
        call::{Answer, Call, Reply},
        fields::Fields,
        page::Page,
        refusal::Refusal,
        route::{Route, get, patch, post},
        state::{CheckApp, CheckRun},
        users::{AccountKind, Role},
        webhook_events::queue_check,
        wire,
    },
    annotations,
    compare::commit_of,
};

const STATUSES: [&str; 6] = ["queued", "in_progress", "completed", "waiting", "requested", "pending"];
const CONCLUSIONS: [&str; 8] =
    ["success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required", "stale"];

const CREATED: &[&str] = &[
    "head_sha",
    "name",
    "details_url",
    "external_id",
    "started_at",
    "status",
    "conclusion",
    "completed_at",
    "output",
    "output.title",
    "output.summary",
    "output.text",
    "output.annotations",
];
/// All but the commit, which stays.
const UPDATED: &[&str] = CREATED.split_at(1).1;

pub(super) const ROUTES: &[Route] = &[
    post("/repos/{owner}/{repo}/check-runs", create).body(CREATED),
    get("/repos/{owner}/{repo}/check-runs/{id}", show),
    patch("/repos/{owner}/{repo}/check-runs/{id}", update).body(UPDATED),
    post("/repos/{owner}/{repo}/check-runs/{id}/rerequest", rerequest),
];

fn create(call: &Call) -> Answer {
    let fields = call.fields("CheckRun")?;
    only_apps(call)?;
    let sent = fields.required("head_sha")?;
    let absent = || Refusal::unprocessable(format!("No commit found for SHA: {sent}"));
    let sha = commit_of(&call.read_git()?, &sent).map_err(|_| absent())?.to_string();
    let app = own_app(call)?;
    let mut run = CheckRun::queued(call.forge.next_id(), sha, fields.required("name")?);
    fill(call, &fields, &mut run)?;
    {
        let mut state = call.state();
        let repo = call.repository_mut(&mut state, Role::Write)?;
        let same = |known: &&CheckRun| known.sha == run.sha && known.app.as_ref() == Some(&app);
        let suite = repo.checks.values().find(same).map(|known| known.suite);
        run.suite = suite.unwrap_or_else(|| call.forge.next_id());
        run.app = Some(app);
        repo.checks.insert(run.id, run.clone());
    }
    queue(call, &run, "created")?;
    if run.status == "completed" {
        queue(call, &run, "completed")?;
    }
    let state = call.state();
    Ok(Reply::created(wire::check_run(call.view(&state)?, &run)))
}

fn show(call: &Call) -> Answer {
    let (state, id) = (call.state(), call.number("id")?);
    let repo = call.repository(&state, Role::Read)?;
    let run = repo.checks.get(&id).ok_or_else(Refusal::not_found)?;
    Ok(Reply::ok(wire::check_run(call.view(&state)?, run)))
}

fn update(call: &Call) -> Answer {
    let fields = call.fields("CheckRun")?;
    only_apps(call)?;
    let (id, app) = (call.number("id")?, own_app(call)?);
    let ended = {
        let mut state = call.state();
        let repo = call.repository_mut(&mut state, Role::Write)?;
        let run = repo.checks.get_mut(&id).ok_or_else(Refusal::not_found)?;
        own(run, &app)?;
        let mut new = run.clone();
        fill(call, &fields, &mut new)?;
        new.rerequested = false;
        let ended = !run.is_completed() && new.is_completed();
        *run = new;
        ended.then(|| run.clone())
    };
    if let Some(run) = ended {
        queue(call, &run, "completed")?;
    }
    show(call)
}

/// Asks a check run's App for another run. The check run stays as it is; its suite waits.
fn rerequest(call: &Call) -> Answer {
    only_apps(call)?;
    let (id, app) = (call.number("id")?, own_app(call)?);
    let run = {
        let mut state = call.state();
        let repo = call.repository_mut(&mut state, Role::Write)?;
        let run = repo.checks.get_mut(&id).ok_or_else(Refusal::not_found)?;
        own(run, &app)?;
        if !run.is_completed() {
            return Err(Refusal::unprocessable("This check run is not rerequestable"));
        }
        run.rerequested = true;
        run.clone()
    };
    queue(call, &run, "rerequested")?;
    Ok(Reply::created(json!({})))
}

/// The caller's App: one that the forge was started with, or the one that an account of type Bot acts as.
pub(super) fn own_app(call: &Call) -> Result<CheckApp, Refusal> {
    let login = call.actor()?;
    let slug = login.slug().to_owned();
    let started_with = call.forge.apps.iter().find(|app| app.login().is(login)).map(|app| app.id);
    let own = call.state().accounts.get(login.as_str()).map(|account| account.id);
    let id = started_with.or(own).ok_or_else(Refusal::needs_app)?;
    Ok(CheckApp { id, name: slug.clone(), slug, owner: login.clone() })
}

/// Refuses to change the check run of another App.
fn own(run: &CheckRun, app: &CheckApp) -> Result<(), Refusal> {
    if run.app.as_ref().is_none_or(|known| known.id == app.id) {
        return Ok(());
    }
    let id = app.id;
    let message = format!("Invalid app_id `{id}` - check run can only be modified by the GitHub App that created it.");
    Err(Refusal::new(http::StatusCode::FORBIDDEN, message))
}

/// Refuses a person.
fn only_apps(call: &Call) -> Result<(), Refusal> {
    let state = call.state();
    call.repository(&state, Role::Read)?;
    let kind = state.accounts.get(call.actor()?.as_str()).map(|account| account.kind);
    if kind == Some(AccountKind::User) {
        return Err(Refusal::needs_app());
    }
    call.repository(&state, Role::Write).map(|_| ())
}

/// The check runs of a commit.
pub(super) fn list(call: &Call) -> Answer {
    let sha = commit_of(&call.read_git()?, call.part("sha"))?.to_string();
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let all = call.choice("CheckRun", "filter", &["latest", "all"])? == "all";
    let app = call.query("app_id").map(|id| id.parse::<u64>().map_err(|_| Refusal::invalid("CheckRun", "app_id")));
    let app = app.transpose()?;
    let mut found = match all {
        true => repo.checks.values().rev().filter(|run| run.sha == sha).collect(),
        false => repo.latest_checks(&sha),
    };
    found.retain(|run| app.is_none_or(|id| run.app.as_ref().is_some_and(|known| known.id == id)));
    found.retain(|run| call.query("check_name").is_none_or(|name| run.name == name));
    found.retain(|run| call.query("status").is_none_or(|status| run.status == status));
    let (page, total) = (Page::asked_for(call), found.len());
    let view = call.view(&state)?;
    let runs: Value = page.of_list(found).into_iter().map(|run| wire::check_run(view, run)).collect();
    Ok(Reply::ok(json!({"total_count": total, "check_runs": runs})).with_link(page.link(call, total)))
}

fn queue(call: &Call, run: &CheckRun, action: &'static str) -> Result<(), Refusal> {
    let name = call.repository(&call.state(), Role::Read)?.name.clone();
    queue_check(&call.forge, &name, call.actor()?, run, action);
    Ok(())
}

/// Applies the sent fields; a conclusion completes the run.
fn fill(call: &Call, fields: &Fields, run: &mut CheckRun) -> Result<(), Refusal> {
    let among = |field: &str, known: &[&str]| match fields.text(field)? {
        Some(value) if !known.contains(&value.as_str()) => Err(fields.invalid(field)),
        sent => Ok(sent),
    };
    let take = |field: &str, known: &mut Option<String>| -> Result<(), Refusal> {
        *known = fields.text(field)?.or(known.take());
        Ok(())
    };
    run.status = among("status", &STATUSES)?.unwrap_or_else(|| run.status.clone());
    run.conclusion = among("conclusion", &CONCLUSIONS)?.or(run.conclusion.take());
    if fields.raw("conclusion").is_some_and(Value::is_string) {
        "completed".clone_into(&mut run.status);
    }
    if run.status == "completed" && run.conclusion.is_none() {
        return Err(fields.missing("conclusion"));
    }
    run.name = fields.text("name")?.unwrap_or_else(|| run.name.clone());
    take("details_url", &mut run.details_url)?;
    take("external_id", &mut run.external_id)?;
    take("started_at", &mut run.started_at)?;
    take("completed_at", &mut run.completed_at)?;
    let now = || call.now.format("%Y-%m-%dT%H:%M:%SZ").to_string();
    run.started_at.get_or_insert_with(now);
    if run.status == "completed" {
        run.completed_at.get_or_insert_with(now);
    }
    if let Some(output) = fields.raw("output") {
        let text = |field: &str| output[field].as_str().map(str::to_owned);
        (run.title, run.summary, run.text) = (text("title"), text("summary"), text("text"));
        run.annotations.extend(annotations::read(output.get("annotations"))?);
    }
    Ok(())
}
