//! What a message may lead to, and what that depends on.

use serde::{Deserialize, Serialize};

use crate::{ApprovalGrant, Budgets, Ending, Login, Receipt, Seeks, Transition};

/// What plain comments in a pull request's conversation are to Hob.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlainComments {
    /// The first one is told how to ask for a change.
    #[default]
    Hint,
    /// Requests for work.
    Work,
    /// Nothing.
    Ignore,
}

/// What the effect of a message depends on, apart from the record.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FollowRules {
    /// What the look is for.
    pub seeks: Seeks,
    /// The token's own account, if it is known: its requests begin no round.
    pub own: Option<Login>,
    /// What plain comments on a pull request are.
    pub plain_comments: PlainComments,
    /// The configured agents.
    pub agents: Vec<String>,
    /// Agents that need no settings.
    pub ready_agents: Vec<String>,
    /// The known profiles.
    pub profiles: Vec<String>,
    /// Profiles whose file is damaged, each with its fault.
    pub damaged: Vec<(String, String)>,
    /// The budgets in the settings.
    pub budgets: Budgets,
    /// The state and the reason for it, as text for a comment.
    pub explanation: String,
}

/// What a message leads to.
#[derive(Debug, Clone, PartialEq)]
pub enum Following {
    /// It does not concern this look.
    Nothing,
    /// Its command is recorded with its effect, which may be that it is refused, and with the comment's receipt.
    Command(Box<Transition>),
    /// A round answers it.
    Round,
    /// It answers the question of the blocked issue.
    Answer {
        /// The text for the agent.
        text: String,
        /// What it approves.
        grant: ApprovalGrant,
    },
    /// It ends the work on the blocked issue.
    End(Ending),
    /// It is meant as an answer and cannot be one: the comment's receipt.
    Refused(Receipt),
}
