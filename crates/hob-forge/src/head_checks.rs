//! The forge's own checks on a commit: check runs, which jobs are too, and commit statuses.

use std::collections::BTreeSet;

use hob_domain::{ForgeCheckState, Sha};
use serde::{Deserialize, Serialize};

use crate::{
    Forge, ForgeError,
    TokenPermission::{ChecksRead, StatusesRead},
    pages::{oldest, pages},
};

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
        // Cancelled, skipped, neutral, stale, waiting for a person: nothing that work on the branch mends.
        ("completed", _) => ForgeCheckState::Passed,
        _queued_or_running => ForgeCheckState::Pending,
    }
}

/// How a commit status stands.
pub(super) fn status_state(state: &str) -> ForgeCheckState {
    match state {
        "failure" | "error" => ForgeCheckState::Failed,
        "pending" | "expected" => ForgeCheckState::Pending,
        _success_or_new => ForgeCheckState::Passed,
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
    /// The latest of each check run and commit status.
    ///
    /// # Errors
    /// [`ForgeError`] of a read; [`ForgeError::Forbidden`] where the token may not see checks.
    pub async fn all(self) -> Result<Vec<HeadCheck>, ForgeError> {
        let path = |what: &str| self.forge.path(&format!("/commits/{}/{what}?per_page=100", self.sha));
        let purpose = ChecksRead.to("read the checks of a commit");
        let advice = "fewer checks on one commit";
        let runs: Vec<CheckRunsWire> = pages(self.forge.connection(), &path("check-runs"), purpose, advice).await?;
        let purpose = StatusesRead.to("read the statuses of a commit");
        // The list has the newest first. The combined status would say which counts, and the repository's data with it, which
        // changes whatever happens.
        let mut statuses: Vec<StatusWire> = oldest(self.forge.connection(), &path("statuses"), purpose).await?.entries;
        let mut contexts = BTreeSet::new();
        statuses.retain(|status| contexts.insert(status.context.clone()));
        let runs = runs.into_iter().flat_map(|page| page.check_runs).map(HeadCheck::from);
        Ok(runs.chain(statuses.into_iter().map(HeadCheck::from)).collect())
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
