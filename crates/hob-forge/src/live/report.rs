//! The results of the live check: a line for each assumption, by its id in `docs/design/github.md`.

use std::collections::BTreeMap;

use serde::Serialize;

/// The ids that the live check tests, in the order of the report.
pub const LIVE_IDS: [&str; 44] = [
    "repo.details",
    "repo.permissions",
    "repo.etag",
    "user.own",
    "branch.tip",
    "check.list",
    "check.forbidden",
    "check.same",
    "status.list",
    "live.tree",
    "commit.create",
    "commit.signed",
    "fresh.target",
    "ref.space",
    "fresh.ref",
    "fresh.commit",
    "ref.exists",
    "ref.move",
    "ref.not_forwards",
    "ref.no_object",
    "ref.delete",
    "label.create",
    "issue.open",
    "fresh.issue",
    "label.put",
    "fresh.event",
    "label.take",
    "comment.create",
    "fresh.comment",
    "comment.edit",
    "comment.times",
    "comment.edited",
    "issue.edit",
    "graphql.editors",
    "graphql.texts",
    "graphql.field",
    "graphql.answers",
    "pull.empty",
    "fresh.push",
    "pull.open",
    "fresh.pull",
    "pull.edit",
    "issue.creator",
    "issue.by_app",
];

/// The result for an assumption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// As assumed, with what was seen if that says more.
    Ok(Option<String>),
    /// Not as assumed: what was seen.
    Differs(String),
    /// Not tested, and why.
    NotTried(String),
}

impl Outcome {
    /// As assumed, and what was seen.
    pub(super) fn ok(seen: impl Into<String>) -> Self {
        Self::Ok(Some(seen.into()))
    }

    /// Whether what was seen differs from what is assumed.
    pub fn differs(&self) -> bool {
        matches!(self, Self::Differs(_))
    }

    /// Its word in the report.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Ok(_) => "ok",
            Self::Differs(_) => "differs",
            Self::NotTried(_) => "not tried",
        }
    }

    /// What was seen, or why nothing was.
    pub fn says(&self) -> Option<&str> {
        match self {
            Self::Ok(says) => says.as_deref(),
            Self::Differs(says) | Self::NotTried(says) => Some(says),
        }
    }

    fn map(self, change: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Ok(says) => Self::Ok(says.map(change)),
            Self::Differs(says) => Self::Differs(change(says)),
            Self::NotTried(says) => Self::NotTried(change(says)),
        }
    }
}

/// A line of the report.
#[derive(Debug, Clone, Serialize)]
pub struct LiveLine {
    /// The id of the assumption.
    pub id: &'static str,
    /// `ok`, `differs` or `not tried`.
    pub outcome: &'static str,
    /// What was seen, or why nothing was. `None` if there is nothing more to say.
    pub says: Option<String>,
}

/// The results of the live check, without names, tokens and addresses.
#[derive(Debug, Clone, Serialize)]
pub struct LiveReport {
    /// A line for each of [`LIVE_IDS`].
    pub lines: Vec<LiveLine>,
    /// The kind of the token.
    pub token: &'static str,
    /// The kind of the server, and its version if it has one.
    pub server: String,
    /// What could not be closed or deleted, and why.
    pub left: Vec<String>,
    /// Whether it was asked to stop early.
    pub interrupted: bool,
}

impl LiveReport {
    /// How many lines differ.
    pub fn differing(&self) -> usize {
        self.lines.iter().filter(|line| line.outcome == "differs").count()
    }
}

/// The results so far.
#[derive(Debug, Default)]
pub(super) struct Found(BTreeMap<&'static str, Outcome>);

impl Found {
    /// Records the result for an assumption. The first result is kept.
    pub(super) fn note(&mut self, id: &'static str, outcome: Outcome) {
        debug_assert!(LIVE_IDS.contains(&id), "{id} has no line");
        self.0.entry(id).or_insert(outcome);
    }

    /// A line for each id; `hide` removes the names.
    pub(super) fn lines(mut self, otherwise: &str, hide: impl Fn(&str) -> String) -> Vec<LiveLine> {
        let line = |id| {
            let outcome = self.0.remove(id).unwrap_or_else(|| Outcome::NotTried(otherwise.to_owned()));
            let outcome = outcome.map(|says| hide(&says));
            LiveLine { id, outcome: outcome.word(), says: outcome.says().map(str::to_owned) }
        };
        LIVE_IDS.into_iter().map(line).collect()
    }
}
