//! Issues as the page's lists show them.

use std::fmt::Display;

use hob_domain::Timestamp;
use hob_words::age;
use minijinja::{Value, context, value::Serde};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{
    api::{Filter, IssueView, Part},
    shared::Shared,
};

/// What is written otherwise in the query of an address.
const QUERY: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/').remove(b',');

/// A part of a list, and the address of the next one.
pub(super) fn part(shared: &Shared, part: Part, filter: &Filter, address: &str) -> Value {
    let Part { issues, next, all } = part;
    let now = shared.known.now();
    let rows: Vec<Value> = issues.iter().map(|issue| row(issue, now)).collect();
    let next = next.map(|after| address_of(address, &Filter { after: Some(after), ..filter.clone() }));
    let first = filter.after.is_some().then(|| address_of(address, &Filter { after: None, ..filter.clone() }));
    context! { rows, next, first, all }
}

/// An issue, with what only the page shows.
pub(super) fn row(issue: &IssueView, now: Option<Timestamp>) -> Value {
    let waits = now.map(|now| age(now - issue.since)).unwrap_or_default();
    let minutes = issue.seconds / 60;
    let minutes_max = issue.seconds_max.map(|seconds| seconds / 60);
    let needs = issue.needs.map(|needs| match needs {
        "question" => "Question",
        "approval" => "Approval",
        "plan" => "Plan",
        "review" => "Pull request",
        _trouble => "Trouble",
    });
    let address = format!("/issues/{}/{}", issue.repo, issue.issue);
    let since = issue.since.to_rfc3339_opts(chrono::SecondsFormat::Secs, true);
    let pull_url =
        issue.pull_request.and_then(|pull| Some(format!("{}/pull/{pull}", issue.url.split("/issues/").next()?)));
    context! { ..context! { waits, minutes, minutes_max, needs, address, since, pull_url }, ..Value::from(Serde(issue)) }
}

/// The address of a list with this filter.
fn address_of(address: &str, filter: &Filter) -> String {
    let parts = [("repo", &filter.repo), ("state", &filter.state), ("needs", &filter.needs), ("after", &filter.after)];
    let mut text = String::new();
    for (name, value) in parts {
        let Some(value) = value.as_deref().filter(|value| !value.is_empty()) else { continue };
        text.push(if text.is_empty() { '?' } else { '&' });
        text.push_str(&format!("{name}={}", encoded(value)));
    }
    format!("{address}{text}")
}

/// A value in the query of an address.
pub(super) fn encoded(text: &str) -> impl Display {
    utf8_percent_encode(text, QUERY)
}
