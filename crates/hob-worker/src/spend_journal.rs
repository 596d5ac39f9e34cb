//! Spend of attempts that the forge was not seen to accept before their lease ended. It is kept on this machine, one file a
//! lease, until it is in the ledgers: a budget holds even while the forge fails.

use std::{
    io,
    path::{Path, PathBuf},
};

use hob_domain::{Generation, IssueNumber, RepoName, UnwrittenSpend};
use tokio::{fs, io::AsyncWriteExt};

/// The journal of one repository.
#[derive(Debug)]
pub(super) struct SpendJournal(PathBuf);

/// The name of one amount: the lease under which it was spent. Another lease's amount is another file, so that it is not
/// forgotten together with this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct JournalEntry {
    pub(super) issue: IssueNumber,
    generation: Generation,
}

impl JournalEntry {
    fn named(name: &str) -> Option<Self> {
        let (issue, generation) = name.split_once('-')?;
        Some(Self { issue: IssueNumber(issue.parse().ok()?), generation: Generation(generation.parse().ok()?) })
    }

    fn name(self) -> String {
        format!("{}-{}", self.issue, self.generation)
    }
}

impl SpendJournal {
    pub(super) fn new(state_dir: &Path, repo: &RepoName) -> Self {
        Self(state_dir.join("unpaid").join(repo.owner()).join(repo.name()))
    }

    /// Keeps the amount.
    pub(super) async fn add(&self, issue: IssueNumber, unwritten: UnwrittenSpend) -> io::Result<()> {
        fs::create_dir_all(&self.0).await?;
        let entry = JournalEntry { issue, generation: unwritten.generation };
        let new = self.0.join(format!("{}.new", entry.name()));
        let mut file = fs::File::create(&new).await?;
        file.write_all(&serde_json::to_vec(&unwritten)?).await?;
        file.sync_all().await?;
        fs::rename(new, self.path(entry)).await
    }

    /// The amount. `None` if another process of this machine has written it to the ledger. A file that cannot be parsed as an
    /// amount is set aside beside it, so that it is reported once and not lost.
    pub(super) async fn read(&self, entry: JournalEntry) -> io::Result<Option<UnwrittenSpend>> {
        let path = self.path(entry);
        let text = match fs::read(&path).await {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        match serde_json::from_slice(&text) {
            Ok(unwritten) => Ok(Some(unwritten)),
            Err(error) => {
                let aside = self.0.join(format!("{}.unreadable", entry.name()));
                fs::rename(&path, &aside).await?;
                let reason = format!("the journaled spend is now in `{}`: {error}", aside.display());
                Err(io::Error::new(io::ErrorKind::InvalidData, reason))
            }
        }
    }

    /// Forgets the amount: its ledger has it. If the file stays, the ledger's history shows that.
    pub(super) async fn remove(&self, entry: JournalEntry) {
        fs::remove_file(self.path(entry)).await.ok();
    }

    /// Whether there is an amount of the issue. A journal that cannot be read says so when it is written to the ledgers.
    pub(super) async fn has(&self, issue: IssueNumber) -> bool {
        self.entries().await.is_ok_and(|entries| entries.iter().any(|entry| entry.issue == issue))
    }

    /// All amounts, the oldest of each issue first.
    pub(super) async fn entries(&self) -> io::Result<Vec<JournalEntry>> {
        let mut files = match fs::read_dir(&self.0).await {
            Ok(files) => files,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut entries = Vec::new();
        while let Some(file) = files.next_entry().await? {
            entries.extend(file.file_name().to_str().and_then(JournalEntry::named));
        }
        entries.sort_unstable();
        Ok(entries)
    }

    fn path(&self, entry: JournalEntry) -> PathBuf {
        self.0.join(entry.name())
    }
}

#[cfg(test)]
mod tests {
    use hob_domain::Spend;

    use super::*;

    fn journal(folder: &Path) -> SpendJournal {
        SpendJournal::new(folder, &"o/n".parse().unwrap())
    }

    fn entry(issue: u64, generation: u64) -> JournalEntry {
        JournalEntry { issue: IssueNumber(issue), generation: Generation(generation) }
    }

    fn unwritten(generation: u64, usd_micros: u64) -> UnwrittenSpend {
        let spend = Spend { usd_micros, ..Spend::default() };
        UnwrittenSpend { generation: Generation(generation), written: Spend::default(), spend }
    }

    #[tokio::test]
    async fn each_lease_has_its_amount_until_that_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(folder.path());
        assert_eq!(journal.entries().await.unwrap(), []);
        assert_eq!(journal.read(entry(7, 1)).await.unwrap(), None);
        for (issue, generation, amount) in [(7, 10, 5), (7, 9, 6), (3, 1, 1)] {
            journal.add(IssueNumber(issue), unwritten(generation, amount)).await.unwrap();
        }
        assert_eq!(journal.entries().await.unwrap(), [entry(3, 1), entry(7, 9), entry(7, 10)]);
        assert_eq!(journal.read(entry(7, 10)).await.unwrap(), Some(unwritten(10, 5)));
        journal.remove(entry(7, 10)).await;
        assert_eq!(journal.entries().await.unwrap(), [entry(3, 1), entry(7, 9)]);
        assert!(journal.has(IssueNumber(7)).await && !journal.has(IssueNumber(9)).await);
    }

    #[tokio::test]
    async fn an_unreadable_amount_is_an_error_once_and_not_lost() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(folder.path());
        journal.add(IssueNumber(7), unwritten(2, 5)).await.unwrap();
        let path = journal.path(entry(7, 2));
        std::fs::write(&path, "{\"usd_micros\":").unwrap();
        assert!(journal.read(entry(7, 2)).await.unwrap_err().to_string().contains("7-2.unreadable"));
        assert_eq!(std::fs::read_to_string(path.with_extension("unreadable")).unwrap(), "{\"usd_micros\":");
        assert_eq!((journal.read(entry(7, 2)).await.unwrap(), journal.entries().await.unwrap()), (None, vec![]));
    }
}
