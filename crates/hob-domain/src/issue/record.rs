//! The ledger's record: one transition of one issue, as the JSON body of one commit.
//!
//! The commit's subject is a sentence for people, its body one line of JSON for Hob, its parent the transition before.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Approval, AskedComment, Attempts, BlockCode, Blocked, CommandLog, CommentId, Control, Controlled, EventId, Failure,
    Generation, HandOffLog, IssueNumber, LabelFights, Lease, Login, Nonce, NotifyEvent, OwnComments, Pause, Proposed,
    PullLog, Request, ReviewLog, RouteChoice, RunId, Sha, Since, Spend, State, Taught, Timestamp, UnreadableRecord,
    UnwritableRecord, Work,
    issue::{
        record_message::{Fields, Message, from_message, to_message},
        record_v1::upgraded,
    },
};

/// Actions that the ledger remembers as approved; the oldest is dropped first.
pub(crate) const APPROVED_MAX: usize = 32;

/// The version of the record that this Hob writes, and the newest that it reads. It rises only when an older Hob would do
/// harm with the new record; a new field alone does not raise it.
pub const RECORD_VERSION: u32 = 2;

/// What set the work off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// The `labeled` event.
    pub event: EventId,
    /// Who added the label.
    pub actor: Login,
    /// SHA-256 of the title and the body at the time of the claim.
    pub approved: String,
    /// When the label was added: commands count from then on. `None` in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The issue's other labels at the time of the first claim, which outcomes are grouped by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
}

/// Why the latest trigger was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The `labeled` event that was refused. `None` if the forge shows no such event.
    pub event: Option<EventId>,
    /// Who added the label, if known.
    pub actor: Option<Login>,
    /// Why, one sentence.
    pub reason: String,
    /// When.
    pub at: Timestamp,
}

/// What a person said to unblock an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Who.
    pub actor: Login,
    /// Their words; empty if they only removed the label.
    pub text: String,
    /// What they were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The comment that contains the answer; older comments no longer count as answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<CommentId>,
    /// The event of the label's removal; older removals no longer unblock the issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<EventId>,
}

impl Answer {
    /// This answer in place of an earlier one, so that what answered then does not answer again.
    #[must_use]
    pub fn after(self, earlier: Option<&Self>) -> Self {
        let comment = self.comment.or(earlier.and_then(|answer| answer.comment));
        let event = self.event.or(earlier.and_then(|answer| answer.event));
        Self { comment, event, ..self }
    }
}

/// One issue's state, as its ledger records it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The record's version.
    pub version: u32,
    /// The issue.
    pub issue: IssueNumber,
    /// Drawn for each commit, so that no two writers make the same object.
    pub nonce: Nonce,
    /// Grows by one with each acquisition: the fencing token.
    pub generation: Generation,
    /// Who holds the lease. `None` if it is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
    /// When a holder last wrote the record, by the forge's clock.
    pub renewed_at: Timestamp,
    /// The issue's state.
    pub state: State,
    /// Since when it is in that state.
    pub since: Since,
    /// Attempts so far.
    #[serde(default)]
    pub attempts: Attempts,
    /// What happened on the pull request, and which of it is handled.
    #[serde(default, skip_serializing_if = "ReviewLog::is_empty")]
    pub review: ReviewLog,
    /// What went wrong last.
    #[serde(default, skip_serializing_if = "Failure::is_empty")]
    pub failure: Failure,
    /// Why a person is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<Blocked>,
    /// What waits for a person's yes, and what got one.
    #[serde(default, skip_serializing_if = "Approval::is_empty")]
    pub approval: Approval,
    /// What a person last said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// The labels that were repaired in the current state.
    #[serde(default, skip_serializing_if = "LabelFights::is_empty")]
    pub label_fights: LabelFights,
    /// Why the trigger was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refusal>,
    /// The work.
    #[serde(default, skip_serializing_if = "Work::is_empty")]
    pub work: Work,
    /// What a person asked of the issue from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<Controlled>,
    /// What people asked for in commands.
    #[serde(default, skip_serializing_if = "CommandLog::is_empty")]
    pub commands: CommandLog,
    /// The pull request.
    #[serde(default, skip_serializing_if = "PullLog::is_empty")]
    pub pull: PullLog,
    /// Hob's own comments.
    #[serde(default, skip_serializing_if = "OwnComments::is_empty")]
    pub comments: OwnComments,
    /// The last run, whose transcript can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<RunId>,
    /// What set the work off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Trigger>,
    /// What all runs cost together.
    #[serde(default)]
    pub spend: Spend,
    /// The notifications that were sent, or given up: those of the current state, and those of the issue's whole life.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<NotifyEvent>,
    /// Which profile works on the issue, and why. `None` if nothing was chosen yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<RouteChoice>,
    /// The hand-offs between profiles.
    #[serde(default, skip_serializing_if = "HandOffLog::is_empty")]
    pub chain: HandOffLog,
    /// What its published work taught.
    #[serde(default, skip_serializing_if = "Taught::is_empty")]
    pub taught: Taught,
    /// The fields that this Hob does not know. They are written back as they were read.
    #[serde(flatten)]
    pub extra: Fields,
}

impl Record {
    /// Whether the issue was investigated and then handed off to another profile.
    pub fn is_handed_on(&self) -> bool {
        self.chain.is_after_report()
    }

    /// Whether the record already says how the attempt ended.
    pub fn has_ended(&self) -> bool {
        match self.state {
            State::Ready | State::InReview | State::Blocked | State::Done => true,
            State::Assigned | State::InProgress => false,
        }
    }

    /// Whether nothing works on the issue, and nothing goes on by itself.
    pub fn shows_its_end(&self) -> bool {
        self.has_ended() && (self.state != State::Ready || self.pause().is_some())
    }

    /// The action that waits for approval, if there is one.
    pub fn waiting_action(&self) -> Option<&Proposed> {
        let asks = self.blocked.as_ref().is_some_and(|blocked| blocked.reason == BlockCode::ApprovalNeeded);
        self.approval.waits.as_ref().filter(|_| asks && self.state == State::Blocked)
    }

    /// The question whose comment still reads as if it were open, though it is not.
    pub fn closed_question(&self) -> Option<AskedComment> {
        let is_open = self.state == State::Blocked && self.blocked.as_ref().is_some_and(|blocked| blocked.told);
        self.comments.asked.filter(|_| !is_open)
    }

    /// Approves the action that waits: this exact action needs no other approval on this issue.
    pub fn approve(&mut self) {
        let Some(proposed) = self.approval.waits.take() else { return };
        let mark = proposed.mark();
        self.approval.given.retain(|known| *known != mark);
        self.approval.given.push(mark);
        let over = self.approval.given.len().saturating_sub(APPROVED_MAX);
        drop(self.approval.given.drain(..over));
    }

    /// The commit that passed its checks and that people were never shown. `None` if what passed last was published.
    pub fn unpublished(&self) -> Option<&Sha> {
        let head = self.work.head.as_ref()?;
        let published = self.work.proof.as_ref().map(|proof| proof.head());
        let is_new_in_round =
            self.review.is_under_way() && self.work.accepted.as_ref() != Some(head) && published != Some(head);
        (self.pull.number.is_none() || is_new_in_round).then_some(head)
    }

    /// The agent or profile whose work is in the pull request. `None` if there is none, or its ledger was lost.
    pub fn worked(&self) -> Option<&str> {
        let said = &self.work.proof.as_ref()?.statement().predicate;
        (self.pull.number == Some(said.pull_request)).then_some(said.agent.as_str())
    }

    /// The time from which commands in comments count.
    pub fn commands_since(&self) -> Timestamp {
        self.trigger.as_ref().and_then(|trigger| trigger.at).unwrap_or(self.since.at)
    }

    /// The request to the holder of the lease, or to the next one. It stays in the ledger until it is carried out.
    pub fn request(&self) -> Option<Request> {
        self.control.as_ref()?.request()
    }

    /// The pause; the issue is left alone until it is resumed.
    pub fn pause(&self) -> Option<Pause> {
        self.control.as_ref()?.pause()
    }

    /// Whether a person asked for a pause that has not been carried out.
    pub fn asks_for_a_pause(&self) -> bool {
        self.request().is_some_and(|request| request.control == Control::Pause)
    }

    /// The commit message: the sentence, an empty line, the record.
    ///
    /// # Errors
    /// [`UnwritableRecord`] if the record has no JSON form; nothing may be written then.
    pub fn to_message(&self, sentence: &str) -> Result<String, UnwritableRecord> {
        to_message(sentence, self)
    }

    /// Reads the record and the sentence back from a commit message.
    ///
    /// # Errors
    /// [`UnreadableRecord`] if the body is not a record, or has a newer version.
    pub fn from_message(message: &str) -> Result<(String, Self), UnreadableRecord> {
        let Message { sentence, version, fields } = from_message(message, RECORD_VERSION)?;
        let mut fields = if version < RECORD_VERSION { upgraded(fields)? } else { fields };
        fields.insert("version".to_owned(), RECORD_VERSION.into());
        Ok((sentence, serde_json::from_value(Value::Object(fields))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AutoChoice, BaseChoice, BlockReason, Branch, CheckTally, DayShare, Finding, FindingSeverity, Impact,
        LabelChange, Lesson, Lessons, Outage, Pause, PersonsWork, PlanLog, Proof, Proposed, PullNumber, Quote,
        RepositoryRecord, Stopped, WithPeople, WorkedBy,
        change::statement::tests::statement,
        checklist::tests::checklist,
        issue::{label_fights::tests::given_up, lease::tests::record_at},
        plans::work_plan::tests::plan,
    };

    /// Every commit message of the ledgers of one rehearsal, as version 0.1.0 of 2026-11-22 wrote them.
    const WRITTEN_BEFORE: &str = include_str!("ledger-v1.jsonl");

    #[derive(Deserialize)]
    struct Commit {
        #[serde(rename = "ref")]
        name: String,
        message: String,
    }

    #[test]
    fn what_version_1_wrote_is_read_and_is_the_same_once_it_is_written_again() {
        let commits: Vec<Commit> = WRITTEN_BEFORE.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(commits.len(), 29);
        for Commit { name, message } in commits {
            if name == "repository" {
                // The shares of a day are shorter than they were.
                let record = RepositoryRecord::from_message(&message).unwrap();
                let again = RepositoryRecord::from_message(&record.to_message("x").unwrap()).unwrap();
                let shares = |record: &RepositoryRecord| {
                    let facts =
                        |share: &DayShare| (share.issue, share.before, share.now, share.attempts, share.reserved);
                    record.day.iter().map(facts).collect::<Vec<_>>()
                };
                assert_eq!(
                    (shares(&again), &again.claims, &again.paused),
                    (shares(&record), &record.claims, &record.paused)
                );
            } else {
                let (sentence, record) = Record::from_message(&message).unwrap();
                let again = record.to_message(&sentence).unwrap();
                assert_eq!(Record::from_message(&again).unwrap(), (sentence, record), "{name}");
            }
        }
    }

    /// Anyone who may push refs can write these, and each poll reads them.
    #[test]
    fn sums_with_what_a_ledger_says_do_not_overflow() {
        let message = record_at(State::Ready).to_message("s").unwrap();
        let lease =
            r#""lease":{"worker":"w","nonce":"n","until":"+262142-12-31T23:59:59Z"},"generation":18446744073709551615"#;
        let mut fields: Value = serde_json::from_str(message.split_once("\n\n").unwrap().1).unwrap();
        let forged: Value = serde_json::from_str(&format!("{{{lease}}}")).unwrap();
        fields.as_object_mut().unwrap().extend(forged.as_object().unwrap().clone());
        let (_, record) = Record::from_message(&format!("s\n\n{fields}\n")).unwrap();
        let day = std::time::Duration::from_secs(86_400);
        assert!(crate::held_by(&record, Timestamp::UNIX_EPOCH, day).is_some());
        let long = WRITTEN_BEFORE.replace(r#"\"duration_seconds\":"#, r#"\"duration_seconds\":300000000"#);
        let commits = long.lines().map(|line| serde_json::from_str::<Commit>(line).unwrap());
        let issues = commits.filter(|commit| commit.name != "repository").collect::<Vec<_>>();
        assert!(!issues.is_empty());
        for Commit { name, message } in issues {
            assert!(Record::from_message(&message).is_err(), "{name}");
        }
    }

    /// A renamed field could not be read from existing ledgers.
    #[test]
    fn every_field_keeps_its_name() {
        let at = Timestamp::UNIX_EPOCH;
        let ann = || Login::from("ann");
        let text = || "x".to_owned();
        let proposed = Proposed { tool: text(), line: text(), text: text(), impact: Impact::High };
        let pause = Pause { by: ann(), since: at, reason: text() };
        let record = Record {
            told: vec![NotifyEvent::Blocked, NotifyEvent::BudgetWarning],
            failure: Failure {
                text: Some(text()),
                until: Some(at),
                mark: Some(text()),
                outage: Some(Outage { service: "anthropic/x".to_owned(), since: at, failures: 2 }),
                stopped: Some(Stopped { reason: BlockCode::WorkerDied, text: text(), last: Vec::new() }),
            },
            blocked: Some(BlockReason::WorkerDied.blocked(at)),
            approval: Approval {
                given: vec![proposed.mark()],
                waits: Some(proposed),
                plan: PlanLog { under_way: true, proposed: Some(plan()), approved: Some(text()) },
            },
            answer: Some(Answer {
                actor: ann(),
                text: text(),
                question: Some(text()),
                comment: Some(CommentId(2)),
                event: Some(EventId(3)),
            }),
            refused: Some(Refusal { event: Some(EventId(4)), actor: Some(ann()), reason: text(), at }),
            label_fights: given_up(&LabelChange::Add(text()), at),
            work: Work {
                base: Some(BaseChoice::of_settings("x")),
                branch: Some(Branch { name: text(), pushed: true }),
                head: Some(Sha(text())),
                accepted: Some(Sha(text())),
                checks: Some(CheckTally { passed: 1, run: 2 }),
                proof: Some(Box::new(Proof::unsigned(statement()).unwrap())),
                checklist: Some(checklist()),
                with_people: Some(WithPeople::Waits(vec![PersonsWork::Branch(text())])),
                by: Some(WorkedBy { agent: text(), model: Some(text()) }),
                auto: Some(AutoChoice { agent: text(), why: text() }),
                quote: Some(Quote { low: 1, high: 2, of: 5 }),
                findings: vec![Finding {
                    severity: FindingSeverity::High,
                    file: text(),
                    line: Some(1),
                    reason: text(),
                }],
            },
            control: Some(pause.into()),
            pull: PullLog { opened_at: Some(at), merged_at: Some(at), ..PullLog::of(PullNumber(5)) },
            comments: OwnComments {
                status: Some(CommentId(6)),
                report: Some(CommentId(8)),
                asked: Some(AskedComment { id: CommentId(9), answered: true }),
            },
            session: Some(RunId(text())),
            trigger: Some(Trigger {
                event: EventId(7),
                actor: ann(),
                approved: text(),
                at: None,
                labels: vec![text()],
            }),
            taught: Taught { facts: Lessons::default().and(Lesson::flaky("x").unwrap()), ..Taught::default() },
            ..record_at(State::Blocked)
        };
        let message = record.to_message("a sentence").unwrap();
        assert_eq!(Record::from_message(&message).unwrap(), ("a sentence".to_owned(), record));
        insta::assert_snapshot!(message, @r#"
        a sentence

        {"version":2,"issue":1,"nonce":"1","generation":1,"lease":{"worker":"w","nonce":"1","until":"1970-01-01T00:01:00Z"},"renewed_at":"1970-01-01T00:00:00Z","state":"blocked","since":{"at":"1970-01-01T00:00:00Z","generation":0},"attempts":{"now":1,"ever":1},"failure":{"text":"x","until":"1970-01-01T00:00:00Z","mark":"x","outage":{"service":"anthropic/x","since":"1970-01-01T00:00:00Z","failures":2},"stopped":{"reason":"worker-died","text":"x"}},"blocked":{"kind":"failed","reason":"worker-died","text":"The worker that held this issue died.","question":"Should Hob continue?","since":"1970-01-01T00:00:00Z"},"approval":{"waits":{"tool":"x","line":"x","text":"x","impact":"high"},"given":["abbcf79ff90cb9cacbd711362f928da8e71e36667c392ded90aac64449284141"],"plan":{"under_way":true,"proposed":{"summary":"Accept empty files.","steps":["Return an empty document","Add a test"],"files":["src/parse.rs","tests/"],"questions":["Is a file of blanks empty, too?"]},"approved":"x"}},"answer":{"actor":"ann","text":"x","question":"x","comment":2,"event":3},"label_fights":[{"label":"x","others":"take-off","repairs":3,"since":"1970-01-01T00:00:00Z","given_up":"1970-01-01T00:00:00Z"}],"refused":{"event":4,"actor":"ann","reason":"x","at":"1970-01-01T00:00:00Z"},"work":{"base":{"branch":"x","by":"settings"},"branch":{"name":"x","pushed":true},"by":{"agent":"x","model":"x"},"auto":{"agent":"x","why":"x"},"quote":{"low":1,"high":2,"of":5},"head":"x","accepted":"x","checks":{"passed":1,"run":2},"proof":{"payloadType":"application/vnd.in-toto+json","payload":"eyJfdHlwZSI6Imh0dHBzOi8vaW4tdG90by5pby9TdGF0ZW1lbnQvdjEiLCJwcmVkaWNhdGUiOnsiYWdlbnQiOiJuYXRpdmUiLCJhdCI6IjE5NzAtMDEtMDFUMDA6MDA6MDBaIiwiYmFzZSI6ImNjIiwiY2hlY2tzIjp7InBhc3NlZCI6MiwicnVuIjoyfSwiY29zdCI6eyJpbnB1dFRva2VucyI6OTAwLCJvdXRwdXRUb2tlbnMiOjEwMCwidXNkTWljcm9zIjoxMjAwMDAsIndhbGxTZWNvbmRzIjo2MX0sImhvYiI6IjAuMS4wIiwiaXNzdWUiOjcsInB1bGxSZXF1ZXN0Ijo5LCJyZXBvc2l0b3J5IjoiYW5uL3NpdGUiLCJyZXF1ZXN0Ijp7ImF1dGhvcml6ZWRCeSI6ImFubiIsImlzc3VlVGV4dCI6eyJzaGEyNTYiOiI5ODJkOWUzZWI5OTZmNTU5ZTYzM2Y0ZDE5NGRlZjM3NjFkOTA5ZjVhM2I2NDdkMWE4NTFmZWFkNjdjMzJjOWQxIn19LCJydW5zIjp7ImJhc2UiOnsiY2hlY2tzIjpbeyJjb2RlIjoxLCJjb21tYW5kIjoibWFrZSB0ZXN0IiwiZXhpdCI6ImZhaWxlZCIsIm91dHB1dCI6eyJzaGEyNTYiOiJjZTZhZjk4OWExM2VjODZiYTJiMzNkMzhjZGQ5MDcwZjFiZTkwZGVlMTczN2U2MzJkMjg5MDBhMDRlMTUzZjFiIn0sInJ1biI6ImVhcmxpZXIiLCJzZWNvbmRzIjoyLCJ0ZXN0cyI6eyJicm9rZW4iOjAsImZhaWxlZCI6MSwicGFzc2VkIjoxLCJzaGEyNTYiOiI1MzM2OTNmZTQxZDYyNjY1N2Y3NTYzNGIwNzhiZDhlYWYzY2I5NmJlZmFlYWY0ZmQ1NTRiYWVjNjc4ZDIxZWY2Iiwic2tpcHBlZCI6MH19XSwiZmFpbGVkVGVzdHMiOlsidDo6YSJdLCJyZXN1bHQiOiJGQUlMRUQiLCJ0cmVlIjoiZGQifSwiaGVhZCI6eyJjaGVja3MiOlt7ImNvbW1hbmQiOiJtYWtlIHRlc3QiLCJleGl0IjoicGFzc2VkIiwib3V0cHV0Ijp7InNoYTI1NiI6ImNlNmFmOTg5YTEzZWM4NmJhMmIzM2QzOGNkZDkwNzBmMWJlOTBkZWUxNzM3ZTYzMmQyODkwMGEwNGUxNTNmMWIifSwicnVuIjoibm93Iiwic2Vjb25kcyI6MiwidGVzdHMiOnsiYnJva2VuIjowLCJmYWlsZWQiOjAsInBhc3NlZCI6MSwic2hhMjU2IjoiOGYxZTAxMTc5NjBhNTdhYjkzNjVkOGQ1YTNiMDc3Zjg1ODk2N2RlMGZkZGFlNmYxNGViNTc2NDE1ZmFkZGQyNyIsInNraXBwZWQiOjF9fSx7ImNvbW1hbmQiOiJhXFx1ezdmfVwiXFxcblxcdXsyMDJlfcOpIiwiZXhpdCI6InBhc3NlZCIsIm91dHB1dCI6eyJzaGEyNTYiOiJjZTZhZjk4OWExM2VjODZiYTJiMzNkMzhjZGQ5MDcwZjFiZTkwZGVlMTczN2U2MzJkMjg5MDBhMDRlMTUzZjFiIn0sInJ1biI6Im5vdyIsInNlY29uZHMiOjIsInRlc3RzIjp7ImJyb2tlbiI6MCwiZmFpbGVkIjowLCJwYXNzZWQiOjEsInNoYTI1NiI6IjhmMWUwMTE3OTYwYTU3YWI5MzY1ZDhkNWEzYjA3N2Y4NTg5NjdkZTBmZGRhZTZmMTRlYjU3NjQxNWZhZGRkMjciLCJza2lwcGVkIjoxfX1dLCJmYWlsZWRUZXN0cyI6W10sInJlc3VsdCI6IlBBU1NFRCIsInRyZWUiOiJiYiJ9LCJrZXB0Ijp7Im5vdE1hZGUiOiJub190aW1lIiwidHJlZSI6ImVlIn0sIm5lZWRlZCI6eyJzYW1lQXMiOiJiYXNlIiwidHJlZSI6ImRkIn19LCJzYW5kYm94IjoiZmVuY2UiLCJzZXNzaW9uIjoicyIsInNob3duIjp7ImJyb2tlbiI6eyJhbGwiOjAsImZpcnN0IjpbXX0sImJ5IjoidGVzdHMiLCJqdWRnZXMiOnsiYWxsIjowLCJmaXJzdCI6W119LCJuZWVkZWQiOnsiYWxsIjoxLCJmaXJzdCI6WyJhIl19LCJuZXciOnsiYWxsIjowLCJmaXJzdCI6W119LCJyZW1vdmVkIjp7ImFsbCI6MCwiZmlyc3QiOltdfSwic2tpcHBlZCI6eyJhbGwiOjAsImZpcnN0IjpbXX0sIndoeSI6eyJub3RNYWRlIjoibm9fdGltZSJ9LCJ3b3JkIjoia2VwdF9ub3Rfc2hvd24ifX0sInByZWRpY2F0ZVR5cGUiOiJodHRwczovL2dpdGh1Yi5jb20vaG9iLXdvcmtlci9ob2IvYmxvYi9tYWluL2RvY3MvcHJvb2YubWQjcHJlZGljYXRlLXYxIiwic3ViamVjdCI6W3siZGlnZXN0Ijp7ImdpdENvbW1pdCI6ImFhIn0sIm5hbWUiOiJjb21taXQifSx7ImRpZ2VzdCI6eyJnaXRUcmVlIjoiYmIifSwibmFtZSI6InRyZWUifV19Cg==","signatures":[]},"checklist":[{"step":"Look at the parser","state":"done"},{"step":"Add a test","state":"doing"},{"step":"Mend it","state":"todo"}],"with_people":{"waits":[{"branch":"x"}]},"findings":[{"severity":"high","file":"x","line":1,"reason":"x"}]},"control":{"what":"pause","by":"ann","at":"1970-01-01T00:00:00Z","reason":"x","obeyed":true},"pull":{"number":5,"opened_at":"1970-01-01T00:00:00Z","merged_at":"1970-01-01T00:00:00Z"},"comments":{"status":6,"report":8,"asked":{"id":9,"answered":true}},"session":"x","trigger":{"event":7,"actor":"ann","approved":"x","labels":["x"]},"spend":{"usd_micros":0,"input_tokens":0,"output_tokens":0,"wall_seconds":0},"told":["blocked","budget-warning"],"taught":{"facts":[{"kind":"flaky","command":"x"}]}}
        "#);
    }
}
