//! Collaborators and their roles.

use serde_json::{Value, json};

use super::super::{
    call::{Answer, Call, Reply},
    page::paged,
    refusal::Refusal,
    route::{Route, delete, get, put},
    state::Account,
    users::{AccountKind, Role},
    wire::View,
};

pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/collaborators", list).query(&["affiliation", "permission"]),
    get("/repos/{owner}/{repo}/collaborators/{login}", check),
    put("/repos/{owner}/{repo}/collaborators/{login}", add).body(&["permission"]),
    delete("/repos/{owner}/{repo}/collaborators/{login}", remove),
    get("/repos/{owner}/{repo}/collaborators/{login}/permission", permission),
];

fn list(call: &Call) -> Answer {
    let state = call.state();
    let repo = call.repository(&state, Role::Write)?;
    let view = call.view(&state)?;
    // Outside collaborators belong to organizations, which this forge does not have.
    let nobody = call.choice("Collaborator", "affiliation", &["all", "direct", "outside"])? == "outside";
    let at_least = match call.choice("Collaborator", "permission", &["pull", "triage", "push", "maintain", "admin"])? {
        "triage" => Role::Triage,
        "push" => Role::Write,
        "maintain" => Role::Maintain,
        "admin" => Role::Admin,
        _ => Role::Read,
    };
    let all: Vec<&Account> =
        state.accounts.all().filter(|account| !nobody && repo.granted(account) >= at_least).collect();
    Ok(paged(call, all, |account| collaborator(view, account, repo.role(Some(account)))))
}

fn check(call: &Call) -> Answer {
    let state = call.state();
    let repo = call.repository(&state, Role::Write)?;
    let account = state.accounts.get(call.part("login")).ok_or_else(Refusal::not_found)?;
    // Access that everyone has does not make an account a collaborator.
    if repo.granted(account) >= Role::Read { Ok(Reply::empty()) } else { Err(Refusal::not_found()) }
}

fn add(call: &Call) -> Answer {
    let fields = call.fields("Collaborator")?;
    let role = fields.text("permission")?.map_or(Ok(Role::Write), |name| name.parse::<Role>());
    let role = role.map_err(|_| fields.invalid("permission"))?;
    let mut state = call.state();
    call.repository(&state, Role::Admin)?;
    let login = state.accounts.get(call.part("login")).ok_or_else(Refusal::not_found)?.login.clone();
    let repo = call.repository_mut(&mut state, Role::Admin)?;
    repo.collaborators.insert(login.as_str().to_ascii_lowercase(), role);
    Ok(Reply::empty())
}

fn remove(call: &Call) -> Answer {
    let mut state = call.state();
    let repo = call.repository_mut(&mut state, Role::Admin)?;
    repo.collaborators.insert(call.part("login").to_ascii_lowercase(), Role::None);
    Ok(Reply::empty())
}

fn permission(call: &Call) -> Answer {
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    // An installation's token needs `metadata: read` instead, and so does an account that acts as an App.
    let caller = state.accounts.get(call.actor()?.as_str());
    if call.role(&state, repo) < Role::Write && caller.is_none_or(|caller| caller.kind == AccountKind::User) {
        let message = "Must have push access to view collaborator permission.";
        return Err(Refusal::new(http::StatusCode::FORBIDDEN, message));
    }
    let account = state.accounts.get(call.part("login")).ok_or_else(Refusal::not_found)?;
    let role = repo.role(Some(account));
    let user = collaborator(call.view(&state)?, account, role);
    Ok(Reply::ok(json!({"permission": role.permission(), "role_name": role.name(), "user": user})))
}

fn collaborator(view: View<'_>, account: &Account, role: Role) -> Value {
    let mut shown = view.user(&account.login);
    if let Value::Object(fields) = &mut shown {
        fields.insert("role_name".to_owned(), json!(role.name()));
        let permissions = json!({
            "admin": role >= Role::Admin,
            "maintain": role >= Role::Maintain,
            "push": role >= Role::Write,
            "triage": role >= Role::Triage,
            "pull": role >= Role::Read,
        });
        fields.insert("permissions".to_owned(), permissions);
    }
    shown
}
