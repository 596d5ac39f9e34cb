//! The contents of a profile.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Allowance, Ask, ErrorPattern, Impact, PathGlobs, ProfileName, StateName};

/// The result that a run of the profile has to produce.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deliverable {
    /// A change of the repository, in a pull request.
    #[default]
    Change,
    /// A comment on the issue; no file changes.
    Comment,
    /// A comment that proposes issues, which are opened once a person approves them.
    Issues,
}

impl std::fmt::Display for Deliverable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Change => "change",
            Self::Comment => "comment",
            Self::Issues => "issues",
        })
    }
}

/// One profile: whom it is for, how it works, and what it may not do. The settings apply wherever it is silent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Profile {
    /// Its name.
    pub name: ProfileName,
    /// Its purpose, in one line.
    pub description: String,
    /// The instructions for its agent.
    pub instructions: String,
    /// The tools that it wants, by Hob's names. `None` for all that it may have.
    pub tools: Option<Vec<String>>,
    /// The model that it wants. `None` for the agent's own.
    pub model: Option<String>,
    /// What makes the profile a match for an issue.
    pub matches: Matches,
    /// The configured agent that it wants to run on. `None` for the usual one.
    pub backend: Option<String>,
    /// The highest impact of an action that needs no approval.
    pub approve: Option<Impact>,
    /// What happens to an action that needs approval.
    pub ask: Option<Ask>,
    /// Actions that are refused.
    pub denied: Vec<String>,
    /// The limits of a run.
    pub limits: ProfileLimits,
    /// The result that it has to produce.
    pub deliverable: Deliverable,
    /// The paths that it may change; empty for those that the settings allow.
    pub paths: PathGlobs,
    /// The profiles that it may hand off to.
    pub hand_off_to: Vec<ProfileName>,
    /// What it investigates; empty if it does not investigate.
    pub case: Case,
}

/// What makes a profile a match for an issue.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct Matches {
    /// Labels of the issue; case is ignored.
    pub labels: Vec<String>,
    /// Words and phrases in its text.
    pub words: Vec<String>,
    /// Errors in its text.
    pub errors: Vec<ErrorPattern>,
    /// Paths that its text names.
    pub paths: PathGlobs,
}

/// The limits of a run. `None` means the limit of the settings.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct ProfileLimits {
    /// Turns of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u64>,
    /// Wall time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_time: Option<Duration>,
    /// Tokens, sent and produced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Bytes that all commands write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// Replies in a row whose actions all failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consecutive_errors: Option<u64>,
    /// Replies with a failed action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recent_errors: Option<u64>,
    /// Commands in a row that ran and failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_commands_in_row: Option<u64>,
    /// Commands that ran and failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_commands_total: Option<u64>,
    /// Millionths of a US dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd_micros: Option<u64>,
}

impl ProfileLimits {
    /// The allowance of a run of any agent.
    pub fn allowance(&self) -> Allowance {
        Allowance { usd_micros: self.usd_micros, tokens: self.max_tokens, time: self.max_time }
    }
}

/// What an investigation by the profile begins with.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Case {
    /// The questions to answer.
    pub questions: Vec<ProfileQuestion>,
    /// Possible causes.
    pub hypotheses: Vec<String>,
    /// The states of a case, in order; empty for the usual ones.
    pub states: Vec<ProfileState>,
}

/// A question of an investigation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProfileQuestion {
    /// The question.
    pub text: String,
    /// Whether a conclusion needs its answer.
    pub required: bool,
}

/// A state of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProfileState {
    /// Its name.
    pub name: StateName,
    /// The conditions for entering it.
    pub needs: Vec<Gate>,
}

/// A condition for entering a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// There is evidence beside the issue's own text.
    Evidence,
    /// All required questions are answered.
    Answers,
    /// A hypothesis is validated with evidence.
    Hypothesis,
}
