//! Publishing: one branch, one pull request an issue, pushed and opened under the lease.

use std::{sync::PoisonError, time::Duration};

use hob_domain::{Event, PullReport, Sha, State, pull_body, pull_title};
use hob_forge::PullDraft;

use crate::{
    Notice, WorkError, Worker,
    attempt::Job,
    rounds::{Proven, tally},
    trust::approved_hash,
};

impl Worker {
    /// Pushes the proven work and opens its pull request, unless the issue was withdrawn or edited meanwhile.
    pub(super) async fn publish(
        &self,
        job: &Job<'_>,
        labels: &mut Vec<String>,
        proven: &Proven,
    ) -> Result<(), WorkError> {
        let mut now = self.forge.issue(job.issue.number).await?.filter(|issue| self.still_wanted(issue));
        if now.is_none() {
            // Reads can lag, and proven work is not thrown away for one that does.
            now = self.forge.issue(job.issue.number).await?.filter(|issue| self.still_wanted(issue));
        }
        match now {
            None => {
                let settle = self.settle(job.lease, labels, |record| {
                    record.state = record.state.after(Event::Cancelled).unwrap_or(State::Done);
                    "finished: the issue was closed or its label taken off while the agent worked".to_owned()
                });
                return settle.await;
            }
            Some(issue) if approved_hash(&issue) != approved_hash(job.issue) => {
                return self.block(job.lease, labels, self.edited()).await;
            }
            // Labels that people changed meanwhile are theirs.
            Some(issue) => *labels = issue.labels,
        }
        job.lease.note_proven(proven.head.clone()).await;
        self.push(job, &proven.head).await?;
        let pull =
            self.forge.publish_pull(job.lease, job.lease.record().pull_request, &self.draft(job, proven)).await?;
        let settle = self.settle(job.lease, labels, |record| {
            record.state = record.state.after(Event::PullRequestOpened).unwrap_or(State::InReview);
            record.head_sha = Some(proven.head.clone());
            record.pull_request = Some(pull.number);
            record.checks = tally(&proven.evidence);
            record.last_failure = None;
            format!("opened the pull request {}", pull.number)
        });
        settle.await?;
        let spend = job.lease.record().spend;
        self.tell(&Notice::Published { issue: job.issue.number, pull: pull.number, url: pull.html_url, spend });
        Ok(())
    }

    /// Moves the branch on the forge from where it was to `head`.
    pub(super) async fn push(&self, job: &Job<'_>, head: &Sha) -> Result<(), WorkError> {
        // A push cannot be fenced by the ledger: the lease has to outlast it.
        let deadline = self.settings.workspace.transfer_time.min(self.settings.lease.duration / 2);
        self.forge.permit(job.lease, deadline, "push the branch")?;
        self.progress(job.issue, &format!("pushing `{}`", job.checkout.branch()));
        let known = job.pushed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let remote = self.remote().await?;
        let push = self.workspace.push(&job.checkout, &remote, head, known.as_ref());
        match tokio::time::timeout(deadline, push).await {
            Ok(result) => result?,
            Err(_elapsed) => {
                return Err(hob_forge::ForgeError::TimedOut { what: "take the push".to_owned(), deadline }.into());
            }
        }
        *job.pushed.lock().unwrap_or_else(PoisonError::into_inner) = Some(head.clone());
        Ok(())
    }

    fn draft(&self, job: &Job<'_>, proven: &Proven) -> PullDraft {
        let record = job.lease.record();
        let limits = &self.settings.limits;
        let money = match limits.budgets().issue.usd_micros {
            Some(_) => format!("${:.2}", limits.usd_per_issue),
            None => "no limit of money".to_owned(),
        };
        let limits = format!(
            "An attempt may take {}, an issue {money} and {} attempts.",
            words(limits.issue_time),
            limits.attempts
        );
        let body = pull_body(&PullReport {
            record: &record,
            issue_title: &job.issue.title,
            summary: &proven.summary,
            agent: &job.agent_name,
            evidence: &proven.evidence,
            diff: &proven.diff,
            limits: &limits,
        });
        PullDraft {
            head: job.checkout.branch().to_string(),
            base: job.base.name.clone(),
            title: pull_title(&job.issue.title),
            body,
            draft: self.settings.publish.draft,
        }
    }
}

fn words(time: Duration) -> String {
    humantime::format_duration(time).to_string()
}
