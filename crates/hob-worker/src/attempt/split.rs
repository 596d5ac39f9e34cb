//! An attempt that opens the issues that an issue is split into, after a person approved the list.
//!
//! # Flow
//! Each issue is opened, made a sub-issue, and marked as waiting for others, in the order of the list; then one comment
//! names them all, the trigger label is removed, and the ledger records that the work is done. No agent runs.
//!
//! # Guarantees
//! No issue of a list is opened twice: each has a mark, which is searched for before the first is opened, and after a
//! write whose answer was lost. None of them has a label: people decide what is worked on.

use std::collections::BTreeMap;

use futures_util::future::BoxFuture;
use hob_domain::{
    BlockReason, IssueNumber, Login, WorkPlan, opened_sub_issues, sub_issue_body, sub_issue_mark, sub_issue_title,
};
use hob_forge::{ForgeError, Look, OpenedIssue, once};
use hob_text::count;
use hob_words::split_mark;

use crate::{
    WorkError, Worker,
    attempt::{
        end::AttemptEnd,
        report::{reported, write_report},
    },
    held_issue::HeldIssue,
};

/// Opens the issues of the approved plan, and names them.
pub(super) async fn split(worker: &Worker, held: &HeldIssue, plan: &WorkPlan) -> Result<AttemptEnd, WorkError> {
    let (issue, mark) = (held.issue.number, split_mark(&list(held)));
    if reported(worker, held, &mark).await?.is_some() {
        return Ok(AttemptEnd::Concluded);
    }
    let Some(own) = worker.forge.comments().own_account(&held.lease).await? else {
        let failure = "the forge does not say which account the token belongs to, so issues that are already open cannot be found. \
                       Give the token the permission to read the issue's comments"
            .to_owned();
        return Ok(AttemptEnd::Blocked(BlockReason::SetUpNeeded { failure }));
    };
    worker.progress(issue, &format!("opening {}", count(plan.issues.len(), "issue")));
    // The caller already searched for single issues, so the write must not search again.
    let nothing = || -> BoxFuture<'_, _> { Box::pin(async { Ok(None) }) };
    let open = || -> BoxFuture<'_, _> {
        Box::pin(async {
            // Issues that an earlier worker opened, or a write whose answer was lost.
            let found = found(worker, held, &own, plan.issues.len()).await?;
            open_rest(worker, held, plan, found).await
        })
    };
    let opened = once(&worker.forge, &held.lease, Look::AfterFailure, nothing, open).await?;
    let report = opened_sub_issues(&plan.issues, &opened, &worker.settings.labels.trigger);
    write_report(worker, held, &report, &mark).await?;
    Ok(AttemptEnd::Concluded)
}

/// The issues of the plan that are open already, by their places in it.
async fn found(
    worker: &Worker,
    held: &HeldIssue,
    own: &Login,
    planned: usize,
) -> Result<BTreeMap<usize, OpenedIssue>, ForgeError> {
    let opened = worker.forge.sub_issues().opened_by(own).await?;
    let at = |nth: usize| {
        let mark = sub_issue_mark(held.issue.number, &list(held), nth);
        opened.iter().find(|issue| issue.has_mark(&mark)).map(|issue| (nth, issue.clone()))
    };
    Ok((0..planned).filter_map(at).collect())
}

/// The mark of the approved list: the label may be added again while its issues are opened.
fn list(held: &HeldIssue) -> String {
    held.lease.record().approval.plan.approved.unwrap_or_default()
}

/// Opens the missing ones, and relates all of them.
async fn open_rest(
    worker: &Worker,
    held: &HeldIssue,
    plan: &WorkPlan,
    mut opened: BTreeMap<usize, OpenedIssue>,
) -> Result<Vec<IssueNumber>, ForgeError> {
    let (parent, lease, forge) = (held.issue.number, &held.lease, worker.forge.sub_issues());
    for (nth, issue) in plan.issues.iter().enumerate() {
        let one = match opened.get(&nth) {
            Some(one) => one.clone(),
            None => {
                let body = sub_issue_body(issue, parent, &sub_issue_mark(parent, &list(held), nth));
                let one = forge.open(lease, &sub_issue_title(issue), &body).await?;
                worker.progress(parent, &format!("opened issue {}: {}", one.number, issue.title));
                one
            }
        };
        unless_unknown(worker, parent, forge.adopt(lease, &one).await)?;
        for other in issue.after.iter().filter_map(|other| opened.get(&other.checked_sub(1)?)) {
            unless_unknown(worker, parent, forge.wait_for(lease, one.number, other).await)?;
        }
        opened.insert(nth, one);
    }
    Ok(opened.into_values().map(|issue| issue.number).collect())
}

/// A server without such relations has the issues all the same: their texts and the comment name it.
fn unless_unknown(worker: &Worker, issue: IssueNumber, related: Result<(), ForgeError>) -> Result<(), ForgeError> {
    match related {
        Err(error) if error.is_not_found() => {
            worker.progress(issue, &format!("a relation between issues is left out: {error}"));
            Ok(())
        }
        related => related,
    }
}
