//! The forge itself: its limits, its version, the caller's account.

use serde_json::{Map, Value, json};

use super::super::{
    call::{Answer, Call, Reply},
    meter::Payer,
    refusal::Refusal,
    route::{Route, get},
    users::TokenKind,
    wire::{private_account, public_account},
};

pub(super) const ROUTES: &[Route] = &[
    get("/", root),
    get("/rate_limit", rate_limit),
    get("/meta", meta),
    get("/user", user),
    get("/users/{login}", account),
];

/// The addresses in the API's root, by the part of the name before `_url`.
const ADDRESSES: [(&str, &str); 30] = [
    ("authorizations", "/authorizations"),
    ("code_search", "/search/code?q={query}{&page,per_page,sort,order}"),
    ("commit_search", "/search/commits?q={query}{&page,per_page,sort,order}"),
    ("current_user", "/user"),
    ("current_user_repositories", "/user/repos{?type,page,per_page,sort}"),
    ("emails", "/user/emails"),
    ("emojis", "/emojis"),
    ("events", "/events"),
    ("feeds", "/feeds"),
    ("followers", "/user/followers"),
    ("following", "/user/following{/target}"),
    ("gists", "/gists{/gist_id}"),
    ("issue_search", "/search/issues?q={query}{&page,per_page,sort,order}"),
    ("issues", "/issues"),
    ("keys", "/user/keys"),
    ("label_search", "/search/labels?q={query}&repository_id={repository_id}{&page,per_page}"),
    ("notifications", "/notifications"),
    ("organization", "/orgs/{org}"),
    ("organization_repositories", "/orgs/{org}/repos{?type,page,per_page,sort}"),
    ("organization_teams", "/orgs/{org}/teams"),
    ("public_gists", "/gists/public"),
    ("rate_limit", "/rate_limit"),
    ("repository", "/repos/{owner}/{repo}"),
    ("repository_search", "/search/repositories?q={query}{&page,per_page,sort,order}"),
    ("starred", "/user/starred{/owner}{/repo}"),
    ("starred_gists", "/gists/starred"),
    ("user", "/users/{user}"),
    ("user_organizations", "/user/orgs"),
    ("user_repositories", "/users/{user}/repos{?type,page,per_page,sort}"),
    ("user_search", "/search/users?q={query}{&page,per_page,sort,order}"),
];

/// The API's addresses, as GitHub lists them: clients read them to check that there is an API, and that a token is
/// valid.
fn root(call: &Call) -> Answer {
    let at = |path: &str| json!(format!("{}/api/v3{path}", call.forge.server()));
    let mut shown: Map<String, Value> =
        ADDRESSES.iter().map(|(name, path)| (format!("{name}_url"), at(path))).collect();
    let page = format!("{}/settings/connections/applications{{/client_id}}", call.forge.server());
    shown.insert("current_user_authorizations_html_url".to_owned(), json!(page));
    Ok(Reply::ok(Value::Object(shown)))
}

fn rate_limit(call: &Call) -> Answer {
    let rate_of = |payer: Option<Payer>| {
        let reading = call.forge.meter.read(payer.as_ref(), call.now);
        json!({
            "limit": reading.limit,
            "used": reading.used,
            "remaining": reading.remaining(),
            "reset": reading.reset.timestamp(),
        })
    };
    let payer = call.caller.as_ref().map(|login| Payer::account(login, call.token, ""));
    let (rate, graphql) = (rate_of(payer.clone()), rate_of(payer.clone().map(Payer::of_graphql)));
    let search = rate_of(Some(Payer::of_search(payer)));
    let resources = json!({"core": rate, "search": search, "graphql": graphql});
    Ok(Reply::ok(json!({"resources": resources, "rate": rate})))
}

fn meta(_: &Call) -> Answer {
    Ok(Reply::ok(json!({"verifiable_password_authentication": false, "installed_version": "3.17.0"})))
}

fn user(call: &Call) -> Answer {
    let login = call.actor()?;
    // An installation is not a user, and neither its token nor a job's is a user's.
    if call.grant.is_some() || call.token == TokenKind::Job {
        return Err(Refusal::integration());
    }
    Ok(Reply::ok(private_account(call.forge.server(), &call.state().accounts, login.as_str())))
}

fn account(call: &Call) -> Answer {
    let state = call.state();
    state.accounts.get(call.part("login")).ok_or_else(Refusal::not_found)?;
    Ok(Reply::ok(public_account(call.forge.server(), &state.accounts, call.part("login"))))
}
