//! Issues and their events.

use hob_domain::{
    AccountKind, Actor, EventId, IssueNumber, IssueStatus, LabelEvent, LabelEventKind, Login, Timestamp, latest,
};
use serde::Deserialize;

use crate::{
    Forge, ForgeError,
    TokenPermission::IssuesRead,
    pages::{Extent, newest, oldest, too_long},
    repository::encoded,
};

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

/// What was read of a list of issues.
#[derive(Debug, Default)]
pub struct OpenIssues {
    /// The issues, in the list's order.
    pub issues: Vec<Issue>,
    /// Those that cannot be read, and why.
    pub unreadable: Vec<(IssueNumber, ForgeError)>,
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

/// A repository's issues.
#[derive(Debug, Clone, Copy)]
pub struct Issues<'a> {
    pub(super) forge: &'a Forge,
}

impl Issues<'_> {
    /// Open issues with a label, the oldest first; pull requests are left out. Of more than are read, these are the
    /// oldest: whoever may open issues with the label must not be able to stop the work on those before. One that cannot
    /// be read does not hide the others.
    ///
    /// # Errors
    /// [`ForgeError::NoRepository`] when the repository is not there.
    pub async fn open_with(self, label: &str) -> Result<OpenIssues, ForgeError> {
        let query = format!("/issues?state=open&labels={}&sort=created&direction=asc&per_page=100", encoded(label));
        let purpose = IssuesRead.to("list the issues");
        let (connection, path) = (self.forge.connection(), self.forge.path(&query));
        let (entries, extent) = match oldest::<IssueWire>(connection, &path, purpose).await {
            Ok(found) => (found.entries.into_iter().map(Ok).collect(), found.extent),
            // An entry is none of an issue, or the whole answer is none of a list: then this fails too.
            Err(ForgeError::Unreadable { .. }) => {
                let found = oldest::<serde_json::Value>(connection, &path, purpose).await?;
                (found.entries.into_iter().map(readable).collect::<Vec<_>>(), found.extent)
            }
            Err(error) => return Err(self.forge.of_repository(error).await),
        };
        if extent == Extent::Part {
            let (repository, listed) = (&self.forge.repo, entries.len());
            tracing::warn!(
                %repository, listed,
                "{repository} has more than {listed} open issues with the label `{label}`: the newer ones wait until \
                 some of the oldest {listed} are closed or lose the label"
            );
        }
        let mut found = OpenIssues::default();
        for entry in entries {
            match entry {
                Ok(wire) => found.issues.extend(wire.into_issue()),
                Err(unreadable) => found.unreadable.extend(unreadable),
            }
        }
        Ok(found)
    }

    /// One issue; none where it was deleted or transferred, or is a pull request. An issue that seems to be gone is
    /// asked for once more: reads can be stale.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn get(self, number: IssueNumber) -> Result<Option<Issue>, ForgeError> {
        match self.read(number).await? {
            Some(issue) => Ok(Some(issue)),
            None => self.read(number).await,
        }
    }

    async fn read(self, number: IssueNumber) -> Result<Option<Issue>, ForgeError> {
        match self
            .forge
            .get::<IssueWire>(
                &self.forge.path(&format!("/issues/{number}")),
                IssuesRead.to(&format!("read issue {number}")),
            )
            .await
        {
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
    pub async fn blockers(self, number: IssueNumber) -> Result<Vec<IssueNumber>, ForgeError> {
        let path = self.forge.path(&format!("/issues/{number}/dependencies/blocked_by?per_page=100"));
        let purpose = IssuesRead.to("read what blocks the issue");
        let found: Vec<BlockerWire> = self.forge.get_all(&path, purpose, "remove dependencies of the issue").await?;
        Ok(found.into_iter().filter(|blocker| blocker.state == "open").map(|blocker| blocker.number).collect())
    }

    /// The latest event that put a label on the issue or took it off, by its id; none where there is none.
    ///
    /// # Errors
    /// [`ForgeError::TooLong`] when it is not among the newest events that are read: an older one proves nothing.
    pub async fn latest_label_event(
        self,
        number: IssueNumber,
        kind: LabelEventKind,
        label: &str,
    ) -> Result<Option<LabelEvent>, ForgeError> {
        let path = self.forge.path(&format!("/issues/{number}/events?per_page=100"));
        let purpose = IssuesRead.to("read the issue's events");
        let newest = newest::<serde_json::Value>(self.forge.connection(), &path, purpose).await?;
        // New kinds of events come without notice: one that cannot be read is none of ours.
        let readable = newest.entries.into_iter().filter_map(|event| serde_json::from_value::<EventWire>(event).ok());
        let events: Vec<LabelEvent> = readable.filter_map(label_event).collect();
        match (latest(&events, kind, label), newest.extent) {
            (None, Extent::Part) => Err(too_long(purpose, &anew(kind, label))),
            (found, Extent::Whole | Extent::Part) => Ok(found.cloned()),
        }
    }
}

/// An entry of a list of issues, else its number and why it is none; without a number nothing can be said of it.
fn readable(entry: serde_json::Value) -> Result<IssueWire, Option<(IssueNumber, ForgeError)>> {
    let (number, is_pull) = (entry["number"].as_u64().map(IssueNumber), !entry["pull_request"].is_null());
    serde_json::from_value(entry).map_err(|error| {
        let number = number.filter(|_| !is_pull)?;
        Some((number, ForgeError::Unreadable { what: format!("list issue {number}"), source: error.into() }))
    })
}

/// How a person makes the event that was not found.
fn anew(kind: LabelEventKind, label: &str) -> String {
    match kind {
        LabelEventKind::Labeled => format!("take the label `{label}` off the issue and put it on again"),
        LabelEventKind::Unlabeled => format!("put the label `{label}` on the issue and take it off again"),
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
