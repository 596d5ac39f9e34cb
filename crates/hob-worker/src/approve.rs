//! Approval on the issue: an agent wants to do what needs a word, and a person gives or withholds it there.

use hob_domain::{BlockKind, Blocked, IssueNumber, Proposed, terminal};

use crate::{WorkError, Worker, answer::Grant};

impl Worker {
    /// The question about an action that needs a word. The status comment shows the whole of it.
    pub(super) fn approval_needed(&self, proposed: &Proposed) -> Blocked {
        Blocked {
            kind: BlockKind::ApprovalNeeded,
            text: format!(
                "The agent wants to do something whose impact is {}, and here that needs a person's word.",
                proposed.impact
            ),
            question: format!("May it do this: `{}`?", terminal(&proposed.line).replace('`', "'").replace('\n', " ")),
            since: self.forge.now(),
        }
    }

    /// Allows from the command line what the agent of a blocked issue wants to do: exactly that, and the issue is free
    /// again. Returns what was allowed.
    ///
    /// # Errors
    /// [`WorkError::NothingProposed`] when nothing waits for a word there.
    pub async fn approve(&self, number: IssueNumber, words: &str) -> Result<Proposed, WorkError> {
        let waiting = self.blocked_now(number).await?;
        let waiting = waiting.and_then(|(seen, record)| Some((seen, record.waiting_action()?.clone(), record)));
        let (seen, action, record) = waiting.ok_or(WorkError::NothingProposed(number))?;
        self.free(seen, record, approval_words(&action, words), Grant::TheAction).await?;
        Ok(action)
    }
}

/// What the agent is told: it may not know any more what exactly it had asked for.
pub(super) fn approval_words(action: &Proposed, words: &str) -> String {
    let Proposed { tool, text, .. } = action;
    let told = format!("Approved: the tool `{tool}` may do exactly this, and nothing else is allowed by it:\n{text}");
    if words.trim().is_empty() { told } else { format!("{told}\n\n{}", words.trim()) }
}
