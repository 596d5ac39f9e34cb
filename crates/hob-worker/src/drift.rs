//! Drift: what people, or a forge that forgot, made different from what the ledger says, and how it is mended.

use hob_domain::{BlockKind, Blocked, PullNumber, Record, State};
use hob_forge::{BaseBranch, Pull};

use crate::{
    WorkError, Worker,
    answer::Said,
    claim::{Seen, Taken},
};

/// What is left of the work of an issue whose ledger is gone.
struct Traces {
    branch: Option<String>,
    pull: Option<Pull>,
}

impl Worker {
    /// Makes the ledger of an issue anew that was deleted: Hob's own status comment shows that there was one. None: Hob
    /// never had this issue.
    pub(super) async fn rebuild(&self, seen: &Seen, base: &BaseBranch) -> Result<Option<Taken>, WorkError> {
        if seen.issue.comments == 0 {
            return Ok(None);
        }
        let Some(comment) = self.own_comment(seen.issue.number).await? else { return Ok(None) };
        let traces = self.traces(seen, base).await?;
        let was = self.settings.labels.states_on(&seen.issue.labels);
        let since = self.forge.now();
        let lease = self.acquire(seen, base, |record| {
            record.status_comment = Some(comment);
            record.branch = traces.branch;
            match traces.pull {
                Some(pull) => {
                    record.state = State::InReview;
                    record.pull_request = Some(pull.number);
                    record.head_sha = Some(pull.head);
                }
                None if was.contains(&State::Blocked) => {
                    record.state = State::Blocked;
                    record.blocked = Some(Blocked {
                        kind: BlockKind::SetUpNeeded,
                        text: "The ledger of this issue was deleted, and with it the reason why it is blocked and what it \
                               has cost so far."
                            .to_owned(),
                        question: "Should Hob go on with it?".to_owned(),
                        since,
                    });
                }
                None => record.state = State::Ready,
            }
            "made anew: the ledger was deleted".to_owned()
        });
        let lease = lease.await?;
        let mut labels = seen.issue.labels.clone();
        self.show(&lease, &mut labels, "its ledger was deleted and is made anew").await?;
        self.release(&lease).await?;
        Ok(Some(Taken::Tended))
    }

    /// Hob's branches of the issue, and the open pull request of one of them.
    async fn traces(&self, seen: &Seen, base: &BaseBranch) -> Result<Traces, WorkError> {
        let prefix = format!("{}{}-", self.settings.workspace.branch_prefix, seen.issue.number);
        let mut branches = self.forge.branches(&prefix).await?;
        for branch in &branches {
            if let Some(pull) = self.forge.open_pull_of(branch, &base.name).await? {
                return Ok(Traces { branch: Some(branch.clone()), pull: Some(pull) });
            }
        }
        Ok(Traces { branch: branches.pop(), pull: None })
    }

    /// The pull request is open: whatever happened in between, it waits for a review.
    pub(super) async fn return_to_review(
        &self,
        seen: Seen,
        pull: PullNumber,
        base: &BaseBranch,
    ) -> Result<Taken, WorkError> {
        let blocked = seen.entry.as_ref().filter(|entry| entry.record.state == State::Blocked);
        if let Some(blocked) = blocked.and_then(|entry| entry.record.blocked.clone()) {
            // Whoever opened it again may have said how to go on.
            match self.words_since(&seen, &blocked).await? {
                Said::Go(answer, grant) => return self.go_on(seen, answer, grant, base).await,
                Said::Cancel => return self.cancel(seen, base).await,
                Said::Nothing => {}
            }
        }
        let change = |record: &mut Record| {
            record.state = State::InReview;
            record.blocked = None;
            format!("the pull request {pull} is open again")
        };
        let lease = self.acquire(&seen, base, change).await?;
        self.show_and_release(seen, lease, "its pull request is open again").await
    }
}
