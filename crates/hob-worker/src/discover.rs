//! Discovery: the snapshot that decisions rest on, with as few calls as it takes.
//!
//! One list of issues and one list of refs, both conditional; each ledger tip once, since a commit never changes. Many
//! that are not known come through git, which costs no quota: a scheduled job knows none, and a forge gives it a thousand
//! calls an hour.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use hob_domain::{IssueNumber, IssueView, PullNumber, Record, Sha, Snapshot, State};
use hob_forge::{ForgeError, Issue, LedgerEntry, Tip};

use crate::{Notice, WorkError, Worker};

/// Ledgers that are at their end, by the tips at which they were found so: they grow in number for ever, and no cache of
/// answers would hold them all. Of each tip its first 64 bits are kept, which tell those of one issue apart.
#[derive(Debug, Default)]
pub(super) struct Finished {
    tips: Mutex<BTreeMap<IssueNumber, u64>>,
    fetched: AtomicBool,
}

impl Finished {
    fn has(&self, tip: &Tip) -> bool {
        let known = self.tips.lock().unwrap_or_else(PoisonError::into_inner).get(&tip.issue).copied();
        known.is_some() && known == begins(&tip.commit)
    }

    fn note(&self, tip: &Tip) {
        if let Some(begins) = begins(&tip.commit) {
            self.tips.lock().unwrap_or_else(PoisonError::into_inner).insert(tip.issue, begins);
        }
    }

    /// Whether they may be fetched: once a process, since what git does not tell now each later poll would ask it again.
    fn may_be_fetched(&self) -> bool {
        !self.fetched.swap(true, Ordering::Relaxed)
    }
}

/// Unknown ledgers of issues that are not asked for: more of them are fetched at once, fewer are read one by one.
const FEW: usize = 20;

/// The first 64 bits of a commit's name.
fn begins(commit: &Sha) -> Option<u64> {
    u64::from_str_radix(commit.as_str().get(..16)?, 16).ok()
}

/// A snapshot, with what an action needs beside it.
pub(super) struct Discovered {
    pub(super) snapshot: Snapshot,
    pub(super) issues: BTreeMap<IssueNumber, Issue>,
}

impl Worker {
    /// What the forge says now about every issue that has the trigger label or an unfinished ledger.
    pub(super) async fn discover(&self) -> Result<Discovered, WorkError> {
        let listed = self.forge.open_issues(&self.settings.labels.trigger).await?;
        let tips = self.forge.tips().await?;
        let mut issues: BTreeMap<_, _> = listed.into_iter().map(|issue| (issue.number, issue)).collect();
        let open: BTreeSet<IssueNumber> = issues.keys().copied().collect();
        let unknown = |tip: &&Tip| !open.contains(&tip.issue) && !self.finished.has(tip);
        let unknown: Vec<&Tip> = tips.issues.iter().filter(unknown).collect();
        if unknown.len() > FEW && self.finished.may_be_fetched() {
            self.learn(&unknown).await;
        }
        let mut entries = BTreeMap::new();
        let mut views = Vec::new();
        for tip in &tips.issues {
            if !open.contains(&tip.issue) && self.finished.has(tip) {
                continue;
            }
            let entry = match self.forge.entry(tip).await {
                Ok(entry) => entry,
                // One ledger that cannot be read, such as a newer Hob's, stops its own issue only.
                Err(error @ ForgeError::Record { .. }) => {
                    issues.remove(&tip.issue);
                    self.tell(&Notice::Failed { issue: Some(tip.issue), reason: error.to_string() });
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            if is_finished(&entry.record) && !open.contains(&tip.issue) {
                self.finished.note(tip);
                continue;
            }
            if !open.contains(&tip.issue) {
                let issue = self.forge.issue(tip.issue).await?.unwrap_or_else(|| Issue::gone(tip.issue));
                issues.insert(tip.issue, issue);
            }
            entries.insert(tip.issue, entry);
        }
        for issue in issues.values() {
            views.push(self.view(issue, entries.get(&issue.number)).await?);
        }
        let repository = self.forge.repository_entry(tips.repository.as_ref()).await?.map(|entry| entry.record);
        Ok(Discovered { snapshot: Snapshot { issues: views, repository }, issues })
    }

    /// Learns through git which of these ledgers are at their end. What it does not learn is read one by one.
    async fn learn(&self, tips: &[&Tip]) {
        let fetched = async {
            Ok::<_, WorkError>(self.workspace.messages(&self.remote().await?, &self.forge.issue_refs()).await?)
        };
        let messages = match fetched.await {
            Ok(messages) => messages,
            Err(error) => {
                tracing::warn!(%error, ledgers = tips.len(), "the ledgers could not be fetched, so each is read: {error}");
                return;
            }
        };
        for tip in tips {
            let record = messages.get(&tip.commit).and_then(|message| Record::from_message(message).ok());
            if record.is_some_and(|(_, record)| record.issue == tip.issue && is_finished(&record)) {
                self.finished.note(tip);
            }
        }
    }

    /// What the forge says now about one issue; none where it is gone and has no ledger.
    pub(super) async fn look_at(
        &self,
        number: IssueNumber,
    ) -> Result<Option<(Issue, Option<LedgerEntry>, IssueView)>, WorkError> {
        // The ledger first: whoever then wins it from this tip knows that no other worker has changed the issue since.
        let entry = match self.forge.tip(number).await? {
            Some(tip) => Some(self.forge.entry(&Tip { issue: number, commit: tip.commit }).await?),
            None => None,
        };
        let issue = self.forge.issue(number).await?;
        if issue.is_none() && entry.is_none() {
            return Ok(None);
        }
        let issue = issue.unwrap_or_else(|| Issue::gone(number));
        let view = self.view(&issue, entry.as_ref()).await?;
        Ok(Some((issue, entry, view)))
    }

    async fn view(&self, issue: &Issue, entry: Option<&LedgerEntry>) -> Result<IssueView, WorkError> {
        let record: Option<Record> = entry.map(|entry| entry.record.clone());
        let pull = match record.as_ref().and_then(followed_pull) {
            Some(number) => self.forge.pull(number).await?.map(|pull| (pull.number, pull.status)),
            None => None,
        };
        let waiting = record.as_ref().is_none_or(|record| matches!(record.state, State::Ready | State::Done));
        let blockers = match issue.blocked_by {
            0 => Vec::new(),
            _ if !waiting => Vec::new(),
            _ => self.forge.blockers(issue.number).await?,
        };
        Ok(IssueView {
            number: issue.number,
            title: issue.title.clone(),
            labels: issue.labels.clone(),
            status: issue.status,
            created_at: issue.created_at,
            updated_at: issue.updated_at,
            record,
            blockers,
            pull,
        })
    }
}

/// Whether nobody has to look at the issue again. A holder in a finished ledger died before it had shown the end.
fn is_finished(record: &Record) -> bool {
    record.state == State::Done && record.holder.is_none()
}

/// The pull request whose fate matters: one in review, one that a person closed, or one of an issue that was closed and
/// is asked for again.
fn followed_pull(record: &Record) -> Option<PullNumber> {
    match record.state {
        State::InReview | State::Blocked | State::Done => record.pull_request,
        State::Ready | State::Assigned | State::InProgress => None,
    }
}
