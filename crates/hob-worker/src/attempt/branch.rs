//! The issue's branch: commits, the rules that a change has to keep, and the push under the lease.

use hob_config::ReviewUpdate;
use hob_domain::{
    BlockReason, ChangeText, Deed, Diff, DiffPolicy, FileChange, HobFiles, MadeBy, MessageRules, Note, RoundKind, Sha,
    SignOff, Trailer, Transition, Violation, commit_message, signed_off,
};
use hob_forge::{ForgeError, HeldLease};
use hob_text::count;
use hob_workspace::{Along, BranchName, BranchUpdate, Checkout, Remote, Updater, WorkspaceError};

use crate::{
    WorkError, Worker,
    attempt::{job::Job, kept::KEEP_TIME, sign::signed},
    mirror::{patience_of, wait_while_busy},
    traced::{in_span, push_span},
};

/// Names of files that are told outside of the repository, of one push.
const FILES_TOLD: usize = 1_000;

/// The reason to stop if a person pushed to the branch: it is theirs until they say otherwise.
pub(super) async fn step_aside(worker: &Worker, job: &Job<'_>) -> Result<Option<BlockReason>, WorkError> {
    let accepted = job.held.lease.record().work.accepted;
    let foreign = job.checkout.foreign_commit(&worker.commit_identity().await, accepted.as_ref()).await?;
    Ok(foreign.map(|foreign| BlockReason::PersonPushed {
        author: foreign.author,
        commit: foreign.sha,
        branch: job.checkout.branch().to_string(),
        tip: job.checkout.start().clone(),
    }))
}

/// Commits what the agent left in its folder.
pub(super) async fn commit(worker: &Worker, job: &Job<'_>, change: &ChangeText) -> Result<(), WorkError> {
    let identity = worker.commit_identity().await;
    let (settings, active) = (&worker.settings.publish, job.active.now());
    let loaded = &active.loaded;
    let requester = job.held.lease.record().trigger.map(|trigger| trigger.actor);
    let co_author = match &requester {
        Some(login) if settings.trailers.contains(&Trailer::CoAuthor) => worker.co_author(login).await,
        Some(_) | None => None,
    };
    let (model, requester) =
        (loaded.agent.model(active.candidate).unwrap_or_default(), requester.unwrap_or_else(|| "".into()));
    let made = MadeBy { agent: &loaded.backend, model: &model, requester: requester.as_str() };
    let trailers = Trailer::lines(&settings.trailers, made, co_author.as_ref());
    let labels = &job.held.issue.labels;
    let rules = MessageRules { template: settings.message_template(), labels, made, trailers: &trailers };
    let message = commit_message(change, &job.held.issue.title, job.number(), rules);
    let message = match settings.sign_off() {
        SignOff::Yes => signed_off(&message, &identity),
        SignOff::No => message,
    };
    job.checkout.commit(&worker.children.sandbox, &message, &identity, worker.forge.now()).await?;
    Ok(())
}

/// The branch's tip and its whole change; `None` if it changes nothing.
pub(super) async fn work_so_far(job: &Job<'_>) -> Result<Option<(Sha, Diff)>, WorkError> {
    let head = job.checkout.tip().await?;
    let diff = job.checkout.diff(job.checkout.base(), &head).await?;
    Ok((!diff.files.is_empty()).then_some((head, diff)))
}

/// The reason not to publish if the change breaks a rule.
pub(super) async fn policy_violations(
    worker: &Worker,
    job: &Job<'_>,
    head: &Sha,
    diff: &Diff,
) -> Result<Option<BlockReason>, WorkError> {
    let workspace = &worker.settings.workspace;
    let max_bytes = workspace.max_file;
    let policy = DiffPolicy::new(&job.rules.protected, HobFiles::Protected, workspace.max_files, max_bytes)?;
    let mut violations = policy.violations(diff);
    violations.extend(outside_profile(job, head, diff).await?);
    Ok((!violations.is_empty()).then_some(BlockReason::PolicyViolated(violations)))
}

/// The paths that the current profile changed without permission. Changes of earlier profiles and of the base do not
/// count.
async fn outside_profile(job: &Job<'_>, head: &Sha, diff: &Diff) -> Result<Vec<Violation>, WorkError> {
    let active = job.active.now();
    let Some(paths) = active.loaded.profile.as_ref().map(|profile| &profile.paths).filter(|paths| !paths.is_empty())
    else {
        return Ok(Vec::new());
    };
    let was_handed = job.held.lease.record().chain.received().is_some();
    let before = match &active.took_over_at {
        Some(head) => Some(head),
        None if was_handed => Some(job.checkout.start()),
        None => job.checkout.pushed(),
    };
    let Some(before) = before else { return Ok(paths.outside(&diff.files)) };
    let since = job.checkout.diff(before, head).await?;
    let is_new = |file: &&FileChange| since.files.iter().any(|changed| changed.path == file.path);
    let own: Vec<FileChange> = diff.files.iter().filter(is_new).cloned().collect();
    Ok(paths.outside(&own))
}

/// Makes the branch start from the current base, and returns whether that moved it. Work that may not be committed
/// stays where it is.
pub(super) async fn update_branch(worker: &Worker, job: &mut Job<'_>) -> Result<bool, WorkError> {
    let review = job.held.lease.record().review;
    // A change under review stays as it is, unless the round is about its base.
    let is_asked = !review.is_under_way() || review.kinds().any(|kind| kind == RoundKind::Base);
    if *job.checkout.base() == job.base_tip || !is_asked {
        return Ok(false);
    }
    let keeps_history = review.is_under_way() && worker.settings.review.update == ReviewUpdate::Merge;
    if job.checkout.is_kept() {
        // Work that a killed run left.
        match commit_in_progress(worker, job).await {
            Ok(Kept::Nothing) => {}
            // Before it is put on another base: if that leaves conflicts, the folder is not a safe place.
            Ok(Kept::Commit(head)) => push_new(worker, job, &head).await?,
            Ok(Kept::Unfit) => return Ok(false),
            Err(WorkError::Workspace(WorkspaceError::Unfit(unfit))) => {
                tracing::warn!(issue = job.number().0, %unfit, "not updating the branch: {unfit}");
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
    }
    let (base, remote) = (job.base.branch.parse::<BranchName>()?, worker.remote().await?);
    let (identity, sign_off) = (worker.commit_identity().await, worker.settings.publish.sign_off());
    let updater = Updater { identity, time: worker.forge.now(), keeps_history, sign_off };
    let patience = patience_of(&worker.workspace);
    let update = loop {
        match worker.workspace.update(&mut job.checkout, &remote, &base, &job.base_tip, updater.clone()).await {
            Ok(update) => break update,
            Err(error) => wait_while_busy(error, patience).await?,
        }
    };
    let done = match update {
        BranchUpdate::UpToDate => return Ok(false),
        BranchUpdate::Rebased(commits) => format!("rebased the branch onto `{base}`: {}", count(commits, "commit")),
        BranchUpdate::Merged => format!("merged `{base}` into the branch"),
        BranchUpdate::Conflicted(files) => {
            format!(
                "the branch conflicts with `{base}` in {}: leaving the conflicts to the agent",
                count(files, "file")
            )
        }
    };
    worker.progress(job.number(), &done);
    Ok(true)
}

/// The result of committing work in progress.
enum Kept {
    /// There is none, or it has unresolved conflicts.
    Nothing,
    /// It breaks a rule, and is in the folder only.
    Unfit,
    /// It is committed.
    Commit(Sha),
}

/// Commits the work so far, if it may be in the history of later work.
async fn commit_in_progress(worker: &Worker, job: &Job<'_>) -> Result<Kept, WorkError> {
    let before = job.checkout.tip().await?;
    commit(worker, job, &ChangeText::untitled("Work in progress")).await?;
    let Some((head, diff)) = work_so_far(job).await? else { return Ok(Kept::Nothing) };
    if policy_violations(worker, job, &head, &diff).await?.is_some() {
        job.checkout.unwind(&before).await?;
        return Ok(Kept::Unfit);
    }
    match job.checkout.conflicts_left().await?.is_empty() {
        true => Ok(Kept::Commit(signed(worker, job, head).await?)),
        false => Ok(Kept::Nothing),
    }
}

/// Pushes the work so far, so that the next worker finds it; work that breaks the rules stays unpushed, and so does
/// everything from a run that only reads, or beside a better candidate.
pub(super) async fn keep(worker: &Worker, job: &Job<'_>) -> Result<(), WorkError> {
    if job.only_reads() || job.candidates.lock().is_kept {
        return Ok(());
    }
    match commit_in_progress(worker, job).await? {
        Kept::Commit(head) => push_new(worker, job, &head).await,
        Kept::Nothing | Kept::Unfit => Ok(()),
    }
}

/// Pushes a commit, unless it is on the server already.
pub(super) async fn push_new(worker: &Worker, job: &Job<'_>, head: &Sha) -> Result<(), WorkError> {
    if job.pushed().as_ref() == Some(head) {
        job.held.lease.note(Note::Pushed).await;
        return Ok(());
    }
    push(worker, job, head).await
}

/// Whether people review the branch: they only get finished work.
pub(super) fn is_reviewed(job: &Job<'_>) -> bool {
    job.held.lease.record().review.is_under_way()
}

/// Keeps the work of an attempt that ends early, if that can be done soon.
pub(super) async fn keep_soon(worker: &Worker, job: &Job<'_>) {
    if is_reviewed(job) {
        return;
    }
    let kept = tokio::time::timeout(KEEP_TIME, keep(worker, job)).await;
    let failed =
        kept.map_or_else(|_elapsed| Some("timed out".to_owned()), |kept| kept.err().map(|error| error.to_string()));
    if let Some(reason) = failed {
        tracing::warn!(issue = job.number().0, reason, "the work so far could not be kept: {reason}");
    }
}

/// Moves the branch on the forge from its last known tip to `head`.
pub(super) async fn push(worker: &Worker, job: &Job<'_>, head: &Sha) -> Result<(), WorkError> {
    push_checkout(worker, &job.held.lease, &job.checkout, head, job.pushed().as_ref()).await?;
    job.note_pushed(head.clone());
    job.held.lease.note(Note::Pushed).await;
    Ok(())
}

/// Makes a transition of the ledger with the push of `head`, in one push where that can be, and else after it; returns its sentence.
pub(super) async fn push_with(
    worker: &Worker,
    job: &Job<'_>,
    head: &Sha,
    transition: Transition,
) -> Result<String, WorkError> {
    let (lease, known) = (&job.held.lease, job.pushed());
    if known.as_ref() != Some(head) {
        let push = Push { checkout: &job.checkout, head, known: known.as_ref(), transition: Some(&transition) };
        let made = push_step(worker, lease, push).await?;
        job.note_pushed(head.clone());
        if let Some(sentence) = made {
            return Ok(sentence);
        }
    }
    lease.note(Note::Pushed).await;
    Ok(worker.forge.ledger().transition(lease, transition).await?)
}

/// Moves the branch of a checkout on the forge from `known` to `head`.
pub(crate) async fn push_checkout(
    worker: &Worker,
    lease: &HeldLease,
    checkout: &Checkout,
    head: &Sha,
    known: Option<&Sha>,
) -> Result<(), WorkError> {
    push_step(worker, lease, Push { checkout, head, known, transition: None }).await.map(drop)
}

/// The move of a checkout's branch.
#[derive(Clone, Copy)]
struct Push<'a> {
    checkout: &'a Checkout,
    head: &'a Sha,
    known: Option<&'a Sha>,
    /// What the ledger makes with it. Without one the lease is renewed.
    transition: Option<&'a Transition>,
}

/// Moves a branch, with a step of its ledger where that can be done; returns the step's sentence.
async fn push_step(worker: &Worker, lease: &HeldLease, push: Push<'_>) -> Result<Option<String>, WorkError> {
    let Push { checkout, head, known, .. } = push;
    // A push that does not renew the lease has to be outlasted by it.
    let deadline = worker.settings.workspace.transfer_time.min(worker.settings.lease.duration / 2);
    worker.forge.cover(lease, deadline, "push the branch").await?;
    worker.activity(lease.issue(), &format!("pushing `{}`", checkout.branch()));
    let remote = worker.remote().await?;
    let late = |_elapsed| Err(ForgeError::TimedOut { what: "take the push".to_owned(), deadline }.into());
    let pushed =
        async { tokio::time::timeout(deadline, push_along(worker, lease, push, &remote)).await.unwrap_or_else(late) };
    let made = in_span(push_span(head), pushed).await?;
    if worker.is_audited() {
        let diff = checkout.diff(known.unwrap_or_else(|| checkout.base()), head).await?;
        let files = diff.files.into_iter().take(FILES_TOLD).map(|file| file.path).collect();
        worker.tell(lease.issue(), Deed::Pushed { branch: checkout.branch().to_string(), head: head.clone(), files });
    }
    Ok(made)
}

/// Pushes a branch together with its ledger where that can be done, and otherwise the branch alone.
async fn push_along(
    worker: &Worker,
    lease: &HeldLease,
    push: Push<'_>,
    remote: &Remote,
) -> Result<Option<String>, WorkError> {
    let (Push { checkout, head, known, transition }, ledger) = (push, worker.forge.ledger());
    let mut refused = None;
    while let Some(step) = ledger.push_along(lease, transition.cloned()).await? {
        let (name, (old, new)) = (step.name().to_owned(), (step.from().clone(), step.to().clone()));
        let along = Along { name, old: old.clone(), new, packed: step.packed() };
        match worker.workspace.push(checkout, remote, head, known, Some(along)).await {
            Ok(true) => return Ok(Some(ledger.pushed_along(lease, step))),
            Ok(false) => return Ok(None),
            // Its answer may be all that was lost.
            Err(_) if ledger.has_step(&step).await? => return Ok(Some(ledger.pushed_along(lease, step))),
            Err(error) => refused = Some(error),
        }
        drop(step);
        // Either the ledger moved, by another holder or for a request, or the branch's own reason is told by a push of it alone.
        ledger.watch(lease).await?;
        if lease.tip() == old {
            break;
        }
    }
    worker.workspace.push(checkout, remote, head, known, None).await?;
    if let Some(refused) = refused {
        ledger.push_alone(&refused);
    }
    Ok(None)
}
