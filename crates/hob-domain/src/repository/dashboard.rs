//! The dashboard's boxes: which acts a person can request for an issue by ticking one, and what a ticked box means.
//!
//! # Guarantees
//! Each box names what it was drawn for: a retry the question, a cancel the trigger, an approval the action. Once that
//! is answered, ended or replaced, the box has no effect, so an act is carried out once even if the box is read again.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{BlockCode, IssueNumber, Record, Spend, State, Timestamp, money::day_share::DayWire};

/// The beginning of the dashboard's body.
pub const DASHBOARD_MARK: &str = "<!-- hob:dashboard -->";
/// The title of the only issue that Hob opens by itself.
pub const DASHBOARD_TITLE: &str = "Hob's dashboard";

/// Time between two edits of the dashboard.
pub const DRAW_INTERVAL: Duration = Duration::from_secs(60);

/// The mark behind a box.
const BOX: &str = "<!-- hob:do ";
/// Ticked boxes that are read at a time; the rest waits for the next time.
const TICKS_MAX: usize = 50;

/// The dashboard as it was last drawn; kept in the repository's own ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drawn {
    /// When a worker took the turn to draw it, by the forge's clock.
    pub at: Timestamp,
    /// SHA-256 of the body.
    pub digest: String,
    /// The dashboard's issue, once it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<IssueNumber>,
    /// The last tick that did not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusedTick>,
}

/// A tick that did not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedTick {
    /// When that was seen.
    pub at: Timestamp,
    /// The reason.
    pub why: String,
}

/// The cost of a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "DayWire", into = "DayWire")]
pub struct DaySpend {
    /// Its beginning.
    pub day: chrono::NaiveDate,
    /// What was spent.
    pub spend: Spend,
}

impl From<DaySpend> for DayWire {
    fn from(DaySpend { day, spend }: DaySpend) -> Self {
        Self { day, spend: spend.into() }
    }
}

impl From<DayWire> for DaySpend {
    fn from(DayWire { day, spend }: DayWire) -> Self {
        Self { day, spend: spend.into() }
    }
}

/// The request that a ticked box makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Try again, as `/hob retry` does.
    Retry,
    /// Approve the action that waits, as `/hob approve` does.
    Approve,
    /// End the work, as `/hob cancel` does.
    Cancel,
}

impl Act {
    /// The word beside the box.
    pub fn word(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Approve => "approve",
            Self::Cancel => "cancel",
        }
    }
}

/// One box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActBox {
    /// The act.
    pub act: Act,
    /// Its issue.
    pub issue: IssueNumber,
    /// What it was drawn for.
    pub of: String,
}

impl ActBox {
    /// The box, not ticked, with its mark; `beside` follows the word.
    pub fn line(&self, beside: &str) -> String {
        let Self { act, issue, of } = self;
        format!("- [ ] {}{beside} {BOX}{} {issue} {of} -->", act.word(), act.word())
    }

    fn read(mark: &str) -> Option<Self> {
        let mut words = mark.split_whitespace();
        let act = match words.next()? {
            "retry" => Act::Retry,
            "approve" => Act::Approve,
            "cancel" => Act::Cancel,
            _other => return None,
        };
        let (issue, of) = (IssueNumber(words.next()?.parse().ok()?), words.next()?.to_owned());
        words.next().is_none().then_some(Self { act, issue, of })
    }
}

/// The boxes of an issue in its current state.
pub fn boxes(record: &Record) -> Vec<ActBox> {
    let of = |act, of: String| ActBox { act, issue: record.issue, of };
    let mut boxes = Vec::new();
    let blocked = record.blocked.as_ref().filter(|_| record.state == State::Blocked);
    let action = record.waiting_action().filter(|action| shown_in_a_line(&action.text));
    if let Some(action) = action {
        boxes.push(of(Act::Approve, action.mark().0.chars().take(16).collect()));
    }
    match (blocked, record.failure.until) {
        // A retry does not answer these: a person has to read, to decide or to raise a limit.
        (Some(blocked), _) => match blocked.reason {
            BlockCode::IssueBudget
            | BlockCode::EditedMeanwhile
            | BlockCode::Question
            | BlockCode::PlanProposed
            | BlockCode::ApprovalNeeded => {}
            BlockCode::ChecksFailed
            | BlockCode::RedBase
            | BlockCode::MergeConflict
            | BlockCode::NoChanges
            | BlockCode::AgentFailed
            | BlockCode::AttemptsUsedUp
            | BlockCode::AttemptsFailed
            | BlockCode::ServiceDown
            | BlockCode::AttemptBudget
            | BlockCode::PolicyViolated
            | BlockCode::PushRefused
            | BlockCode::Rejected
            | BlockCode::SetUpNeeded
            | BlockCode::LedgerLost
            | BlockCode::NoProgress
            | BlockCode::RoundChangedNothing
            | BlockCode::PersonPushed
            | BlockCode::RoundsUsedUp
            | BlockCode::WorkerDied => boxes.push(of(Act::Retry, blocked.since.timestamp().to_string())),
        },
        (None, Some(until)) if record.state == State::Ready && record.pause().is_none() => {
            boxes.push(of(Act::Retry, until.timestamp().to_string()));
        }
        (None, _) => {}
    }
    if let Some(trigger) = record.trigger.as_ref().filter(|_| record.state != State::Done) {
        boxes.push(of(Act::Cancel, trigger.event.to_string()));
    }
    boxes
}

/// Whether an action can be shown completely in a line, because people cannot approve what they are not shown.
pub(crate) fn shown_in_a_line(action: &str) -> bool {
    action.chars().count() <= 200 && !action.contains('`') && action.chars().all(|c| c == ' ' || c.is_ascii_graphic())
}

/// The ticked boxes of a body.
pub fn ticked(body: &str) -> Vec<ActBox> {
    let of_line = |line: &str| {
        let line = line.trim();
        let rest = line.strip_prefix("- [x] ").or_else(|| line.strip_prefix("- [X] "))?;
        ActBox::read(rest.rsplit_once(BOX)?.1.strip_suffix("-->")?)
    };
    body.lines().filter_map(of_line).take(TICKS_MAX).collect()
}

/// A body in normal form for comparison: forms send other line ends than programs do.
pub fn normalized(body: &str) -> String {
    body.replace("\r\n", "\n").trim_end().to_owned()
}

/// SHA-256 of a body in normal form.
pub fn body_digest(body: &str) -> String {
    Sha256::digest(normalized(body)).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BlockReason, EventId, Failure, Impact, Proposed, Transition, Trigger, apply, issue::lease::tests::record_at,
    };

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).unwrap()
    }

    fn triggered(state: State) -> Record {
        let trigger =
            Trigger { event: EventId(7), actor: "ann".into(), approved: String::new(), at: None, labels: Vec::new() };
        Record { trigger: Some(trigger), ..record_at(state) }
    }

    fn blocked(reason: BlockReason) -> Record {
        apply(&triggered(State::InProgress), Transition::Block(reason), at(100)).unwrap().0
    }

    fn action(text: &str) -> BlockReason {
        let (tool, line) = ("shell".to_owned(), format!("shell {text}"));
        BlockReason::ApprovalNeeded(Proposed { tool, line, text: text.to_owned(), impact: Impact::High })
    }

    fn words(record: &Record) -> String {
        boxes(record).iter().map(|one| format!("{} {}", one.act.word(), one.of)).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn each_state_has_the_boxes_that_lead_on() {
        let waits =
            Record { failure: Failure { until: Some(at(500)), ..Failure::default() }, ..triggered(State::Ready) };
        for (name, record, expected) in [
            ("nobody asked yet", record_at(State::Ready), ""),
            ("ready", triggered(State::Ready), "cancel 7"),
            ("it waits for its next attempt", waits, "retry 500, cancel 7"),
            ("running", triggered(State::InProgress), "cancel 7"),
            ("in review", triggered(State::InReview), "cancel 7"),
            ("done", triggered(State::Done), ""),
            ("failed", blocked(BlockReason::NoProgress { failure: "no".to_owned() }), "retry 100, cancel 7"),
            ("a question needs words", blocked(BlockReason::Question { question: "UTC?".to_owned() }), "cancel 7"),
            ("the text has to be read", blocked(BlockReason::EditedMeanwhile), "cancel 7"),
            ("an action that is shown", blocked(action("rm x")), "approve 911938ac1e9d75bb, cancel 7"),
            ("an action of several lines", blocked(action("rm x\nrm y")), "cancel 7"),
            ("one that hides something", blocked(action("rm x\u{202e}")), "cancel 7"),
            ("a long one", blocked(action(&"x".repeat(201))), "cancel 7"),
        ] {
            assert_eq!(words(&record), expected, "{name}");
        }
    }

    #[test]
    fn a_ticked_box_is_read_back_and_nothing_else_is() {
        let record = blocked(action("rm x"));
        let all = boxes(&record);
        let drawn: Vec<String> = all.iter().map(|one| format!("  {}", one.line(" now"))).collect();
        assert_eq!(ticked(&drawn.join("\n")), []);
        let ticks = drawn.join("\r\n").replace("[ ]", "[x]");
        assert_eq!(ticked(&ticks), all);
        for nothing in [
            "- [x] retry",
            "- [x] x <!-- hob:do retry 1 -->",
            "- [x] x <!-- hob:do retry 1 2 3 -->",
            "- [x] x <!-- hob:do merge 1 2 -->",
            "- [x] x <!-- hob:do retry one 2 -->",
            "> - [x] x <!-- hob:do retry 1 2 -->",
            "- [x] x <!-- hob:do retry 1 2 --> y",
        ] {
            assert_eq!(ticked(nothing), [], "{nothing}");
        }
        assert_eq!(ticked(&"- [x] a <!-- hob:do retry 1 2 -->\n".repeat(99)).len(), TICKS_MAX);
    }
}
