//! Bills that the forge would not take before their lease ended: they are kept on this machine and written to the ledger
//! as soon as it can be, so that a budget holds whatever the forge does.

use std::{io, path::PathBuf};

use hob_domain::{IssueNumber, RepoName, Spend};
use hob_forge::BaseBranch;

use crate::{WorkError, Worker, claim::Seen};

/// The bills of one repository, one file an issue.
#[derive(Debug)]
pub(super) struct Bills(PathBuf);

impl Bills {
    pub(super) fn of(state_dir: &std::path::Path, repo: &RepoName) -> Self {
        Self(state_dir.join("unpaid").join(repo.owner()).join(repo.name()))
    }

    /// Keeps a bill beside those that are kept already.
    fn keep(&self, issue: IssueNumber, spend: Spend) -> io::Result<()> {
        std::fs::create_dir_all(&self.0)?;
        let (path, new) = (self.0.join(issue.to_string()), self.0.join(format!("{issue}.new")));
        let sum = self.read(issue) + spend;
        std::fs::write(&new, serde_json::to_vec(&sum)?)?;
        std::fs::rename(new, path)
    }

    /// A bill that cannot be read is none.
    fn read(&self, issue: IssueNumber) -> Spend {
        let text = std::fs::read(self.0.join(issue.to_string())).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    fn paid(&self, issue: IssueNumber) {
        // One that stays is paid twice, which is the safer side.
        std::fs::remove_file(self.0.join(issue.to_string())).ok();
    }

    /// The issues with a bill.
    fn issues(&self) -> Vec<IssueNumber> {
        let found = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        found.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).map(IssueNumber).collect()
    }
}

impl Worker {
    /// Keeps what an attempt cost and the forge would not take.
    pub(super) fn keep_bill(&self, issue: IssueNumber, spend: Spend) {
        if spend != Spend::default()
            && let Err(error) = self.bills.keep(issue, spend)
        {
            tracing::warn!(issue.number = issue.0, %error, "the bill {spend} is lost: neither forge nor disk takes it");
        }
    }

    /// Writes the bills that are kept here to the ledgers of their issues, where nobody holds those. What cannot be
    /// written yet waits for the next poll.
    pub(super) async fn pay_bills(&self, base: &BaseBranch) {
        for issue in self.bills.issues() {
            if let Err(error) = Box::pin(self.pay_bill(issue, base)).await {
                tracing::debug!(issue.number = issue.0, %error, "a bill cannot be written yet: {error}");
            }
        }
    }

    async fn pay_bill(&self, issue: IssueNumber, base: &BaseBranch) -> Result<(), WorkError> {
        let Some((found, entry @ Some(_), _)) = self.look_at(issue).await? else {
            // Without a ledger there is no budget.
            self.bills.paid(issue);
            return Ok(());
        };
        let seen = Seen { issue: found, entry };
        let spend = self.bills.read(issue);
        let acquired = self.acquire(&seen, base, |record| {
            record.spend = record.spend + spend;
            format!("an earlier attempt spent {spend}")
        });
        let lease = acquired.await?;
        self.bills.paid(issue);
        // Whoever died with this lease may not have shown where the issue stands.
        self.show_and_release(seen, lease, "the bill of an earlier attempt is in the ledger").await.map(drop)
    }

    /// Whether a bill waits here.
    pub(super) fn has_bills(&self) -> bool {
        !self.bills.issues().is_empty()
    }
}
