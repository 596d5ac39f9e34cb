//! Why a request is refused.

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

/// Why a request is refused.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    /// What is wrong and what to do, one or a few sentences.
    pub(crate) message: String,
}

impl Problem {
    pub(crate) fn answer(status: StatusCode, message: impl Into<String>) -> Response {
        (status, Json(Self { message: message.into() })).into_response()
    }
}
