//! The pages' routes, their templates and the headers that keep them inert.

use std::sync::{Arc, LazyLock};

use axum::{
    Router,
    extract::{Request, State},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use minijinja::{Environment, context};
use serde_json::Value;

use super::{
    super::{
        call::{Answer, Call, Reply},
        envelope::{Caller, sign_in},
        forge::Forge,
        refusal::Refusal,
        route::{Route, get, table},
    },
    issue, pull, repository,
};

/// Nothing but the page's own style: no script, no image, no frame, no form.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const ROUTES: &[Route] = &[
    get("/", repository::all),
    get("/{owner}/{repo}", repository::show),
    get("/{owner}/{repo}/issues", repository::show),
    get("/{owner}/{repo}/pulls", repository::show),
    get("/{owner}/{repo}/issues/{number}", issue::show),
    get("/{owner}/{repo}/pull/{number}", pull::show),
];

static TEMPLATES: LazyLock<Result<Environment<'static>, minijinja::Error>> = LazyLock::new(|| {
    let mut templates = Environment::new();
    templates.add_template("layout.html", include_str!("layout.html"))?;
    templates.add_template("all.html", include_str!("all.html"))?;
    templates.add_template("repository.html", include_str!("repository.html"))?;
    templates.add_template("issue.html", include_str!("issue.html"))?;
    templates.add_template("pull.html", include_str!("pull.html"))?;
    templates.add_template("error.html", include_str!("error.html"))?;
    Ok(templates)
});

/// The routes of the pages.
pub(in super::super) fn routes(forge: &Arc<Forge>) -> Router {
    table(forge, ROUTES).layer(from_fn_with_state(Arc::clone(forge), guarded))
}

/// Signs in where there are credentials, and puts the headers around a page.
async fn guarded(State(forge): State<Arc<Forge>>, mut request: Request, next: Next) -> Response {
    let mut response = match sign_in(&forge, request.headers()) {
        Ok(login) => {
            request.extensions_mut().insert(Caller(login));
            next.run(request).await
        }
        Err(refusal) => refusal.into_response(),
    };
    if response.status().is_client_error() || response.status().is_server_error() {
        response = failed(response.status());
    }
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn failed(status: StatusCode) -> Response {
    let reason = if status == StatusCode::NOT_FOUND { "There is nothing here." } else { "This page cannot be shown." };
    let content = render("error.html", &serde_json::json!({"status": status.as_u16(), "reason": reason}));
    match content.and_then(|content| whole("Not shown", &[], &content)) {
        Ok(text) => (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response(),
        Err(refusal) => refusal.into_response(),
    }
}

/// A page of this template and what it shows, below a trail of (name, address).
pub(super) fn page(name: &str, title: &str, trail: &[(String, String)], shown: &Value) -> Answer {
    let content = render(name, shown)?;
    Ok(Reply::raw("text/html; charset=utf-8", whole(title, trail, &content)?))
}

fn whole(title: &str, trail: &[(String, String)], content: &str) -> Result<String, Refusal> {
    let templates = TEMPLATES.as_ref().map_err(Refusal::internal)?;
    let layout = templates.get_template("layout.html").map_err(Refusal::internal)?;
    let trail: Vec<_> = trail.iter().map(|(name, address)| context! { name, address }).collect();
    layout.render(context! { title, trail, content, style => include_str!("style.css") }).map_err(Refusal::internal)
}

fn render(name: &str, shown: &Value) -> Result<String, Refusal> {
    let templates = TEMPLATES.as_ref().map_err(Refusal::internal)?;
    templates
        .get_template(name)
        .and_then(|template| template.render(minijinja::Value::from(minijinja::value::Serde(shown))))
        .map_err(Refusal::internal)
}

/// The trail to the repository in the path.
pub(super) fn trail(call: &Call) -> Vec<(String, String)> {
    let name = format!("{}/{}", call.part("owner"), call.part("repo"));
    let address = format!("/{name}");
    vec![(name, address)]
}
