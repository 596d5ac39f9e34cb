//! What came of the work on one issue, by the newest record of its ledger.
//!
//! # Caveats
//! Records of earlier versions do not say whether a pull request was merged. There it counts as merged if the work ended with one, and
//! neither a rejection nor a person ended it.

use serde::{Deserialize, Serialize};

use crate::{BlockCode, IssueNumber, PullNumber, Quote, Record, Spend, State, Timestamp, Word};

/// What came of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutcomeKind {
    /// Its pull request was merged.
    Merged,
    /// Its pull request was closed without a merge, or the work ended before it was merged.
    Rejected,
    /// Its pull request is open.
    Waiting,
    /// It has no pull request, and a person is needed.
    Blocked,
    /// It has no pull request yet.
    UnderWay,
    /// It ended without a pull request, such as with a report.
    Ended,
}

/// The outcome of one issue.
#[derive(Debug, Clone, PartialEq)]
pub struct IssueOutcome {
    /// The issue.
    pub issue: IssueNumber,
    /// What came of it.
    pub kind: OutcomeKind,
    /// Since when.
    pub at: Timestamp,
    /// Its pull request.
    pub pull: Option<PullNumber>,
    /// From the opening of the pull request to its merge, in seconds. `None` if it was not merged, or the ledger does not say.
    pub merge_seconds: Option<u64>,
    /// The agent of the settings that worked last.
    pub agent: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// The profile that was chosen.
    pub profile: Option<String>,
    /// The issue's labels but for Hob's own, at the claim.
    pub labels: Vec<String>,
    /// What the proof of the pull request says.
    pub word: Option<Word>,
    /// Rounds in review.
    pub rounds: u32,
    /// Whether it was merged as it was opened: no question was answered, and there was no round in review.
    pub is_zero_touch: bool,
    /// What all of its runs cost.
    pub spend: Spend,
    /// What it was said to cost before.
    pub quote: Option<Quote>,
}

impl IssueOutcome {
    /// The outcome of this issue. `None` if no attempt at it has begun.
    pub fn of(record: &Record) -> Option<Self> {
        let pull = record.pull.number;
        if record.attempts.ever == 0 && record.spend == Spend::default() && pull.is_none() {
            return None;
        }
        let kind = kind(record);
        let said = record.work.proof.as_ref().map(|proof| &proof.statement().predicate);
        let said = said.filter(|said| Some(said.pull_request) == pull);
        let by = record.work.by.as_ref();
        let (opened, merged) = (record.pull.opened_at, record.pull.merged_at);
        let took = opened.zip(merged).map(|(opened, merged)| merged - opened);
        Some(Self {
            issue: record.issue,
            kind,
            at: match kind {
                OutcomeKind::Waiting => opened.unwrap_or(record.since.at),
                OutcomeKind::Merged => merged.unwrap_or(record.since.at),
                OutcomeKind::Rejected | OutcomeKind::Blocked | OutcomeKind::UnderWay | OutcomeKind::Ended => {
                    record.since.at
                }
            },
            pull,
            merge_seconds: took.and_then(|took| u64::try_from(took.num_seconds()).ok()),
            agent: by.map(|by| by.agent.clone()).or_else(|| said.map(|said| said.agent.clone())),
            model: said.and_then(|said| said.model.clone()).or_else(|| by.and_then(|by| by.model.clone())),
            profile: record.route.as_ref().and_then(|route| route.profile.as_ref()).map(ToString::to_string),
            labels: record.trigger.as_ref().map(|trigger| trigger.labels.clone()).unwrap_or_default(),
            word: said.map(|said| said.shown.word.clone()),
            rounds: record.review.begun,
            is_zero_touch: kind == OutcomeKind::Merged && record.review.begun == 0 && record.answer.is_none(),
            spend: record.spend,
            quote: record.work.quote,
        })
    }

    /// Whether the bill lies in the quote. `None` if there was no quote, or if the bill may still grow.
    pub fn is_within_quote(&self) -> Option<bool> {
        let is_final = match self.kind {
            OutcomeKind::Merged | OutcomeKind::Rejected | OutcomeKind::Ended => true,
            OutcomeKind::Waiting | OutcomeKind::Blocked | OutcomeKind::UnderWay => false,
        };
        Some(self.quote.filter(|_| is_final)?.holds(self.spend.usd_micros))
    }

    /// The ISO week in which it came to this, such as `2026-W48`.
    pub fn week(&self) -> String {
        self.at.format("%G-W%V").to_string()
    }
}

fn kind(record: &Record) -> OutcomeKind {
    let was_rejected = record.blocked.as_ref().is_some_and(|blocked| blocked.reason == BlockCode::Rejected);
    match (record.pull.number, record.state) {
        (Some(_), State::Done) if is_merged(record, was_rejected) => OutcomeKind::Merged,
        (Some(_), State::Done) => OutcomeKind::Rejected,
        (Some(_), State::Blocked) if was_rejected => OutcomeKind::Rejected,
        (Some(_), State::Ready | State::Assigned | State::InProgress | State::InReview | State::Blocked) => {
            OutcomeKind::Waiting
        }
        (None, State::Done) => OutcomeKind::Ended,
        (None, State::Blocked) => OutcomeKind::Blocked,
        (None, State::Ready | State::Assigned | State::InProgress | State::InReview) => OutcomeKind::UnderWay,
    }
}

/// Whether finished work was merged. A record that knows when its pull request was opened also knows whether it was merged.
fn is_merged(record: &Record, was_rejected: bool) -> bool {
    let was_ended = record.control.as_ref().is_some_and(|control| control.ended_by().is_some());
    record.pull.merged_at.is_some() || record.pull.opened_at.is_none() && !was_rejected && !was_ended
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{
        Answer, Attempts, BlockReason, Ending, Proof, PullLog, ReviewEvent, Sha, Since, StopDeed, Transition, Trigger,
        WorkedBy, apply, change::statement::tests::statement, issue::lease::tests::record_at,
    };

    fn at(hours: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + chrono::TimeDelta::hours(hours)
    }

    fn after(record: &Record, steps: impl IntoIterator<Item = (i64, Transition)>) -> Record {
        let step = |record: Record, (hours, step)| apply(&record, step, at(hours)).unwrap().0;
        steps.into_iter().fold(record.clone(), step)
    }

    fn publish(pull: u64) -> Transition {
        Transition::Publish { head: Sha("h".to_owned()), pull: PullNumber(pull), proof: None, due: Box::default() }
    }

    fn working() -> Record {
        Record { attempts: Attempts { now: 1, ever: 1 }, ..record_at(State::InProgress) }
    }

    fn of(record: &Record) -> IssueOutcome {
        IssueOutcome::of(record).unwrap()
    }

    #[test]
    fn an_open_pull_request_is_no_success_and_each_end_has_its_kind() {
        let (merged, closed) = (Transition::Finish(Ending::Merged), Transition::Finish(Ending::Closed));
        let stopped = Transition::Finish(Ending::Stopped { by: "ann".into(), deed: StopDeed::LabelOff("code".into()) });
        let (reject, reopened) = (Transition::Reject(PullNumber(9)), Transition::ReturnToReview(PullNumber(9)));
        let events = vec![ReviewEvent::Line(7)];
        let rework = Transition::Rework { events, head: Sha("h".to_owned()) };
        let question = Transition::Block(BlockReason::Question { question: "?".to_owned() });
        let retry = Transition::Retry { failure: "x".to_owned(), until: at(9) };
        for (name, steps, kind, hours) in [
            ("under way", vec![], OutcomeKind::UnderWay, 0),
            ("to be retried", vec![(1, retry)], OutcomeKind::UnderWay, 1),
            ("asks", vec![(1, question)], OutcomeKind::Blocked, 1),
            ("report", vec![(1, Transition::Finish(Ending::Concluded))], OutcomeKind::Ended, 1),
            ("open", vec![(1, publish(9))], OutcomeKind::Waiting, 1),
            ("a round", vec![(1, publish(9)), (3, rework)], OutcomeKind::Waiting, 1),
            ("merged", vec![(1, publish(9)), (4, merged.clone())], OutcomeKind::Merged, 4),
            ("rejected", vec![(1, publish(9)), (4, reject.clone())], OutcomeKind::Rejected, 4),
            (
                "closed after it",
                vec![(1, publish(9)), (4, reject.clone()), (5, closed.clone())],
                OutcomeKind::Rejected,
                5,
            ),
            ("closed while open", vec![(1, publish(9)), (4, closed)], OutcomeKind::Rejected, 4),
            ("stopped", vec![(1, publish(9)), (4, stopped)], OutcomeKind::Rejected, 4),
            (
                "reopened and merged",
                vec![(1, publish(9)), (4, reject), (5, reopened), (6, merged)],
                OutcomeKind::Merged,
                6,
            ),
        ] {
            let found = of(&after(&working(), steps));
            assert_eq!((found.kind, found.at), (kind, at(hours)), "{name}");
        }
        assert_eq!(IssueOutcome::of(&Record { attempts: Attempts::default(), ..record_at(State::Ready) }), None);
    }

    #[test]
    fn a_merge_takes_from_the_opening_of_the_last_pull_request() {
        let opened = after(&working(), [(1, publish(9))]);
        let merged = |pull| {
            let again = Record { state: State::InProgress, ..opened.clone() };
            of(&after(&again, [(2, publish(pull)), (5, Transition::Finish(Ending::Merged))])).merge_seconds
        };
        assert_eq!(merged(9), Some(4 * 3_600), "a push to it does not open it");
        assert_eq!(merged(10), Some(3 * 3_600));
    }

    /// The ledgers that are there when this version is installed.
    #[test]
    fn a_record_that_does_not_know_of_merges_is_read_by_how_it_ended() {
        let old = Record { pull: PullLog::of(PullNumber(9)), ..record_at(State::InReview) };
        let (merged, closed) = (Transition::Finish(Ending::Merged), Transition::Finish(Ending::Closed));
        let forget = |record: Record| Record { pull: PullLog::of(PullNumber(9)), ..record };
        let stopped = Transition::Finish(Ending::Terminated("ann".into()));
        let reject = Transition::Reject(PullNumber(9));
        for (steps, kind) in [
            (vec![(4, merged)], OutcomeKind::Merged),
            (vec![(4, stopped)], OutcomeKind::Rejected),
            (vec![(4, reject), (5, closed)], OutcomeKind::Rejected),
        ] {
            let found = of(&forget(after(&old, steps.clone())));
            assert_eq!((found.kind, found.merge_seconds), (kind, None), "{steps:?}");
        }
    }

    #[test]
    fn an_outcome_says_who_worked_what_was_shown_and_who_helped() {
        let trigger = Trigger {
            event: crate::EventId(1),
            actor: "ann".into(),
            approved: String::new(),
            at: None,
            labels: vec!["bug".to_owned()],
        };
        let proof = Proof::unsigned(statement()).unwrap();
        let said = proof.statement().predicate.clone();
        let mut record = Record { trigger: Some(trigger), ..working() };
        record.work.by = Some(WorkedBy { agent: "claude".to_owned(), model: Some("small".to_owned()) });
        let unpublished = of(&record);
        assert_eq!((unpublished.agent.as_deref(), unpublished.model.as_deref()), (Some("claude"), Some("small")));
        assert_eq!((unpublished.labels.join(" "), unpublished.word), ("bug".to_owned(), None));
        let publish = Transition::Publish {
            head: Sha("h".to_owned()),
            pull: said.pull_request,
            proof: Some(Box::new(proof)),
            due: Box::default(),
        };
        let merged = after(&record, [(1, publish), (2, Transition::Finish(Ending::Merged))]);
        let found = of(&merged);
        assert_eq!((found.agent.as_deref(), found.word), (Some("claude"), Some(said.shown.word)));
        assert!(found.is_zero_touch);
        let answer = Answer { actor: "ann".into(), text: "x".into(), question: None, comment: None, event: None };
        assert!(!of(&Record { answer: Some(answer), ..merged.clone() }).is_zero_touch);
        let mut reworked = merged;
        reworked.review.begun = 1;
        assert!(!of(&reworked).is_zero_touch && of(&reworked).rounds == 1);
    }

    #[test]
    fn a_week_begins_on_monday_and_belongs_to_the_year_of_its_thursday() {
        let since = |text: &str| Since { at: text.parse().unwrap(), ..record_at(State::Ready).since };
        let week = |text: &str| of(&Record { since: since(text), ..working() }).week();
        assert_eq!(week("2026-11-29T23:59:59Z"), "2026-W48");
        assert_eq!(week("2026-11-30T00:00:00Z"), "2026-W49");
        assert_eq!(week("2027-01-01T00:00:00Z"), "2026-W53");
    }
}
