//! The states of a case, and the conditions for entering each. `missing` checks a record against them.

use serde::{Deserialize, Serialize};

/// A condition of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// There is evidence.
    Evidence,
    /// All required questions are answered.
    Answers,
    /// A hypothesis is validated, with evidence.
    Hypothesis,
}

/// One state of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseState {
    /// Its name.
    pub name: String,
    /// The conditions for entering it. `None` for no conditions; for the last state, the default conditions of a
    /// conclusion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Vec<Condition>>,
}

impl CaseState {
    /// A state with this gate.
    pub fn new(name: &str, gate: Option<Vec<Condition>>) -> Self {
        Self { name: name.to_owned(), gate }
    }
}

/// The conditions of a conclusion, unless a profile has others.
pub(super) const CONCLUSION: [Condition; 2] = [Condition::Answers, Condition::Hypothesis];

/// The states of a case whose profile names none.
pub fn default_states() -> Vec<CaseState> {
    vec![
        CaseState::new("intake", None),
        CaseState::new("normalize", Some(vec![Condition::Evidence])),
        CaseState::new("investigate", None),
        CaseState::new("conclude", Some(CONCLUSION.to_vec())),
    ]
}
