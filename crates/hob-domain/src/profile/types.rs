//! What a profile says.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Allowance, Ask, ErrorPattern, Impact, PathGlobs, ProfileName, StateName};

/// What a run of the profile is to bring.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deliverable {
    /// A change of the repository, in a pull request.
    #[default]
    Change,
    /// A comment on the issue; no file changes.
    Comment,
    /// A comment that proposes issues, which are made once a person approves them.
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

/// What one profile says: who it is for, how it works, and what it may not do. What it leaves out is as the settings say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Profile {
    /// Its name.
    pub name: ProfileName,
    /// What it is for, in one line.
    pub description: String,
    /// What its agent is told.
    pub instructions: String,
    /// The tools that it wants, by Hob's names; none: all that it may have.
    pub tools: Option<Vec<String>>,
    /// The model that it wants; none: the agent's own.
    pub model: Option<String>,
    /// What speaks for it.
    pub matches: Matches,
    /// The agent of the settings that it wants to run on; none: the one that works otherwise.
    pub backend: Option<String>,
    /// The highest impact of an action that needs no approval.
    pub approve: Option<Impact>,
    /// What happens to an action that needs approval.
    pub ask: Option<Ask>,
    /// Actions that are refused.
    pub denied: Vec<String>,
    /// How far a run may go.
    pub limits: ProfileLimits,
    /// What it brings.
    pub deliverable: Deliverable,
    /// What it may change; none given: what the settings let change.
    pub paths: PathGlobs,
    /// The profiles that it may hand over to.
    pub hand_off_to: Vec<ProfileName>,
    /// What it investigates; empty where it does not.
    pub case: Case,
}

/// What speaks for a profile, when an issue is given to one.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct Matches {
    /// Labels of the issue, without regard to case.
    pub labels: Vec<String>,
    /// Words and phrases of its text.
    pub words: Vec<String>,
    /// Errors in its text.
    pub errors: Vec<ErrorPattern>,
    /// Paths that it names.
    pub paths: PathGlobs,
}

/// How far a run may go. None: as far as the settings say.
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
    /// What a run of any agent may take.
    pub fn allowance(&self) -> Allowance {
        Allowance { usd_micros: self.usd_micros, tokens: self.max_tokens, time: self.max_time }
    }
}

/// What an investigation of the profile begins with.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Case {
    /// What is to be answered.
    pub questions: Vec<ProfileQuestion>,
    /// What might be the cause.
    pub hypotheses: Vec<String>,
    /// The states of a case, in their order; none: the usual ones.
    pub states: Vec<ProfileState>,
}

/// A question of an investigation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProfileQuestion {
    /// The question.
    pub text: String,
    /// Whether a case ends without its answer.
    pub required: bool,
}

/// A state of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProfileState {
    /// Its name.
    pub name: StateName,
    /// What holds before a case enters it.
    pub needs: Vec<Gate>,
}

/// What has to hold before a case enters a state.
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
