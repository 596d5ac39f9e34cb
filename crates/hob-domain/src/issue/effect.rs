//! What a transition changes apart from the state, and its sentence. [`apply`](crate::apply) decides whether it
//! applies.

use crate::{
    AfterBudget, Approval, ApprovalGrant, Attempts, BlockCode, BlockReason, Blocked, Branch, CheckNotes, ChosenAgent,
    CommentId, Controlled, Due, Ending, Failure, HandOffLog, Login, Outage, OwnComments, PassedOn, Pause, PersonsWork,
    PlanLog, Proof, PullLog, PullNumber, Receipt, Record, Recovery, Refusal, Request, ReviewEvent, ReviewLog, RunId,
    RunPurpose, SetBudget, Sha, Since, State, Stopped, Taught, Timestamp, Traces, Transition, Trigger, Unblocking,
    WithPeople, Work, WorkerId, dollars, events_in_words,
    issue::{failure_words::failure_line, label_fights::names_of, unwritten::added},
};

impl Transition {
    /// Changes everything except the state; returns the sentence.
    pub(crate) fn change(self, record: &mut Record, now: Timestamp) -> String {
        match self {
            Self::Claim { trigger } => claim(record, trigger, now),
            Self::TakeOver { recovery, from } => take_over(record, recovery, from, now),
            Self::Continue(unblocking) => {
                let freed = unblocking.free(record);
                start_attempt(record, now);
                format!("{freed}; claimed by {}, generation {}", holder(record), record.generation)
            }
            Self::Unblock(unblocking) => unblocking.free(record),
            Self::Refuse(refusal) => refuse(record, refusal),
            Self::RefusalShown => show_refusal(record, now),
            Self::WaitForPeople(begun) => wait_for_people(record, begun),
            Self::StartAgent { agent, by, purpose, branch, session } => {
                record.work.by = Some(by);
                start_agent(record, &agent, purpose, &branch, session)
            }
            Self::Candidate(session, says) => {
                record.session = Some(session);
                says
            }
            Self::RecordSpend(spend) => format!("the agent spent {spend}"),
            Self::HandOff(passed) => hand_off(record, *passed),
            Self::AddSpend { generation, spend } => {
                record.spend = record.spend + spend;
                added(generation, spend)
            }
            Self::Publish { head, pull, proof, due } => {
                record.pull.published(pull, now);
                publish(record, head, pull, proof, *due)
            }
            Self::Rework { events, head } => rework(record, events, head, now),
            Self::Rerun { failed } => rerun(record, failed),
            Self::Block(reason) => block(record, reason, now),
            Self::Retry { failure, until } => {
                let what = format!("attempt {} failed, the next starts", record.attempts.now);
                record.failure.outage = None;
                requeue_until(record, &what, failure, until)
            }
            Self::Postpone { failure, until } => {
                record.attempts.uncount();
                requeue_until(record, "postponed, work resumes", failure, until)
            }
            Self::Requeue { reason } => {
                record.attempts.uncount();
                format!("requeued: {reason}")
            }
            Self::Request(request) => ask_for(record, request),
            Self::Pause(pause) => pause_work(record, pause),
            Self::Resume { by } => resume(record, &by),
            Self::Follow { receipt, then } => follow(record, receipt, *then, now),
            Self::ChooseAgent(agent) => choose_agent(record, agent),
            Self::SetBudget { budget, then } => set_budget(record, budget, then),
            Self::RequestPlan { by } => request_plan(record, by),
            Self::SignOff(asked) => record.commands.begin_sign_off(asked),
            Self::SignedOff { by, head } => record.commands.end_sign_off(&by, head.as_ref()),
            Self::AskProof(asked) => record.pull.ask_proof(asked),
            Self::RetryNow { by } => retry_now(record, &by),
            Self::Overhear(comment) => overhear(record, comment),
            Self::Hint(pull) => hint(record, pull),
            Self::Reject(pull) => reject(record, pull, now),
            Self::ReturnToReview(pull) => {
                record.blocked = None;
                record.control.take_if(|control| control.ended_by().is_some());
                format!("the pull request {pull} is open again")
            }
            Self::Rebuild(traces) => rebuild(record, traces, now),
            Self::Finish(ending) => finish(record, &ending, now),
            Self::RepairLabels(changes) => {
                record.label_fights.repaired(&changes, now);
                format!("repaired the labels: {}", names_of(&changes))
            }
            Self::GiveUpLabels(changes) => {
                record.label_fights.give_up(&changes, now);
                format!("no longer repairs the labels, which others change back each time: {}", names_of(&changes))
            }
            Self::Reconcile { what } => what,
            Self::NoteChecks(notes) => note_checks(record, notes),
        }
    }
}

fn resume(record: &mut Record, by: &Login) -> String {
    record.control = None;
    format!("resumed by {by}")
}

fn follow(record: &mut Record, receipt: Receipt, then: Transition, now: Timestamp) -> String {
    // What answered a question on the pull request asks for no round of its own.
    if receipt.pull.is_some() && then.is_an_answer() {
        record.review.handled.push(ReviewEvent::of(receipt.to()));
    }
    record.commands.take(receipt);
    record.label_fights.begin_anew();
    then.change(record, now)
}

fn overhear(record: &mut Record, comment: CommentId) -> String {
    if !record.commands.unread.contains(&comment) {
        record.commands.unread.push(comment);
    }
    "a comment came that an agent has to read".to_owned()
}

fn hint(record: &mut Record, pull: PullNumber) -> String {
    record.commands.hinted = Some(pull);
    format!("said on pull request {pull} how to ask for a change")
}

fn rerun(record: &mut Record, failed: Vec<ReviewEvent>) -> String {
    let sentence = format!("failed jobs run once more: {}", events_in_words(&failed));
    record.review.reran.extend(failed);
    sentence
}

fn retry_now(record: &mut Record, by: &Login) -> String {
    record.failure.try_again();
    if !record.work.waits_for().is_empty() {
        record.work.go_on(by.clone());
    }
    format!("{by} asked to try again now")
}

fn start_agent(record: &mut Record, agent: &str, purpose: RunPurpose, branch: &str, session: RunId) -> String {
    record.session = Some(session);
    record.approval.plan.under_way = purpose == RunPurpose::Plan;
    record.work.name_branch(branch);
    match purpose {
        RunPurpose::Work => format!("the agent `{agent}` started on `{branch}`"),
        RunPurpose::Plan => format!("the agent `{agent}` started to plan"),
        RunPurpose::Report => format!("the agent `{agent}` started on a report"),
        RunPurpose::Investigate => format!("the agent `{agent}` started to investigate"),
        RunPurpose::Review => format!("the agent `{agent}` started to review"),
    }
}

impl Unblocking {
    /// Resets what the answer makes void: the attempts begin again, on the issue as the person saw it. The sentence
    /// says who unblocked it.
    fn free(self, record: &mut Record) -> String {
        let Self { answer, grant, approved } = self;
        let sentence = match grant {
            ApprovalGrant::Nothing => format!("unblocked by {}", answer.actor),
            ApprovalGrant::ProposedAction => {
                record.approve();
                format!("approved by {}", answer.actor)
            }
            ApprovalGrant::ProposedPlan => format!("the plan was approved by {}", answer.actor),
        };
        let is_kept = answer.text.trim().is_empty() && record.blocked.as_ref().is_some_and(Blocked::is_of_no_work);
        begin_anew(record);
        record.work.go_on(answer.actor.clone());
        if record.unpublished().is_some() && !is_kept {
            // Work that passed its checks before the answer is not what is wanted now. In a round, the branch has what
            // people saw.
            record.work.head = record.work.accepted.clone().filter(|_| record.pull.number.is_some());
        }
        if let Some(comment) = answer.comment {
            record.commands.handle(comment);
        }
        if let Some(trigger) = record.trigger.as_mut() {
            trigger.approved = approved;
        }
        // Words withdraw an approved list whose issues could not be opened; a retry does not.
        if !answer.text.trim().is_empty() {
            take_list_back(record);
        }
        if grant == ApprovalGrant::ProposedPlan {
            record.approve_plan();
        }
        record.answer = Some(answer.after(record.answer.as_ref()));
        if let Some(asked) = record.comments.asked.as_mut() {
            asked.answered = true;
        }
        sentence
    }
}

/// A person who unblocks an issue gives it all of its attempts again.
fn begin_anew(record: &mut Record) {
    (record.attempts.now, record.failure.outage) = (0, record.failure.outage.take().map(Outage::tried_again));
    record.chain.begin_anew();
    if record.blocked.as_ref().is_some_and(|blocked| blocked.reason == BlockCode::RoundsUsedUp) {
        record.review.allow_again();
    }
    if let Some(blocked) = record.blocked.take() {
        record.failure.stopped = Stopped::by(blocked);
    }
    (record.failure.text, record.approval.waits) = (None, None);
}

fn hand_off(record: &mut Record, passed: PassedOn) -> String {
    let sentence = passed.received.sentence();
    record.session = Some(passed.session.clone());
    let ends_a_report = record.comments.report.is_some() && !passed.received.switched;
    record.chain.take(passed, record.spend);
    if ends_a_report {
        record.chain = std::mem::take(&mut record.chain).after_report();
    }
    sentence
}

/// An approved list of issues is carried out without an agent, so anything that a person says later needs a new
/// approval.
fn take_list_back(record: &mut Record) {
    if record.approval.plan.proposed.as_ref().is_some_and(|plan| !plan.issues.is_empty()) {
        record.approval.plan.approved = None;
    }
}

fn choose_agent(record: &mut Record, agent: ChosenAgent) -> String {
    let sentence = format!("{} chose the agent `{}`", agent.by, agent.name);
    take_list_back(record);
    record.commands.agent = Some(agent);
    sentence
}

/// The request is read when plans are made.
fn request_plan(record: &mut Record, by: Login) -> String {
    let sentence = format!("plan requested by {by}");
    take_list_back(record);
    record.commands.wants_plan = Some(by);
    sentence
}

fn set_budget(record: &mut Record, budget: SetBudget, then: AfterBudget) -> String {
    let sentence = format!("{} set the issue's budget to {}", budget.by, dollars(budget.usd_micros));
    record.commands.budget = Some(budget);
    match then {
        AfterBudget::Stay => sentence,
        AfterBudget::Requeue => {
            begin_anew(record);
            format!("{sentence} and requeued it")
        }
    }
}

fn holder(record: &Record) -> &str {
    record.lease.as_ref().map_or("nobody", |lease| lease.worker.as_str())
}

fn claim(record: &mut Record, trigger: Trigger, now: Timestamp) -> String {
    if record.state == State::Done {
        *record = asked_for_again(record);
    }
    // A retry is for the authorized text, so that later edits are noticed.
    let known = record.trigger.take().filter(|old| old.event == trigger.event);
    record.trigger = Some(match known {
        // Commands that an earlier version followed have no mark; they must not begin to count now.
        Some(Trigger { approved, at, labels, .. }) => Trigger { approved, at, labels, ..trigger },
        None => trigger,
    });
    start_attempt(record, now);
    format!("claimed by {}, generation {}", holder(record), record.generation)
}

fn take_over(record: &mut Record, recovery: Recovery, from: Option<WorkerId>, now: Timestamp) -> String {
    match recovery {
        Recovery::Resume => start_attempt(record, now),
        Recovery::Block => record.blocked = Some(BlockReason::WorkerDied.blocked(now)),
        Recovery::Abandon => {}
    }
    let from = from.map_or_else(|| "a worker that stopped".to_owned(), |from| from.to_string());
    format!("taken over from {from} by {}, generation {}", holder(record), record.generation)
}

fn refuse(record: &mut Record, refusal: Refusal) -> String {
    if record.state == State::Done {
        *record = asked_for_again(record);
    }
    let sentence = format!("refused: {}", refusal.reason);
    record.refused = Some(refusal);
    sentence
}

fn wait_for_people(record: &mut Record, begun: Vec<PersonsWork>) -> String {
    if record.state == State::Done {
        *record = asked_for_again(record);
    }
    let says = PersonsWork::each_says(&begun);
    (record.refused, record.failure.until) = (None, None);
    record.work.with_people = Some(WithPeople::Waits(begun));
    format!("waits: {says}")
}

fn show_refusal(record: &mut Record, now: Timestamp) -> String {
    if let Some(refusal) = record.refused.as_mut() {
        refusal.at = now;
    }
    "released the lease".to_owned()
}

fn reject(record: &mut Record, pull: PullNumber, now: Timestamp) -> String {
    record.blocked = Some(BlockReason::Rejected(pull).blocked(now));
    record.taught = Taught::default();
    format!("the pull request {pull} was closed without a merge")
}

/// What the work showed and what was said of it counts once it is merged, and not otherwise.
fn finish(record: &mut Record, ending: &Ending, now: Timestamp) -> String {
    record.failure.until = None;
    record.control.take_if(|control| !control.obeyed || control.ended_by().is_some());
    match ending {
        Ending::Terminated(by) => record.control = Some(Controlled::ended(by.clone(), String::new(), now)),
        Ending::Stopped { by, deed } => record.control = Some(Controlled::ended(by.clone(), deed.to_string(), now)),
        Ending::Merged
        | Ending::MergedLeftOpen
        | Ending::Closed
        | Ending::Unlabeled
        | Ending::Withdrawn
        | Ending::Gone
        | Ending::Concluded => {}
    }
    if ending.is_a_merge() {
        record.pull.merged_at = Some(now);
    } else {
        record.taught = Taught::default();
    }
    format!("finished: {ending}")
}

fn block(record: &mut Record, reason: BlockReason, now: Timestamp) -> String {
    let blocked = reason.blocked(now);
    if !matches!(reason, BlockReason::ServiceDown { .. }) {
        record.failure.outage = None;
    }
    match reason {
        BlockReason::ApprovalNeeded(proposed) => record.approval.waits = Some(proposed),
        BlockReason::PlanProposed { plan, .. } => {
            record.approval.plan = PlanLog { proposed: Some(*plan), ..PlanLog::default() };
        }
        BlockReason::PersonPushed { branch, tip, .. } => {
            (record.work.branch, record.work.accepted) = (Some(Branch { name: branch, pushed: true }), Some(tip));
        }
        BlockReason::Question { .. }
        | BlockReason::ChecksFailed { .. }
        | BlockReason::RedBase { .. }
        | BlockReason::MergeConflict { .. }
        | BlockReason::NoChanges { .. }
        | BlockReason::AgentFailed { .. }
        | BlockReason::AttemptsUsedUp { .. }
        | BlockReason::ServiceDown { .. }
        | BlockReason::AttemptsFailed { .. }
        | BlockReason::AttemptBudget { .. }
        | BlockReason::IssueBudget { .. }
        | BlockReason::PolicyViolated(_)
        | BlockReason::PushRefused { .. }
        | BlockReason::SetUpNeeded { .. }
        | BlockReason::LedgerLost
        | BlockReason::EditedMeanwhile
        | BlockReason::Rejected(_)
        | BlockReason::NoProgress { .. }
        | BlockReason::RoundChangedNothing { .. }
        | BlockReason::RoundsUsedUp { .. }
        | BlockReason::WorkerDied => {}
    }
    let sentence = format!("blocked: {}", blocked.in_a_line());
    record.blocked = Some(blocked);
    sentence
}

fn note_checks(record: &mut Record, notes: CheckNotes) -> String {
    let says = notes.says();
    record.review.told = notes;
    says
}

fn publish(record: &mut Record, head: Sha, pull: PullNumber, proof: Option<Box<Proof>>, due: Due) -> String {
    let sentence = if record.review.is_under_way() {
        let does = if record.review.is_unchanged(&head) { "changed no file" } else { "is done" };
        format!("round {} in review {does}: {}", record.review.begun, events_in_words(&record.review.round))
    } else {
        format!("opened the pull request {pull}")
    };
    record.review.end(&head);
    (record.review.answers, record.review.asks) = (due.answers, due.asks);
    if let Some(status) = due.status {
        record.pull.owes(status);
    }
    record.failure.outage = None;
    record.work.findings.clear();
    record.work.head = Some(head);
    keep_proof(record, proof);
    record.work.push_branch();
    record.failure.text = None;
    sentence
}

fn rework(record: &mut Record, events: Vec<ReviewEvent>, head: Sha, now: Timestamp) -> String {
    let what = events_in_words(&events);
    // The branch is what people reviewed, including their own commits.
    record.work.accepted = Some(head.clone());
    record.review.begin(events, head);
    record.chain.begin_anew();
    (record.attempts.now, record.failure.outage, record.failure.text, record.answer) = (0, None, None, None);
    record.failure.stopped = None;
    start_attempt(record, now);
    format!(
        "round {} in review: {what}; claimed by {}, generation {}",
        record.review.begun,
        holder(record),
        record.generation
    )
}

/// Keeps the proof of the published head.
fn keep_proof(record: &mut Record, proof: Option<Box<Proof>>) {
    if let Some(proof) = proof {
        (record.work.checks, record.work.proof) = (proof.tally(), Some(proof));
    }
}

fn ask_for(record: &mut Record, request: Request) -> String {
    let sentence = format!("{} asked to {} the work", request.by, request.control.verb());
    record.control = Some(request.into());
    sentence
}

fn pause_work(record: &mut Record, pause: Pause) -> String {
    if !record.has_ended() {
        record.attempts.uncount();
    }
    let sentence = format!("paused by {}", pause.by);
    record.control = Some(pause.into());
    sentence
}

fn requeue_until(record: &mut Record, what: &str, failure: String, until: Timestamp) -> String {
    let sentence = format!("{what} after {}: {}", until.format("%H:%M:%S UTC"), failure_line(&failure));
    (record.failure.until, record.failure.text) = (Some(until), Some(failure));
    sentence
}

fn rebuild(record: &mut Record, traces: Traces, now: Timestamp) -> String {
    record.blocked = (traces.state() == State::Blocked).then(|| BlockReason::LedgerLost.blocked(now));
    record.comments.status = traces.comment;
    record.work.branch = traces.branch.map(|name| Branch { name, pushed: true });
    (record.pull.number, record.work.head) = traces.pull.unzip();
    // Answered events are neither worked on nor answered again.
    record.review.handled = traces.answered;
    "rebuilt: the ledger was deleted".to_owned()
}

/// Begins the next attempt at an issue.
fn start_attempt(record: &mut Record, now: Timestamp) {
    record.attempts.begin();
    record.since = Since { at: now, generation: record.generation };
    record.failure.until = None;
    (record.refused, record.blocked, record.approval.waits, record.work.checklist) = (None, None, None, None);
    record.work.with_people.take_if(|with| matches!(with, WithPeople::Waits(_)));
}

/// The record of a finished issue that is asked for again: it keeps the spend but not the work.
fn asked_for_again(old: &Record) -> Record {
    Record {
        attempts: Attempts { now: 0, ..old.attempts },
        review: ReviewLog::default(),
        failure: Failure::default(),
        approval: Approval::default(),
        answer: None,
        work: Work::default(),
        pull: PullLog::default(),
        session: None,
        trigger: None,
        route: None,
        comments: OwnComments { report: None, ..old.comments },
        chain: HandOffLog::default(),
        taught: Taught::default(),
        control: None,
        ..old.clone()
    }
}
