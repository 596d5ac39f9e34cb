//! The world of the model: the forge, the workers' memory and time, as small numbers.
//!
//! Times are relative to now, generations and nonces are renumbered after each step: only their order and their equality
//! matter to the protocol, and so the states are finitely many however long it runs.

use std::time::Duration;

use hob_domain::{
    Answer, Attempts, BlockCode, Blocked, Branch, Claimant, CommentId, EventAnswer, Failure, Generation, IssueNumber,
    LabelNames, Nonce, OwnComments, PullLog, PullNumber, PullStatus, Record, Recovery, ReviewEvent, ReviewLog, Spend,
    State, Timestamp, Work, WorkerId, acquire,
};

use super::{
    refs::{Along, Share},
    shell::Shell,
};

/// The one issue.
pub(super) const ISSUE: IssueNumber = IssueNumber(1);
/// The duration of a lease, in ticks.
pub(super) const DURATION: i8 = 2;
/// The margin beyond an expiry, and the limit on the difference of the workers' clocks.
pub(super) const SKEW: i8 = 1;
/// The longest time of a request.
pub(super) const DEADLINE: i8 = 1;
/// The time within which a request has its effect, if its process may be suspended while it sends it: any.
pub(super) const WHENEVER: Option<i8> = None;
/// Beyond this bill one is like another.
pub(super) const SPEND: u8 = 2;
/// Attempts at the issue.
pub(super) const ATTEMPTS: u8 = 2;

/// A time so long ago that every lease of then has expired for all.
pub(super) const LONG_AGO: i8 = -(DURATION + SKEW + 1);
/// The moment that relative times are relative to.
const EPOCH: i64 = 1_000;

/// Labels as bits, in this order.
const LABELS: [&str; 5] = ["code", "assigned", "in-progress", "in-review", "blocked"];
/// The trigger label.
pub(super) const TRIGGER: u8 = 1;
/// The label of claimed issues.
pub(super) const ASSIGNED: u8 = 1 << 1;
/// The label of blocked issues.
pub(super) const BLOCKED: u8 = 1 << 4;

pub(super) fn names() -> LabelNames {
    let [trigger, assigned, in_progress, in_review, blocked] = LABELS.map(str::to_owned);
    LabelNames {
        trigger,
        prefix: String::new(),
        assigned,
        in_progress,
        in_review,
        blocked,
        agent_prefix: String::new(),
        base_prefix: String::new(),
        plan: String::new(),
        investigate: String::new(),
        priority: Vec::new(),
    }
}

pub(super) fn label_names(bits: u8) -> Vec<String> {
    LABELS.iter().enumerate().filter(|(n, _)| bits & (1 << n) != 0).map(|(_, name)| (*name).to_owned()).collect()
}

pub(super) fn label_bit(name: &str) -> u8 {
    1 << LABELS.iter().position(|label| *label == name).unwrap()
}

pub(super) fn at(ticks: i8) -> Timestamp {
    Timestamp::from_timestamp(EPOCH + i64::from(ticks), 0).unwrap()
}

pub(super) fn ticks(ticks: i8) -> Duration {
    Duration::from_secs(ticks.unsigned_abs().into())
}

/// The parts of a record that matter here.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Rec {
    pub(super) nonce: u8,
    pub(super) generation: u8,
    pub(super) holder: Option<u8>,
    pub(super) renewed: i8,
    pub(super) state: State,
    pub(super) attempt: u8,
    pub(super) retry: Option<i8>,
    /// The last answer that was taken up.
    pub(super) heard: u8,
    /// The index of the branch's name among the possible ones.
    pub(super) branch: u8,
    /// The branch whose pull request the ledger names.
    pub(super) pull: u8,
    pub(super) comment: bool,
    /// The state of the one round in review.
    pub(super) round: Round,
    /// What the issue cost: one for each run of an agent.
    pub(super) spend: u8,
}

/// The state of a round in review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Round {
    None,
    UnderWay,
    /// It has ended, and people may lack its answer.
    Untold,
    Handled,
}

/// The review that people may submit.
pub(super) const REVIEW: ReviewEvent = ReviewEvent::Review(1);

pub(super) fn answer_to_review() -> EventAnswer {
    EventAnswer { to: REVIEW, thread: None, text: String::new(), resolves: false }
}

pub(super) fn worker() -> WorkerId {
    // All workers have one name: the nonces alone have to tell them apart.
    WorkerId::from("hob")
}

pub(super) fn claimant(nonce: u8) -> Claimant {
    Claimant {
        worker: worker(),
        nonce: Nonce(nonce.to_string()),
        duration: ticks(DURATION),
        skew: ticks(SKEW),
        bill: None,
    }
}

pub(super) fn money(usd_micros: u8) -> Spend {
    Spend { usd_micros: usd_micros.into(), ..Spend::default() }
}

impl Rec {
    /// The real record.
    pub(super) fn record(&self) -> Record {
        let nonce = |nonce: u8| Nonce(nonce.to_string());
        let blocked = || Blocked {
            reason: BlockCode::Question,
            text: String::new(),
            question: String::new(),
            last: Vec::new(),
            since: at(LONG_AGO),
            told: true,
            after: None,
        };
        let answer = |id: u8| Answer {
            actor: "ada".into(),
            text: String::new(),
            question: None,
            comment: Some(CommentId(id.into())),
            event: None,
        };
        // The rest is as in the first record of any issue.
        let first = acquire(None, ISSUE, &claimant(self.nonce), at(LONG_AGO)).unwrap();
        Record {
            nonce: nonce(self.nonce),
            generation: Generation(self.generation.into()),
            lease: self.holder.map(|holder| hob_domain::Lease {
                worker: worker(),
                nonce: nonce(holder),
                until: at(self.renewed) + ticks(DURATION),
                may_reach: None,
            }),
            renewed_at: at(self.renewed),
            state: self.state,
            attempts: Attempts { now: self.attempt.into(), ever: self.attempt.into() },
            review: ReviewLog {
                round: (self.round == Round::UnderWay).then_some(REVIEW).into_iter().collect(),
                answers: (self.round == Round::Untold).then(answer_to_review).into_iter().collect(),
                handled: matches!(self.round, Round::Untold | Round::Handled).then_some(REVIEW).into_iter().collect(),
                ..ReviewLog::default()
            },
            failure: Failure { until: self.retry.map(at), ..Failure::default() },
            blocked: (self.state == State::Blocked).then(blocked),
            answer: (self.heard > 0).then(|| answer(self.heard)),
            work: Work {
                branch: (self.branch > 0).then(|| Branch { name: self.branch.to_string(), pushed: true }),
                ..Work::default()
            },
            pull: PullLog { number: (self.pull > 0).then(|| PullNumber(self.pull.into())), ..PullLog::default() },
            comments: OwnComments { status: self.comment.then_some(CommentId(1)), ..OwnComments::default() },
            spend: money(self.spend),
            ..first
        }
    }

    /// The small form of a real record.
    pub(super) fn of(record: &Record) -> Self {
        let nonce = |nonce: &Nonce| nonce.as_str().parse().unwrap();
        let time = |time: Timestamp| i8::try_from(time.timestamp() - EPOCH).unwrap();
        let id = |id: Option<u64>| id.map_or(0, |id| u8::try_from(id).unwrap());
        Self {
            nonce: nonce(&record.nonce),
            generation: u8::try_from(record.generation.0).unwrap(),
            holder: record.lease.as_ref().map(|lease| nonce(&lease.nonce)),
            renewed: time(record.renewed_at),
            state: record.state,
            attempt: u8::try_from(record.attempts.now).unwrap(),
            retry: record.failure.until.map(time),
            heard: id(record.answer.as_ref().and_then(|answer| answer.comment).map(|id| id.0)),
            branch: record.work.branch_name().map_or(0, |branch| branch.parse().unwrap()),
            pull: id(record.pull.number.map(|number| number.0)),
            comment: record.comments.status.is_some(),
            round: match &record.review {
                review if review.is_unanswered() => Round::Untold,
                review if !review.handled.is_empty() => Round::Handled,
                review if review.is_under_way() => Round::UnderWay,
                _nothing => Round::None,
            },
            spend: u8::try_from(record.spend.usd_micros).unwrap(),
        }
    }

    /// Whether a round is under way.
    pub(super) fn is_reviewed(&self) -> bool {
        self.round == Round::UnderWay
    }

    /// Whether the next move is a person's or no one's.
    pub(super) fn is_settled(&self) -> bool {
        matches!(self.state, State::InReview | State::Blocked | State::Done)
    }
}

/// A visible write.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Effect {
    Add(u8),
    Remove(u8),
    NewComment(State),
    EditComment(State),
    /// The push of the branch, without the ledger.
    Push,
    /// The pull request of a branch.
    Pull(u8),
    /// The answer to the review.
    Reply,
}

impl Effect {
    /// The state that it shows people, if it is one that they did not see before.
    fn shows(&self) -> Option<State> {
        let states = [State::Assigned, State::InProgress, State::InReview, State::Blocked];
        match self {
            Self::Add(bit) => states.into_iter().find(|state| names().of(*state).map(label_bit) == Some(*bit)),
            Self::NewComment(state) | Self::EditComment(state) => Some(*state),
            Self::Remove(_) | Self::Push | Self::Pull(_) | Self::Reply => None,
        }
    }
}

/// A request in flight whose answer is no longer awaited.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Late {
    /// A ledger move. `age`: how often the ref has moved since its parent was the tip; 2 means 2 or more.
    Ledger { record: Rec, age: u8, along: Option<Along> },
    /// A move of the repository's ledger. It is void once that has moved.
    Share { share: Share, ends: Option<i8> },
    /// It reaches the forge within its deadline or never, or `WHENEVER`.
    Visible { effect: Effect, generation: u8, ends: Option<i8> },
}

/// The forge.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Forge {
    pub(super) open: bool,
    pub(super) labels: u8,
    pub(super) tip: Option<Rec>,
    /// The issue's share of the day in the repository's ledger.
    pub(super) share: Option<Share>,
    /// Whether the issue's branch has been pushed.
    pub(super) branch: bool,
    /// The pull request of each branch: the forge allows one that is open a branch.
    pub(super) pulls: [Option<Pull>; 2],
    pub(super) comments: u8,
    pub(super) comment_says: Option<State>,
    pub(super) answers: u8,
    /// Whether changes are requested on the pull request.
    pub(super) review: bool,
    /// Hob's answers to that.
    pub(super) replies: u8,
    pub(super) late: Option<Late>,
}

/// A pull request's status, as a state can have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Pull {
    Open,
    Merged,
    Closed,
}

impl Pull {
    pub(super) fn status(self) -> PullStatus {
        match self {
            Self::Open => PullStatus::Open,
            Self::Merged => PullStatus::Merged,
            Self::Closed => PullStatus::Closed,
        }
    }
}

/// An issue as a worker read it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Seen {
    pub(super) open: bool,
    pub(super) labels: u8,
    pub(super) answers: u8,
    pub(super) review: bool,
}

/// The essence of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Todo {
    Claim,
    Recover,
    GoOn,
    Rework,
    Reject,
    Finish,
    Show,
}

impl Todo {
    /// Whether an attempt begins with it.
    pub(super) fn begins_an_attempt(self, recovery: Recovery) -> bool {
        match self {
            Self::Claim | Self::GoOn | Self::Rework => true,
            Self::Recover => recovery == Recovery::Resume,
            Self::Reject | Self::Finish | Self::Show => false,
        }
    }
}

/// The next request of a worker that holds the lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Doing {
    /// The share of the day is reserved after the lease.
    Reserve,
    Start,
    Comment,
    Label,
    Work,
    Push,
    Open,
    /// The answer to the review is posted.
    Say,
    Settle(State),
    Release,
    PutBack,
    ReleaseReady,
}

/// The work that a worker is in the middle of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Run {
    Attempt,
    Tend,
}

/// A lease and the work under it, as its worker knows them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Lease {
    pub(super) mine: Rec,
    /// How often the ref has moved since the worker's last move of it; 2 means 2 or more.
    pub(super) age: u8,
    pub(super) labels: u8,
    pub(super) run: Run,
    pub(super) doing: Doing,
    /// Whether it knows the issue's share of the day to be settled.
    pub(super) settled: bool,
    /// Whether it pushes the branch without the ledger.
    pub(super) alone: bool,
    /// The record of a step of the ledger with an unknown outcome.
    pub(super) pending: Option<Rec>,
    pub(super) comment_tried: bool,
    /// Whether it looks for its answer before it says it.
    pub(super) looks: bool,
    /// Whether something failed before: the second failure ends the attempt.
    pub(super) failed: bool,
}

impl Lease {
    /// Whether its next request moves the repository's ledger alone.
    pub(super) fn moves_the_share(&self) -> bool {
        match self.doing {
            Doing::Reserve => true,
            Doing::Release | Doing::ReleaseReady => !self.settled,
            Doing::Start
            | Doing::Comment
            | Doing::Label
            | Doing::Work
            | Doing::Push
            | Doing::Open
            | Doing::Say
            | Doing::Settle(_)
            | Doing::PutBack => false,
        }
    }
}

/// The ledgers as a worker read them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Read {
    pub(super) tip: Option<Rec>,
    /// How often the ref has moved since.
    pub(super) age: u8,
    /// Whether the issue's share of the day was settled.
    pub(super) settled: bool,
}

impl Read {
    pub(super) fn of(world: &World) -> Self {
        let read = Self { tip: world.forge.tip.clone(), age: 0, settled: false };
        Self { settled: Shell::is_settled(world.forge.share, read.bill()), ..read }
    }

    pub(super) fn bill(&self) -> u8 {
        self.tip.as_ref().map_or(0, |tip| tip.spend)
    }
}

/// What a worker decided to do, and by what.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Decided {
    pub(super) seen: Seen,
    pub(super) todo: Todo,
    pub(super) read: Read,
}

/// The state of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Worker {
    Idle,
    /// It has read the ledger, not yet the issue.
    Looked(Read),
    /// It has read the issue, not yet the ledger: a variant's order.
    Saw(Seen),
    Decided(Decided),
    Holds(Box<Lease>),
}

/// Violations, noted when they happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Faults {
    /// A generation that was not the newest moved the ref.
    pub(super) backwards: bool,
    /// A visible write had its effect when a newer generation was there.
    pub(super) unfenced: bool,
    /// A settled state was undone under the same lease, or by a stale one.
    pub(super) undone: bool,
    /// The branch was moved when a newer generation was there.
    pub(super) stray_push: bool,
    /// A state was shown that the ledger did not have.
    pub(super) ahead: bool,
}

/// One state of the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) forge: Forge,
    pub(super) workers: Vec<Worker>,
    /// How far each worker's clock is ahead of the forge's.
    pub(super) clocks: Vec<i8>,
    pub(super) faults: Faults,
    /// Crashes, stops, lost answers and delays that may still come.
    pub(super) trouble_left: u8,
    /// The number of actions left to people.
    pub(super) people_left: u8,
    /// Writes of the hour, and its ticks; both are zero where writes are not counted.
    pub(super) written: u8,
    pub(super) hour: u8,
}

impl std::fmt::Display for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.forge.tip {
            None => write!(f, "no ledger")?,
            Some(tip) => {
                let held = if tip.holder.is_some() { "held" } else { "free" };
                write!(f, "ledger {} generation {}, {held}", tip.state, tip.generation)?;
            }
        }
        match &self.forge.share {
            Some(share) if share.reserved => write!(f, "; reserved by {}", share.generation)?,
            Some(share) => write!(f, "; settled by {} at {}", share.generation, share.bill)?,
            None => {}
        }
        write!(f, "; labels {}", label_names(self.forge.labels).join(" "))?;
        for (w, worker) in self.workers.iter().enumerate() {
            match worker {
                Worker::Idle => write!(f, "; {w} idle")?,
                Worker::Saw(_) => write!(f, "; {w} read the issue")?,
                Worker::Looked(_) => write!(f, "; {w} read the ledger")?,
                Worker::Decided(decided) => write!(f, "; {w} would {:?}", decided.todo)?,
                Worker::Holds(lease) => write!(f, "; {w} at {:?} in {}", lease.doing, lease.mine.generation)?,
            }
        }
        Ok(())
    }
}

impl World {
    /// Every record of the state, in a fixed order.
    fn records(&mut self) -> Vec<&mut Rec> {
        let late = match &mut self.forge.late {
            Some(Late::Ledger { record, .. }) => Some(record),
            Some(Late::Visible { .. } | Late::Share { .. }) | None => None,
        };
        let mut found: Vec<&mut Rec> = self.forge.tip.iter_mut().chain(late).collect();
        for worker in &mut self.workers {
            match worker {
                Worker::Idle | Worker::Saw(_) => {}
                Worker::Looked(read) | Worker::Decided(Decided { read, .. }) => found.extend(read.tip.iter_mut()),
                Worker::Holds(lease) => {
                    found.push(&mut lease.mine);
                    found.extend(lease.pending.iter_mut());
                }
            }
        }
        found
    }

    /// Every form of the issue's share of the day.
    fn shares(&mut self) -> Vec<&mut Share> {
        let late = match &mut self.forge.late {
            Some(Late::Share { share, .. } | Late::Ledger { along: Some(Along::Share(share)), .. }) => Some(share),
            Some(Late::Ledger { along: Some(Along::Branch) | None, .. } | Late::Visible { .. }) | None => None,
        };
        self.forge.share.iter_mut().chain(late).collect()
    }

    /// A nonce that no record has.
    pub(super) fn fresh_nonce(&mut self) -> u8 {
        self.records().iter().flat_map(|rec| [Some(rec.nonce), rec.holder]).flatten().max().unwrap_or(0) + 1
    }

    /// A tick of the clock: a request in flight for longer than its deadline never arrives.
    pub(super) fn tick(&mut self) {
        for rec in self.records() {
            rec.renewed = (rec.renewed - 1).max(LONG_AGO);
            rec.retry = rec.retry.map(|retry| (retry - 1).max(-1));
        }
        if let Some(Late::Visible { ends: Some(ends), .. } | Late::Share { ends: Some(ends), .. }) =
            &mut self.forge.late
        {
            *ends -= 1;
            if *ends < 0 {
                self.forge.late = None;
            }
        }
    }

    /// The ref has moved: earlier reads are older by one move.
    fn moved(&mut self) {
        let older = |age: &mut u8| *age = (*age + 1).min(2);
        for worker in &mut self.workers {
            match worker {
                Worker::Idle | Worker::Saw(_) => {}
                Worker::Looked(read) | Worker::Decided(Decided { read, .. }) => older(&mut read.age),
                Worker::Holds(lease) => older(&mut lease.age),
            }
        }
        if let Some(Late::Ledger { age, .. }) = &mut self.forge.late {
            older(age);
        }
    }

    /// The forge's compare-and-set: the ref moves to a commit of `record` whose parent was the tip `age` moves ago.
    /// Objects are identified by their content, so a commit equal to the tip is the tip.
    pub(super) fn compare_and_set(&mut self, age: u8, record: &Rec) -> bool {
        let is_tip = age == 1 && self.forge.tip.as_ref() == Some(record);
        if age > 0 {
            return is_tip;
        }
        if let Some(tip) = &self.forge.tip {
            let other = tip.generation == record.generation && record.holder.is_some() && tip.holder != record.holder;
            let stale = record.generation < tip.generation || other;
            self.faults.backwards |= stale;
            self.faults.undone |= stale && tip.is_settled() && !record.is_settled();
        }
        self.moved();
        self.forge.tip = Some(record.clone());
        true
    }

    /// A visible write of a holder of `generation` has its effect.
    pub(super) fn apply(&mut self, effect: &Effect, generation: u8) {
        let forge = &mut self.forge;
        let is_stale = forge.tip.as_ref().is_some_and(|tip| tip.generation > generation);
        self.faults.unfenced |= is_stale && *effect != Effect::Push;
        self.faults.stray_push |= is_stale && *effect == Effect::Push;
        self.faults.ahead |=
            !is_stale && effect.shows().is_some_and(|state| Some(state) != forge.tip.as_ref().map(|tip| tip.state));
        match effect {
            Effect::Add(bit) => forge.labels |= bit,
            Effect::Remove(bit) => forge.labels &= !bit,
            Effect::NewComment(state) => {
                forge.comments += 1;
                forge.comment_says = Some(*state);
            }
            Effect::EditComment(state) => forge.comment_says = Some(*state),
            Effect::Reply => forge.replies += 1,
            Effect::Push => forge.branch = true,
            Effect::Pull(branch) => {
                let pull = &mut forge.pulls[usize::from(*branch) - 1];
                // A merged branch has nothing more to merge: the forge refuses another pull request.
                if *pull != Some(Pull::Merged) {
                    *pull = Some(Pull::Open);
                }
            }
        }
    }

    /// The request that is on its way arrives.
    pub(super) fn land(&mut self) {
        match self.forge.late.take() {
            Some(Late::Ledger { record, age, along }) => drop(self.push(age, &record, along)),
            Some(Late::Share { share, .. }) => self.write_share(share),
            Some(Late::Visible { effect, generation, .. }) => self.apply(&effect, generation),
            None => {}
        }
    }

    /// The same state with the smallest numbers.
    #[must_use]
    pub(super) fn renumbered(mut self) -> Self {
        // A commit whose parent is long gone moves nothing any more.
        if matches!(self.forge.late, Some(Late::Ledger { age: 2, .. })) {
            self.forge.late = None;
        }
        // The first generation is told from later ones: its holder need not look for a comment.
        let late = match self.forge.late {
            Some(Late::Visible { generation, .. }) => Some(generation),
            Some(Late::Ledger { .. } | Late::Share { .. }) | None => None,
        };
        let of_shares: Vec<u8> = self.shares().into_iter().map(|share| share.generation).collect();
        let of_records: Vec<u8> = self.records().into_iter().map(|rec| rec.generation).collect();
        let mut generations: Vec<u8> = of_records.into_iter().chain(of_shares).chain(late).collect();
        generations.sort_unstable();
        generations.dedup();
        let first = generations.first().map_or(0, |first| (*first).min(2));
        let rank = |old: u8| first + u8::try_from(generations.iter().position(|known| *known == old).unwrap()).unwrap();
        let mut nonces: Vec<u8> = Vec::new();
        let mut renumber = |nonce: &mut u8| {
            // Zero means no nonce.
            if *nonce == 0 {
                return;
            }
            let known = nonces.iter().position(|known| known == nonce).unwrap_or_else(|| {
                nonces.push(*nonce);
                nonces.len() - 1
            });
            *nonce = u8::try_from(known).unwrap() + 1;
        };
        for rec in self.records() {
            rec.generation = rank(rec.generation);
            // Beyond the limit one attempt is like another.
            rec.attempt = rec.attempt.min(ATTEMPTS + 2);
            renumber(&mut rec.nonce);
            rec.holder.as_mut().map(&mut renumber);
        }
        if let Some(Late::Visible { generation, .. }) = &mut self.forge.late {
            *generation = rank(*generation);
        }
        for share in self.shares() {
            share.generation = rank(share.generation);
        }
        self
    }
}
