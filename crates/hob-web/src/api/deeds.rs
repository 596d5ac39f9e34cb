//! What operators may ask for: the same as `hob answer`, `approve`, `pause`, `resume` and `cancel`, through the forge like those, so it
//! reaches a worker on any machine.

use std::sync::Arc;

use axum::{
    Json,
    extract::{
        Path, State,
        rejection::{FormRejection, JsonRejection},
    },
    response::{IntoResponse, Response},
};
use hob_domain::{IssueNumber, RepoName};
use hob_worker::{Approved, News, OperatorError, Requested, Worker};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::error::TrySendError;
use utoipa::ToSchema;

use crate::{
    api::{deed::Deed, issues::one, problem::Problem},
    shared::Shared,
};

/// The longest words, in characters, as long as a comment of GitHub.
const WORDS_MAX: usize = 65_536;

/// The words that go with it.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Words {
    /// The answer, what is to be added to an approval, or the reason for a pause.
    pub(crate) message: String,
    /// With `approve`: the text of the action or of the plan that was shown. If another waits by now, nothing is approved.
    pub(crate) shown: Option<String>,
}

/// What became of it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Done {
    /// `false` if a worker holds the issue and carries it out at its next look.
    pub(crate) done: bool,
    /// What happens next, one sentence.
    pub(crate) message: String,
}

/// Why it was not done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    /// Nothing of that name is known here.
    #[error("no repository of that name is polled here")]
    Unknown,
    /// What was sent cannot be read.
    #[error("{says}")]
    Unreadable {
        /// The status that says how.
        status: StatusCode,
        /// What is wrong with it.
        says: String,
    },
    /// It does not fit.
    #[error("{0}")]
    Wrong(&'static str),
    /// The words are too long.
    #[error("the message is longer than {WORDS_MAX} characters")]
    Long,
    /// It ended before its time.
    #[error("it failed for a reason of Hob's own, which its log says")]
    Broken,
    /// The issue is not as it was thought to be, or the forge could not be asked.
    #[error(transparent)]
    Operator(#[from] OperatorError),
}

impl From<JsonRejection> for Refused {
    fn from(rejection: JsonRejection) -> Self {
        Self::Unreadable { status: rejection.status(), says: rejection.body_text() }
    }
}

impl From<FormRejection> for Refused {
    fn from(rejection: FormRejection) -> Self {
        Self::Unreadable { status: rejection.status(), says: rejection.body_text() }
    }
}

impl Refused {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Unknown | Self::Operator(OperatorError::NoIssue(_)) => StatusCode::NOT_FOUND,
            Self::Unreadable { status, .. } => *status,
            Self::Wrong(_) => StatusCode::BAD_REQUEST,
            Self::Broken => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Long => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Operator(OperatorError::Work(_)) => StatusCode::BAD_GATEWAY,
            Self::Operator(
                OperatorError::NotBlocked(_)
                | OperatorError::NothingProposed(_)
                | OperatorError::NoLedger(_)
                | OperatorError::NotPaused(_)
                | OperatorError::Ended(_)
                | OperatorError::Contended(_),
            ) => StatusCode::CONFLICT,
        }
    }
}

/// Asks for something about an issue: `approve`, `answer`, `retry`, `pause`, `resume` or `cancel`.
#[utoipa::path(
    post,
    path = "/api/v1/issues/{owner}/{name}/{issue}/{deed}",
    params(("owner" = String, Path), ("name" = String, Path), ("issue" = u64, Path), ("deed" = Deed, Path)),
    request_body = Words,
    responses(
        (status = 200, body = Done),
        (status = 400, body = Problem),
        (status = 404, body = Problem),
        (status = 409, body = Problem, description = "The issue is not as it was thought to be"),
        (status = 502, body = Problem, description = "The forge could not be asked"),
    ),
)]
pub(super) async fn post(
    State(shared): State<Shared>,
    Path((owner, name, issue, deed)): Path<(String, String, u64, Deed)>,
    words: Result<Json<Words>, JsonRejection>,
) -> Response {
    let asked = async {
        let Json(words) = words?;
        carry_out(&shared, &format!("{owner}/{name}"), IssueNumber(issue), deed, words).await
    };
    answered(asked.await)
}

/// Pauses or resumes all work of a repository: `pause` or `resume`.
#[utoipa::path(
    post,
    path = "/api/v1/repositories/{owner}/{name}/{deed}",
    params(("owner" = String, Path), ("name" = String, Path), ("deed" = Deed, Path)),
    request_body = Words,
    responses((status = 200, body = Done), (status = 400, body = Problem), (status = 404, body = Problem)),
)]
pub(super) async fn post_everywhere(
    State(shared): State<Shared>,
    Path((owner, name, deed)): Path<(String, String, Deed)>,
    words: Result<Json<Words>, JsonRejection>,
) -> Response {
    let asked = async {
        let Json(words) = words?;
        carry_out_everywhere(&shared, &format!("{owner}/{name}"), deed, words.message).await
    };
    answered(asked.await)
}

fn answered(done: Result<Done, Refused>) -> Response {
    match done {
        Ok(done) => Json(done).into_response(),
        Err(refused) => Problem::answer(refused.status(), refused.to_string()),
    }
}

/// Does it, in the name of the token's account. What has begun goes on if the one who asked goes away.
pub(crate) async fn carry_out(
    shared: &Shared,
    repo: &str,
    issue: IssueNumber,
    deed: Deed,
    words: Words,
) -> Result<Done, Refused> {
    let repo: &RepoName = &repo.parse().map_err(|_| Refused::Unknown)?;
    let worker = shared.known.worker(repo).ok_or(Refused::Unknown)?;
    if words.message.chars().count() > WORDS_MAX {
        return Err(Refused::Long);
    }
    if deed == Deed::Approve && !is_shown(shared, repo, issue, words.shown.as_deref()) {
        return Err(Refused::Wrong("something else waits for approval by now: read it first"));
    }
    let message = words.message.trim().to_owned();
    let begun = tokio::spawn(async move { do_it(&worker, issue, deed, &message).await });
    let done = begun.await.map_err(|_| Refused::Broken)??;
    wake(shared, repo);
    Ok(done)
}

async fn do_it(worker: &Arc<Worker>, issue: IssueNumber, deed: Deed, message: &str) -> Result<Done, Refused> {
    let done = |message: &str| Done { done: true, message: message.to_owned() };
    Ok(match deed {
        Deed::Approve => match Box::pin(hob_worker::approve(worker, issue, message)).await? {
            Approved::Action(_) => done("It is requeued, and its agent may do exactly this."),
            Approved::Plan(_) => done("It is requeued, and the plan is followed."),
        },
        Deed::Answer if message.is_empty() => return Err(Refused::Wrong("an answer has words: `retry` needs none")),
        Deed::Answer => {
            Box::pin(hob_worker::unblock(worker, issue, message)).await?;
            done("It is requeued with the answer.")
        }
        Deed::Retry => {
            Box::pin(hob_worker::unblock(worker, issue, "")).await?;
            done("It is requeued as it is.")
        }
        Deed::Pause => passed(Box::pin(hob_worker::pause(worker, issue, message)).await?, "It is paused."),
        Deed::Resume => {
            Box::pin(hob_worker::resume(worker, issue)).await?;
            done("It is resumed.")
        }
        Deed::Cancel => passed(Box::pin(hob_worker::terminate(worker, issue)).await?, "The work on it has ended."),
    })
}

/// Pauses or resumes all work of a repository.
pub(crate) async fn carry_out_everywhere(
    shared: &Shared,
    repo: &str,
    deed: Deed,
    message: String,
) -> Result<Done, Refused> {
    let repo: &RepoName = &repo.parse().map_err(|_| Refused::Unknown)?;
    let worker = shared.known.worker(repo).ok_or(Refused::Unknown)?;
    if message.chars().count() > WORDS_MAX {
        return Err(Refused::Long);
    }
    let (pause, says) = match deed {
        Deed::Pause => (Some(message.trim().to_owned()), "No worker claims an issue from its next poll on."),
        Deed::Resume => (None, "Each worker claims issues again from its next poll on."),
        Deed::Approve | Deed::Answer | Deed::Retry | Deed::Cancel => {
            return Err(Refused::Wrong("a repository can be paused or resumed"));
        }
    };
    let begun = tokio::spawn(async move { hob_worker::kill_switch(&worker, pause.as_deref()).await });
    begun.await.map_err(|_| Refused::Broken)?.map_err(OperatorError::from)?;
    wake(shared, repo);
    Ok(Done { done: true, message: says.to_owned() })
}

/// Whether what waits for approval is what the person saw. It counts as seen if nothing is said about it: a program that asks for the
/// text first can say so.
fn is_shown(shared: &Shared, repo: &RepoName, issue: IssueNumber, shown: Option<&str>) -> bool {
    let Some(shown) = shown else { return true };
    let waits = one(shared, repo, issue, None);
    // Browsers send lines of a field with CRLF.
    let plain = |text: &str| text.replace("\r\n", "\n").trim().to_owned();
    waits
        .and_then(|one| one.action.map(|action| action.text).or(one.plan))
        .is_some_and(|waits| plain(&waits) == plain(shown))
}

fn passed(asked: Requested, done: &str) -> Done {
    match asked {
        Requested::Done => Done { done: true, message: done.to_owned() },
        Requested::Passed => {
            Done { done: false, message: "A worker holds it, and does it within one poll interval.".to_owned() }
        }
    }
}

/// Lets the repository be polled at once.
fn wake(shared: &Shared, repo: &RepoName) {
    if let Err(TrySendError::Full(_)) = shared.news.try_send(News { repo: repo.clone(), sender: None }) {
        tracing::debug!(%repo, "too much news waits: the next poll finds it");
    }
}
