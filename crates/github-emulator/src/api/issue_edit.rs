//! Issues: update, lock and unlock.

use super::{
    super::{
        call::{Answer, Call, Reply},
        fields::Fields,
        refusal::Refusal,
        route::{Route, delete, patch, put},
        state::{Closing, EventKind, Issue, Lock, StateReason},
        users::Role,
        wire,
    },
    assignees::{assign, put_assignees, sent},
    issue_labels::put_labels,
    issues::{BODY_MAX, TITLE_MAX, cross_reference},
    labels::ids_of,
};
use crate::names::Login;

pub(super) const ROUTES: &[Route] = &[
    patch("/repos/{owner}/{repo}/issues/{number}", update).body(&[
        "title",
        "body",
        "state",
        "state_reason",
        "labels",
        "assignees",
        "assignee",
    ]),
    put("/repos/{owner}/{repo}/issues/{number}/lock", lock).body(&["lock_reason"]),
    delete("/repos/{owner}/{repo}/issues/{number}/lock", unlock),
];

/// An update's changes to the issue's own text and state.
#[derive(Debug, Default)]
pub(super) struct Edit {
    title: Option<String>,
    body: Option<Option<String>>,
    state: Option<Turn>,
}

/// The change of its state.
#[derive(Debug)]
enum Turn {
    Open,
    Closed(Closing),
}

impl Edit {
    /// Reads `title`, `body`, `state` and `state_reason`.
    pub(super) fn read(fields: &Fields) -> Result<Self, Refusal> {
        let title = fields.has("title").then(|| fields.required("title")).transpose()?;
        fields.limited("title", TITLE_MAX)?;
        let body = fields.limited("body", BODY_MAX)?;
        let reason = fields.text("state_reason")?;
        let reason = reason.map(|name| StateReason::named(&name).ok_or_else(|| fields.invalid("state_reason")));
        let reason = reason.transpose()?.filter(|reason| *reason != StateReason::Reopened);
        let state = match fields.text("state")?.as_deref() {
            None => None,
            Some("open") => Some(Turn::Open),
            Some("closed") => {
                Some(Turn::Closed(Closing { reason: reason.unwrap_or(StateReason::Completed), commit: None }))
            }
            Some(_) => return Err(fields.invalid("state")),
        };
        Ok(Self { title, body: fields.has("body").then_some(body), state })
    }

    /// Applies it, with an event for each visible change.
    pub(super) fn apply(self, call: &Call, issue: &mut Issue, actor: &Login) {
        let id = || call.forge.next_id();
        if let Some(to) = self.title.filter(|to| *to != issue.title) {
            let from = std::mem::replace(&mut issue.title, to.clone());
            issue.record(id(), actor, call.now, EventKind::Renamed { from, to });
        }
        if let Some(body) = self.body.filter(|body| *body != issue.body) {
            issue.edit(id, actor, call.now, body);
        }
        match self.state {
            Some(Turn::Open) => issue.reopen(id(), actor, call.now),
            Some(Turn::Closed(why)) => issue.close(id(), actor, call.now, why),
            None => {}
        }
    }
}

fn update(call: &Call) -> Answer {
    let fields = call.fields("Issue")?;
    let actor = call.actor()?;
    let edit = Edit::read(&fields)?;
    let (labels, assignees) = (fields.texts("labels")?, sent(&fields)?);
    let number = call.number("number")?;
    let mut state = call.state();
    let own = call.issue(call.repository(&state, Role::Read)?)?.author.is(actor);
    let need = if own && labels.is_none() && assignees.is_none() { Role::Read } else { Role::Triage };
    let assignees = assignees.map(|logins| assign(&state, call, &logins)).transpose()?;
    {
        let repo = call.repository_mut(&mut state, need)?;
        if let Some(names) = labels {
            let ids = ids_of(call, repo, &names)?;
            put_labels(call, repo, number, &ids)?;
        }
        let issue = call.issue_mut(repo)?;
        if let Some(logins) = assignees {
            put_assignees(call, issue, actor, logins);
        }
        edit.apply(call, issue, actor);
        if fields.has("body") {
            cross_reference(call, repo, actor, number);
        }
    }
    let view = call.view(&state)?;
    Ok(Reply::ok(wire::issue(view, call.issue(view.repo)?)))
}

fn lock(call: &Call) -> Answer {
    let fields = call.fields("Issue")?;
    let reason = fields.text("lock_reason")?;
    let known = |reason: &String| matches!(reason.as_str(), "off-topic" | "too heated" | "resolved" | "spam");
    if reason.as_ref().is_some_and(|reason| !known(reason)) {
        return Err(fields.invalid("lock_reason"));
    }
    let (actor, mut state) = (call.actor()?, call.state());
    let issue = call.issue_mut(call.repository_mut(&mut state, Role::Write)?)?;
    if issue.lock.is_none() {
        issue.lock = Some(Lock { reason: reason.clone() });
        issue.record(call.forge.next_id(), actor, call.now, EventKind::Locked { reason });
    }
    Ok(Reply::empty())
}

fn unlock(call: &Call) -> Answer {
    let (actor, mut state) = (call.actor()?, call.state());
    let issue = call.issue_mut(call.repository_mut(&mut state, Role::Write)?)?;
    if issue.lock.take().is_some() {
        issue.record(call.forge.next_id(), actor, call.now, EventKind::Unlocked);
    }
    Ok(Reply::empty())
}
