//! Property tests over both versions of the record: what is written is read, and nothing is lost on the way.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::{
    AutoChoice, BaseChoice, ChosenBy, Claimant, CommentId, Finding, FindingSeverity, Generation, Introduced,
    IssueNumber, Lesson, Lessons, Nonce, Note, NotifyEvent, Outage, ProofStatus, PullNumber, Quote, RECORD_VERSION,
    Record, RouteChoice, Sha, Since, Spend, State, Timestamp, WorkerId, acquire, apply,
    checklist::tests::checklist,
    issue::{
        as_version_1::as_version_1, blocked::tests::every_reason, lease::tests::record_at, transition::tests::table,
    },
    released,
};

fn at(seconds: usize) -> Timestamp {
    Timestamp::UNIX_EPOCH + std::time::Duration::from_secs(seconds.try_into().unwrap())
}

fn notes() -> Vec<Note> {
    let spend = Spend { usd_micros: 7, input_tokens: 5, output_tokens: 3, wall_seconds: 1 };
    vec![
        Note::StatusComment(CommentId(3)),
        Note::Spend(spend),
        Note::Proven(Sha("p".to_owned())),
        Note::Failure("f".to_owned()),
        Note::Pushed,
        Note::Looked(4),
        Note::Outage(Outage { service: "s".to_owned(), since: at(1), failures: 2 }),
        Note::Told(Some(CommentId(6))),
        Note::Told(None),
        Note::Closed(CommentId(6)),
        Note::Asks(CommentId(8)),
        Note::Checklist(checklist()),
        Note::Found(vec![Finding {
            severity: FindingSeverity::High,
            file: "a".to_owned(),
            line: None,
            reason: "r".to_owned(),
        }]),
        Note::Notified(NotifyEvent::Blocked),
        Note::Notified(NotifyEvent::InReview),
        Note::Notified(NotifyEvent::Done),
        Note::Notified(NotifyEvent::BudgetWarning),
        Note::Base(BaseChoice::of_settings("main")),
        Note::OpenedDraft(PullNumber(9)),
        Note::MarkedReady(PullNumber(9)),
        Note::ProofStatus(ProofStatus::working(Sha("p".to_owned()))),
        Note::ProofStatus(ProofStatus::pushed_after(Sha("q".to_owned()))),
        Note::ProofAnswered,
        Note::Introduced(Introduced { pull: PullNumber(9), refused: vec!["no".to_owned()] }),
        Note::Routed(RouteChoice::of_agent(ChosenBy::Label)),
        Note::AgentChosen(AutoChoice { agent: "a".to_owned(), why: "w".to_owned() }),
        Note::Quoted(Quote { low: 1, high: 2, of: 5 }),
        Note::Reported(CommentId(5)),
        Note::Learned(Lessons::default().and(Lesson::flaky("make test").unwrap())),
    ]
}

/// A step of a life: a transition, a note, an acquisition or a release.
fn step(record: &Record, step: usize, n: usize) -> Record {
    let (table, mut next) = (table(), record.clone());
    let nonce = Nonce(n.to_string());
    match step.checked_sub(table.len()) {
        None => apply(record, table[step].0.clone(), at(n)).map_or(next, |(next, _)| next),
        Some(0) => released(record, nonce, at(n)),
        Some(1) => {
            let (duration, skew) = (std::time::Duration::from_secs(60), std::time::Duration::ZERO);
            let claimant = Claimant { worker: WorkerId::from("w2"), nonce, duration, skew, bill: None };
            acquire(Some(record), IssueNumber(1), &claimant, at(n)).unwrap_or(next)
        }
        Some(note) => {
            next.note(notes().swap_remove((note - 2) % notes().len()));
            next
        }
    }
}

/// The states and steps of a life.
fn lives() -> impl Strategy<Value = (usize, Vec<usize>)> {
    let steps = table().len() + 2 + notes().len();
    (0..State::ALL.len(), prop::collection::vec(0..steps, 0..60))
}

/// Fields that only a later Hob knows.
fn later() -> Map<String, Value> {
    Map::from_iter([("later".to_owned(), json!({ "a": [1, null, 0.5] })), ("zeta".to_owned(), json!(7))])
}

fn message(record: Map<String, Value>) -> String {
    format!("a sentence\n\n{}\n", Value::Object(record))
}

fn fields(record: &Record) -> Map<String, Value> {
    serde_json::to_value(record).unwrap().as_object().unwrap().clone()
}

fn read(message: &str) -> Record {
    Record::from_message(message).unwrap().1
}

/// What version 1 keeps of a record.
fn of_version_1(record: &Record) -> Record {
    let mut kept = record.clone();
    if NotifyEvent::for_state(record.state).is_none() {
        kept.since = Since { generation: record.generation, ..record.since };
    }
    if let Some(trigger) = kept.trigger.as_mut() {
        trigger.at = trigger.at.or(Some(record.since.at));
    }
    (kept.failure.stopped, kept.comments.asked, kept.work.with_people) = (None, None, None);
    kept.work.findings.clear();
    (kept.work.by, kept.work.auto, kept.work.quote) = (None, None, None);
    (kept.pull.opened_at, kept.pull.merged_at) = (None, None);
    (kept.pull.proof, kept.pull.proving, kept.pull.prove) = (None, None, None);
    kept.told.sort_by_key(|event| *event == NotifyEvent::BudgetWarning);
    kept
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_record_is_read_as_it_was_written_in_either_version((first, steps) in lives()) {
        let mut record = Record { extra: later(), ..record_at(State::ALL[first]) };
        for (n, one) in steps.into_iter().enumerate() {
            record = step(&record, one, 40 * n);
            prop_assert_eq!(&record.extra, &later(), "what a later Hob wrote survives each step");
        }
        prop_assert_eq!(&read(&record.to_message("x").unwrap()), &record);

        let upgraded = read(&message(as_version_1(fields(&record))));
        prop_assert_eq!(&upgraded, &of_version_1(&record));
        let written = fields(&upgraded);
        prop_assert_eq!(written.get("version"), Some(&json!(RECORD_VERSION)));
        prop_assert_eq!(&read(&message(written)), &upgraded);
    }
}

#[test]
fn every_reason_of_version_1_is_found_again() {
    for reason in every_reason() {
        let record = Record { blocked: Some(reason.blocked(at(1))), ..record_at(State::Blocked) };
        assert_eq!(read(&message(as_version_1(fields(&record)))).blocked, record.blocked, "{reason:?}");
    }
}

/// Version 1 could say of one issue that it is paused and that it is to end.
#[test]
fn a_request_of_version_1_comes_before_its_pause() {
    let mut old = as_version_1(fields(&record_at(State::Ready)));
    old.insert("paused".to_owned(), json!({ "by": "ann", "since": at(1), "reason": "later" }));
    assert_eq!(read(&message(old.clone())).pause().map(|pause| pause.by), Some("ann".into()));
    old.insert("request".to_owned(), json!({ "control": "terminate", "by": "bob", "at": at(2), "reason": "" }));
    let record = read(&message(old));
    assert_eq!((record.request().map(|asked| asked.by), record.pause()), (Some("bob".into()), None));
}

/// Records from before there were notifications owe none, and commands count from the claim on.
#[test]
fn what_an_early_record_of_version_1_lacks_is_made_up_for() {
    let mut old = as_version_1(fields(&record_at(State::InReview)));
    for name in ["entered", "attempts_ever"] {
        old.remove(name);
    }
    old.insert("claimed_at".to_owned(), json!(at(77)));
    old.insert("trigger".to_owned(), json!({ "event": 1, "actor": "ann", "approved": "x" }));
    let record = read(&message(old));
    assert_eq!((record.told.as_slice(), record.commands_since()), (&[NotifyEvent::InReview][..], at(77)));
    assert_eq!(record.since, Since { at: at(77), generation: Generation(1) });
}

#[test]
fn a_record_of_version_1_that_is_damaged_is_an_error() {
    for (name, value) in [("duration_seconds", json!("x")), ("holder", json!(1)), ("claimed_at", Value::Null)] {
        let mut old = as_version_1(fields(&record_at(State::Ready)));
        old.insert(name.to_owned(), value);
        assert!(Record::from_message(&message(old)).is_err(), "{name}");
    }
}
