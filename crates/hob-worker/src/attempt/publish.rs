//! Publishing: one branch, one pull request an issue, pushed and opened under the lease.

use std::{ops::ControlFlow, time::Duration};

use hob_config::DraftRule;
use hob_domain::{BaseSource, BlockReason, IssueNumber, Notable, Note, ProofStatus, dollars, run_unasked};
use hob_forge::{ForgeError, Issue, PullDraft};
use hob_sandbox::{Sandbox, Tier};
use hob_text::{count, markup::code_spans};
use hob_words::{MovedBase, PullReport, PullTemplate, ReviewerReport, TEMPLATE_MAX, pull_body, status_line};
use hob_workspace::pull_template;

use crate::{
    WorkError, WorkEvent, Worker,
    attempt::{
        branch::{is_reviewed, keep, push},
        end::AttemptEnd,
        hearing::{goes_back, look_once_more},
        heartbeat::is_withdrawn,
        job::Job,
        merges_itself::may_merge_itself,
        noticed::with_advisories,
        proof::Proven,
        review::publish_round,
        statement::proof_of,
        weather::{Patience, through},
    },
    authorize::approved_hash,
    auto_merge::{MergesItself, set_auto_merge},
    proof_status::set_proof,
    traced::{in_span, publish_span},
};

/// Pushes the proven work and opens its pull request, unless the issue was withdrawn or edited meanwhile. `None` if the
/// agent has words of people to read first. Neither an incident of seconds nor a used-up quota discards the work: both
/// are waited out.
pub(super) async fn publish(worker: &Worker, job: &Job<'_>, proven: &Proven) -> Result<Option<AttemptEnd>, WorkError> {
    let published = through(&job.held.lease, Patience::Quota, || Box::pin(publish_once(worker, job, proven)));
    in_span(publish_span(), published).await
}

async fn publish_once(worker: &Worker, job: &Job<'_>, proven: &Proven) -> Result<Option<AttemptEnd>, WorkError> {
    let (number, lease) = (job.number(), &job.held.lease);
    let mut now = wanted(worker, number).await?;
    if now.is_none() {
        // Reads can lag, and one that does must not discard proven work.
        now = wanted(worker, number).await?;
    }
    match now {
        None => return Ok(Some(AttemptEnd::Withdrawn)),
        Some(issue) if approved_hash(&issue) != approved_hash(&job.held.issue) => {
            return Ok(Some(AttemptEnd::Blocked(BlockReason::EditedMeanwhile)));
        }
        Some(issue) => {
            if let ControlFlow::Break(interrupt) = Box::pin(look_once_more(worker, job, &issue)).await? {
                return Ok(Some(AttemptEnd::Interrupted(interrupt)));
            }
            // Labels that people changed meanwhile are theirs.
            job.held.labels.set(issue.labels);
        }
    }
    if goes_back(worker, job, proven) {
        keep(worker, job).await?;
        return Ok(None);
    }
    lease.note(Note::Proven(proven.head.clone())).await;
    let learned = job.learned();
    if !learned.is_empty() {
        lease.note(Note::Learned(lease.record().taught.facts.and_all(learned))).await;
    }
    if is_reviewed(job) {
        return publish_round(worker, job, proven).await.map(Some);
    }
    let moved = moved_base(worker, job).await?;
    push(worker, job, &proven.head).await?;
    let template = pull_template(&job.checkout, &worker.settings.publish.template, TEMPLATE_MAX).await?;
    let template = template.as_deref().map(|text| PullTemplate { text, sign_off: worker.settings.publish.sign_off() });
    let look = job.with_reviews(|reviews| reviews.report.clone());
    // The forge reviews what was pushed.
    let notable = with_advisories(worker, job, &proven.head, &proven.diff, proven.notable.clone()).await;
    let around = Around { moved: moved.as_ref(), reviewer: look.as_ref(), template, notable: &notable };
    let draft = draft(worker, job, proven, around);
    let pull = worker.forge.pulls().publish(lease, lease.record().pull.number, &draft).await?;
    let (shown, tally) = (&proven.shown, proven.evidence.tally());
    let status = ProofStatus::of(proven.head.clone(), shown, tally, &status_line(shown));
    let unattended = !draft.draft && moved.is_none() && may_merge_itself(worker, job, proven, &notable);
    let wanted = unattended.then_some(MergesItself { head: &proven.head, base: &draft.base });
    set_auto_merge(worker, lease, pull.number, wanted).await;
    Box::pin(set_proof(worker, lease, pull.number, status)).await?;
    // A change to files that run automatically stays a draft, even with green checks.
    if worker.settings.publish.draft == DraftRule::UntilGreen && !wants_a_look(proven) {
        lease.note(Note::OpenedDraft(pull.number)).await;
    }
    let proof = Some(proof_of(worker, job, proven, pull.number).await?);
    let spend = lease.record().spend;
    worker.emit(&WorkEvent::Published { issue: number, pull: pull.number, url: pull.html_url, spend });
    Ok(Some(AttemptEnd::Published { head: proven.head.clone(), pull: pull.number, proof }))
}

/// The issue, unless the work is no longer wanted.
async fn wanted(worker: &Worker, number: IssueNumber) -> Result<Option<Issue>, WorkError> {
    let Some(issue) = worker.forge.issues().get(number).await? else { return Ok(None) };
    Ok(if is_withdrawn(worker, &issue).await? { None } else { Some(issue) })
}

/// The base branch, if it has moved since the checks ran.
async fn moved_base(worker: &Worker, job: &Job<'_>) -> Result<Option<MovedBase>, WorkError> {
    let now = match worker.forge.repository().tip(job.base.branch.clone()).await {
        Ok(now) => now,
        // It was renamed or deleted meanwhile: opening the pull request reports that.
        Err(ForgeError::Moved { .. } | ForgeError::EmptyRepository(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let from = job.base_tip.clone();
    Ok((now.sha != from).then_some(MovedBase { name: now.name, from, to: now.sha }))
}

/// What a pull request's text has beside the work.
struct Around<'a> {
    moved: Option<&'a MovedBase>,
    reviewer: Option<&'a ReviewerReport>,
    template: Option<PullTemplate<'a>>,
    notable: &'a Notable,
}

fn draft(
    worker: &Worker,
    job: &Job<'_>,
    proven: &Proven,
    Around { moved, reviewer, template, notable }: Around<'_>,
) -> PullDraft {
    let record = job.held.lease.record();
    let limits = &worker.settings.limits;
    let money = match worker.settings.budgets().of_issue(&record.commands).usd_micros {
        Some(limit) => dollars(limit),
        None => "no limit of money".to_owned(),
    };
    let part = match job.rules.folders.as_slice() {
        [] => String::new(),
        folders => format!(
            " Only these folders were checked out, with the files in their parent folders: {}.",
            code_spans(folders)
        ),
    };
    let limits = format!(
        "An attempt may take {}, an issue {money} and {} between two answers. {}.{part}",
        words(limits.attempt_time),
        count(limits.attempts, "attempt"),
        where_it_ran(&worker.children.sandbox)
    );
    let (title, candidates) = (&job.held.issue.title, job.candidates.lock().told.clone());
    let body = pull_body(&PullReport {
        record: &record,
        issue_title: title,
        change: &proven.change,
        agent: &job.active.now().loaded.name,
        evidence: &proven.evidence,
        shown: &proven.shown,
        notable,
        conflicts: job.checkout.conflicts(),
        moved,
        reviewer,
        diff: &proven.diff,
        left_out: &job.checkout.left_out(),
        limits: &limits,
        candidates: candidates.as_deref(),
        template,
    });
    PullDraft {
        head: job.checkout.branch().to_string(),
        base: job.base.branch.clone(),
        moves_base: job.base.by == BaseSource::Label,
        title: proven.change.pull_title(title),
        body,
        // Files that run automatically make it a draft, so that a person looks at them before anyone merges by habit.
        draft: worker.settings.publish.draft != DraftRule::Never || wants_a_look(proven),
    }
}

/// Whether a person should look before anyone merges by habit: files run by themselves, or what leads the text asks for it.
fn wants_a_look(proven: &Proven) -> bool {
    proven.notable.makes_a_draft(&proven.shown) || !run_unasked(&proven.diff).is_empty()
}

/// The sandbox that agents and checks ran in. What the machine lacks is the operator's business only.
fn where_it_ran(sandbox: &Sandbox) -> String {
    match (sandbox.tier(), sandbox.lacks()) {
        (Tier::None, _) => "Agent and checks ran without a sandbox".to_owned(),
        (tier, None) => format!("Agent and checks ran in a sandbox of the tier `{tier}`"),
        (tier, Some(_)) => {
            format!(
                "Agent and checks ran in a sandbox of the tier `{tier}`; `hob doctor` says why that machine has no better one"
            )
        }
    }
}

fn words(time: Duration) -> String {
    humantime::format_duration(time).to_string()
}
