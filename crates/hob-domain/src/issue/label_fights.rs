//! Labels that others change back each time Hob repairs them: how often Hob repairs, when it gives up, and what it says
//! then.

use chrono::TimeDelta;
use hob_text::markup::code_span;
use serde::{Deserialize, Serialize};

use crate::{LabelChange, Timestamp};

/// Repairs of one label, within [`WINDOW`], after which Hob gives up.
const REPAIRS_MAX: u32 = 3;

/// How long repairs are counted together, and how long Hob leaves a label alone after giving up.
const WINDOW: TimeDelta = TimeDelta::days(1);

/// Labels that the ledger remembers; the one repaired first is dropped first. Hob has four state labels.
const FIGHTS_MAX: usize = 8;

/// What others do with a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OthersDo {
    /// They remove it.
    TakeOff,
    /// They add it.
    PutOn,
}

/// One label that was repaired in the current state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelFight {
    /// Its name.
    pub label: String,
    /// What others do with it.
    pub others: OthersDo,
    /// How often it was repaired.
    pub repairs: u32,
    /// When the count began.
    pub since: Timestamp,
    /// When Hob gave up and said so. `None` if it has not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_up: Option<Timestamp>,
}

impl LabelFight {
    fn is_of(&self, change: &LabelChange) -> bool {
        let (label, others) = told(change);
        self.label.eq_ignore_ascii_case(label) && self.others == others
    }

    fn is_over(&self, now: Timestamp) -> bool {
        self.given_up.unwrap_or(self.since) + WINDOW <= now
    }
}

/// What others did, given the change that Hob has to make.
fn told(change: &LabelChange) -> (&str, OthersDo) {
    match change {
        LabelChange::Add(label) => (label, OthersDo::TakeOff),
        LabelChange::Remove(label) => (label, OthersDo::PutOn),
    }
}

/// The labels that were repaired in an issue's current state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LabelFights(Vec<LabelFight>);

impl LabelFights {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn find(&self, change: &LabelChange, now: Timestamp) -> Option<&LabelFight> {
        self.0.iter().find(|fight| fight.is_of(change) && !fight.is_over(now))
    }

    /// Whether Hob has made this change as often as it does, and others undid it each time.
    pub(crate) fn is_lost(&self, change: &LabelChange, now: Timestamp) -> bool {
        self.find(change, now).is_some_and(|fight| fight.repairs >= REPAIRS_MAX)
    }

    /// Whether Hob has given this change up and said so.
    pub fn is_given_up(&self, change: &LabelChange, now: Timestamp) -> bool {
        self.find(change, now).is_some_and(|fight| fight.given_up.is_some())
    }

    /// Counts the repair that makes these changes.
    pub(crate) fn repaired(&mut self, changes: &[LabelChange], now: Timestamp) {
        self.0.retain(|fight| !fight.is_over(now));
        for change in changes {
            match self.0.iter_mut().find(|fight| fight.is_of(change)) {
                Some(fight) => fight.repairs = fight.repairs.saturating_add(1),
                None => {
                    let (label, others) = told(change);
                    let label = label.to_owned();
                    self.0.push(LabelFight { label, others, repairs: 1, since: now, given_up: None });
                }
            }
        }
        let over = self.0.len().saturating_sub(FIGHTS_MAX);
        drop(self.0.drain(..over));
    }

    /// Gives these changes up.
    pub(crate) fn give_up(&mut self, changes: &[LabelChange], now: Timestamp) {
        for fight in &mut self.0 {
            if changes.iter().any(|change| fight.is_of(change)) {
                fight.given_up = Some(now);
            }
        }
    }

    /// The state changed, or a person answered: labels are repaired as before.
    pub(crate) fn begin_anew(&mut self) {
        self.0.clear();
    }

    /// The sentences for people about the labels that Hob gave up.
    pub fn sentences(&self) -> Vec<String> {
        let given_up = self.0.iter().filter(|fight| fight.given_up.is_some());
        let told = given_up.map(|LabelFight { label, others, .. }| {
            let label = code_span(label);
            match others {
                OthersDo::TakeOff => format!(
                    "Another program or person removes the label {label} each time Hob adds it, so Hob no longer adds it. This comment \
                     shows the issue's state."
                ),
                OthersDo::PutOn => format!(
                    "Another program or person adds the label {label} each time Hob removes it, so Hob no longer removes it. This \
                     comment shows the issue's state."
                ),
            }
        });
        told.collect()
    }
}

/// The labels of these changes, in a list.
pub(crate) fn names_of(changes: &[LabelChange]) -> String {
    changes.iter().map(|change| told(change).0).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).unwrap()
    }

    const HOUR: i64 = 3_600;

    /// A label that was given up.
    pub(crate) fn given_up(change: &LabelChange, now: Timestamp) -> LabelFights {
        let mut fights = LabelFights::default();
        for _ in 0..REPAIRS_MAX {
            fights.repaired(std::slice::from_ref(change), now);
        }
        fights.give_up(std::slice::from_ref(change), now);
        fights
    }

    #[test]
    fn three_repairs_within_a_day_are_the_last() {
        let (add, remove) = (LabelChange::Add("in-review".to_owned()), LabelChange::Remove("assigned".to_owned()));
        let mut fights = LabelFights::default();
        for (hour, is_lost) in [(0, false), (1, false), (2, true)] {
            fights.repaired(std::slice::from_ref(&add), at(hour * HOUR));
            assert_eq!(fights.is_lost(&add, at(hour * HOUR)), is_lost, "{hour}");
        }
        assert!(
            fights.is_lost(&LabelChange::Add("In-Review".to_owned()), at(23 * HOUR)),
            "the forge ignores case, too"
        );
        assert!(!fights.is_lost(&LabelChange::Remove("in-review".to_owned()), at(23 * HOUR)), "the other way round");
        assert!(!fights.is_lost(&remove, at(23 * HOUR)) && !fights.is_lost(&add, at(24 * HOUR)));
        assert!(!fights.is_given_up(&add, at(3 * HOUR)), "it is not said yet");
        fights.give_up(std::slice::from_ref(&add), at(3 * HOUR));
        assert!(fights.is_given_up(&add, at(27 * HOUR - 1)) && fights.is_lost(&add, at(27 * HOUR - 1)));
        assert!(!fights.is_given_up(&add, at(27 * HOUR)), "a day later it is repaired again");
        fights.repaired(std::slice::from_ref(&add), at(27 * HOUR));
        assert!(!fights.is_lost(&add, at(27 * HOUR)) && fights.sentences().is_empty(), "{fights:?}");
    }

    #[test]
    fn repairs_that_are_days_apart_are_no_fight() {
        let add = [LabelChange::Add("in-review".to_owned())];
        let mut fights = LabelFights::default();
        for day in 0..9 {
            fights.repaired(&add, at(day * 24 * HOUR));
            assert!(!fights.is_lost(&add[0], at(day * 24 * HOUR)));
        }
    }

    #[test]
    fn what_is_said_names_the_label_and_what_others_do_with_it() {
        let now = at(0);
        let mut fights = given_up(&LabelChange::Add("in-review".to_owned()), now);
        let remove = [LabelChange::Remove("assigned".to_owned())];
        fights.repaired(&remove, now);
        fights.give_up(&remove, now);
        let said = fights.sentences();
        assert!(said[0].starts_with("Another program or person removes the label `in-review` each time"), "{said:?}");
        assert!(said[1].starts_with("Another program or person adds the label `assigned` each time"), "{said:?}");
        let many: Vec<LabelChange> = (0..20).map(|n| LabelChange::Add(n.to_string())).collect();
        fights.repaired(&many, now);
        assert_eq!(fights.0.len(), FIGHTS_MAX);
    }
}
