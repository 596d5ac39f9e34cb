//! Approval: an agent's action that needs a person's approval before it runs, and how the ledger remembers approved
//! actions.

use hob_text::terminal;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::ActionMark;

/// The impact of an action, the lowest first.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Impact {
    /// It only looks.
    Low,
    /// It changes files of the folder, or runs programs there.
    Medium,
    /// It deletes, reaches beyond the folder, or is unknown.
    #[default]
    High,
}

impl std::fmt::Display for Impact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        })
    }
}

/// What happens to an action that needs approval if no person is at a terminal, the least intrusive first.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// It is refused.
    #[default]
    Nobody,
    /// The run ends with a question on the issue.
    Issue,
}

/// An action that needs approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposed {
    /// The tool.
    pub tool: String,
    /// What would be done, in one short line.
    pub line: String,
    /// Exactly what would be done: the command, or the arguments as JSON.
    pub text: String,
    /// Its impact.
    pub impact: Impact,
}

impl Proposed {
    /// The longest action that people can be asked about, in characters. People cannot approve what they are not shown.
    pub const SHOWN_MAX: usize = 16 * 1024;

    /// Identifies exactly this action: the same tool with the same arguments has the same mark, and nothing else has
    /// it.
    pub fn mark(&self) -> ActionMark {
        let digest = Sha256::new().chain_update(&self.tool).chain_update([0]).chain_update(&self.text).finalize();
        ActionMark(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The whole action, harmless, line by line, each after a bar: no line of it can end a block of code, begin a
    /// command or look like one of ours.
    pub fn shown(&self) -> String {
        terminal(&self.text).split('\n').map(|line| format!("| {line}\n")).collect()
    }

    /// Whether the short line shows the whole action.
    pub fn fits_its_line(&self) -> bool {
        self.line == format!("{} {}", self.tool, self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BlockCode, Blocked, Claimant, IssueNumber, Nonce, Record, State, Timestamp, WorkerId, acquire,
        issue::record::APPROVED_MAX,
    };

    fn proposed(tool: &str, text: &str) -> Proposed {
        let line = format!("{tool} {}", text.lines().next().unwrap_or_default());
        Proposed { tool: tool.to_owned(), line, text: text.to_owned(), impact: Impact::High }
    }

    fn record() -> Record {
        let claimant = Claimant {
            worker: WorkerId::from("w"),
            nonce: Nonce::from("n"),
            duration: std::time::Duration::from_secs(60),
            skew: std::time::Duration::ZERO,
            bill: None,
        };
        acquire(None, IssueNumber(7), &claimant, Timestamp::UNIX_EPOCH).unwrap()
    }

    #[test]
    fn a_mark_is_of_one_exact_action() {
        let mark = proposed("shell", "rm x").mark();
        assert_eq!(mark, Proposed { impact: Impact::Low, line: String::new(), ..proposed("shell", "rm x") }.mark());
        for (tool, text) in [("shell", "rm  x"), ("shell", "rm x\n"), ("shell", "rm y"), ("sh", "rm x")] {
            assert_ne!(mark, proposed(tool, text).mark(), "{tool} {text:?}");
        }
    }

    #[test]
    fn no_line_of_an_action_stands_at_the_start_of_a_line() {
        let hostile = proposed("shell", "echo a\n```\n/hob cancel\r\u{202e}x");
        assert_eq!(hostile.shown(), "| echo a\n| ```\n| /hob cancel\\u{d}\\u{202e}x\n");
        assert!(!hostile.fits_its_line() && proposed("shell", "rm x").fits_its_line());
    }

    #[test]
    fn an_action_waits_only_on_an_issue_that_is_blocked_for_it() {
        let mut record = Record { state: State::Blocked, ..record() };
        record.approval.waits = Some(proposed("shell", "rm x"));
        assert_eq!(record.waiting_action(), None);
        for (reason, waits) in [(BlockCode::Question, false), (BlockCode::ApprovalNeeded, true)] {
            let (text, question, since) = (String::new(), String::new(), Timestamp::UNIX_EPOCH);
            let blocked = Blocked { reason, text, question, last: Vec::new(), since, told: false, after: None };
            record.blocked = Some(blocked);
            assert_eq!(record.waiting_action().is_some(), waits);
        }
        record.state = State::Ready;
        assert_eq!(record.waiting_action(), None);
    }

    #[test]
    fn approvals_are_remembered_once_each_and_not_without_end() {
        let mut record = record();
        record.approve();
        assert_eq!(record.approval.given, []);
        for n in (0..APPROVED_MAX + 3).chain([APPROVED_MAX + 1]) {
            record.approval.waits = Some(proposed("shell", &format!("rm {n}")));
            record.approve();
        }
        assert_eq!((record.approval.given.len(), &record.approval.waits), (APPROVED_MAX, &None));
        let last = proposed("shell", &format!("rm {}", APPROVED_MAX + 1)).mark();
        assert_eq!(record.approval.given.iter().filter(|mark| **mark == last).count(), 1);
        assert!(!record.approval.given.contains(&proposed("shell", "rm 0").mark()));
    }
}
