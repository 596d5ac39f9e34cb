//! The record of an investigation: evidence, questions, hypotheses and the conclusion.

use serde::{Deserialize, Serialize};

use crate::{
    Impact, ProfileName, RunId, Timestamp,
    investigation::{CaseState, EvidenceId, HypothesisId, Personality, QuestionId},
};

/// The format that this Hob writes.
pub const RECORD_VERSION: u32 = 1;

/// How sure a statement is, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Confidence {
    /// It is a guess.
    #[serde(alias = "low", alias = "Low")]
    Low,
    /// It is likely.
    #[serde(alias = "medium", alias = "Medium")]
    Medium,
    /// It is as good as proven.
    #[serde(alias = "high", alias = "High")]
    High,
}

impl std::fmt::Display for Confidence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        })
    }
}

/// Where a piece of evidence comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceKind {
    /// The text of the issue.
    Issue,
    /// A field of the issue's form.
    FormAnswer,
    /// A comment of a trusted account.
    Comment,
    /// A file.
    File,
    /// The answer of one of the agent's tools.
    Output,
    /// The log of a check.
    CheckLog,
}

impl std::fmt::Display for EvidenceKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Issue => "issue",
            Self::FormAnswer => "form answer",
            Self::Comment => "comment",
            Self::File => "file",
            Self::Output => "output",
            Self::CheckLog => "check log",
        })
    }
}

/// One piece of evidence. Its text is kept beside the record or in the transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceItem {
    /// Its name.
    pub id: EvidenceId,
    /// Where it comes from.
    pub kind: EvidenceKind,
    /// The exact source: a file's name, an account, a command.
    pub source: String,
    /// The SHA-256 of its text, in hexadecimal.
    pub sha256: String,
    /// Bytes of its text.
    pub bytes: u64,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// The answer.
    pub text: String,
    /// How sure it is.
    pub confidence: Confidence,
    /// The evidence that it rests on.
    pub evidence_refs: Vec<EvidenceId>,
}

/// One question of the case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Its name.
    pub id: QuestionId,
    /// The question.
    pub text: String,
    /// Whether a conclusion needs an answer to it.
    pub required: bool,
    /// The answer. `None` while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<Answered>,
}

/// What is known of a hypothesis.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Not tested yet.
    #[default]
    Open,
    /// The evidence supports it.
    Validated,
    /// The evidence speaks against it.
    Disproved,
}

/// A possible explanation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hypothesis {
    /// Its name.
    pub id: HypothesisId,
    /// The supposition.
    pub text: String,
    /// What the evidence says about it.
    #[serde(default)]
    pub standing: Standing,
    /// The verdict: why, how sure, and the evidence it rests on. `None` while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Answered>,
}

/// Evidence that a person was asked to provide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceRequest {
    /// What was asked.
    pub text: String,
    /// When.
    pub asked_at: Timestamp,
    /// The evidence that came back; empty if nothing came so far.
    #[serde(default)]
    pub answered_by: Vec<EvidenceId>,
}

/// The end of an investigation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conclusion {
    /// The conclusion.
    pub text: String,
    /// How sure it is.
    pub confidence: Confidence,
    /// The evidence that it rests on.
    pub evidence_refs: Vec<EvidenceId>,
    /// What would settle what is still open.
    #[serde(default)]
    pub to_settle: Vec<String>,
    /// Who continues, if something has to be changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<NextWork>,
    /// When.
    pub at: Timestamp,
}

/// The work that follows an investigation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextWork {
    /// The profile that continues.
    pub to: ProfileName,
    /// What it has to change.
    pub left: String,
}

/// The cost of an investigation. The number of answered questions follows from the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metrics {
    /// When it began.
    pub started: Timestamp,
    /// Iterations of the agent, over all runs.
    pub iterations: u32,
    /// The most iterations that the last run was allowed. `None` if an earlier version of Hob ran it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
    /// Tests of hypotheses, including repeated ones.
    pub hypotheses_tested: u32,
    /// Changes of the state.
    pub transitions: u32,
    /// Actions that were refused.
    pub refused: u32,
    /// Actions that failed otherwise.
    pub errors: u32,
}

/// The status of a case. It follows from the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseStatus {
    /// It is being investigated.
    Open,
    /// A person was asked for evidence that has not come.
    Waiting,
    /// There is a conclusion.
    Concluded,
}

/// The record of an investigation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Investigation {
    /// The format: [`RECORD_VERSION`].
    pub investigation: u32,
    /// The session it belongs to.
    pub id: RunId,
    /// The case in a line.
    pub case: String,
    /// The profile. `None` for the base agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The folder of the operator's profiles, if one was given for this case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profiles: Option<String>,
    /// Who investigates.
    #[serde(default)]
    pub personality: Personality,
    /// The highest impact that an action may have without a person's approval.
    pub approve: Impact,
    /// The states, in order.
    pub states: Vec<CaseState>,
    /// The name of the current state.
    pub state: String,
    /// The evidence so far.
    pub evidence: Vec<EvidenceItem>,
    /// The questions.
    pub questions: Vec<Question>,
    /// The hypotheses.
    pub hypotheses: Vec<Hypothesis>,
    /// What people were asked to provide.
    #[serde(default)]
    pub requests: Vec<EvidenceRequest>,
    /// The conclusion, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conclusion: Option<Conclusion>,
    /// What it cost.
    pub metrics: Metrics,
}

/// A text that is not a record.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableInvestigation {
    /// It does not have this form.
    #[error("the record of the investigation cannot be read: {0}")]
    Json(#[from] serde_json::Error),
    /// Another version of Hob wrote it.
    #[error("the record of the investigation has format {0}; this reads format {RECORD_VERSION}")]
    Version(u32),
    /// It refers to something that it does not contain.
    #[error("the record of the investigation is damaged: {0}")]
    Damaged(#[from] DamagedRecord),
}

/// Parts of a record that do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DamagedRecord {
    /// It is in a state that it does not have.
    #[error("there is no state `{0}`")]
    NoState(String),
    /// An id is not that of its place.
    #[error("its parts are not numbered in their order")]
    Misnumbered,
    /// It rests on evidence that it does not have.
    #[error("there is no evidence {0}")]
    NoEvidence(EvidenceId),
}

impl Investigation {
    /// Reads a record, and checks that its parts fit together.
    ///
    /// # Errors
    /// [`UnreadableInvestigation`] if the text is not a record.
    pub fn parse(json: &str) -> Result<Self, UnreadableInvestigation> {
        let value: serde_json::Value = serde_json::from_str(json)?;
        if let Some(other) = value.get("investigation").and_then(serde_json::Value::as_u64)
            && other != u64::from(RECORD_VERSION)
        {
            return Err(UnreadableInvestigation::Version(u32::try_from(other).unwrap_or(u32::MAX)));
        }
        let record: Self = serde_json::from_value(value)?;
        record.check()?;
        Ok(record)
    }

    /// Checks that everything it refers to exists.
    fn check(&self) -> Result<(), DamagedRecord> {
        if self.state_index().is_none() {
            return Err(DamagedRecord::NoState(self.state.clone()));
        }
        let numbered = self.evidence.iter().enumerate().all(|(at, one)| one.id == EvidenceId::at(at))
            && self.questions.iter().enumerate().all(|(at, one)| one.id == QuestionId::at(at))
            && self.hypotheses.iter().enumerate().all(|(at, one)| one.id == HypothesisId::at(at));
        if !numbered {
            return Err(DamagedRecord::Misnumbered);
        }
        let answers = self.questions.iter().filter_map(|question| question.answered.as_ref());
        let verdicts = self.hypotheses.iter().filter_map(|hypothesis| hypothesis.verdict.as_ref());
        let concluded = self.conclusion.iter().flat_map(|end| &end.evidence_refs);
        let mut refs = answers.chain(verdicts).flat_map(|answer| &answer.evidence_refs).chain(concluded);
        match refs.find(|id| !self.has_evidence(**id)) {
            Some(id) => Err(DamagedRecord::NoEvidence(*id)),
            None => Ok(()),
        }
    }

    /// Whether it contains this evidence.
    pub fn has_evidence(&self, id: EvidenceId) -> bool {
        self.evidence.iter().any(|item| item.id == id)
    }

    /// The evidence that an answer, a verdict or the conclusion rests on.
    pub fn relied_on(&self) -> Vec<&EvidenceItem> {
        let answers = self.questions.iter().filter_map(|question| question.answered.as_ref());
        let verdicts = self.hypotheses.iter().filter_map(|hypothesis| hypothesis.verdict.as_ref());
        let concluded = self.conclusion.iter().flat_map(|end| &end.evidence_refs);
        let named: Vec<_> = answers.chain(verdicts).flat_map(|one| &one.evidence_refs).chain(concluded).collect();
        self.evidence.iter().filter(|item| named.contains(&&item.id)).collect()
    }

    /// The case's status.
    pub fn status(&self) -> CaseStatus {
        match (&self.conclusion, self.requests.last()) {
            (Some(_), _) => CaseStatus::Concluded,
            (None, Some(request)) if request.answered_by.is_empty() => CaseStatus::Waiting,
            (None, _) => CaseStatus::Open,
        }
    }

    /// The index of the current state.
    pub(super) fn state_index(&self) -> Option<usize> {
        self.states.iter().position(|state| state.name == self.state)
    }

    /// How many questions are answered.
    pub fn answered(&self) -> usize {
        self.questions.iter().filter(|question| question.answered.is_some()).count()
    }

    /// How many hypotheses are no longer open.
    pub fn tested(&self) -> usize {
        self.hypotheses.iter().filter(|hypothesis| hypothesis.standing != Standing::Open).count()
    }
}
