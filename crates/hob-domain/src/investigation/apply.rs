//! Applies actions to a record: the only code that answers, judges, moves and concludes.

use hob_text::{clip, count};

use crate::{
    Timestamp,
    investigation::{
        Answered, CaseAction, CaseStep, Conclusion, Confidence, EvidenceId, EvidenceRequest, Grounds, Hypothesis,
        HypothesisId, Investigation, NextWork, Question, QuestionId, Standing, Verdict, ids::list, missing::lacks,
        same::is_same,
    },
};

/// Bytes of one text that a record keeps.
const TEXT_MAX: usize = 8 * 1024;
/// Pieces of evidence that one action may name.
const REFS_MAX: usize = 32;
/// Hypotheses that a case may have.
const HYPOTHESES_MAX: usize = 40;
/// Questions that a case may have.
const QUESTIONS_MAX: usize = 80;
/// How often people may be asked for evidence.
const REQUESTS_MAX: usize = 10;
/// Things that would settle what is still open.
const SETTLE_MAX: usize = 20;

/// An action that the rules do not allow now; the message says what is missing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The case has a conclusion.
    #[error("the case is concluded: nothing can be changed any more")]
    Concluded,
    /// A text is missing.
    #[error("`{0}` is empty")]
    Empty(&'static str),
    /// Evidence that is not in the record.
    #[error("there is no evidence {0}: name what the record has")]
    NoEvidence(String),
    /// It rests on no evidence.
    #[error("`evidence_refs` is empty: name the evidence that this rests on")]
    Ungrounded,
    /// There is no room for more.
    #[error("there are too many {0}")]
    TooMany(&'static str),
    /// An unknown question.
    #[error("there is no question {0}")]
    NoQuestion(QuestionId),
    /// An unknown hypothesis.
    #[error("there is no hypothesis {0}")]
    NoHypothesis(HypothesisId),
    /// The same was requested before and nothing has come.
    #[error("a person was asked for evidence already, and nothing has come yet")]
    AskedAlready,
    /// An unknown state.
    #[error("there is no state `{to}`: there are {known}")]
    NoState {
        /// The requested state.
        to: String,
        /// The known states.
        known: String,
    },
    /// The current state.
    #[error("the state is `{0}` already")]
    SameState(String),
    /// A state beyond the next one.
    #[error("`{next}` comes before `{to}`")]
    Skips {
        /// The requested state.
        to: String,
        /// The next state.
        next: String,
    },
    /// The gate of a state is not met.
    #[error("the gate of `{to}` does not hold: it lacks {}", missing.join(" and "))]
    Gate {
        /// The state.
        to: String,
        /// What is missing.
        missing: Vec<String>,
    },
    /// A conclusion before the last state.
    #[error("the state is `{state}`: a conclusion is taken in `{last}`")]
    TooEarly {
        /// The current state.
        state: String,
        /// The state in which a case may conclude.
        last: String,
    },
}

/// Applies `action` at `now`: returns the next record, and a sentence that says what changed.
///
/// # Errors
/// [`Refused`] if the rules do not allow it; the record then stays unchanged.
pub fn apply(record: &Investigation, action: &CaseAction, now: Timestamp) -> Result<(Investigation, String), Refused> {
    if record.conclusion.is_some() {
        return Err(Refused::Concluded);
    }
    let Grounds { thought, confidence, .. } = &action.grounds;
    text("thought", thought)?;
    let refs = refs(record, &action.grounds)?;
    let mut next = record.clone();
    let sentence = match &action.step {
        CaseStep::AnswerQuestion { question, statement, answer } => {
            let answer = rests_on(answer, "answer", *confidence, refs)?;
            let question = match question {
                Some(id) => *id,
                None => asked(&mut next, statement)?,
            };
            answer_question(&mut next, question, answer)?
        }
        CaseStep::TestHypothesis { hypothesis, statement, verdict } => {
            let why = rests_on(thought, "thought", *confidence, refs)?;
            judge(&mut next, *hypothesis, statement, *verdict, why)?
        }
        CaseStep::RequestEvidence { request } => request_evidence(&mut next, text("request", request)?, now)?,
        CaseStep::TransitionState { to } => move_to(&mut next, to)?,
        CaseStep::Conclude { conclusion, to_settle, hand_off_to, left } => {
            let end = rests_on(conclusion, "conclusion", *confidence, refs)?;
            let next_work = match hand_off_to {
                Some(to) => Some(NextWork { to: to.clone(), left: text("left", left)? }),
                None => None,
            };
            conclude(&mut next, end, to_settle, next_work, now)?
        }
    };
    Ok((next, sentence))
}

fn text(name: &'static str, text: &str) -> Result<String, Refused> {
    match text.trim() {
        "" => Err(Refused::Empty(name)),
        text => Ok(clip(text, TEXT_MAX)),
    }
}

/// The evidence that an action names, without duplicates.
fn refs(record: &Investigation, grounds: &Grounds) -> Result<Vec<EvidenceId>, Refused> {
    let mut refs = grounds.evidence_refs.clone();
    refs.sort_unstable();
    refs.dedup();
    if refs.len() > REFS_MAX {
        return Err(Refused::TooMany("pieces of evidence for one action"));
    }
    let unknown: Vec<_> = refs.iter().filter(|id| !record.has_evidence(**id)).copied().collect();
    if unknown.is_empty() { Ok(refs) } else { Err(Refused::NoEvidence(list(&unknown))) }
}

fn rests_on(
    said: &str,
    name: &'static str,
    confidence: Confidence,
    evidence_refs: Vec<EvidenceId>,
) -> Result<Answered, Refused> {
    let text = text(name, said)?;
    if evidence_refs.is_empty() { Err(Refused::Ungrounded) } else { Ok(Answered { text, confidence, evidence_refs }) }
}

/// The question that a statement refers to: an existing one, or a new one that is not required.
fn asked(record: &mut Investigation, statement: &str) -> Result<QuestionId, Refused> {
    let text = text("statement", statement)?;
    if let Some(known) = record.questions.iter().find(|question| is_same(&question.text, &text)) {
        return Ok(known.id);
    }
    if record.questions.len() >= QUESTIONS_MAX {
        return Err(Refused::TooMany("questions"));
    }
    let id = QuestionId::at(record.questions.len());
    record.questions.push(Question { id, text, required: false, answered: None });
    Ok(id)
}

fn answer_question(record: &mut Investigation, id: QuestionId, answer: Answered) -> Result<String, Refused> {
    let question = record.questions.iter_mut().find(|question| question.id == id);
    let question = question.ok_or(Refused::NoQuestion(id))?;
    let confidence = answer.confidence;
    let again = if question.answered.replace(answer).is_some() { "anew " } else { "" };
    let (answered, all) = (record.answered(), record.questions.len());
    Ok(format!("{id} is answered {again}with {confidence} confidence: {answered} of {all} have an answer"))
}

/// The hypothesis that a statement refers to: an existing or a new one.
fn supposed(record: &mut Investigation, statement: &str) -> Result<HypothesisId, Refused> {
    let text = text("statement", statement)?;
    if let Some(known) = record.hypotheses.iter().find(|hypothesis| is_same(&hypothesis.text, &text)) {
        return Ok(known.id);
    }
    if record.hypotheses.len() >= HYPOTHESES_MAX {
        return Err(Refused::TooMany("hypotheses"));
    }
    let id = HypothesisId::at(record.hypotheses.len());
    record.hypotheses.push(Hypothesis { id, text, standing: Standing::Open, verdict: None });
    Ok(id)
}

fn judge(
    record: &mut Investigation,
    id: Option<HypothesisId>,
    statement: &str,
    verdict: Verdict,
    why: Answered,
) -> Result<String, Refused> {
    let hypothesis = match id {
        Some(id) => {
            let known = record.hypotheses.iter_mut().find(|hypothesis| hypothesis.id == id);
            known.ok_or(Refused::NoHypothesis(id))?
        }
        None => {
            let id = supposed(record, statement)?;
            return judge(record, Some(id), "", verdict, why);
        }
    };
    hypothesis.standing = match verdict {
        Verdict::Validated => Standing::Validated,
        Verdict::Disproved => Standing::Disproved,
    };
    let confidence = why.confidence;
    hypothesis.verdict = Some(why);
    let id = hypothesis.id;
    record.metrics.hypotheses_tested = record.metrics.hypotheses_tested.saturating_add(1);
    Ok(format!("{id} is {verdict} with {confidence} confidence: {} of {}", record.tested(), tests(record)))
}

fn tests(record: &Investigation) -> String {
    match record.hypotheses.len() {
        1 => "1 hypothesis is tested".to_owned(),
        many => format!("{many} hypotheses are tested"),
    }
}

fn request_evidence(record: &mut Investigation, text: String, asked_at: Timestamp) -> Result<String, Refused> {
    if record.requests.last().is_some_and(|request| request.answered_by.is_empty()) {
        return Err(Refused::AskedAlready);
    }
    if record.requests.len() >= REQUESTS_MAX {
        return Err(Refused::TooMany("requests"));
    }
    record.requests.push(EvidenceRequest { text, asked_at, answered_by: Vec::new() });
    Ok("a person is asked for evidence".to_owned())
}

/// Moves forward one state at a time, through its gate, or back to any state.
fn move_to(record: &mut Investigation, to: &str) -> Result<String, Refused> {
    let to = to.trim();
    let Some(index) = record.states.iter().position(|state| state.name == to) else {
        let known: Vec<_> = record.states.iter().map(|state| format!("`{}`", state.name)).collect();
        return Err(Refused::NoState { to: clip(to, 100), known: known.join(", ") });
    };
    let here = record.state_index().unwrap_or_default();
    if index == here {
        return Err(Refused::SameState(record.state.clone()));
    }
    if index > here + 1 {
        let next = record.states[here + 1].name.clone();
        return Err(Refused::Skips { to: to.to_owned(), next });
    }
    let missing = lacks(record, index);
    if index > here && !missing.is_empty() {
        return Err(Refused::Gate { to: to.to_owned(), missing });
    }
    let from = std::mem::replace(&mut record.state, to.to_owned());
    record.metrics.transitions = record.metrics.transitions.saturating_add(1);
    Ok(format!("the case moved from `{from}` to `{to}`"))
}

fn conclude(
    record: &mut Investigation,
    end: Answered,
    to_settle: &[String],
    next: Option<NextWork>,
    at: Timestamp,
) -> Result<String, Refused> {
    let last = record.states.len().saturating_sub(1);
    let name = record.states.get(last).map(|state| state.name.clone()).unwrap_or_default();
    if record.state != name {
        return Err(Refused::TooEarly { state: record.state.clone(), last: name });
    }
    // Answers and verdicts may have changed since the state was entered.
    let missing = lacks(record, last);
    if !missing.is_empty() {
        return Err(Refused::Gate { to: name, missing });
    }
    let Answered { text, confidence, evidence_refs } = end;
    let to_settle = to_settle.iter().map(|one| one.trim()).filter(|one| !one.is_empty());
    let to_settle = to_settle.take(SETTLE_MAX).map(|one| clip(one, TEXT_MAX)).collect();
    let rests_on = count(evidence_refs.len(), "piece");
    record.conclusion = Some(Conclusion { text, confidence, evidence_refs, to_settle, next, at });
    Ok(format!("concluded with {confidence} confidence, on {rests_on} of evidence"))
}

#[cfg(test)]
mod tests;
