//! The parts of the ledger's record: each is one fact, so that no field of it can contradict another.

use serde::{Deserialize, Serialize};

use crate::{
    ActionMark, BaseChoice, CheckTally, Checklist, CommentId, Finding, Generation, Lessons, Login, Nonce, Outage,
    PersonsWork, PlanLog, Proof, Proposed, Quote, Remarks, Sha, Spend, Stopped, Timestamp, WithPeople, WorkerId,
    change::envelope::readable,
};

/// Who may write, and until when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The worker.
    pub worker: WorkerId,
    /// Drawn for each acquisition; it tells two processes with the same name apart.
    pub nonce: Nonce,
    /// When it ends without a renewal, by the forge's clock.
    pub until: Timestamp,
    /// The bill that the holder may reach before it writes to the ledger again: no request to a model goes beyond it.
    /// Should the holder die, it counts as spent on any machine that does not have the holder's own count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub may_reach: Option<Spend>,
}

impl Lease {
    /// Whether both are of one acquisition, however often it was renewed.
    pub fn is_of(&self, other: &Self) -> bool {
        self.worker == other.worker && self.nonce == other.nonce
    }
}

/// Since when an issue is in its state. Assigned and InProgress count as one, and each attempt begins anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Since {
    /// When, by the forge's clock.
    pub at: Timestamp,
    /// Under which lease. Two changes may fall into one second of the forge's clock, but not under one lease.
    pub generation: Generation,
}

/// How often Hob tried.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Attempts {
    /// Attempts since a person last answered.
    pub now: u32,
    /// Attempts over the whole life.
    pub ever: u32,
}

impl Attempts {
    /// One more.
    pub(crate) fn begin(&mut self) {
        (self.now, self.ever) = (self.now.saturating_add(1), self.ever.saturating_add(1));
    }

    /// The current one does not count.
    pub(crate) fn uncount(&mut self) {
        (self.now, self.ever) = (self.now.saturating_sub(1), self.ever.saturating_sub(1));
    }
}

/// What went wrong last. The parts end at different times: a wait with the next attempt, the words with success or an
/// answer, the mark with other work.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Failure {
    /// Why the last attempt failed, or what the issue waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// No attempt begins before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// One hash of how the last attempt failed and on what work; the same hash again means no progress.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    /// The service that failed the last attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outage: Option<Outage>,
    /// Why the work stopped before a person let it continue, for the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
}

impl Failure {
    /// Lets the next attempt begin now.
    pub(crate) fn try_again(&mut self) {
        self.until = None;
        self.outage = self.outage.take().map(Outage::tried_again);
    }

    /// Whether nothing went wrong.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The comments on the issue that are Hob's and that it edits.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OwnComments {
    /// The only status comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<CommentId>,
    /// The report of the investigation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<CommentId>,
    /// The question that mentioned a person and that does not say yet that it was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<AskedComment>,
}

/// The comment that mentioned a person for a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedComment {
    /// The comment.
    pub id: CommentId,
    /// Whether the record's answer is the answer to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub answered: bool,
}

impl OwnComments {
    /// Whether there are none yet.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The work on the issue: where it is, and what is known of it.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Work {
    /// The branch that it is merged into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<BaseChoice>,
    /// Its branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<Branch>,
    /// Who works on it, or did last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<WorkedBy>,
    /// The agent that the setting `agent = "auto"` chose. It stays for later attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto: Option<AutoChoice>,
    /// What it was said to cost before it began. `None` if too few like it were known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote: Option<Quote>,
    /// Its newest commit that passed the checks or was pushed. [`Record::unpublished`](crate::Record::unpublished) says
    /// whether people were shown it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<Sha>,
    /// A tip that a person pushed and that Hob was told to continue from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Sha>,
    /// How many checks on the head passed, and how many ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checks: Option<CheckTally>,
    /// The proof of the last published head.
    #[serde(deserialize_with = "readable", skip_serializing_if = "Option::is_none")]
    pub proof: Option<Box<Proof>>,
    /// How far the agent got with its own checklist when its last run ended. Any worker draws the status comment from the
    /// record, so it is here and not only in the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checklist: Option<Checklist>,
    /// How it goes with what people have begun on the issue. `None` if they have begun nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_people: Option<WithPeople>,
    /// What a reviewer found last that must not be merged, until people are shown the work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

impl Work {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The name of the branch, once it has one.
    pub fn branch_name(&self) -> Option<&str> {
        self.branch.as_ref().map(|branch| branch.name.as_str())
    }

    /// The name of the branch, if it is on the forge.
    pub fn pushed_branch(&self) -> Option<&str> {
        self.branch.as_ref().filter(|branch| branch.pushed).map(|branch| branch.name.as_str())
    }

    /// What people have begun on the issue, if Hob waits for it.
    pub fn waits_for(&self) -> &[PersonsWork] {
        match &self.with_people {
            Some(WithPeople::Waits(begun)) => begun,
            Some(WithPeople::GoesOn(_)) | None => &[],
        }
    }

    /// It waits for people no longer, because this person asked.
    pub(crate) fn go_on(&mut self, by: Login) {
        self.with_people = Some(WithPeople::GoesOn(by));
    }

    /// Names the branch; one of this name stays pushed.
    pub(crate) fn name_branch(&mut self, name: &str) {
        if self.branch_name() != Some(name) {
            self.branch = Some(Branch { name: name.to_owned(), pushed: false });
        }
    }

    /// The branch is on the forge.
    pub(crate) fn push_branch(&mut self) {
        if let Some(branch) = self.branch.as_mut() {
            branch.pushed = true;
        }
    }
}

/// The agent of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkedBy {
    /// The agent of the settings, whichever profile it works by.
    pub agent: String,
    /// Its first model. `None` if Hob does not choose it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// The agent that the outcomes of earlier work chose, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AutoChoice {
    /// The agent of the settings.
    pub agent: String,
    /// Why, as the rest of a sentence about it.
    pub why: String,
}

/// The branch with the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    /// Its name.
    pub name: String,
    /// Whether it is on the forge.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pushed: bool,
}

/// What waits for a person's yes, and what got one.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Approval {
    /// The agent's action that waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<Proposed>,
    /// The actions that people approved, each exactly as it was shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<ActionMark>,
    /// The plan of the work, if a person asked to see one first. It may be approved while an action of its work waits, so it
    /// is beside that.
    #[serde(skip_serializing_if = "PlanLog::is_empty")]
    pub plan: PlanLog,
}

impl Approval {
    /// Whether nothing ever waited.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What the work taught; it counts once it is merged, and is kept until then.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Taught {
    /// What it showed of the repository.
    #[serde(skip_serializing_if = "Lessons::is_empty")]
    pub facts: Lessons,
    /// What maintainers corrected in its pull request.
    #[serde(skip_serializing_if = "Remarks::is_empty")]
    pub remarks: Remarks,
}

impl Taught {
    /// Whether it taught nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
