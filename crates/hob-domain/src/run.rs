//! One run of an agent: what it is asked and what it answers.

use std::{path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    ActionMark, Checklist, FailureClass, HandOver, HandOverTarget, Image, IssueNumber, Proposed, RepoName, RunId,
    Spend, TestCommand,
    investigation::{Case, Iteration},
};

/// What a run is for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum RunPurpose {
    /// The agent changes the folder.
    #[default]
    Work,
    /// The agent only reads, and says what it would do.
    Plan,
    /// The agent only reads, and says what it found.
    Report,
    /// The agent only looks, and concludes what is so.
    Investigate,
    /// The agent only reads, and says what is wrong with somebody else's work.
    Review,
}

impl RunPurpose {
    /// Whether the agent leaves the folder as it is.
    pub fn only_reads(self) -> bool {
        match self {
            Self::Work => false,
            Self::Plan | Self::Report | Self::Investigate | Self::Review => true,
        }
    }
}

/// What an agent is asked to do. It holds no token and no path to Hob's own git directory.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// This run.
    pub run: RunId,
    /// What it is for.
    pub purpose: RunPurpose,
    /// The session it belongs to: its own, or that of an earlier run that it resumes.
    pub session: RunId,
    /// The repository the issue is in.
    pub repo: RepoName,
    /// The issue.
    pub issue: IssueNumber,
    /// The issue's title, cleaned of control and invisible characters.
    pub title: String,
    /// The issue's body, cleaned likewise; a recipe reads the unified diff in it.
    pub body: String,
    /// The whole task as text: issue, trusted comments, earlier attempts, a person's answer, failed checks.
    pub brief: String,
    /// The folder the agent edits.
    pub folder: PathBuf,
    /// The checks Hob will run afterwards, one shell command each.
    pub checks: Vec<String>,
    /// Wall time left for this run.
    pub time: Duration,
    /// The setting that this time comes from: it is named when the time is over.
    pub time_setting: &'static str,
    /// Millionths of a US dollar left for this run; none: not limited.
    pub usd_micros: Option<u64>,
    /// Tokens left for this run, sent and produced; none: not limited.
    pub tokens: Option<u64>,
    /// Actions that people allowed for this issue, whatever their impact.
    pub approved: Vec<ActionMark>,
    /// What is to be investigated; none: the run changes the folder. An agent that cannot investigate refuses it.
    pub investigation: Option<Case>,
    /// The profiles that it may hand over to; empty: a hand-over is to a person.
    pub hand_over_to: Vec<HandOverTarget>,
    /// Images that belong to the task, for a model that sees.
    pub images: Vec<Image>,
}

/// How a run ended, as far as the work goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The agent says the work is done. Whether it is, Hob's checks tell.
    Done {
        /// What was done and why, for the pull request.
        summary: String,
        /// What the change does, in a few words, for the commit and the pull request; none: the issue's title says it.
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
    /// The agent wants to do something that needs a person's word.
    ApprovalNeeded {
        /// What it wants to do.
        proposed: Proposed,
    },
    /// The agent hands the work over to another profile. Whether that is taken, Hob decides.
    HandOver(Box<HandOver>),
    /// The agent failed.
    Failed {
        /// What went wrong, one sentence.
        reason: String,
        /// Whether trying again can help.
        failure: FailureClass,
    },
}

impl Outcome {
    /// Done, without a title for the change.
    pub fn done(summary: impl Into<String>) -> Self {
        Self::Done { summary: summary.into(), title: None }
    }

    /// The same with the words that people read in another form. A proposed action stays as it is, since its approval is of exactly
    /// that; so does a hand-over, which a token refuses.
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
            Self::ApprovalNeeded { .. } | Self::HandOver(_) => {}
        }
        self
    }
}

/// What comes back from a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunReport {
    /// How it ended.
    pub outcome: Outcome,
    /// What it cost.
    pub spend: Spend,
}

/// One line of progress for whoever watches.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The line: what the agent does now. Empty: there is only news of the cost.
    pub text: String,
    /// What the run has cost so far, where the agent knows it.
    pub spent: Option<Spend>,
    /// How far the agent is by its own checklist, where that is news.
    pub checklist: Option<Checklist>,
    /// What an investigation did now, and how far it is.
    pub iteration: Option<Iteration>,
    /// Whether another model answers in the place of the one that was to.
    pub fell_back: bool,
    /// A command that just ran one test, or one file of tests, with success.
    pub tested: Option<TestCommand>,
}
