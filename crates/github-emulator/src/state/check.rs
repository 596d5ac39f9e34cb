//! Check runs: the results of Apps about a commit, and the jobs of GitHub Actions, which are check runs, too.

use serde::{Deserialize, Serialize};

use crate::{
    job::Annotation,
    names::{Login, Timestamp},
};

/// The App of a check run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) struct CheckApp {
    pub(in super::super) id: u64,
    /// Its name in addresses.
    pub(in super::super) slug: String,
    pub(in super::super) name: String,
    /// The account that shows as its owner.
    pub(in super::super) owner: Login,
}

impl CheckApp {
    /// GitHub's own App, whose check runs are jobs.
    pub(in super::super) fn of_actions() -> Self {
        let (slug, name) = ("github-actions".to_owned(), "GitHub Actions".to_owned());
        Self { id: 15_368, owner: Login::of_bot(&slug), slug, name }
    }
}

/// A check run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct CheckRun {
    pub(in super::super) id: u64,
    pub(in super::super) sha: String,
    pub(in super::super) name: String,
    pub(in super::super) status: String,
    pub(in super::super) conclusion: Option<String>,
    pub(in super::super) details_url: Option<String>,
    pub(in super::super) external_id: Option<String>,
    pub(in super::super) started_at: Option<String>,
    pub(in super::super) completed_at: Option<String>,
    pub(in super::super) title: Option<String>,
    pub(in super::super) summary: Option<String>,
    pub(in super::super) text: Option<String>,
    /// `None` if it was stored by a version that did not keep it.
    #[serde(default)]
    pub(in super::super) app: Option<CheckApp>,
    /// The id of its check suite: an App has one a commit, GitHub Actions one a workflow run.
    #[serde(default)]
    pub(in super::super) suite: u64,
    #[serde(default)]
    pub(in super::super) annotations: Vec<Annotation>,
    /// Whether a rerun was requested and its App has not answered yet.
    #[serde(default)]
    pub(in super::super) rerequested: bool,
    /// The additional data of a job of GitHub Actions.
    #[serde(default)]
    pub(in super::super) job: Option<Job>,
}

impl CheckRun {
    /// A check run that waits.
    pub(in super::super) fn queued(id: u64, sha: String, name: String) -> Self {
        Self {
            id,
            sha,
            name,
            status: "queued".to_owned(),
            conclusion: None,
            details_url: None,
            external_id: None,
            started_at: None,
            completed_at: None,
            title: None,
            summary: None,
            text: None,
            app: None,
            suite: 0,
            annotations: Vec::new(),
            rerequested: false,
            job: None,
        }
    }

    /// Whether it has come to its end.
    pub(in super::super) fn is_completed(&self) -> bool {
        self.status == "completed"
    }

    /// Whether it ended in a way that lets a pull request be merged.
    /// <https://docs.github.com/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/about-status-checks>
    pub(in super::super) fn has_passed(&self) -> bool {
        self.is_completed() && matches!(self.conclusion.as_deref(), Some("success" | "neutral" | "skipped"))
    }
}

/// The data of a job beyond its check run, which has the same id.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct Job {
    /// The id of its workflow run.
    pub(in super::super) run: u64,
    /// The number of its attempt of the run, from 1.
    pub(in super::super) attempt: u64,
    pub(in super::super) created_at: Timestamp,
    pub(in super::super) labels: Vec<String>,
    pub(in super::super) steps: Vec<Step>,
    /// Its output; `None` if it has no log yet.
    pub(in super::super) log: Option<String>,
}

/// A step of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct Step {
    pub(in super::super) name: String,
    pub(in super::super) status: String,
    pub(in super::super) conclusion: Option<String>,
}

/// A run of a workflow. Its state is that of its jobs; one without a job waits for an approval.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(in super::super) struct WorkflowRun {
    pub(in super::super) id: u64,
    /// The id of its check suite.
    pub(in super::super) suite: u64,
    pub(in super::super) sha: String,
    pub(in super::super) branch: Option<String>,
    /// The event that started it, as `push`.
    pub(in super::super) event: String,
    /// The workflow's name.
    pub(in super::super) workflow: String,
    pub(in super::super) workflow_id: u64,
    /// The workflow's file.
    pub(in super::super) path: String,
    /// The number of this run of the workflow, from 1.
    pub(in super::super) number: u64,
    pub(in super::super) attempt: u64,
    pub(in super::super) actor: Login,
    /// The account that asked for the last attempt.
    pub(in super::super) triggering_actor: Login,
    pub(in super::super) title: String,
    pub(in super::super) created_at: Timestamp,
    /// When the last attempt began.
    pub(in super::super) started_at: Timestamp,
    pub(in super::super) updated_at: Timestamp,
}

/// The check runs of one App on a commit, or of one run of a workflow, which has none while it waits for an approval.
pub(in super::super) struct CheckSuite<'s> {
    pub(in super::super) id: u64,
    pub(in super::super) app: Option<CheckApp>,
    pub(in super::super) checks: Vec<&'s CheckRun>,
    pub(in super::super) run: Option<&'s WorkflowRun>,
}

/// The combined status of several check runs and, at their end, their combined conclusion. No check runs at all mean a
/// run that waits for an approval.
pub(in super::super) fn together(runs: &[&CheckRun]) -> (&'static str, Option<&'static str>) {
    /// The first one in this order is the combined one.
    const CONCLUSIONS: [&str; 9] = [
        "failure",
        "timed_out",
        "cancelled",
        "action_required",
        "startup_failure",
        "stale",
        "success",
        "neutral",
        "skipped",
    ];
    if runs.is_empty() {
        return ("completed", Some("action_required"));
    }
    let has = |word: &str| runs.iter().any(|run| run.conclusion.as_deref() == Some(word));
    if runs.iter().any(|run| run.rerequested) {
        return ("queued", None);
    }
    if runs.iter().all(|run| run.is_completed()) {
        return ("completed", CONCLUSIONS.into_iter().find(|word| has(word)));
    }
    let begun = runs.iter().any(|run| run.is_completed() || run.status == "in_progress");
    (if begun { "in_progress" } else { "queued" }, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_check_runs_say_what_matters_most() {
        for (states, expected) in [
            (vec![], ("completed", Some("action_required"))),
            (vec!["queued"], ("queued", None)),
            (vec!["queued", "success"], ("in_progress", None)),
            (vec!["in_progress"], ("in_progress", None)),
            (vec!["skipped", "success"], ("completed", Some("success"))),
            (vec!["success", "cancelled", "failure"], ("completed", Some("failure"))),
            (vec!["skipped"], ("completed", Some("skipped"))),
        ] {
            let run = |state: &&str| {
                let mut run = CheckRun::queued(1, String::new(), String::new());
                if ["queued", "in_progress"].contains(state) {
                    (*state).clone_into(&mut run.status);
                } else {
                    "completed".clone_into(&mut run.status);
                    run.conclusion = Some((*state).to_owned());
                }
                run
            };
            let runs: Vec<CheckRun> = states.iter().map(run).collect();
            assert_eq!(together(&runs.iter().collect::<Vec<_>>()), expected, "{states:?}");
        }
    }
}
