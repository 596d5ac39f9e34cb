//! The table of endpoints: a handler is a plain function of a [`Call`], which runs on a thread that may block.

use std::sync::Arc;

use axum::{
    Router,
    extract::{RawPathParams, Request},
    response::{IntoResponse, Response},
    routing::{MethodFilter, on},
};
use http::{StatusCode, header};
use url::form_urlencoded;

use super::{
    call::{Answer, Call},
    envelope::{Caller, ServedPath, SigningApp},
    forge::Forge,
    media::{Media, TEXTS},
    mood_view::in_mood,
    obeyed::refuse_the_rest,
    permission::Needed,
    refusal::Refusal,
    standing::{moved, takes},
    webhook_events::queue_new_events,
};

/// The largest body of an API request: a blob of 100 MB, which is GitHub's limit, in Base64, and its envelope. A
/// slightly larger one is read, so that its refusal can say so.
const BODY_MAX: usize = 200 << 20;

/// What follows from a write that was carried out.
pub(super) type AfterWrite = fn(&Call);

/// The handler of an endpoint.
pub(super) type Handler = fn(&Call) -> Answer;

/// An endpoint, and the parts of a request that it supports.
#[derive(Debug, Clone, Copy)]
pub(super) struct Route {
    verb: &'static str,
    method: MethodFilter,
    pattern: &'static str,
    handler: Handler,
    /// The parameters that it supports beside those of pages.
    query: &'static [&'static str],
    /// The fields of the body that it supports; `a.b` is the field `b` of the objects in `a`.
    body: &'static [&'static str],
    /// The media types that it has beside JSON.
    media: &'static [Media],
}

macro_rules! verb {
    ($name:ident, $filter:ident) => {
        /// The endpoint of this pattern, for the method of this function's name.
        pub(super) const fn $name(pattern: &'static str, handler: Handler) -> Route {
            let (verb, method) = (stringify!($filter), MethodFilter::$filter);
            Route { verb, method, pattern, handler, query: &[], body: &[], media: TEXTS }
        }
    };
}

verb!(get, GET);
verb!(post, POST);
verb!(put, PUT);
verb!(patch, PATCH);
verb!(delete, DELETE);

impl Route {
    /// The same endpoint, which supports these parameters of the query.
    pub(super) const fn query(mut self, names: &'static [&'static str]) -> Self {
        self.query = names;
        self
    }

    /// The same endpoint, which supports these fields of the body.
    pub(super) const fn body(mut self, names: &'static [&'static str]) -> Self {
        self.body = names;
        self
    }

    /// The same endpoint, which has these media types.
    pub(super) const fn media(mut self, types: &'static [Media]) -> Self {
        self.media = types;
        self
    }

    /// Its method and pattern, as `GET /repos/{owner}/{repo}`.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.verb, self.pattern)
    }

    fn writes(&self) -> bool {
        self.verb != "GET"
    }

    /// Answers a call, and does what follows from a write.
    fn serve_and(&self, after: AfterWrite, call: &Call) -> Answer {
        let reply = self.serve(call)?;
        if self.writes() {
            after(call);
        }
        Ok(reply)
    }

    /// Answers a call that this endpoint supports and permits.
    ///
    /// # Errors
    /// The handler's refusals, and those of unsupported fields, media types and permissions.
    pub(super) fn serve(&self, call: &Call) -> Answer {
        // Clients ask for everything in full, which changes nothing if there is no text.
        if !matches!(call.media, Media::Json | Media::Full) && !self.media.contains(&call.media) {
            let message = format!("the embedded forge has no media type `{}` of {}", call.media.name(), self.name());
            return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
        }
        if let Some(elsewhere) = moved(call, self.verb, self.pattern) {
            return Ok(elsewhere);
        }
        refuse_the_rest(&self.name(), self.query, self.body, call)?;
        if let Some(needed) = Needed::for_call(self.verb, self.pattern) {
            call.permitted(needed)?;
        }
        takes(call, self.verb, self.pattern)?;
        (self.handler)(call)
    }
}

/// The router of these endpoints; any other request is answered 404 with its own name.
pub(super) fn router<'r>(forge: &Arc<Forge>, routes: impl IntoIterator<Item = &'r Route>, after: AfterWrite) -> Router {
    table(forge, routes, after).fallback(absent).method_not_allowed_fallback(absent)
}

/// The router of these endpoints and no other.
pub(super) fn table<'r>(forge: &Arc<Forge>, routes: impl IntoIterator<Item = &'r Route>, after: AfterWrite) -> Router {
    let add = |router: Router, route: &Route| {
        let (forge, route) = (Arc::clone(forge), *route);
        let serve = move |path: RawPathParams, request: Request| {
            run(Arc::clone(&forge), move |call| route.serve_and(after, call), path, request)
        };
        router.route(route.pattern, on(route.method, serve))
    };
    routes.into_iter().fold(Router::new(), add)
}

/// The router of these pages, which ignore the rest of an address.
pub(super) fn pages<'r>(forge: &Arc<Forge>, routes: impl IntoIterator<Item = &'r Route>, after: AfterWrite) -> Router {
    let add = |router: Router, route: &Route| {
        let (forge, handler, writes) = (Arc::clone(forge), route.handler, route.writes());
        let handle = move |call: &Call| {
            let reply = handler(call)?;
            if writes {
                after(call);
            }
            Ok(reply)
        };
        let serve = move |path: RawPathParams, request: Request| run(Arc::clone(&forge), handle, path, request);
        router.route(route.pattern, on(route.method, serve))
    };
    routes.into_iter().fold(Router::new(), add)
}

/// Answers a request without an endpoint.
pub(super) async fn absent(request: Request) -> Response {
    Refusal::not_here(&format!("{} {}", request.method(), request.uri().path())).into_response()
}

async fn run(
    forge: Arc<Forge>,
    handler: impl FnOnce(&Call) -> Answer + Send + 'static,
    path: RawPathParams,
    request: Request,
) -> Response {
    let path = path.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let (parts, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, BODY_MAX).await else {
        return Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "Request body is too large or incomplete").into_response();
    };
    let query = parts.uri.query().unwrap_or_default().as_bytes();
    let caller = parts.extensions.get::<Caller>().and_then(|caller| caller.0.clone());
    let accept = parts.headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let call = Call {
        now: forge.now(),
        forge,
        caller: caller.as_ref().map(|caller| caller.login.clone()),
        token: caller.as_ref().map(|caller| caller.kind).unwrap_or_default(),
        grant: caller.and_then(|caller| caller.grant),
        app: parts.extensions.get::<SigningApp>().map(|app| app.0),
        path,
        raw_query: parts.uri.query().unwrap_or_default().to_owned(),
        query: form_urlencoded::parse(query).into_owned().collect(),
        location: parts.extensions.get::<ServedPath>().map_or_else(String::new, |path| path.0.clone()),
        media: Media::asked_for(accept),
        body,
    };
    // Handlers read and write git repositories, which blocks.
    let writes = !parts.method.is_safe();
    let handle = move || {
        let _active = call.forge.activity.blocking_read();
        let reply = handler(&call)?.in_media_of(&call).changed(|body| in_mood(&call, body));
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
