//! What a profile or an issue form gives an investigation before it begins.

use serde::{Deserialize, Serialize};

use crate::{Impact, investigation::CaseState};

/// What an investigation starts with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseTemplate {
    /// The profile it is from; none: the base agent.
    pub profile: Option<String>,
    /// Who the agent is, and how it writes.
    pub personality: Personality,
    /// What is to be answered.
    pub questions: Vec<QuestionTemplate>,
    /// What may be the cause, to begin with.
    pub hypotheses: Vec<String>,
    /// The states, in order; empty: the default ones.
    pub states: Vec<CaseState>,
    /// The most impact that an action may have without a person's word.
    pub approve: Impact,
}

impl Default for CaseTemplate {
    fn default() -> Self {
        let (personality, questions, hypotheses, states) = Default::default();
        Self { profile: None, personality, questions, hypotheses, states, approve: Impact::Low }
    }
}

impl CaseTemplate {
    /// The same with the questions of `other` behind its own, as far as they are not asked already.
    #[must_use]
    pub fn with_questions(mut self, other: &[QuestionTemplate]) -> Self {
        for question in other {
            if !self.questions.iter().any(|known| known.text == question.text) {
                self.questions.push(question.clone());
            }
        }
        self
    }
}

/// One question of a template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionTemplate {
    /// The question.
    pub text: String,
    /// Whether there is no conclusion without an answer.
    #[serde(default)]
    pub required: bool,
}

/// Who investigates: what it knows, and how it writes.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Personality {
    /// What it is good at.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub specialisation: String,
    /// Words that matter in its field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// Texts of errors that it knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub error_patterns: Vec<String>,
    /// How it writes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub style: String,
}
