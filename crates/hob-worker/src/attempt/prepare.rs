//! The preparation of an attempt: the rules, the agent, the branch, the folder, the comments.

use std::sync::OnceLock;

use hob_agent::session::SessionRecord;
use hob_config::RepositorySettings;
use hob_domain::{
    BaseChoice, Brings, ChangeText, IssueNumber, Login, Note, Outcome, PersonsCommit, Record, RunId, RunPurpose, Sha,
    branch_for, change_in,
};
use hob_forge::{ForgeError, Issue};
use hob_text::secrets_in;
use hob_workspace::{BranchName, Checkout, Leftover, Remote, Workspace, WorkspaceError};
use parking_lot::Mutex;

use crate::{
    WorkError, Worker,
    attempt::{
        active_profile::{ActiveProfile, ActiveProfiles},
        by_words::{Said, choose_by_words},
        candidates::is_a_later_ones,
        case::case_of,
        images::images,
        job::{AttemptLimits, Job},
        loaded_agent::{Chosen, Place, choose},
        named::named_issues,
        purpose::{purpose, wants_investigation},
        review_brief::{begin_round, conversation},
    },
    authorize::Authorizer,
    held_issue::HeldIssue,
    inbox::Inbox,
    mirror::{fetch, patience_of, wait_while_busy},
    push_rules::in_the_way,
    repository_file::file_at,
};

/// The repository's file for work that starts at `base`. One that cannot be used on the default branch stops the repository,
/// wherever the work starts.
async fn rules_of(worker: &Worker, held: &HeldIssue, base: &Sha) -> Result<RepositorySettings, WorkError> {
    file_at(worker, &held.base.sha).await?;
    Ok(RepositorySettings::clone(&*file_at(worker, base).await?))
}

/// Fetches, reads the rules, chooses agent and branch, and checks the branch out.
pub(super) async fn prepare<'a>(
    worker: &Worker,
    held: &'a HeldIssue,
    base: BaseChoice,
    limits: AttemptLimits,
) -> Result<Job<'a>, WorkError> {
    let HeldIssue { lease, issue, .. } = held;
    worker.activity(issue.number, "fetching the repository");
    let remote = worker.remote().await?;
    let base_sha = fetch(worker, &remote, &base.branch.parse()?).await?;
    let rules = rules_of(worker, held, &base_sha).await?;
    let (record, authorizer) = (lease.record(), Authorizer::default());
    let conversation = conversation(worker, &record, issue).await?;
    let inbox = Inbox { worker, authorizer: &authorizer, conversation: &conversation, record: &record };
    let review = begin_round(&inbox, held).await?;
    let investigates = Box::pin(wants_investigation(worker, held)).await?;
    if !investigates {
        has_room(worker, &remote).await?;
    }
    let comments = inbox.for_brief(issue).await?;
    let briefed = inbox.newest_on_issue(issue).await?;
    let said = Said { conversation: &conversation, comments: &comments, review: &review };
    Box::pin(choose_by_words(worker, held, &rules, &base_sha, said)).await?;
    let comments: Vec<_> = comments.into_iter().map(|said| (said.author.login, said.body)).collect();
    let place = Place { rules: &rules, remote: &remote, base: &base_sha, investigates };
    let Chosen { loaded, catalog, rules } = Box::pin(choose(worker, held, place)).await?;
    let images = match loaded.agent.sees() {
        true => Box::pin(images(worker, issue, &comments)).await,
        false => Vec::new(),
    };
    let named = Box::pin(named_issues(&inbox, issue.number, &review)).await?;
    let purpose = Box::pin(purpose(worker, held, loaded.brings)).await?;
    let case = if loaded.brings == Brings::Conclusion {
        let template = loaded.template.clone();
        Some(Box::pin(case_of(worker, held, &remote, &base_sha, &comments, template)).await)
    } else {
        None
    };
    let kept = worker.workspace.kept(&remote, issue.number).await?;
    let (earlier, leftover) = earlier(worker, held, &loaded.name, purpose, kept.as_ref()).await;
    let start = Start { remote: &remote, base: &base_sha, leftover, purpose };
    let checkout = laid_out(worker, held, &rules, start).await?;
    let checkout = checkout.wanting(description(issue, &comments));
    let pushed_by_people = pushed_by_people(worker, &record, &checkout, &base_sha).await?;
    let proven = proven_work(&lease.record(), &checkout, earlier.as_ref()).await?;
    let nonce = lease.record().nonce;
    let (repo, nonce) = (worker.forge.repo(), nonce.as_str().get(..8).unwrap_or_default());
    let run = RunId(format!("{}-{}-{}-{}-{nonce}", repo.owner(), repo.name(), issue.number, lease.generation()));
    let session = earlier.map_or_else(|| run.clone(), |session| session.id);
    let first = ActiveProfile { loaded, run: run.clone(), session, took_over_at: None, candidate: 0 };
    let route = lease.record().route.filter(|_| first.loaded.profile.is_some());
    first.report(worker, held, route.map(|route| route.percent));
    let (memory, lessons) = (memory(worker, issue.number, &rules, purpose), Mutex::default());
    Ok(Job {
        held,
        purpose,
        rules,
        case,
        catalog,
        active: ActiveProfiles::new(first),
        pushed: Mutex::new(checkout.pushed().cloned()),
        checkout,
        proven,
        kept,
        base,
        base_tip: base_sha,
        comments,
        briefed,
        hearings: Mutex::default(),
        named,
        images,
        review,
        pushed_by_people,
        run,
        limits: AttemptLimits { began: lease.record().spend, ..limits },
        base_checks: OnceLock::new(),
        memory,
        lessons,
        reviews: Mutex::default(),
        candidates: Mutex::default(),
        shown: Mutex::default(),
        notable: Mutex::default(),
        unfit: Mutex::default(),
    })
}

/// The commits of people on the branch since its last published head.
async fn pushed_by_people(
    worker: &Worker,
    record: &Record,
    checkout: &Checkout,
    base_tip: &Sha,
) -> Result<Vec<PersonsCommit>, WorkspaceError> {
    let since = record.work.proof.as_ref().map(|proof| proof.head());
    checkout.persons_commits(&worker.commit_identity().await, base_tip, since).await
}

/// What the work is about, in the words of people.
fn description(issue: &Issue, comments: &[(Login, String)]) -> String {
    let of_issue = [issue.title.as_str(), issue.body.as_str()].into_iter();
    of_issue.chain(comments.iter().map(|(_, text)| text.as_str())).collect::<Vec<_>>().join("\n")
}

/// Facts about the repository from earlier work, for this purpose: a run that only reads does not get the set-up steps.
fn memory(worker: &Worker, issue: IssueNumber, rules: &RepositorySettings, purpose: RunPurpose) -> Vec<String> {
    let Some(known) = worker.forge.repository_ledger().known() else { return Vec::new() };
    let refused = known.memory.refused();
    if refused > 0 {
        let entries = if refused == 1 { "entry" } else { "entries" };
        worker.progress(issue, &format!("left out of the repository's memory: {refused} {entries} not written by Hob"));
    }
    known.memory.lines(&rules.checks, if purpose.only_reads() { &[] } else { &rules.setup })
}

/// The text about the work so far, if it passed its checks in an earlier attempt that could not publish it: from its
/// agent's session if this machine has it, otherwise from its commit.
async fn proven_work(
    record: &Record,
    checkout: &Checkout,
    earlier: Option<&SessionRecord>,
) -> Result<Option<ChangeText>, WorkspaceError> {
    let tip = checkout.tip().await?;
    if record.unpublished() != Some(&tip) {
        return Ok(None);
    }
    let outcome = earlier.filter(|session| !is_a_later_ones(&session.id)).and_then(|session| session.outcome.as_ref());
    Ok(Some(if let Some(Outcome::Done { summary, title }) = outcome {
        ChangeText::said(title.as_deref().map(str::to_owned), summary)
    } else {
        change_in(&checkout.message(&tip).await?)
    }))
}

/// The session of an earlier attempt that `agent` continues, if this machine has it, and the treatment of the folder.
/// `kept` is the work that the forge keeps for the issue.
async fn earlier(
    worker: &Worker,
    held: &HeldIssue,
    agent: &str,
    purpose: RunPurpose,
    kept: Option<&Sha>,
) -> (Option<SessionRecord>, Leftover) {
    let (lease, repo, issue) = (&held.lease, worker.forge.repo(), held.issue.number);
    let record = lease.record();
    // Only the commit that the ledger names: anybody may write to the ref.
    let unpublished = kept.filter(|kept| purpose == RunPurpose::Work && record.unpublished() == Some(*kept));
    let anew = unpublished.cloned().map_or(Leftover::Remove, Leftover::StartAt);
    let Some(session) = record.session.as_ref() else { return (None, anew) };
    let resumable = worker.children.executor.resumable(session, agent, repo, issue).await;
    let Some(session) = resumable else { return (None, anew) };
    // A session continues in the folder that it left.
    worker.children.executor.end_leftovers(&session).await;
    // The killed run's spend after its worker's last heartbeat.
    lease.note(Note::Spend(session.issue_bill().since(lease.record().spend))).await;
    let leftover = match record.work.head {
        // Files left by a run that only reads are not work.
        _ if purpose != RunPurpose::Work => Leftover::Remove,
        Some(proven) => Leftover::KeepCommit(proven),
        None => Leftover::Keep,
    };
    (Some(session), leftover)
}

/// What the work begins with.
struct Start<'a> {
    remote: &'a Remote,
    base: &'a Sha,
    leftover: Leftover,
    purpose: RunPurpose,
}

/// The issue's branch in its folder, or the part of it that the rules name.
async fn laid_out(
    worker: &Worker,
    held: &HeldIssue,
    rules: &RepositorySettings,
    Start { remote, base, leftover, purpose }: Start<'_>,
) -> Result<Checkout, WorkError> {
    let branch = choose_branch(worker, held, remote).await?;
    let (workspace, issue) = (worker.workspace.within(&rules.folders), held.issue.number);
    let known = || worker.memory.base_checks.get(base, &rules.checks, worker.forge.now());
    let workspace = match purpose {
        RunPurpose::Work if !rules.checks.is_empty() && known().is_none() => workspace.checking_base(),
        RunPurpose::Work | RunPurpose::Plan | RunPurpose::Report | RunPurpose::Review | RunPurpose::Investigate => {
            workspace
        }
    };
    let checkout = checked_out(&workspace, remote, issue, &branch, base, leftover).await?;
    for folder in rules.folders.iter().filter(|folder| !checkout.folder().join(folder).is_dir()) {
        worker.progress(issue, &format!("`folders` names `{folder}`, which the branch does not have"));
    }
    Ok(checkout)
}

/// The branch in the issue's folder, after the mirror is free.
pub(crate) async fn checked_out(
    workspace: &Workspace,
    remote: &Remote,
    issue: IssueNumber,
    branch: &BranchName,
    base: &Sha,
    leftover: Leftover,
) -> Result<Checkout, WorkspaceError> {
    let patience = patience_of(workspace);
    loop {
        match workspace.prepare(remote, issue, branch, base, leftover.clone()).await {
            Ok(checkout) => return Ok(checkout),
            Err(error) => wait_while_busy(error, patience).await?,
        }
    }
}

/// Checks that the issue's branch can be made: no branch may have the name of its folder. If there are branches of
/// Hob's already there is none, and the forge is not asked.
async fn has_room(worker: &Worker, remote: &Remote) -> Result<(), WorkError> {
    if worker.workspace.has_own_branches(remote).await? {
        return Ok(());
    }
    match in_the_way(worker).await? {
        Some(says) => Err(WorkError::InTheWay(says)),
        None => Ok(()),
    }
}

/// The issue's branch. If a branch of that name exists and the ledger does not know it, it is someone else's: then
/// another name is used.
async fn choose_branch(worker: &Worker, held: &HeldIssue, remote: &Remote) -> Result<BranchName, WorkError> {
    if let Some(known) = held.lease.record().work.branch {
        return Ok(known.name.parse()?);
    }
    let issue = &held.issue;
    let prefix = &worker.settings.workspace.branch_prefix;
    let redaction = worker.forge.connection().secrets().redaction();
    let is_public = |text: &str| !redaction.holds(text) && secrets_in(text.as_bytes()).is_empty();
    // Also if a title's words form a secret only in the branch's name, which would not be pushed.
    let named = Some(branch_for(prefix, issue.number, &issue.title)).filter(|_| is_public(&issue.title));
    let wanted = named.filter(|name| is_public(name)).unwrap_or_else(|| branch_for(prefix, issue.number, ""));
    let mut name = wanted.clone();
    for n in 2..100 {
        let branch: BranchName = name.parse()?;
        // All branches below the prefix were fetched just now, and the push expects that this one is not there.
        if worker.workspace.fetched_tip(remote, &branch).await?.is_none() {
            return Ok(branch);
        }
        name = format!("{wanted}-{n}");
    }
    Err(WorkError::Forge(ForgeError::Refused {
        what: format!("make a branch `{wanted}`"),
        status: 422,
        message: "99 branches of that name already exist: delete some".to_owned(),
    }))
}
