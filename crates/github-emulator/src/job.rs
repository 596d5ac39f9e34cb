//! Jobs of GitHub Actions as a test describes them: nothing runs workflows here. `job_making` puts them into the state.

use serde::{Deserialize, Serialize};

/// The status of a job or a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobStatus {
    /// It waits for a runner.
    Queued,
    /// It runs.
    InProgress,
    /// It has ended.
    Completed,
    /// It waits for an approval.
    Waiting,
    /// It was asked for and is not queued yet.
    Requested,
    /// It waits for another run of its group.
    Pending,
}

impl JobStatus {
    /// GitHub's name of it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Waiting => "waiting",
            Self::Requested => "requested",
            Self::Pending => "pending",
        }
    }
}

/// The conclusion of a job or a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobConclusion {
    /// All went well.
    Success,
    /// A step failed.
    Failure,
    /// Neither success nor failure.
    Neutral,
    /// A person ended it.
    Cancelled,
    /// Its condition was not met.
    Skipped,
    /// It took too long.
    TimedOut,
    /// A person has to act first.
    ActionRequired,
}

impl JobConclusion {
    /// GitHub's name of it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Neutral => "neutral",
            Self::Cancelled => "cancelled",
            Self::Skipped => "skipped",
            Self::TimedOut => "timed_out",
            Self::ActionRequired => "action_required",
        }
    }
}

/// A step of a job.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobStep {
    /// Its name.
    pub name: String,
    /// Its status; without one, completed if it has a conclusion, otherwise queued.
    pub status: Option<JobStatus>,
    /// Its conclusion.
    pub conclusion: Option<JobConclusion>,
}

impl JobStep {
    /// A step that has ended.
    pub fn ended(name: &str, conclusion: JobConclusion) -> Self {
        Self { name: name.to_owned(), status: None, conclusion: Some(conclusion) }
    }
}

/// The level of an annotation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnnotationLevel {
    /// A remark.
    Notice,
    /// A warning.
    Warning,
    /// An error.
    #[default]
    Failure,
}

impl AnnotationLevel {
    /// GitHub's name of it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Failure => "failure",
        }
    }
}

/// An annotation: a check run's message about lines of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Annotation {
    /// The file.
    pub path: String,
    /// The first line, from 1.
    pub start_line: u64,
    /// The last line.
    pub end_line: u64,
    /// The first column, if it is about one line.
    pub start_column: Option<u64>,
    /// The last column, if it is about one line.
    pub end_column: Option<u64>,
    /// Its level.
    pub annotation_level: AnnotationLevel,
    /// Its heading.
    pub title: Option<String>,
    /// Its message.
    pub message: String,
    /// More of it.
    pub raw_details: Option<String>,
}

impl Annotation {
    /// The invalid field: lines count from 1, and columns are only for one line.
    pub(super) fn wrong_field(&self) -> Option<&'static str> {
        let columns = self.start_column.is_some() || self.end_column.is_some();
        if self.start_line == 0 || self.end_line < self.start_line {
            return Some("end_line");
        }
        (columns && self.start_line != self.end_line).then_some("start_column")
    }
}

/// A job to make.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The commit it ran on: its id, or the name of a branch.
    pub head_sha: String,
    /// The name of its workflow; jobs of one workflow, commit and event are one run. `CI` if it is empty.
    #[serde(default)]
    pub workflow: String,
    /// The name of the job and of its check run.
    pub name: String,
    /// The event that started the workflow; `push` if it is empty.
    #[serde(default)]
    pub event: String,
    /// Its status; without one, completed if it has a conclusion, otherwise queued.
    pub status: Option<JobStatus>,
    /// Its conclusion.
    pub conclusion: Option<JobConclusion>,
    /// Its steps.
    #[serde(default)]
    pub steps: Vec<JobStep>,
    /// Its output, unchanged: GitHub puts a time before each line.
    pub log: Option<String>,
    /// The annotations of its check run.
    #[serde(default)]
    pub annotations: Vec<Annotation>,
    /// Labels of the runner; `ubuntu-latest` if it is empty.
    #[serde(default)]
    pub labels: Vec<String>,
}

/// Changes of a job; `None` leaves a field as it is.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobChange {
    /// Its new status.
    pub status: Option<JobStatus>,
    /// Its conclusion, which completes it.
    pub conclusion: Option<JobConclusion>,
    /// All its steps.
    pub steps: Option<Vec<JobStep>>,
    /// All that it printed.
    pub log: Option<String>,
    /// All annotations of its check run.
    pub annotations: Option<Vec<Annotation>>,
}

/// The ids of a job that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct JobIds {
    /// The id of its workflow run.
    pub run: u64,
    /// Its own, which is that of its check run.
    pub job: u64,
}
