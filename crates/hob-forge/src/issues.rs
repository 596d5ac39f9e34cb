//! Issues and their events.

use hob_domain::{AccountKind, Actor, EventId, IssueNumber, IssueStatus, LabelEvent, LabelEventKind, Login, Timestamp};
use serde::Deserialize;

use crate::{Forge, ForgeError, repository::encoded};

/// An issue as the forge shows it.
#[derive(Debug, Clone)]
pub struct Issue {
    /// Its number.
    pub number: IssueNumber,
    /// Its title.
    pub title: String,
    /// Its body.
    pub body: String,
    /// Open or closed.
    pub status: IssueStatus,
    /// Its labels.
    pub labels: Vec<String>,
    /// Who opened it.
    pub author: Option<Login>,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Where people see it.
    pub html_url: String,
    /// Open issues that block it.
    pub blocked_by: u32,
    /// How many comments it has.
    pub comments: u64,
}

#[derive(Deserialize)]
struct IssueWire {
    number: IssueNumber,
    title: String,
    body: Option<String>,
    state: String,
    labels: Vec<LabelWire>,
    user: Option<UserWire>,
    created_at: Timestamp,
    updated_at: Timestamp,
    html_url: String,
    #[serde(default)]
    comments: u64,
    pull_request: Option<serde_json::Value>,
    /// Older servers have none.
    issue_dependencies_summary: Option<DependenciesWire>,
}

#[derive(Deserialize)]
struct BlockerWire {
    number: IssueNumber,
    state: String,
}

#[derive(Deserialize)]
struct DependenciesWire {
    #[serde(default)]
    blocked_by: u32,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum LabelWire {
    Named { name: String },
    Bare(String),
}

#[derive(Deserialize)]
pub(super) struct UserWire {
    login: Login,
    #[serde(rename = "type", default)]
    kind: String,
}

#[derive(Deserialize)]
struct EventWire {
    id: EventId,
    event: String,
    actor: Option<UserWire>,
    label: Option<EventLabelWire>,
    created_at: Timestamp,
}

#[derive(Deserialize)]
struct EventLabelWire {
    name: String,
}

impl From<UserWire> for Actor {
    fn from(user: UserWire) -> Self {
        // What is not said to be a person counts as a program.
        let kind = if user.kind == "User" { AccountKind::User } else { AccountKind::Bot };
        Self { login: user.login, kind }
    }
}

impl Issue {
    /// What is left of an issue that was deleted or transferred.
    pub fn gone(number: IssueNumber) -> Self {
        Self {
            number,
            title: String::new(),
            body: String::new(),
            status: IssueStatus::Gone,
            labels: Vec::new(),
            author: None,
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
            html_url: String::new(),
            blocked_by: 0,
            comments: 0,
        }
    }
}

impl IssueWire {
    /// The issue, unless it is a pull request.
    fn into_issue(self) -> Option<Issue> {
        let name = |label| match label {
            LabelWire::Named { name } | LabelWire::Bare(name) => name,
        };
        self.pull_request.is_none().then(|| Issue {
            number: self.number,
            title: self.title,
            body: self.body.unwrap_or_default(),
            status: if self.state == "open" { IssueStatus::Open } else { IssueStatus::Closed },
            labels: self.labels.into_iter().map(name).collect(),
            author: self.user.map(|user| user.login),
            created_at: self.created_at,
            updated_at: self.updated_at,
            html_url: self.html_url,
            comments: self.comments,
            blocked_by: self.issue_dependencies_summary.map_or(0, |summary| summary.blocked_by),
        })
    }
}

impl Forge {
    /// Open issues with a label, the oldest first; pull requests are left out.
    ///
    /// # Errors
    /// [`ForgeError::NoRepository`] when the repository is not there.
    pub async fn open_issues(&self, label: &str) -> Result<Vec<Issue>, ForgeError> {
        let query = format!("/issues?state=open&labels={}&sort=created&direction=asc&per_page=100", encoded(label));
        match self.get_all::<IssueWire>(&self.path(&query), "list the issues").await {
            Ok(found) => Ok(found.into_iter().filter_map(IssueWire::into_issue).collect()),
            Err(error) if error.is_not_found() => Err(ForgeError::NoRepository(self.repo.clone())),
            Err(error) => Err(error),
        }
    }

    /// One issue; none where it was deleted or transferred, or is a pull request. An issue that seems to be gone is
    /// asked for once more: reads can be stale.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn issue(&self, number: IssueNumber) -> Result<Option<Issue>, ForgeError> {
        match self.read_issue(number).await? {
            Some(issue) => Ok(Some(issue)),
            None => self.read_issue(number).await,
        }
    }

    async fn read_issue(&self, number: IssueNumber) -> Result<Option<Issue>, ForgeError> {
        match self.get::<IssueWire>(&self.path(&format!("/issues/{number}")), &format!("read issue {number}")).await {
            // A client that follows a transfer ends at another issue.
            Ok(found) => Ok(Some(found).filter(|found| found.number == number).and_then(IssueWire::into_issue)),
            Err(error) if error.is_not_found() || matches!(error, ForgeError::Moved { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The open issues of this repository that block an issue.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn blockers(&self, number: IssueNumber) -> Result<Vec<IssueNumber>, ForgeError> {
        let path = self.path(&format!("/issues/{number}/dependencies/blocked_by?per_page=100"));
        let found: Vec<BlockerWire> = self.get_all(&path, "read what blocks the issue").await?;
        Ok(found.into_iter().filter(|blocker| blocker.state == "open").map(|blocker| blocker.number).collect())
    }

    /// All events that put a label on the issue or took one off, over every page.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn label_events(&self, number: IssueNumber) -> Result<Vec<LabelEvent>, ForgeError> {
        let path = self.path(&format!("/issues/{number}/events?per_page=100"));
        let events: Vec<serde_json::Value> = self.get_all(&path, "read the issue's events").await?;
        // New kinds of events come without notice: one that cannot be read is none of ours.
        let readable = events.into_iter().filter_map(|event| serde_json::from_value::<EventWire>(event).ok());
        Ok(readable.filter_map(label_event).collect())
    }
}

fn label_event(wire: EventWire) -> Option<LabelEvent> {
    let kind = match wire.event.as_str() {
        "labeled" => LabelEventKind::Labeled,
        "unlabeled" => LabelEventKind::Unlabeled,
        _other => return None,
    };
    Some(LabelEvent {
        id: wire.id,
        actor: wire.actor.map(Actor::from),
        label: wire.label?.name,
        kind,
        at: wire.created_at,
    })
}
