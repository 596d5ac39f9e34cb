//! States as labels: their names, what a set of labels means, and the single changes that lead from one state to
//! another.

use hob_text::title;
use serde::{Deserialize, Serialize};

use crate::State;

/// Labels of people that a ledger keeps.
const PEOPLES_MAX: usize = 10;
/// Characters of each: as many as GitHub allows.
const PEOPLES_LONG: usize = 50;

/// The names of Hob's labels. ASCII case is ignored, as on the forge; a look-alike letter makes another name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelNames {
    /// The label that hands an issue to Hob.
    pub trigger: String,
    /// What the names of the states' labels begin with.
    pub prefix: String,
    /// Claimed, not started.
    pub assigned: String,
    /// An agent works on it.
    pub in_progress: String,
    /// A pull request is open.
    pub in_review: String,
    /// A person is needed.
    pub blocked: String,
    /// Labels with this prefix choose an agent by name, for example `agent:fixer`.
    pub agent_prefix: String,
    /// The label that asks for a plan before the work; empty if there is none.
    pub plan: String,
    /// The label that asks for an investigation instead of the work; empty if there is none.
    pub investigate: String,
    /// Labels with this prefix name the branch that the work goes to, for example `base:release-2`.
    pub base_prefix: String,
    /// Labels that give an issue priority, the most urgent first.
    pub priority: Vec<String>,
}

/// One change of one label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabelChange {
    /// Adds it.
    Add(String),
    /// Removes it.
    Remove(String),
}

/// A label to create if the repository lacks it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelSpec {
    /// Its name.
    pub name: String,
    /// Six hexadecimal digits.
    pub color: &'static str,
    /// At most 100 characters.
    pub description: &'static str,
}

/// Whether `labels` contains `name`, ignoring ASCII case.
pub fn has_label(labels: &[String], name: &str) -> bool {
    labels.iter().any(|label| label.eq_ignore_ascii_case(name))
}

impl LabelNames {
    /// Puts the prefix before the names of the states' labels.
    pub fn apply_prefix(&mut self) {
        for name in [&mut self.assigned, &mut self.in_progress, &mut self.in_review, &mut self.blocked] {
            name.insert_str(0, &self.prefix);
        }
    }

    /// The label of a state, beside the trigger; Ready and Done have none.
    pub fn of(&self, state: State) -> Option<&str> {
        match state {
            State::Ready | State::Done => None,
            State::Assigned => Some(&self.assigned),
            State::InProgress => Some(&self.in_progress),
            State::InReview => Some(&self.in_review),
            State::Blocked => Some(&self.blocked),
        }
    }

    /// The states whose labels are set; more than one needs repair.
    pub fn states_on(&self, labels: &[String]) -> Vec<State> {
        let on = |state: &State| self.of(*state).is_some_and(|name| has_label(labels, name));
        State::ALL.into_iter().filter(on).collect()
    }

    /// The single changes that make `labels` match `state`: additions first, so that an issue always shows a state.
    /// Other people's labels stay.
    pub fn changes(&self, labels: &[String], state: State) -> Vec<LabelChange> {
        let wanted = self.of(state);
        let add = wanted.filter(|name| !has_label(labels, name)).map(|name| LabelChange::Add(name.to_owned()));
        let stale = self.states_on(labels).into_iter().filter(|on| *on != state).filter_map(|on| self.of(on));
        add.into_iter().chain(stale.map(|name| LabelChange::Remove(name.to_owned()))).collect()
    }

    /// Counts the label of `state` as set: a write was under way, and its outcome is unknown.
    pub fn presume(&self, labels: &mut Vec<String>, state: State) {
        labels.extend(self.of(state).filter(|name| !has_label(labels, name)).map(str::to_owned));
    }

    /// The labels that are neither the trigger nor a state's: the first ten, each short.
    pub fn of_people(&self, labels: &[String]) -> Vec<String> {
        let own =
            |label: &str| label.eq_ignore_ascii_case(&self.trigger) || !self.states_on(&[label.to_owned()]).is_empty();
        let others = labels.iter().filter(|label| !own(label)).map(|label| title(label, PEOPLES_LONG));
        others.take(PEOPLES_MAX).collect()
    }

    /// The label that chooses an agent, and the agent's name.
    pub fn agent<'a>(&self, labels: &'a [String]) -> Option<(&'a str, &'a str)> {
        if self.agent_prefix.is_empty() {
            return None;
        }
        labels.iter().find_map(|label| Some((label.as_str(), label.strip_prefix(self.agent_prefix.as_str())?.trim())))
    }

    /// The label that asks for a plan before the work, if it is set.
    pub fn asks_for_plan(&self, labels: &[String]) -> Option<&str> {
        Some(self.plan.as_str()).filter(|name| !name.is_empty() && has_label(labels, name))
    }

    /// The label that asks for an investigation instead of the work, if it is set.
    pub fn asks_for_investigation(&self, labels: &[String]) -> Option<&str> {
        Some(self.investigate.as_str()).filter(|name| !name.is_empty() && has_label(labels, name))
    }

    /// The label that names the base branch, and the branch.
    pub fn base<'a>(&self, labels: &'a [String]) -> Option<(&'a str, &'a str)> {
        let branch = |label: &'a String| label.strip_prefix(self.base_prefix.as_str()).map(str::trim);
        let is_on = !self.base_prefix.is_empty();
        labels.iter().filter(|_| is_on).find_map(|label| Some((label.as_str(), branch(label)?)))
    }

    /// The position of an issue with these labels in the order: 0 is the most urgent.
    pub fn priority_rank(&self, labels: &[String]) -> usize {
        self.priority.iter().position(|name| has_label(labels, name)).unwrap_or(self.priority.len())
    }

    /// The labels that Hob needs, with colour and description.
    pub fn specs(&self) -> Vec<LabelSpec> {
        let spec = |name: &str, color, description| LabelSpec { name: name.to_owned(), color, description };
        vec![
            spec(&self.trigger, "5319e7", "Hob may work on this issue"),
            spec(&self.assigned, "c5def5", "Hob has claimed this issue"),
            spec(&self.in_progress, "fbca04", "Hob's agent works on this issue"),
            spec(&self.in_review, "0e8a16", "Hob has opened a pull request for this issue"),
            spec(&self.blocked, "d93f0b", "Hob needs a person: its comment says why and how to answer"),
        ]
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The default names.
    pub(crate) fn names() -> LabelNames {
        LabelNames {
            trigger: "code".to_owned(),
            prefix: String::new(),
            assigned: "assigned".to_owned(),
            in_progress: "in-progress".to_owned(),
            in_review: "in-review".to_owned(),
            blocked: "blocked".to_owned(),
            agent_prefix: "agent:".to_owned(),
            plan: "plan".to_owned(),
            investigate: "investigate".to_owned(),
            base_prefix: "base:".to_owned(),
            priority: vec!["urgent".to_owned()],
        }
    }

    fn labels(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_state_is_reached_by_single_changes_that_spare_other_labels() {
        let changes = names().changes(&labels(&["bug", "code", "Assigned"]), State::InProgress);
        assert_eq!(changes, [LabelChange::Add("in-progress".to_owned()), LabelChange::Remove("assigned".to_owned())]);
        assert_eq!(names().changes(&labels(&["code", "in-review"]), State::InReview), []);
        assert_eq!(
            names().changes(&labels(&["code", "blocked", "in-review"]), State::Ready),
            [LabelChange::Remove("in-review".to_owned()), LabelChange::Remove("blocked".to_owned())]
        );
    }

    /// Attack corpus A8.
    #[test]
    fn a_look_alike_is_another_label() {
        assert!(!has_label(&labels(&["c\u{43e}de", "code "]), "code"));
        assert!(has_label(&labels(&["Code"]), "code"));
    }

    #[test]
    fn a_label_chooses_an_agent_and_an_order() {
        assert_eq!(names().agent(&labels(&["code", "agent:fixer"])), Some(("agent:fixer", "fixer")));
        assert_eq!(names().asks_for_plan(&labels(&["code", "Plan"])), Some("plan"));
        assert_eq!(LabelNames { plan: String::new(), ..names() }.asks_for_plan(&labels(&["code", ""])), None);
        assert_eq!(names().asks_for_investigation(&labels(&["Investigate"])), Some("investigate"));
        assert_eq!(names().asks_for_investigation(&labels(&["investigated"])), None);
        assert_eq!(names().priority_rank(&labels(&["urgent"])), 0);
        assert_eq!(names().priority_rank(&labels(&["code"])), 1);
    }

    #[test]
    fn every_label_fits_the_forge() {
        for spec in names().specs() {
            assert!(spec.name.len() <= 50 && spec.description.len() <= 100 && spec.color.len() == 6);
        }
    }
}
