//! The forge's own checks on a commit: check runs (jobs are check runs, too), commit statuses, and workflow runs that
//! wait for an approval. The latter have no job and so no check run; only their check suite shows them.

use std::{collections::BTreeSet, future::Future, sync::PoisonError, time::Duration};

use hob_domain::{ForgeCheckState, PROOF_CONTEXT, Sha, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    Forge, ForgeError, TokenPermission,
    TokenPermission::{ChecksRead, StatusesRead},
    counted_checks::{HeadCheck, Origin, Says, counted},
    pages::{oldest, pages},
};

/// The App that the check runs of GitHub Actions jobs belong to.
const ACTIONS: &str = "github-actions";
/// The shared name of all workflows that wait for an approval.
const UNAPPROVED: &str = "workflows that wait for an approval";
/// How long hidden checks are not requested again, in case the token gets the permission.
const HIDDEN_FOR: Duration = Duration::from_secs(3_600);

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
    started_at: Option<Timestamp>,
    completed_at: Option<Timestamp>,
    check_suite: Option<SuiteIdWire>,
    app: Option<AppWire>,
    output: Option<OutputWire>,
}

#[derive(Serialize, Deserialize)]
struct SuiteIdWire {
    id: u64,
}

/// An annotation of a check run on a line of a file.
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
pub(super) struct AppWire {
    pub(super) slug: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct SuitesWire {
    check_suites: Vec<SuiteWire>,
}

/// A check suite, in REST and in GraphQL.
#[derive(Serialize, Deserialize)]
pub(super) struct SuiteWire {
    conclusion: Option<String>,
    app: Option<AppWire>,
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
    created_at: Option<Timestamp>,
}

/// The state of a check run.
pub(super) fn run_state(status: &str, conclusion: Option<&str>) -> ForgeCheckState {
    match (status, conclusion) {
        ("completed", Some("failure" | "timed_out" | "startup_failure")) => ForgeCheckState::Failed,
        ("completed", Some("success" | "neutral" | "skipped")) => ForgeCheckState::Passed,
        // It waits for a person.
        ("completed", Some("action_required")) => ForgeCheckState::Pending,
        // Cancelled, stale, or new: work on the branch cannot fix it, and it has not passed.
        ("completed", _) => ForgeCheckState::Unknown,
        _queued_or_running => ForgeCheckState::Pending,
    }
}

/// The state of a commit status.
pub(super) fn status_state(state: &str) -> ForgeCheckState {
    match state {
        "failure" | "error" => ForgeCheckState::Failed,
        "pending" | "expected" => ForgeCheckState::Pending,
        "success" => ForgeCheckState::Passed,
        _new => ForgeCheckState::Unknown,
    }
}

impl AppWire {
    fn is_actions(&self) -> bool {
        self.slug.as_deref() == Some(ACTIONS)
    }
}

/// The check that a commit's suites add if one of their workflow runs waits for an approval. A job never ends this way,
/// because such a run has no jobs.
pub(super) fn unapproved(suites: impl IntoIterator<Item = SuiteWire>) -> Option<(String, ForgeCheckState)> {
    let waits = |suite: SuiteWire| {
        suite.app.is_some_and(|app| app.is_actions())
            && suite.conclusion.is_some_and(|word| word.eq_ignore_ascii_case("action_required"))
    };
    suites.into_iter().any(waits).then(|| (UNAPPROVED.to_owned(), ForgeCheckState::Unapproved))
}

impl From<CheckRunWire> for HeadCheck {
    fn from(wire: CheckRunWire) -> Self {
        let state = run_state(&wire.status, wire.conclusion.as_deref());
        let annotations = wire.output.as_ref().map_or(0, |output| output.annotations_count);
        let parts = wire.output.map(|output| [output.title, output.summary, output.text]);
        let origin = Origin {
            says: Says::of(wire.conclusion.as_deref()),
            app: wire.app.as_ref().and_then(|app| app.slug.clone()),
            suite: wire.check_suite.map(|suite| suite.id),
            began: wire.started_at,
            ended: wire.completed_at,
        };
        let says: Vec<String> = parts.into_iter().flatten().flatten().filter(|part| !part.trim().is_empty()).collect();
        Self {
            name: wire.name,
            state,
            run: Some(wire.id),
            is_job: wire.app.is_some_and(|app| app.is_actions()),
            says: says.join("\n\n"),
            annotations,
            origin,
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
        let origin = Origin { began: wire.created_at, ended: wire.created_at, ..Origin::default() };
        Self { says: wire.description.unwrap_or_default(), origin, ..Self::bare(wire.context, state) }
    }
}

/// The forge's checks on one commit.
#[derive(Debug, Clone, Copy)]
pub struct HeadChecks<'a> {
    pub(super) forge: &'a Forge,
    pub(super) sha: &'a Sha,
}

impl HeadChecks<'_> {
    /// Of the check runs and commit statuses the one of each name that counts, with one entry for those that the token may not see.
    ///
    /// # Errors
    /// [`ForgeError`] of a read.
    pub async fn all(self) -> Result<Vec<HeadCheck>, ForgeError> {
        let (runs, statuses) = (self.path("check-runs"), self.path("statuses"));
        let runs = async {
            let purpose = ChecksRead.to("read the checks of a commit");
            let read = pages::<CheckRunsWire>(self.forge.connection(), &runs, purpose, "fewer checks on one commit");
            Ok(read.await?.into_iter().flat_map(|page| page.check_runs).map(HeadCheck::from).collect())
        };
        // The list has the newest first. The combined status would say which one counts, but it embeds the repository's
        // data, which changes all the time.
        let statuses = async {
            let purpose = StatusesRead.to("read the statuses of a commit");
            let found = oldest::<StatusWire>(self.forge.connection(), &statuses, purpose).await?;
            let mut contexts = BTreeSet::new();
            // Hob's own is a result of its work, and starts none.
            let others = found.entries.into_iter().filter(|status| status.context != PROOF_CONTEXT);
            let latest = others.filter(|status| contexts.insert(status.context.clone()));
            Ok(latest.map(HeadCheck::from).collect())
        };
        let mut all = self.seen(ChecksRead, runs).await?;
        all.extend(self.seen(StatusesRead, statuses).await?);
        Ok(counted(all))
    }

    /// One entry if workflow runs wait for an approval, or if the token may not see whether they do.
    ///
    /// # Errors
    /// [`ForgeError`] of the read.
    pub async fn unapproved(self) -> Result<Vec<HeadCheck>, ForgeError> {
        let path = self.path("check-suites");
        let suites = async {
            let purpose = ChecksRead.to("read the check suites of a commit");
            let read = pages::<SuitesWire>(self.forge.connection(), &path, purpose, "fewer workflows for one commit");
            let suites = read.await?.into_iter().flat_map(|page| page.check_suites);
            Ok(unapproved(suites).map(|(name, state)| HeadCheck::bare(name, state)).into_iter().collect())
        };
        self.seen(ChecksRead, suites).await
    }

    fn path(self, what: &str) -> String {
        self.forge.path(&format!("/commits/{}/{what}?per_page=100", self.sha))
    }

    /// The result of a read, or one entry if the token lacks the permission. A refusal is never answered with 304, so
    /// it is not requested in each poll.
    async fn seen(
        self,
        permission: TokenPermission,
        read: impl Future<Output = Result<Vec<HeadCheck>, ForgeError>>,
    ) -> Result<Vec<HeadCheck>, ForgeError> {
        let known = || self.forge.repository.lock().unwrap_or_else(PoisonError::into_inner);
        let hidden = || vec![HeadCheck::bare(permission.to_string(), ForgeCheckState::Hidden)];
        if known().hidden_at.get(&permission).is_some_and(|at| self.forge.now() < *at + HIDDEN_FOR) {
            return Ok(hidden());
        }
        match read.await {
            Err(error @ ForgeError::Forbidden { .. }) => {
                known().hidden_at.insert(permission, self.forge.now());
                tracing::warn!(%error, "no round begins for checks that the token may not see: {error}");
                Ok(hidden())
            }
            found => found,
        }
    }

    /// A check run's annotations on lines of files, one line each, without notices.
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
