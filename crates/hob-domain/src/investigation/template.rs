//! What a profile or an issue form contributes to an investigation before it begins.

use serde::{Deserialize, Serialize};

use crate::{
    Gate, Impact, Profile,
    investigation::{CaseState, Condition},
};

/// What an investigation starts with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseTemplate {
    /// The profile that it comes from. `None` for the base agent.
    pub profile: Option<String>,
    /// The folder of the operator's profiles, if one was given.
    pub profiles: Option<String>,
    /// Who the agent is, and how it writes.
    pub personality: Personality,
    /// The questions to answer.
    pub questions: Vec<QuestionTemplate>,
    /// Possible causes to begin with.
    pub hypotheses: Vec<String>,
    /// The states, in order; empty for the default ones.
    pub states: Vec<CaseState>,
    /// The highest impact that an action may have without a person's approval.
    pub approve: Impact,
}

impl Default for CaseTemplate {
    fn default() -> Self {
        let (personality, questions, hypotheses, states) = Default::default();
        Self { profile: None, profiles: None, personality, questions, hypotheses, states, approve: Impact::Low }
    }
}

impl CaseTemplate {
    /// The template of a profile. `allowed` is the highest impact that it may allow itself; a profile without `approve`
    /// asks for each change of the state.
    pub fn of_profile(profile: &Profile, allowed: Impact) -> Self {
        let condition = |gate: &Gate| match gate {
            Gate::Evidence => Condition::Evidence,
            Gate::Answers => Condition::Answers,
            Gate::Hypothesis => Condition::Hypothesis,
        };
        let asked = profile.case.questions.iter();
        let states = profile.case.states.iter().map(|state| {
            // For the last state, no gate means the default gate.
            let gate = (!state.needs.is_empty()).then(|| state.needs.iter().map(condition).collect());
            CaseState::new(state.name.as_str(), gate)
        });
        Self {
            profile: Some(profile.name.to_string()),
            profiles: None,
            personality: Personality {
                specialisation: profile.description.clone(),
                keywords: profile.matches.words.clone(),
                error_patterns: profile.matches.errors.iter().map(|error| error.as_str().to_owned()).collect(),
                style: String::new(),
            },
            questions: asked.map(|one| QuestionTemplate { text: one.text.clone(), required: one.required }).collect(),
            hypotheses: profile.case.hypotheses.clone(),
            states: states.collect(),
            approve: profile.approve.map_or(Impact::Low, |own| own.min(allowed)),
        }
    }

    /// The same, followed by those questions of `other` that are not asked already.
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
    /// Whether a conclusion needs its answer.
    #[serde(default)]
    pub required: bool,
}

/// Who investigates: knowledge and style.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Personality {
    /// Its field.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub specialisation: String,
    /// Words that matter in its field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
    /// Error messages that it knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub error_patterns: Vec<String>,
    /// Its style of writing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub style: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_profile;

    fn template(front: &str, allowed: Impact) -> CaseTemplate {
        let text = format!("---\nname: oncall\ndescription: Knows the alarms\nhob:\n{front}\n---\nLook.");
        let parsed = parse_profile("oncall.md", text.as_bytes());
        assert_eq!(parsed.problems, []);
        CaseTemplate::of_profile(&parsed.profile.unwrap(), allowed)
    }

    #[test]
    fn a_profile_gives_questions_hypotheses_and_states_with_gates() {
        let case = template(
            "  match: { words: [alarm], errors: ['OOM'] }\n  questions: ['Since when?', { text: 'Which host?', required: true }]\n  \
             hypotheses: [The disk is full]\n  states: [triage, { name: done, needs: [evidence, answers, hypothesis] }]",
            Impact::High,
        );
        let asked: Vec<_> = case.questions.iter().map(|one| (one.text.as_str(), one.required)).collect();
        assert_eq!(asked, [("Since when?", false), ("Which host?", true)]);
        assert_eq!((case.hypotheses.len(), case.profile.as_deref()), (1, Some("oncall")));
        let all = vec![Condition::Evidence, Condition::Answers, Condition::Hypothesis];
        assert_eq!(case.states, [CaseState::new("triage", None), CaseState::new("done", Some(all))]);
        let known = case.personality;
        assert_eq!((known.specialisation.as_str(), known.keywords.len()), ("Knows the alarms", 1));
        assert_eq!(known.error_patterns, ["OOM"]);
    }

    #[test]
    fn a_profile_lets_states_change_by_themselves_as_far_as_it_may() {
        let questions = "  questions: ['Why?']";
        assert_eq!(template(questions, Impact::High).approve, Impact::Low);
        let high = format!("{questions}\n  approve: high");
        assert_eq!(template(&high, Impact::High).approve, Impact::High);
        assert_eq!(template(&high, Impact::Medium).approve, Impact::Medium);
    }
}
