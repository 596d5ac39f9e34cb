//! One look at a repository: what only has to be tended is tended, what has to be worked on is told, in order.

use std::{sync::Arc, time::Duration};

use hob_domain::{Action, Decision, IssueNumber, Snapshot, plan, plan_chosen};
use hob_forge::BaseBranch;

use crate::{Notice, RunSummary, WorkError, Worker, claim::Taken};

/// The issues that a run is about.
#[derive(Debug, Clone)]
pub(super) enum Scope {
    /// All that there are.
    All,
    /// These alone, in this order.
    These(Arc<[IssueNumber]>),
}

/// What a look at a repository found.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// What was tended, and what of it failed.
    pub(super) tended: RunSummary,
    /// What is to be worked on, in order.
    pub(super) work: Vec<IssueNumber>,
    /// The branch that the work starts from; none where there is no work.
    pub(super) base: Option<Arc<BaseBranch>>,
    /// How long until the first wait ends by itself: a lease runs out, a pause is over.
    pub(super) due: Option<Duration>,
}

impl Worker {
    /// Asks the forge what there is, and tends what of `scope` needs no work.
    ///
    /// # Errors
    /// [`WorkError`] when the forge could not be asked; one issue's trouble is not the survey's.
    pub(super) async fn survey(&self, scope: &Scope) -> Result<Survey, WorkError> {
        let found = self.cancel.run_until_cancelled(self.discover()).await.ok_or(WorkError::Stopped)??;
        let (rules, now) = (self.settings.plan_rules(), self.forge.now());
        let planned = match scope {
            Scope::All => plan(&found.snapshot, &rules, now),
            Scope::These(numbers) => plan_chosen(&found.snapshot, numbers, &rules, now),
        };
        let (mut tend, mut work, mut due) = (Vec::new(), Vec::new(), None);
        for planned in &planned {
            match &planned.decision {
                Decision::Act(Action::Claim | Action::Recover(_) | Action::SeekAnswer) => {
                    work.push(planned.issue.number)
                }
                Decision::Act(
                    Action::AskAboutRejection(_)
                    | Action::ReturnToReview(_)
                    | Action::Rebuild
                    | Action::SeekCommand
                    | Action::Obey(_)
                    | Action::Finish(_)
                    | Action::RepairLabels(_)
                    | Action::ShowState,
                ) => {
                    tend.push(planned.issue.number);
                }
                Decision::Wait(reason) => {
                    let ends = reason.ends(rules.skew).map(|ends| (ends - now).to_std().unwrap_or_default());
                    due = due.into_iter().chain(ends).min();
                }
            }
        }
        self.tell(&Notice::Polled { issues: planned.len(), ready: work.len() });
        if tend.is_empty() && work.is_empty() && !self.has_bills() {
            return Ok(Survey { due, ..Survey::default() });
        }
        self.prune(&found.snapshot).await;
        let base = Arc::new(self.forge.base_branch().await?);
        self.pay_bills(&base).await;
        let mut tended = RunSummary::default();
        for number in tend {
            if self.cancel.is_cancelled() {
                return Err(WorkError::Stopped);
            }
            tended.add(&self.take_and_tell(number, &base).await);
        }
        if !work.is_empty() {
            self.forge.ensure_labels(&self.settings.labels.specs()).await?;
        }
        Ok(Survey { tended, work, base: Some(base), due })
    }

    /// Removes the checkouts of issues that nobody works on any more.
    async fn prune(&self, snapshot: &Snapshot) {
        let keep: Vec<IssueNumber> = snapshot.issues.iter().map(|issue| issue.number).collect();
        let before = self.forge.now() - self.settings.workspace.keep;
        if let Err(error) = self.workspace.prune(self.forge.repo(), before, &keep).await {
            // Room on the disk is not worth an issue's attempt.
            tracing::warn!(%error, "old checkouts could not be removed: {error}");
        }
    }

    pub(super) async fn take_and_tell(&self, number: IssueNumber, base: &BaseBranch) -> Result<Taken, WorkError> {
        let taken = Box::pin(self.take(number, base)).await;
        if let Err(error) = &taken {
            self.tell(&Notice::Failed { issue: Some(number), reason: error.to_string() });
        }
        taken
    }
}
