//! A door to the forge that kills: at one chosen request, API or git, it falls silent and says so.

use std::sync::{Arc, Mutex};

use axum::{
    extract::{Request, State},
    middleware::{Next, from_fn_with_state},
    response::Response,
};
use tokio::{sync::Notify, task::JoinHandle};

use super::World;

/// On which side of a request's effect its sender dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The forge never gets the request.
    Before,
    /// The request has its whole effect; nobody hears the answer.
    After,
}

/// One moment of a run: the request, counted from 0, and the side of it.
pub(crate) type Point = (usize, Side);

#[derive(Debug, Default)]
struct Plan {
    passed: Vec<String>,
    at: Option<Point>,
}

/// The door. Dropping it closes it.
pub(crate) struct Door {
    pub(crate) url: String,
    plan: Arc<(Mutex<Plan>, Notify)>,
    server: JoinHandle<()>,
}

impl Door {
    /// Opens a door to this world's forge that falls silent at `at`; none: never.
    pub(crate) async fn before(world: &World, at: Option<Point>) -> Self {
        let plan = Arc::new((Mutex::new(Plan { at, ..Plan::default() }), Notify::new()));
        let door = from_fn_with_state(Arc::clone(&plan), pass);
        let router = axum::Router::new().fallback_service(world.forge.router()).layer(door);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, plan, server }
    }

    /// Waits until the door has fallen silent.
    pub(crate) async fn silent(&self) {
        self.plan.1.notified().await;
    }

    /// Every request that came so far, as its method and path.
    pub(crate) fn passed(&self) -> Vec<String> {
        self.plan.0.lock().unwrap().passed.clone()
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn pass(State(plan): State<Arc<(Mutex<Plan>, Notify)>>, request: Request, next: Next) -> Response {
    let side = count(&mut plan.0.lock().unwrap(), &request);
    let answer = match side {
        None => return next.run(request).await,
        Some(Side::Before) => None,
        Some(Side::After) => Some(next.run(request).await),
    };
    if let Some(answer) = answer {
        // An answer is read to its end, so that the effect is whole.
        axum::body::to_bytes(answer.into_body(), usize::MAX).await.ok();
    }
    plan.1.notify_one();
    std::future::pending().await
}

fn count(plan: &mut Plan, request: &Request) -> Option<Side> {
    let index = plan.passed.len();
    plan.passed.push(format!("{} {}", request.method(), request.uri()));
    plan.at.filter(|(wanted, _)| *wanted == index).map(|(_, side)| side)
}
