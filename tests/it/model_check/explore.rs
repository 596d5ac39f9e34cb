//! The model: the steps that each state allows, the invariants of every state, and the search for stuck states.

use hob_domain::{Recovery, State};
use stateright::{Model, Property};

use super::{
    quota::Write,
    refs::{Pushing, Refs, Sends},
    shell::{Answer, Next, Outcome, Shell, Variant, look},
    world::{
        BLOCKED, DEADLINE, Decided, Doing, Effect, Forge, Late, Lease, Pull, Round, TRIGGER, Worker, World, at,
        label_bit, label_names, names, ticks,
    },
};

/// An action of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Person {
    Merges,
    Rejects,
    Closes,
    TakesTheLabelOff,
    Answers,
    RequestsChanges,
}

/// One step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// Time passes. A tick that ends the lease of a worker that lives counts as trouble.
    Tick,
    /// A request that was on its way reaches the forge.
    Arrives,
    Next(usize, Refs, Answer),
    /// A write would have to wait too long, and is not sent.
    IsLimited(usize),
    /// The status comment shows what the agent has done so far.
    Edits(usize),
    AgentEnds(usize, Outcome),
    /// The agent can start before the claim would be shown.
    IsPrepared(usize),
    Renews(usize, Answer),
    GivesUp(usize),
    Crashes(usize),
    /// It crashes, and the request that it has just sent has its effect later.
    CrashesWriting(usize),
    IsStopped(usize),
    Person(Person),
    NextDay,
}

/// The number of faults, and of people's actions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) trouble: u8,
    pub(super) people: u8,
}

/// The protocol with a number of workers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Protocol {
    pub(super) shell: Shell,
    workers: usize,
    bounds: Bounds,
}

impl std::fmt::Display for Protocol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Bounds { trouble, people } = self.bounds;
        let Shell { variant, recovery, pushing, day, writes, bills } = self.shell;
        if variant != Variant::Real {
            write!(f, "{variant:?}: ")?;
        }
        let pushing = &pushing[..self.workers];
        write!(f, "{pushing:?}, trouble {trouble}, people {people}, recovery {recovery:?}")?;
        f.write_str(if bills { ", bills" } else { "" })?;
        day.map_or(Ok(()), |day| write!(f, ", {day} attempts a day"))?;
        writes.map_or(Ok(()), |writes| write!(f, ", {writes} writes an hour"))
    }
}

impl Protocol {
    pub(super) fn new(variant: Variant, pushing: &[Pushing], bounds: Bounds) -> Self {
        let mut of_all = [Pushing::Both; 3];
        of_all[..pushing.len()].copy_from_slice(pushing);
        let shell =
            Shell { variant, recovery: Recovery::Resume, pushing: of_all, day: None, writes: None, bills: false };
        Self { shell, workers: pushing.len(), bounds }
    }

    /// With the bills of agents' runs.
    pub(super) fn with_bills(self) -> Self {
        Self { shell: Shell { bills: true, ..self.shell }, ..self }
    }

    /// With this many attempts in a day.
    pub(super) fn with_day(self, attempts: u8) -> Self {
        Self { shell: Shell { day: Some(attempts), ..self.shell }, ..self }
    }

    /// With this many writes in an hour.
    pub(super) fn with_writes(self, writes: u8) -> Self {
        Self { shell: Shell { writes: Some(writes), ..self.shell }, ..self }
    }

    pub(super) fn with_recovery(self, recovery: Recovery) -> Self {
        Self { shell: Shell { recovery, ..self.shell }, ..self }
    }

    /// How the refs of a worker's next step may move: where it moves two, as the worker pushes.
    fn ways(&self, worker: &Worker, w: usize) -> &'static [Refs] {
        let moves_two = match worker {
            Worker::Idle | Worker::Looked(_) | Worker::Saw(_) => false,
            Worker::Decided(decided) => decided.todo.begins_an_attempt(self.shell.recovery),
            Worker::Holds(lease) => lease.doing == Doing::Release && !lease.settled && lease.pending.is_none(),
        };
        match self.shell.pushing[w] {
            Pushing::Both if moves_two => &[Refs::Together],
            Pushing::Either if moves_two => &[Refs::Together, Refs::Alone],
            Pushing::Both | Pushing::Single | Pushing::Either => &[Refs::Alone],
        }
    }

    fn worker_acts(&self, world: &World, w: usize, acts: &mut Vec<Act>) {
        let trouble = world.trouble_left > 0;
        let ways = self.ways(&world.workers[w], w);
        let room = world.forge.late.is_none();
        let answers = |faults: &'static [Answer]| {
            let faults = faults.iter().filter(move |answer| trouble && (room || **answer != Answer::Late));
            std::iter::once(&Answer::Arrives).chain(faults)
        };
        let of_ledger = &[Answer::Lost, Answer::LostAndStale, Answer::Failed, Answer::Late];
        let lease = match &world.workers[w] {
            // A look at an unexpired lease leads back to the worker's former state.
            Worker::Idle if self.shell.is_held(world, world.clocks[w]) => return,
            Worker::Idle | Worker::Looked(_) | Worker::Saw(_) => {
                acts.push(Act::Next(w, Refs::Alone, Answer::Arrives));
                return;
            }
            Worker::Decided(_) => {
                let all = ways.iter().flat_map(|refs| answers(of_ledger).map(|answer| Act::Next(w, *refs, *answer)));
                acts.extend(all);
                if trouble {
                    acts.push(Act::Crashes(w));
                }
                return;
            }
            Worker::Holds(lease) => lease,
        };
        for refs in ways {
            let (faults, may_leave_it): (&'static [_], _) = match self.shell.sends(lease, *refs) {
                Sends::Nothing => {
                    self.agent_acts(lease, w, trouble, acts);
                    continue;
                }
                Sends::Ledger => (of_ledger, false),
                Sends::Fenced => (&[Answer::Lost, Answer::Failed, Answer::Late], true),
                Sends::Share => (&[Answer::Failed], true),
                Sends::Visible => (&[Answer::Lost, Answer::Failed], true),
            };
            acts.extend(answers(faults).map(|answer| Act::Next(w, *refs, *answer)));
            if may_leave_it && trouble && room {
                acts.push(Act::CrashesWriting(w));
            }
        }
        if lease.pending.is_some() {
            acts.push(Act::GivesUp(w));
        }
        // A worker that moves one ref at a time is slow, and always shows it.
        let is_quick = self.shell.pushing[w] != Pushing::Single;
        let shows_nothing = lease.labels & !TRIGGER == 0;
        if is_quick && shows_nothing && lease.doing == Doing::Label && lease.mine.state == State::Assigned {
            acts.push(Act::IsPrepared(w));
        }
        if self.shell.works(lease) && lease.pending.is_none() && lease.mine.renewed < world.clocks[w] {
            acts.extend(answers(of_ledger).map(|answer| Act::Renews(w, *answer)));
        }
        if trouble {
            acts.push(Act::Crashes(w));
            if self.shell.works(lease) {
                acts.push(Act::IsStopped(w));
            }
        }
    }

    fn agent_acts(&self, lease: &Lease, w: usize, trouble: bool, acts: &mut Vec<Act>) {
        acts.push(Act::AgentEnds(w, Outcome::Done));
        if trouble {
            acts.push(Act::AgentEnds(w, Outcome::FailedForNow));
        }
        if lease.mine.heard == 0 {
            acts.push(Act::AgentEnds(w, Outcome::Question));
        }
        if self.shell.writes.is_some() {
            acts.push(Act::Edits(w));
        }
    }

    fn crash_writing(&self, world: &mut World, w: usize) {
        let Worker::Holds(lease) = world.workers[w].clone() else { return };
        let now = world.clocks[w];
        match self.shell.sends(&lease, Refs::Alone) {
            Sends::Fenced => {
                let late = self.shell.push_in_flight(world, &lease, now);
                world.workers[w] = Worker::Idle;
                world.forge.late = Some(late);
                return;
            }
            Sends::Share => {
                world.forge.late = self.shell.share_in_flight(world, &lease, now);
                world.workers[w] = Worker::Idle;
                return;
            }
            Sends::Nothing | Sends::Ledger | Sends::Visible => {}
        }
        let state = if lease.doing == Doing::PutBack { State::Ready } else { lease.mine.state };
        let change = names().changes(&label_names(lease.labels), state);
        let permitted = self.shell.variant == Variant::NoPermit || Shell::may_write(&lease.mine, now);
        world.workers[w] = Worker::Idle;
        if let Some(effect) = self.shell.effect(world, &lease, change.first()).filter(|_| permitted) {
            let ends = if effect == Effect::Push { self.shell.push_ends() } else { Some(DEADLINE) };
            world.forge.late = Some(Late::Visible { effect, generation: lease.mine.generation, ends });
        }
    }

    /// Whether the day has no room for another attempt, and nobody works.
    fn is_full(&self, world: &World) -> bool {
        let idle = world.workers.iter().all(|worker| *worker == Worker::Idle);
        let bill = world.forge.tip.as_ref().map_or(0, |tip| tip.spend);
        idle && world.forge.late.is_none() && !self.shell.has_room(world.forge.share, bill)
    }

    /// Whether every worker waits for a person, and nothing is on its way.
    pub(super) fn at_rest(&self, world: &World) -> bool {
        let idle = world.workers.iter().all(|worker| *worker == Worker::Idle);
        let nothing = |now: &i8| self.shell.decide(world, world.forge.tip.as_ref(), &look(world), *now) == Next::Rest;
        idle && world.forge.late.is_none() && world.clocks.iter().all(nothing)
    }
}

fn person(world: &mut World, person: Person) {
    let forge = &mut world.forge;
    let to_open = |pull: &&mut Option<Pull>| **pull == Some(Pull::Open);
    match person {
        Person::Merges => {
            forge.pulls.iter_mut().filter(to_open).for_each(|pull| *pull = Some(Pull::Merged));
            // Its text says that it fixes the issue.
            forge.open = false;
        }
        Person::Rejects => forge.pulls.iter_mut().filter(to_open).for_each(|pull| *pull = Some(Pull::Closed)),
        Person::Closes => forge.open = false,
        Person::TakesTheLabelOff => forge.labels &= !TRIGGER,
        Person::Answers => forge.answers += 1,
        Person::RequestsChanges => forge.review = true,
    }
}

/// Those that hold a lease, each with its worker.
fn leases(world: &World) -> impl Iterator<Item = (usize, &Lease)> {
    world.workers.iter().enumerate().filter_map(|(w, worker)| match worker {
        Worker::Holds(lease) => Some((w, &**lease)),
        Worker::Idle | Worker::Looked(_) | Worker::Saw(_) | Worker::Decided(_) => None,
    })
}

/// Whether an agent works only within a reservation. A worker that lost its lease may not know it yet.
fn work_is_reserved(_: &Protocol, world: &World) -> bool {
    let generation = world.forge.tip.as_ref().map(|tip| tip.generation);
    let works = |lease: &Lease| matches!(lease.doing, Doing::Work | Doing::Push | Doing::Open);
    let mut working = leases(world).filter(|(_, lease)| works(lease) && Some(lease.mine.generation) == generation);
    working.all(|_| world.forge.share.is_some_and(|share| share.reserved))
}

/// Whether the day has what the ledger says, once nobody works.
fn rest_is_settled(protocol: &Protocol, world: &World) -> bool {
    let Some(tip) = world.forge.tip.as_ref().filter(|_| protocol.at_rest(world)) else { return true };
    Shell::is_settled(world.forge.share, tip.spend)
}

/// Whether the work is there where people are asked to look at it.
fn nothing_is_lost(_: &Protocol, world: &World) -> bool {
    world.forge.branch || world.forge.pulls.iter().all(Option::is_none)
}

/// Whether each lease that is about to end finds a write to renew it.
fn renewals_have_room(protocol: &Protocol, world: &World) -> bool {
    protocol.shell.has_write(world, Write::OfLease) || !outlives_a_lease(world)
}

/// Whether a lease ends with the next tick though its worker lives: it was suspended, or does not reach the forge.
fn outlives_a_lease(world: &World) -> bool {
    let left = |w: usize, lease: &Lease| hob_domain::remaining(&lease.mine.record(), at(world.clocks[w]));
    leases(world).any(|(w, lease)| left(w, lease) == ticks(1))
}

fn one_holder(_: &Protocol, world: &World) -> bool {
    let mut generations: Vec<u8> = leases(world)
        .filter(|(w, lease)| !hob_domain::remaining(&lease.mine.record(), at(world.clocks[*w])).is_zero())
        .map(|(_, lease)| lease.mine.generation)
        .collect();
    let holders = generations.len();
    generations.sort_unstable();
    generations.dedup();
    generations.len() == holders
}

fn one_writer(_: &Protocol, world: &World) -> bool {
    // A worker that lets the lease go writes nothing more, whether or not it knows that it has let go.
    let writes = |lease: &Lease| !matches!(lease.doing, Doing::Release | Doing::ReleaseReady);
    leases(world).filter(|(w, lease)| writes(lease) && Shell::may_write(&lease.mine, world.clocks[*w])).count() <= 1
}

fn rest_is_shown(protocol: &Protocol, world: &World) -> bool {
    let Some(tip) = world.forge.tip.as_ref().filter(|_| protocol.at_rest(world)) else { return true };
    let wanted = names().of(tip.state).map_or(0, label_bit);
    world.forge.labels & !TRIGGER == wanted && world.forge.comment_says == Some(tip.state)
}

fn rest_is_answered(protocol: &Protocol, world: &World) -> bool {
    let Some(tip) = world.forge.tip.as_ref().filter(|_| protocol.at_rest(world)) else { return true };
    let owes = world.forge.review && tip.state == State::InReview;
    (!owes || tip.round == Round::Handled) && (tip.round != Round::Handled || world.forge.replies == 1)
}

impl Model for Protocol {
    type State = World;
    type Action = Act;

    fn init_states(&self) -> Vec<World> {
        let forge = Forge {
            open: true,
            labels: TRIGGER,
            tip: None,
            share: None,
            branch: false,
            pulls: [None, None],
            comments: 0,
            comment_says: None,
            answers: 0,
            review: false,
            replies: 0,
            late: None,
        };
        // The clocks agree, or the last worker's is ahead as far as it may.
        let ahead = |skew: i8| (0..self.workers).map(|w| if w + 1 == self.workers { skew } else { 0 }).collect();
        let world = |clocks| World {
            forge: forge.clone(),
            workers: vec![Worker::Idle; self.workers],
            clocks,
            faults: super::world::Faults::default(),
            trouble_left: self.bounds.trouble,
            people_left: self.bounds.people,
            written: 0,
            hour: 0,
        };
        [0, super::world::SKEW].map(ahead).map(world).into()
    }

    fn actions(&self, world: &World, acts: &mut Vec<Act>) {
        if world.trouble_left > 0 || !outlives_a_lease(world) {
            acts.push(Act::Tick);
        }
        if world.forge.late.is_some() {
            acts.push(Act::Arrives);
        }
        for w in 0..self.workers {
            let before = acts.len();
            self.worker_acts(world, w, acts);
            self.shell.limit(world, w, acts, before);
        }
        if self.is_full(world) {
            acts.push(Act::NextDay);
        }
        if world.people_left > 0 {
            if world.forge.pulls.contains(&Some(Pull::Open)) {
                acts.extend([Person::Merges, Person::Rejects].map(Act::Person));
                if !world.forge.review {
                    acts.push(Act::Person(Person::RequestsChanges));
                }
            }
            if world.forge.open && world.forge.labels & TRIGGER != 0 {
                acts.extend([Person::Closes, Person::TakesTheLabelOff].map(Act::Person));
            }
            if world.forge.labels & BLOCKED != 0 && world.forge.answers < 2 {
                acts.push(Act::Person(Person::Answers));
            }
        }
    }

    fn next_state(&self, world: &World, act: Act) -> Option<World> {
        let mut next = world.clone();
        let trouble = |next: &mut World| next.trouble_left -= 1;
        self.shell.count(&mut next, act);
        match act {
            Act::Tick => {
                if outlives_a_lease(world) {
                    trouble(&mut next);
                }
                next.tick();
                self.shell.tick(&mut next);
            }
            Act::Arrives => next.land(),
            Act::Next(w, refs, answer) => {
                if answer != Answer::Arrives {
                    trouble(&mut next);
                }
                self.shell.step(&mut next, w, refs, answer);
            }
            Act::IsLimited(w) => self.shell.step(&mut next, w, Refs::Alone, Answer::Failed),
            Act::Edits(_) => {}
            Act::NextDay => next.forge.share = None,
            Act::AgentEnds(w, outcome) => {
                if outcome == Outcome::FailedForNow {
                    trouble(&mut next);
                }
                self.shell.agent(&mut next, w, outcome);
            }
            Act::IsPrepared(w) => Shell::is_prepared(&mut next, w),
            Act::Renews(w, answer) => {
                if answer != Answer::Arrives {
                    trouble(&mut next);
                }
                self.shell.renew(&mut next, w, answer);
            }
            Act::GivesUp(w) => Shell::give_up(&mut next, w),
            Act::Crashes(w) => {
                trouble(&mut next);
                next.workers[w] = Worker::Idle;
            }
            Act::CrashesWriting(w) => {
                trouble(&mut next);
                self.crash_writing(&mut next, w);
            }
            Act::IsStopped(w) => {
                trouble(&mut next);
                self.shell.stop(&mut next, w);
            }
            Act::Person(does) => {
                next.people_left -= 1;
                person(&mut next, does);
            }
        }
        // A claimant that was overtaken has lost already: its write would be refused.
        for worker in &mut next.workers {
            if matches!(worker, Worker::Looked(read) | Worker::Decided(Decided { read, .. }) if !self.shell.may_win(read.age))
            {
                *worker = Worker::Idle;
            }
        }
        let next = next.renumbered();
        (next != *world).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("one generation has one holder", one_holder),
            Property::always("one worker may write", one_writer),
            Property::always("no generation goes backwards", |_: &Self, world: &World| !world.faults.backwards),
            Property::always("no stale write is seen", |_: &Self, world: &World| !world.faults.unfenced),
            Property::always("a settled state stays", |_: &Self, world: &World| !world.faults.undone),
            Property::always("one pull request", |_: &Self, world: &World| world.forge.pulls[1].is_none()),
            Property::always("one status comment", |_: &Self, world: &World| world.forge.comments <= 1),
            Property::always("a review is answered once", |_: &Self, world: &World| world.forge.replies <= 1),
            Property::always("at rest, a review is answered", rest_is_answered),
            Property::always("at rest, people see what the ledger says", rest_is_shown),
            Property::always("no branch is moved under a lost lease", |_: &Self, world: &World| {
                !world.faults.stray_push
            }),
            Property::always("nothing is shown that the ledger does not have", |_: &Self, world: &World| {
                !world.faults.ahead
            }),
            Property::always("work is reserved", work_is_reserved),
            Property::always("at rest, the day is settled", rest_is_settled),
            Property::always("nothing is lost", nothing_is_lost),
            Property::always("a renewal finds a write", renewals_have_room),
        ]
    }
}
