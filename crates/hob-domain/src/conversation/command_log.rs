//! People's commands as the ledger keeps them: which are handled, which receipts are due, and what the commands set.

use serde::{Deserialize, Serialize};

use crate::{CommentId, Login, PullNumber, SaidId, SaidIn, Sha, Timestamp};

/// Comments that are remembered one by one as handled.
const HANDLED_MAX: usize = 100;

/// The receipt of a command or of an answer, given once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The comment or the review.
    pub comment: CommentId,
    /// Which of them.
    #[serde(rename = "in", default, skip_serializing_if = "SaidIn::is_comment")]
    pub said_in: SaidIn,
    /// The pull request that the comment is on. `None` if it is on the issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull: Option<PullNumber>,
    /// Whether its command is followed.
    pub verdict: CommandVerdict,
    /// The reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
}

impl Receipt {
    /// What it is for.
    pub fn to(&self) -> SaidId {
        SaidId { said_in: self.said_in, id: self.comment }
    }
}

/// Words in a review or on a line that have a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenInReview {
    /// The words.
    #[serde(flatten)]
    pub said: SaidId,
    /// Whether they are followed.
    pub verdict: CommandVerdict,
}

/// Whether a command is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandVerdict {
    /// It is followed.
    Followed,
    /// It cannot be followed.
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

/// A person's request to sign the commits of the pull request off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedSignOff {
    /// Who signs them off.
    pub by: Login,
    /// The receipt of the command, which says in the end what became of it.
    pub receipt: Receipt,
}

/// The commands of an issue, as the ledger keeps them.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CommandLog {
    /// Comments whose command took effect or cannot take effect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handled: Vec<CommentId>,
    /// This comment and all earlier ones are handled, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handled_to: Option<CommentId>,
    /// Reviews and comments on lines that have a receipt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub in_reviews: Vec<TakenInReview>,
    /// Receipts that are still due.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub receipts: Vec<Receipt>,
    /// How many comments the issue had when commands were last looked for, plus Hob's own since then. If the number
    /// differs, one came while the ledger moved on.
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
    /// The sign-off that is under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sign_off: Option<AskedSignOff>,
    /// The newest comment on the issue that the last agent's brief has. `None` if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub briefed: Option<CommentId>,
    /// Comments on the issue that an agent has to read, and that none has read yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<CommentId>,
    /// The pull request on which people were told how to talk to Hob.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hinted: Option<PullNumber>,
}

impl CommandLog {
    /// Whether there never was a command.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a comment's command took effect or cannot take effect.
    pub fn has_handled(&self, comment: CommentId) -> bool {
        Some(comment) <= self.handled_to || self.handled.contains(&comment)
    }

    /// Whether something that was said has its receipt, or will have it.
    pub fn has_taken(&self, said: SaidId) -> bool {
        match said.said_in {
            SaidIn::Comment => self.has_handled(said.id),
            SaidIn::Review | SaidIn::Line => self.in_reviews.iter().any(|taken| taken.said == said),
        }
    }

    /// Whether words in a review or on a line were refused.
    pub(crate) fn has_refused(&self, said: SaidId) -> bool {
        self.in_reviews.contains(&TakenInReview { said, verdict: CommandVerdict::Impossible })
    }

    /// A person signs the commits off; returns the sentence.
    pub(crate) fn begin_sign_off(&mut self, asked: AskedSignOff) -> String {
        let sentence = format!("{} signs the commits off", asked.by);
        self.sign_off = Some(asked);
        sentence
    }

    /// The sign-off is over; returns the sentence. The work's head stays the commit that the checks ran on, which its
    /// proof names: `head` is the same work.
    pub(crate) fn end_sign_off(&mut self, by: &Login, head: Option<&Sha>) -> String {
        self.sign_off = None;
        match head {
            Some(head) => format!("the commits were signed off by {by}: {}", head.short()),
            None => format!("no commit was signed off by {by}"),
        }
    }

    /// Adds a command that takes effect with the same commit.
    pub(crate) fn take(&mut self, receipt: Receipt) {
        let (said, verdict) = (receipt.to(), receipt.verdict);
        match receipt.said_in {
            SaidIn::Comment => self.handle(receipt.comment),
            SaidIn::Review | SaidIn::Line => {
                self.in_reviews.retain(|taken| taken.said != said);
                self.in_reviews.push(TakenInReview { said, verdict });
                let over = self.in_reviews.len().saturating_sub(HANDLED_MAX);
                drop(self.in_reviews.drain(..over));
            }
        }
        self.receipts.retain(|owed| owed.to() != said);
        self.receipts.push(receipt);
    }

    /// Marks a comment as handled. The forge numbers comments in order of time, so the oldest are merged into one
    /// number.
    pub(crate) fn handle(&mut self, comment: CommentId) {
        if self.has_handled(comment) {
            return;
        }
        self.handled.push(comment);
        self.handled.sort_unstable();
        if self.handled.len() > HANDLED_MAX {
            self.handled_to = Some(self.handled.remove(0));
        }
    }

    /// The holder's log, combined with the commands in the ledger: a write of the holder that was cut off may have
    /// moved the ledger, and its receipts are due.
    #[must_use]
    pub fn with_written(self, written: &Self) -> Self {
        let in_reviews = written.in_reviews.iter().all(|taken| self.in_reviews.contains(taken));
        if in_reviews && written.handled.iter().all(|comment| self.has_handled(*comment)) {
            return self;
        }
        let is_given = |receipt: &Receipt| {
            self.has_taken(receipt.to()) && !self.receipts.iter().any(|owed| owed.to() == receipt.to())
        };
        let receipts = written.receipts.iter().filter(|receipt| !is_given(receipt)).cloned().collect();
        Self { receipts, ..written.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt(comment: u64) -> Receipt {
        let (said_in, verdict) = (SaidIn::Comment, CommandVerdict::Followed);
        Receipt { comment: CommentId(comment), said_in, pull: None, verdict, says: None }
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
    fn what_is_said_in_reviews_is_numbered_by_itself() {
        let review = Receipt { said_in: SaidIn::Review, ..receipt(7) };
        let mut log = CommandLog::default();
        log.take(review.clone());
        assert!(log.has_taken(review.to()) && !log.has_handled(CommentId(7)));
        assert!(!log.has_taken(SaidId { said_in: SaidIn::Line, ..review.to() }));
        log.take(receipt(7));
        assert_eq!(log.receipts.len(), 2);
        assert_eq!(CommandLog::default().with_written(&log), log);
        log.take(Receipt { verdict: CommandVerdict::Impossible, ..review.clone() });
        assert!(log.has_refused(review.to()) && log.in_reviews.len() == 1);
        (1..=250).for_each(|id| log.take(Receipt { comment: CommentId(id), ..review.clone() }));
        assert_eq!(log.in_reviews.len(), HANDLED_MAX);
    }

    #[test]
    fn what_a_write_that_was_cut_off_handled_is_kept_and_no_receipt_is_owed_twice() {
        let mut mine = CommandLog::default();
        mine.take(receipt(1));
        let mut written = mine.clone();
        written.take(receipt(2));
        written.budget = Some(SetBudget { usd_micros: 7, by: "ann".into() });
        // The first receipt has been given meanwhile.
        mine.receipts.clear();
        let merged = mine.clone().with_written(&written);
        assert_eq!((merged.handled.len(), merged.receipts.clone()), (2, vec![receipt(2)]));
        assert_eq!(merged.budget, written.budget);
        assert_eq!(mine.clone().with_written(&CommandLog::default()), mine);
    }
}
