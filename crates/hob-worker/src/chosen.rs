//! Just these issues: the same run as any other, held to some numbers, and what came of each.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use hob_domain::{IssueNumber, PullNumber, Record, State, WaitReason};
use hob_forge::LedgerEntry;
use serde::Serialize;

use crate::{Explained, RunLimits, RunSummary, WorkError, Worker, claim::Taken, dispatch::Mode, survey::Scope};

/// Looks at one issue, at most, where each only mended something that stood before its work: labels, a lost ledger.
const LOOKS: usize = 3;
/// How long a run that was stopped may take to tell how its issues stand.
const TELL_TIME: Duration = Duration::from_secs(3);

/// How several issues are worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Up to `limits.jobs` at once; one that fails does not stop the others.
    AtOnce,
    /// One after the other; none is begun after one that failed.
    InTurn,
}

/// What became of an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Came {
    /// It was not begun.
    Pending,
    /// It has a pull request, or is done.
    Completed,
    /// A person is needed.
    Blocked,
    /// It was put off, cannot be taken up, or is not there.
    Failed,
}

/// One issue at the end of a run.
#[derive(Debug, Clone, Serialize)]
pub struct WorkedOn {
    /// The issue.
    pub issue: IssueNumber,
    /// Its title; empty where it is not known.
    pub title: String,
    /// What became of it.
    pub state: Came,
    /// Where the ledger says it stands; none: it has no ledger.
    pub ledger: Option<State>,
    /// Why, one sentence.
    pub why: String,
    /// Its pull request.
    pub pull_request: Option<PullNumber>,
}

impl std::fmt::Display for Came {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Pending => "pending",
            Self::Completed => "completed",
            Self::Blocked => "blocked",
            Self::Failed => "failed",
        })
    }
}

impl WorkedOn {
    /// An issue that nothing is known of but why.
    fn only(issue: IssueNumber, state: Came, why: impl Into<String>) -> Self {
        Self { issue, title: String::new(), state, ledger: None, why: why.into(), pull_request: None }
    }
}

impl Worker {
    /// Works on these issues and on no other, each to the end of one attempt. Nothing is waited for: an issue that cannot
    /// be taken up now has failed, and its sentence says why.
    ///
    /// # Errors
    /// [`WorkError`] when the forge could not be asked at all; one issue's trouble is its own.
    pub async fn work_on(
        &self,
        numbers: &[IssueNumber],
        order: Order,
    ) -> Result<(Vec<WorkedOn>, RunSummary), WorkError> {
        match order {
            Order::AtOnce => self.pass(numbers).await,
            Order::InTurn => self.in_turn(numbers).await,
        }
    }

    async fn in_turn(&self, numbers: &[IssueNumber]) -> Result<(Vec<WorkedOn>, RunSummary), WorkError> {
        let (mut all, mut summary) = (Vec::new(), RunSummary::default());
        let mut failed: Option<IssueNumber> = None;
        for number in numbers {
            if let Some(failed) = failed {
                all.push(WorkedOn::only(*number, Came::Pending, format!("not begun: #{failed} before it failed")));
                continue;
            }
            match self.pass(&[*number]).await {
                Ok((one, done)) => {
                    summary = done.after(&summary);
                    failed = one.iter().find(|one| one.state != Came::Completed).map(|one| one.issue);
                    all.extend(one);
                }
                Err(error) if all.is_empty() => return Err(error),
                Err(error) => {
                    failed = Some(*number);
                    all.push(WorkedOn::only(*number, Came::Failed, error.to_string()));
                }
            }
        }
        Ok((all, summary))
    }

    /// One run over these issues.
    async fn pass(&self, numbers: &[IssueNumber]) -> Result<(Vec<WorkedOn>, RunSummary), WorkError> {
        let mut left = numbers.to_vec();
        let (mut taken, mut summary) = (BTreeMap::new(), RunSummary::default());
        for _look in 0..LOOKS {
            let mut dispatch = self.dispatch(RunLimits::default(), Mode::Once);
            dispatch.about(Scope::These(Arc::from(left.as_slice())));
            let done = dispatch.run().await?;
            // What was only mended may be worked on now.
            let again = done.tended > 0 && !self.cancel.is_cancelled();
            summary = done.after(&summary);
            taken.extend(dispatch.taken());
            left.retain(|number| matches!(taken.get(number), None | Some(Ok(Taken::Nothing | Taken::Tended))));
            if !again || left.is_empty() {
                break;
            }
        }
        let told = self.came_to(numbers, &taken);
        if !self.cancel.is_cancelled() {
            return Ok((told.await?, summary));
        }
        let stopped = |number: &IssueNumber| WorkedOn::only(*number, Came::Failed, WorkError::Stopped.to_string());
        let told = match tokio::time::timeout(TELL_TIME, told).await {
            Ok(told) => told?,
            Err(_elapsed) => numbers.iter().map(stopped).collect(),
        };
        Ok((told, summary))
    }

    /// How each issue stands now, and why.
    async fn came_to(
        &self,
        numbers: &[IssueNumber],
        taken: &BTreeMap<IssueNumber, Result<Taken, WorkError>>,
    ) -> Result<Vec<WorkedOn>, WorkError> {
        let mut all = Vec::new();
        for (number, explained) in numbers.iter().zip(self.explain_chosen(numbers).await?) {
            let Some(explained) = explained else {
                let why = format!("issue {number} is not there, or is a pull request");
                all.push(WorkedOn::only(*number, Came::Failed, why));
                continue;
            };
            let entry = match explained.state {
                Some(_) => match self.forge.tip(*number).await? {
                    Some(tip) => Some(self.forge.entry(&tip).await?),
                    None => None,
                },
                None => None,
            };
            all.push(self.told(explained, entry, taken.get(number)));
        }
        Ok(all)
    }

    fn told(
        &self,
        explained: Explained,
        entry: Option<LedgerEntry>,
        taken: Option<&Result<Taken, WorkError>>,
    ) -> WorkedOn {
        let record = entry.as_ref().map(|entry| &entry.record);
        let (state, why) = match (explained.state, taken) {
            (Some(State::InReview), _) => {
                (Came::Completed, record.and_then(in_review).unwrap_or_else(|| explained.why.clone()))
            }
            (Some(State::Done), _) => (Came::Completed, explained.why.clone()),
            (Some(State::Blocked), Some(Ok(Taken::Worked | Taken::Tended))) => {
                (Came::Blocked, record.and_then(asked).unwrap_or_else(|| explained.why.clone()))
            }
            (Some(State::Blocked), Some(Ok(Taken::Nothing)) | None) => (Came::Blocked, explained.why.clone()),
            (_, Some(Err(error))) => (Came::Failed, error.to_string()),
            // It was put back, and the ledger's last words say why.
            (_, Some(Ok(Taken::Worked))) if explained.place.is_some() => {
                let sentence = entry.as_ref().map(|entry| entry.sentence.clone());
                (Came::Failed, sentence.unwrap_or_else(|| explained.why.clone()))
            }
            (_, None) if explained.place.is_some() && self.cancel.is_cancelled() => {
                (Came::Pending, format!("not begun: {}", WorkError::Stopped))
            }
            (_, None) if explained.place.is_some() => match self.forge.connection().closed_for() {
                Some(wait) => (Came::Failed, format!("the forge's rate limit is used up for {} s", wait.as_secs())),
                None => (Came::Failed, explained.why.clone()),
            },
            (_, Some(Ok(_)) | None) => (Came::Failed, explained.why.clone()),
        };
        WorkedOn {
            issue: explained.issue,
            title: explained.title,
            state,
            ledger: explained.state,
            why,
            pull_request: record.and_then(|record| record.pull_request),
        }
    }
}

fn in_review(record: &Record) -> Option<String> {
    record.pull_request.map(|pull| WaitReason::InReview(pull).to_string())
}

/// What a blocked issue asks, in the words of its status comment.
fn asked(record: &Record) -> Option<String> {
    let blocked = record.blocked.as_ref()?;
    let text = blocked.text.lines().next().unwrap_or_default();
    Some(format!("{text} {}", blocked.question))
}
