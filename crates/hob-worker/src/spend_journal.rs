//! Spend of attempts that the forge did not accept before their lease ended. It is kept on this machine, one file an
//! issue, until it is written to the ledgers: a budget holds even while the forge fails.

use std::{
    io,
    path::{Path, PathBuf},
};

use hob_domain::{IssueNumber, RepoName, Spend};
use tokio::fs;

/// The journal of one repository.
#[derive(Debug)]
pub(super) struct SpendJournal(PathBuf);

impl SpendJournal {
    pub(super) fn new(state_dir: &Path, repo: &RepoName) -> Self {
        Self(state_dir.join("unpaid").join(repo.owner()).join(repo.name()))
    }

    /// Adds to the amount kept for the issue.
    pub(super) async fn add(&self, issue: IssueNumber, spend: Spend) -> io::Result<()> {
        fs::create_dir_all(&self.0).await?;
        let sum = self.read(issue).await?.unwrap_or_default() + spend;
        let new = self.0.join(format!("{issue}.new"));
        fs::write(&new, serde_json::to_vec(&sum)?).await?;
        fs::rename(new, self.path(issue)).await
    }

    /// The amount kept for the issue. A file that cannot be parsed as an amount is set aside beside it, so that it is
    /// reported once and not lost.
    pub(super) async fn read(&self, issue: IssueNumber) -> io::Result<Option<Spend>> {
        let path = self.path(issue);
        let text = match fs::read(&path).await {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        match serde_json::from_slice(&text) {
            Ok(spend) => Ok(Some(spend)),
            Err(error) => {
                let aside = self.0.join(format!("{issue}.unreadable"));
                fs::rename(&path, &aside).await?;
                let reason = format!("the journaled spend is now in `{}`: {error}", aside.display());
                Err(io::Error::new(io::ErrorKind::InvalidData, reason))
            }
        }
    }

    /// Forgets the issue: its ledger has the amount. If the file stays, the amount counts twice, which is the safer
    /// side.
    pub(super) async fn remove(&self, issue: IssueNumber) {
        fs::remove_file(self.path(issue)).await.ok();
    }

    /// The issues with an amount.
    pub(super) async fn issues(&self) -> io::Result<Vec<IssueNumber>> {
        let mut entries = match fs::read_dir(&self.0).await {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut issues = Vec::new();
        while let Some(entry) = entries.next_entry().await? {
            issues.extend(entry.file_name().to_str().and_then(|name| name.parse().ok()).map(IssueNumber));
        }
        issues.sort_unstable();
        Ok(issues)
    }

    fn path(&self, issue: IssueNumber) -> PathBuf {
        self.0.join(issue.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUE: IssueNumber = IssueNumber(7);

    fn journal(folder: &Path) -> SpendJournal {
        SpendJournal::new(folder, &"o/n".parse().unwrap())
    }

    fn spend(usd_micros: u64) -> Spend {
        Spend { usd_micros, ..Spend::default() }
    }

    #[tokio::test]
    async fn amounts_add_up_until_they_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(folder.path());
        assert_eq!(journal.issues().await.unwrap(), []);
        assert_eq!(journal.read(ISSUE).await.unwrap(), None);
        journal.add(ISSUE, spend(5)).await.unwrap();
        journal.add(ISSUE, spend(6)).await.unwrap();
        journal.add(IssueNumber(3), spend(1)).await.unwrap();
        assert_eq!(journal.issues().await.unwrap(), [IssueNumber(3), ISSUE]);
        assert_eq!(journal.read(ISSUE).await.unwrap(), Some(spend(11)));
        journal.remove(ISSUE).await;
        assert_eq!(journal.issues().await.unwrap(), [IssueNumber(3)]);
    }

    #[tokio::test]
    async fn an_unreadable_amount_is_an_error_once_and_not_lost() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(folder.path());
        journal.add(ISSUE, spend(5)).await.unwrap();
        let path = journal.path(ISSUE);
        std::fs::write(&path, "{\"usd_micros\":").unwrap();
        assert!(journal.add(ISSUE, spend(1)).await.unwrap_err().to_string().contains("7.unreadable"));
        assert_eq!(std::fs::read_to_string(path.with_extension("unreadable")).unwrap(), "{\"usd_micros\":");
        journal.add(ISSUE, spend(1)).await.unwrap();
        assert_eq!(
            (journal.read(ISSUE).await.unwrap(), journal.issues().await.unwrap()),
            (Some(spend(1)), vec![ISSUE])
        );
    }
}
