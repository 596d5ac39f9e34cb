//! What one step of an issue's ledger adds to the figures that operators watch.
//!
//! # Guarantees
//! The worker that writes a step counts it, and each step is written once. So the sums over all workers count each event once.

use std::time::Duration;

use crate::{IssueOutcome, OutcomeKind, Record, Spend, State, Timestamp, WorkedBy};

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptFate {
    /// Its work is in the pull request.
    Published,
    /// It ended without a pull request, such as with a report.
    Concluded,
    /// A person is needed.
    Blocked,
    /// It failed, and is tried again later.
    Retried,
    /// It was put back, paused, withdrawn or ended.
    Stopped,
    /// Its lease expired, and another worker took it over.
    Lost,
}

impl AttemptFate {
    /// Every end.
    pub const ALL: [Self; 6] =
        [Self::Published, Self::Concluded, Self::Blocked, Self::Retried, Self::Stopped, Self::Lost];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Concluded => "concluded",
            Self::Blocked => "blocked",
            Self::Retried => "retried",
            Self::Stopped => "stopped",
            Self::Lost => "lost",
        }
    }
}

/// What one step adds.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct StepFigures {
    /// From the label to the first claim.
    pub claim_wait: Option<Duration>,
    /// From the label to the pull request.
    pub pull_wait: Option<Duration>,
    /// From the opening of the pull request to its merge.
    pub merge_time: Option<Duration>,
    /// The end of an attempt.
    pub attempt: Option<AttemptFate>,
    /// Rounds that began for people's reviews and comments.
    pub review_rounds: u32,
    /// Rounds that began for failed checks.
    pub ci_rounds: u32,
    /// Rounds that began for a base that moved.
    pub base_rounds: u32,
    /// Whether a pull request was merged.
    pub is_merged: bool,
    /// Whether one was closed without a merge, or given up.
    pub is_rejected: bool,
    /// Whether a lease was taken over that its holder had not released.
    pub lost_lease: bool,
    /// What was spent.
    pub spend: Spend,
    /// Who spent it, as far as the ledger says.
    pub by: Option<WorkedBy>,
}

impl StepFigures {
    /// The figures of the step from one record, `None` for the first, to the next.
    pub fn of(before: Option<&Record>, after: &Record) -> Self {
        let nothing = crate::ReviewLog::default();
        let rounds = before.map_or(&nothing, |before| &before.review);
        let labelled = after.trigger.as_ref().and_then(|trigger| trigger.at);
        let is_claimed = after.state == State::Assigned
            && after.trigger.as_ref().map(|trigger| trigger.event)
                != before.and_then(|before| before.trigger.as_ref()).map(|trigger| trigger.event);
        let opened =
            after.pull.opened_at.filter(|_| before.and_then(|before| before.pull.opened_at) != after.pull.opened_at);
        let came_to = |kind| outcome(Some(after)) == Some(kind) && outcome(before) != Some(kind);
        let is_merged = came_to(OutcomeKind::Merged);
        let merge = after.pull.merged_at.zip(after.pull.opened_at).filter(|_| is_merged);
        let lost_lease = before.is_some_and(|before| before.lease.is_some() && before.generation != after.generation);
        Self {
            claim_wait: labelled.filter(|_| is_claimed).map(|labelled| between(labelled, after.since.at)),
            pull_wait: labelled.zip(opened).map(|(labelled, opened)| between(labelled, opened)),
            merge_time: merge.map(|(merged, opened)| between(opened, merged)),
            attempt: before.and_then(|before| fate(before, after, lost_lease)),
            review_rounds: after.review.rounds.saturating_sub(rounds.rounds),
            ci_rounds: after.review.ci_rounds.saturating_sub(rounds.ci_rounds),
            base_rounds: after.review.base_rounds.saturating_sub(rounds.base_rounds),
            is_merged,
            is_rejected: came_to(OutcomeKind::Rejected),
            lost_lease,
            spend: after.spend.since(before.map(|before| before.spend).unwrap_or_default()),
            by: after.work.by.clone(),
        }
    }
}

/// The time between two; none if the clock was set back.
fn between(from: Timestamp, to: Timestamp) -> Duration {
    (to - from).to_std().unwrap_or_default()
}

fn outcome(record: Option<&Record>) -> Option<OutcomeKind> {
    Some(IssueOutcome::of(record?)?.kind)
}

/// How the attempt that was under way ended with this step. `None` if it goes on.
fn fate(before: &Record, after: &Record, lost_lease: bool) -> Option<AttemptFate> {
    if before.has_ended() {
        return None;
    }
    if lost_lease {
        return Some(AttemptFate::Lost);
    }
    match after.state {
        State::Assigned | State::InProgress => None,
        State::InReview => Some(AttemptFate::Published),
        State::Blocked => Some(AttemptFate::Blocked),
        State::Done if after.control.as_ref().is_some_and(|control| control.ended_by().is_some()) => {
            Some(AttemptFate::Stopped)
        }
        State::Done => Some(AttemptFate::Concluded),
        State::Ready if after.failure.until.is_some() && after.failure.until != before.failure.until => {
            Some(AttemptFate::Retried)
        }
        State::Ready => Some(AttemptFate::Stopped),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BlockReason, Ending, EventId, Generation, Login, Pause, PullNumber, Recovery, ReviewEvent, Sha, StopDeed,
        Transition, Trigger, apply, issue::lease::tests::record_at,
    };

    fn at(seconds: u64) -> Timestamp {
        Timestamp::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn trigger(event: u64, seconds: u64) -> Trigger {
        Trigger {
            event: EventId(event),
            actor: "ann".into(),
            approved: String::new(),
            at: Some(at(seconds)),
            labels: Vec::new(),
        }
    }

    fn publish() -> Transition {
        Transition::Publish { head: Sha("h".to_owned()), pull: PullNumber(9), proof: None, due: Box::default() }
    }

    /// The record after this transition, and the figures of the step.
    fn step(record: &Record, transition: Transition, seconds: u64) -> (Record, StepFigures) {
        let next = apply(record, transition, at(seconds)).unwrap().0;
        let figures = StepFigures::of(Some(record), &next);
        (next, figures)
    }

    #[test]
    fn an_issues_way_to_its_merge_is_timed_from_the_label_on() {
        let ready = record_at(State::Ready);
        let (claimed, figures) = step(&ready, Transition::Claim { trigger: trigger(1, 10) }, 70);
        assert_eq!((figures.claim_wait, figures.attempt), (Some(Duration::from_secs(60)), None));
        let (retried, figures) = step(&claimed, Transition::Retry { failure: "x".to_owned(), until: at(400) }, 80);
        assert_eq!((figures.claim_wait, figures.attempt), (None, Some(AttemptFate::Retried)));
        let (again, figures) = step(&retried, Transition::Claim { trigger: trigger(1, 10) }, 400);
        assert_eq!(figures, StepFigures::default(), "the same label is claimed once");
        let working = Record { state: State::InProgress, ..again };
        let (published, figures) = step(&working, publish(), 610);
        assert_eq!(figures.pull_wait, Some(Duration::from_secs(600)));
        assert_eq!((figures.attempt, figures.is_merged), (Some(AttemptFate::Published), false));
        let (merged, figures) = step(&published, Transition::Finish(Ending::Merged), 1_000);
        assert_eq!((figures.merge_time, figures.is_merged), (Some(Duration::from_secs(390)), true));
        assert_eq!((figures.pull_wait, figures.attempt), (None, None));
        let same = StepFigures::of(Some(&merged), &Record { nonce: "n".into(), ..merged.clone() });
        assert!(!same.is_merged && same.merge_time.is_none(), "{same:?}");
    }

    #[test]
    fn each_end_of_an_attempt_has_its_word() {
        let working = record_at(State::InProgress);
        let stopped = Ending::Stopped { by: "ann".into(), deed: StopDeed::LabelOff("code".into()) };
        let pause = Pause { by: Login::from("ann"), since: at(1), reason: String::new() };
        for (transition, fate) in [
            (publish(), AttemptFate::Published),
            (Transition::Finish(Ending::Concluded), AttemptFate::Concluded),
            (Transition::Block(BlockReason::WorkerDied), AttemptFate::Blocked),
            (Transition::Retry { failure: "x".to_owned(), until: at(9) }, AttemptFate::Retried),
            (Transition::Postpone { failure: "x".to_owned(), until: at(9) }, AttemptFate::Retried),
            (Transition::Requeue { reason: "x".to_owned() }, AttemptFate::Stopped),
            (Transition::Pause(pause), AttemptFate::Stopped),
            (Transition::Finish(stopped), AttemptFate::Stopped),
        ] {
            assert_eq!(step(&working, transition, 5).1.attempt, Some(fate), "{}", fate.word());
        }
        let taken = Record { generation: Generation(2), ..working.clone() };
        let take_over = Transition::TakeOver { recovery: Recovery::Resume, from: None };
        let (next, _) = apply(&taken, take_over, at(5)).unwrap();
        let figures = StepFigures::of(Some(&working), &next);
        assert_eq!((figures.attempt, figures.lost_lease), (Some(AttemptFate::Lost), true));
        let released = Record { lease: None, state: State::Ready, ..working.clone() };
        assert!(!StepFigures::of(Some(&released), &Record { generation: Generation(2), ..working }).lost_lease);
    }

    #[test]
    fn a_rejection_counts_once_and_rounds_by_their_cause() {
        let (open, _) = step(&record_at(State::InProgress), publish(), 1);
        let (rejected, figures) = step(&open, Transition::Reject(PullNumber(9)), 2);
        assert_eq!((figures.is_rejected, figures.is_merged, figures.attempt), (true, false, None));
        let (_, figures) = step(&rejected, Transition::Finish(Ending::Closed), 3);
        assert!(!figures.is_rejected);
        let rework = |events| Transition::Rework { events, head: Sha("h".to_owned()) };
        let check = ReviewEvent::Check { head: Sha("h".to_owned()), name: "ci".to_owned() };
        let conflict = ReviewEvent::Conflict { head: Sha("h".to_owned()), base: Sha("b".to_owned()) };
        for (event, rounds) in [(ReviewEvent::Line(7), [1, 0, 0]), (check, [0, 1, 0]), (conflict, [0, 0, 1])] {
            let figures = step(&open, rework(vec![event]), 4).1;
            assert_eq!([figures.review_rounds, figures.ci_rounds, figures.base_rounds], rounds);
        }
    }

    #[test]
    fn what_was_spent_is_told_with_who_spent_it() {
        let by = WorkedBy { agent: "claude".to_owned(), model: Some("small".to_owned()) };
        let mut working = record_at(State::InProgress);
        working.work.by = Some(by.clone());
        working.spend = Spend { usd_micros: 5, ..Spend::default() };
        let later = Record { spend: Spend { usd_micros: 12, input_tokens: 3, ..Spend::default() }, ..working.clone() };
        let figures = StepFigures::of(Some(&working), &later);
        let spent = Spend { usd_micros: 7, input_tokens: 3, ..Spend::default() };
        assert_eq!((figures.spend, figures.by), (spent, Some(by)));
        assert_eq!(StepFigures::of(None, &working).spend.usd_micros, 5);
    }
}
