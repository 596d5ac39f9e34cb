//! What a test in any language does with the forge itself, beside GitHub's API: reset it, take a snapshot, bring one back.
//! An account with the role `admin` may.

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::{Path, State},
    response::{IntoResponse, Response},
    routing::{post, put},
};
use http::StatusCode;

use super::{
    api,
    envelope::Caller,
    forge::Forge,
    refusal::Refusal,
    snapshots::{self, SnapshotError},
    users::Role,
};

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

/// Does it as this account, where blocking is allowed.
async fn done(
    forge: Arc<Forge>,
    caller: &Caller,
    work: impl FnOnce(&Arc<Forge>) -> Result<(), SnapshotError> + Send + 'static,
) -> Response {
    let Some(signed_in) = &caller.0 else { return Refusal::anonymous().into_response() };
    let role = forge.state().accounts.get(signed_in.login.as_str()).map(|account| account.role);
    if role != Some(Role::Admin) || signed_in.grant.is_some() {
        return Refusal::new(StatusCode::FORBIDDEN, "Must have the role admin.").into_response();
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
