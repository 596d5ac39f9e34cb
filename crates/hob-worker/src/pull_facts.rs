//! The facts about an open pull request: what people said on it, how its checks ended, and whether it can still be
//! merged into its base.
//!
//! # Flow
//! Lists that are answered 304 and not counted while nothing changes tell which pull requests have changed: that of the
//! open ones, and those of the branches. One query asks about all of them. The checks on a head change without a trace
//! there: of a few pull requests they are read each time, and not counted while they stay the same; of many, one query
//! tells which have others than before. If a query is not answered, or is incomplete, the lists of each pull request are read.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use hob_domain::{
    Actor, FailureClass, ForgeCheck, ForgeCheckState, MergeState, Message, OWN_MARK, PullFacts, PullNumber, Record,
    ReviewEvent, ReviewLog, Said, Sha, Timestamp,
};
use hob_forge::{BaseBranch, ForgeError, HeadCheck, PullOutline, pull_outlines};
use parking_lot::Mutex;
use tokio::sync::OnceCell;

use crate::{WorkError, Worker, authorize::Authorizer, inbox::Inbox, memory::Found};

/// The forge's times are whole seconds: more may follow within the second of the last find.
const SAME_SECOND: Duration = Duration::from_secs(1);

/// The fewest pull requests whose checks are asked about in one query: those of fewer are read at once, since answers without news are free.
const OUTLINES_MIN: usize = 5;

/// A pull request of an issue in review.
#[derive(Debug, Clone, Copy)]
pub(super) struct Followed<'a> {
    pub(super) pull: PullNumber,
    pub(super) branch: Option<&'a str>,
    /// Its last change, by the forge's current list.
    pub(super) updated_at: Timestamp,
    pub(super) tips: &'a Tips,
}

/// A pull request in review of which its outline tells whether anything about it has changed.
#[derive(Debug, Clone)]
pub(super) struct Watched {
    /// Its id in GraphQL.
    pub(super) node: String,
    /// What it was like when it was last asked about.
    pub(super) outline: PullOutline,
}

/// The pull request of an issue in review that a poll has just looked at. `None` if its outline does not tell all that such a look does:
/// what may still be computed, or approved, the checks on its base, or another branch than the default one.
pub(super) fn watched(worker: &Worker, record: &Record) -> Option<Watched> {
    let found = worker.memory.found_pulls.get(record.pull.number?)?;
    let open = &found.open;
    let is_on_default = worker.memory.default_branch.lock().as_ref() == Some(&open.pull.base_name);
    let is_plain = |state: &ForgeCheckState| matches!(state, ForgeCheckState::Passed | ForgeCheckState::Pending);
    let checks = open.checks.as_ref().filter(|checks| checks.iter().all(|(_, state)| is_plain(state)))?;
    // None at all may mean that the token may not see them, which a draft must not be marked as ready by.
    let are_seen = !(record.pull.waits_for_green() && checks.is_empty());
    let is_told = is_on_default && are_seen && open.pull.merge != MergeState::Unknown && !open.node.is_empty();
    let outline = open.outline.clone().filter(|_| is_told)?;
    Some(Watched { node: open.node.clone(), outline })
}

/// What a look knows of the branches that pull requests are about: each tip is read once, and none for what is asked about anyway.
#[derive(Debug, Default)]
pub(super) struct Tips {
    /// Those of Hob's branches.
    heads: OnceCell<BTreeMap<String, Sha>>,
    /// Those of branches that work is merged into.
    bases: Mutex<BTreeMap<String, Sha>>,
    /// The pull requests that were asked about in the look.
    asked: Mutex<BTreeSet<PullNumber>>,
}

impl Tips {
    /// The tips of a look that began with this branch.
    pub(super) fn beside(base: Option<BaseBranch>) -> Self {
        let bases = Mutex::new(base.into_iter().map(|base| (base.name, base.sha)).collect());
        Self { bases, ..Self::default() }
    }

    /// The tip of one of Hob's branches, by one list for all of them.
    async fn head(&self, worker: &Worker, branch: &str) -> Option<&Sha> {
        let read = || worker.forge.repository().tips(&worker.settings.workspace.branch_prefix);
        self.heads.get_or_try_init(read).await.ok()?.get(branch)
    }

    /// The tip of a branch that work is merged into.
    async fn base(&self, worker: &Worker, branch: &str) -> Result<Sha, ForgeError> {
        if let Some(known) = self.bases.lock().get(branch).cloned() {
            return Ok(known);
        }
        let tip = worker.forge.repository().tip(branch.to_owned()).await?.sha;
        self.bases.lock().insert(branch.to_owned(), tip.clone());
        Ok(tip)
    }
}

/// Asks in one query about those of these pull requests that may have changed. Failures are retried one by one.
pub(super) async fn read_ahead(worker: &Worker, followed: Vec<Followed<'_>>, tips: &Tips) {
    let (mut changed, mut same) = (Vec::new(), Vec::new());
    for one in followed {
        match known(worker, &one).await {
            Some(found) => same.push(found),
            None => changed.push(one.pull),
        }
    }
    let with_other_checks = with_other_checks(worker, &same).await;
    let asks = !with_other_checks.is_empty() || changed.len() > 1;
    changed.extend(with_other_checks);
    if asks && let Err(error) = ask(worker, &changed, tips).await {
        tracing::debug!(%error, "the pull requests are read one by one: {error}");
    }
}

/// Those of these pull requests whose checks are not as they were found; the others' are known for this poll. None if they are few, or if
/// that cannot be told.
async fn with_other_checks(worker: &Worker, found: &[Arc<Found>]) -> Vec<PullNumber> {
    let asked: BTreeMap<PullNumber, (&Arc<Found>, &PullOutline)> = found
        .iter()
        .filter_map(|found| Some((found.open.pull.number, (found, found.open.outline.as_ref()?))))
        .collect();
    if asked.len() < OUTLINES_MIN {
        return Vec::new();
    }
    let ids: Vec<_> = asked.values().map(|(found, _)| found.open.node.as_str()).collect();
    let now = pull_outlines(worker.forge.connection(), &ids).await.unwrap_or_else(|error| {
        tracing::debug!(%error, "the checks are read one by one: {error}");
        Vec::new()
    });
    let mut changed = Vec::new();
    for outline in now.into_iter().flatten() {
        match asked.get(&outline.number) {
            Some((found, before)) if **before == outline => worker.memory.found_pulls.note_same_checks(found),
            Some(_) => changed.push(outline.number),
            None => {}
        }
    }
    changed
}

/// The current facts about the pull request, whose conversation the inbox has; `None` if it is gone.
pub(super) async fn pull_facts(inbox: &Inbox<'_>, followed: &Followed<'_>) -> Result<Option<PullFacts>, WorkError> {
    let Inbox { worker, authorizer, conversation, record } = *inbox;
    let found = match known(worker, followed).await {
        Some(found) => Some(found),
        None => match ask(worker, &[followed.pull], followed.tips).await {
            // If only the query takes the forge too long, each of the lists may still be answered.
            Err(error) if matches!(error.class(), FailureClass::Transient { .. }) && !is_of_the_query(&error) => {
                return Err(error);
            }
            Err(error) => {
                tracing::debug!(%error, "the lists of the pull request are read: {error}");
                None
            }
            Ok(()) => worker.memory.found_pulls.get(followed.pull),
        },
    };
    let whole = found.as_ref().map(|found| &found.open).filter(|open| open.is_whole);
    let all = match whole {
        Some(open) => {
            conversation.found_on_pull(&open.comments);
            open.said.clone()
        }
        None => listed(inbox).await?,
    };
    let has_command = !inbox.commands_on_pull().await?.is_empty();
    let requests = inbox.requests().await?;
    let pull = match &found {
        Some(found) => found.open.pull.clone(),
        None => match worker.forge.pulls().get(followed.pull).await? {
            Some(pull) => pull,
            None => return Ok(None),
        },
    };
    let mut said = authorized(worker, authorizer, all, &record.review).await?;
    let asked = |message: Message| Said { event: ReviewEvent::Comment(message.comment.0), at: message.at };
    said.extend(requests.into_iter().map(asked));
    // What came while the agent worked is the first thing that the next round reads.
    let unread = record.commands.unread.iter();
    said.extend(unread.map(|comment| Said { event: ReviewEvent::Comment(comment.0), at: record.since.at }));
    let checks = of_head(worker, &pull.head, found.as_deref(), record).await?;
    let checks = BTreeMap::from_iter(checks);
    let is_red = |state: ForgeCheckState| state == ForgeCheckState::Failed;
    let has_red = checks.values().any(|state| is_red(*state));
    let on_base = if has_red { named(head_checks(worker, &pull.base).await?) } else { Vec::new() };
    let checks = checks.into_iter().map(|(name, state)| {
        let red_on_base = is_red(state) && on_base.iter().any(|(other, state)| *other == name && is_red(*state));
        ForgeCheck { name, state, red_on_base }
    });
    let ejected = found.as_ref().and_then(|found| found.open.ejected.as_ref()).map(|(at, _)| *at);
    let (head, base, merge, checks) = (pull.head, pull.base, pull.merge, checks.collect());
    Ok(Some(PullFacts { head, base, merge, said, checks, ejected, has_command }))
}

/// Whether the forge failed at one query, and was there.
fn is_of_the_query(error: &WorkError) -> bool {
    matches!(error, WorkError::Forge(ForgeError::Server { .. } | ForgeError::TimedOut { .. }))
}

/// The checks on a pull request's head, which the query may have reported lately. Checks that wait for an approval are
/// read again if the query mentioned any and a draft must not be marked as ready meanwhile.
async fn of_head(
    worker: &Worker,
    head: &Sha,
    found: Option<&Found>,
    record: &Record,
) -> Result<Vec<(String, ForgeCheckState)>, WorkError> {
    let is_draft = record.pull.waits_for_green();
    let told = found.and_then(|found| found.open.checks.as_ref());
    let are_of_now = found.is_some_and(|found| worker.memory.found_pulls.has_checks_of_now(found));
    // An empty list may mean that the token may not see them, which the query does not always say.
    if let Some(told) = told.filter(|told| are_of_now && !(is_draft && told.is_empty())) {
        return Ok(told.clone());
    }
    let checks = worker.forge.head_checks(head);
    let mut all = known_yet(checks.all().await)?;
    let some_wait = |told: &Vec<(String, _)>| told.iter().any(|(_, state)| *state == ForgeCheckState::Unapproved);
    if is_draft || told.is_none_or(some_wait) {
        all.extend(known_yet(checks.unapproved().await)?);
    }
    Ok(all)
}

/// The checks that were read. For a head that the forge does not find, their state is unknown for now.
fn known_yet(read: Result<Vec<HeadCheck>, ForgeError>) -> Result<Vec<(String, ForgeCheckState)>, WorkError> {
    match read {
        Err(ForgeError::NotFound { .. }) => {
            Ok(vec![("checks that the forge does not find".to_owned(), ForgeCheckState::Pending)])
        }
        found => Ok(named(found?)),
    }
}

fn named(checks: Vec<HeadCheck>) -> Vec<(String, ForgeCheckState)> {
    checks.into_iter().map(|check| (check.name, check.state)).collect()
}

/// The earlier result for the pull request, if nothing about it has changed since.
async fn known(worker: &Worker, followed: &Followed<'_>) -> Option<Arc<Found>> {
    let found = worker.memory.found_pulls.get(followed.pull)?;
    let open = &found.open;
    let may_be_same = open.pull.merge != MergeState::Unknown
        && open.updated_at == followed.updated_at
        && open.updated_at + SAME_SECOND < found.asked_at;
    if !may_be_same {
        return None;
    }
    let tips = followed.tips;
    if tips.asked.lock().contains(&followed.pull) {
        return Some(found);
    }
    if tips.head(worker, followed.branch?).await != Some(&open.pull.head) {
        return None;
    }
    let base_is_same = tips.base(worker, &open.pull.base_name).await.is_ok_and(|now| now == found.tip);
    base_is_same.then_some(found)
}

/// Asks about these pull requests, and remembers the answers.
async fn ask(worker: &Worker, pulls: &[PullNumber], tips: &Tips) -> Result<(), WorkError> {
    let own = worker.own_login().await?;
    let asked_at = worker.forge.now();
    for (_, open) in worker.forge.pulls().standing(pulls, own.as_ref()).await? {
        if let Ok(tip) = tips.base(worker, &open.pull.base_name).await {
            tips.asked.lock().insert(open.pull.number);
            worker.memory.found_pulls.note(open, tip, asked_at);
        }
    }
    Ok(())
}

/// Reviews and comments on lines, from the lists of the pull request.
async fn listed(inbox: &Inbox<'_>) -> Result<Vec<(Option<Actor>, Said)>, WorkError> {
    let mut found: Vec<(Option<Actor>, Said)> = Vec::new();
    for review in inbox.conversation.reviews(inbox.worker).await? {
        if review.asks_for_work() {
            let said = Said { event: ReviewEvent::Review(review.id), at: review.submitted_at };
            found.push((review.author.clone(), said));
        }
    }
    for remark in inbox.conversation.remarks(inbox.worker).await? {
        if !remark.body.starts_with(OWN_MARK) {
            let said = Said { event: ReviewEvent::Line(remark.id), at: remark.created_at };
            found.push((remark.author.clone(), said));
        }
    }
    Ok(found)
}

/// Those of authorized accounts that no round has handled yet.
async fn authorized(
    worker: &Worker,
    authorizer: &Authorizer,
    found: Vec<(Option<Actor>, Said)>,
    log: &ReviewLog,
) -> Result<Vec<Said>, WorkError> {
    let mut said = Vec::new();
    for (author, one) in found {
        let Some(author) = author.filter(|_| !log.handled.contains(&one.event)) else { continue };
        let is_own = worker.own_login().await?.is_some_and(|own| author.login.is(&own));
        if !is_own && authorizer.judge(worker, &author).await?.is_granted() {
            said.push(one);
        }
    }
    Ok(said)
}

/// The forge's checks on a commit; empty if there is no such commit.
pub(super) async fn head_checks(worker: &Worker, sha: &Sha) -> Result<Vec<HeadCheck>, WorkError> {
    match worker.forge.head_checks(sha).all().await {
        Err(error) if error.is_not_found() => Ok(Vec::new()),
        found => Ok(found?),
    }
}
