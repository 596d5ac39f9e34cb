//! The description of the API, made from its code.

use axum::Json;
use utoipa::OpenApi;

use crate::api::{deeds, events, issues, outcomes, problem::Problem, state};

#[derive(OpenApi)]
#[openapi(
    info(title = "Hob", description = "What a run of Hob knows, and what operators may ask of it."),
    paths(
        state::get,
        state::get_sessions,
        issues::get,
        issues::get_one,
        outcomes::get,
        events::get,
        deeds::post,
        deeds::post_everywhere,
        get,
    ),
    components(schemas(Problem))
)]
struct Description;

/// The description, as OpenAPI 3.1.
pub(crate) fn description() -> utoipa::openapi::OpenApi {
    Description::openapi()
}

/// This description.
#[utoipa::path(get, path = "/api/v1/openapi.json", responses((status = 200, body = Object)))]
pub(super) async fn get() -> Json<utoipa::openapi::OpenApi> {
    Json(description())
}
