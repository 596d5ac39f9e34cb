//! "Now": what is worked on, and what waits for its turn.

use axum::{
    extract::{Query, State},
    response::{IntoResponse, Redirect, Response},
};
use hob_domain::{IssueNumber, RepoName};
use hob_text::terminal;
use minijinja::{Value, context};

use crate::{
    api::{Filter, IssueView, issues, state},
    page::{
        rows::{part, row},
        templates::{View, render},
    },
    shared::Shared,
};

/// Lines of an issue.
const LINES: usize = 4;

pub(super) async fn get(State(shared): State<Shared>, Query(filter): Query<Filter>) -> Response {
    let now = shared.known.now();
    let mut running: Vec<IssueView> = Vec::new();
    for state in ["assigned", "in-progress"] {
        let wanted =
            Filter { repo: filter.repo.clone(), state: Some(state.to_owned()), limit: Some(100), ..Filter::default() };
        running.extend(issues(&shared, &wanted).map(|part| part.issues).unwrap_or_default());
    }
    let running: Vec<Value> =
        running.iter().map(|issue| context! { lines => lines(&shared, issue), ..row(issue, now) }).collect();
    let waiting = Filter { state: Some("ready".to_owned()), limit: Some(50), needs: None, ..filter };
    let Some(found) = issues(&shared, &waiting) else { return Redirect::to("/now").into_response() };
    let waiting = part(&shared, found, &Filter { state: None, ..waiting.clone() }, "/now");
    let process = Value::from(minijinja::value::Serde(state(&shared)));
    render(&shared, View::Now, "now.html", "Now", context! { running, waiting, process })
}

/// The last lines of an issue, the oldest first.
fn lines(shared: &Shared, issue: &IssueView) -> Vec<String> {
    let Ok(repo) = issue.repo.parse::<RepoName>() else { return Vec::new() };
    let log = shared.known.log();
    let mut lines: Vec<String> = log
        .of(&repo, IssueNumber(issue.issue))
        .take(LINES)
        .map(|entry| terminal(entry.read().text("message")))
        .collect();
    lines.reverse();
    lines
}
