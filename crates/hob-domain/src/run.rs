//! One run of an agent: its request and its report.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    ActionMark, Checklist, FailureClass, HandOff, HandOffTarget, Image, IssueNumber, Proposed, RepoName, RunId, Spend,
    TestCommand,
    investigation::{Case, Iteration},
};

/// The purpose of a run.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum RunPurpose {
    /// The agent changes the folder.
    #[default]
    Work,
    /// The agent only reads, and says what it would do.
    Plan,
    /// The agent only reads, and says what it found.
    Report,
    /// The agent only looks, and concludes what is the case.
    Investigate,
    /// The agent only reads, and says what is wrong with another agent's work.
    Review,
}

impl RunPurpose {
    /// Its name, for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Plan => "plan",
            Self::Report => "report",
            Self::Investigate => "investigate",
            Self::Review => "review",
        }
    }

    /// Whether the agent must leave the folder unchanged.
    pub fn only_reads(self) -> bool {
        match self {
            Self::Work => false,
            Self::Plan | Self::Report | Self::Investigate | Self::Review => true,
        }
    }
}

/// How hard the work of a run has turned out to be.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Strain {
    /// Nothing speaks for more thinking than usual.
    #[default]
    Usual,
    /// An earlier try failed, or the router calls the issue hard.
    Hard,
}

impl Strain {
    /// The complexity, of 10, from which the router calls an issue hard.
    const HARD: u8 = 7;

    /// Of work of which these many checks, or an earlier attempt, failed, and of the complexity that the router told.
    pub fn of(failed_checks: usize, last_failure: Option<&str>, complexity: u8) -> Self {
        if failed_checks > 0 || last_failure.is_some() || complexity >= Self::HARD { Self::Hard } else { Self::Usual }
    }
}

/// A task for an agent. It contains no token and no path to Hob's own git directory.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// This run.
    pub run: RunId,
    /// Its purpose.
    pub purpose: RunPurpose,
    /// The session it belongs to: its own, or that of an earlier run that it resumes.
    pub session: RunId,
    /// The issue's repository.
    pub repo: RepoName,
    /// The issue.
    pub issue: IssueNumber,
    /// The issue's title, cleaned of control and invisible characters.
    pub title: String,
    /// The issue's body, cleaned in the same way; a recipe reads the unified diff in it.
    pub body: String,
    /// The whole task as text: issue, trusted comments, earlier attempts, a person's answer, failed checks.
    pub brief: String,
    /// The folder the agent edits.
    pub folder: PathBuf,
    /// The checks Hob will run afterwards, one shell command each.
    pub checks: Vec<String>,
    /// How long each took that passed on the base.
    pub checks_took: BTreeMap<String, Duration>,
    /// Wall time left for this run.
    pub time: Duration,
    /// The setting that limits this time; it is named when the time is over.
    pub time_setting: &'static str,
    /// Millionths of a US dollar left for this run. `None` if not limited.
    pub usd_micros: Option<u64>,
    /// Tokens left for this run, sent and produced. `None` if not limited.
    pub tokens: Option<u64>,
    /// Actions that people approved for this issue, regardless of impact.
    pub approved: Vec<ActionMark>,
    /// The case to investigate. `None` if the run changes the folder. An agent that cannot investigate refuses it.
    pub investigation: Option<Case>,
    /// The profiles that it may hand off to. If empty, a hand-off goes to a person.
    pub hand_off_to: Vec<HandOffTarget>,
    /// Images that belong to the task, for a model that takes images.
    pub images: Vec<Image>,
    /// How hard it is.
    pub strain: Strain,
    /// Which candidate of the work this is, from 0: each begins with another model where there are several.
    pub candidate: u32,
}

/// How a run ended, as far as the work is concerned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The agent says that the work is done. Hob's checks decide whether it is.
    Done {
        /// What was done and why, for the pull request.
        summary: String,
        /// What the change does in a few words, for the commit and the pull request. `None` if the issue's title is
        /// used.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// The agent found that nothing has to change.
    NothingToDo {
        /// Why.
        reason: String,
    },
    /// The agent needs an answer from a person.
    Question {
        /// What it asks.
        question: String,
    },
    /// The agent wants to do something that needs a person's approval.
    ApprovalNeeded {
        /// The action.
        proposed: Proposed,
    },
    /// The agent hands the work off to another profile. Hob decides whether to accept.
    HandOff(Box<HandOff>),
    /// The agent failed.
    Failed {
        /// What went wrong, one sentence.
        reason: String,
        /// Whether a retry can help.
        failure: FailureClass,
    },
}

impl Outcome {
    /// Done, without a title for the change.
    pub fn done(summary: impl Into<String>) -> Self {
        Self::Done { summary: summary.into(), title: None }
    }

    /// The same, with `form` applied to the words that people read. A proposed action stays unchanged because an
    /// approval is for exactly that action; so does a hand-off, which is refused if it contains a token.
    #[must_use]
    pub fn in_words(mut self, form: impl Fn(&str) -> String) -> Self {
        match &mut self {
            Self::Done { summary, title } => {
                *summary = form(summary);
                *title = title.as_deref().map(form);
            }
            Self::NothingToDo { reason: words }
            | Self::Question { question: words }
            | Self::Failed { reason: words, .. } => {
                *words = form(words);
            }
            Self::ApprovalNeeded { .. } | Self::HandOff(_) => {}
        }
        self
    }
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunReport {
    /// How it ended.
    pub outcome: Outcome,
    /// What it cost.
    pub spend: Spend,
}

/// One line of progress for people who watch.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Progress {
    /// What the agent is doing now. Empty if only the cost has changed.
    pub text: String,
    /// The run's cost so far, if the agent knows it.
    pub spent: Option<Spend>,
    /// How far the agent is with its own checklist, if that has changed.
    pub checklist: Option<Checklist>,
    /// What an investigation has just done, and how far it is.
    pub iteration: Option<Iteration>,
    /// Whether a fallback answers in place of the chosen model.
    pub fell_back: bool,
    /// A command that has just run one test, or one file of tests, successfully.
    pub tested: Option<TestCommand>,
}
