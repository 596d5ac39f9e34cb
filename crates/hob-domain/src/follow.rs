//! What a command leads to, by where the issue stands, and the receipt that its comment gets. Blocked issues are answered
//! elsewhere: there `retry`, `unblock` and `approve` answer the question.

use serde::{Deserialize, Serialize};

use crate::{
    Command, CommentId, Control, Login, Record, Request, State, Timestamp, Transition, command_list,
    unknown_command_reply,
};

/// Comments that are remembered as followed; the oldest are forgotten first.
const HANDLED_MAX: usize = 100;

/// What a comment with a command asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// This.
    Known(Command),
    /// Something that Hob does not know: the line's words.
    Unknown(String),
}

/// What the comment of a command gets, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The comment.
    pub comment: CommentId,
    /// Whether its command is followed.
    pub verdict: CommandVerdict,
    /// What is said to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
}

/// Whether a command is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandVerdict {
    /// It is.
    Followed,
    /// It cannot be.
    Impossible,
}

/// The commands of an issue, as the ledger has them.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CommandLog {
    /// Comments whose command took effect, or cannot.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handled: Vec<CommentId>,
    /// Receipts that nobody gave yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub receipts: Vec<Receipt>,
    /// Whether a command came while an agent worked, and waits for its end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
}

impl CommandLog {
    /// Whether there never was a command.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Takes in a command that takes effect with the same commit.
    pub(super) fn take(&mut self, receipt: Receipt) {
        // Whoever follows one follows all that wait.
        self.waits = false;
        self.handled.push(receipt.comment);
        let over = self.handled.len().saturating_sub(HANDLED_MAX);
        drop(self.handled.drain(..over));
        self.receipts.push(receipt);
    }
}

/// What a command leads to: a transition that tells of it, and has the receipt.
pub fn follow(record: &Record, asked: &Asked, comment: CommentId, by: &Login, at: Timestamp) -> Transition {
    let request =
        |control, reason: &str| Transition::Request(Request { control, by: by.clone(), at, reason: reason.to_owned() });
    let nothing = || Transition::Reconcile { what: format!("replies to {by}") };
    let (is_paused, is_ready) = (record.paused.is_some(), record.state == State::Ready);
    let (then, verdict, says) = match asked {
        Asked::Known(Command::Cancel) => (request(Control::Terminate, ""), CommandVerdict::Followed, None),
        // Whoever holds the lease obeys the request.
        Asked::Known(Command::Pause(why)) if !record.has_ended() => {
            (request(Control::Pause, why), CommandVerdict::Followed, None)
        }
        Asked::Known(Command::Pause(why)) if !is_paused && record.state != State::Done => {
            let pause = Request { control: Control::Pause, by: by.clone(), at, reason: why.clone() }.pause(at);
            (Transition::Pause(pause), CommandVerdict::Followed, None)
        }
        Asked::Known(Command::Resume) if is_paused => {
            (Transition::Resume { by: by.clone() }, CommandVerdict::Followed, None)
        }
        Asked::Known(Command::Retry | Command::Unblock(_)) if is_ready && !is_paused => {
            (Transition::RetryNow { by: by.clone() }, CommandVerdict::Followed, None)
        }
        Asked::Known(Command::Help) => (nothing(), CommandVerdict::Followed, Some(command_list())),
        Asked::Known(Command::Pause(_)) => (nothing(), CommandVerdict::Impossible, Some(paused_already())),
        Asked::Known(command @ (Command::Resume | Command::Retry | Command::Unblock(_) | Command::Approve(_))) => {
            (nothing(), CommandVerdict::Impossible, Some(senseless(command, record)))
        }
        Asked::Unknown(said) => (nothing(), CommandVerdict::Impossible, Some(unknown_command_reply(said))),
    };
    Transition::Follow { receipt: Receipt { comment, verdict, says }, then: Box::new(then) }
}

fn paused_already() -> String {
    "It is paused already: `/hob resume` lets it go on.".to_owned()
}

/// Why a command makes no sense here, and what would.
fn senseless(command: &Command, record: &Record) -> String {
    let why = match command {
        Command::Resume => "It is not paused",
        Command::Approve(_) => "Nothing waits for approval",
        Command::Retry | Command::Unblock(_) | Command::Cancel | Command::Pause(_) | Command::Help => {
            "Nothing waits for another attempt"
        }
    };
    let instead = match (record.state, &record.paused, record.pull_request) {
        (_, Some(_), _) => "`/hob resume` lets it go on, as it is paused.".to_owned(),
        (State::InReview, None, Some(pull)) => format!("say on pull request #{pull} what should change."),
        (State::Blocked, None, _) => "answer the question, or comment `/hob retry`.".to_owned(),
        (State::Ready, None, _) => "`/hob retry` tries it without waiting.".to_owned(),
        (State::InReview | State::Assigned | State::InProgress | State::Done, None, _) => {
            "`/hob help` lists the commands.".to_owned()
        }
    };
    format!("{why}: {instead}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pause, PullNumber, apply, lease::tests::record_at};

    fn now() -> Timestamp {
        Timestamp::from_timestamp(1_000, 0).unwrap()
    }

    fn followed(record: &Record, asked: &Asked) -> (Record, Receipt) {
        let transition = follow(record, asked, CommentId(5), &"ann".into(), now());
        let (next, _) = apply(record, transition, now()).unwrap();
        let receipt = next.commands.receipts.last().unwrap().clone();
        (next, receipt)
    }

    #[test]
    fn every_command_meets_every_state() {
        let all = ["retry", "unblock x", "approve", "cancel", "pause", "resume", "help", "typo"];
        let mut table = Vec::new();
        for state in State::ALL {
            for is_paused in [false, true] {
                let pause = Pause { by: "bob".into(), since: now(), reason: String::new() };
                let pull_request = Some(PullNumber(9));
                let record = Record { paused: is_paused.then_some(pause), pull_request, ..record_at(state) };
                let mut takes = Vec::new();
                for said in all {
                    let line = format!("/hob {said}");
                    let asked = crate::command_in(&line).map_or(Asked::Unknown(line), Asked::Known);
                    let (next, receipt) = followed(&record, &asked);
                    assert_eq!((next.state, &next.commands.handled[..]), (state, &[CommentId(5)][..]), "{said}");
                    match receipt.verdict {
                        CommandVerdict::Followed => takes.push(said),
                        CommandVerdict::Impossible => assert!(receipt.says.is_some(), "{state} {said}"),
                    }
                }
                table.push(format!("{state}{}: {}", if is_paused { ", paused" } else { "" }, takes.join(", ")));
            }
        }
        insta::assert_snapshot!(table.join("\n"), @r"
        ready: retry, unblock x, cancel, pause, help
        ready, paused: cancel, resume, help
        assigned: cancel, pause, help
        assigned, paused: cancel, pause, resume, help
        in-progress: cancel, pause, help
        in-progress, paused: cancel, pause, resume, help
        in-review: cancel, pause, help
        in-review, paused: cancel, resume, help
        blocked: cancel, pause, help
        blocked, paused: cancel, resume, help
        done: cancel, help
        done, paused: cancel, resume, help
        ");
    }

    #[test]
    fn what_is_followed_takes_effect_in_the_same_commit() {
        let known = |line: &str| Asked::Known(crate::command_in(line).unwrap());
        let (paused, _) = followed(&record_at(State::InReview), &known("/hob pause later"));
        assert_eq!(paused.paused.as_ref().map(|pause| pause.reason.as_str()), Some("later"));
        let (resumed, _) = followed(&paused, &known("/hob resume"));
        assert_eq!(resumed.paused, None);
        let (asked, _) = followed(&record_at(State::InProgress), &known("/hob pause"));
        assert!(asked.paused.is_none() && asked.asks_for_a_pause());
        let waiting = Record { retry_after: Some(now()), ..record_at(State::Ready) };
        assert_eq!(followed(&waiting, &known("/hob retry")).0.retry_after, None);
    }

    #[test]
    fn what_makes_no_sense_is_told_with_what_would() {
        let review = Record { pull_request: Some(PullNumber(9)), ..record_at(State::InReview) };
        let says = |record: &Record, command| followed(record, &Asked::Known(command)).1.says.unwrap();
        assert_eq!(
            says(&review, Command::Retry),
            "Nothing waits for another attempt: say on pull request #9 what should change."
        );
        assert_eq!(
            says(&record_at(State::Ready), Command::Resume),
            "It is not paused: `/hob retry` tries it without waiting."
        );
    }
}
