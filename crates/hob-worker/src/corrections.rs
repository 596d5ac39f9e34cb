//! Corrections: what maintainers say of Hob's work again and again becomes a proposed line for agents.
//!
//! # Flow
//! A round in review notes what it is about in the issue's record ([`remarks_of_round`]). When the work is merged, its settlement
//! takes that into the repository's record. A poll that finds a correction there which two pull requests had opens one pull request
//! with one line ([`propose_correction`]), and notes that it did.
//!
//! # Guarantees
//! - The base branch is not written to, and no correction is proposed twice: a worker takes the turn in the repository's record
//!   before it begins, the branch has the remark's own name, and a pull request of that branch counts whether or not it is open.
//! - One such pull request is open at a time.
//! - Only what a person said who is authorized then and now, in words that nobody has edited, and not in reply to somebody. The record
//!   alone proves nothing: both remarks are read again before they are proposed.
//! - Nothing is asked of the forge where no correction is due.

use hob_config::{REPOSITORY_SETTINGS_PATH, RepositorySettings};
use hob_domain::{
    AGENTS_FILES, AccountKind, Actor, Correction, DiffPolicy, FailureClass, HobFiles, LineProposal, PullStatus, Record,
    Remark, Remarks, RepositoryRecord, ReviewEvent, asked_work, proposal_body, proposal_branch, proposal_title,
    with_correction,
};
use hob_forge::{BaseBranch, ForgeError, PullDraft};
use hob_workspace::{BranchName, Put};

use crate::{WorkError, WorkEvent, Worker, authorize::Authorizer, inbox::Conversation, offer};

/// The issue's remarks with those of the round under way, as its poll found them. `None` if there is no news.
pub(super) fn remarks_of_round(worker: &Worker, record: &Record) -> Option<Remarks> {
    let found = worker.memory.found_pulls.get(record.pull.number?)?;
    let redaction = worker.forge.connection().secrets().redaction();
    let of_round = found.open.remarks.iter().filter(|remark| record.review.round.contains(&remark.said));
    let kept = of_round.filter(|remark| !redaction.holds(&remark.text)).cloned();
    let remarks = kept.fold(record.taught.remarks.clone(), Remarks::and);
    (remarks != record.taught.remarks).then_some(remarks)
}

/// Proposes the correction that is due, if there is one. What fails here stops no poll.
pub(super) async fn propose_correction(worker: &Worker) {
    if let Err(error) = Box::pin(propose(worker)).await {
        tracing::warn!(%error, "no correction from reviews is proposed now: {error}");
    }
}

async fn propose(worker: &Worker) -> Result<(), WorkError> {
    let ledger = worker.forge.repository_ledger();
    let Some(known) = ledger.known().filter(|record| record.paused.is_none()) else { return Ok(()) };
    let Some((due, last)) = known.corrections.due(worker.forge.now()) else { return Ok(()) };
    if let Some(last) = last
        && matches!(worker.forge.pulls().status(last).await?, Some((PullStatus::Open, _)))
    {
        return Ok(());
    }
    let base = worker.forge.repository().base_branch().await?;
    // If the file cannot be used, the worker says so.
    let Some(protected) = protected(worker, &base).await? else { return Ok(()) };
    let turn = ledger.change_unless(&base.tree, |before, nonce, now| {
        let begun = before.and_then(|record| record.corrections.begun(&due.first, now));
        let Some(corrections) = begun else { return Err(()) };
        let record = RepositoryRecord { corrections, ..RepositoryRecord::next(before, nonce, now) };
        Ok((record, format!("{} proposes a correction from reviews", worker.id), ()))
    });
    if turn.await?.written().is_none() {
        return Ok(());
    }
    let end = match open(worker, &base, &protected, due).await {
        Ok(end) => end,
        Err(error) if passes(&error.class()) => return Err(error),
        Err(error) => {
            let reason = format!("a correction from reviews is not proposed, and will not be: {error}");
            worker.emit(&WorkEvent::Failed { issue: None, reason });
            LineProposal::Dropped
        }
    };
    let noted = ledger.change(&base.tree, |before, nonce, now| {
        let mut record = RepositoryRecord::next(before, nonce, now);
        record.corrections = record.corrections.with(&due.first, end);
        Ok((record, format!("{} proposed a correction from reviews", worker.id), ()))
    });
    // It takes no room, so a record is never full for it.
    drop(noted.await?);
    Ok(())
}

/// Whether the next worker with the turn may have more luck.
fn passes(class: &FailureClass) -> bool {
    match class {
        FailureClass::Transient { .. }
        | FailureClass::QuotaExhausted { .. }
        | FailureClass::Unfinished
        | FailureClass::Cancelled => true,
        FailureClass::Permanent | FailureClass::NeedsHuman | FailureClass::Misconfigured => false,
    }
}

/// What the repository protects from Hob's work. `None` if its settings cannot be used.
async fn protected(worker: &Worker, base: &BaseBranch) -> Result<Option<DiffPolicy>, WorkError> {
    let text = worker.forge.repository().file(REPOSITORY_SETTINGS_PATH, &base.sha).await?.unwrap_or_default();
    let rules = RepositorySettings::parse(&text).ok();
    Ok(rules.and_then(|rules| DiffPolicy::new(&rules.protected, HobFiles::Protected, 0, 0).ok()))
}

/// Opens the pull request, unless there was one.
async fn open(
    worker: &Worker,
    base: &BaseBranch,
    protected: &DiffPolicy,
    due: &Correction,
) -> Result<LineProposal, WorkError> {
    let Correction { first, again: Some(again), .. } = due else { return Ok(LineProposal::Dropped) };
    let branch: BranchName = proposal_branch(&worker.settings.workspace.branch_prefix, first).parse()?;
    if let Some(pull) = worker.forge.pulls().any_of(branch.as_str()).await? {
        return Ok(LineProposal::Opened(pull.number));
    }
    if !(still_counts(worker, first).await? && still_counts(worker, again).await?) {
        return Ok(LineProposal::Dropped);
    }
    let path = agents_file(worker, base).await?;
    let file = match path {
        Some(path) if !protected.protects(path) => worker.forge.repository().file(path, &base.sha).await?,
        Some(_) | None => return Ok(LineProposal::Dropped),
    };
    let (Some(path), Some(text)) = (path, with_correction(&file.unwrap_or_default(), &first.text)) else {
        return Ok(LineProposal::Dropped);
    };
    offer::fetch(worker, base).await?;
    let title = proposal_title(path);
    match offer::put(worker, base, &branch, vec![(path.to_owned(), text)], &title).await? {
        Put::Made | Put::Moved | Put::There => {}
        // Somebody else has a branch of that name.
        Put::Foreign(_) => return Ok(LineProposal::Dropped),
    }
    let draft = PullDraft {
        head: branch.to_string(),
        base: base.name.clone(),
        moves_base: false,
        title,
        body: proposal_body(path, [first, again], &worker.repo_url()),
        draft: false,
    };
    let pull = offer::open(worker, &draft, &|pause| tracing::info!("{pause}")).await?;
    tracing::info!(pull = pull.number.0, "a correction from reviews is proposed: {}", pull.html_url);
    Ok(LineProposal::Opened(pull.number))
}

/// The file that tells agents: the first of those that exist, otherwise a new one. `None` if something other than a file has its name.
async fn agents_file(worker: &Worker, base: &BaseBranch) -> Result<Option<&'static str>, WorkError> {
    let paths = worker.forge.repository().file_paths(&base.tree).await?;
    if let Some(path) = AGENTS_FILES.into_iter().find(|path| paths.iter().any(|known| known == path)) {
        return Ok(Some(path));
    }
    match worker.forge.repository().file(AGENTS_FILES[0], &base.sha).await {
        Ok(None) => Ok(Some(AGENTS_FILES[0])),
        // A link, behind which is what the forge shows.
        Ok(Some(_)) | Err(ForgeError::Unreadable { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether the remark is still as the record has it, and its author is authorized.
async fn still_counts(worker: &Worker, remark: &Remark) -> Result<bool, WorkError> {
    let Some((author, body)) = current_remark(worker, remark).await? else { return Ok(false) };
    let again = Remark::new(remark.said.clone(), author.login.clone(), remark.pull, &body);
    let is_same = author.kind == AccountKind::User && again.as_ref() == Some(remark);
    let redaction = worker.forge.connection().secrets().redaction();
    Ok(is_same && !redaction.holds(&body) && Authorizer::default().judge(worker, &author).await?.is_granted())
}

/// The remark as the forge has it now: its author, and the Markdown.
async fn current_remark(worker: &Worker, remark: &Remark) -> Result<Option<(Actor, String)>, WorkError> {
    let conversation = Conversation::on(Some(remark.pull));
    match remark.said {
        ReviewEvent::Review(id) => {
            let found = conversation.reviews(worker).await?.iter().find(|review| review.id == id);
            Ok(found.and_then(|review| Some((review.author.clone()?, review.body.clone()))))
        }
        ReviewEvent::Line(id) => {
            let remarks = conversation.remarks(worker).await?;
            let found = remarks.iter().find(|line| line.id == id && line.thread.is_none());
            Ok(found.and_then(|line| Some((line.author.clone()?, line.body.clone()))))
        }
        ReviewEvent::Comment(id) => {
            let comments = conversation.on_pull(worker).await?;
            let found = comments.iter().find(|comment| comment.id.0 == id);
            Ok(found.and_then(|comment| Some((comment.author.clone()?, asked_work(&comment.body)?.to_owned()))))
        }
        ReviewEvent::Check { .. }
        | ReviewEvent::Conflict { .. }
        | ReviewEvent::Behind { .. }
        | ReviewEvent::Ejected(_) => Ok(None),
    }
}
