//! A door before a world's forge that notes each request to the API whole, as it came.

use std::sync::{Arc, Mutex};

use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    middleware::{Next, from_fn_with_state},
    response::Response,
};
use hob_forge::{Access, Authentication, Connection, Forge};
use hob_text::KnownSecrets;
use http::header;
use tokio::task::JoinHandle;

use super::asked::{Asked, text};
use crate::harness::{World, repo};

type Noted = Arc<Mutex<Vec<Asked>>>;

/// The door. Dropping it closes it.
pub(super) struct Door {
    pub(super) url: String,
    noted: Noted,
    server: JoinHandle<()>,
}

impl Door {
    /// Opens a door to this world's forge.
    pub(super) async fn before(world: &World) -> Self {
        let noted = Noted::default();
        let layer = from_fn_with_state(Arc::clone(&noted), note);
        let router = axum::Router::new().fallback_service(world.forge.router()).layer(layer);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/api/v3", listener.local_addr().unwrap());
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, noted, server }
    }

    /// A client behind the door that has read nothing yet.
    pub(super) fn client(&self, world: &World, identity: Authentication) -> Forge {
        let settings = &world.settings;
        let secrets = KnownSecrets::default();
        let connection = Connection::new(&self.url, identity, &settings.forge, Access::ReadWrite, secrets).unwrap();
        Forge::new(connection, repo())
    }

    /// The requests so far.
    pub(super) fn asked(&self) -> Vec<Asked> {
        self.noted.lock().unwrap().clone()
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn note(State(noted): State<Noted>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    let whole = parts.uri.path_and_query().unwrap().as_str();
    let path = whole.strip_prefix("/api/v3").or_else(|| whole.strip_prefix("/api"));
    if let Some(path) = path {
        noted.lock().unwrap().push(Asked {
            method: parts.method.clone(),
            path: path.to_owned(),
            accept: text(&parts.headers, header::ACCEPT).unwrap_or_default(),
            tag: text(&parts.headers, header::IF_NONE_MATCH),
            body: serde_json::from_slice(&body).unwrap_or_default(),
        });
    }
    next.run(Request::from_parts(parts, Body::from(body))).await
}
