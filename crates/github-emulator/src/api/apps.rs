//! Apps and their installations: who an App is, and tokens for it.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::super::{
    apps::{App, TOKEN_LIFE},
    call::{Answer, Call, Reply},
    page::{Page, paged},
    refusal::Refusal,
    route::{Route, get, post},
    users::Role,
    wire::{self, View, node_id, simple_account, time},
};

pub(super) const ROUTES: &[Route] = &[
    get("/app", own),
    get("/app/installations", installations),
    get("/app/installations/{id}", installation),
    post("/app/installations/{id}/access_tokens", token),
    get("/repos/{owner}/{repo}/installation", of_repository),
    get("/installation/repositories", repositories),
];

/// The App that signed the request.
fn app(call: &Call) -> Result<&App, Refusal> {
    let missing = || Refusal::new(http::StatusCode::UNAUTHORIZED, "A JSON web token could not be decoded");
    let id = call.app.ok_or_else(missing)?;
    call.forge.apps.iter().find(|app| app.id == id).ok_or_else(missing)
}

fn own(call: &Call) -> Answer {
    Ok(Reply::ok(&integration(call, app(call)?)))
}

fn installations(call: &Call) -> Answer {
    Ok(paged(call, vec![app(call)?], |app| shown(call, app)))
}

fn installation(call: &Call) -> Answer {
    let id = call.number("id")?;
    let app = Some(app(call)?).filter(|app| app.installation == id).ok_or_else(Refusal::not_found)?;
    Ok(Reply::ok(&shown(call, app)))
}

fn of_repository(call: &Call) -> Answer {
    let app = app(call)?;
    call.state().repositories.get(call.part("owner"), call.part("repo")).ok_or_else(Refusal::not_found)?;
    Ok(Reply::ok(&shown(call, app)))
}

fn token(call: &Call) -> Answer {
    call.fields("Installation")?;
    let id = call.number("id")?;
    let app = Some(app(call)?).filter(|app| app.installation == id).ok_or_else(Refusal::not_found)?;
    let token = format!("ghs_{}", BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; 27]>()));
    let expires = call.now + TOKEN_LIFE;
    call.forge.admit_until(&token, app.login(), expires);
    let body = json!({
        "token": token,
        "expires_at": time(expires),
        "permissions": permissions(app.role),
        "repository_selection": "all",
    });
    Ok(Reply::created(&body))
}

fn repositories(call: &Call) -> Answer {
    call.actor()?;
    let state = call.state();
    let seen: Vec<_> = state.repositories.all().filter(|repo| call.role(&state, repo) >= Role::Read).collect();
    let (page, total) = (Page::of(call), seen.len());
    let show = |repo| {
        let view = View { server: call.forge.server(), accounts: &state.accounts, repo };
        wire::repository(view, call.role(&state, repo))
    };
    let shown: Value = page.of_list(seen).into_iter().map(show).collect();
    Ok(Reply::ok(&json!({"total_count": total, "repositories": shown})).with_link(page.link(call, total)))
}

fn permissions(role: Role) -> Value {
    let write = |need: Role| if role >= need { "write" } else { "read" };
    json!({
        "metadata": "read",
        "contents": write(Role::Write),
        "issues": write(Role::Triage),
        "pull_requests": write(Role::Write),
        "checks": write(Role::Write),
        "statuses": write(Role::Write),
    })
}

fn account(call: &Call, app: &App) -> Value {
    simple_account(call.forge.server(), &call.state().accounts, app.login().as_str())
}

fn integration(call: &Call, app: &App) -> Value {
    json!({
        "id": app.id,
        "slug": app.slug,
        "node_id": node_id("Integration", app.id),
        "owner": account(call, app),
        "name": app.slug,
        "description": null,
        "external_url": call.forge.server(),
        "html_url": format!("{}/apps/{}", call.forge.server(), app.slug),
        "created_at": time(call.forge.started),
        "updated_at": time(call.forge.started),
        "permissions": permissions(app.role),
        "events": [],
    })
}

fn shown(call: &Call, app: &App) -> Value {
    let at = format!("{}/api/v3/app/installations/{}", call.forge.server(), app.installation);
    let account = account(call, app);
    json!({
        "id": app.installation,
        "target_id": account["id"],
        "target_type": "User",
        "account": account,
        "app_id": app.id,
        "app_slug": app.slug,
        "client_id": format!("Iv1.{}", app.id),
        "repository_selection": "all",
        "access_tokens_url": format!("{at}/access_tokens"),
        "repositories_url": format!("{}/api/v3/installation/repositories", call.forge.server()),
        "html_url": format!("{}/settings/installations/{}", call.forge.server(), app.installation),
        "permissions": permissions(app.role),
        "events": [],
        "created_at": time(call.forge.started),
        "updated_at": time(call.forge.started),
        "single_file_name": null,
        "suspended_by": null,
        "suspended_at": null,
    })
}
