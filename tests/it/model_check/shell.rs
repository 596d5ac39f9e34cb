//! The workers of the model: Hob's own decision functions, called as the thin shell calls them, one request a step.
//!
//! The order of a step's requests is that of `worker::{reconcile, attempt, transition}`; `forge::ledger` settles an
//! unknown outcome. Every change of a record is `domain::apply`'s, which the product runs too.

use std::time::Duration;

use hob_domain::{
    Action, Answer as Words, ApprovalGrant, AssigneeFilter, Attempts, BlockReason, CommentId, Decision, Due, Ending,
    EventId, IssueStatus, IssueView, LabelChange, MergeState, PlanRules, PullFacts, PullNumber, Record, Recovery,
    ReviewRules, RunId, RunPurpose, Said, Sha, State, Transition, Trigger, Unblocking, WaitReason, WorkedBy, acquire,
    apply, decide, held_by, released, remaining, renewed, still_mine,
};

use super::{
    refs::{Along, Pushing, Refs, Sends},
    world::{
        ASSIGNED, ATTEMPTS, BLOCKED, DEADLINE, DURATION, Decided, Doing, Effect, Forge, ISSUE, LONG_AGO, Lease, Pull,
        REVIEW, Read, Rec, Round, Run, SKEW, SPEND, Seen, TRIGGER, Todo, Worker, World, answer_to_review, at, claimant,
        label_bit, label_names, names, ticks,
    },
};

/// The shell as it is, or with one of its rules left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variant {
    Real,
    /// No nonce in any record.
    NoNonce,
    /// Neither a renewal nor a refused move checks whose the lease is now.
    NoGenerationCheck,
    /// A lease is taken over before it has expired.
    NoWaiting,
    /// A write whose answer is lost counts as done.
    GuessedSuccess,
    /// Visible writes are made with any rest of the lease.
    NoPermit,
    /// A stopped worker puts the issue back regardless of the ledger.
    StopPutsBack,
    /// The issue is read before its ledger.
    IssueFirst,
    /// A worker that tells what a round has to tell, after one that may have, does not check whether its answer was posted.
    NoLook,
    /// A branch is pushed without its ledger, where both could go together.
    Unfenced,
    /// A claim is shown before the ledger has it.
    ShownFirst,
    /// A worker settles the share of the day even if a later generation has reserved it.
    StaleShare,
    /// No part of the hour's writes is kept for leases.
    NoReserve,
}

/// The end of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Arrives,
    /// It had its effect, its answer is lost.
    Lost,
    /// The same, and the look at the ref afterwards shows an old one.
    LostAndStale,
    /// It had no effect, and its answer is lost.
    Failed,
    /// Its answer is lost, and it will have its effect later.
    Late,
}

/// The end of the agent's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Done,
    Question,
    FailedForNow,
}

/// A worker's next action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Do(Todo),
    /// Nothing, until a person acts.
    Rest,
    /// Nothing yet: time has to pass.
    Later,
    /// Nothing ever, for a label that no person put on.
    Stuck,
}

/// The result of a step of the ledger.
enum Step {
    Made,
    Unknown,
    Lost,
}

/// The result of a visible write.
enum Shown {
    Yes,
    Failed,
    NotPermitted,
}

/// The rules that every worker follows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shell {
    pub(super) variant: Variant,
    pub(super) recovery: Recovery,
    /// How each worker moves two refs.
    pub(super) pushing: [Pushing; 3],
    /// The attempts of a day.
    pub(super) day: Option<u8>,
    /// Whether what agents' runs cost is counted.
    pub(super) bills: bool,
    /// The writes of an hour.
    pub(super) writes: Option<u8>,
}

impl Shell {
    pub(super) fn has(self, variant: Variant) -> bool {
        self.variant == variant
    }

    pub(super) fn fresh_nonce(self, world: &mut World) -> u8 {
        if self.has(Variant::NoNonce) { 0 } else { world.fresh_nonce() }
    }

    /// The time by which others' leases are judged.
    fn judged_at(self, now: i8) -> i8 {
        if self.has(Variant::NoWaiting) { now + DURATION + SKEW + 1 } else { now }
    }

    /// Whether a claimant that read the ledger `age` moves ago may still win: its commit would have to be the tip's own.
    pub(super) fn may_win(self, age: u8) -> bool {
        age == 0 || (age == 1 && self.has(Variant::NoNonce))
    }

    /// Whether a look at the ledger would end with its lease, which lasts.
    pub(super) fn is_held(self, world: &World, now: i8) -> bool {
        let tip = world.forge.tip.as_ref().map(Rec::record);
        !self.has(Variant::IssueFirst)
            && tip.is_some_and(|tip| held_by(&tip, at(self.judged_at(now)), ticks(SKEW)).is_some())
    }

    /// Whether a holder may make visible writes: `Forge::permit`.
    pub(super) fn may_write(mine: &Rec, now: i8) -> bool {
        remaining(&mine.record(), at(now)) > ticks(DEADLINE)
    }

    /// The rules that its decisions follow.
    fn rules(self) -> PlanRules {
        let review = ReviewRules { settle: Duration::ZERO, ci_wait: Duration::ZERO, base_rounds: 5 };
        let (recovery, skew, repository) = (self.recovery, ticks(SKEW), self.repository_rules());
        PlanRules {
            labels: names(),
            assignee: AssigneeFilter::Anybody,
            recovery,
            skew,
            repository,
            open_pulls: None,
            review,
        }
    }

    /// The decision function's result for the issue as it was seen and the current ledger.
    pub(super) fn decide(self, world: &World, tip: Option<&Rec>, seen: &Seen, now: i8) -> Next {
        let record = tip.map(Rec::record);
        let number = record.as_ref().filter(|record| follows_its_pull(record.state)).and_then(|r| r.pull.number);
        let pull = |PullNumber(n): PullNumber| world.forge.pulls[usize::try_from(n).unwrap() - 1].map(Pull::status);
        let view = IssueView {
            assignees: Vec::new(),
            is_dashboard: false,
            number: ISSUE,
            title: String::new(),
            labels: label_names(seen.labels),
            status: if seen.open { IssueStatus::Open } else { IssueStatus::Closed },
            created_at: at(0),
            // Commands in comments are not modelled: nothing is ever news.
            updated_at: at(LONG_AGO),
            comments: 0,
            blockers: Vec::new(),
            begun: Vec::new(),
            record,
            pull: number.and_then(|number| Some((number, pull(number)?))),
            review: Some(PullFacts {
                head: Sha(String::new()),
                base: Sha(String::new()),
                merge: MergeState::Fits,
                said: seen.review.then(|| Said { event: REVIEW, at: at(LONG_AGO) }).into_iter().collect(),
                checks: Vec::new(),
                ejected: None,
                has_command: false,
            }),
            goes_on: None,
            has_command_on_pull: false,
            is_quiet: false,
            pull_updated_at: None,
        };
        match decide(&view, &self.rules(), at(self.judged_at(now))) {
            Decision::Act(Action::Claim) => Next::Do(Todo::Claim),
            Decision::Act(Action::Recover(_)) => Next::Do(Todo::Recover),
            Decision::Act(Action::SeekAnswer) => seek_answer(tip, seen),
            Decision::Act(Action::Rework(..)) => Next::Do(Todo::Rework),
            Decision::Act(Action::AskAboutRejection(_)) => Next::Do(Todo::Reject),
            Decision::Act(Action::Finish(_)) => Next::Do(Todo::Finish),
            Decision::Act(Action::RepairLabels(_) | Action::GiveUpLabels(_) | Action::ShowState) => {
                Next::Do(Todo::Show)
            }
            // Nothing in the model asks for these: a state that leads to one has no way out of it.
            Decision::Act(
                Action::SeekCommand
                | Action::ReturnToReview(_)
                | Action::MarkReady(_)
                | Action::SignOff
                | Action::Prove(_)
                | Action::ShowPush(..)
                | Action::NoteChecks(_)
                | Action::Rebuild
                | Action::CarryOut(_),
            ) => Next::Stuck,
            Decision::Wait(
                WaitReason::InReview(_)
                | WaitReason::Unapproved(_)
                | WaitReason::Finished
                | WaitReason::NotTriggered
                | WaitReason::Dashboard,
            ) => Next::Rest,
            Decision::Wait(WaitReason::BlockedByHand(_) | WaitReason::LabelByHand(_)) => Next::Stuck,
            Decision::Wait(
                WaitReason::Held(_)
                | WaitReason::RetryAfter { .. }
                | WaitReason::Asked { .. }
                | WaitReason::Refused(_)
                | WaitReason::BlockedBy(_)
                | WaitReason::ForPeople(_)
                | WaitReason::NotAssigned(_)
                | WaitReason::Paused(_)
                | WaitReason::Full(_)
                | WaitReason::OpenPulls(_)
                | WaitReason::Next,
            ) => Next::Later,
        }
    }

    /// The worker's next request, which ends as `answer` says.
    pub(super) fn step(self, world: &mut World, w: usize, refs: Refs, answer: Answer) {
        let now = world.clocks[w];
        world.workers[w] = match world.workers[w].clone() {
            Worker::Idle if self.has(Variant::IssueFirst) => Worker::Saw(look(world)),
            Worker::Idle => Worker::Looked(Read::of(world)),
            Worker::Looked(read) => self.decided(world, now, look(world), read),
            Worker::Saw(seen) => self.decided(world, now, seen, Read::of(world)),
            Worker::Decided(decided) => self.take(world, w, decided, refs, answer),
            Worker::Holds(lease) => self.go_on(world, w, *lease, refs, answer),
        };
    }

    fn decided(self, world: &World, now: i8, seen: Seen, read: Read) -> Worker {
        match self.decide(world, read.tip.as_ref(), &seen, now) {
            Next::Do(todo)
                if todo.begins_an_attempt(self.recovery) && !self.has_room(world.forge.share, read.bill()) =>
            {
                Worker::Idle
            }
            Next::Do(todo) => Worker::Decided(Decided { seen, todo, read }),
            Next::Rest | Next::Later | Next::Stuck => Worker::Idle,
        }
    }

    /// Acquires the lease, and reserves the attempt's share with it where both refs move: as `Ledger::acquire_with` does.
    fn take(self, world: &mut World, w: usize, decided: Decided, refs: Refs, answer: Answer) -> Worker {
        if self.has(Variant::ShownFirst) && decided.todo == Todo::Claim && decided.seen.labels & ASSIGNED == 0 {
            return show_first(world, decided);
        }
        let Decided { seen, todo, read: Read { tip, age, mut settled } } = decided;
        let now = world.clocks[w];
        let (claimant, tip) = (claimant(self.fresh_nonce(world)), tip.as_ref().map(Rec::record));
        let Ok(record) = acquire(tip.as_ref(), ISSUE, &claimant, at(self.judged_at(now))) else {
            return Worker::Idle;
        };
        let (transition, run, mut doing) = self.begin(todo, seen.answers);
        let (record, _) = apply(&Record { renewed_at: at(now), ..record }, transition, at(now)).unwrap();
        let mine = Rec::of(&record);
        // What would end at once, for its attempts are used up, reserves nothing.
        let begins = run == Run::Attempt && mine.attempt <= ATTEMPTS;
        let share = self.reserved(world, &mine).filter(|_| begins && refs == Refs::Together);
        match share {
            Some(_) => settled = false,
            None if begins => doing = Doing::Reserve,
            None => {}
        }
        let landed = world.sent(age, &mine, share.map(Along::Share), answer);
        let guessed = self.has(Variant::GuessedSuccess) && answer != Answer::Arrives;
        let won = (landed && answer != Answer::LostAndStale) || guessed;
        if !won {
            return Worker::Idle;
        }
        let age = if landed { 0 } else { (age + 1).min(2) };
        let labels = seen.labels;
        let (pending, comment_tried, looks, failed, alone) =
            (None, false, true, false, self.pushing[w] == Pushing::Single);
        holding(Lease { mine, age, labels, run, doing, settled, alone, pending, comment_tried, looks, failed })
    }

    /// The transition that acquires the lease, and the step after it.
    fn begin(self, todo: Todo, answers: u8) -> (Transition, Run, Doing) {
        match todo {
            Todo::Claim => {
                let trigger = Trigger {
                    event: EventId(1),
                    actor: "ada".into(),
                    approved: String::new(),
                    at: None,
                    labels: Vec::new(),
                };
                (Transition::Claim { trigger }, Run::Attempt, Doing::Label)
            }
            Todo::Recover => {
                let take_over = Transition::TakeOver { recovery: self.recovery, from: None };
                match self.recovery {
                    Recovery::Resume => (take_over, Run::Attempt, Doing::Label),
                    Recovery::Abandon | Recovery::Block => (take_over, Run::Tend, Doing::Comment),
                }
            }
            Todo::GoOn => {
                let comment = Some(CommentId(answers.into()));
                let answer = Words { actor: "ada".into(), text: String::new(), question: None, comment, event: None };
                let unblocking = Unblocking { answer, grant: ApprovalGrant::Nothing, approved: String::new() };
                (Transition::Continue(unblocking), Run::Attempt, Doing::Label)
            }
            Todo::Rework => {
                let rework = Transition::Rework { events: vec![REVIEW], head: Sha(String::new()) };
                (rework, Run::Attempt, Doing::Label)
            }
            Todo::Reject => (Transition::Reject(PullNumber(1)), Run::Tend, Doing::Comment),
            Todo::Finish => (Transition::Finish(Ending::Closed), Run::Tend, Doing::Comment),
            Todo::Show => (Transition::Reconcile { what: String::new() }, Run::Tend, Doing::Comment),
        }
    }

    fn go_on(self, world: &mut World, w: usize, mut lease: Lease, refs: Refs, answer: Answer) -> Worker {
        match lease.doing {
            Doing::Release if !lease.settled && refs == Refs::Together => {
                self.settle_and_release(world, w, lease, answer)
            }
            Doing::Reserve | Doing::Release | Doing::ReleaseReady if lease.moves_the_share() => {
                self.move_share(world, w, lease, answer)
            }
            Doing::Push if self.sends(&lease, refs) == Sends::Fenced => self.push_along(world, w, lease, answer),
            Doing::Start | Doing::Settle(_) | Doing::Release | Doing::ReleaseReady => {
                let record = lease.pending.clone().unwrap_or_else(|| self.next_record(world, w, &lease));
                match self.ledger(world, w, &mut lease, record, answer) {
                    Step::Made if matches!(lease.doing, Doing::Release | Doing::ReleaseReady) => Worker::Idle,
                    Step::Made => {
                        // Only the holder that wrote the answer knows that nobody has begun to post it.
                        lease.looks &= lease.doing != Doing::Settle(State::InReview);
                        lease.doing = Doing::Comment;
                        holding(lease)
                    }
                    Step::Unknown => holding(lease),
                    Step::Lost => Worker::Idle,
                }
            }
            Doing::Reserve | Doing::Work => Worker::Holds(Box::new(lease)),
            Doing::Comment | Doing::Label | Doing::Push | Doing::Open | Doing::Say | Doing::PutBack => {
                self.show(world, w, lease, answer)
            }
        }
    }

    /// Releases the lease and settles the share in one push, as `Ledger::release_after` does. If that is refused, or its end
    /// is not known, both follow one after the other.
    fn settle_and_release(self, world: &mut World, w: usize, mut lease: Lease, answer: Answer) -> Worker {
        let record = self.next_record(world, w, &lease);
        let share = self.closed(world, &lease.mine);
        let landed = world.sent(lease.age, &record, Some(Along::Share(share)), answer);
        if landed && answer != Answer::LostAndStale {
            return Worker::Idle;
        }
        if let Worker::Holds(stored) = &world.workers[w] {
            lease.age = stored.age;
        }
        lease.pending = Some(record);
        holding(lease)
    }

    /// The record of the ledger's next step.
    fn next_record(self, world: &mut World, w: usize, lease: &Lease) -> Rec {
        let now = at(world.clocks[w]);
        let mine = lease.mine.record();
        let nonce = hob_domain::Nonce(self.fresh_nonce(world).to_string());
        let next = match lease.doing {
            Doing::Release | Doing::ReleaseReady => released(&mine, nonce, now),
            Doing::Reserve
            | Doing::Start
            | Doing::Settle(_)
            | Doing::Comment
            | Doing::Label
            | Doing::Work
            | Doing::Push
            | Doing::Open
            | Doing::Say
            | Doing::PutBack => renewed(&mine, nonce, now),
        };
        let Some(transition) = self.transition(world, w, lease) else { return Rec::of(&next) };
        // A rule that is left out lets everything pass.
        if self.has(Variant::StopPutsBack) && lease.doing == Doing::ReleaseReady {
            let attempt = next.attempts.now.saturating_sub(1);
            return Rec::of(&Record {
                state: State::Ready,
                attempts: Attempts { now: attempt, ..next.attempts },
                ..next
            });
        }
        Rec::of(&apply(&next, transition, now).unwrap().0)
    }

    /// The transition of the ledger's next step; `None` if it only releases the lease.
    fn transition(self, world: &World, w: usize, lease: &Lease) -> Option<Transition> {
        let branch = lease.mine.branch;
        Some(match lease.doing {
            Doing::Start => {
                // A name in use belongs to another.
                let name = match branch {
                    0 if world.forge.pulls[0].is_none() => 1,
                    0 => 2,
                    known => known,
                };
                let (agent, session) = (String::new(), RunId(String::new()));
                let by = WorkedBy { agent: String::new(), model: None };
                Transition::StartAgent { agent, by, purpose: RunPurpose::Work, branch: name.to_string(), session }
            }
            Doing::Settle(State::Ready) => Transition::Retry { failure: String::new(), until: at(world.clocks[w] + 1) },
            Doing::Settle(State::InReview) => published(&lease.mine),
            Doing::Settle(State::Blocked) => Transition::Block(BlockReason::WorkerDied),
            Doing::Settle(State::Done) => Transition::Finish(Ending::Withdrawn),
            Doing::ReleaseReady => Transition::Requeue { reason: String::new() },
            Doing::Settle(State::Assigned | State::InProgress)
            | Doing::Reserve
            | Doing::Comment
            | Doing::Label
            | Doing::Work
            | Doing::Push
            | Doing::Open
            | Doing::Say
            | Doing::Release
            | Doing::PutBack => return None,
        })
    }

    /// One step of the ledger, as `Ledger::step` makes it; `Unknown` keeps the record for another try.
    fn ledger(self, world: &mut World, w: usize, lease: &mut Lease, record: Rec, answer: Answer) -> Step {
        let landed = world.sent(lease.age, &record, None, answer);
        if let Worker::Holds(stored) = &world.workers[w] {
            lease.age = stored.age;
        }
        let guessed = self.has(Variant::GuessedSuccess) && answer != Answer::Arrives;
        let mut made = (landed && answer != Answer::LostAndStale) || guessed;
        if !made && answer == Answer::Arrives {
            // The ref is not where it was read: whose is it?
            let Some(tip) = world.forge.tip.clone() else { return Step::Lost };
            made = tip.nonce == record.nonce;
            if !made {
                if !self.has(Variant::NoGenerationCheck) && still_mine(&tip.record(), &lease.mine.record()).is_err() {
                    return Step::Lost;
                }
                made = world.compare_and_set(0, &record);
            }
        }
        if !made {
            lease.pending = Some(record);
            return Step::Unknown;
        }
        world.faults.undone |= lease.mine.is_settled() && !record.is_settled();
        lease.pending = None;
        lease.mine = record;
        lease.age = if guessed && !landed { (lease.age + 1).min(2) } else { 0 };
        Step::Made
    }

    /// A visible write, and its consequences.
    fn show(self, world: &mut World, w: usize, mut lease: Lease, answer: Answer) -> Worker {
        let change = match lease.doing {
            Doing::PutBack => names().changes(&label_names(lease.labels), State::Ready),
            _other => names().changes(&label_names(lease.labels), lease.mine.state),
        };
        let Some(effect) = self.effect(world, &lease, change.first()) else {
            if lease.doing == Doing::Say {
                (lease.mine.round, lease.doing) = (Round::Handled, Doing::Comment);
            }
            return holding(advanced(lease));
        };
        if matches!(effect, Effect::NewComment(_)) {
            lease.comment_tried = true;
        }
        let merged = matches!(effect, Effect::Pull(n) if world.forge.pulls[usize::from(n) - 1] == Some(Pull::Merged));
        match self.visible(world, w, &lease, &effect, answer) {
            Shown::NotPermitted => return Worker::Idle,
            Shown::Failed => return fail(lease),
            Shown::Yes if merged => {
                lease.failed = true;
                lease.doing = Doing::Settle(State::Blocked);
                return holding(lease);
            }
            Shown::Yes => {}
        }
        match effect {
            Effect::Add(bit) => lease.labels |= bit,
            Effect::Remove(bit) => lease.labels &= !bit,
            Effect::NewComment(_) | Effect::EditComment(_) => {
                lease.mine.comment = true;
                lease.doing = Doing::Label;
            }
            Effect::Push => lease.doing = Doing::Open,
            Effect::Pull(_) => lease.doing = Doing::Settle(State::InReview),
            Effect::Reply => (lease.mine.round, lease.doing) = (Round::Handled, Doing::Comment),
        }
        holding(advanced(lease))
    }

    /// The next visible write; `None` if nothing is to be changed.
    pub(super) fn effect(self, world: &World, lease: &Lease, change: Option<&LabelChange>) -> Option<Effect> {
        match lease.doing {
            Doing::Comment => {
                let looks = lease.mine.generation > 1 || lease.comment_tried;
                let found = lease.mine.comment || (looks && world.forge.comments > 0);
                let state = lease.mine.state;
                Some(if found { Effect::EditComment(state) } else { Effect::NewComment(state) })
            }
            Doing::Label | Doing::PutBack => change.map(|change| match change {
                LabelChange::Add(name) => Effect::Add(label_bit(name)),
                LabelChange::Remove(name) => Effect::Remove(label_bit(name)),
            }),
            Doing::Push => Some(Effect::Push),
            Doing::Open => Some(Effect::Pull(lease.mine.branch)),
            Doing::Say => {
                let looks = lease.looks && !self.has(Variant::NoLook);
                (!looks || world.forge.replies == 0).then_some(Effect::Reply)
            }
            Doing::Reserve | Doing::Start | Doing::Work | Doing::Settle(_) | Doing::Release | Doing::ReleaseReady => {
                None
            }
        }
    }

    fn visible(self, world: &mut World, w: usize, lease: &Lease, effect: &Effect, answer: Answer) -> Shown {
        if !self.has(Variant::NoPermit) && !Self::may_write(&lease.mine, world.clocks[w]) {
            return Shown::NotPermitted;
        }
        let reached = matches!(answer, Answer::Arrives | Answer::Lost | Answer::LostAndStale);
        if reached {
            world.apply(effect, lease.mine.generation);
        }
        // A look shows the pull request; the next worker that shows the state makes up for the rest.
        let seen = reached && (answer == Answer::Arrives || matches!(effect, Effect::Pull(_)));
        if seen || self.has(Variant::GuessedSuccess) { Shown::Yes } else { Shown::Failed }
    }

    /// The agent's work ends: before anything is pushed the issue is read again.
    pub(super) fn agent(self, world: &mut World, w: usize, outcome: Outcome) {
        let now = look(world);
        let Worker::Holds(lease) = &mut world.workers[w] else { return };
        if self.bills {
            lease.mine.spend = (lease.mine.spend + 1).min(SPEND);
        }
        match outcome {
            Outcome::Done if !now.open || now.labels & TRIGGER == 0 => lease.doing = Doing::Settle(State::Done),
            Outcome::Done => {
                lease.labels = now.labels;
                lease.doing = Doing::Push;
            }
            Outcome::Question => lease.doing = Doing::Settle(State::Blocked),
            Outcome::FailedForNow => lease.doing = later(&lease.mine),
        }
    }

    /// The heartbeat.
    pub(super) fn renew(self, world: &mut World, w: usize, answer: Answer) {
        let Worker::Holds(lease) = world.workers[w].clone() else { return };
        let mut lease = *lease;
        let check = lease.age > 0 && !self.has(Variant::NoGenerationCheck);
        let tip = world.forge.tip.as_ref().map(Rec::record);
        if check && tip.is_none_or(|tip| still_mine(&tip, &lease.mine.record()).is_err()) {
            world.workers[w] = Worker::Idle;
            return;
        }
        let now = world.clocks[w];
        let nonce = hob_domain::Nonce(self.fresh_nonce(world).to_string());
        let record = Rec::of(&renewed(&lease.mine.record(), nonce, at(now)));
        let made = self.ledger(world, w, &mut lease, record, answer);
        lease.pending = None;
        let over = remaining(&lease.mine.record(), at(now)).is_zero();
        world.workers[w] = match made {
            Step::Lost => Worker::Idle,
            Step::Unknown if over => Worker::Idle,
            Step::Made | Step::Unknown => holding(lease),
        };
    }

    /// The tries of a step are used up.
    pub(super) fn give_up(world: &mut World, w: usize) {
        let Worker::Holds(lease) = world.workers[w].clone() else { return };
        world.workers[w] = match (lease.run, lease.doing) {
            (Run::Attempt, Doing::Start | Doing::Settle(_)) => fail(Lease { pending: None, ..*lease }),
            _ends => Worker::Idle,
        };
    }

    /// The agent can start at once: the label of the claim is not put on.
    pub(super) fn is_prepared(world: &mut World, w: usize) {
        let Worker::Holds(lease) = &mut world.workers[w] else { return };
        lease.doing = after_claim(lease);
    }

    /// The worker is asked to stop: the attempt is put back.
    pub(super) fn stop(self, world: &mut World, w: usize) {
        let Worker::Holds(lease) = &mut world.workers[w] else { return };
        lease.pending = None;
        let ended = matches!(lease.mine.state, State::Ready | State::InReview | State::Blocked | State::Done);
        if ended && !self.has(Variant::StopPutsBack) {
            // Nothing is put back: the recorded state is shown.
            lease.run = Run::Tend;
            lease.doing = Doing::Comment;
            return;
        }
        lease.doing = Doing::PutBack;
        if names().changes(&label_names(lease.labels), State::Ready).is_empty() {
            lease.doing = Doing::ReleaseReady;
        }
    }
}

/// Whether the fate of the pull request is looked at: `followed_pull` of `worker::observe`.
fn follows_its_pull(state: State) -> bool {
    matches!(state, State::InReview | State::Blocked | State::Done)
}

/// The finding of `reconcile::seek_answer`.
fn seek_answer(tip: Option<&Rec>, seen: &Seen) -> Next {
    let Some(tip) = tip else { return Next::Stuck };
    let shown = tip.holder.is_none() && names().changes(&label_names(seen.labels), State::Blocked).is_empty();
    match () {
        () if seen.answers > tip.heard => Next::Do(Todo::GoOn),
        () if shown => Next::Rest,
        () => Next::Do(Todo::Show),
    }
}

pub(super) fn look(world: &World) -> Seen {
    let Forge { open, labels, answers, review, .. } = world.forge;
    Seen { open, labels, answers, review }
}

/// The label of a claim that nobody has won yet.
fn show_first(world: &mut World, mut decided: Decided) -> Worker {
    let generation = decided.read.tip.as_ref().map_or(0, |tip| tip.generation) + 1;
    world.apply(&Effect::Add(ASSIGNED), generation);
    decided.seen.labels |= ASSIGNED;
    Worker::Decided(decided)
}

pub(super) fn holding(lease: Lease) -> Worker {
    Worker::Holds(Box::new(advanced(lease)))
}

/// The lease at its next request: labels that are right already ask for none.
fn advanced(mut lease: Lease) -> Lease {
    match lease.doing {
        // In a round the label goes from `in-review` to `in-progress`.
        Doing::Label
            if are_right(&lease, lease.mine.state)
                || lease.mine.state == State::Assigned && lease.mine.is_reviewed() =>
        {
            lease.doing = match lease.mine.state {
                State::Assigned => after_claim(&lease),
                State::InProgress => Doing::Work,
                State::Ready | State::InReview | State::Blocked | State::Done => Doing::Release,
            };
        }
        Doing::PutBack if are_right(&lease, State::Ready) => lease.doing = Doing::ReleaseReady,
        // In a round no pull request has to be opened: its end follows, if it did not go with the branch.
        Doing::Open if lease.mine.is_reviewed() => lease.doing = Doing::Settle(State::InReview),
        Doing::Open if lease.mine.state == State::InReview => lease.doing = Doing::Say,
        // What a round has to tell comes before what the issue shows.
        Doing::Comment if lease.mine.round == Round::Untold => lease.doing = Doing::Say,
        Doing::Reserve
        | Doing::Start
        | Doing::Comment
        | Doing::Label
        | Doing::Work
        | Doing::Push
        | Doing::Open
        | Doing::Say
        | Doing::Settle(_)
        | Doing::Release
        | Doing::PutBack
        | Doing::ReleaseReady => {}
    }
    lease
}

/// The end of an attempt, with what a round in review has to tell.
pub(super) fn published(mine: &Rec) -> Transition {
    let answers = mine.is_reviewed().then(answer_to_review).into_iter().collect();
    let due = Due { answers, ..Due::default() };
    let pull = PullNumber(mine.branch.into());
    Transition::Publish { head: Sha(String::new()), pull, proof: None, due: Box::new(due) }
}

/// What follows a claim, whether or not its label was put on.
fn after_claim(lease: &Lease) -> Doing {
    if lease.mine.attempt > ATTEMPTS { Doing::Settle(State::Blocked) } else { Doing::Start }
}

fn are_right(lease: &Lease, state: State) -> bool {
    names().changes(&label_names(lease.labels), state).is_empty()
}

/// `attempt::finish::retry`.
fn later(mine: &Rec) -> Doing {
    Doing::Settle(if mine.attempt >= ATTEMPTS { State::Blocked } else { State::Ready })
}

/// The consequence of a transient failure: `attempt::finish::after_failure`.
pub(super) fn fail(mut lease: Lease) -> Worker {
    let ended = matches!(lease.mine.state, State::Ready | State::InReview | State::Blocked | State::Done);
    let again = std::mem::replace(&mut lease.failed, true);
    // What failed may have been told.
    lease.looks = true;
    lease.doing = match lease.run {
        Run::Tend => return Worker::Idle,
        Run::Attempt if matches!(lease.doing, Doing::PutBack) => return Worker::Idle,
        // A released lease does not tell that there is more to show, and neither do labels that are right already.
        Run::Attempt if ended && again && (lease.mine.state == State::Done || are_right(&lease, lease.mine.state)) => {
            return Worker::Idle;
        }
        Run::Attempt if ended && again => Doing::Release,
        Run::Attempt if ended => Doing::Comment,
        Run::Attempt if again || lease.labels & BLOCKED != 0 => return Worker::Idle,
        Run::Attempt => later(&lease.mine),
    };
    holding(lease)
}
