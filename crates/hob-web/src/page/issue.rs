//! One issue: where it is, what it asks, what its checks show, what it cost, what happened lately.

use axum::{
    extract::{Path, Query, State},
    response::Response,
};
use hob_domain::IssueNumber;
use minijinja::{Value, context, value::Serde};

use crate::{
    api::{Before, one},
    page::{
        repo_of,
        rows::row,
        templates::{View, render},
        unknown,
    },
    shared::Shared,
};

/// The states of a life without trouble.
const STATES: [&str; 5] = ["ready", "assigned", "in-progress", "in-review", "done"];

pub(super) async fn get(
    State(shared): State<Shared>,
    Path((owner, name, issue)): Path<(String, String, u64)>,
    Query(before): Query<Before>,
) -> Response {
    let found = repo_of(&owner, &name).and_then(|repo| one(&shared, &repo, IssueNumber(issue), before.before));
    let Some(one) = found else { return unknown(&shared) };
    let row = row(&one.issue, shared.known.now());
    let state = one.issue.state.as_str();
    let place = STATES.iter().position(|known| *known == state);
    // A blocked issue is beside the line.
    let mut states: Vec<Value> = STATES
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let moved = one.moves.iter().rev().find(|step| step.state == *name);
            let time = moved.map(|step| step.at.format("%m-%d %H:%M UTC").to_string());
            context! { name => *name, time, is_now => Some(at) == place, is_past => place.is_some_and(|place| at < place) || place.is_none() && moved.is_some() }
        })
        .collect();
    if state == "blocked" {
        states.push(context! { name => "blocked", is_now => true });
    }
    let moves: Vec<Value> = one
        .moves
        .iter()
        .rev()
        .map(|step| context! { state => &*step.state, time => step.at.format("%Y-%m-%d %H:%M:%S UTC").to_string(), why => &*step.why })
        .collect();
    let record = one.record.as_ref().and_then(|record| serde_json::to_string_pretty(record).ok());
    let title = format!("{}#{}", one.issue.repo, one.issue.issue);
    let shown =
        context! { issue => row, states, moves, record, before => before.before, one => Value::from(Serde(&one)) };
    render(&shared, View::None, "issue.html", &title, shown)
}
