//! The state machine: every change of an issue's record is a [`Transition`], and only [`apply`] makes or refuses one.
//!
//! # Flow
//! A worker acquires the lease with a transition, makes more of them while it holds the lease, and releases the lease
//! with or without a last one. Each transition is one commit of the ledger, with its sentence as the commit's subject.
//!
//! # Guarantees
//! [`apply`] is total and pure: the same record, transition and time give the same result. The model check explores it, not a copy.

use crate::{
    AskedComment, AskedSignOff, AutoChoice, BaseChoice, BlockReason, CheckNotes, Checklist, ChosenAgent, ChosenBy,
    CommentId, DraftLog, Due, Ending, Finding, Generation, HandOffLog, Introduced, LabelChange, Lessons, Login,
    NotifyEvent, Outage, PassedOn, Pause, PersonsWork, Proof, ProofAsked, ProofStatus, PullNumber, Quote, Receipt,
    Record, Recovery, Refusal, Remarks, Request, ReviewEvent, RouteChoice, RunId, RunPurpose, SaidId, SetBudget, Sha,
    Since, Spend, State, Timestamp, Traces, Trigger, Unblocking, WorkedBy, WorkerId, change::finding::kept,
};

/// One change of an issue's record.
#[derive(Debug, Clone, PartialEq)]
pub enum Transition {
    /// An attempt begins at a free issue, or at a finished one that was asked for again.
    Claim {
        /// What set the work off.
        trigger: Trigger,
    },
    /// The lease of a worker that died is taken over.
    TakeOver {
        /// How the work continues.
        recovery: Recovery,
        /// The worker that died, if the ledger names it.
        from: Option<WorkerId>,
    },
    /// A blocked issue was answered, and an attempt begins at once.
    Continue(Unblocking),
    /// A blocked issue was answered: the next free worker takes it.
    Unblock(Unblocking),
    /// The trigger's actor is not authorized.
    Refuse(Refusal),
    /// The refusal is on the issue; what happens there from now on is news.
    RefusalShown,
    /// People have begun something on the issue: it waits for that.
    WaitForPeople(Vec<PersonsWork>),
    /// The agent starts.
    StartAgent {
        /// The name under which it works: the profile's, or the agent's.
        agent: String,
        /// The agent of the settings, and its model.
        by: WorkedBy,
        /// What its runs are for.
        purpose: RunPurpose,
        /// The branch.
        branch: String,
        /// The session of its runs.
        session: RunId,
    },
    /// Another candidate of the work begins, or one is chosen: the session of its runs, and what came of the candidates so far.
    Candidate(RunId, String),
    /// A run ended, and what it spent is written.
    RecordSpend(Spend),
    /// One profile hands the work off to another.
    HandOff(Box<PassedOn>),
    /// Adds what an earlier attempt spent and could not record at the time.
    AddSpend {
        /// The generation of its lease.
        generation: Generation,
        /// The part of it that the ledger lacks.
        spend: Spend,
    },
    /// The pull request is open.
    Publish {
        /// The branch's tip.
        head: Sha,
        /// The pull request.
        pull: PullNumber,
        /// Its proof. `None` if the record has it already.
        proof: Option<Box<Proof>>,
        /// What a round in review has to tell people.
        due: Box<Due>,
    },
    /// A person is needed.
    Block(BlockReason),
    /// A transient failure: the issue is requeued for a later attempt.
    Retry {
        /// How the attempt failed.
        failure: String,
        /// No attempt begins before this time.
        until: Timestamp,
    },
    /// What failed is not the attempt's fault, such as a model's quota or the forge: the issue is requeued for later,
    /// and the attempt does not count.
    Postpone {
        /// What failed.
        failure: String,
        /// No attempt begins before this time.
        until: Timestamp,
    },
    /// The attempt was cut short: the issue is requeued, and the attempt does not count.
    Requeue {
        /// Why.
        reason: String,
    },
    /// The holder of the lease, or the next one, is asked to pause or end the work.
    Request(Request),
    /// The issue is left alone until it is resumed; an attempt under way does not count.
    Pause(Pause),
    /// A paused issue may continue.
    Resume {
        /// Who resumed it.
        by: Login,
    },
    /// Something happened on the pull request, and a round of work on it begins.
    Rework {
        /// What the round answers.
        events: Vec<ReviewEvent>,
        /// The head that it begins at.
        head: Sha,
    },
    /// Failed checks of the forge run once more before a round begins.
    Rerun {
        /// The checks that failed.
        failed: Vec<ReviewEvent>,
    },
    /// A command in a comment takes effect, and its comment gets this receipt.
    Follow {
        /// The receipt.
        receipt: Receipt,
        /// The effect.
        then: Box<Self>,
    },
    /// A command chooses the agent of the next attempts.
    ChooseAgent(ChosenAgent),
    /// A command sets the issue's budget in money.
    SetBudget {
        /// The budget.
        budget: SetBudget,
        /// What happens to the issue.
        then: AfterBudget,
    },
    /// A command asks for a plan before the work.
    RequestPlan {
        /// Who asked.
        by: Login,
    },
    /// A command asks for a person's sign-off on the pull request's commits.
    SignOff(AskedSignOff),
    /// The sign-off is over.
    SignedOff {
        /// Who signed them off.
        by: Login,
        /// The branch's tip, if its commits were made again.
        head: Option<Sha>,
    },
    /// The proof of the open pull request is to be made again.
    AskProof(ProofAsked),
    /// Ends the wait before the next attempt.
    RetryNow {
        /// Who asked.
        by: Login,
    },
    /// A comment on the issue came while an agent worked: the next brief has it.
    Overhear(CommentId),
    /// People were told on this pull request how to talk to Hob.
    Hint(PullNumber),
    /// The pull request was closed without a merge.
    Reject(PullNumber),
    /// The pull request is open again.
    ReturnToReview(PullNumber),
    /// The ledger was deleted and is rebuilt from other traces.
    Rebuild(Traces),
    /// The work is over.
    Finish(Ending),
    /// People are told of failed checks on the head that start no round.
    NoteChecks(CheckNotes),
    /// The labels are made to match the ledger again.
    RepairLabels(Vec<LabelChange>),
    /// Others undid these label repairs each time; Hob does not repeat them for a day.
    GiveUpLabels(Vec<LabelChange>),
    /// Only the holder changes: comment and labels are brought up to date under the lease.
    Reconcile {
        /// What is brought up to date.
        what: String,
    },
}

/// What happens to an issue whose budget is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterBudget {
    /// It keeps its state.
    Stay,
    /// It was blocked because its budget was used up, and is requeued.
    Requeue,
}

/// A transition that has no meaning in the record's state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the transition `{transition}` does not apply to an issue that is {state}")]
pub struct Illegal {
    /// The issue's state.
    pub state: State,
    /// The transition's name.
    pub transition: &'static str,
}

/// Something that the lease's holder learned; it is written with the next transition or renewal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// The one status comment.
    StatusComment(CommentId),
    /// What a run spent since the last note.
    Spend(Spend),
    /// The bill that the attempt may reach before the next note of this kind is written.
    MayReach(Spend),
    /// Work that passed its checks, so that the next attempt need not repeat it.
    Proven(Sha),
    /// How the attempt failed and on what work, as one hash.
    Failure(String),
    /// The branch is on the forge.
    Pushed,
    /// This has its receipt.
    Receipted(SaidId),
    /// Commands were looked for when the issue had this many comments.
    Looked(u64),
    /// Hob wrote a comment on the issue.
    Commented,
    /// An agent that begins has the comments on the issue up to this one in its brief.
    Briefed(CommentId),
    /// An agent has read these comments, which its first brief does not have.
    Heard(Vec<CommentId>),
    /// A service failed the attempt.
    Outage(Outage),
    /// A person was told the question, in this comment. `None` if there was nobody to tell.
    Told(Option<CommentId>),
    /// This comment no longer reads as if its question were open.
    Closed(CommentId),
    /// An approval is about to be requested, and this is the newest comment.
    Asks(CommentId),
    /// How far the agent got with its own checklist when its run ended.
    Checklist(Checklist),
    /// What a reviewer found in the work that must not be merged.
    Found(Vec<Finding>),
    /// A notification was sent, or given up.
    Notified(NotifyEvent),
    /// The branch that the work goes to.
    Base(BaseChoice),
    /// The pull request is a draft until its checks are green.
    OpenedDraft(PullNumber),
    /// The pull request is no longer Hob's draft.
    MarkedReady(PullNumber),
    /// The commit status of a head.
    ProofStatus(ProofStatus),
    /// The proof was made again, or cannot be made.
    ProofAnswered,
    /// People have what the last round had to tell them.
    RoundAnswered,
    /// The pull request has its labels and reviewers.
    Introduced(Introduced),
    /// Which profile works on the issue.
    Routed(RouteChoice),
    /// Which agent the outcomes of earlier issues speak for.
    AgentChosen(AutoChoice),
    /// What the work will probably cost.
    Quoted(Quote),
    /// The comment with the investigation's report.
    Reported(CommentId),
    /// What the work showed of the repository.
    Learned(Lessons),
    /// What maintainers corrected in its pull request.
    Remarked(Remarks),
}

/// Makes a transition: returns the next record, and the sentence for the ledger.
///
/// # Errors
/// [`Illegal`] if the transition has no meaning in the record's state.
pub fn apply(record: &Record, transition: Transition, now: Timestamp) -> Result<(Record, String), Illegal> {
    let Some(state) = transition.leads_to(record) else {
        return Err(Illegal { state: record.state, transition: transition.name() });
    };
    let mut next = record.clone();
    let sentence = transition.change(&mut next, now);
    next.state = state;
    next.approval.plan.under_way &= state == State::InProgress;
    if state != record.state {
        next.label_fights.begin_anew();
        next.told.retain(|event| !event.is_of_a_state());
        if (record.state, state) != (State::Assigned, State::InProgress) {
            next.since = Since { at: now, generation: next.generation };
        }
    }
    Ok((next, sentence))
}

impl Record {
    /// An agent has these unread words. They belong to the round under way: a worker that takes it over has to know them.
    fn heard(&mut self, is_heard: impl Fn(&CommentId) -> bool) {
        let (heard, unread): (Vec<_>, Vec<_>) = self.commands.unread.drain(..).partition(is_heard);
        self.commands.unread = unread;
        if self.review.is_under_way() {
            self.review.join(heard.into_iter().map(|comment| ReviewEvent::Comment(comment.0)));
        }
    }

    /// Adds what the holder of the lease learned.
    pub fn note(&mut self, note: Note) {
        match note {
            Note::StatusComment(id) => self.comments.status = Some(id),
            Note::Spend(spend) => self.spend = self.spend + spend,
            Note::MayReach(bill) => self.lease.iter_mut().for_each(|lease| lease.may_reach = Some(bill)),
            Note::Proven(head) => self.work.head = Some(head),
            Note::Failure(mark) => self.failure.mark = Some(mark),
            Note::Looked(comments) => self.commands.comments = Some(comments),
            Note::Commented => {
                self.commands.comments = self.commands.comments.map(|comments| comments.saturating_add(1))
            }
            Note::Briefed(newest) => {
                self.commands.briefed = Some(newest);
                self.heard(|unread| *unread <= newest);
            }
            Note::Heard(heard) => self.heard(|unread| heard.contains(unread)),
            Note::Base(base) => self.work.base = Some(base),
            Note::Routed(route) => {
                // The previous profile's hand-off does not apply to a new one, unless an investigation led to it.
                let is_another = self.route.as_ref().is_some_and(|before| before.profile != route.profile);
                // If the router switches profiles, the chain continues.
                if is_another && !self.is_handed_on() && route.by != ChosenBy::Router {
                    self.chain = HandOffLog::default();
                }
                self.route = Some(route);
            }
            Note::AgentChosen(choice) => self.work.auto = Some(choice),
            Note::Quoted(quote) => self.work.quote = Some(quote),
            Note::Reported(comment) => self.comments.report = Some(comment),
            Note::Learned(lessons) => self.taught.facts = lessons,
            Note::Remarked(remarks) => self.taught.remarks = remarks,
            Note::Introduced(introduced) => self.pull.introduced = Some(introduced),
            Note::ProofStatus(status) => self.pull.note_proof(status),
            Note::ProofAnswered => self.pull.prove = None,
            Note::RoundAnswered => self.review.answered(),
            Note::OpenedDraft(pull) => self.pull.opened_draft(pull),
            Note::MarkedReady(pull) => self.pull.draft = Some(DraftLog { pull, ready: true }),
            Note::Outage(outage) => self.failure.outage = Some(outage),
            Note::Pushed => self.work.push_branch(),
            Note::Checklist(checklist) => self.work.checklist = Some(checklist),
            Note::Found(findings) => self.work.findings = kept(findings),
            Note::Told(comment) => {
                if let Some(blocked) = self.blocked.as_mut() {
                    blocked.told = true;
                    self.comments.asked = comment.map(|id| AskedComment { id, answered: false });
                }
            }
            Note::Closed(comment) => self.comments.asked = self.comments.asked.filter(|asked| asked.id != comment),
            Note::Asks(newest) => {
                if let Some(blocked) = self.blocked.as_mut() {
                    blocked.after = Some(newest);
                }
            }
            Note::Notified(event) => {
                let is_of_another = event.is_of_a_state() && NotifyEvent::for_state(self.state) != Some(event);
                if !is_of_another && !self.told.contains(&event) {
                    self.told.push(event);
                }
            }
            Note::Receipted(said) => self.commands.receipts.retain(|receipt| receipt.to() != said),
        }
    }
}

impl Transition {
    /// The transition's name, for logs and errors.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Claim { .. } => "claim",
            Self::TakeOver { .. } => "take over",
            Self::Continue(_) => "continue",
            Self::Unblock(_) => "unblock",
            Self::Refuse(_) => "refuse",
            Self::RefusalShown => "refusal shown",
            Self::WaitForPeople(_) => "wait for people",
            Self::StartAgent { .. } => "start agent",
            Self::Candidate(..) => "candidate",
            Self::RecordSpend(_) => "record spend",
            Self::HandOff(_) => "hand off",
            Self::AddSpend { .. } => "add spend",
            Self::Publish { .. } => "publish",
            Self::Block(_) => "block",
            Self::Retry { .. } => "retry",
            Self::Postpone { .. } => "postpone",
            Self::Requeue { .. } => "requeue",
            Self::Request(_) => "request",
            Self::Pause(_) => "pause",
            Self::Resume { .. } => "resume",
            Self::Rework { .. } => "rework",
            Self::Rerun { .. } => "rerun",
            Self::Follow { .. } => "follow",
            Self::ChooseAgent(_) => "choose agent",
            Self::SetBudget { .. } => "set budget",
            Self::RequestPlan { .. } => "request plan",
            Self::SignOff(_) => "sign off",
            Self::SignedOff { .. } => "signed off",
            Self::AskProof(_) => "ask for the proof",
            Self::RetryNow { .. } => "retry now",
            Self::Overhear(_) => "overhear",
            Self::Hint(_) => "hint",
            Self::Reject(_) => "reject",
            Self::ReturnToReview(_) => "return to review",
            Self::Rebuild(_) => "rebuild",
            Self::Finish(_) => "finish",
            Self::RepairLabels(_) => "repair labels",
            Self::GiveUpLabels(_) => "give up labels",
            Self::Reconcile { .. } => "reconcile",
            Self::NoteChecks(_) => "note checks",
        }
    }

    /// This transition, which also gives these receipts.
    #[must_use]
    pub fn following(self, receipts: Vec<Receipt>) -> Self {
        receipts.into_iter().rfold(self, |then, receipt| Self::Follow { receipt, then: Box::new(then) })
    }

    /// Whether it unblocks an issue.
    pub(crate) fn is_an_answer(&self) -> bool {
        let mut effect = self;
        while let Self::Follow { then, .. } = effect {
            effect = then;
        }
        matches!(effect, Self::Continue(_) | Self::Unblock(_))
    }

    /// The state that the transition leads to. `None` if it does not apply to the record.
    fn leads_to(&self, record: &Record) -> Option<State> {
        use State::{Assigned, Blocked, Done, InProgress, InReview, Ready};
        let state = record.state;
        let working = matches!(state, Assigned | InProgress);
        // The ledger says that a pull request is open but does not name it, so the work starts over.
        let lost_its_pull = state == InReview && record.pull.number.is_none();
        match self {
            Self::Claim { .. } => matches!(state, Ready | Done).then_some(Assigned),
            Self::TakeOver { recovery: Recovery::Resume, .. } => (working || lost_its_pull).then_some(Assigned),
            Self::TakeOver { recovery: Recovery::Block, .. } => working.then_some(Blocked),
            Self::TakeOver { recovery: Recovery::Abandon, .. } => working.then_some(Ready),
            Self::Continue(_) => (state == Blocked).then_some(Assigned),
            Self::Unblock(_) => (state == Blocked).then_some(Ready),
            Self::Refuse(_) | Self::WaitForPeople(_) => matches!(state, Ready | Done).then_some(Ready),
            Self::RefusalShown => (state == Ready && record.refused.is_some()).then_some(Ready),
            Self::StartAgent { .. } => (state == Assigned).then_some(InProgress),
            Self::Candidate(..) => (state == InProgress).then_some(state),
            Self::RecordSpend(_) => working.then_some(state),
            // Hob may only switch profiles before any agent works.
            Self::HandOff(passed) if passed.received.switched => (state == Assigned).then_some(state),
            Self::HandOff(_) => (state == InProgress && !record.chain.is_full()).then_some(state),
            Self::Publish { .. } => (state == InProgress).then_some(InReview),
            Self::Block(_) => working.then_some(Blocked),
            Self::Retry { .. } | Self::Postpone { .. } | Self::Requeue { .. } => working.then_some(Ready),
            Self::Pause(_) => (state != Done).then_some(if working { Ready } else { state }),
            Self::Resume { .. } => (record.pause().is_some() || record.asks_for_a_pause()).then_some(state),
            Self::Rework { .. } => (state == InReview && record.pull.number.is_some()).then_some(Assigned),
            Self::AskProof(_) => (state == InReview && record.pull.number.is_some()).then_some(InReview),
            Self::Rerun { .. } | Self::NoteChecks(_) | Self::SignOff(_) | Self::SignedOff { .. } => {
                (state == InReview).then_some(InReview)
            }
            Self::Follow { then, .. } => then.leads_to(record),
            Self::ChooseAgent(_) | Self::RequestPlan { .. } => (state != Done).then_some(state),
            Self::SetBudget { then: AfterBudget::Stay, .. } => (state != Done).then_some(state),
            Self::SetBudget { then: AfterBudget::Requeue, .. } => (state == Blocked).then_some(Ready),
            Self::RetryNow { .. } => (state == Ready).then_some(Ready),
            Self::Overhear(_) => matches!(state, Assigned | InProgress | InReview).then_some(state),
            Self::Hint(_) => (state != Done && record.pull.number.is_some()).then_some(state),
            Self::Reject(_) => (state == InReview).then_some(Blocked),
            Self::ReturnToReview(_) => matches!(state, Blocked | Done).then_some(InReview),
            Self::Rebuild(traces) => (record.generation.0 <= 1 && state == Ready).then_some(traces.state()),
            Self::Finish(_) => (state != Done).then_some(Done),
            Self::AddSpend { .. }
            | Self::Request(_)
            | Self::RepairLabels(_)
            | Self::GiveUpLabels(_)
            | Self::Reconcile { .. } => Some(state),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{
        Answer, ApprovalGrant, Attempts, Branch, Control, EventAnswer, EventId, HandOff, Lesson, Nonce, PullLog,
        Received, Remark, SaidIn, StopDeed, Taught, Work,
        checklist::tests::checklist,
        issue::{blocked::tests::every_reason, lease::tests::record_at},
        released,
    };

    fn now() -> Timestamp {
        Timestamp::from_timestamp(1_000, 0).unwrap()
    }

    fn by_native() -> WorkedBy {
        WorkedBy { agent: "native".to_owned(), model: None }
    }

    fn trigger(event: u64, approved: &str) -> Trigger {
        Trigger {
            event: EventId(event),
            actor: "ann".into(),
            approved: approved.to_owned(),
            at: None,
            labels: Vec::new(),
        }
    }

    fn unblocking(grant: ApprovalGrant) -> Unblocking {
        let answer = Answer {
            actor: "ann".into(),
            text: "use UTC".to_owned(),
            question: None,
            comment: Some(CommentId(5)),
            event: None,
        };
        Unblocking { answer, grant, approved: "new".to_owned() }
    }

    fn refusal() -> Refusal {
        Refusal { event: None, actor: None, reason: "no".to_owned(), at: Timestamp::UNIX_EPOCH }
    }

    fn failed_check() -> ReviewEvent {
        ReviewEvent::Check { head: Sha("h".to_owned()), name: "test".to_owned() }
    }

    fn passed_on(from: &str, to: &str) -> PassedOn {
        let hand_off = HandOff { reason: "needs\na cloud".to_owned(), ..HandOff::default() };
        let received = Received { from: from.parse().unwrap(), to: to.parse().unwrap(), hand_off, switched: false };
        let (head, session) = (Sha("h".to_owned()), RunId("s2".to_owned()));
        PassedOn { received, percent: Some(80), spend: Spend::default(), head, session }
    }

    fn switched(from: &str, to: &str) -> PassedOn {
        let passed = passed_on(from, to);
        PassedOn { received: Received { switched: true, ..passed.received }, ..passed }
    }

    fn pause() -> Pause {
        Pause { by: "ann".into(), since: now(), reason: String::new() }
    }

    fn traces(pull: bool, was_blocked: bool) -> Traces {
        let pull = pull.then(|| (PullNumber(9), Sha("a".to_owned())));
        Traces { comment: Some(CommentId(1)), branch: None, pull, answered: Vec::new(), was_blocked }
    }

    fn publish(due: Due) -> Transition {
        Transition::Publish { head: Sha("i".to_owned()), pull: PullNumber(9), proof: None, due: Box::new(due) }
    }

    /// Every transition with the states it applies to and the state each leads to; it refuses all others.
    pub(crate) fn table() -> Vec<(Transition, Vec<(State, State)>)> {
        use State::{Assigned, Blocked, Done, InProgress, InReview, Ready};
        let same = |states: &[State]| states.iter().map(|state| (*state, *state)).collect::<Vec<_>>();
        let to = |states: &[State], end: State| states.iter().map(|state| (*state, end)).collect::<Vec<_>>();
        let working = [Assigned, InProgress];
        let take_over = |recovery| Transition::TakeOver { recovery, from: None };
        let failure = || "no".to_owned();
        let request = Request { control: Control::Pause, by: "ann".into(), at: now(), reason: String::new() };
        let receipt = Receipt {
            comment: CommentId(5),
            said_in: SaidIn::Comment,
            pull: None,
            verdict: crate::CommandVerdict::Followed,
            says: None,
        };
        let follow = |then| Transition::Follow { receipt: receipt.clone(), then: Box::new(then) };
        let mut table = vec![
            (Transition::Claim { trigger: trigger(1, "x") }, to(&[Ready, Done], Assigned)),
            (take_over(Recovery::Resume), to(&[Assigned, InProgress, InReview], Assigned)),
            (take_over(Recovery::Block), to(&working, Blocked)),
            (take_over(Recovery::Abandon), to(&working, Ready)),
            (Transition::Continue(unblocking(ApprovalGrant::Nothing)), to(&[Blocked], Assigned)),
            (Transition::Unblock(unblocking(ApprovalGrant::Nothing)), to(&[Blocked], Ready)),
            (Transition::Refuse(refusal()), to(&[Ready, Done], Ready)),
            (Transition::WaitForPeople(vec![PersonsWork::Branch("x".to_owned())]), to(&[Ready, Done], Ready)),
            (
                Transition::StartAgent {
                    agent: "native".to_owned(),
                    by: by_native(),
                    purpose: RunPurpose::Work,
                    branch: "hob/1".to_owned(),
                    session: RunId("s".to_owned()),
                },
                to(&[Assigned], InProgress),
            ),
            (Transition::Candidate(RunId("s-c2".to_owned()), failure()), same(&[InProgress])),
            (Transition::RecordSpend(Spend::default()), same(&working)),
            (Transition::HandOff(Box::new(passed_on("dns", "cloud"))), same(&[InProgress])),
            (Transition::HandOff(Box::new(switched("dns", "cloud"))), same(&[Assigned])),
            (Transition::AddSpend { generation: Generation(1), spend: Spend::default() }, same(&State::ALL)),
            (publish(Due::default()), to(&[InProgress], InReview)),
            (Transition::Retry { failure: failure(), until: now() }, to(&working, Ready)),
            (Transition::Postpone { failure: failure(), until: now() }, to(&working, Ready)),
            (Transition::Requeue { reason: failure() }, to(&working, Ready)),
            (Transition::Request(request), same(&State::ALL)),
            (
                Transition::Pause(pause()),
                [to(&[Ready, Assigned, InProgress], Ready), same(&[InReview, Blocked])].concat(),
            ),
            (Transition::RetryNow { by: "ann".into() }, same(&[Ready])),
            (Transition::SignOff(AskedSignOff { by: "ann".into(), receipt: receipt.clone() }), same(&[InReview])),
            (Transition::SignedOff { by: "ann".into(), head: Some(Sha("h".to_owned())) }, same(&[InReview])),
            (Transition::Overhear(CommentId(5)), same(&[Assigned, InProgress, InReview])),
            (follow(Transition::RetryNow { by: "bob".into() }), same(&[Ready])),
            (Transition::Reject(PullNumber(9)), to(&[InReview], Blocked)),
            (Transition::ReturnToReview(PullNumber(9)), to(&[Blocked, Done], InReview)),
            (Transition::Rebuild(traces(false, false)), to(&[Ready], Ready)),
            (Transition::Rebuild(traces(false, true)), to(&[Ready], Blocked)),
            (Transition::Rebuild(traces(true, true)), to(&[Ready], InReview)),
            (Transition::Finish(Ending::Closed), to(&[Ready, Assigned, InProgress, InReview, Blocked], Done)),
            (Transition::RepairLabels(vec![LabelChange::Add("in-review".to_owned())]), same(&State::ALL)),
            (Transition::GiveUpLabels(vec![LabelChange::Add("in-review".to_owned())]), same(&State::ALL)),
            (Transition::Reconcile { what: failure() }, same(&State::ALL)),
            // These depend on more than the state; the tests below cover them.
            (Transition::AskProof(ProofAsked::default()), Vec::new()),
            (Transition::Rework { events: Vec::new(), head: Sha("h".to_owned()) }, Vec::new()),
            (Transition::Rerun { failed: vec![failed_check()] }, vec![(InReview, InReview)]),
            (
                Transition::NoteChecks(CheckNotes { red_on_base: vec!["lint".to_owned()], ..CheckNotes::default() }),
                same(&[InReview]),
            ),
            (Transition::RefusalShown, Vec::new()),
            (Transition::Resume { by: "ann".into() }, Vec::new()),
        ];
        table.extend(every_reason().into_iter().map(|reason| (Transition::Block(reason), to(&working, Blocked))));
        table
    }

    #[test]
    fn every_transition_meets_every_state_as_the_table_says() {
        for (transition, rows) in table() {
            for state in State::ALL {
                let expected = rows.iter().find(|(from, _)| *from == state).map(|(_, to)| *to);
                let applied = apply(&record_at(state), transition.clone(), now());
                let refused = Illegal { state, transition: transition.name() };
                match expected {
                    Some(to) => assert_eq!(applied.unwrap().0.state, to, "{state} after {transition:?}"),
                    None => assert_eq!(applied.unwrap_err(), refused, "{transition:?}"),
                }
            }
        }
    }

    /// The lessons of published work are kept only if it is merged.
    #[test]
    fn what_work_showed_counts_once_it_is_merged_and_not_otherwise() {
        let facts = Lessons::default().and(Lesson::flaky("make test").unwrap());
        let said = Remark::new(ReviewEvent::Line(1), "ann".into(), PullNumber(9), "Error messages in lower case");
        let remarks = Remarks::default().and(said.unwrap());
        let record = Record { taught: Taught { facts, remarks }, ..record_at(State::InReview) };
        let keeps = |transition| {
            let after = apply(&record, transition, now()).unwrap().0;
            assert_eq!(after.taught.facts.is_empty(), after.taught.remarks.is_empty());
            !after.taught.is_empty()
        };
        for ending in [Ending::Merged, Ending::MergedLeftOpen] {
            assert!(keeps(Transition::Finish(ending.clone())), "{ending}");
        }
        let stopped = Ending::Stopped { by: "ann".into(), deed: StopDeed::LabelOff("code".to_owned()) };
        for ending in [Ending::Closed, Ending::Unlabeled, Ending::Gone, Ending::Terminated("ann".into()), stopped] {
            assert!(!keeps(Transition::Finish(ending.clone())), "{ending}");
        }
        assert!(!keeps(Transition::Reject(PullNumber(9))));
    }

    #[test]
    fn every_transition_has_its_sentence() {
        let mut told = std::collections::BTreeMap::new();
        for (transition, rows) in table() {
            let Some((from, _)) = rows.first() else { continue };
            let (_, sentence) = apply(&record_at(*from), transition.clone(), now()).unwrap();
            assert!(!sentence.is_empty(), "{transition:?}");
            told.entry(transition.name()).or_insert(sentence);
        }
        let told: Vec<String> = told.into_iter().map(|(name, sentence)| format!("{name} | {sentence}")).collect();
        insta::assert_snapshot!(told.join("\n"), @"
        add spend | added what the attempt of generation 1 spent: 0 s
        block | blocked: The agent needs an answer before it can continue. UTC or local?
        candidate | no
        claim | claimed by w, generation 1
        continue | unblocked by ann; claimed by w, generation 1
        finish | finished: the issue was closed
        follow | bob asked to try again now
        give up labels | no longer repairs the labels, which others change back each time: in-review
        hand off | `dns` handed off to `cloud`: needs a cloud
        note checks | the check `lint` fails on the base, too
        overhear | a comment came that an agent has to read
        pause | paused by ann
        postpone | postponed, work resumes after 00:16:40 UTC: no
        publish | opened the pull request 9
        rebuild | rebuilt: the ledger was deleted
        reconcile | no
        record spend | the agent spent 0 s
        refuse | refused: no
        reject | the pull request 9 was closed without a merge
        repair labels | repaired the labels: in-review
        request | ann asked to pause the work
        requeue | requeued: no
        rerun | failed jobs run once more: the check `test` failed
        retry | attempt 1 failed, the next starts after 00:16:40 UTC: no
        retry now | ann asked to try again now
        return to review | the pull request 9 is open again
        sign off | ann signs the commits off
        signed off | the commits were signed off by ann: h
        start agent | the agent `native` started on `hob/1`
        take over | taken over from a worker that stopped by w, generation 1
        unblock | unblocked by ann
        wait for people | waits: the branch `x` is linked to this issue
        ");
    }

    #[test]
    fn nothing_but_the_transition_changes_who_holds_the_lease() {
        for (transition, rows) in table() {
            for (from, _) in rows {
                let record = record_at(from);
                let (next, _) = apply(&record, transition.clone(), now()).unwrap();
                let lease = |record: &Record| {
                    let Record { nonce, generation, lease, renewed_at, .. } = record.clone();
                    (nonce, generation, lease, renewed_at)
                };
                assert_eq!(lease(&next), lease(&record), "{transition:?}");
            }
        }
    }

    #[test]
    fn a_round_in_review_begins_is_answered_and_ends() {
        let head = || Sha("h".to_owned());
        let review = Record { pull: PullLog::of(PullNumber(9)), ..record_at(State::InReview) };
        let rework = Transition::Rework { events: vec![failed_check(), ReviewEvent::Line(7)], head: head() };
        let (begun, sentence) = apply(&review, rework, now()).unwrap();
        assert_eq!((begun.state, begun.attempts.now, begun.review.begun), (State::Assigned, 1, 1));
        assert_eq!((begun.review.rounds, begun.review.ci_rounds), (1, 1));
        assert!(sentence.starts_with("round 1 in review: 1 comment on lines, the check `test` failed;"), "{sentence}");
        let (agent, branch) = ("native".to_owned(), "hob/1".to_owned());
        let start = Transition::StartAgent {
            agent,
            by: by_native(),
            branch,
            session: RunId("r".to_owned()),
            purpose: RunPurpose::Work,
        };
        let (started, _) = apply(&begun, start, now()).unwrap();
        let answer =
            EventAnswer { to: ReviewEvent::Line(7), thread: Some(7), text: "Done.".to_owned(), resolves: true };
        let status = ProofStatus::pushed_after(Sha("i".to_owned()));
        let due = Due { status: Some(status.clone()), answers: vec![answer.clone()], asks: vec!["ann".into()] };
        let (mut ended, sentence) = apply(&started, publish(due), now()).unwrap();
        assert_eq!(sentence, "round 1 in review is done: 1 comment on lines, the check `test` failed");
        assert_eq!((ended.state, ended.review.round.len()), (State::InReview, 0));
        assert_eq!(ended.review.handled, [ReviewEvent::Line(7)], "the check was on a head that is gone");
        assert_eq!((ended.work.head.clone(), ended.review.answers.clone()), (Some(status.head.clone()), vec![answer]));
        assert_eq!(ended.pull.due_status(), Some(status.clone()));
        assert!(!ended.pull.shows(&status) && ended.review.is_unanswered());
        ended.note(Note::ProofStatus(status.clone()));
        ended.note(Note::RoundAnswered);
        assert!(ended.pull.shows(&status) && !ended.review.is_unanswered() && ended.pull.due_status().is_none());
    }

    /// Work that passed and was not published is published unchanged, unless the answer asks for something else.
    #[test]
    fn work_that_nobody_was_shown_is_what_an_answer_in_words_replaces() {
        let (seen, new) = (|| Sha("seen".to_owned()), || Sha("new".to_owned()));
        let published = Record {
            work: Work { head: Some(seen()), ..Work::default() },
            pull: PullLog::of(PullNumber(9)),
            ..record_at(State::InReview)
        };
        let rework = Transition::Rework { events: vec![ReviewEvent::Line(7)], head: seen() };
        let round = apply(&published, rework, now()).unwrap().0;
        let first = record_at(State::InProgress);
        for (begun, unpublished, seen) in [(first, None, None), (round, None, Some(seen()))] {
            assert_eq!(begun.unpublished(), unpublished);
            let mut proven = begun;
            proven.note(Note::Proven(new()));
            assert_eq!(proven.unpublished(), Some(&new()));
            let refused = BlockReason::PushRefused { failure: "a rule".to_owned() };
            let blocked = apply(&proven, Transition::Block(refused), now()).unwrap().0;
            let answered = apply(&blocked, Transition::Unblock(unblocking(ApprovalGrant::Nothing)), now()).unwrap().0;
            assert_eq!((answered.unpublished(), answered.work.head.clone()), (None, seen));
            let mut silent = unblocking(ApprovalGrant::Nothing);
            silent.answer.text.clear();
            let goes_on = apply(&blocked, Transition::Unblock(silent), now()).unwrap().0;
            assert_eq!(goes_on.unpublished(), Some(&new()));
        }
        assert_eq!(published.unpublished(), None);
    }

    #[test]
    fn only_what_was_paused_or_asked_to_pause_is_resumed() {
        let resume = || Transition::Resume { by: "ann".into() };
        for state in [State::Ready, State::InReview, State::Blocked] {
            let (paused, _) = apply(&record_at(state), Transition::Pause(pause()), now()).unwrap();
            let (resumed, _) = apply(&paused, resume(), now()).unwrap();
            assert_eq!((resumed.state, resumed.control), (state, None));
        }
        for (control, applies) in [(Control::Pause, true), (Control::Terminate, false)] {
            let request = Request { control, by: "ann".into(), at: now(), reason: String::new() };
            let (asked, _) = apply(&record_at(State::InProgress), Transition::Request(request), now()).unwrap();
            assert_eq!(apply(&asked, resume(), now()).is_ok(), applies);
        }
    }

    #[test]
    fn a_pause_does_not_count_the_attempt_under_way() {
        for (state, attempts) in [(State::InProgress, 0), (State::InReview, 1)] {
            let (paused, _) = apply(&record_at(state), Transition::Pause(pause()), now()).unwrap();
            assert_eq!(paused.attempts, Attempts { now: attempts, ever: attempts }, "{state}");
        }
    }

    #[test]
    fn a_refusal_is_shown_only_where_there_is_one() {
        assert!(apply(&record_at(State::Ready), Transition::RefusalShown, now()).is_err());
        let (refused, _) = apply(&record_at(State::Ready), Transition::Refuse(refusal()), now()).unwrap();
        let (shown, _) = apply(&refused, Transition::RefusalShown, now()).unwrap();
        assert_eq!(shown.refused.map(|refusal| refusal.at), Some(now()));
    }

    #[test]
    fn a_review_without_a_pull_request_starts_over_and_no_other() {
        let review = Record { pull: PullLog::of(PullNumber(9)), ..record_at(State::InReview) };
        let take_over = Transition::TakeOver { recovery: Recovery::Resume, from: None };
        assert!(apply(&review, take_over, now()).is_err());
    }

    #[test]
    fn only_a_first_record_is_rebuilt() {
        let later = Record { generation: crate::Generation(2), ..record_at(State::Ready) };
        assert!(apply(&later, Transition::Rebuild(traces(true, false)), now()).is_err());
        let (rebuilt, _) = apply(&record_at(State::Ready), Transition::Rebuild(traces(true, false)), now()).unwrap();
        assert_eq!(rebuilt.pull.number, Some(PullNumber(9)));
        assert_eq!(rebuilt.work.head, Some(Sha("a".to_owned())));
    }

    #[test]
    fn an_edit_between_two_attempts_for_one_event_shows() {
        let first = Record { trigger: Some(trigger(1, "old")), ..record_at(State::Ready) };
        for (event, approved) in [(1, "old"), (2, "new")] {
            let (claimed, _) = apply(&first, Transition::Claim { trigger: trigger(event, "new") }, now()).unwrap();
            assert_eq!(claimed.trigger.unwrap().approved, approved);
        }
    }

    #[test]
    fn an_issue_that_is_asked_for_again_keeps_its_bill_and_nothing_of_its_work() {
        let spend = Spend { usd_micros: 5, ..Spend::default() };
        let done = Record {
            spend,
            work: Work { branch: Some(Branch { name: "hob/1".to_owned(), pushed: true }), ..Work::default() },
            pull: PullLog::of(PullNumber(9)),
            attempts: Attempts { now: 3, ever: 7 },
            ..record_at(State::Done)
        };
        let (claimed, _) = apply(&done, Transition::Claim { trigger: trigger(1, "x") }, now()).unwrap();
        assert_eq!((claimed.attempts, claimed.spend), (Attempts { now: 1, ever: 8 }, spend));
        assert_eq!((claimed.work, claimed.pull), (Work::default(), PullLog::default()));
    }

    #[test]
    fn an_answer_resets_the_attempts_and_approves_what_the_person_saw() {
        let blocked = Record {
            attempts: Attempts { now: 3, ever: 3 },
            trigger: Some(trigger(1, "old")),
            blocked: Some(BlockReason::WorkerDied.blocked(now())),
            ..record_at(State::Blocked)
        };
        let (next, _) = apply(&blocked, Transition::Continue(unblocking(ApprovalGrant::Nothing)), now()).unwrap();
        assert_eq!((next.attempts, next.since.at), (Attempts { now: 1, ever: 4 }, now()));
        assert_eq!((next.trigger.unwrap().approved.as_str(), next.blocked), ("new", None));
        let (free, _) = apply(&blocked, Transition::Unblock(unblocking(ApprovalGrant::Nothing)), now()).unwrap();
        assert_eq!((free.attempts.now, free.blocked), (0, None));
        assert_eq!(free.answer.unwrap().comment, Some(CommentId(5)));
    }

    #[test]
    fn an_approval_allows_exactly_the_proposed_action() {
        let reason = every_reason().remove(1);
        let BlockReason::ApprovalNeeded(proposed) = reason.clone() else { panic!("{reason:?}") };
        let (blocked, _) = apply(&record_at(State::InProgress), Transition::Block(reason), now()).unwrap();
        assert_eq!(blocked.waiting_action(), Some(&proposed));
        for (grant, approved) in
            [(ApprovalGrant::ProposedAction, vec![proposed.mark()]), (ApprovalGrant::Nothing, Vec::new())]
        {
            let (next, _) = apply(&blocked, Transition::Continue(unblocking(grant)), now()).unwrap();
            assert_eq!((next.approval.given, next.approval.waits), (approved, None));
        }
    }

    #[test]
    fn a_plan_is_made_proposed_and_approved_as_it_stands() {
        let session = RunId("s".to_owned());
        let (agent, branch) = ("native".to_owned(), "hob/1".to_owned());
        let start = Transition::StartAgent { agent, by: by_native(), purpose: RunPurpose::Plan, branch, session };
        let assigned = Record { trigger: Some(trigger(1, "old")), ..record_at(State::Assigned) };
        let (planning, sentence) = apply(&assigned, start, now()).unwrap();
        assert_eq!((planning.approval.plan.under_way, sentence.as_str()), (true, "the agent `native` started to plan"));
        let stopped = apply(&planning, Transition::Requeue { reason: "no".to_owned() }, now()).unwrap().0;
        assert!(stopped.approval.plan.is_empty());

        let reason = every_reason().into_iter().find(|reason| matches!(reason, BlockReason::PlanProposed { .. }));
        let (proposed, _) = apply(&planning, Transition::Block(reason.unwrap()), now()).unwrap();
        assert_eq!((proposed.waiting_plan().is_some(), proposed.approval.plan.under_way), (true, false));
        for (grant, approved) in [(ApprovalGrant::Nothing, false), (ApprovalGrant::ProposedPlan, true)] {
            let (next, _) = apply(&proposed, Transition::Continue(unblocking(grant)), now()).unwrap();
            assert_eq!((next.approved_plan().is_some(), next.approval.plan.proposed.is_some()), (approved, true));
        }
        let (approved, sentence) =
            apply(&proposed, Transition::Unblock(unblocking(ApprovalGrant::ProposedPlan)), now()).unwrap();
        assert_eq!((approved.state, sentence.as_str()), (State::Ready, "the plan was approved by ann"));
        let (done, _) = apply(&approved, Transition::Finish(Ending::Closed), now()).unwrap();
        let (again, _) = apply(&done, Transition::Claim { trigger: trigger(2, "new") }, now()).unwrap();
        assert!(again.approval.plan.is_empty(), "a new request has a plan of its own");
    }

    #[test]
    fn a_branch_that_a_person_pushed_to_is_accepted_by_an_answer() {
        let reason = every_reason().into_iter().find(|reason| matches!(reason, BlockReason::PersonPushed { .. }));
        let (blocked, _) = apply(&record_at(State::Assigned), Transition::Block(reason.unwrap()), now()).unwrap();
        assert_eq!(blocked.work.accepted, Some(Sha("fedcba9876543210".to_owned())));
        assert_eq!(blocked.work.branch_name(), Some("hob/1-x"));
    }

    #[test]
    fn a_take_over_that_asks_a_person_says_why() {
        let transition = Transition::TakeOver { recovery: Recovery::Block, from: Some(WorkerId::from("w2")) };
        let (next, sentence) = apply(&record_at(State::InProgress), transition, now()).unwrap();
        assert_eq!(next.blocked, Some(BlockReason::WorkerDied.blocked(now())));
        assert_eq!((next.attempts.now, sentence.as_str()), (1, "taken over from w2 by w, generation 1"));
    }

    /// Rows M3, M9: the ledger lists each hand-off, and takes no more than a chain may have.
    #[test]
    fn a_hand_off_is_told_and_a_full_chain_takes_none() {
        let mut record = record_at(State::InProgress);
        record.spend.usd_micros = 7;
        for _ in 0..crate::CHAIN_MAX {
            let (next, sentence) =
                apply(&record, Transition::HandOff(Box::new(passed_on("dns", "cloud"))), now()).unwrap();
            assert_eq!(sentence, "`dns` handed off to `cloud`: needs a cloud");
            record = next;
        }
        assert_eq!(record.session, Some(RunId("s2".to_owned())));
        assert_eq!(record.chain.billed().map(|bill| bill.usd_micros), Some(7));
        assert!(apply(&record, Transition::HandOff(Box::new(passed_on("cloud", "dns"))), now()).is_err());
        let message = record.to_message("a sentence").unwrap();
        assert_eq!(Record::from_message(&message).unwrap().1, record);
        let blocked = apply(&record, Transition::Block(crate::BlockReason::WorkerDied), now()).unwrap().0;
        let answered = apply(&blocked, Transition::Unblock(unblocking(ApprovalGrant::Nothing)), now()).unwrap().0;
        assert_eq!((answered.chain.chain().len(), answered.chain.links().len()), (0, crate::CHAIN_MAX));
        assert_eq!(answered.chain.received().unwrap().to.as_str(), "cloud", "the answer is for who asked");
        let mut chosen = answered;
        for (profile, is_kept) in [("dns", true), ("dns", true), ("mail", false)] {
            let profile = Some(profile.parse().unwrap());
            chosen.note(Note::Routed(RouteChoice { profile, ..RouteChoice::of_agent(crate::ChosenBy::Label) }));
            assert_eq!(!chosen.chain.is_empty(), is_kept, "{chosen:?}");
        }
    }

    /// Requirement M2: if the router switches, the ledger says so, and the chain continues.
    #[test]
    fn a_switch_is_told_and_stands_in_the_chain() {
        let mut record =
            apply(&record_at(State::InProgress), Transition::HandOff(Box::new(passed_on("a", "b"))), now());
        let (record, _) = record.as_mut().unwrap();
        let route =
            |profile: &str| RouteChoice { profile: profile.parse().ok(), ..RouteChoice::of_agent(ChosenBy::Router) };
        record.note(Note::Routed(route("a")));
        record.note(Note::Routed(route("c")));
        record.state = State::Assigned;
        let (next, sentence) = apply(record, Transition::HandOff(Box::new(switched("b", "c"))), now()).unwrap();
        assert_eq!(sentence, "switched from `b` to `c`: needs a cloud");
        let links: Vec<_> = next.chain.links().iter().map(|link| (link.from.as_str(), link.switched)).collect();
        assert_eq!((links, next.chain.chain().len(), next.is_handed_on()), (vec![("a", false), ("b", true)], 0, false));
    }

    #[test]
    fn what_was_learned_stays_over_renewals_and_releases() {
        let mut record = record_at(State::InProgress);
        record.work.name_branch("hob/1");
        let spend = Spend { usd_micros: 5, ..Spend::default() };
        for note in [
            Note::Spend(spend),
            Note::Spend(spend),
            Note::Proven(Sha("h".to_owned())),
            Note::Failure("f".to_owned()),
            Note::StatusComment(CommentId(3)),
            Note::Pushed,
            Note::Checklist(checklist()),
        ] {
            record.note(note);
        }
        let record = released(&record, Nonce::from("m"), now());
        assert_eq!((record.spend.usd_micros, record.failure.mark.as_deref()), (10, Some("f")));
        assert!(record.work.pushed_branch().is_some() && record.work.checklist.is_some());
        assert_eq!((record.comments.status, record.work.head), (Some(CommentId(3)), Some(Sha("h".to_owned()))));
    }

    /// Words that an agent has in a round are the round's: its worker may die before they have an effect.
    #[test]
    fn words_that_an_agent_has_belong_to_the_round() {
        let unread = vec![CommentId(7), CommentId(8), CommentId(9)];
        let mut record = record_at(State::InProgress);
        record.commands.unread.clone_from(&unread);
        let mut alone = record.clone();
        record.review.begin(vec![failed_check()], Sha("h".to_owned()));
        for record in [&mut record, &mut alone] {
            record.note(Note::Briefed(CommentId(7)));
            record.note(Note::Heard(vec![CommentId(8), CommentId(7)]));
            assert_eq!(record.commands.unread, [CommentId(9)]);
        }
        assert_eq!(record.review.round, [failed_check(), ReviewEvent::Comment(7), ReviewEvent::Comment(8)]);
        assert!(!alone.review.is_under_way(), "a first attempt's brief has all comments");
    }
}
