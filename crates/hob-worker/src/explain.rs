//! Explanation: what would be done about each issue, or why nothing. It only reads.

use std::sync::Arc;

use hob_config::{REPOSITORY_SETTINGS_PATH, RepositorySettings};
use hob_domain::{
    Action, ApprovalGrant, Blocked, Decision, Ending, IssueNumber, IssueStatus, IssueView, Planned, Record, Recovery,
    RepositoryRecord, State, Timestamp, Unblocking, WaitReason, decide, first_record, has_label, plan, plan_chosen,
};
use hob_forge::{ForgeError, Issue};
use hob_words::{chosen_by_outcomes, how_to_answer, likely_cost};
use serde::Serialize;

use crate::{
    WorkError, Worker,
    attempt::{Prospect, prospect},
    authorize::{Authorizer, Vetted, vet},
    decision::{but_for_news, sentence},
    inbox::{Conversation, Inbox, Response, response},
    observe::{Discovered, Observed, discover, is_own_claim, observe, own_comment},
    repository_file::{Ahead, arrive, here},
    trigger::trigger_is_gone,
};

/// One issue and what Hob would do about it now.
#[derive(Debug, Clone, Serialize)]
pub struct Explained {
    /// The issue.
    pub issue: IssueNumber,
    /// Its title.
    pub title: String,
    /// The address of its page.
    pub url: String,
    /// Its state in the ledger; `None` if it has no ledger yet, or one that cannot be read.
    pub state: Option<State>,
    /// Its place among those that would be worked on, from 1.
    pub place: Option<usize>,
    /// What would be done, or why nothing, one sentence.
    pub why: String,
    /// Why it is blocked, and the question.
    pub blocked: Option<Blocked>,
    /// How the question is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// When the ledger last moved.
    pub since: Option<Timestamp>,
    /// Why a profile that would work on it, or might, cannot be used. Found only for a question about one issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Which agent the outcomes of earlier work choose, and why. Found only for a question about one issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What it will probably cost, and the most that it may. Found only for a question about one issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
}

impl Explained {
    /// An issue of which no ledger is known.
    fn without_ledger(worker: &Worker, issue: IssueNumber, title: String, why: String) -> Self {
        let url = format!("{}/issues/{issue}", worker.repo_url());
        Self {
            issue,
            title,
            url,
            state: None,
            place: None,
            why,
            blocked: None,
            answer: None,
            since: None,
            profile: None,
            agent: None,
            cost: None,
        }
    }
}

/// Every issue with the trigger label or an unfinished ledger, in the order in which they would be taken; last those that
/// cannot be read.
///
/// # Errors
/// [`WorkError`] of a read; nothing is written.
pub async fn all(worker: &Worker) -> Result<Vec<Explained>, WorkError> {
    Ok(overview(worker).await?.queue)
}

/// The issues of a repository.
#[derive(Debug)]
pub struct Overview {
    /// The label that hands an issue to Hob.
    pub trigger: String,
    /// As [`all`] has them.
    pub queue: Vec<Explained>,
    /// Those whose ledger is not finished: title and record.
    pub unfinished: Vec<(String, Record)>,
    /// The repository's own record.
    pub repository: Option<RepositoryRecord>,
}

/// All issues, and the worker with its settings in their repository.
async fn discovered(worker: &Worker) -> Result<(Arc<Worker>, Discovered), WorkError> {
    let (worker, ahead) = match Box::pin(arrive(worker)).await {
        Err(WorkError::Forge(ForgeError::EmptyRepository(_))) => (Arc::new(worker.clone()), Ahead::default()),
        arrived => arrived?,
    };
    let found = Box::pin(discover(&worker, ahead)).await?;
    Ok((worker, found))
}

/// The issues, and the records of those that are not finished.
///
/// # Errors
/// [`WorkError`] of a read; nothing is written.
pub async fn overview(worker: &Worker) -> Result<Overview, WorkError> {
    let (worker, found) = discovered(worker).await?;
    let worker = &worker;
    let planned = plan(&found.snapshot, &worker.settings.plan_rules(), worker.forge.now());
    let mut queue = explained(worker, &found, planned).await?;
    queue.extend(found.unreadable.into_iter().map(|(issue, unreadable)| {
        Explained::without_ledger(worker, issue, unreadable.title, format!("it is left alone: {}", unreadable.why))
    }));
    let of = |issue: IssueView| issue.record.map(|record| (issue.title, record));
    let records = found.snapshot.issues.into_iter().filter_map(of);
    let unfinished = records.filter(|(_, record)| record.state != State::Done).collect();
    let (trigger, repository) = (worker.settings.labels.trigger.clone(), found.snapshot.repository);
    Ok(Overview { trigger, queue, unfinished, repository })
}

/// These issues alone, in this order, which is the one in which they would be taken. `None` means an issue that is
/// not there, or is a pull request.
///
/// # Errors
/// [`WorkError`] of a read; nothing is written.
pub async fn selected(worker: &Worker, numbers: &[IssueNumber]) -> Result<Vec<Option<Explained>>, WorkError> {
    let (worker, found) = discovered(worker).await?;
    let worker = &worker;
    let planned = plan_chosen(&found.snapshot, numbers, &worker.settings.plan_rules(), worker.forge.now());
    let mut known = explained(worker, &found, planned).await?.into_iter().peekable();
    let mut all = Vec::new();
    for number in numbers {
        all.push(match known.next_if(|explained| explained.issue == *number) {
            Some(explained) => Some(explained),
            None => Box::pin(absent(worker, *number)).await?,
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
    let worker = &here(worker).await?;
    let nothing = |title, why| Explained::without_ledger(worker, number, title, why);
    Ok(match observe(worker, number).await {
        Ok(None) => None,
        Ok(Some(Observed { issue, entry: None, .. })) => {
            let why = not_asked_for(&issue, &worker.settings.labels.trigger);
            Some(nothing(issue.title, why))
        }
        Ok(Some(Observed { issue, entry: Some(entry), view, authorizer, .. })) => {
            let decision = decide(&view, &worker.settings.plan_rules(), worker.forge.now());
            let conversation = Conversation::on(entry.record.pull.number);
            let (why, _) = told(worker, &authorizer, &conversation, &decision, &issue, &view).await?;
            let answer = how_to_answer(&entry.record, &worker.settings.budgets());
            Some(Explained {
                state: Some(entry.record.state),
                blocked: entry.record.blocked,
                answer,
                since: Some(entry.record.renewed_at),
                ..nothing(issue.title, why)
            })
        }
        Err(error) if error.is_of_one_thing() => Some(nothing(String::new(), format!("it is left alone: {error}"))),
        Err(error) => return Err(error),
    })
}

/// One issue, with what is wrong with its profile. None: it is not there, or is a pull request.
///
/// # Errors
/// [`WorkError`] of a read; nothing is written.
pub async fn one(worker: &Worker, number: IssueNumber) -> Result<Option<Explained>, WorkError> {
    let listed = all(worker).await?.into_iter().find(|explained| explained.issue == number);
    let found = match listed {
        Some(explained) => Some(explained),
        None => absent(worker, number).await?,
    };
    let Some(mut explained) = found else { return Ok(None) };
    explained.why.extend(job_elsewhere(worker, &explained).await);
    // What cannot be read is told already.
    let Some(observed) = observe(worker, number).await.ok().flatten() else { return Ok(Some(explained)) };
    if observed.issue.status != IssueStatus::Open {
        return Ok(Some(explained));
    }
    let Prospect { warning, quote, auto } = prospect(worker, &observed.issue, observed.record()).await?;
    let mut record = observed.record().cloned().unwrap_or_else(|| first_record(number, worker.forge.now()));
    record.work.quote = quote;
    record.work.auto = auto.or(record.work.auto);
    let is_hobs = explained.state.is_some() || explained.place.is_some();
    let cost = likely_cost(&record, &worker.settings.budgets()).filter(|_| is_hobs);
    let agent = chosen_by_outcomes(&record).filter(|_| is_hobs);
    Ok(Some(Explained { profile: warning, agent, cost, ..explained }))
}

/// What the job that will take the issue up waits for, the rest of a sentence.
async fn job_elsewhere(worker: &Worker, explained: &Explained) -> Option<String> {
    explained.place?;
    let waits = worker.remote.as_ref()?.waits_for(worker.forge.repo(), explained.issue).await?;
    Some(format!("; {}", worker.forge.connection().secrets().redaction().text(&waits)))
}

/// Why an issue that Hob never claimed is left alone.
fn not_asked_for(issue: &Issue, trigger: &str) -> String {
    match (issue.status, issue.labels.as_slice()) {
        (IssueStatus::Closed | IssueStatus::Gone, _) => "it is closed".to_owned(),
        (IssueStatus::Open, []) => format!("it does not have the label `{trigger}`"),
        (IssueStatus::Open, labels) if has_label(labels, trigger) => {
            format!("it has the label `{trigger}`, which the list of issues does not show yet: ask again soon")
        }
        (IssueStatus::Open, labels) => {
            format!("it does not have the label `{trigger}` (it has: {})", labels.join(", "))
        }
    }
}

async fn explained(
    worker: &Worker,
    found: &Discovered,
    planned: Vec<Planned<'_>>,
) -> Result<Vec<Explained>, WorkError> {
    let (mut place, authorizer) = (0, Authorizer::default());
    let mut explained = Vec::new();
    let is_unlabeled = |planned: &Planned<'_>| planned.decision == Decision::Act(Action::Finish(Ending::Unlabeled));
    let trigger = if planned.iter().any(is_unlabeled) { trigger_is_gone(worker).await? } else { None };
    let is_claim = |planned: &Planned<'_>| planned.decision.is_a_claim();
    let settings = if planned.iter().any(is_claim) { settings_trouble(worker).await? } else { None };
    let is_asked = |planned: &&Planned<'_>| planned.decision == Decision::Act(Action::SeekAnswer);
    let asked = planned.iter().filter(is_asked).map(|planned| planned.issue.number);
    let mut comments = found.comments_on(worker, asked).await;
    for planned in planned {
        let Some(issue) = found.issues.get(&planned.issue.number) else { continue };
        let mut conversation = Conversation::on(planned.issue.record.as_ref().and_then(|record| record.pull.number));
        if let Some(comments) = comments.remove(&issue.number) {
            conversation = conversation.with_comments(comments);
        }
        let (decision, view) = (&planned.decision, planned.issue);
        let (mut why, mut counts) = told(worker, &authorizer, &conversation, decision, issue, view).await?;
        if planned.decision == Decision::Act(Action::Rebuild) {
            match label_by_hand(worker, issue).await {
                Ok(reason) => why = reason.map_or(why, |reason| reason.to_string()),
                Err(error) if error.is_of_one_thing() => why = format!("it is left alone: {error}"),
                Err(error) => return Err(error),
            }
        }
        if planned.decision == Decision::Act(Action::Claim) {
            let hindrance = match vet(worker, &authorizer, issue).await {
                Ok(Vetted::Authorized(..)) => None,
                Ok(Vetted::Refused(refusal)) => Some(format!("it would be refused: {}", refusal.reason)),
                Ok(Vetted::NotYet) => Some("the forge does not show yet who put the label on".to_owned()),
                Err(error) if error.is_of_one_thing() => Some(format!("it is left alone: {error}")),
                Err(error) => return Err(error),
            };
            let hindrance = hindrance.or_else(|| settings.clone());
            counts = hindrance.is_none();
            why = hindrance.unwrap_or(why);
        }
        if is_unlabeled(&planned) {
            why = trigger.clone().unwrap_or(why);
        }
        place += usize::from(counts);
        let record = planned.issue.record.as_ref();
        explained.push(Explained {
            state: record.map(|record| record.state),
            place: counts.then_some(place),
            blocked: record.and_then(|record| record.blocked.clone()),
            answer: record.and_then(|record| how_to_answer(record, &worker.settings.budgets())),
            since: record.map(|record| record.renewed_at),
            ..Explained::without_ledger(worker, planned.issue.number, planned.issue.title.clone(), why)
        });
    }
    Ok(explained)
}

/// Why no work can begin by the repository's own settings; `None` if they can be used.
async fn settings_trouble(worker: &Worker) -> Result<Option<String>, WorkError> {
    let base = worker.forge.repository().base_branch().await?;
    let text = worker.forge.repository().file(REPOSITORY_SETTINGS_PATH, &base.sha).await?.unwrap_or_default();
    Ok(RepositorySettings::beside(&worker.settings, &text).err().map(|error| error.to_string()))
}

/// Why nothing is done about an issue with a state label and without a ledger; none: Hob had it, and would go on.
async fn label_by_hand(worker: &Worker, issue: &Issue) -> Result<Option<WaitReason>, WorkError> {
    if own_comment(worker, issue.number).await?.is_some() || is_own_claim(worker, issue).await? {
        return Ok(None);
    }
    let labels = &worker.settings.labels;
    let on = labels.states_on(&issue.labels).into_iter().find_map(|state| labels.of(state)).unwrap_or_default();
    let by_hand = if on == labels.blocked { WaitReason::BlockedByHand } else { WaitReason::LabelByHand };
    Ok(Some(by_hand(on.to_owned())))
}

/// What a decision means for an issue, and whether it would be worked on.
async fn told(
    worker: &Worker,
    authorizer: &Authorizer,
    conversation: &Conversation,
    decision: &Decision,
    issue: &Issue,
    view: &IssueView,
) -> Result<(String, bool), WorkError> {
    let blocked = view.record.as_ref().filter(|record| record.blocked.is_some());
    Ok(match decision {
        Decision::Act(Action::SeekAnswer) => match blocked {
            Some(record) => {
                let inbox = Inbox { worker, authorizer, conversation, record };
                heard(response(&inbox, issue).await?)
            }
            None => ("it is blocked without a reason: it would be resumed".to_owned(), true),
        },
        Decision::Act(Action::SeekCommand) => (looked_at(worker, view), false),
        Decision::Act(action) => {
            (sentence(action).to_owned(), matches!(action, Action::Claim | Action::Recover(Recovery::Resume)))
        }
        Decision::Wait(reason) => (reason.to_string(), false),
    })
}

/// What an issue waits for beside a look for commands, where it is not just their turn.
fn looked_at(worker: &Worker, view: &IssueView) -> String {
    let look = sentence(&Action::SeekCommand);
    let Some(record) = &view.record else { return look.to_owned() };
    match but_for_news(view.clone(), record, &worker.settings.plan_rules(), worker.forge.now()) {
        Decision::Wait(reason) => format!("{look}, because {reason}"),
        Decision::Act(_) => look.to_owned(),
    }
}

/// What people said on a blocked issue would lead to.
fn heard(response: Response) -> (String, bool) {
    match response {
        Response::Nothing => ("it waits for a person's answer".to_owned(), false),
        Response::NotYet => ("the forge does not show yet who took its label off".to_owned(), false),
        Response::Refused(receipts) => {
            let why = receipts.into_iter().next().and_then(|receipt| receipt.says).unwrap_or_default();
            (format!("what was said cannot be followed ({})", why.trim_end_matches('.')), false)
        }
        Response::Continue(Unblocking { answer, grant, .. }, _) => {
            let what = match grant {
                ApprovalGrant::ProposedAction => "approved the action",
                ApprovalGrant::ProposedPlan => "approved the plan",
                ApprovalGrant::Nothing if answer.event.is_some() => "removed the label",
                ApprovalGrant::Nothing => "answered",
            };
            (format!("{} {what}: it would be worked on", answer.actor), true)
        }
        Response::End(ending, _) => (format!("{ending}: the ledger would be closed"), false),
    }
}
