//! Observation: the forge's view of all issues, or of one, with as few calls as possible.
//!
//! One list of issues, one of refs and one of open pull requests, all conditional; each ledger tip once, since a commit
//! never changes, and several in one query. A process that knows nothing has most of it from its first query. Many old unknown ones come through git, which costs no quota: a scheduled
//! job knows none, and a forge gives it a thousand calls an hour.

use std::collections::{BTreeMap, BTreeSet};

use hob_domain::{
    CommentId, FailureClass, IssueNumber, IssueView, LabelEventKind, PullNumber, PullStatus, Record, Snapshot, State,
    Timestamp, has_label,
};
use hob_forge::{Comment, ForgeError, Issue, LedgerEntry, OpenIssues, Tip, comments_of_each};
use hob_words::STATUS_MARK;
use tokio::time::Instant;

use crate::{
    WorkError, WorkEvent, Worker,
    authorize::{Authorizer, label_event},
    finished_ledgers::{is_finished, learn_finished, note_finished},
    inbox::{Conversation, Inbox},
    people::still_begun,
    pull_facts::{Followed, Tips, pull_facts, read_ahead},
    repository_file::Ahead,
};

/// A snapshot, with what an action needs beside it.
pub(super) struct Discovered {
    pub(super) snapshot: Snapshot,
    pub(super) issues: BTreeMap<IssueNumber, Issue>,
    /// Issues that the forge shows in an unreadable form. They do not stop the others.
    pub(super) unreadable: BTreeMap<IssueNumber, Unreadable>,
    /// Of all ledgers.
    pub(super) tips: hob_forge::Tips,
    /// Comments that were read before.
    comments: BTreeMap<IssueNumber, Vec<Comment>>,
}

impl Discovered {
    /// The comments on these issues, as far as the first look or one query tells them. Those of a single issue are read when they are
    /// needed.
    pub(super) async fn comments_on(
        &self,
        worker: &Worker,
        issues: impl Iterator<Item = IssueNumber>,
    ) -> BTreeMap<IssueNumber, Vec<Comment>> {
        let (mut found, mut unknown) = (BTreeMap::new(), Vec::new());
        for issue in issues.filter_map(|number| self.issues.get(&number)) {
            // If their number is another one, either list lags.
            match self.comments.get(&issue.number).filter(|comments| comments.len() as u64 == issue.comments) {
                Some(comments) => drop(found.insert(issue.number, comments.clone())),
                None => unknown.push(issue),
            }
        }
        if unknown.len() < 2 {
            return found;
        }
        match comments_of_each(&worker.forge, &unknown).await {
            Ok(more) => found.extend(more),
            Err(error) => tracing::debug!(%error, "the comments are read issue by issue: {error}"),
        }
        found
    }
}

/// The known parts of an issue that cannot be read, or whose ledger cannot.
pub(super) struct Unreadable {
    pub(super) title: String,
    pub(super) why: String,
}

/// The forge's current view of every issue that has the trigger label or an unfinished ledger. An issue that cannot be
/// read, or whose ledger cannot, such as a newer Hob's, is an event and does not stop the others.
pub(super) async fn discover(worker: &Worker, ahead: Ahead) -> Result<Discovered, WorkError> {
    let Ahead { base, tips, issues, comments } = ahead;
    let listed = list(worker, tips.as_ref(), issues).await?;
    let tips = match tips {
        Some(tips) => tips,
        None => worker.forge.ledger().tips().await?,
    };
    let mut issues: BTreeMap<_, _> = listed.issues.into_iter().map(|issue| (issue.number, issue)).collect();
    let mut unreadable = BTreeMap::new();
    for (number, error) in listed.unreadable {
        unreadable.insert(number, unread(worker, number, "", error.into())?);
    }
    for (number, reference) in &tips.obstacles {
        if let Some(issue) = issues.remove(number) {
            unreadable.insert(*number, unread(worker, *number, &issue.title, in_the_way(worker, *number, reference))?);
        }
    }
    let open: BTreeSet<IssueNumber> = issues.keys().copied().collect();
    let unknown = |tip: &&Tip| !open.contains(&tip.issue) && !worker.memory.finished.has(tip);
    let unknown: Vec<&Tip> = tips.issues.iter().filter(unknown).collect();
    learn_finished(worker, &tips, unknown).await;
    let unfinished = tips.issues.iter().filter(|tip| open.contains(&tip.issue) || !worker.memory.finished.has(tip));
    worker.forge.ledger().read_ahead(unfinished.map(|tip| &tip.commit).chain(&tips.repository)).await;
    let mut entries = BTreeMap::new();
    for tip in &tips.issues {
        let number = tip.issue;
        if unreadable.contains_key(&number) || !open.contains(&number) && worker.memory.finished.has(tip) {
            continue;
        }
        let entry = match worker.forge.ledger().entry(tip).await {
            Ok(entry) => entry,
            Err(error) => {
                let title = issues.remove(&number).map_or_else(String::new, |issue| issue.title);
                unreadable.insert(number, unread(worker, number, &title, error.into())?);
                continue;
            }
        };
        worker.memory.trials.note(&entry.record);
        if is_finished(&entry.record) && !open.contains(&number) {
            note_finished(worker, tip, &entry.record);
            continue;
        }
        if !open.contains(&number) {
            match worker.forge.issues().get(number).await {
                Ok(found) => drop(issues.insert(number, found.unwrap_or_else(|| Issue::gone(number)))),
                Err(error) => {
                    unreadable.insert(number, unread(worker, number, "", error.into())?);
                    continue;
                }
            }
        }
        entries.insert(number, entry);
    }
    let repository = worker.forge.repository_ledger().entry(tips.repository.as_ref()).await?.map(|entry| entry.record);
    let open = OpenPulls { pulls: open_pulls(worker, entries.values()).await?, tips: Tips::beside(base) };
    worker.memory.found_pulls.begin_poll();
    let followed = entries.values().filter_map(|entry| {
        let pull = in_review(&entry.record)?;
        Some(Followed {
            pull,
            branch: entry.record.work.branch_name(),
            updated_at: *open.pulls.get(&pull)?,
            tips: &open.tips,
        })
    });
    read_ahead(worker, followed.collect(), &open.tips).await;
    let (mut views, authorizer) = (Vec::new(), Authorizer::default());
    for issue in issues.values() {
        match view(worker, &authorizer, issue, entries.get(&issue.number), &open).await {
            Ok(seen) => views.push(*seen.view),
            Err(error) => {
                unreadable.insert(issue.number, unread(worker, issue.number, &issue.title, error)?);
            }
        }
    }
    Ok(Discovered { snapshot: Snapshot { issues: views, repository }, issues, unreadable, tips, comments })
}

/// The open issues with the trigger label: those that were `told` with these tips, unless one of them may be claimed. What blocks that one
/// is only in the list of the REST API.
async fn list(
    worker: &Worker,
    tips: Option<&hob_forge::Tips>,
    told: Option<Vec<Issue>>,
) -> Result<OpenIssues, WorkError> {
    if let (Some(tips), Some(issues)) = (tips, told)
        && !is_one_to_claim(worker, tips, &issues).await
    {
        return Ok(OpenIssues { issues, unreadable: Vec::new() });
    }
    Ok(worker.forge.issues().open_with(&worker.settings.labels.trigger).await?)
}

/// Whether one of these issues may be claimed, as far as their ledgers show.
async fn is_one_to_claim(worker: &Worker, tips: &hob_forge::Tips, issues: &[Issue]) -> bool {
    let tip = |issue: &Issue| tips.issues.iter().find(|tip| tip.issue == issue.number);
    worker.forge.ledger().read_ahead(issues.iter().filter_map(tip).map(|tip| &tip.commit)).await;
    for issue in issues {
        let Some(tip) = tip(issue) else { return true };
        match worker.forge.ledger().entry(tip).await {
            Ok(entry) if !waits_for_claim(Some(&entry.record)) => {}
            Ok(_) | Err(_) => return true,
        }
    }
    false
}

/// Whether the issue of this record may be claimed once nothing blocks it.
fn waits_for_claim(record: Option<&Record>) -> bool {
    record.is_none_or(|record| matches!(record.state, State::Ready | State::Done))
}

/// The error of an issue that cannot have a ledger, because a ref exists below its name.
fn in_the_way(worker: &Worker, issue: IssueNumber, reference: &str) -> WorkError {
    let (what, message) = ("make the ledger of the issue".to_owned(), format!("`{reference}` is below its name"));
    let ledger = format!("{}{issue}", worker.forge.ledger().issue_refs());
    ForgeError::Obstructed { what, reference: ledger, status: 422, message }.into()
}

/// Reports that one issue cannot be read.
///
/// # Errors
/// The error itself, if it is about more than the issue.
fn unread(worker: &Worker, issue: IssueNumber, title: &str, error: WorkError) -> Result<Unreadable, WorkError> {
    if !error.is_of_one_thing() {
        return Err(error);
    }
    let why = error.to_string();
    worker.emit(&WorkEvent::Failed { issue: Some(issue), reason: why.clone() });
    Ok(Unreadable { title: title.to_owned(), why })
}

/// One issue as it was read just now, with the tip of its ledger.
pub(super) struct Observed {
    pub(super) issue: Issue,
    pub(super) entry: Option<LedgerEntry>,
    /// What decisions depend on.
    pub(super) view: Box<IssueView>,
    /// Whose words and labels count, as far as it was looked up.
    pub(super) authorizer: Authorizer,
    /// What people wrote, as far as it was read.
    conversation: Conversation,
    /// When the first read began.
    pub(super) began: Instant,
}

impl Observed {
    /// The issue's record, if it has one.
    pub(super) fn record(&self) -> Option<&Record> {
        self.entry.as_ref().map(|entry| &entry.record)
    }

    /// What people say about the issue; `None` if it has no record.
    pub(super) fn inbox<'a>(&'a self, worker: &'a Worker) -> Option<Inbox<'a>> {
        Some(self.inbox_of(worker, self.record()?))
    }

    /// What people say about the issue, whose record this is or will be.
    pub(super) fn inbox_of<'a>(&'a self, worker: &'a Worker, record: &'a Record) -> Inbox<'a> {
        let Self { authorizer, conversation, .. } = self;
        Inbox { worker, authorizer, conversation, record }
    }
}

/// Reads one issue; `None` if it is gone and has no ledger.
pub(super) async fn observe(worker: &Worker, number: IssueNumber) -> Result<Option<Observed>, WorkError> {
    let (began, authorizer) = (Instant::now(), Authorizer::default());
    // The ledger first: a worker that then wins it from this tip knows that no other worker has changed the issue
    // since.
    let entry = match worker.forge.ledger().tip(number).await? {
        Some(tip) => Some(worker.forge.ledger().entry(&tip).await?),
        None => None,
    };
    let issue = worker.forge.issues().get(number).await?;
    if issue.is_none() && entry.is_none() {
        return Ok(None);
    }
    let issue = issue.unwrap_or_else(|| Issue::gone(number));
    let Seen { view, conversation } = view(worker, &authorizer, &issue, entry.as_ref(), &OpenPulls::default()).await?;
    Ok(Some(Observed { issue, entry, view, authorizer, conversation, began }))
}

/// The status comment of an issue, by the token's own account.
pub(super) async fn own_comment(worker: &Worker, issue: IssueNumber) -> Result<Option<CommentId>, WorkError> {
    let Some(own) = worker.own_login().await? else { return Ok(None) };
    let comments = worker.forge.comments().of(issue).await?;
    let ours = comments.into_iter().find(|comment| {
        comment.body.starts_with(STATUS_MARK) && comment.author.as_ref().is_some_and(|author| author.login.is(&own))
    });
    Ok(ours.map(|comment| comment.id))
}

/// Whether Hob itself added the label of claimed issues. It comes before the first status comment, so it may be all
/// that is left of a claim if the ledger was deleted.
pub(super) async fn is_own_claim(worker: &Worker, issue: &Issue) -> Result<bool, WorkError> {
    let assigned = worker.settings.labels.of(State::Assigned).filter(|label| has_label(&issue.labels, label));
    let Some(label) = assigned else { return Ok(false) };
    let Some(own) = worker.own_login().await? else { return Ok(false) };
    let event = label_event(worker, issue, LabelEventKind::Labeled, label).await?.seen();
    Ok(event.and_then(|event| event.actor).is_some_and(|actor| actor.login.is(&own)))
}

/// Of the pull requests that these ledgers follow, those that one list shows to be open; the others are asked for by
/// number.
async fn open_pulls(
    worker: &Worker,
    entries: impl Iterator<Item = &LedgerEntry>,
) -> Result<BTreeMap<PullNumber, Timestamp>, WorkError> {
    if entries.filter(|entry| followed_pull(&entry.record).is_some()).nth(1).is_none() {
        return Ok(BTreeMap::new());
    }
    let Some(own) = worker.own_login().await? else { return Ok(BTreeMap::new()) };
    match worker.forge.pulls().open_by(&own).await {
        // Not every forge lists pull requests by every kind of account.
        Err(error) if error.class() == FailureClass::Permanent => Ok(BTreeMap::new()),
        found => Ok(found?),
    }
}

/// What one look knows of the open pull requests that it follows.
#[derive(Default)]
struct OpenPulls {
    /// When each that a list shows to be open last changed.
    pulls: BTreeMap<PullNumber, Timestamp>,
    tips: Tips,
}

/// The view of an issue, and what was read for it of what people wrote.
struct Seen {
    view: Box<IssueView>,
    conversation: Conversation,
}

async fn view(
    worker: &Worker,
    authorizer: &Authorizer,
    issue: &Issue,
    entry: Option<&LedgerEntry>,
    open: &OpenPulls,
) -> Result<Seen, WorkError> {
    let record: Option<Record> = entry.map(|entry| entry.record.clone());
    let seen = match record.as_ref().and_then(followed_pull) {
        Some(number) => match open.pulls.get(&number) {
            Some(at) => Some((number, PullStatus::Open, *at)),
            None => worker.forge.pulls().status(number).await?.map(|(status, at)| (number, status, at)),
        },
        None => None,
    };
    let blockers = match issue.blocked_by {
        0 => Vec::new(),
        _ if !waits_for_claim(record.as_ref()) => Vec::new(),
        _ => worker.forge.issues().blockers(issue.number).await?,
    };
    let begun = match record.as_ref().filter(|record| record.state == State::Ready) {
        Some(record) if !record.work.waits_for().is_empty() => still_begun(worker, issue, record).await?,
        Some(_) | None => Vec::new(),
    };
    let conversation = Conversation::on(record.as_ref().and_then(|record| record.pull.number));
    let conversation = conversation.changed_at(seen.map(|(_, _, at)| at));
    let inbox = record.as_ref().map(|record| Inbox { worker, authorizer, conversation: &conversation, record });
    let of_review = inbox.as_ref().filter(|inbox| in_review(inbox.record).is_some());
    let review = if let (Some(inbox), Some((pull, PullStatus::Open, updated_at))) = (of_review, seen) {
        let followed = Followed { pull, branch: inbox.record.work.branch_name(), updated_at, tips: &open.tips };
        Box::pin(pull_facts(inbox, &followed)).await?
    } else {
        None
    };
    let has_command_on_pull = match (&inbox, &review) {
        (_, Some(review)) => review.has_command,
        // It waits for its next attempt, or is paused. If it is blocked, the look for an answer reads them, too.
        (Some(inbox), None) if inbox.record.state == State::Ready => !inbox.commands_on_pull().await?.is_empty(),
        (Some(_) | None, None) => false,
    };
    let goes_on = record.as_ref().and_then(|record| goes_on(worker, record));
    let mut view = Box::new(IssueView {
        number: issue.number,
        title: issue.title.clone(),
        labels: issue.labels.clone(),
        status: issue.status,
        created_at: issue.created_at,
        updated_at: issue.updated_at,
        comments: issue.comments,
        record,
        assignees: issue.assignees.clone(),
        blockers,
        begun,
        pull: seen.map(|(number, status, _)| (number, status)),
        pull_updated_at: seen.map(|(_, _, at)| at),
        is_dashboard: is_dashboard(worker, issue.number),
        review,
        goes_on,
        has_command_on_pull,
        is_quiet: false,
    });
    view.is_quiet = worker.memory.looked_at.is_quiet(&view, worker.forge.now());
    Ok(Seen { view, conversation })
}

/// The time at which an issue that waits for a service may continue, by the repository's ledger.
fn goes_on(worker: &Worker, record: &Record) -> Option<Timestamp> {
    let outage = record.failure.outage.as_ref()?;
    worker.forge.repository_ledger().known()?.outages.goes_on(outage, record.renewed_at)
}

/// Whether the issue is the repository's dashboard, or was.
fn is_dashboard(worker: &Worker, number: IssueNumber) -> bool {
    let drawn = worker.forge.repository_ledger().known().and_then(|record| record.dashboard?.issue);
    [worker.settings.dashboard.number(), drawn].contains(&Some(number))
}

/// The pull request of an issue in review.
fn in_review(record: &Record) -> Option<PullNumber> {
    record.pull.number.filter(|_| record.state == State::InReview)
}

/// The pull request whose fate matters: one in review, one that a person closed, or one of an issue that was closed and
/// is requested again.
fn followed_pull(record: &Record) -> Option<PullNumber> {
    match record.state {
        State::InReview | State::Blocked | State::Done => record.pull.number,
        State::Ready | State::Assigned | State::InProgress => None,
    }
}
