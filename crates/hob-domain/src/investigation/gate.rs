//! The states of a case, and the gate of each: what must hold before it is entered.

use serde::{Deserialize, Serialize};

use crate::investigation::{Investigation, Standing, ids::list};

/// What a gate can ask for.
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
    /// What must hold before it is entered. None: nothing; for the last state, what a conclusion needs by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Vec<Condition>>,
}

impl CaseState {
    /// A state with this gate.
    pub fn new(name: &str, gate: Option<Vec<Condition>>) -> Self {
        Self { name: name.to_owned(), gate }
    }
}

/// What a conclusion needs, where a profile does not say otherwise.
const CONCLUSION: [Condition; 2] = [Condition::Answers, Condition::Hypothesis];

/// The states of a case whose profile names none.
pub fn default_states() -> Vec<CaseState> {
    vec![
        CaseState::new("intake", None),
        CaseState::new("normalize", Some(vec![Condition::Evidence])),
        CaseState::new("investigate", None),
        CaseState::new("conclude", Some(CONCLUSION.to_vec())),
    ]
}

impl Investigation {
    /// What the gate of the state at `index` still lacks, each as a part of a sentence.
    pub(super) fn lacks(&self, index: usize) -> Vec<String> {
        let Some(state) = self.states.get(index) else { return Vec::new() };
        let by_default: &[Condition] = if index + 1 == self.states.len() { &CONCLUSION } else { &[] };
        state.gate.as_deref().unwrap_or(by_default).iter().filter_map(|condition| self.lack(*condition)).collect()
    }

    fn lack(&self, condition: Condition) -> Option<String> {
        match condition {
            Condition::Evidence => self.evidence.is_empty().then(|| "evidence".to_owned()),
            Condition::Answers => {
                let open = self.questions.iter().filter(|question| question.required && question.answered.is_none());
                let open: Vec<_> = open.map(|question| question.id).collect();
                (!open.is_empty()).then(|| format!("answers to the required {}", list(&open)))
            }
            Condition::Hypothesis => {
                let has = self.hypotheses.iter().any(|one| one.standing == Standing::Validated);
                (!has).then(|| "a hypothesis that is validated with evidence".to_owned())
            }
        }
    }
}
