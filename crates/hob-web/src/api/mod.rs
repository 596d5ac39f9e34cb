//! The HTTP API, `/api/v1`: what is known, for programs, and what operators may ask for. `docs/api.md` is the guide to it.

mod deed;
mod deeds;
mod description;
mod events;
mod issues;
mod outcomes;
mod problem;
mod state;

use axum::{
    Router,
    routing::{get, post},
};

use crate::shared::Shared;

pub use self::outcomes::{GroupedOutcomes, group_name, grouped};
#[cfg(test)]
pub(crate) use self::state::{RateView, UnreadableView};
pub(crate) use self::{
    deed::Deed,
    deeds::{Done, Refused, Words, carry_out, carry_out_everywhere},
    issues::{Before, Filter, IssueView, Part, dollars, is_wanted, issues, one},
    outcomes::{OutcomeSums, outcomes_of},
    problem::Problem,
    state::{RepositoryView, StateView, state},
};

/// The routes of the API.
pub(crate) fn routes() -> Router<Shared> {
    Router::new()
        .route("/api/v1/openapi.json", get(description::get))
        .route("/api/v1/state", get(state::get))
        .route("/api/v1/issues", get(issues::get))
        .route("/api/v1/issues/{owner}/{name}/{issue}", get(issues::get_one))
        .route("/api/v1/issues/{owner}/{name}/{issue}/{deed}", post(deeds::post))
        .route("/api/v1/repositories/{owner}/{name}/{deed}", post(deeds::post_everywhere))
        .route("/api/v1/sessions", get(state::get_sessions))
        .route("/api/v1/outcomes", get(outcomes::get))
        .route("/api/v1/events", get(events::get))
}
