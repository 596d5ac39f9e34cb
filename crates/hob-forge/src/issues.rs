//! Issues and their events.

use hob_domain::{
    AccountKind, Actor, Assignment, ClosedAs, EventId, IssueNumber, IssueStatus, LabelEvent, LabelEventKind, Login,
    PullNumber, PullStatus, Timestamp, latest,
};
use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    Forge, ForgeError,
    TokenPermission::IssuesRead,
    pages::{Extent, Listed, newest, oldest, too_long},
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
    /// Its page's address.
    pub html_url: String,
    /// Its id in GraphQL; empty if the server does not say it.
    pub node: String,
    /// Its assignees.
    pub assignees: Vec<Login>,
    /// Open issues that block it.
    pub blocked_by: u32,
    /// How many comments it has.
    pub comments: u64,
    /// As what it was closed.
    pub closed_as: ClosedAs,
    /// Who closed it. `None` if it is open, or the account is gone.
    pub closed_by: Option<Login>,
}

/// A list of issues as it was read.
#[derive(Debug, Default)]
pub struct OpenIssues {
    /// The issues, in the list's order.
    pub issues: Vec<Issue>,
    /// The issues that could not be read, and why.
    pub unreadable: Vec<(IssueNumber, ForgeError)>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct IssueWire {
    number: IssueNumber,
    title: String,
    body: Option<String>,
    state: String,
    labels: Vec<LabelWire>,
    user: Option<UserWire>,
    /// A server may send null or omit them if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    assignees: Option<Vec<UserWire>>,
    created_at: Timestamp,
    updated_at: Timestamp,
    html_url: String,
    #[serde(default)]
    node_id: String,
    #[serde(default)]
    comments: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state_reason: Option<String>,
    /// Missing in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    closed_by: Option<UserWire>,
    pull_request: Option<PullPartWire>,
    /// Missing on older servers.
    issue_dependencies_summary: Option<DependenciesWire>,
}

/// The pull request part of an issue.
#[derive(Serialize, Deserialize)]
struct PullPartWire {
    /// The outer `Option` is `None` if the server omits the field, as older ones do.
    #[serde(default, deserialize_with = "said", skip_serializing_if = "Option::is_none")]
    merged_at: Option<Option<Timestamp>>,
}

/// A field that is present, with any value.
fn said<'de, D: Deserializer<'de>>(field: D) -> Result<Option<Option<Timestamp>>, D::Error> {
    Option::deserialize(field).map(Some)
}

#[derive(Serialize, Deserialize)]
struct BlockerWire {
    number: IssueNumber,
    state: String,
}

#[derive(Serialize, Deserialize)]
struct DependenciesWire {
    #[serde(default)]
    blocked_by: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum LabelWire {
    Named { name: String },
    Bare(String),
}

#[derive(Serialize, Deserialize)]
pub(super) struct UserWire {
    login: Login,
    #[serde(rename = "type", default)]
    kind: String,
}

#[derive(Serialize, Deserialize)]
struct EventWire {
    id: EventId,
    event: String,
    actor: Option<UserWire>,
    label: Option<EventLabelWire>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    assignee: Option<UserWire>,
    /// Who assigned; the actor of such an event may be the assignee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    assigner: Option<UserWire>,
    created_at: Timestamp,
}

#[derive(Serialize, Deserialize)]
struct EventLabelWire {
    name: String,
}

/// Completes "asked to …" for the list of an issue's events.
const EVENTS: &str = "read the issue's events";
/// The kind of event for a changed title.
const RENAMED: &str = "renamed";

/// The kind of event for a new assignee.
const ASSIGNED: &str = "assigned";

/// An event. `None` unless it is about a label, the title or a new assignee. GitHub adds kinds of events without notice, so one that
/// cannot be read is ignored.
#[derive(Serialize)]
#[serde(transparent)]
struct KeptEventWire(Option<EventWire>);

impl<'de> Deserialize<'de> for KeptEventWire {
    fn deserialize<D: Deserializer<'de>>(event: D) -> Result<Self, D::Error> {
        let event = serde_json::Value::deserialize(event)?;
        Ok(Self(
            serde_json::from_value(event).ok().filter(|event: &EventWire| {
                event.label.is_some() || [RENAMED, ASSIGNED].contains(&event.event.as_str())
            }),
        ))
    }
}

impl From<UserWire> for Actor {
    fn from(user: UserWire) -> Self {
        // An account that is not said to be a person counts as a program.
        let kind = if user.kind == "User" { AccountKind::User } else { AccountKind::Bot };
        Self { login: user.login, kind }
    }
}

impl Issue {
    /// The remains of an issue that was deleted or transferred.
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
            node: String::new(),
            assignees: Vec::new(),
            blocked_by: 0,
            comments: 0,
            closed_as: ClosedAs::Completed,
            closed_by: None,
        }
    }
}

impl IssueWire {
    /// The issue, unless it is a pull request.
    pub(super) fn into_issue(self) -> Option<Issue> {
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
            node: self.node_id,
            comments: self.comments,
            closed_as: match self.state_reason.as_deref() {
                Some("not_planned") => ClosedAs::NotPlanned,
                Some("duplicate") => ClosedAs::Duplicate,
                Some(_) | None => ClosedAs::Completed,
            },
            closed_by: self.closed_by.map(|user| user.login),
            assignees: self.assignees.into_iter().flatten().map(|user| user.login).collect(),
            blocked_by: self.issue_dependencies_summary.map_or(0, |summary| summary.blocked_by),
        })
    }
}

/// What a pull request's issue says about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PullFate {
    /// Its status, and when it last changed.
    Known(PullStatus, Timestamp),
    /// The server does not say which of the two.
    ClosedOrMerged(Timestamp),
    /// There is no such pull request.
    Gone,
}

/// A repository's issues.
#[derive(Debug, Clone, Copy)]
pub struct Issues<'a> {
    pub(super) forge: &'a Forge,
}

impl Issues<'_> {
    /// Open issues with a label, oldest first, without pull requests. If there are more than are read, the oldest are
    /// returned, so that people who may open labelled issues cannot stop the work on earlier ones. An unreadable issue
    /// does not hide the others.
    ///
    /// # Errors
    /// [`ForgeError::NoRepository`] if the repository does not exist.
    pub async fn open_with(self, label: &str) -> Result<OpenIssues, ForgeError> {
        let query = format!("/issues?state=open&labels={}&sort=created&direction=asc&per_page=100", encoded(label));
        let purpose = IssuesRead.to("list the issues");
        let (connection, path) = (self.forge.connection(), self.forge.path(&query));
        let (entries, extent) = match oldest::<IssueWire>(connection, &path, purpose).await {
            Ok(found) => (found.entries.into_iter().map(Ok).collect(), found.extent),
            // Either an entry is not an issue, or the whole answer is not a list; then this fails, too.
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

    /// One issue. `None` if it was deleted or transferred, or is a pull request. An issue that seems to be gone is read
    /// once more, because reads can be stale.
    ///
    /// # Errors
    /// [`ForgeError`] of the read; [`ForgeError::NoRepository`] if the repository seems to be gone, too.
    pub async fn get(self, number: IssueNumber) -> Result<Option<Issue>, ForgeError> {
        if let Some(issue) = self.read(number).await? {
            return Ok(Some(issue));
        }
        let again = self.read(number).await?;
        if again.is_none() {
            // During an outage of the forge everything may seem to be gone, including the repository.
            self.forge.repository().details().await?;
        }
        Ok(again)
    }

    async fn read(self, number: IssueNumber) -> Result<Option<Issue>, ForgeError> {
        Ok(self.wire(number).await?.and_then(IssueWire::into_issue))
    }

    async fn wire(self, number: IssueNumber) -> Result<Option<IssueWire>, ForgeError> {
        match self
            .forge
            .get::<IssueWire>(
                &self.forge.path(&format!("/issues/{number}")),
                IssuesRead.to(&format!("read issue {number}")),
            )
            .await
        {
            // A client that follows a transfer arrives at another issue.
            Ok(found) => Ok(Some(found).filter(|found| found.number == number)),
            Err(error) if error.is_not_found() || matches!(error, ForgeError::Moved { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The fate of a pull request, as its own issue says. The answer about the pull request itself embeds the
    /// repository, so it changes with every push and is never a free 304.
    pub(super) async fn pull_fate(self, number: PullNumber) -> Result<PullFate, ForgeError> {
        let Some(wire) = self.wire(IssueNumber(number.0)).await? else { return Ok(PullFate::Gone) };
        let at = wire.updated_at;
        Ok(match (wire.state.as_str(), wire.pull_request.map(|part| part.merged_at)) {
            (_, None) => PullFate::Gone,
            (_, Some(Some(Some(_)))) => PullFate::Known(PullStatus::Merged, at),
            ("open", Some(_)) => PullFate::Known(PullStatus::Open, at),
            (_, Some(Some(None))) => PullFate::Known(PullStatus::Closed, at),
            (_, Some(None)) => PullFate::ClosedOrMerged(at),
        })
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

    /// The accounts that changed the title at `since` or later.
    pub(super) async fn renamers_since(
        self,
        number: IssueNumber,
        since: Timestamp,
    ) -> Result<Vec<Option<Actor>>, ForgeError> {
        let renames = self.events(number).await?.entries.into_iter().filter_map(|event| event.0);
        let renames = renames.filter(|event| event.event == RENAMED && event.created_at >= since);
        Ok(renames.map(|event| event.actor.map(Actor::from)).collect())
    }

    /// How each of these accounts became an assignee of the issue.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn assignments(self, number: IssueNumber, assignees: &[Login]) -> Result<Vec<Assignment>, ForgeError> {
        let mut made: Vec<_> =
            assignees.iter().map(|login| Assignment { assignee: login.clone(), made: None }).collect();
        for event in self.events(number).await?.entries.into_iter().filter_map(|event| event.0) {
            let (Some(assignee), ASSIGNED) = (&event.assignee, event.event.as_str()) else { continue };
            if let Some(known) = made.iter_mut().find(|known| known.assignee.is(&assignee.login))
                && known.made.as_ref().is_none_or(|(_, at)| *at <= event.created_at)
            {
                known.made = event.assigner.or(event.actor).map(|by| (by.into(), event.created_at));
            }
        }
        Ok(made)
    }

    /// The newest events.
    async fn events(self, number: IssueNumber) -> Result<Listed<KeptEventWire>, ForgeError> {
        let path = self.forge.path(&format!("/issues/{number}/events?per_page=100"));
        newest(self.forge.connection(), &path, IssuesRead.to(EVENTS)).await
    }

    /// The latest event that added or removed the label, by its id, if it is of this kind. `None` if there is none, or
    /// if the latest is of the other kind: events may lag behind the labels (`docs/design/github.md`, `event.lag`).
    ///
    /// # Errors
    /// [`ForgeError::TooLong`] if it is not among the newest events that are read; an older one proves nothing.
    pub async fn latest_label_event(
        self,
        number: IssueNumber,
        kind: LabelEventKind,
        label: &str,
    ) -> Result<Option<LabelEvent>, ForgeError> {
        let newest = self.events(number).await?;
        let events: Vec<LabelEvent> =
            newest.entries.into_iter().filter_map(|event| event.0).filter_map(label_event).collect();
        let found = latest(&events, label);
        match (found.filter(|event| event.kind == kind), newest.extent) {
            (None, Extent::Part) if found.is_none() => Err(too_long(IssuesRead.to(EVENTS), &anew(kind, label))),
            (found, Extent::Whole | Extent::Part) => Ok(found.cloned()),
        }
    }
}

/// An entry of a list of issues; or its number and why it is unreadable. Without a number, nothing can be said about
/// it.
fn readable(entry: serde_json::Value) -> Result<IssueWire, Option<(IssueNumber, ForgeError)>> {
    let (number, is_pull) = (entry["number"].as_u64().map(IssueNumber), !entry["pull_request"].is_null());
    serde_json::from_value(entry).map_err(|error| {
        let number = number.filter(|_| !is_pull)?;
        Some((number, ForgeError::Unreadable { what: format!("list issue {number}"), source: error.into() }))
    })
}

/// How a person creates the event that was not found.
fn anew(kind: LabelEventKind, label: &str) -> String {
    match kind {
        LabelEventKind::Labeled => format!("remove the label `{label}` from the issue and add it again"),
        LabelEventKind::Unlabeled => format!("add the label `{label}` to the issue and remove it again"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_of_an_answer_is_what_was_read_of_it() {
        let issue = |pull: &str| {
            format!(
                r#"{{"number":7,"title":"t","body":null,"state":"closed","labels":["a",{{"name":"b","color":"c"}}],
                "user":{{"login":"ann","type":"User","url":"u"}},"created_at":"2026-01-01T00:00:00Z",
                "updated_at":"2026-01-02T00:00:00Z","html_url":"h","reactions":{{"total_count":0}}{pull}}}"#
            )
        };
        for (pull, merged_at) in [
            ("", None),
            (r#","pull_request":{"url":"u"}"#, Some(None)),
            (r#","pull_request":{"url":"u","merged_at":null}"#, Some(Some(None))),
            (r#","pull_request":{"merged_at":"2026-01-03T00:00:00Z"}"#, Some(Some(Some("2026-01-03T00:00:00Z")))),
        ] {
            let read: IssueWire = serde_json::from_str(&issue(pull)).unwrap();
            let kept = serde_json::to_string(&read).unwrap();
            assert!(!kept.contains("reactions") && !kept.contains("url\":\"u"), "{kept}");
            let again: IssueWire = serde_json::from_str(&kept).unwrap();
            let found = again.pull_request.as_ref().map(|part| part.merged_at);
            let expected = merged_at.map(|part: Option<Option<&str>>| part.map(|at| at.map(|at| at.parse().unwrap())));
            assert_eq!(found, expected, "{kept}");
            assert_eq!(serde_json::to_string(&again).unwrap(), kept);
        }
    }

    /// Row A1.
    #[test]
    fn assignees_are_kept_and_a_server_may_leave_them_out() {
        let issue = |assignees: &str| {
            format!(
                r#"{{"number":7,"title":"t","body":null,"state":"open","labels":[],"user":null,{assignees}
                "created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-02T00:00:00Z","html_url":"h"}}"#
            )
        };
        for (assignees, logins) in [
            ("", vec![]),
            (r#""assignees":null,"#, vec![]),
            (r#""assignees":[],"#, vec![]),
            (r#""assignees":[{"login":"ann","url":"u"},{"login":"wil","type":"User"}],"#, vec!["ann", "wil"]),
        ] {
            let read: IssueWire = serde_json::from_str(&issue(assignees)).unwrap();
            let kept = serde_json::to_string(&read).unwrap();
            let again: IssueWire = serde_json::from_str(&kept).unwrap();
            let logins: Vec<Login> = logins.into_iter().map(Login::from).collect();
            for issue in [read, again] {
                assert_eq!(issue.into_issue().unwrap().assignees, logins, "{kept}");
            }
        }
    }

    #[test]
    fn of_events_those_about_labels_assignees_and_the_title_are_kept() {
        let events = r#"[{"id":1,"event":"labeled","actor":null,"label":{"name":"code"},"created_at":"2026-01-01T00:00:00Z"},
            {"id":2,"event":"renamed","actor":null,"created_at":"2026-01-01T00:00:00Z"},
            {"id":3,"event":"assigned","actor":null,"assignee":{"login":"wil"},"created_at":"2026-01-01T00:00:00Z"},
            {"id":4,"event":"unassigned","actor":null,"assignee":{"login":"wil"},"created_at":"2026-01-01T00:00:00Z"},{"event":"of next year"},null]"#;
        let read: Vec<KeptEventWire> = serde_json::from_str(events).unwrap();
        let kept = serde_json::to_string(&read).unwrap();
        assert!(kept.ends_with(",null,null,null]"), "{kept}");
        let again: Vec<KeptEventWire> = serde_json::from_str(&kept).unwrap();
        let ids: Vec<_> = again.iter().map(|event| event.0.as_ref().map(|event| event.id)).collect();
        assert_eq!(ids, [Some(EventId(1)), Some(EventId(2)), Some(EventId(3)), None, None, None]);
    }
}
