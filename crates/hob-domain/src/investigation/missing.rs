//! What a record still lacks for a gate.

use crate::investigation::{Condition, Investigation, Standing, gate::CONCLUSION, ids::list};

/// What the gate of the state at `index` still lacks, each as a part of a sentence.
pub(super) fn lacks(record: &Investigation, index: usize) -> Vec<String> {
    let Some(state) = record.states.get(index) else { return Vec::new() };
    let by_default: &[Condition] = if index + 1 == record.states.len() { &CONCLUSION } else { &[] };
    let gate = state.gate.as_deref().unwrap_or(by_default);
    gate.iter().filter_map(|condition| lack(record, *condition)).collect()
}

fn lack(record: &Investigation, condition: Condition) -> Option<String> {
    match condition {
        Condition::Evidence => record.evidence.is_empty().then(|| "evidence".to_owned()),
        Condition::Answers => {
            let open = record.questions.iter().filter(|question| question.required && question.answered.is_none());
            let open: Vec<_> = open.map(|question| question.id).collect();
            (!open.is_empty()).then(|| format!("answers to the required {}", list(&open)))
        }
        Condition::Hypothesis => {
            let has = record.hypotheses.iter().any(|one| one.standing == Standing::Validated);
            (!has).then(|| "a hypothesis that is validated with evidence".to_owned())
        }
    }
}
