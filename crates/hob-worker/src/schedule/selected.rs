//! Selected issues: the same run as any other, limited to some numbers, and the result of each.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use hob_domain::{Blocked, IssueNumber, PullNumber, Record, RunId, State, WaitReason, held_by};
use hob_forge::LedgerEntry;
use serde::Serialize;

use crate::{
    Explained, RunLimits, RunSummary, WorkError, Worker, explain,
    reconcile::Reconciled,
    schedule::{
        poll::Scope,
        run::{scheduler_of, work_through},
        scheduler::Mode,
    },
};

/// The most passes over the issues, as long as each pass only repaired something before the work: labels, a lost
/// ledger.
const PASSES: usize = 3;
/// How long a stopped run may take to report the state of its issues.
const REPORT_TIME: Duration = Duration::from_secs(3);

/// Why an issue of a stopped run has no result.
const STOPPED: &str = "the worker was stopped";

/// The concurrency of several issues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concurrency {
    /// Up to `jobs` at once; one that fails does not stop the others.
    Parallel,
    /// One after the other; none begins after one that failed.
    Sequential,
}

/// The result for an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum IssueResult {
    /// It did not begin.
    Pending,
    /// It has a pull request, or is done.
    Completed,
    /// A person is needed.
    Blocked,
    /// Another worker works on it.
    Held,
    /// It was requeued, cannot be claimed now, or does not exist.
    Failed,
}

impl IssueResult {
    /// Whether nothing is missing: the work is done, or is being done by another worker.
    pub fn is_success(self) -> bool {
        match self {
            Self::Completed | Self::Held => true,
            Self::Pending | Self::Blocked | Self::Failed => false,
        }
    }
}

/// One issue at the end of a run.
#[derive(Debug, Clone, Serialize)]
pub struct WorkedOn {
    /// The issue.
    pub issue: IssueNumber,
    /// Its title; empty if it is not known.
    pub title: String,
    /// The result.
    pub state: IssueResult,
    /// Its state in the ledger; `None` if it has no ledger.
    pub ledger: Option<State>,
    /// Why, one sentence.
    pub why: String,
    /// Its pull request.
    pub pull_request: Option<PullNumber>,
    /// The address of its pull request, otherwise of its report.
    pub url: Option<String>,
    /// The session of its last run.
    pub session: Option<RunId>,
}

impl std::fmt::Display for IssueResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Pending => "pending",
            Self::Completed => "completed",
            Self::Blocked => "blocked",
            Self::Held => "held",
            Self::Failed => "failed",
        })
    }
}

impl WorkedOn {
    /// An issue of which only a reason is known.
    fn only(issue: IssueNumber, state: IssueResult, why: impl Into<String>) -> Self {
        let (title, why) = (String::new(), why.into());
        Self { issue, title, state, ledger: None, why, pull_request: None, url: None, session: None }
    }
}

/// Works only on these issues, one attempt each, without waiting: an issue that cannot be claimed now has failed,
/// unless another worker has it, and its sentence says why.
///
/// # Errors
/// [`WorkError`] if the forge could not be asked at all; the trouble of one issue is its own.
pub async fn work_on(
    worker: &Arc<Worker>,
    numbers: &[IssueNumber],
    concurrency: Concurrency,
) -> Result<(Vec<WorkedOn>, RunSummary), WorkError> {
    match concurrency {
        Concurrency::Parallel => run_over(worker, numbers, concurrency).await,
        Concurrency::Sequential => one_by_one(worker, numbers).await,
    }
}

async fn one_by_one(worker: &Arc<Worker>, numbers: &[IssueNumber]) -> Result<(Vec<WorkedOn>, RunSummary), WorkError> {
    let (mut all, mut summary) = (Vec::new(), RunSummary::default());
    let mut failed: Option<IssueNumber> = None;
    for number in numbers {
        if let Some(failed) = failed {
            all.push(WorkedOn::only(*number, IssueResult::Pending, format!("not started: #{failed} before it failed")));
            continue;
        }
        match run_over(worker, &[*number], Concurrency::Sequential).await {
            Ok((one, done)) => {
                summary = done.after(&summary);
                failed = one.iter().find(|one| !one.state.is_success()).map(|one| one.issue);
                all.extend(one);
            }
            Err(error) if all.is_empty() => return Err(error),
            Err(error) => {
                failed = Some(*number);
                all.push(WorkedOn::only(*number, IssueResult::Failed, error.to_string()));
            }
        }
    }
    Ok((all, summary))
}

/// One run over these issues.
async fn run_over(
    worker: &Arc<Worker>,
    numbers: &[IssueNumber],
    concurrency: Concurrency,
) -> Result<(Vec<WorkedOn>, RunSummary), WorkError> {
    let mut left = numbers.to_vec();
    let (mut results, mut summary) = (BTreeMap::new(), RunSummary::default());
    for _pass in 0..PASSES {
        let scope = Scope::Selected(Arc::from(left.as_slice()));
        let (done, more) = match concurrency {
            Concurrency::Sequential => work_through(worker, &scope).await?,
            Concurrency::Parallel => {
                let mut scheduler = scheduler_of(worker, RunLimits::default(), Mode::Once);
                scheduler.select(scope);
                (scheduler.run().await?, scheduler.results())
            }
        };
        // Issues that were only repaired may be worked on now.
        let again = done.reconciled > 0 && !worker.cancel.is_cancelled();
        summary = done.after(&summary);
        results.extend(more);
        let unfinished = |number: &IssueNumber| {
            matches!(results.get(number), None | Some(Ok(Reconciled::Nothing | Reconciled::UpToDate)))
        };
        left.retain(unfinished);
        if !again || left.is_empty() {
            break;
        }
    }
    let report = Box::pin(report(worker, numbers, &results));
    if !worker.cancel.is_cancelled() {
        return Ok((report.await?, summary));
    }
    let stopped = |number: &IssueNumber| WorkedOn::only(*number, IssueResult::Failed, STOPPED);
    let report = match tokio::time::timeout(REPORT_TIME, report).await {
        Ok(report) => report?,
        Err(_elapsed) => numbers.iter().map(stopped).collect(),
    };
    Ok((report, summary))
}

/// Each issue's current state, and its reason.
async fn report(
    worker: &Worker,
    numbers: &[IssueNumber],
    results: &BTreeMap<IssueNumber, Result<Reconciled, WorkError>>,
) -> Result<Vec<WorkedOn>, WorkError> {
    let mut all = Vec::new();
    for (number, explained) in numbers.iter().zip(explain::selected(worker, numbers).await?) {
        let Some(explained) = explained else {
            let why = format!("issue {number} does not exist, or is a pull request");
            all.push(WorkedOn::only(*number, IssueResult::Failed, why));
            continue;
        };
        let entry = match explained.state {
            Some(_) => match worker.forge.ledger().tip(*number).await? {
                Some(tip) => Some(worker.forge.ledger().entry(&tip).await?),
                None => None,
            },
            None => None,
        };
        all.push(worked_on(worker, explained, entry, results.get(number)));
    }
    Ok(all)
}

fn worked_on(
    worker: &Worker,
    explained: Explained,
    entry: Option<LedgerEntry>,
    result: Option<&Result<Reconciled, WorkError>>,
) -> WorkedOn {
    let record = entry.as_ref().map(|entry| &entry.record);
    let held = record.and_then(|record| held_by(record, worker.forge.now(), worker.settings.lease.skew));
    let is_elsewhere = held.is_some_and(|held| held.holder != worker.id);
    let (state, why) = match (explained.state, result) {
        _ if is_elsewhere => (IssueResult::Held, explained.why.clone()),
        (Some(State::InReview), _) => {
            (IssueResult::Completed, record.and_then(in_review).unwrap_or_else(|| explained.why.clone()))
        }
        (Some(State::Done), _) => (IssueResult::Completed, explained.why.clone()),
        (Some(State::Blocked), Some(Ok(Reconciled::Worked | Reconciled::UpToDate))) => {
            (IssueResult::Blocked, record.and_then(asked).unwrap_or_else(|| explained.why.clone()))
        }
        (Some(State::Blocked), Some(Ok(Reconciled::Nothing | Reconciled::NoRoom)) | None) => {
            (IssueResult::Blocked, explained.why.clone())
        }
        (_, Some(Err(error))) => (IssueResult::Failed, error.to_string()),
        // It was requeued, and the ledger's last sentence says why.
        (_, Some(Ok(Reconciled::Worked))) if explained.place.is_some() => {
            let sentence = entry.as_ref().map(|entry| entry.sentence.clone());
            (IssueResult::Failed, sentence.unwrap_or_else(|| explained.why.clone()))
        }
        (_, None) if explained.place.is_some() && worker.cancel.is_cancelled() => {
            (IssueResult::Pending, format!("not started: {STOPPED}"))
        }
        (_, None) if explained.place.is_some() => match worker.forge.connection().closed_for() {
            Some(wait) => (IssueResult::Failed, format!("the forge's rate limit is used up for {} s", wait.as_secs())),
            None => (IssueResult::Failed, explained.why.clone()),
        },
        (_, Some(Ok(_)) | None) => (IssueResult::Failed, explained.why.clone()),
    };
    WorkedOn {
        issue: explained.issue,
        title: explained.title,
        state,
        ledger: explained.state,
        why,
        pull_request: record.and_then(|record| record.pull.number),
        url: record.and_then(|record| output(worker, record)),
        session: record.and_then(|record| record.session.clone()),
    }
}

/// The address of the work's result.
fn output(worker: &Worker, record: &Record) -> Option<String> {
    let (repo, issue) = (worker.repo_url(), record.issue);
    let report = || record.comments.report.map(|comment| format!("{repo}/issues/{issue}#issuecomment-{comment}"));
    record.pull.number.map(|pull| format!("{repo}/pull/{pull}")).or_else(report)
}

fn in_review(record: &Record) -> Option<String> {
    record.pull.number.map(|pull| WaitReason::InReview(pull).to_string())
}

/// The question of a blocked issue, in the words of its status comment.
fn asked(record: &Record) -> Option<String> {
    record.blocked.as_ref().map(Blocked::in_a_line)
}
