//! The operations of a test in any language on the forge itself, beside GitHub's API: reset, take a snapshot, restore
//! one; and in `control_jobs` events elsewhere on GitHub. They need an account with the role `admin`.

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::{Path, State},
    response::{IntoResponse, Response},
    routing::{post, put},
};
use http::StatusCode;
use serde_json::Value;

use super::{
    api,
    call::Call,
    envelope::Caller,
    forge::Forge,
    refusal::Refusal,
    snapshots::{self, SnapshotError},
    users::Role,
};
use crate::names::{Login, RepoName};

/// The routes below `/_forge`.
pub(super) fn routes(forge: &Arc<Forge>) -> Router {
    Router::new()
        .route("/_forge/reset", post(reset))
        .route("/_forge/snapshots/{name}", put(take))
        .route("/_forge/snapshots/{name}/restore", post(restore))
        .with_state(Arc::clone(forge))
}

async fn reset(State(forge): State<Arc<Forge>>, Extension(caller): Extension<Caller>) -> Response {
    done(forge, &caller, |forge| snapshots::reset(forge, &api::routes().collect::<Vec<_>>())).await
}

async fn take(
    State(forge): State<Arc<Forge>>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
) -> Response {
    done(forge, &caller, move |forge| snapshots::take(forge, &name)).await
}

async fn restore(
    State(forge): State<Arc<Forge>>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
) -> Response {
    done(forge, &caller, move |forge| snapshots::restore(forge, &name)).await
}

/// Runs the operation as this account, on a thread that may block.
async fn done(
    forge: Arc<Forge>,
    caller: &Caller,
    work: impl FnOnce(&Arc<Forge>) -> Result<(), SnapshotError> + Send + 'static,
) -> Response {
    let Some(signed_in) = &caller.0 else { return Refusal::anonymous().into_response() };
    if let Err(refusal) = is_admin(&forge, &signed_in.login, signed_in.grant.is_some()) {
        return refusal.into_response();
    }
    match tokio::task::spawn_blocking(move || work(&forge)).await {
        Ok(Ok(())) => StatusCode::NO_CONTENT.into_response(),
        Ok(Err(error @ SnapshotError::Absent(_))) => {
            Refusal::new(StatusCode::NOT_FOUND, error.to_string()).into_response()
        }
        Ok(Err(error @ SnapshotError::Name(_))) => Refusal::unprocessable(error.to_string()).into_response(),
        Ok(Err(error)) => Refusal::internal(error).into_response(),
        Err(died) => Refusal::internal(died).into_response(),
    }
}

/// Refuses a caller who is not an admin of the forge.
///
/// # Errors
/// 401 if anonymous, and 403.
pub(super) fn admin(call: &Call) -> Result<(), Refusal> {
    is_admin(&call.forge, call.actor()?, call.grant.is_some())
}

fn is_admin(forge: &Forge, login: &Login, by_installation: bool) -> Result<(), Refusal> {
    let role = forge.state().accounts.get(login.as_str()).map(|account| account.role);
    if role == Some(Role::Admin) && !by_installation {
        return Ok(());
    }
    Err(Refusal::new(StatusCode::FORBIDDEN, "Must have the role admin."))
}

/// The repository that the body names, and the other fields of the body.
///
/// # Errors
/// 422 if it names none.
pub(super) fn named(call: &Call) -> Result<(RepoName, Value), Refusal> {
    let name = call.fields("Repository")?.required("repository")?;
    let name = name.parse().map_err(|_| Refusal::invalid("Repository", "repository"))?;
    let mut rest: Value = serde_json::from_slice(&call.body).unwrap_or_default();
    if let Value::Object(fields) = &mut rest {
        fields.remove("repository");
    }
    Ok((name, rest))
}
