//! The model: the steps that each state allows, the invariants of every state, and the search for stuck states.

use std::collections::{HashMap, VecDeque};

use hob_domain::{Recovery, State};
use stateright::{Model, Property};

use super::{
    shell::{Answer, Next, Outcome, Shell, Variant, look},
    world::{
        BLOCKED, Doing, Forge, Late, Lease, Pull, Round, Run, TRIGGER, Worker, World, at, label_bit, label_names,
        names, ticks,
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
    Next(usize, Answer),
    AgentEnds(usize, Outcome),
    Renews(usize, Answer),
    GivesUp(usize),
    Crashes(usize),
    /// It crashes, and the request that it has just sent has its effect later.
    CrashesWriting(usize),
    IsStopped(usize),
    Person(Person),
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
    shell: Shell,
    workers: usize,
    bounds: Bounds,
}

impl std::fmt::Display for Protocol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Bounds { trouble, people } = self.bounds;
        write!(f, "{} workers, trouble {trouble}, people {people}, recovery {:?}", self.workers, self.shell.recovery)
    }
}

impl Protocol {
    pub(super) fn new(variant: Variant, workers: usize, bounds: Bounds) -> Self {
        Self { shell: Shell { variant, recovery: Recovery::Resume }, workers, bounds }
    }

    pub(super) fn with_recovery(self, recovery: Recovery) -> Self {
        Self { shell: Shell { recovery, ..self.shell }, ..self }
    }

    fn worker_acts(&self, world: &World, w: usize, acts: &mut Vec<Act>) {
        let trouble = world.trouble_left > 0;
        let room = world.forge.late.is_none();
        let ledger_answers = || {
            let faults = [Answer::Lost, Answer::LostAndStale, Answer::Failed];
            let faults = faults.into_iter().chain(room.then_some(Answer::Late)).filter(move |_| trouble);
            std::iter::once(Answer::Arrives).chain(faults)
        };
        let lease = match &world.workers[w] {
            // A look at an unexpired lease leads back to the worker's former state.
            Worker::Idle if self.shell.is_held(world, world.clocks[w]) => return,
            Worker::Idle | Worker::Looked { .. } | Worker::Saw(_) => {
                acts.push(Act::Next(w, Answer::Arrives));
                return;
            }
            Worker::Decided { .. } => {
                acts.extend(ledger_answers().map(|answer| Act::Next(w, answer)));
                if trouble {
                    acts.push(Act::Crashes(w));
                }
                return;
            }
            Worker::Holds(lease) => lease,
        };
        match lease.doing {
            Doing::Work => {
                acts.push(Act::AgentEnds(w, Outcome::Done));
                if trouble {
                    acts.push(Act::AgentEnds(w, Outcome::FailedForNow));
                }
                if lease.mine.heard == 0 {
                    acts.push(Act::AgentEnds(w, Outcome::Question));
                }
            }
            Doing::Start | Doing::Answer | Doing::Settle(_) | Doing::Release | Doing::ReleaseReady => {
                acts.extend(ledger_answers().map(|answer| Act::Next(w, answer)));
                if lease.pending.is_some() {
                    acts.push(Act::GivesUp(w));
                }
            }
            Doing::Comment | Doing::Label | Doing::Open | Doing::Say | Doing::PutBack => {
                acts.push(Act::Next(w, Answer::Arrives));
                if trouble {
                    acts.extend([Answer::Lost, Answer::Failed].map(|answer| Act::Next(w, answer)));
                    if room {
                        acts.push(Act::CrashesWriting(w));
                    }
                }
            }
        }
        let working =
            lease.run == Run::Attempt && !matches!(lease.doing, Doing::Release | Doing::PutBack | Doing::ReleaseReady);
        if working && lease.pending.is_none() && lease.mine.renewed < world.clocks[w] {
            acts.extend(ledger_answers().map(|answer| Act::Renews(w, answer)));
        }
        if trouble {
            acts.push(Act::Crashes(w));
            if working {
                acts.push(Act::IsStopped(w));
            }
        }
    }

    fn crash_writing(&self, world: &mut World, w: usize) {
        let Worker::Holds(lease) = world.workers[w].clone() else { return };
        let state = if lease.doing == Doing::PutBack { State::Ready } else { lease.mine.state };
        let change = names().changes(&label_names(lease.labels), state);
        let permitted = self.shell.variant == Variant::NoPermit || Shell::may_write(&lease.mine, world.clocks[w]);
        world.workers[w] = Worker::Idle;
        if let Some(effect) = self.shell.effect(world, &lease, change.first()).filter(|_| permitted) {
            let generation = lease.mine.generation;
            world.forge.late = Some(Late::Visible { effect, generation, ends: super::world::DEADLINE });
        }
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
        Worker::Idle | Worker::Looked { .. } | Worker::Saw(_) | Worker::Decided { .. } => None,
    })
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
            self.worker_acts(world, w, acts);
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
        match act {
            Act::Tick => {
                if outlives_a_lease(world) {
                    trouble(&mut next);
                }
                next.tick();
            }
            Act::Arrives => next.land(),
            Act::Next(w, answer) => {
                if answer != Answer::Arrives {
                    trouble(&mut next);
                }
                self.shell.step(&mut next, w, answer);
            }
            Act::AgentEnds(w, outcome) => {
                if outcome == Outcome::FailedForNow {
                    trouble(&mut next);
                }
                self.shell.agent(&mut next, w, outcome);
            }
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
            if matches!(worker, Worker::Looked { age, .. } | Worker::Decided { age, .. } if !self.shell.may_win(*age)) {
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
        ]
    }
}

/// The result of the search for stuck states.
pub(super) struct Progress {
    pub(super) states: usize,
    pub(super) resting: usize,
    /// The shortest way into a state from which no faultless way leads to rest.
    pub(super) stuck: Option<(Vec<Act>, World)>,
}

/// Whether rest can be reached from every reachable state by steps without faults.
pub(super) fn progress(protocol: &Protocol) -> Progress {
    let mut known: HashMap<World, u32> = HashMap::new();
    let mut came: Vec<Option<(u32, Act)>> = Vec::new();
    let mut into: Vec<Vec<u32>> = Vec::new();
    let mut resting = Vec::new();
    let mut queue: VecDeque<(u32, World)> = VecDeque::new();
    let mut number = |world: World,
                      from: Option<(u32, Act)>,
                      queue: &mut VecDeque<(u32, World)>,
                      into: &mut Vec<Vec<u32>>,
                      came: &mut Vec<_>| {
        let next = u32::try_from(known.len()).unwrap();
        *known.entry(world).or_insert_with_key(|world| {
            queue.push_back((next, world.clone()));
            came.push(from);
            into.push(Vec::new());
            next
        })
    };
    for world in protocol.init_states() {
        number(world, None, &mut queue, &mut into, &mut came);
    }
    while let Some((id, world)) = queue.pop_front() {
        if protocol.at_rest(&world) {
            resting.push(id);
        }
        let left = (world.trouble_left, world.people_left);
        for (act, next) in protocol.next_steps(&world) {
            let next_left = (next.trouble_left, next.people_left);
            let to = number(next, Some((id, act)), &mut queue, &mut into, &mut came);
            // A question is an end too, but not one that Hob may count on.
            if next_left == left && !matches!(act, Act::AgentEnds(_, Outcome::Question)) {
                into[to as usize].push(id);
            }
        }
    }
    let mut reaches = vec![false; came.len()];
    let mut open = resting.clone();
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut reaches[id as usize], true) {
            open.extend(&into[id as usize]);
        }
    }
    let stuck = reaches.iter().position(|reaches| !reaches).map(|mut id| {
        let world = known.iter().find(|(_, n)| **n as usize == id).map(|(world, _)| world.clone()).unwrap();
        let mut path = Vec::new();
        while let Some((from, act)) = came[id] {
            path.push(act);
            id = from as usize;
        }
        path.reverse();
        (path, world)
    });
    Progress { states: came.len(), resting: resting.len(), stuck }
}
