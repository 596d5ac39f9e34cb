//! An issue, which a pull request is too, with its comments and events.

use serde::{Deserialize, Serialize};

use super::{Edited, Event, EventKind, History, IssueState, Original, Pull, Reaction, StateReason};
use crate::names::{Login, Timestamp};

/// A comment on an issue.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct Comment {
    pub(in super::super) id: u64,
    pub(in super::super) author: Login,
    pub(in super::super) body: String,
    pub(in super::super) created_at: Timestamp,
    pub(in super::super) updated_at: Timestamp,
    pub(in super::super) reactions: Vec<Reaction>,
    #[serde(default)]
    pub(in super::super) history: History,
    /// Why it is hidden, in GraphQL's words; `None` if it is not.
    #[serde(default)]
    pub(in super::super) minimized: Option<String>,
}

impl Comment {
    /// Changes its text, and keeps the old one.
    pub(in super::super) fn edit(&mut self, ids: impl Fn() -> u64, editor: &Login, now: Timestamp, body: String) {
        let original = Original { author: &self.author, at: self.created_at, text: &self.body };
        if body != self.body {
            self.history.note(ids, original, Edited { editor, at: now, text: &body });
        }
        self.body = body;
        self.updated_at = now;
    }
}

/// An issue, or a pull request's half that is one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct Issue {
    pub(in super::super) id: u64,
    pub(in super::super) number: u64,
    pub(in super::super) title: String,
    pub(in super::super) body: Option<String>,
    pub(in super::super) author: Login,
    pub(in super::super) state: IssueState,
    pub(in super::super) reason: Option<StateReason>,
    /// Ids of labels, in the order in which they were added.
    pub(in super::super) labels: Vec<u64>,
    pub(in super::super) assignees: Vec<Login>,
    pub(in super::super) lock: Option<Lock>,
    pub(in super::super) created_at: Timestamp,
    pub(in super::super) updated_at: Timestamp,
    pub(in super::super) closed: Option<(Timestamp, Login)>,
    pub(in super::super) comments: Vec<Comment>,
    pub(in super::super) events: Vec<Event>,
    pub(in super::super) reactions: Vec<Reaction>,
    #[serde(default)]
    pub(in super::super) history: History,
    /// Numbers of the issues that this one waits for.
    pub(in super::super) blocked_by: Vec<u64>,
    /// Branches that people linked to it.
    #[serde(default)]
    pub(in super::super) linked: Vec<LinkedBranch>,
    /// Numbers of its sub-issues.
    pub(in super::super) children: Vec<u64>,
    pub(in super::super) pull: Option<Pull>,
}

/// A branch that is linked to an issue.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct LinkedBranch {
    pub(in super::super) id: u64,
    /// Its name without `refs/heads/`.
    pub(in super::super) branch: String,
}

/// A locked conversation, and why it is locked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct Lock {
    pub(in super::super) reason: Option<String>,
}

impl Issue {
    /// Notes an event, and that the issue changed with it.
    pub(in super::super) fn record(&mut self, id: u64, actor: &Login, at: Timestamp, kind: EventKind) {
        self.updated_at = at;
        self.events.push(Event { id, actor: actor.clone(), at, kind });
    }

    /// Changes its text, and keeps the old one.
    pub(in super::super) fn edit(
        &mut self,
        ids: impl Fn() -> u64,
        editor: &Login,
        now: Timestamp,
        body: Option<String>,
    ) {
        let former = self.body.as_deref().unwrap_or_default();
        let original = Original { author: &self.author, at: self.created_at, text: former };
        let text = body.as_deref().unwrap_or_default();
        if text != former {
            self.history.note(ids, original, Edited { editor, at: now, text });
        }
        self.body = body;
        self.updated_at = now;
    }

    /// Closes it; closing a closed one changes nothing.
    pub(in super::super) fn close(&mut self, id: u64, actor: &Login, at: Timestamp, why: Closing) {
        if self.state == IssueState::Closed {
            return;
        }
        self.state = IssueState::Closed;
        self.reason = Some(why.reason).filter(|_| self.pull.is_none());
        self.closed = Some((at, actor.clone()));
        self.record(id, actor, at, EventKind::Closed { commit: why.commit, reason: self.reason });
    }

    /// Reopens it; reopening an open one changes nothing.
    pub(in super::super) fn reopen(&mut self, id: u64, actor: &Login, at: Timestamp) {
        if self.state == IssueState::Open {
            return;
        }
        self.state = IssueState::Open;
        self.reason = Some(StateReason::Reopened).filter(|_| self.pull.is_none());
        self.closed = None;
        self.record(id, actor, at, EventKind::Reopened);
    }
}

/// Why an issue closes.
#[derive(Debug, Clone)]
pub(in super::super) struct Closing {
    pub(in super::super) reason: StateReason,
    /// The commit that closed it, if one did.
    pub(in super::super) commit: Option<String>,
}

impl Closing {
    /// Closed by hand, as completed.
    pub(in super::super) fn completed() -> Self {
        Self { reason: StateReason::Completed, commit: None }
    }
}
