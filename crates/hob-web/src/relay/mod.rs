//! The forge for pods that have no token of it: what their Hob asks below `/forge` is asked with the dispatcher's own token.
//!
//! # Flow
//! `executor.job` names `/forge` of this listener as the API → the dispatcher gives the pod a [`Pass`] instead of a token → the pod's Hob
//! shows it → the call passes if it is one of the pass's repository, and a write if it is on the pass's issue or its pull request → the
//! dispatcher's client makes it, by its throttle and cache, or git's server answers it, with bodies that stream.
//!
//! # Guarantees
//! - Nothing is answered without a pass that is signed and has not ended, nor has its Job, and nothing that it does not open: the lists are those of
//!   `hob-forge`. The token is in no answer.
//! - Bodies of the API, requests at once, and the time of each have a bound.
//!
//! # Caveats
//! The connection is not encrypted here: those who see it see the pass.

mod at_work;
mod git;
mod holder;
mod rest;

use std::{sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::Request,
    response::{IntoResponse, Response},
};
use futures_util::StreamExt;
use hob_forge::{Connection, Pass, Reach};
use hob_workspace::GitRelay;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::json;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

pub use self::at_work::AskAtWork;
use crate::{lifetime::Lifetime, relay::at_work::Jobs};

/// Where it is, below the listener's address.
pub(crate) const PATH: &str = "/forge";
/// Requests at once.
const ROOM: usize = 64;
/// How long a request may take that is not git's: it waits for a turn, then for the forge.
const TIME: Duration = Duration::from_secs(120);
/// How long a request waits for room, or for a dispatcher that is starting: git fails at once if it is told to come again.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// Seconds after which those come again that waited in vain.
const SOON: u64 = 2;

/// What is needed to ask the forge for others.
pub struct Relay {
    connection: Arc<Connection>,
    git: GitRelay,
    /// The forge's web address, where git's server is.
    server_url: String,
    /// What passes may write on.
    reach: Reach,
    /// How long a transfer of git may take.
    transfer_time: Duration,
    room: Arc<Semaphore>,
    /// The Jobs of passes. `None` if a pass ends by its time alone.
    jobs: Option<Jobs>,
}

impl Relay {
    /// A relay to the forge of this connection, and to git's server at its web address.
    pub fn new(connection: Arc<Connection>, git: GitRelay, server_url: String) -> Self {
        let room = Arc::new(Semaphore::new(ROOM));
        Self { connection, git, server_url, reach: Reach::new("hob/"), transfer_time: TIME, room, jobs: None }
    }

    /// The same for branches with this prefix, and transfers that take at most this long.
    #[must_use]
    pub fn pushing(self, branch_prefix: &str, transfer_time: Duration) -> Self {
        Self { reach: Reach::new(branch_prefix), transfer_time, ..self }
    }

    /// The same for passes whose Jobs are at work.
    #[must_use]
    pub fn of_jobs(self, ask: Arc<AskAtWork>) -> Self {
        Self { jobs: Some(Jobs::new(ask)), ..self }
    }

    /// Answers a request below [`PATH`].
    pub(crate) async fn answer(&self, request: Request, lifetime: &Lifetime) -> Response {
        let pass = match self.pass(request.headers()).await {
            Ok(pass) => pass,
            Err(refused) => return refused,
        };
        let Ok(Ok(permit)) = timeout(PATIENCE, Arc::clone(&self.room).acquire_owned()).await else {
            return later(StatusCode::TOO_MANY_REQUESTS, SOON, "too many requests at once");
        };
        let is_at_work = match &self.jobs {
            Some(jobs) => jobs.is_at_work(&pass).await,
            None => Some(true),
        };
        match is_at_work {
            Some(true) => {}
            Some(false) => return refusal(StatusCode::UNAUTHORIZED, "the Job of this pass has ended"),
            None => return later(StatusCode::SERVICE_UNAVAILABLE, SOON, "the cluster cannot be asked for the Job"),
        }
        let path = request.uri().path().strip_prefix(PATH).unwrap_or_default().to_owned();
        match path.strip_prefix(git::PATH) {
            Some(path) => {
                lifetime.lasts(self.transfer_time);
                until_its_end(git::answer(self, &pass, path, request).await, permit)
            }
            None => {
                lifetime.lasts(TIME);
                rest::answer(self, &pass, &path, request).await
            }
        }
    }

    /// The pass that a request shows.
    async fn pass(&self, headers: &HeaderMap) -> Result<Pass, Response> {
        let now = self.connection.time().await.map_err(|error| {
            tracing::warn!("passes cannot be judged without the forge's time: {error}");
            starting()
        })?;
        let shown = holder::shown(headers).unwrap_or_default();
        self.connection.pass_key().read(&shown, now).map_err(|error| {
            tracing::debug!("a request for the forge was refused: {error}");
            refusal(StatusCode::UNAUTHORIZED, &error.to_string())
        })
    }
}

/// The answer of a dispatcher that has not asked the forge anything yet.
pub(crate) fn starting() -> Response {
    later(StatusCode::SERVICE_UNAVAILABLE, SOON, "the dispatcher is starting")
}

/// A refusal, as the forge words it.
pub(crate) fn refusal(status: StatusCode, why: &str) -> Response {
    (status, axum::Json(json!({ "message": why }))).into_response()
}

/// A refusal for now.
fn later(status: StatusCode, seconds: u64, why: &str) -> Response {
    let mut answer = refusal(status, why);
    answer.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    answer
}

/// The answer, whose body keeps its room until it ends.
fn until_its_end(answer: Response, permit: OwnedSemaphorePermit) -> Response {
    answer.map(|body| {
        Body::from_stream(body.into_data_stream().map(move |part| {
            let _held = &permit;
            part
        }))
    })
}
