//! Explanation: what would be done about each issue, or why nothing. It only reads.

use hob_domain::{
    Action, Decision, IssueNumber, IssueView, Planned, Record, Recovery, State, Timestamp, WaitReason, decide, plan,
    plan_chosen,
};
use hob_forge::ForgeError;
use serde::Serialize;

use crate::{
    WorkError, Worker,
    authorize::{Vetted, vet},
    observe::{Discovered, Observed, discover, is_own_claim, observe, own_comment},
};

/// One issue and what Hob would do about it now.
#[derive(Debug, Clone, Serialize)]
pub struct Explained {
    /// The issue.
    pub issue: IssueNumber,
    /// Its title.
    pub title: String,
    /// Where the ledger says it stands; none: it has no ledger yet.
    pub state: Option<State>,
    /// Its place among those that would be worked on, from 1.
    pub place: Option<usize>,
    /// What would be done, or why nothing, one sentence.
    pub why: String,
    /// When the ledger last moved.
    pub since: Option<Timestamp>,
}

/// Every issue with the trigger label or an unfinished ledger, in the order in which they would be taken.
///
/// # Errors
/// [`WorkError`] of a read; nothing is written.
pub async fn all(worker: &Worker) -> Result<Vec<Explained>, WorkError> {
    let found = discover(worker).await?;
    let planned = plan(&found.snapshot, &worker.settings.plan_rules(), worker.forge.now());
    explained(worker, &found, planned).await
}

/// These issues alone, in this order, which is the one in which they would be taken. None stands for an issue that is
/// not there, or is a pull request.
///
/// # Errors
/// [`WorkError`] of a read; nothing is written.
pub async fn selected(worker: &Worker, numbers: &[IssueNumber]) -> Result<Vec<Option<Explained>>, WorkError> {
    let found = discover(worker).await?;
    let planned = plan_chosen(&found.snapshot, numbers, &worker.settings.plan_rules(), worker.forge.now());
    let mut known = explained(worker, &found, planned).await?.into_iter().peekable();
    let mut all = Vec::new();
    for number in numbers {
        all.push(match known.next_if(|explained| explained.issue == *number) {
            Some(explained) => Some(explained),
            None => absent(worker, *number).await?,
        });
    }
    Ok(all)
}

/// An issue that Hob has nothing to do with now: it lacks the label, is finished, or its ledger cannot be read. None:
/// it is not there, or is a pull request.
///
/// # Errors
/// [`WorkError`] of a read; nothing is written.
pub async fn absent(worker: &Worker, number: IssueNumber) -> Result<Option<Explained>, WorkError> {
    let (title, state, since, why) = match observe(worker, number).await {
        Ok(None) => return Ok(None),
        Ok(Some((Observed { issue, entry: None }, _))) => {
            let (label, has) = (&worker.settings.labels.trigger, issue.labels.join(", "));
            let why = format!("it is closed, or does not have the label `{label}` (it has: {has})");
            (issue.title, None, None, why)
        }
        Ok(Some((Observed { issue, entry: Some(entry) }, view))) => {
            let why = told(&decide(&view, &worker.settings.plan_rules(), worker.forge.now()));
            (issue.title, Some(entry.record.state), Some(entry.record.renewed_at), why)
        }
        Err(WorkError::Forge(error @ ForgeError::Record { .. })) => (String::new(), None, None, error.to_string()),
        Err(error) => return Err(error),
    };
    Ok(Some(Explained { issue: number, title, state, place: None, why, since }))
}

async fn explained(
    worker: &Worker,
    found: &Discovered,
    planned: Vec<Planned<'_>>,
) -> Result<Vec<Explained>, WorkError> {
    let mut place = 0;
    let mut explained = Vec::new();
    for planned in planned {
        let mut why = told(&planned.decision);
        let mut counts = matches!(planned.decision, Decision::Act(Action::Claim | Action::Recover(Recovery::Resume)));
        if planned.decision == Decision::Act(Action::Rebuild)
            && let Some(reason) = label_by_hand(worker, planned.issue).await?
        {
            why = reason.to_string();
        }
        if planned.decision == Decision::Act(Action::Claim)
            && let Some(issue) = found.issues.get(&planned.issue.number)
            && let Vetted::Refused(refusal) = vet(worker, issue).await?
        {
            why = format!("it would be refused: {}", refusal.reason);
            counts = false;
        }
        place += usize::from(counts);
        explained.push(Explained {
            issue: planned.issue.number,
            title: planned.issue.title.clone(),
            state: planned.issue.record.as_ref().map(|record| record.state),
            place: counts.then_some(place),
            why,
            since: planned.issue.record.as_ref().map(|record| record.renewed_at),
        });
    }
    Ok(explained)
}

/// Why nothing is done about an issue with a state label and without a ledger; none: Hob had it, and would go on.
async fn label_by_hand(worker: &Worker, issue: &IssueView) -> Result<Option<WaitReason>, WorkError> {
    if own_comment(worker, issue.number).await?.is_some() || is_own_claim(worker, issue.number, &issue.labels).await? {
        return Ok(None);
    }
    let labels = &worker.settings.labels;
    let on = labels.states_on(&issue.labels).into_iter().find_map(|state| labels.of(state)).unwrap_or_default();
    let by_hand = if on == labels.blocked { WaitReason::BlockedByHand } else { WaitReason::LabelByHand };
    Ok(Some(by_hand(on.to_owned())))
}

/// Every issue whose ledger is not finished, with its record.
///
/// # Errors
/// [`WorkError`] of a read; nothing is written.
pub async fn unfinished(worker: &Worker) -> Result<Vec<(String, Record)>, WorkError> {
    let found = discover(worker).await?;
    let of = |issue: IssueView| issue.record.map(|record| (issue.title, record));
    Ok(found.snapshot.issues.into_iter().filter_map(of).filter(|(_, record)| record.state != State::Done).collect())
}

fn told(decision: &Decision) -> String {
    match decision {
        Decision::Act(action) => sentence(action),
        Decision::Wait(reason) => reason.to_string(),
    }
}

fn sentence(action: &Action) -> String {
    match action {
        Action::Claim => "it would be claimed",
        Action::Recover(Recovery::Resume) => "its worker died: another would resume it",
        Action::Recover(Recovery::Block) => "its worker died: a person would be asked",
        Action::Recover(Recovery::Abandon) => "its worker died: it would be requeued",
        Action::SeekAnswer => {
            "it is blocked: it waits for a person's answer (the status comment on the issue has the question)"
        }
        Action::SeekCommand => "something happened on it: Hob would look for a command, and wait on",
        Action::ReturnToReview(_) => "its pull request is open again: it would be in review again",
        Action::Rebuild => "its ledger was deleted: it would be made anew",
        Action::Obey(_) => "a pause or an end was requested: the next worker would carry it out",
        Action::AskAboutRejection(_) => "its pull request was closed: a person would be asked what is next",
        Action::Finish(_) => "its work is at an end: the ledger would be closed",
        Action::RepairLabels(_) => "its labels contradict its ledger: they would be repaired",
        Action::ShowState => "its worker died before it showed where the issue stands: labels and comment would follow",
    }
    .to_owned()
}
