//! Switches: the newest message, or a person, gives the work of one profile to another, which gets the former's
//! findings.

use hob_domain::{
    Answer, ChosenBy, HandOff, Outcome, PassedOn, ProfileName, Received, Record, RouteChoice, Sha, Transition,
};
use hob_text::clip;

use crate::{WorkError, Worker, held_issue::HeldIssue};

/// The most bytes of the former's findings, and of what it had received, that are passed on: a hand-off has room for
/// the rest.
const FOUND_MAX: usize = 7 * 1024;
const RECEIVED_MAX: usize = 7 * 1024;

/// Hands the work of `from` off to the profile of `choice`, in the ledger and in the brief: its last run's words, and
/// why Hob switches. Its private data is not passed on.
pub(super) async fn switch(
    worker: &Worker,
    held: &HeldIssue,
    from: ProfileName,
    to: ProfileName,
    choice: &RouteChoice,
    base: &Sha,
) -> Result<(), WorkError> {
    let (record, issue) = (held.lease.record(), held.issue.number);
    let Some(session) = record.session.clone() else { return Ok(()) };
    let last = worker.children.executor.last_outcome(&session, from.as_str(), worker.forge.repo(), issue).await;
    let whole = HandOff {
        to: to.to_string(),
        reason: why(choice),
        done: found(&record, last),
        left: "What was said last.".to_owned(),
        // The result of an investigation is for every later profile.
        context: record.chain.received().map_or_else(String::new, |of| clip(&of.hand_off.context, RECEIVED_MAX)),
        evidence: Vec::new(),
    };
    let secrets = worker.forge.connection().secrets().redaction();
    // Text with a secret is not passed on.
    let hand_off = match whole.check(Some(&from), std::slice::from_ref(&to), &secrets) {
        Ok(_) => whole,
        Err(_refused) => {
            let reason = "another one was chosen".to_owned();
            HandOff { done: String::new(), context: String::new(), reason, ..whole }
        }
    };
    let links = record.chain.links().iter();
    let spend = links.fold(record.spend, |left, link| left.since(link.spend));
    let passed = PassedOn {
        received: Received { from: from.clone(), to: to.clone(), hand_off, switched: true },
        percent: Some(choice.percent),
        spend,
        head: record.work.head.clone().unwrap_or_else(|| base.clone()),
        session,
    };
    tracing::info!(issue = issue.0, %from, %to, "switched from `{from}` to `{to}`");
    worker.progress(issue, &format!("switched from `{from}` to `{to}`"));
    worker.forge.ledger().transition(&held.lease, Transition::HandOff(Box::new(passed))).await?;
    Ok(())
}

/// Why Hob switches.
fn why(choice: &RouteChoice) -> String {
    let reasons = choice.reasons.join("; ");
    match choice.by {
        ChosenBy::Router => format!("the newest message fits it, {}% sure: {reasons}", choice.percent),
        ChosenBy::Command | ChosenBy::Label | ChosenBy::Repository | ChosenBy::Base => reasons,
    }
}

/// The former profile's findings: the end of its last run, if this machine has its session, otherwise the ledger's
/// text.
fn found(record: &Record, last: Option<Outcome>) -> String {
    let said = match last {
        Some(Outcome::Done { summary, .. }) => summary,
        Some(Outcome::NothingToDo { reason }) => format!("It found that nothing has to change: {reason}"),
        Some(Outcome::Question { question }) => format!("It asked: {question}"),
        Some(Outcome::Failed { reason, .. }) => format!("Its last run failed: {reason}"),
        Some(Outcome::HandOff(given)) => given.done,
        Some(Outcome::ApprovalNeeded { .. }) | None => of_ledger(record),
    };
    clip(&said, FOUND_MAX)
}

fn of_ledger(record: &Record) -> String {
    let question = record.answer.as_ref().and_then(|Answer { question, .. }| question.as_ref());
    let parts = [
        record.chain.received().map(|received| received.hand_off.done.clone()).filter(|done| !done.is_empty()),
        question.map(|question| format!("It asked: {question}")),
        record.failure.text.as_ref().map(|failure| format!("Its last attempt failed: {failure}")),
        record.pull.number.map(|pull| format!("Its work is the pull request {pull}.")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}
