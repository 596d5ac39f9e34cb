//! The table of endpoints: a handler is a plain function of a [`Call`], run where blocking is allowed.

use std::sync::Arc;

use axum::{
    Router,
    extract::{RawPathParams, Request},
    response::{IntoResponse, Response},
    routing::{MethodFilter, on},
};
use http::{Method, StatusCode, header};
use url::form_urlencoded;

use super::{
    call::{Answer, Call},
    envelope::{Caller, ServedPath, SigningApp},
    forge::Forge,
    refusal::Refusal,
    webhook_events::queue_new_events,
};

/// The largest body of an API request: a blob of 100 MB, which is GitHub's limit, in Base64, and its envelope.
const BODY_MAX: usize = 140 << 20;

/// What serves an endpoint.
pub(super) type Handler = fn(&Call) -> Answer;

/// An endpoint.
#[derive(Debug, Clone)]
pub(super) struct Route {
    verb: Method,
    method: MethodFilter,
    pattern: &'static str,
    handler: Handler,
}

macro_rules! verb {
    ($name:ident, $filter:ident) => {
        /// The endpoint of this pattern, for the method of this function's name.
        pub(super) const fn $name(pattern: &'static str, handler: Handler) -> Route {
            Route { verb: Method::$filter, method: MethodFilter::$filter, pattern, handler }
        }
    };
}

verb!(get, GET);
verb!(post, POST);
verb!(put, PUT);
verb!(patch, PATCH);
verb!(delete, DELETE);

impl Route {
    /// Answers a request that did not come through this endpoint's own path.
    pub(super) fn answer(&self, call: &Call) -> Answer {
        (self.handler)(call)
    }

    /// Its method and pattern, as `GET /repos/{owner}/{repo}`.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.verb, self.pattern)
    }
}

/// The router of these endpoints; any other request is answered 501 with its own name.
pub(super) fn router<'r>(forge: &Arc<Forge>, routes: impl IntoIterator<Item = &'r Route>) -> Router {
    let absent = |request: Request| async move { not_here(&request) };
    table(forge, routes).fallback(absent).method_not_allowed_fallback(absent)
}

/// The router of these endpoints and no other.
pub(super) fn table<'r>(forge: &Arc<Forge>, routes: impl IntoIterator<Item = &'r Route>) -> Router {
    let add = |router: Router, route: &Route| {
        let (forge, handler) = (Arc::clone(forge), route.handler);
        let serve = move |path: RawPathParams, request: Request| run(Arc::clone(&forge), handler, path, request);
        router.route(route.pattern, on(route.method, serve))
    };
    routes.into_iter().fold(Router::new(), add)
}

fn not_here(request: &Request) -> Response {
    Refusal::not_here(&format!("{} {}", request.method(), request.uri().path())).into_response()
}

async fn run(forge: Arc<Forge>, handler: Handler, path: RawPathParams, request: Request) -> Response {
    let path = path.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let (parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, BODY_MAX).await else {
        return Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "Request body is too large or incomplete").into_response();
    };
    let query = parts.uri.query().unwrap_or_default().as_bytes();
    let accept = parts.headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let call = Call {
        now: forge.now(),
        forge,
        caller: parts.extensions.get::<Caller>().and_then(|caller| caller.0.clone()),
        app: parts.extensions.get::<SigningApp>().map(|app| app.0),
        path,
        query: form_urlencoded::parse(query).into_owned().collect(),
        location: parts.extensions.get::<ServedPath>().map_or_else(String::new, |path| path.0.clone()),
        accept: accept.to_owned(),
        body,
    };
    // Handlers read and write git repositories, which blocks.
    let writes = !parts.method.is_safe();
    let handle = move || {
        let reply = handler(&call)?;
        if writes {
            call.forge.save().map_err(Refusal::internal)?;
            queue_new_events(&call.forge);
        }
        Ok::<_, Refusal>(reply)
    };
    match tokio::task::spawn_blocking(handle).await {
        Ok(answer) => answer.into_response(),
        Err(died) => Refusal::internal(died).into_response(),
    }
}
