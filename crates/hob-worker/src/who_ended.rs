//! Who ended the work on an issue, and how: looked up once, when it ends.

use hob_config::ClosedIssue;
use hob_domain::{
    ClosedAs, Ending, FailureClass, IssueNumber, IssueStatus, LabelEventKind, PullNumber, StopDeed, has_label,
};
use hob_forge::{HeldLease, Issue, Look};
use hob_words::{CLOSED_MARK, LeftPull, closed_issue_body};

use crate::{WorkError, Worker};

/// The ending with the person and what they did, if the forge shows it. Otherwise the ending as it was.
pub(super) async fn who_ended(worker: &Worker, issue: &Issue, ending: Ending) -> Result<Ending, WorkError> {
    let trigger = &worker.settings.labels.trigger;
    let by_and_deed = match ending {
        Ending::Closed | Ending::Withdrawn if issue.status == IssueStatus::Closed => {
            issue.closed_by.clone().map(|by| (by, StopDeed::Closed(issue.closed_as)))
        }
        Ending::Unlabeled | Ending::Withdrawn
            if issue.status == IssueStatus::Open && !has_label(&issue.labels, trigger) =>
        {
            let kind = LabelEventKind::Unlabeled;
            let event = worker.forge.issues().latest_label_event(issue.number, kind, trigger).await;
            // The work ends, whether or not it can be said who ended it.
            let actor = event.ok().flatten().and_then(|event| event.actor);
            actor.map(|actor| (actor.login, StopDeed::LabelOff(trigger.clone())))
        }
        Ending::Merged
        | Ending::MergedLeftOpen
        | Ending::Closed
        | Ending::Unlabeled
        | Ending::Withdrawn
        | Ending::Gone
        | Ending::Concluded
        | Ending::Terminated(_)
        | Ending::Stopped { .. } => None,
    };
    let Some((by, deed)) = by_and_deed else { return Ok(ending) };
    // A worker that ended the work and died before it could say so.
    let is_own = worker.own_login().await?.is_some_and(|own| by.is(&own));
    Ok(if is_own { ending } else { Ending::Stopped { by, deed } })
}

/// Whether people have to be told on the pull request that its issue was closed without being done.
pub(super) fn leaves_a_pull(ending: &Ending) -> bool {
    let Ending::Stopped { deed: StopDeed::Closed(closed), .. } = ending else { return false };
    match closed {
        ClosedAs::NotPlanned | ClosedAs::Duplicate => true,
        ClosedAs::Completed => false,
    }
}

/// Says once on the open pull request who closed its issue, and as what; closes it if the settings say so.
pub(super) async fn tell_on_pull(
    worker: &Worker,
    lease: &HeldLease,
    ending: &Ending,
    pull: PullNumber,
) -> Result<(), WorkError> {
    let Ending::Stopped { by, deed: StopDeed::Closed(closed) } = ending else { return Ok(()) };
    let left = match worker.settings.review.closed_issue {
        ClosedIssue::Comment => LeftPull::StaysOpen,
        ClosedIssue::Close => LeftPull::Closes,
    };
    let body = closed_issue_body(lease.issue(), by, *closed, left);
    let told = async {
        let on = IssueNumber(pull.0);
        worker.forge.comments().write_once(lease, on, CLOSED_MARK, &body, Look::First).await?;
        match left {
            LeftPull::StaysOpen => Ok(()),
            LeftPull::Closes => worker.forge.pulls().close(lease, pull).await,
        }
    };
    match told.await {
        Err(error) if matches!(error.class(), FailureClass::Transient { .. }) => Err(error.into()),
        Err(error) => {
            // The status comment says the same, and the work has ended whether or not anybody may comment.
            tracing::warn!(issue = lease.issue().0, %error, "pull request {pull} was not told that its issue was closed: {error}");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}
