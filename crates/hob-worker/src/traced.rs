//! Spans of an attempt and its steps for traces. `hob-agent` has those of agents, models and tools, which are within them.
//!
//! Names of branches are left out: they have words of the issue's title.

use hob_domain::{
    CheckResult, Record, Sha, Spend, TRACED,
    trace::{billed, count, failed},
    trace_id,
};
use tracing::{Instrument, Span, field::Empty, info_span};

use crate::{CheckedCommit, WorkError, Worker, held_issue::HeldIssue};

/// The span of an attempt, with which a trace begins. Each worker that goes on with the attempt adds one to the same trace.
pub(crate) fn attempt_span(worker: &Worker, record: &Record, held: &HeldIssue) -> Span {
    let (repo, issue) = (worker.forge.repo(), held.issue.number);
    info_span!(
        target: TRACED,
        "attempt",
        otel.kind = "internal",
        otel.status_code = Empty,
        "error.type" = Empty,
        trace_id = trace_id(worker.server_url(), repo, issue, record.attempts.ever),
        vcs.provider.name = "github",
        vcs.owner.name = repo.owner(),
        vcs.repository.name = repo.name(),
        vcs.repository.url.full = worker.repo_url(),
        vcs.change.id = Empty,
        vcs.ref.head.revision = Empty,
        cicd.worker.id = worker.id.as_str(),
        hob.issue.number = count(issue.0),
        hob.attempt.number = count(record.attempts.ever.into()),
        hob.lease.generation = count(record.generation.0),
        hob.attempt.end = Empty,
        hob.attempt.blocked = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        hob.cost.usd = Empty,
    )
}

/// Notes what an attempt cost, and its pull request if there is one.
pub(crate) fn attempt_billed(span: &Span, record: &Record, spend: Spend) {
    billed(span, &spend);
    span.record("vcs.change.id", record.pull.number.map(|number| number.to_string()));
    span.record("vcs.ref.head.revision", record.work.head.as_ref().map(Sha::as_str));
}

/// The span of the preparation: fetch, rules, choice of the agent, checkout.
pub(crate) fn prepare_span() -> Span {
    info_span!(target: TRACED, "prepare", otel.status_code = Empty, "error.type" = Empty)
}

/// The span of the set-up steps, where they run.
pub(crate) fn set_up_span(steps: usize) -> Span {
    info_span!(
        target: TRACED,
        "set_up",
        otel.status_code = Empty,
        "error.type" = Empty,
        "cicd.pipeline.task.type" = "build",
        hob.steps = count(steps as u64),
    )
}

/// The span of a run of the checks on a commit.
pub(crate) fn checks_span(on: CheckedCommit, sha: &Sha) -> Span {
    info_span!(
        target: TRACED,
        "checks",
        otel.name = format!("checks {}", place(on)),
        otel.status_code = Empty,
        "error.type" = Empty,
        "cicd.pipeline.task.type" = "test",
        cicd.pipeline.task.run.result = Empty,
        vcs.ref.head.revision = sha.as_str(),
        hob.checks.on = place(on),
        hob.checks.run = Empty,
        hob.checks.passed = Empty,
    )
}

/// Notes how the checks ended.
pub(crate) fn checks_ended(span: &Span, results: &[CheckResult]) {
    let passed = results.iter().filter(|check| check.passed()).count();
    span.record("hob.checks.run", count(results.len() as u64));
    span.record("hob.checks.passed", count(passed as u64));
    span.record("cicd.pipeline.task.run.result", if passed == results.len() { "success" } else { "failure" });
}

/// The span of a push.
pub(crate) fn push_span(head: &Sha) -> Span {
    info_span!(
        target: TRACED,
        "push",
        otel.kind = "client",
        otel.status_code = Empty,
        "error.type" = Empty,
        vcs.ref.head.revision = head.as_str(),
    )
}

/// The span of the publication: the last look at the issue, the push, the pull request.
pub(crate) fn publish_span() -> Span {
    info_span!(target: TRACED, "publish", otel.status_code = Empty, "error.type" = Empty)
}

/// Runs a step in its span, and notes the class of its failure.
pub(crate) async fn in_span<T>(span: Span, run: impl Future<Output = Result<T, WorkError>>) -> Result<T, WorkError> {
    // Boxed: it would be in this future twice, as it comes and as it runs.
    let ran = Box::pin(run.instrument(span.clone())).await;
    if let Err(error) = &ran {
        failed(&span, error.class().name());
    }
    ran
}

fn place(on: CheckedCommit) -> &'static str {
    match on {
        CheckedCommit::Base => "base",
        CheckedCommit::Head => "head",
        CheckedCommit::Needed => "needed",
        CheckedCommit::Kept => "kept",
    }
}
