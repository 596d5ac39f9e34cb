//! The events of an issue or repository, and the timeline, which also has comments and reviews.

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::super::{
    call::{Answer, Call, Reply},
    moods::Mood,
    page::paged,
    refusal::Refusal,
    route::{Route, get},
    state::{Comment, Event, EventKind, Issue, Review},
    users::Role,
    wire::{self, View},
};
use crate::names::Timestamp;

/// How long an event is new.
const EVENT_LAG: TimeDelta = TimeDelta::seconds(2);

pub(super) const ROUTES: &[Route] = &[
    get("/repos/{owner}/{repo}/issues/{number}/events", of_issue),
    get("/repos/{owner}/{repo}/issues/{number}/timeline", timeline),
    get("/repos/{owner}/{repo}/issues/events", of_repository),
    get("/repos/{owner}/{repo}/issues/events/{id}", show),
];

/// One entry of a timeline.
enum Entry<'s> {
    Event(&'s Event),
    Comment(&'s Comment),
    Review(&'s Review),
}

impl Entry<'_> {
    fn order(&self) -> (Timestamp, u64) {
        match self {
            Self::Event(event) => (event.at, event.id),
            Self::Comment(comment) => (comment.created_at, comment.id),
            Self::Review(review) => (review.at, review.id),
        }
    }
}

fn of_issue(call: &Call) -> Answer {
    let state = call.state();
    let issue = call.issue(call.repository(&state, Role::Read)?)?;
    let view = call.view(&state)?;
    let shown = arrived(call, issue).filter(|event| listed(event)).collect();
    Ok(paged(call, shown, |event| wire::event(view, issue, event)))
}

fn of_repository(call: &Call) -> Answer {
    let state = call.state();
    let repo = call.repository(&state, Role::Read)?;
    let view = call.view(&state)?;
    let mut all: Vec<(&Issue, &Event)> =
        repo.issues.values().flat_map(|i| i.events.iter().map(move |e| (i, e))).collect();
    all.retain(|(_, event)| listed(event));
    all.sort_by_key(|(_, event)| std::cmp::Reverse(event.id));
    Ok(paged(call, all, |(issue, event)| with_issue(view, issue, event)))
}

fn show(call: &Call) -> Answer {
    let state = call.state();
    let (repo, id) = (call.repository(&state, Role::Read)?, call.number("id")?);
    let mut all = repo.issues.values().flat_map(|issue| issue.events.iter().map(move |event| (issue, event)));
    let (issue, event) = all.find(|(_, event)| event.id == id && listed(event)).ok_or_else(Refusal::not_found)?;
    Ok(Reply::ok(with_issue(call.view(&state)?, issue, event)))
}

fn timeline(call: &Call) -> Answer {
    let state = call.state();
    let issue = call.issue(call.repository(&state, Role::Read)?)?;
    let view = call.view(&state)?;
    let reviews = issue.pull.iter().flat_map(|pull| &pull.reviews).map(Entry::Review);
    let mut entries: Vec<Entry<'_>> = arrived(call, issue).map(Entry::Event).chain(reviews).collect();
    entries.extend(issue.comments.iter().map(Entry::Comment));
    entries.sort_by_key(Entry::order);
    Ok(paged(call, entries, |entry| match entry {
        Entry::Event(event) => without(wire::event(view, issue, event), "assigner"),
        Entry::Comment(comment) => named(wire::comment(view, issue.number, comment), "commented"),
        Entry::Review(review) => without(named(wire::review(view, issue.number, review), "reviewed"), "actor"),
    }))
}

/// An entry without a field that only lists of events have.
fn without(mut shown: Value, field: &str) -> Value {
    if let Value::Object(fields) = &mut shown {
        fields.remove(field);
    }
    shown
}

/// A comment or review as a timeline has it: with the event's name, and its author as the actor.
fn named(mut shown: Value, event: &str) -> Value {
    if let Value::Object(fields) = &mut shown {
        fields.insert("event".to_owned(), json!(event));
        fields.insert("actor".to_owned(), fields.get("user").cloned().unwrap_or_default());
    }
    shown
}

fn with_issue(view: View<'_>, issue: &Issue, event: &Event) -> Value {
    let mut shown = wire::event(view, issue, event);
    if let Value::Object(fields) = &mut shown {
        fields.insert("issue".to_owned(), wire::issue(view, issue));
    }
    shown
}

/// The events of an issue that a read sees: those of some issues arrive late under that mood.
fn arrived<'s>(call: &Call, issue: &'s Issue) -> impl Iterator<Item = &'s Event> {
    let named = format!("{}/{}#{}", call.part("owner"), call.part("repo"), issue.number).to_ascii_lowercase();
    let lags = call.forge.temper.always_hits(Mood::EventLag, &named).is_some();
    let now = call.now;
    issue.events.iter().filter(move |event| !lags || now - event.at >= EVENT_LAG)
}

/// Whether it is in the lists of events too, and not in the timeline only.
fn listed(event: &Event) -> bool {
    !matches!(event.kind, EventKind::CrossReferenced { .. })
}
