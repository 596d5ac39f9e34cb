//! What people asked in commands, as the ledger has it: what is handled, which receipts are owed, and what the commands set.

use serde::{Deserialize, Serialize};

use crate::{CommentId, Login, PullNumber, Timestamp};

/// Comments that are remembered one by one as handled.
const HANDLED_MAX: usize = 100;

/// What the comment of a command gets, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The comment.
    pub comment: CommentId,
    /// The pull request in whose conversation it stands; none: on the issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull: Option<PullNumber>,
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

/// The agent that a command chose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChosenAgent {
    /// Its name.
    pub name: String,
    /// Who chose it.
    pub by: Login,
    /// When they said so.
    pub at: Timestamp,
}

/// The budget that a command set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetBudget {
    /// Millionths of a US dollar, over the whole life.
    pub usd_micros: u64,
    /// Who set it.
    pub by: Login,
}

/// The commands of an issue, as the ledger has them.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CommandLog {
    /// Comments whose command took effect, or cannot.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handled: Vec<CommentId>,
    /// This comment and all before it are handled, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handled_to: Option<CommentId>,
    /// Receipts that nobody gave yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub receipts: Vec<Receipt>,
    /// How many comments the issue had when somebody looked for commands last, and Hob's own since then. Another number: one
    /// came while the ledger moved on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comments: Option<u64>,
    /// The agent of the next attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<ChosenAgent>,
    /// The budget in money.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<SetBudget>,
    /// Who asked for a plan before the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wants_plan: Option<Login>,
}

impl CommandLog {
    /// Whether there never was a command.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the command of a comment took effect, or cannot.
    pub fn has_handled(&self, comment: CommentId) -> bool {
        Some(comment) <= self.handled_to || self.handled.contains(&comment)
    }

    /// Takes in a command that takes effect with the same commit.
    pub(super) fn take(&mut self, receipt: Receipt) {
        self.handle(receipt.comment);
        self.receipts.retain(|owed| owed.comment != receipt.comment);
        self.receipts.push(receipt);
    }

    /// Notes a comment as handled. The forge numbers comments in the order of time, so the oldest go into one number.
    pub(super) fn handle(&mut self, comment: CommentId) {
        if self.has_handled(comment) {
            return;
        }
        self.handled.push(comment);
        self.handled.sort_unstable();
        if self.handled.len() > HANDLED_MAX {
            self.handled_to = Some(self.handled.remove(0));
        }
    }

    /// This log, as its holder knows it, with what the ledger has of commands beside it: a write of the holder's that was cut
    /// off may have moved the ledger, and its receipts are owed.
    #[must_use]
    pub fn with_written(self, written: &Self) -> Self {
        if written.handled.iter().all(|comment| self.has_handled(*comment)) {
            return self;
        }
        let is_given = |receipt: &Receipt| {
            self.has_handled(receipt.comment) && !self.receipts.iter().any(|owed| owed.comment == receipt.comment)
        };
        let receipts = written.receipts.iter().filter(|receipt| !is_given(receipt)).cloned().collect();
        Self { receipts, ..written.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt(comment: u64) -> Receipt {
        Receipt { comment: CommentId(comment), pull: None, verdict: CommandVerdict::Followed, says: None }
    }

    #[test]
    fn the_oldest_comments_stay_handled_when_the_list_is_full() {
        let mut log = CommandLog::default();
        for comment in 1..=250 {
            log.take(receipt(comment * 2));
        }
        assert_eq!((log.handled.len(), log.handled_to), (HANDLED_MAX, Some(CommentId(300))));
        assert!((1..=250).all(|comment| log.has_handled(CommentId(comment * 2))));
        assert!(!log.has_handled(CommentId(501)));
    }

    #[test]
    fn a_comment_has_one_receipt() {
        let mut log = CommandLog::default();
        log.take(receipt(1));
        log.take(Receipt { verdict: CommandVerdict::Impossible, ..receipt(1) });
        assert_eq!((log.handled.len(), log.receipts.len()), (1, 1));
        assert_eq!(log.receipts[0].verdict, CommandVerdict::Impossible);
    }

    #[test]
    fn what_a_write_that_was_cut_off_handled_is_kept_and_no_receipt_is_owed_twice() {
        let mut mine = CommandLog::default();
        mine.take(receipt(1));
        let mut written = mine.clone();
        written.take(receipt(2));
        written.budget = Some(SetBudget { usd_micros: 7, by: "ann".into() });
        // The first receipt was given meanwhile.
        mine.receipts.clear();
        let merged = mine.clone().with_written(&written);
        assert_eq!((merged.handled.len(), merged.receipts.clone()), (2, vec![receipt(2)]));
        assert_eq!(merged.budget, written.budget);
        assert_eq!(mine.clone().with_written(&CommandLog::default()), mine);
    }
}
