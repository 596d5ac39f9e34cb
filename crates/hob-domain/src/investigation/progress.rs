//! The progress of a case, and the confidence in its result.

use serde::{Deserialize, Serialize};

use crate::investigation::{CaseStatus, Confidence, Investigation, Standing};

/// The progress of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseProgress {
    /// From 0 to 100; 100 means that there is a conclusion.
    pub percent: u8,
    /// Its status, in a few words.
    pub message: String,
}

impl Investigation {
    /// Its progress: the mean of the passed states, the answered questions and the search for a cause. It can decrease,
    /// for example if the agent goes back a state.
    pub fn progress(&self) -> CaseProgress {
        let state = (self.state_index().unwrap_or_default(), self.states.len().saturating_sub(1));
        let validated = self.hypotheses.iter().any(|one| one.standing == Standing::Validated);
        let hypotheses = if validated { (1, 1) } else { (self.tested(), self.hypotheses.len() + 1) };
        let parts = [state, (self.answered(), self.questions.len()), hypotheses];
        let parts: Vec<usize> =
            parts.iter().filter(|(_, of)| *of > 0).map(|(done, of)| 100 * (*done).min(*of) / of).collect();
        let mean = parts.iter().sum::<usize>() / parts.len().max(1);
        let percent = match self.status() {
            CaseStatus::Concluded => 100,
            // The rest is for the conclusion itself.
            CaseStatus::Open | CaseStatus::Waiting => u8::try_from(mean * 95 / 100).unwrap_or(95),
        };
        CaseProgress { percent, message: self.standing_in_words() }
    }

    fn standing_in_words(&self) -> String {
        let hypotheses = format!("{} of {} hypotheses tested", self.tested(), self.hypotheses.len());
        let counts = match self.questions.len() {
            0 => hypotheses,
            questions => format!("{} of {questions} questions answered, {hypotheses}", self.answered()),
        };
        match self.status() {
            CaseStatus::Open => format!("{}: {counts}", self.state),
            CaseStatus::Waiting => format!("{}, waits for evidence: {counts}", self.state),
            CaseStatus::Concluded => format!("concluded: {counts}"),
        }
    }

    /// The confidence in the result: that of the weakest among the conclusion, the answers to the required questions,
    /// and the best validated hypothesis. `None` without a conclusion.
    pub fn confidence(&self) -> Option<Confidence> {
        let conclusion = self.conclusion.as_ref()?;
        let required = self.questions.iter().filter(|question| question.required);
        let answers = required.filter_map(|question| Some(question.answered.as_ref()?.confidence)).min();
        let validated = self.hypotheses.iter().filter(|one| one.standing == Standing::Validated);
        let verdict = validated.filter_map(|one| Some(one.verdict.as_ref()?.confidence)).max();
        [answers, verdict].into_iter().flatten().chain([conclusion.confidence]).min()
    }
}
