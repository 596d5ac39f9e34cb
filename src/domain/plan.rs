//! The decision function: from what the forge says to what Hob does about each issue, and why not where it does nothing.

use std::time::Duration;

use crate::domain::{
    Held, IssueStatus, IssueView, LabelChange, LabelNames, PullNumber, PullStatus, Record, Recovery, Snapshot, State,
    Timestamp, has_label, held_by,
};

/// The settings that decisions depend on.
#[derive(Debug, Clone)]
pub struct PlanRules {
    /// Label names.
    pub labels: LabelNames,
    /// What to do with a dead worker's issue.
    pub recovery: Recovery,
    /// Clock margin beyond an expiry.
    pub skew: Duration,
    /// Issues that may be claimed within an hour, over all workers.
    pub issues_per_hour: usize,
}

/// Why a piece of work is at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Its pull request was merged.
    Merged,
    /// The issue was closed.
    Closed,
    /// The trigger label was taken off.
    Cancelled,
}

/// What to do about an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Check who asked for it, claim it, work on it.
    Claim,
    /// Take over from a worker that died.
    Recover(Recovery),
    /// Look whether a person answered, and go on if so.
    SeekAnswer,
    /// Its pull request was closed without a merge: ask what is next.
    AskAboutRejection(PullNumber),
    /// Close the ledger and clear the labels.
    Finish(Ending),
    /// Make the labels say what the ledger says.
    RepairLabels(Vec<LabelChange>),
    /// Its worker died after the last transition and before it let go: show what the ledger says.
    ShowState,
}

/// Why nothing is done about an issue now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitReason {
    /// Another worker has it.
    Held(Held),
    /// It is to be tried again later.
    RetryAfter {
        /// Not before.
        until: Timestamp,
        /// Why the last attempt failed.
        failure: String,
    },
    /// The trigger was refused, and nothing has changed since.
    Refused(String),
    /// A person put the blocked label on.
    BlockedByHand(String),
    /// A state label is on that Hob's ledger knows nothing of.
    LabelByHand(String),
    /// Its pull request waits for a review.
    InReview(PullNumber),
    /// As many issues as an hour may have were claimed.
    HourlyLimit {
        /// The limit.
        limit: usize,
        /// When the next may be claimed.
        until: Timestamp,
    },
    /// Finished, and not asked for again.
    Finished,
    /// It does not have the trigger label, or is closed.
    NotTriggered,
}

impl std::fmt::Display for WaitReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Held(held) => write!(f, "worker {} works on it, its lease lasts until {}", held.holder, held.until),
            Self::RetryAfter { until, failure } => {
                write!(f, "the last attempt failed ({failure}); the next starts after {until}")
            }
            Self::Refused(reason) => {
                write!(
                    f,
                    "its label was refused: {reason}. Somebody with the permission can take the label off and put it on again"
                )
            }
            Self::BlockedByHand(label) => {
                write!(f, "a person put the label `{label}` on it; take the label off to let Hob go on")
            }
            Self::LabelByHand(label) => {
                write!(
                    f,
                    "it has the label `{label}`, which Hob did not put on; take the label off to let Hob claim it"
                )
            }
            Self::InReview(pull) => write!(f, "its pull request #{pull} waits for a review"),
            Self::HourlyLimit { limit, until } => {
                write!(f, "{limit} issues were claimed within the hour, the limit; the next is claimed after {until}")
            }
            Self::Finished => f.write_str("its work is finished"),
            Self::NotTriggered => f.write_str("it is closed or does not have the trigger label"),
        }
    }
}

/// The decision about one issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Do this.
    Act(Action),
    /// Do nothing, for this reason.
    Wait(WaitReason),
}

/// One issue and what is decided about it.
#[derive(Debug, Clone)]
pub struct Planned<'a> {
    /// The issue.
    pub issue: &'a IssueView,
    /// The decision.
    pub decision: Decision,
}

/// Decides about every issue of the snapshot, in the order in which they are to be taken: by priority label, then by age.
pub fn plan<'a>(snapshot: &'a Snapshot, rules: &PlanRules, now: Timestamp) -> Vec<Planned<'a>> {
    let mut issues: Vec<&IssueView> = snapshot.issues.iter().collect();
    issues.sort_by_key(|issue| (rules.labels.priority_rank(&issue.labels), issue.created_at, issue.number));
    let hour = Duration::from_secs(3600);
    let mut claimed: Vec<Timestamp> = snapshot.claims.iter().copied().filter(|at| *at + hour > now).collect();
    claimed.sort();
    let mut room = rules.issues_per_hour.saturating_sub(claimed.len());
    let limit_ends = claimed.first().map_or(now, |first| *first + hour);
    let mut within_limit = |issue: &'a IssueView| {
        let mut decision = decide(issue, rules, now);
        if decision == Decision::Act(Action::Claim) {
            if room == 0 {
                decision = Decision::Wait(WaitReason::HourlyLimit { limit: rules.issues_per_hour, until: limit_ends });
            } else {
                room -= 1;
            }
        }
        Planned { issue, decision }
    };
    issues.into_iter().map(&mut within_limit).collect()
}

fn decide(issue: &IssueView, rules: &PlanRules, now: Timestamp) -> Decision {
    let triggered = issue.status == IssueStatus::Open && has_label(&issue.labels, &rules.labels.trigger);
    let Some(record) = issue.record.as_ref() else {
        return if triggered { unclaimed(issue, rules) } else { Decision::Wait(WaitReason::NotTriggered) };
    };
    if let Some(held) = held_by(record, now, rules.skew) {
        return Decision::Wait(WaitReason::Held(held));
    }
    if !triggered {
        return ended(issue, record);
    }
    let by_hand = record.state != State::Blocked && has_label(&issue.labels, &rules.labels.blocked);
    match record.state {
        State::Ready | State::InReview if by_hand => {
            Decision::Wait(WaitReason::BlockedByHand(rules.labels.blocked.clone()))
        }
        State::Ready => ready(issue, record, rules, now),
        State::Assigned | State::InProgress => Decision::Act(Action::Recover(rules.recovery)),
        State::InReview => in_review(issue, record, rules),
        State::Blocked => Decision::Act(Action::SeekAnswer),
        State::Done if left_behind(record) => Decision::Act(Action::ShowState),
        // The trigger label stands on an open issue: it was asked for anew after its end.
        State::Done => unclaimed(issue, rules),
    }
}

fn unclaimed(issue: &IssueView, rules: &PlanRules) -> Decision {
    match rules.labels.states_on(&issue.labels).first().and_then(|state| rules.labels.of(*state)) {
        None => Decision::Act(Action::Claim),
        Some(label) if label == rules.labels.blocked => Decision::Wait(WaitReason::BlockedByHand(label.to_owned())),
        Some(label) => Decision::Wait(WaitReason::LabelByHand(label.to_owned())),
    }
}

fn ended(issue: &IssueView, record: &Record) -> Decision {
    let ending = match (issue.pull, issue.status) {
        (Some((_, PullStatus::Merged)), _) => Ending::Merged,
        (_, IssueStatus::Closed) => Ending::Closed,
        (_, IssueStatus::Open) => Ending::Cancelled,
    };
    match record.state {
        State::Done if left_behind(record) => Decision::Act(Action::ShowState),
        State::Done => Decision::Wait(WaitReason::Finished),
        State::Ready | State::Assigned | State::InProgress | State::InReview | State::Blocked => {
            Decision::Act(Action::Finish(ending))
        }
    }
}

fn ready(issue: &IssueView, record: &Record, rules: &PlanRules, now: Timestamp) -> Decision {
    let waits = match (&record.refused, record.retry_after) {
        (Some(refusal), _) if issue.updated_at <= refusal.at => WaitReason::Refused(refusal.reason.clone()),
        (_, Some(until)) if until > now => {
            WaitReason::RetryAfter { until, failure: record.last_failure.clone().unwrap_or_default() }
        }
        _ => return Decision::Act(Action::Claim),
    };
    repaired(issue, record, rules).unwrap_or(Decision::Wait(waits))
}

fn in_review(issue: &IssueView, record: &Record, rules: &PlanRules) -> Decision {
    match (issue.pull, record.pull_request) {
        (Some((_, PullStatus::Merged)), _) => Decision::Act(Action::Finish(Ending::Merged)),
        (Some((number, PullStatus::Closed)), _) => Decision::Act(Action::AskAboutRejection(number)),
        (Some((number, PullStatus::Open)), _) | (None, Some(number)) => {
            repaired(issue, record, rules).unwrap_or(Decision::Wait(WaitReason::InReview(number)))
        }
        // The ledger says that a pull request is open and names none: start over rather than wait for ever.
        (None, None) => Decision::Act(Action::Recover(Recovery::Resume)),
    }
}

fn repaired(issue: &IssueView, record: &Record, rules: &PlanRules) -> Option<Decision> {
    let changes = rules.labels.changes(&issue.labels, record.state);
    if changes.is_empty() {
        return left_behind(record).then_some(Decision::Act(Action::ShowState));
    }
    Some(Decision::Act(Action::RepairLabels(changes)))
}

/// Whether the last holder of a lease that is over never let it go: what it had to show may not be shown.
fn left_behind(record: &Record) -> bool {
    record.holder.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        Blocked, Claimant, Holder, IssueNumber, Nonce, Refusal, WorkerId, acquire, labels::tests::names, released,
    };

    const NOW: i64 = 10_000;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).unwrap()
    }

    fn rules() -> PlanRules {
        PlanRules { labels: names(), recovery: Recovery::Resume, skew: Duration::from_secs(5), issues_per_hour: 10 }
    }

    /// A record in `state`, released long ago.
    fn record(state: State) -> Record {
        let claimant = Claimant {
            worker: WorkerId::from("w"),
            nonce: Nonce::from("n"),
            duration: Duration::from_secs(60),
            skew: Duration::from_secs(5),
        };
        let held = acquire(None, IssueNumber(1), &claimant, at(0)).unwrap();
        Record { state, ..released(&held, Nonce::from("m"), at(0)) }
    }

    fn view(labels: &[&str], record: Option<Record>) -> IssueView {
        IssueView {
            number: IssueNumber(1),
            title: "t".to_owned(),
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
            status: IssueStatus::Open,
            created_at: at(0),
            updated_at: at(100),
            record,
            pull: None,
        }
    }

    fn decided(view: IssueView) -> Decision {
        let snapshot = Snapshot { issues: vec![view], claims: Vec::new() };
        plan(&snapshot, &rules(), at(NOW)).remove(0).decision
    }

    #[test]
    fn every_state_leads_to_its_action() {
        let pull = PullNumber(9);
        let review = |status| IssueView {
            pull: Some((pull, status)),
            ..view(&["code", "in-review"], Some(Record { pull_request: Some(pull), ..record(State::InReview) }))
        };
        let act = Decision::Act;
        for (name, view, decision) in [
            ("new", view(&["code"], None), act(Action::Claim)),
            ("ready", view(&["code"], Some(record(State::Ready))), act(Action::Claim)),
            (
                "assigned",
                view(&["code", "assigned"], Some(record(State::Assigned))),
                act(Action::Recover(Recovery::Resume)),
            ),
            (
                "working",
                view(&["code", "in-progress"], Some(record(State::InProgress))),
                act(Action::Recover(Recovery::Resume)),
            ),
            ("blocked", view(&["code", "blocked"], Some(record(State::Blocked))), act(Action::SeekAnswer)),
            ("review", review(PullStatus::Open), Decision::Wait(WaitReason::InReview(pull))),
            ("merged", review(PullStatus::Merged), act(Action::Finish(Ending::Merged))),
            ("rejected", review(PullStatus::Closed), act(Action::AskAboutRejection(pull))),
            ("done, asked anew", view(&["code"], Some(record(State::Done))), act(Action::Claim)),
            ("label gone", view(&[], Some(record(State::InReview))), act(Action::Finish(Ending::Cancelled))),
            ("no label, no ledger", view(&["bug"], None), Decision::Wait(WaitReason::NotTriggered)),
            ("done and gone", view(&[], Some(record(State::Done))), Decision::Wait(WaitReason::Finished)),
        ] {
            assert_eq!(decided(view), decision, "{name}");
        }
    }

    #[test]
    fn every_state_of_a_closed_issue_is_finished() {
        for state in State::ALL {
            let closed = IssueView { status: IssueStatus::Closed, ..view(&["code"], Some(record(state))) };
            let expected = match state {
                State::Done => Decision::Wait(WaitReason::Finished),
                State::Ready | State::Assigned | State::InProgress | State::InReview | State::Blocked => {
                    Decision::Act(Action::Finish(Ending::Closed))
                }
            };
            assert_eq!(decided(closed), expected, "{state}");
        }
    }

    #[test]
    fn a_live_lease_keeps_every_action_away() {
        for state in State::ALL {
            let mut held = record(state);
            held.holder = Some(crate::domain::Holder { worker: "w".into(), nonce: "n".into() });
            held.renewed_at = at(NOW - 30);
            let decision = decided(view(&["code"], Some(held)));
            assert!(matches!(decision, Decision::Wait(WaitReason::Held(_))), "{state}: {decision:?}");
        }
    }

    #[test]
    fn a_persons_label_wins_over_the_ledger() {
        let by_hand = Decision::Wait(WaitReason::BlockedByHand("blocked".to_owned()));
        assert_eq!(decided(view(&["code", "blocked"], None)), by_hand);
        assert_eq!(decided(view(&["code", "blocked"], Some(record(State::Ready)))), by_hand);
        let stray = Decision::Wait(WaitReason::LabelByHand("in-review".to_owned()));
        assert_eq!(decided(view(&["code", "in-review"], None)), stray);
    }

    #[test]
    fn a_wait_ends_by_time_or_by_news() {
        let waiting = |until| Record { retry_after: Some(at(until)), ..record(State::Ready) };
        assert!(matches!(
            decided(view(&["code"], Some(waiting(NOW + 1)))),
            Decision::Wait(WaitReason::RetryAfter { .. })
        ));
        assert_eq!(decided(view(&["code"], Some(waiting(NOW)))), Decision::Act(Action::Claim));
        let refused = |since| {
            let refusal = Refusal { event: None, actor: None, reason: "no".to_owned(), at: at(since) };
            Record { refused: Some(refusal), ..record(State::Ready) }
        };
        assert!(matches!(decided(view(&["code"], Some(refused(100)))), Decision::Wait(WaitReason::Refused(_))));
        assert_eq!(decided(view(&["code"], Some(refused(99)))), Decision::Act(Action::Claim));
    }

    #[test]
    fn what_a_dead_worker_had_not_shown_is_shown() {
        let left = |state| {
            let holder = Holder { worker: WorkerId::from("dead"), nonce: Nonce::from("n") };
            Record { holder: Some(holder), pull_request: Some(PullNumber(9)), ..record(state) }
        };
        let show = Decision::Act(Action::ShowState);
        assert_eq!(decided(view(&["code", "in-review"], Some(left(State::InReview)))), show);
        assert_eq!(decided(view(&["code", "in-review"], Some(left(State::Done)))), show);
        assert_eq!(decided(view(&["in-review"], Some(left(State::Done)))), show);
        let waiting = Record { retry_after: Some(at(NOW + 1)), ..left(State::Ready) };
        assert_eq!(decided(view(&["code"], Some(waiting))), show);
        let live = Record { renewed_at: at(NOW), ..left(State::Done) };
        assert!(matches!(decided(view(&["code"], Some(live))), Decision::Wait(WaitReason::Held(_))));
    }

    #[test]
    fn a_stale_label_of_a_waiting_issue_is_repaired() {
        let waiting = Record { retry_after: Some(at(NOW + 1)), ..record(State::Ready) };
        let repair = Action::RepairLabels(vec![LabelChange::Remove("assigned".to_owned())]);
        assert_eq!(decided(view(&["code", "assigned"], Some(waiting))), Decision::Act(repair));
    }

    #[test]
    fn priority_then_age_orders_and_the_hour_has_a_limit() {
        let issue = |number, labels: &[&str], created| IssueView {
            number: IssueNumber(number),
            created_at: at(created),
            ..view(labels, None)
        };
        let snapshot = Snapshot {
            issues: vec![issue(1, &["code"], 50), issue(2, &["code"], 10), issue(3, &["code", "urgent"], 90)],
            claims: vec![at(NOW - 600), at(NOW - 3600)],
        };
        let rules = PlanRules { issues_per_hour: 3, ..rules() };
        let planned = plan(&snapshot, &rules, at(NOW));
        let claimed: Vec<_> = planned
            .iter()
            .filter(|planned| matches!(planned.decision, Decision::Act(Action::Claim | Action::Recover(_))))
            .map(|planned| planned.issue.number)
            .collect();
        assert_eq!(claimed, [IssueNumber(3), IssueNumber(2)]);
        let limit = Decision::Wait(WaitReason::HourlyLimit { limit: 3, until: at(NOW - 600 + 3600) });
        assert_eq!(planned.iter().find(|planned| planned.issue.number == IssueNumber(1)).unwrap().decision, limit);
    }

    #[test]
    fn a_blocked_record_without_a_label_still_looks_for_an_answer() {
        let blocked = Blocked {
            kind: crate::domain::BlockKind::Question,
            text: String::new(),
            question: String::new(),
            since: at(1),
        };
        let record = Record { blocked: Some(blocked), ..record(State::Blocked) };
        assert_eq!(decided(view(&["code"], Some(record))), Decision::Act(Action::SeekAnswer));
    }
}
