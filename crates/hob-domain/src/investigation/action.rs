//! The actions of an agent on the record, as it requests them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    Impact, ProfileName,
    investigation::{Confidence, EvidenceId, HypothesisId, QuestionId},
};

/// Why an action is requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grounds {
    /// What the agent thinks.
    pub thought: String,
    /// How sure it is.
    pub confidence: Confidence,
    /// The evidence that it rests on.
    #[serde(default, alias = "evidenceRefs")]
    pub evidence_refs: Vec<EvidenceId>,
}

/// The result of a test of a hypothesis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The evidence supports it.
    Validated,
    /// The evidence speaks against it.
    Disproved,
}

/// The step that an action takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "tool", rename_all = "snake_case")]
pub enum CaseStep {
    /// Answers a question, or replaces its answer.
    AnswerQuestion {
        /// The question. `None` for a new one, whose text is `statement`.
        #[serde(default)]
        question: Option<QuestionId>,
        /// The text of a new question.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        statement: String,
        /// The answer.
        answer: String,
    },
    /// Gives a verdict on a hypothesis.
    TestHypothesis {
        /// The hypothesis. `None` for a new one, whose text is `statement`.
        #[serde(default)]
        hypothesis: Option<HypothesisId>,
        /// The text of a new hypothesis.
        #[serde(default)]
        statement: String,
        /// The result.
        verdict: Verdict,
    },
    /// Asks a person for evidence.
    RequestEvidence {
        /// What is asked.
        request: String,
    },
    /// Moves the case to another state.
    TransitionState {
        /// The state's name.
        to: String,
    },
    /// Ends the investigation.
    Conclude {
        /// What is concluded.
        conclusion: String,
        /// What would settle what is still open.
        #[serde(default)]
        to_settle: Vec<String>,
        /// The profile that continues with a change. `None` if nothing has to be changed, or if a person decides.
        #[serde(default)]
        hand_off_to: Option<ProfileName>,
        /// What it has to change.
        #[serde(default)]
        left: String,
    },
}

/// An action and the reason for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseAction {
    /// Why.
    pub grounds: Grounds,
    /// What.
    pub step: CaseStep,
}

/// Arguments that do not fit the action.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UnreadableAction(#[from] serde_json::Error);

impl CaseAction {
    /// The names of the actions.
    pub const NAMES: [&'static str; 5] =
        ["answer_question", "test_hypothesis", "request_evidence", "transition_state", "conclude"];

    /// Reads the arguments of the action `name`.
    ///
    /// # Errors
    /// [`UnreadableAction`] if an argument is missing or wrong.
    pub fn parse(name: &str, mut arguments: Map<String, Value>) -> Result<Self, UnreadableAction> {
        let grounds = serde_json::from_value(Value::Object(arguments.clone()))?;
        arguments.insert("tool".to_owned(), name.into());
        Ok(Self { grounds, step: serde_json::from_value(Value::Object(arguments))? })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self.step {
            CaseStep::AnswerQuestion { .. } => "answer_question",
            CaseStep::TestHypothesis { .. } => "test_hypothesis",
            CaseStep::RequestEvidence { .. } => "request_evidence",
            CaseStep::TransitionState { .. } => "transition_state",
            CaseStep::Conclude { .. } => "conclude",
        }
    }

    /// Its impact. Answers and verdicts only change the record; a request takes a person's time; a transition decides
    /// how the case counts. A conclusion needs the last state, and entering that was already approved.
    pub fn impact(&self) -> Impact {
        match self.step {
            CaseStep::AnswerQuestion { .. } | CaseStep::TestHypothesis { .. } | CaseStep::Conclude { .. } => {
                Impact::Low
            }
            CaseStep::RequestEvidence { .. } => Impact::Medium,
            CaseStep::TransitionState { .. } => Impact::High,
        }
    }

    /// Its object, in a few words.
    pub fn object(&self) -> String {
        match &self.step {
            CaseStep::AnswerQuestion { question: Some(id), .. } => id.to_string(),
            CaseStep::AnswerQuestion { question: None, statement, .. } => statement.clone(),
            CaseStep::TestHypothesis { hypothesis: Some(id), verdict, .. } => format!("{id}: {verdict}"),
            CaseStep::TestHypothesis { hypothesis: None, statement, verdict } => format!("{verdict}: {statement}"),
            CaseStep::RequestEvidence { request } => request.clone(),
            CaseStep::TransitionState { to } => to.clone(),
            CaseStep::Conclude { conclusion, .. } => conclusion.clone(),
        }
    }

    /// The exact content that a person is asked to approve: what it does, not why.
    pub fn exact(&self) -> String {
        // Plain data always has a JSON form.
        serde_json::to_string_pretty(&self.step).unwrap_or_default()
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Validated => "validated",
            Self::Disproved => "disproved",
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(name: &str, arguments: Value) -> Result<CaseAction, String> {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        CaseAction::parse(name, arguments).map_err(|error| error.to_string())
    }

    #[test]
    fn each_action_is_known_by_its_name_and_has_grounds() {
        let arguments = json!({
            "thought": "it says so", "confidence": "HIGH", "evidence_refs": ["E1"], "question": "Q1", "answer": "yes",
            "hypothesis": "H1", "verdict": "validated", "request": "the log", "to": "conclude", "conclusion": "it was x",
        });
        for name in CaseAction::NAMES {
            let action = parse(name, arguments.clone()).unwrap();
            assert_eq!(action.name(), name);
            assert_eq!(action.grounds.confidence, Confidence::High);
            assert!(!action.object().is_empty() && action.exact().contains(name));
        }
    }

    #[test]
    fn what_is_no_action_says_why() {
        for (name, arguments, why) in [
            ("conclude", json!({ "confidence": "HIGH", "conclusion": "x" }), "missing field `thought`"),
            ("conclude", json!({ "thought": "x", "confidence": "SURE", "conclusion": "x" }), "unknown variant `SURE`"),
            ("conclude", json!({ "thought": "x", "confidence": "LOW" }), "missing field `conclusion`"),
            (
                "answer_question",
                json!({ "thought": "x", "confidence": "low", "evidenceRefs": ["the log"], "question": "Q1", "answer": "y" }),
                "`E1` is the form",
            ),
            ("delete", json!({ "thought": "x", "confidence": "LOW" }), "unknown variant `delete`"),
        ] {
            let said = parse(name, arguments).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }
}
