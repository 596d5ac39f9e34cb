//! A forge whose answers get lost: the same forge behind another address that fails one chosen write.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    extract::{Request, State},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use hob_domain::State as IssueState;
use http::StatusCode;
use tokio::{sync::oneshot, task::JoinHandle};

use super::{World, inside::is_write, run};

/// The lost part of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// The request: it has no effect.
    Request,
    /// The answer: it had its effect.
    Answer,
}

#[derive(Debug, Default)]
struct Plan {
    writes: usize,
    lose: Option<(usize, Lost)>,
    hold: Option<(usize, Hold)>,
}

/// The door's side of a [`Held`] write.
#[derive(Debug)]
struct Hold {
    at_door: oneshot::Sender<()>,
    go: oneshot::Receiver<()>,
}

/// A write that the door holds, as the network does with the last one of a process that is frozen.
pub(crate) struct Held {
    reached: oneshot::Receiver<()>,
    go: oneshot::Sender<()>,
}

impl Held {
    /// Waits until the write is at the door; never, if none is made.
    pub(crate) async fn reached(&mut self) {
        if (&mut self.reached).await.is_err() {
            std::future::pending().await
        }
    }

    /// Lets it reach the forge.
    pub(crate) fn goes_on(self) {
        self.go.send(()).unwrap();
    }
}

/// The door. Dropping it closes it.
pub(crate) struct Faulty {
    pub(crate) api_url: String,
    plan: Arc<Mutex<Plan>>,
    server: JoinHandle<()>,
}

impl Faulty {
    /// Opens a door to this world's forge that loses nothing yet.
    pub(crate) async fn before(world: &World) -> Self {
        let plan = Arc::new(Mutex::new(Plan::default()));
        let door = from_fn_with_state(Arc::clone(&plan), pass);
        let router = axum::Router::new().fallback_service(world.forge.router()).layer(door);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let api_url = format!("http://{}/api/v3", listener.local_addr().unwrap());
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { api_url, plan, server }
    }

    /// From now on, the write number `index` is lost, counted from 0; `None` loses nothing.
    pub(crate) fn lose(&self, lose: Option<(usize, Lost)>) {
        *self.plan.lock().unwrap() = Plan { lose, ..Plan::default() };
    }

    /// From now on, the write number `index` is held, counted from 0.
    pub(crate) fn hold(&self, index: usize) -> Held {
        let ((at_door, reached), (go, goes)) = (oneshot::channel(), oneshot::channel());
        *self.plan.lock().unwrap() = Plan { hold: Some((index, Hold { at_door, go: goes })), ..Plan::default() };
        Held { reached, go }
    }

    /// The address for git.
    pub(crate) fn server_url(&self) -> &str {
        self.api_url.trim_end_matches("/api/v3")
    }

    /// Writes since the last [`Faulty::lose`].
    pub(crate) fn writes(&self) -> usize {
        self.plan.lock().unwrap().writes
    }
}

impl Faulty {
    /// Has a worker run behind the door that loses the write number `index`; returns whether it made that many.
    pub(crate) async fn run_without(&self, world: &World, index: usize, lost: Lost) -> bool {
        self.lose(Some((index, lost)));
        run(&world.worker_by(self, &format!("lossy{index}")).await).await;
        index < self.writes()
    }
}

impl World {
    /// Has workers run in later hours, `turns` at most, until the issue is in `state`.
    pub(crate) async fn comes_to(&self, issue: u64, state: IssueState, turns: usize) {
        for _turn in 0..turns {
            if self.record(issue).await.is_some_and(|record| record.state == state) {
                break;
            }
            self.an_hour_later().await;
        }
        let (told, failures) = (self.history(issue).await, self.failures());
        assert_eq!(
            self.record(issue).await.map(|record| record.state),
            Some(state),
            "issue {issue}: {told:?} {failures:?}"
        );
    }

    /// A worker runs when the lease after a lost release has expired.
    pub(crate) async fn an_hour_later(&self) {
        self.forge.advance(Duration::from_secs(3601));
        self.run().await;
    }
}

impl Drop for Faulty {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn pass(State(plan): State<Arc<Mutex<Plan>>>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let is_write = is_write(&parts.method, parts.uri.path(), &body);
    let request = Request::from_parts(parts, body.into());
    let (lost, held) = if is_write { count(&mut plan.lock().unwrap()) } else { (None, None) };
    if let Some(Hold { at_door, go }) = held {
        at_door.send(()).unwrap();
        go.await.unwrap();
        // The forge carries out what reached it even if its sender no longer waits.
        return tokio::spawn(next.run(request)).await.unwrap();
    }
    match lost {
        Some(Lost::Request) => StatusCode::BAD_GATEWAY.into_response(),
        Some(Lost::Answer) => {
            let answer = next.run(request).await;
            assert!(answer.status().is_success(), "the write whose answer is lost has its effect");
            StatusCode::BAD_GATEWAY.into_response()
        }
        None => next.run(request).await,
    }
}

fn count(plan: &mut Plan) -> (Option<Lost>, Option<Hold>) {
    let index = plan.writes;
    plan.writes += 1;
    let held = plan.hold.take_if(|(wanted, _)| *wanted == index).map(|(_, hold)| hold);
    (plan.lose.filter(|(wanted, _)| *wanted == index).map(|(_, lost)| lost), held)
}
