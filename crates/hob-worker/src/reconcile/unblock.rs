//! Blocked issues: whether a person answered or approved, on the issue or from the command line.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use hob_domain::{
    AccountKind, Answer, ApprovalGrant, Asked, AskedInReview, BlockKind, Blocked, Command, CommandVerdict, CommentId,
    Ending, IssueNumber, LabelEventKind, OWN_MARK, Proposed, PullNumber, Receipt, Record, State, Transition,
    Unblocking, WorkPlan, asked_in, asked_in_review, command_in, has_label, unknown_command, unknown_command_reply,
};
use hob_forge::{BaseBranch, Comment, Issue};

use crate::{
    OperatorError, WorkError, Worker,
    attempt::{attempt, issue_allowance},
    authorize::{LabelHistory, approved_hash, approved_since, authorize, label_event},
    observe::{Observed, observe},
    receipts::give_receipts,
    reconcile::{
        obey::{new_commands, obey},
        outcome::Reconciled,
    },
    transition::{acquire, acquire_and_end, show_and_release},
};

/// The response of authorized people since the issue was blocked.
pub(crate) enum Response {
    Nothing,
    Continue(Unblocking),
    Cancel(Ending),
    /// The label is off, and the forge does not yet show who removed it.
    NotYet,
    /// Comments that are meant for Hob and that it cannot follow, with the replies to them.
    Impossible(Vec<Receipt>),
}

/// What the search for an answer may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// An attempt: it has one of the process's jobs.
    Job,
    /// No attempt.
    None,
}

/// The result of a search for an answer.
pub(super) enum Sought {
    /// There was no response.
    Nothing,
    /// Only a later look can tell.
    Unclear,
    /// There is an answer, and the search may not begin an attempt.
    Answer,
    /// This.
    Done(Reconciled),
}

/// Continues with a blocked issue when an authorized person answered or removed the label.
pub(super) fn seek_answer<'a>(
    worker: &'a Worker,
    observed: Observed,
    base: &'a Arc<BaseBranch>,
    slot: Slot,
) -> BoxFuture<'a, Result<Sought, WorkError>> {
    Box::pin(async move {
        let given = new_commands(worker, &observed).await?;
        if !given.is_empty() {
            return obey(worker, observed, given, base).await.map(Sought::Done);
        }
        let Some(blocked) = observed.record().and_then(|record| record.blocked.clone()) else {
            // A blocked record without a reason can only be resumed.
            let empty = Answer { actor: "hob".into(), text: String::new(), question: None, comment: None, event: None };
            // There is no new response, so earlier approvals stay.
            let trigger = observed.record().and_then(|record| record.trigger.as_ref());
            let approved = trigger.map(|trigger| trigger.approved.clone()).unwrap_or_default();
            let unblocking = Unblocking { answer: empty, grant: ApprovalGrant::Nothing, approved };
            if slot == Slot::None {
                return Ok(Sought::Answer);
            }
            return continue_with(worker, observed, unblocking, base).await.map(Sought::Done);
        };
        // A paused issue is left alone: what answers it counts when it is resumed.
        let response = match observed.record().is_some_and(|record| record.paused.is_some()) {
            true => Response::Nothing,
            false => response(worker, &observed.issue, observed.record(), &blocked).await?,
        };
        match response {
            Response::Continue(_) if slot == Slot::None => return Ok(Sought::Answer),
            Response::Continue(unblocking) => {
                return continue_with(worker, observed, unblocking, base).await.map(Sought::Done);
            }
            Response::Cancel(ending) => acquire_and_end(worker, observed, base, ending).await?,
            Response::Impossible(receipts) => reply(worker, observed, base, receipts).await?,
            Response::NotYet => return Ok(Sought::Unclear),
            Response::Nothing if shows_blocked(worker, &observed) => return Ok(Sought::Nothing),
            // The label went missing, an account that is not authorized removed it, or the worker that blocked the issue died
            // before it had asked its question.
            Response::Nothing => {
                let what = "shows again that a person is needed".to_owned();
                let held = acquire(worker, observed, base, Transition::Reconcile { what }).await?;
                show_and_release(worker, &held, "still blocked: nobody who is authorized answered").await?;
            }
        }
        Ok(Sought::Done(Reconciled::UpToDate))
    })
}

/// The response of authorized people since the issue was blocked, in comments or by its label.
pub(crate) fn response<'a>(
    worker: &'a Worker,
    issue: &'a Issue,
    record: Option<&'a Record>,
    blocked: &'a Blocked,
) -> BoxFuture<'a, Result<Response, WorkError>> {
    Box::pin(async move {
        match response_since(worker, issue, record, blocked).await? {
            Response::Nothing if !has_label(&issue.labels, &worker.settings.labels.blocked) => {
                label_removed(worker, issue, record, blocked).await
            }
            response => Ok(response),
        }
    })
}

fn shows_blocked(worker: &Worker, observed: &Observed) -> bool {
    let released = observed.record().is_none_or(|record| record.holder.is_none());
    released && worker.settings.labels.changes(&observed.issue.labels, State::Blocked).is_empty()
}

/// The first response in a comment.
pub(super) async fn response_since(
    worker: &Worker,
    issue: &Issue,
    record: Option<&Record>,
    blocked: &Blocked,
) -> Result<Response, WorkError> {
    let own = record.and_then(|record| record.status_comment);
    // Times have whole seconds: a comment that was taken for an answer before is recognized by its id.
    let heard = record.and_then(|record| record.answer.as_ref()).and_then(|answer| answer.comment);
    let comments = comments_since(worker, issue, record, blocked).await?;
    let new = |comment: &&Comment| {
        comment.created_at >= blocked.since
            && Some(comment.id) > heard
            && Some(comment.id) != own
            && !comment.body.starts_with(OWN_MARK)
    };
    let is_told = |id: CommentId| record.is_some_and(|record| record.commands.has_handled(id));
    let spent = record.filter(|_| blocked.kind == BlockKind::BudgetSpent);
    let spent = spent.and_then(|record| Some((record, issue_allowance(worker, record).err()?)));
    let mut impossible = Vec::new();
    for (comment, pull) in comments.iter().filter(|(comment, _)| new(&comment)) {
        let Some(author) = &comment.author else { continue };
        let Some(meaning) = meaning(command_in(&comment.body), comment, record, blocked) else { continue };
        if authorize(worker, author).await?.is_err() {
            continue;
        }
        // Its author was told so during the look for commands.
        if asked_in(&comment.body).is_some() && worker.forge.comments().is_edited(comment).await? {
            continue;
        }
        let meaning = match (meaning, &spent) {
            (Meaning::Words(_), Some((record, exhausted))) => {
                let advice = worker.settings.limits.budgets().advice(exhausted, &record.commands);
                Meaning::Impossible(format!("The issue's {exhausted} is used up: first {}.", advice.raise))
            }
            (meaning, _) => meaning,
        };
        let (text, grant) = match meaning {
            Meaning::Impossible(why) => {
                if !is_told(comment.id) {
                    let (comment, pull, verdict) = (comment.id, *pull, CommandVerdict::Impossible);
                    impossible.push(Receipt { comment, pull, verdict, says: Some(why) });
                }
                continue;
            }
            Meaning::Cancel => return Ok(Response::Cancel(Ending::Terminated(author.login.clone()))),
            Meaning::Words(text) => (text, ApprovalGrant::Nothing),
            Meaning::Approval(text) => (text, ApprovalGrant::ProposedAction),
            Meaning::PlanApproval(text) => (text, ApprovalGrant::ProposedPlan),
        };
        let question = Some(blocked.question.clone());
        let answer = Answer { actor: author.login.clone(), text, question, comment: Some(comment.id), event: None };
        let approved = approved_since(worker, issue, comment.created_at).await?;
        return Ok(Response::Continue(Unblocking { answer, grant, approved }));
    }
    Ok(if impossible.is_empty() { Response::Nothing } else { Response::Impossible(impossible) })
}

/// The comments on the issue that may answer the question, and the commands in its pull request's conversation that do;
/// each with that pull request.
async fn comments_since(
    worker: &Worker,
    issue: &Issue,
    record: Option<&Record>,
    blocked: &Blocked,
) -> Result<Vec<(Comment, Option<PullNumber>)>, WorkError> {
    let mut comments = Vec::new();
    if issue.comments > 0 {
        let on_issue = worker.forge.comments().since(issue.number, blocked.since).await?;
        comments.extend(on_issue.into_iter().map(|comment| (comment, None)));
    }
    if let Some(pull) = record.and_then(|record| record.pull_request) {
        // Plain words there are about the pull request.
        let answers = |comment: &Comment| {
            let asked = asked_in_review(&comment.body);
            let Some(AskedInReview::Command(Asked::Known(command))) = asked else { return false };
            matches!(command, Command::Retry | Command::Unblock(_) | Command::Approve(_))
        };
        let on_pull = worker.forge.comments().of(IssueNumber(pull.0)).await?;
        comments.extend(on_pull.into_iter().filter(answers).map(|comment| (comment, Some(pull))));
    }
    comments.sort_by_key(|(comment, _)| comment.id);
    Ok(comments)
}

/// Replies in one line each why comments cannot be followed.
async fn reply(
    worker: &Worker,
    observed: Observed,
    base: &Arc<BaseBranch>,
    receipts: Vec<Receipt>,
) -> Result<(), WorkError> {
    let tell = |receipt| {
        let what = "replies to what cannot be followed".to_owned();
        Transition::Follow { receipt, then: Box::new(Transition::Reconcile { what }) }
    };
    let mut receipts = receipts.into_iter();
    let Some(first) = receipts.next() else { return Ok(()) };
    let held = acquire(worker, observed, base, tell(first)).await?;
    for receipt in receipts {
        worker.forge.ledger().transition(&held.lease, tell(receipt)).await?;
    }
    show_and_release(worker, &held, "still blocked: what was said cannot be followed").await
}

async fn label_removed(
    worker: &Worker,
    issue: &Issue,
    record: Option<&Record>,
    blocked: &Blocked,
) -> Result<Response, WorkError> {
    let label = &worker.settings.labels.blocked;
    let event = match label_event(worker, issue, LabelEventKind::Unlabeled, label).await? {
        LabelHistory::Seen(event) => event,
        LabelHistory::NotYet => return Ok(Response::NotYet),
        LabelHistory::Missing => return Ok(Response::Nothing),
    };
    let answer = record.and_then(|record| record.answer.as_ref());
    let is_new = event.at >= blocked.since && Some(event.id) > answer.and_then(|answer| answer.event);
    let Some(actor) = event.actor.as_ref().filter(|_| is_new) else { return Ok(Response::Nothing) };
    if authorize(worker, actor).await?.is_err() {
        return Ok(Response::Nothing);
    }
    let question = Some(blocked.question.clone());
    let (actor, at, event) = (actor.login.clone(), event.at, Some(event.id));
    let answer = Answer { actor, text: String::new(), question, comment: None, event };
    let approved = approved_since(worker, issue, at).await?;
    Ok(Response::Continue(Unblocking { answer, grant: ApprovalGrant::Nothing, approved }))
}

/// Begins the next attempt at an issue that was unblocked.
pub(super) fn continue_with<'a>(
    worker: &'a Worker,
    observed: Observed,
    unblocking: Unblocking,
    base: &'a Arc<BaseBranch>,
) -> BoxFuture<'a, Result<Reconciled, WorkError>> {
    Box::pin(async move {
        let comment = unblocking.answer.comment;
        let go_on = Transition::Continue(unblocking);
        let transition = match comment {
            Some(comment) => {
                let receipt = Receipt { comment, pull: None, verdict: CommandVerdict::Followed, says: None };
                Transition::Follow { receipt, then: Box::new(go_on) }
            }
            None => go_on,
        };
        let held = acquire(worker, observed, base, transition).await?;
        if let Err(error) = Box::pin(give_receipts(worker, &held.lease, &held.receipts)).await {
            tracing::warn!(issue = held.issue.number.0, %error, "the answer's receipt comes later: {error}");
        }
        Ok(attempt(worker, &held).await?.into())
    })
}

/// Answers a blocked issue from the command line: the next free worker takes it with this text.
///
/// # Errors
/// [`OperatorError::NotBlocked`] if the issue is not blocked, [`OperatorError::NoIssue`] if there is none.
pub async fn unblock(worker: &Worker, number: IssueNumber, text: &str) -> Result<(), OperatorError> {
    let observed = observe_blocked(worker, number).await?.ok_or(OperatorError::NotBlocked(number))?;
    Ok(free_as_operator(worker, observed, text.to_owned(), ApprovalGrant::Nothing).await?)
}

/// What was approved from the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approved {
    /// An action of the agent.
    Action(Proposed),
    /// The agent's plan.
    Plan(WorkPlan),
}

/// Approves from the command line exactly what the agent of a blocked issue proposes, and unblocks the issue.
///
/// # Errors
/// [`OperatorError::NothingProposed`] if neither an action nor a plan waits for approval.
pub async fn approve(worker: &Worker, number: IssueNumber, words: &str) -> Result<Approved, OperatorError> {
    let observed = observe_blocked(worker, number).await?.ok_or(OperatorError::NothingProposed(number))?;
    let record = observed.record();
    let action = record.and_then(Record::waiting_action).cloned().map(Approved::Action);
    let waiting = action.or_else(|| record.and_then(Record::waiting_plan).cloned().map(Approved::Plan));
    let approved = waiting.ok_or(OperatorError::NothingProposed(number))?;
    let (text, grant) = match &approved {
        Approved::Action(action) => (approval_text(action, words), ApprovalGrant::ProposedAction),
        Approved::Plan(_) => (plan_approval_text(words), ApprovalGrant::ProposedPlan),
    };
    free_as_operator(worker, observed, text, grant).await?;
    Ok(approved)
}

/// The issue; `None` if it is not blocked now.
async fn observe_blocked(worker: &Worker, number: IssueNumber) -> Result<Option<Observed>, OperatorError> {
    let (observed, _) = observe(worker, number).await?.ok_or(OperatorError::NoIssue(number))?;
    Ok(observed.record().is_some_and(|record| record.state == State::Blocked).then_some(observed))
}

/// Unblocks an issue, in the name of the token's account.
async fn free_as_operator(
    worker: &Worker,
    observed: Observed,
    text: String,
    grant: ApprovalGrant,
) -> Result<(), WorkError> {
    let base = Arc::new(worker.forge.repository().base_branch().await?);
    let actor = worker.operator().await?;
    let question = observed.record().and_then(|record| record.blocked.as_ref()).map(|blocked| blocked.question.clone());
    let answer = Answer { actor, text, question, comment: None, event: None };
    // The operator at the command line sees the issue in its current form.
    let freed =
        Freed { answer, grant, approved: approved_hash(&observed.issue), why: "unblocked from the command line" };
    free(worker, observed, freed, &base).await
}

/// The way in which a blocked issue is made ready for the next free worker.
pub(super) struct Freed {
    pub(super) answer: Answer,
    pub(super) grant: ApprovalGrant,
    /// SHA-256 of the title and the body that are approved with it.
    pub(super) approved: String,
    /// The reason that is shown.
    pub(super) why: &'static str,
}

/// Unblocks an issue: the next free worker takes it.
pub(super) async fn free(
    worker: &Worker,
    observed: Observed,
    freed: Freed,
    base: &Arc<BaseBranch>,
) -> Result<(), WorkError> {
    let Freed { answer, grant, approved, why } = freed;
    let unblocking = Unblocking { answer, grant, approved };
    let held = acquire(worker, observed, base, Transition::Unblock(unblocking)).await?;
    show_and_release(worker, &held, why).await
}

/// The meaning of a comment for a blocked issue, if its author is authorized.
#[derive(Debug, PartialEq, Eq)]
enum Meaning {
    Cancel,
    Words(String),
    Approval(String),
    PlanApproval(String),
    /// It is meant for Hob and cannot be followed, for this reason.
    Impossible(String),
}

/// `None` if it is not meant for Hob. A person's plain reply answers any reason for the block; a program's only a
/// question, so that two programs do not answer each other for ever.
fn meaning(command: Option<Command>, comment: &Comment, record: Option<&Record>, blocked: &Blocked) -> Option<Meaning> {
    let reply = || Meaning::Words(comment.body.trim().to_owned());
    let is_newer = blocked.precedes(comment.id, comment.created_at);
    match (command, blocked.kind) {
        (Some(Command::Cancel), _) => Some(Meaning::Cancel),
        (Some(Command::Retry), _) => Some(Meaning::Words(String::new())),
        (Some(Command::Unblock(text)), _) => Some(Meaning::Words(text)),
        (Some(Command::Approve(words)), BlockKind::ApprovalNeeded) => {
            let waiting = record.and_then(Record::waiting_action).filter(|_| is_newer);
            waiting.map(|action| Meaning::Approval(approval_text(action, &words)))
        }
        (Some(Command::Approve(words)), BlockKind::PlanProposed) => {
            let waiting = record.and_then(Record::waiting_plan).filter(|_| is_newer);
            waiting.map(|_plan| Meaning::PlanApproval(plan_approval_text(&words)))
        }
        // They answer nothing, and were followed before the search for an answer.
        (
            Some(
                Command::Pause(_)
                | Command::Resume
                | Command::Agent(_)
                | Command::Budget(_)
                | Command::Plan
                | Command::Explain
                | Command::Help,
            ),
            _,
        ) => None,
        (Some(Command::Approve(_)), BlockKind::Question) => Some(reply()),
        (Some(Command::Approve(_)), _) => Some(Meaning::Impossible(
            "Nothing waits for approval here: reply in plain words, or comment `/hob retry`.".to_owned(),
        )),
        (None, kind) => match unknown_command(&comment.body) {
            Some(said) => Some(Meaning::Impossible(unknown_command_reply(&said))),
            None if is_to_another(&comment.body) => None,
            None => {
                let is_person = comment.author.as_ref().is_none_or(|author| author.kind == AccountKind::User);
                let asked = matches!(kind, BlockKind::Question | BlockKind::ApprovalNeeded);
                (is_person || asked).then(reply)
            }
        },
    }
}

/// The same for a plan, which the agent's brief has.
fn plan_approval_text(words: &str) -> String {
    format!("Approved: carry the plan out.\n\n{}", words.trim()).trim().to_owned()
}

/// Whether a comment begins with a mention: people talk to each other.
fn is_to_another(body: &str) -> bool {
    body.trim_start().starts_with('@')
}

/// The text for the agent, which may no longer remember what exactly it had asked for.
pub(super) fn approval_text(action: &Proposed, words: &str) -> String {
    let Proposed { tool, text, .. } = action;
    let told = format!("Approved: the tool `{tool}` may do exactly this, and nothing else is approved by it:\n{text}");
    if words.trim().is_empty() { told } else { format!("{told}\n\n{}", words.trim()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hob_domain::{
        Actor, BlockReason, Claimant, CostLimit, Impact, Nonce, Note, Timestamp, WorkerId, acquire as acquired, apply,
    };
    use hob_forge::Edited;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).unwrap()
    }

    fn blocked(reason: BlockReason) -> Record {
        let claimant = Claimant {
            worker: WorkerId::from("w"),
            nonce: Nonce::from("n"),
            duration: std::time::Duration::from_secs(60),
            skew: std::time::Duration::ZERO,
        };
        let first = acquired(None, IssueNumber(1), &claimant, at(0)).unwrap();
        let working = Record { state: State::InProgress, ..first };
        apply(&working, Transition::Block(reason), at(100)).unwrap().0
    }

    fn plan() -> WorkPlan {
        WorkPlan { steps: vec!["Do it".to_owned()], ..WorkPlan::default() }
    }

    fn action() -> Proposed {
        let (tool, line, text) = ("shell".to_owned(), "shell rm x".to_owned(), "rm x".to_owned());
        Proposed { tool, line, text, impact: Impact::High }
    }

    fn meant(record: &Record, body: &str, seconds: i64) -> Option<Meaning> {
        let comment = Comment {
            id: CommentId(1),
            author: None,
            body: body.to_owned(),
            created_at: at(seconds),
            edited: Edited::No,
        };
        meaning(command_in(body), &comment, Some(record), record.blocked.as_ref().unwrap())
    }

    #[test]
    fn what_cannot_be_followed_is_told() {
        let failed = blocked(BlockReason::NoProgress { failure: "no".to_owned() });
        for (body, says) in
            [("/hob approve", "Nothing waits for approval"), ("/hob tpyo `x`", "`/hob tpyo 'x'` is no command")]
        {
            let Some(Meaning::Impossible(why)) = meant(&failed, body, 101) else { panic!("{body}") };
            assert!(why.contains(says), "{why}");
        }
    }

    #[test]
    fn a_programs_plain_words_answer_only_a_question() {
        let says = |reason: BlockReason| {
            let record = blocked(reason);
            let author = Some(Actor { login: "ci[bot]".into(), kind: AccountKind::Bot });
            let comment = Comment {
                id: CommentId(1),
                author,
                body: "Red again.".to_owned(),
                created_at: at(101),
                edited: Edited::No,
            };
            meaning(None, &comment, Some(&record), record.blocked.as_ref().unwrap())
        };
        assert_eq!(says(BlockReason::NoProgress { failure: "no".to_owned() }), None);
        assert!(says(BlockReason::Question { question: "UTC?".to_owned() }).is_some());
    }

    #[test]
    fn a_comment_means_what_its_command_and_the_reason_say() {
        let words = |text: &str| Some(Meaning::Words(text.to_owned()));
        let question = blocked(BlockReason::Question { question: "UTC?".to_owned() });
        let approval = blocked(BlockReason::ApprovalNeeded(action()));
        let failed = blocked(BlockReason::NoProgress { failure: "no".to_owned() });
        let approved = |said: &str| Some(Meaning::Approval(approval_text(&action(), said)));
        let planned = blocked(BlockReason::PlanProposed { plan: Box::new(plan()), cost: CostLimit::default() });
        let after = |comment| {
            let mut record = approval.clone();
            record.note(Note::Asks(CommentId(comment)));
            record
        };
        let plan_approved = |said: &str| Some(Meaning::PlanApproval(plan_approval_text(said)));
        for (name, record, body, seconds, expected) in [
            ("a reply answers a question", &question, " UTC. ", 101, words("UTC.")),
            ("so does an approval where nothing is proposed", &question, "/hob approve", 101, words("/hob approve")),
            ("a reply to a proposal says what to do instead", &approval, "Do not.", 101, words("Do not.")),
            ("a reply to anything else does too", &failed, "Use UTC.", 101, words("Use UTC.")),
            ("but not one to somebody else", &failed, "@bob, what do you think?", 101, None),
            ("a proposal is approved", &approval, "/hob approve now", 101, approved("now")),
            ("but not by what came before the question", &approval, "/hob approve", 99, None),
            ("nor within its second, where nobody knows the order", &approval, "/hob approve", 100, None),
            ("nor by what came first within its second", &after(1), "/hob approve", 100, None),
            ("what came later in that second counts", &after(0), "/hob approve", 100, approved("")),
            ("a plan is approved", &planned, "/hob approve now", 101, plan_approved("now")),
            ("but not where nobody knows the order either", &planned, "/hob approve", 100, None),
            ("a reply corrects it", &planned, "Fewer files.", 101, words("Fewer files.")),
            ("a retry has no words", &failed, "/hob retry please", 101, words("")),
            ("an unblocking has", &failed, "/hob unblock use UTC", 101, words("use UTC")),
            ("a cancel ends everything", &question, "/hob cancel", 101, Some(Meaning::Cancel)),
        ] {
            assert_eq!(meant(record, body, seconds), expected, "{name}");
        }
    }
}
