//! Begins a record from a case, or continues one that was kept.

use std::fmt::Write;

use hob_text::{title, without_invisible};
use sha2::{Digest, Sha256};

use crate::{
    RunId, Timestamp,
    investigation::{
        Answered, Case, CaseStatus, Confidence, EvidenceId, EvidenceItem, EvidenceKind, Hypothesis, HypothesisId,
        Investigation, Metrics, Question, QuestionId, RECORD_VERSION, Standing, default_states,
    },
};

/// The most pieces of evidence in a record.
const EVIDENCE_MAX: usize = 400;
/// The most questions in a record.
const QUESTIONS_MAX: usize = 60;
/// The most hypotheses that it begins with.
const HYPOTHESES_MAX: usize = 20;
/// The most states of a case.
const STATES_MAX: usize = 20;
/// Characters of a line in the record.
const LINE_MAX: usize = 500;

/// The result of opening a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// The record.
    pub record: Investigation,
    /// The texts of the new evidence, to be kept beside the record.
    pub new: Vec<(EvidenceId, String)>,
    /// What differs from the request, one sentence each.
    pub warnings: Vec<String>,
}

/// Starts the record `id` from `case`, or continues `kept`: new evidence is added, and answers pending requests.
pub fn open(kept: Option<Investigation>, id: &RunId, case: &Case, now: Timestamp) -> Opened {
    let mut warnings = Vec::new();
    let is_new = kept.is_none();
    let mut record = kept.unwrap_or_else(|| start(id, case, now, &mut warnings));
    let mut new = Vec::new();
    for given in &case.evidence {
        let known = record.evidence.len();
        match record.add(given.kind, &given.source, &given.text) {
            Some(id) if record.evidence.len() > known => new.push((id, given.text.clone())),
            Some(_) => {}
            None => warnings.push(format!(
                "`{}` is left out: a record has {EVIDENCE_MAX} pieces of evidence at most",
                title(&given.source, LINE_MAX)
            )),
        }
    }
    if is_new {
        take_form_answers(&mut record, case);
    } else if let (CaseStatus::Waiting, Some(request)) = (record.status(), record.requests.last_mut()) {
        request.answered_by = new.iter().map(|(id, _)| *id).collect();
    }
    Opened { record, new, warnings }
}

fn start(id: &RunId, case: &Case, now: Timestamp, warnings: &mut Vec<String>) -> Investigation {
    let template = &case.template;
    let line = |text: &String| title(text, LINE_MAX);
    let questions = template.questions.iter().filter(|question| !question.text.trim().is_empty());
    let questions = questions.take(QUESTIONS_MAX).enumerate().map(|(at, question)| Question {
        id: QuestionId::at(at),
        text: line(&question.text),
        required: question.required,
        answered: None,
    });
    let hypotheses = template.hypotheses.iter().filter(|text| !text.trim().is_empty());
    let hypotheses = hypotheses.take(HYPOTHESES_MAX).enumerate().map(|(at, text)| Hypothesis {
        id: HypothesisId::at(at),
        text: line(text),
        standing: Standing::Open,
        verdict: None,
    });
    let mut states = template.states.clone();
    let mut names: Vec<_> = states.iter().map(|state| state.name.clone()).collect();
    names.sort();
    names.dedup();
    if names.len() != states.len() || states.len() > STATES_MAX || names.iter().any(|name| name.trim() != name) {
        warnings.push("the states of the profile are not used: their names are not distinct".to_owned());
        states.clear();
    }
    if states.is_empty() {
        states = default_states();
    }
    Investigation {
        investigation: RECORD_VERSION,
        id: id.clone(),
        case: line(&case.title),
        profile: template.profile.clone(),
        profiles: template.profiles.clone(),
        personality: template.personality.clone(),
        approve: template.approve,
        state: states.first().map(|state| state.name.clone()).unwrap_or_default(),
        states,
        evidence: Vec::new(),
        questions: questions.collect(),
        hypotheses: hypotheses.collect(),
        requests: Vec::new(),
        conclusion: None,
        metrics: Metrics {
            started: now,
            iterations: 0,
            max_iterations: None,
            hypotheses_tested: 0,
            transitions: 0,
            refused: 0,
            errors: 0,
        },
    }
}

impl Investigation {
    /// Adds evidence, unless the record already has exactly it; returns its name. `None` if the record is full.
    pub fn add(&mut self, kind: EvidenceKind, source: &str, text: &str) -> Option<EvidenceId> {
        let source = title(source, LINE_MAX);
        let sha256 = sha256(text);
        let same = |item: &&EvidenceItem| item.kind == kind && item.source == source && item.sha256 == sha256;
        if let Some(known) = self.evidence.iter().find(same) {
            return Some(known.id);
        }
        if self.evidence.len() >= EVIDENCE_MAX {
            return None;
        }
        let id = EvidenceId::at(self.evidence.len());
        self.evidence.push(EvidenceItem { id, kind, source, sha256, bytes: text.len() as u64 });
        Some(id)
    }
}

/// Answers the form's questions with the reporter's answers. Their confidence is medium, because they are unchecked.
fn take_form_answers(record: &mut Investigation, case: &Case) {
    for given in case.evidence.iter().filter(|given| given.kind == EvidenceKind::FormAnswer) {
        let asked = title(&given.source, LINE_MAX);
        let Some(id) = record.add(given.kind, &given.source, &given.text) else { continue };
        let open = |question: &&mut Question| question.text == asked && question.answered.is_none();
        if let Some(question) = record.questions.iter_mut().find(open) {
            let text = without_invisible(given.text.trim()).0;
            question.answered = Some(Answered { text, confidence: Confidence::Medium, evidence_refs: vec![id] });
        }
    }
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        write!(hex, "{byte:02x}").ok();
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::investigation::{CaseState, CaseTemplate, EvidenceRequest, Given, QuestionTemplate};

    fn given(kind: EvidenceKind, source: &str, text: &str) -> Given {
        Given { kind, source: source.to_owned(), text: text.to_owned() }
    }

    fn case() -> Case {
        let ask = |text: &str| QuestionTemplate { text: text.to_owned(), required: true };
        Case {
            title: "The deployment\nfailed".to_owned(),
            template: CaseTemplate {
                questions: vec![ask("Which version?"), ask("Since when?")],
                hypotheses: vec!["The disk is full".to_owned()],
                ..CaseTemplate::default()
            },
            evidence: vec![
                given(EvidenceKind::Issue, "issue", "It fails."),
                given(EvidenceKind::FormAnswer, "Which version?", "1.2"),
            ],
        }
    }

    #[test]
    fn a_case_begins_with_what_is_known() {
        let opened = open(None, &"s".into(), &case(), Timestamp::UNIX_EPOCH);
        let record = opened.record;
        assert_eq!((record.case.as_str(), record.state.as_str()), ("The deployment failed", "intake"));
        assert_eq!(opened.new.len(), 2);
        assert_eq!(record.evidence[1].bytes, 3);
        assert_eq!(record.evidence[1].sha256, "77ac319bfe1979e2d799d9e6987e65feb54f61511c03552ebae990826c208590");
        let answers: Vec<_> = record.questions.iter().map(|question| question.answered.is_some()).collect();
        assert_eq!(answers, [true, false]);
        let written = serde_json::to_string(&record).unwrap();
        assert_eq!(Investigation::parse(&written).unwrap(), record);
    }

    #[test]
    fn a_case_that_goes_on_keeps_its_own_and_takes_what_is_new() {
        let first = open(None, &"s".into(), &case(), Timestamp::UNIX_EPOCH).record;
        let asked_at = Timestamp::UNIX_EPOCH;
        let mut waiting = first.clone();
        waiting.requests.push(EvidenceRequest { text: "the log".into(), asked_at, answered_by: Vec::new() });
        // There is nothing new, so it still waits.
        let same = open(Some(waiting.clone()), &"s".into(), &case(), asked_at);
        assert_eq!((same.record.status(), same.new), (CaseStatus::Waiting, Vec::new()));
        let mut more = case();
        more.template.questions.clear();
        more.evidence.push(given(EvidenceKind::Comment, "ann", "No space left on device"));
        let opened = open(Some(waiting), &"s".into(), &more, asked_at);
        assert_eq!(opened.record.requests[0].answered_by.len(), 1);
        assert_eq!((opened.record.status(), opened.record.questions), (CaseStatus::Open, first.questions));
    }

    #[test]
    fn states_without_names_of_their_own_are_not_used() {
        let mut odd = case();
        odd.template.states = vec![CaseState::new("a", None), CaseState::new("a", None)];
        let opened = open(None, &"s".into(), &odd, Timestamp::UNIX_EPOCH);
        assert_eq!((opened.record.states, opened.warnings.len()), (default_states(), 1));
    }

    #[test]
    fn a_record_does_not_grow_without_end() {
        let mut record = open(None, &"s".into(), &case(), Timestamp::UNIX_EPOCH).record;
        for n in 0..EVIDENCE_MAX + 5 {
            record.add(EvidenceKind::Output, "shell ls", &n.to_string());
        }
        assert_eq!(record.evidence.len(), EVIDENCE_MAX);
        assert_eq!(record.add(EvidenceKind::Output, "shell ls", "new"), None);
        assert!(record.add(EvidenceKind::Issue, "issue", "It fails.").is_some());
    }

    #[test]
    fn a_damaged_record_is_told_from_one_of_another_format() {
        let record = open(None, &"s".into(), &case(), Timestamp::UNIX_EPOCH).record;
        let broken = |change: fn(&mut Investigation)| {
            let mut record = record.clone();
            change(&mut record);
            Investigation::parse(&serde_json::to_string(&record).unwrap()).unwrap_err().to_string()
        };
        assert!(broken(|record| record.investigation = 9).contains("format 9"));
        assert!(broken(|record| record.state = "gone".into()).contains("no state `gone`"));
        assert!(broken(|record| drop(record.evidence.pop())).contains("no evidence E2"));
        assert!(broken(|record| drop(record.questions.remove(0))).contains("numbered"));
        assert!(Investigation::parse("{\"investigation\":1,").is_err());
    }
}
