//! Which notifications are due.

use crate::{Budget, NotifyEvent, Record, State};

/// What the settings say about notifications.
#[derive(Debug, Clone, Copy)]
pub struct NotifyRules<'a> {
    /// The configured events.
    pub events: &'a [NotifyEvent],
    /// What an issue may cost.
    pub budget: Budget,
    /// The share of the budget at which people are warned.
    pub soft: f64,
}

/// The events of a record that are due for a notification.
pub fn to_notify(record: &Record, rules: &NotifyRules<'_>) -> Vec<NotifyEvent> {
    let used = rules.budget.used(record.spend);
    let warns = used > 0.0 && used >= rules.soft && record.state != State::Done;
    let due = warns.then_some(NotifyEvent::BudgetWarning).into_iter().chain(NotifyEvent::for_state(record.state));
    due.filter(|event| rules.events.contains(event) && !record.told.contains(event)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Spend, issue::lease::tests::record_at};

    fn all(record: &Record) -> Vec<NotifyEvent> {
        use NotifyEvent::{Blocked, BudgetWarning, Done, InReview};
        let budget = Budget { usd_micros: Some(100), ..Budget::default() };
        to_notify(record, &NotifyRules { events: &[Blocked, InReview, Done, BudgetWarning], budget, soft: 0.8 })
    }

    #[test]
    fn a_state_is_notified_once_and_only_those_that_people_wait_for() {
        use NotifyEvent::{Blocked, Done, InReview};
        for state in State::ALL {
            let fresh = record_at(state);
            let due = match state {
                State::Blocked => vec![Blocked],
                State::InReview => vec![InReview],
                State::Done => vec![Done],
                State::Ready | State::Assigned | State::InProgress => vec![],
            };
            assert_eq!(all(&fresh), due, "{state}");
            let mut told = fresh;
            due.into_iter().for_each(|event| told.note(crate::Note::Notified(event)));
            assert_eq!(all(&told), [], "{state}");
        }
    }

    #[test]
    fn a_budget_is_warned_of_once_in_a_life() {
        let spent =
            |usd_micros| Record { spend: Spend { usd_micros, ..Spend::default() }, ..record_at(State::InProgress) };
        assert_eq!((all(&spent(79)), all(&spent(80))), (vec![], vec![NotifyEvent::BudgetWarning]));
        let mut warned = spent(80);
        warned.note(crate::Note::Notified(NotifyEvent::BudgetWarning));
        assert_eq!(all(&warned), []);
        let rules = NotifyRules { events: &[], budget: Budget::default(), soft: 0.0 };
        assert_eq!(to_notify(&spent(80), &rules), []);
    }
}
