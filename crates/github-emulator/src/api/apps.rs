//! Apps and their installations: who an App is, and tokens for it.

use std::collections::BTreeMap;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::super::{
    apps::{App, TOKEN_LIFE},
    call::{Answer, Call, Reply},
    fields::Fields,
    page::{Page, paged},
    refusal::Refusal,
    route::{Route, get, post},
    state::{Access, Grant, Permission, Permissions},
    users::Role,
    wire::{self, View, node_id, simple_account, time},
};

pub(super) const ROUTES: &[Route] = &[
    get("/app", own),
    get("/app/installations", installations),
    get("/app/installations/{id}", installation),
    post("/app/installations/{id}/access_tokens", token).body(&["repositories", "repository_ids", "permissions"]),
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
    Ok(Reply::ok(integration(call, app(call)?)))
}

fn installations(call: &Call) -> Answer {
    Ok(paged(call, vec![app(call)?], |app| shown(call, app)))
}

fn installation(call: &Call) -> Answer {
    let id = call.number("id")?;
    let app = Some(app(call)?).filter(|app| app.installation == id).ok_or_else(Refusal::not_found)?;
    Ok(Reply::ok(shown(call, app)))
}

fn of_repository(call: &Call) -> Answer {
    let app = app(call)?;
    call.state().repositories.get(call.part("owner"), call.part("repo")).ok_or_else(Refusal::not_found)?;
    Ok(Reply::ok(shown(call, app)))
}

fn token(call: &Call) -> Answer {
    let fields = call.fields("Installation")?;
    let id = call.number("id")?;
    let app = Some(app(call)?).filter(|app| app.installation == id).ok_or_else(Refusal::not_found)?;
    let permissions = narrowed_permissions(&fields, &Permissions::for_role(app.role))?;
    let repositories = narrowed_repositories(call, &fields)?;
    let token = format!("ghs_{}", BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; 27]>()));
    let until = call.now + TOKEN_LIFE;
    let mut body = json!({
        "token": token,
        "expires_at": time(until),
        "permissions": permissions,
        "repository_selection": if repositories.is_some() { "selected" } else { "all" },
    });
    if let (Some(ids), Value::Object(fields)) = (&repositories, &mut body) {
        let state = call.state();
        let chosen = ids.iter().filter_map(|id| state.repositories.by_id(*id));
        let show = |repo| {
            let view = View { server: call.forge.server(), accounts: &state.accounts, repo };
            wire::repository(view, repo.role(state.accounts.get(app.login().as_str())))
        };
        fields.insert("repositories".to_owned(), chosen.map(show).collect());
    }
    call.forge.admit_granted(&token, Grant { login: app.login(), until, permissions, repositories });
    Ok(Reply::created(body))
}

/// The requested permissions; all of the App's if none were requested.
fn narrowed_permissions(fields: &Fields, granted: &Permissions) -> Result<Permissions, Refusal> {
    let asked = match fields.raw("permissions") {
        None | Some(Value::Null) => return Ok(granted.clone()),
        Some(Value::Object(asked)) if !asked.is_empty() => asked,
        Some(_) => return Err(fields.invalid("permissions")),
    };
    let mut narrowed = Permissions(BTreeMap::from([(Permission::Metadata, Access::Read)]));
    for (name, access) in asked {
        let one: Permissions = serde_json::from_value(json!({name: access})).map_err(|_| not_granted(name))?;
        if one.0.iter().any(|(permission, access)| !granted.reach(*permission, *access)) {
            return Err(not_granted(name));
        }
        narrowed.0.extend(one.0);
    }
    Ok(narrowed)
}

fn not_granted(name: &str) -> Refusal {
    let message = "The permissions requested are not granted to this installation.";
    Refusal::unprocessable(format!("{message} (`{name}`)"))
}

/// The ids of the requested repositories, by name or id; `None` means all of them.
fn narrowed_repositories(call: &Call, fields: &Fields) -> Result<Option<Vec<u64>>, Refusal> {
    let state = call.state();
    let mut ids = Vec::new();
    let absent = || {
        Refusal::unprocessable(
            "There is at least one repository that does not exist or is not accessible to the parent installation.",
        )
    };
    for name in fields.texts("repositories")?.unwrap_or_default() {
        let mut named = state.repositories.all().filter(|repo| repo.name.name().eq_ignore_ascii_case(&name));
        ids.push(named.next().ok_or_else(absent)?.id);
    }
    if let Some(sent) = fields.raw("repository_ids").filter(|sent| !sent.is_null()) {
        for id in sent.as_array().ok_or_else(|| fields.invalid("repository_ids"))? {
            let known = id.as_u64().and_then(|id| state.repositories.by_id(id));
            ids.push(known.ok_or_else(absent)?.id);
        }
    }
    Ok(Some(ids).filter(|ids| !ids.is_empty()))
}

fn repositories(call: &Call) -> Answer {
    call.actor()?;
    let state = call.state();
    let seen: Vec<_> = state.repositories.all().filter(|repo| call.role(&state, repo) >= Role::Read).collect();
    let (page, total) = (Page::asked_for(call), seen.len());
    let show = |repo| {
        let view = View { server: call.forge.server(), accounts: &state.accounts, repo };
        wire::repository(view, call.role(&state, repo))
    };
    let shown: Value = page.of_list(seen).into_iter().map(show).collect();
    Ok(Reply::ok(json!({"total_count": total, "repositories": shown})).with_link(page.link(call, total)))
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
        "permissions": Permissions::for_role(app.role),
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
        "permissions": Permissions::for_role(app.role),
        "events": [],
        "created_at": time(call.forge.started),
        "updated_at": time(call.forge.started),
        "single_file_name": null,
        "suspended_by": null,
        "suspended_at": null,
    })
}
