//! The forge's own checks on a commit: check runs, which jobs are too, and commit statuses.

use std::{collections::BTreeSet, sync::PoisonError, time::Duration};

use hob_domain::{ForgeCheckState, Sha};
use serde::{Deserialize, Serialize};

use crate::{
    Forge, ForgeError,
    TokenPermission::{ChecksRead, StatusesRead},
    pages::{oldest, pages},
};

/// How long check runs that were hidden are not asked for: somebody may give the token the permission.
const HIDDEN_FOR: Duration = Duration::from_secs(3_600);

/// How a check of the forge stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadCheck {
    /// Its name.
    pub name: String,
    /// How it stands.
    pub state: ForgeCheckState,
    /// The check run's id; none: it is a commit status.
    pub run: Option<u64>,
    /// Whether it is a job of GitHub Actions, which has a log.
    pub is_job: bool,
    /// What it says of itself.
    pub says: String,
    /// How many lines of files it says something about.
    pub annotations: u64,
}

#[derive(Serialize, Deserialize)]
struct CheckRunsWire {
    check_runs: Vec<CheckRunWire>,
}

#[derive(Serialize, Deserialize)]
struct CheckRunWire {
    id: u64,
    name: String,
    status: String,
    conclusion: Option<String>,
    app: Option<AppWire>,
    output: Option<OutputWire>,
}

/// What a check run says of a line of a file.
#[derive(Serialize, Deserialize)]
struct AnnotationWire {
    #[serde(default)]
    path: String,
    start_line: Option<u64>,
    annotation_level: Option<String>,
    title: Option<String>,
    message: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct AppWire {
    slug: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct OutputWire {
    title: Option<String>,
    summary: Option<String>,
    text: Option<String>,
    #[serde(default)]
    annotations_count: u64,
}

#[derive(Serialize, Deserialize)]
struct StatusWire {
    context: String,
    state: String,
    description: Option<String>,
}

/// How a check run stands.
pub(super) fn run_state(status: &str, conclusion: Option<&str>) -> ForgeCheckState {
    match (status, conclusion) {
        ("completed", Some("failure" | "timed_out" | "startup_failure")) => ForgeCheckState::Failed,
        ("completed", Some("success" | "neutral" | "skipped")) => ForgeCheckState::Passed,
        // It waits for a person.
        ("completed", Some("action_required")) => ForgeCheckState::Pending,
        // Cancelled, stale, or new: nothing that work on the branch mends, and nothing that has passed.
        ("completed", _) => ForgeCheckState::Unknown,
        _queued_or_running => ForgeCheckState::Pending,
    }
}

/// How a commit status stands.
pub(super) fn status_state(state: &str) -> ForgeCheckState {
    match state {
        "failure" | "error" => ForgeCheckState::Failed,
        "pending" | "expected" => ForgeCheckState::Pending,
        "success" => ForgeCheckState::Passed,
        _new => ForgeCheckState::Unknown,
    }
}

impl HeadCheck {
    fn hidden(name: &str) -> Self {
        let (state, says) = (ForgeCheckState::Unknown, String::new());
        Self { name: name.to_owned(), state, run: None, is_job: false, says, annotations: 0 }
    }
}

impl From<CheckRunWire> for HeadCheck {
    fn from(wire: CheckRunWire) -> Self {
        let state = run_state(&wire.status, wire.conclusion.as_deref());
        let annotations = wire.output.as_ref().map_or(0, |output| output.annotations_count);
        let parts = wire.output.map(|output| [output.title, output.summary, output.text]);
        let says: Vec<String> = parts.into_iter().flatten().flatten().filter(|part| !part.trim().is_empty()).collect();
        Self {
            name: wire.name,
            state,
            run: Some(wire.id),
            is_job: wire.app.and_then(|app| app.slug).as_deref() == Some("github-actions"),
            says: says.join("\n\n"),
            annotations,
        }
    }
}

impl AnnotationWire {
    /// `src/a.rs:3: unused import: …`
    fn into_line(self) -> String {
        let line = self.start_line.map_or_else(String::new, |line| format!(":{line}"));
        let words = [self.title, self.message].into_iter().flatten().filter(|part| !part.trim().is_empty());
        format!("{}{line}: {}", self.path, words.collect::<Vec<_>>().join(": "))
    }
}

impl From<StatusWire> for HeadCheck {
    fn from(wire: StatusWire) -> Self {
        let state = status_state(&wire.state);
        let says = wire.description.unwrap_or_default();
        Self { name: wire.context, state, run: None, is_job: false, says, annotations: 0 }
    }
}

/// The forge's checks on one commit.
#[derive(Debug, Clone, Copy)]
pub struct HeadChecks<'a> {
    pub(super) forge: &'a Forge,
    pub(super) sha: &'a Sha,
}

impl HeadChecks<'_> {
    /// The latest of each check run and commit status. Of those that the token may not see, one entry says that nobody
    /// knows how they stand.
    ///
    /// # Errors
    /// [`ForgeError`] of a read.
    pub async fn all(self) -> Result<Vec<HeadCheck>, ForgeError> {
        let path = |what: &str| self.forge.path(&format!("/commits/{}/{what}?per_page=100", self.sha));
        let purpose = ChecksRead.to("read the checks of a commit");
        let advice = "fewer checks on one commit";
        let known = || self.forge.repository.lock().unwrap_or_else(PoisonError::into_inner);
        let hidden = || vec![HeadCheck::hidden("check runs hidden from the token")];
        // A refusal is never answered 304, so it is not asked for in each poll.
        let is_hidden = known().runs_hidden_at.is_some_and(|at| self.forge.now() < at + HIDDEN_FOR);
        let runs: Vec<HeadCheck> = if is_hidden {
            hidden()
        } else {
            match pages::<CheckRunsWire>(self.forge.connection(), &path("check-runs"), purpose, advice).await {
                Ok(runs) => runs.into_iter().flat_map(|page| page.check_runs).map(HeadCheck::from).collect(),
                Err(error @ ForgeError::Forbidden { .. }) => {
                    known().runs_hidden_at = Some(self.forge.now());
                    tracing::warn!(%error, "no round begins for check runs that fail: {error}");
                    hidden()
                }
                Err(error) => return Err(error),
            }
        };
        let purpose = StatusesRead.to("read the statuses of a commit");
        // The list has the newest first. The combined status would say which counts, and the repository's data with it, which
        // changes whatever happens.
        let statuses = match oldest::<StatusWire>(self.forge.connection(), &path("statuses"), purpose).await {
            Ok(found) => {
                let mut contexts = BTreeSet::new();
                let latest = found.entries.into_iter().filter(|status| contexts.insert(status.context.clone()));
                latest.map(HeadCheck::from).collect()
            }
            Err(ForgeError::Forbidden { .. }) => vec![HeadCheck::hidden("statuses hidden from the token")],
            Err(error) => return Err(error),
        };
        Ok(runs.into_iter().chain(statuses).collect())
    }

    /// What a check run says about lines of files, a line each; notices are left out.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn annotations(self, run: u64) -> Result<Vec<String>, ForgeError> {
        let path = self.forge.path(&format!("/check-runs/{run}/annotations?per_page=50"));
        let found: Vec<AnnotationWire> =
            self.forge.get(&path, ChecksRead.to("read the annotations of a check")).await?;
        let told = found.into_iter().filter(|note| note.annotation_level.as_deref() != Some("notice"));
        Ok(told.map(AnnotationWire::into_line).collect())
    }
}
