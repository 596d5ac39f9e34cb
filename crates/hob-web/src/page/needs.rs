//! "Needs you": what waits for a person, the oldest first.

use axum::{
    extract::{Query, State},
    response::{IntoResponse, Redirect, Response},
};
use minijinja::context;

use crate::{
    api::{Filter, issues},
    page::{
        rows::part,
        templates::{View, render},
    },
    shared::Shared,
};

/// The kinds of what is asked, and their names.
const KINDS: [(&str, &str); 6] = [
    ("any", "All"),
    ("question", "Questions"),
    ("approval", "Approvals"),
    ("plan", "Plans"),
    ("trouble", "Trouble"),
    ("review", "Pull requests"),
];

pub(super) async fn get(State(shared): State<Shared>, Query(filter): Query<Filter>) -> Response {
    let needs = filter.needs.clone().filter(|needs| KINDS.iter().any(|(kind, _)| kind == needs));
    let needs = needs.unwrap_or_else(|| "any".to_owned());
    let filter = Filter { needs: Some(needs.clone()), limit: Some(25), state: None, ..filter };
    let Some(found) = issues(&shared, &filter) else { return Redirect::to("/").into_response() };
    let list = part(&shared, found, &filter, "/");
    let kinds: Vec<_> = KINDS
        .iter()
        .map(|(kind, name)| context! { kind => *kind, name => *name, is_chosen => *kind == needs })
        .collect();
    let (repos, is_polled) = {
        let all = shared.known.repositories();
        let repos: Vec<String> = all.keys().map(ToString::to_string).collect();
        (repos, all.values().any(|known| known.polled_at.is_some()))
    };
    let shown = context! { list, kinds, repos, repo => filter.repo, is_polled };
    render(&shared, View::Needs, "needs.html", "Needs you", shown)
}
