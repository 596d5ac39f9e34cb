//! Requests of git's, which stream.

use std::time::Duration;

use axum::{body::Body, extract::Request, response::Response};
use hob_forge::{Pass, PushRoom, count_forwarded_push};
use hob_workspace::{GitRequest, RelayedPush, Remote};
use http::StatusCode;
use tokio::time::timeout;

use crate::relay::{Relay, refusal};

/// Where repositories are, below the relay's path.
pub(super) const PATH: &str = "/git";
/// How long the list of a push's updates may take.
const LIST_TIME: Duration = Duration::from_secs(60);

/// Answers a request at a path below the git server's address. Paths are compared as they were sent, so that an encoded one differs.
pub(super) async fn answer(relay: &Relay, pass: &Pass, path: &str, request: Request) -> Response {
    let own = format!("/{}.git", pass.repo);
    let service = path.strip_prefix(own.as_str());
    let asked = service.map(|service| (service, GitRequest::of(request.method(), service, request.uri().query())));
    let why = match asked {
        Some((service, Some(asked))) => return passed(relay, pass, asked, service, request).await,
        Some((_service, None)) => "neither a fetch nor a push asks for this",
        None => "the pass is for another repository",
    };
    refused(pass, why)
}

async fn passed(relay: &Relay, pass: &Pass, asked: GitRequest, service: &str, request: Request) -> Response {
    let token = match relay.connection.token(relay.transfer_time).await {
        Ok(token) => token,
        Err(error) => return refusal(StatusCode::BAD_GATEWAY, &error.to_string()),
    };
    let remote = match Remote::server(pass.repo.clone(), &relay.server_url, Some(token)) {
        Ok(remote) => remote,
        Err(error) => return refusal(StatusCode::BAD_GATEWAY, &error.to_string()),
    };
    let (head, body) = request.into_parts();
    let service = head.uri.query().map_or_else(|| service.to_owned(), |query| format!("{service}?{query}"));
    let sent = match asked {
        GitRequest::Fetch | GitRequest::ListForPush => relay.git.fetch(&remote, &head, &service, body).await,
        GitRequest::Push => {
            let push = match timeout(LIST_TIME, RelayedPush::read(&head, body, |name| relay.reach.may_move(pass, name)))
                .await
            {
                Ok(Ok(push)) => push,
                Ok(Err(why)) => return refused(pass, why),
                Err(_elapsed) => return refusal(StatusCode::REQUEST_TIMEOUT, "the list of updates took too long"),
            };
            match count_forwarded_push(&relay.connection, pass, &push.refs).await {
                Ok(PushRoom::Counted) => {}
                // The pod's Hob then moves the ledger over the API.
                Ok(PushRoom::None) => return refusal(StatusCode::FORBIDDEN, "the minute's pushes are used up"),
                Err(error) => return refusal(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
            }
            let moves: Vec<_> = push.refs.iter().cloned().zip(push.commits.iter().cloned()).collect();
            let answer = relay.git.push(&remote, &head, &service, push).await;
            if answer.as_ref().is_ok_and(|answer| answer.status().is_success()) {
                moves.iter().for_each(|(name, commit)| relay.reach.moved(pass, name, commit));
            }
            answer
        }
    };
    match sent {
        Ok(answer) => answer.map(Body::new),
        Err(fault) => {
            tracing::warn!(job = pass.job, "git's server gave no answer to a Job: {fault}");
            refusal(StatusCode::BAD_GATEWAY, "git's server gave no answer")
        }
    }
}

fn refused(pass: &Pass, why: &str) -> Response {
    tracing::warn!(job = pass.job, "a request of git of the Job of {}#{} was refused: {why}", pass.repo, pass.issue);
    refusal(StatusCode::FORBIDDEN, why)
}
