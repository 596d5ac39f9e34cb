//! Crash at every moment: a worker dies anywhere between two waits; on the same machine or another one, the next worker
//! takes up its work, and may die over that too.
//!
//! Every moment gets its own world, in virtual time. By default some moments are tried; with `HOB_CRASH_ALL` set, every
//! moment of every scenario, and every pair of writes of the short ones. `--nocapture` shows how many were tried and
//! survived.

mod death;
mod scenario;

use std::{
    cell::RefCell,
    panic::catch_unwind,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use hob_forge::Access;
use hob_worker::{RunSummary, run_sequentially};
use tokio_util::sync::CancellationToken;

use self::{
    death::{Moment, Side, until},
    scenario::Scenario,
};
use crate::harness::{Books, Gate, Machine, Turnstile, World, in_virtual_time};

/// Passes of the workers that come after; more of them means that they never come to rest.
const PASSES_MAX: usize = 8;
/// Worlds at one time.
const AT_ONCE: usize = 2;
/// Bytes of their stacks: frames of code that is not optimised are many times those of the program that ships.
const STACK: usize = 8 << 20;
/// By default, one moment of this many is tried,
const EVERY: usize = 24;
/// and at least this many of a short scenario: a run that happens to be shorter than the traced one misses the last of
/// them.
const LEAST: usize = 8;

/// The worker that dies, and its machine.
const MORTAL: &str = "mortal";

/// The writes of the mortal worker's run: for each step, the number of writes to the API before it.
type Trace = Vec<usize>;

/// A scenario that is being played.
struct Play {
    scenario: Scenario,
    world: World,
    books: Books,
    turnstile: Arc<Turnstile>,
    /// Where agents wait for what a person says, if one says anything then.
    gate: tokio::sync::Mutex<Option<Gate>>,
    /// When the workers die, one after the other.
    deaths: Vec<Moment>,
    died: u64,
    /// The steps of the last run that did not die.
    trace: RefCell<Trace>,
    /// Whether others come on the machine of the dead, or each on a fresh one.
    heirs: Heirs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heirs {
    OnItsMachine,
    OnOthers,
}

impl Play {
    async fn begin(scenario: Scenario, mut deaths: Vec<Moment>) -> Self {
        let turnstile = Arc::new(scenario.turnstile());
        let world = scenario.world(&turnstile).await;
        // Every other moment its own machine continues; both sides of a moment are tried on both.
        let heirs = match deaths.first() {
            Some(Moment::Step(n, side) | Moment::Write(n, side)) if n % 2 == usize::from(*side == Side::After) => {
                Heirs::OnItsMachine
            }
            Some(_) | None => Heirs::OnOthers,
        };
        deaths.reverse();
        let (books, trace) = (Books::default(), RefCell::default());
        let gate = scenario.says_at_work().map(|_| Gate::of(&world)).into();
        Self { scenario, world, books, turnstile, gate, deaths, died: 0, trace, heirs }
    }

    /// The turns of the scenario up to its end.
    async fn play(&mut self) {
        for turn in 0..self.scenario.turns() {
            self.scenario.deed(&self.world, turn).await;
            if turn < self.scenario.first_deadly() {
                self.run_before().await;
                continue;
            }
            let has_died = self.died > 0 || self.run_mortal(MORTAL, self.scenario.stops_after(turn)).await.is_none();
            // What is said when the work is published is heard by the next poll.
            if has_died || self.scenario.says_at_work().is_some() {
                self.come_to_rest().await;
            }
        }
        // A machine that came back has what the forge did not take of it.
        self.world.pays().await;
        self.scenario.holds(&self.world, self.died).await;
        self.counts_each_run_once().await;
        if self.heirs == Heirs::OnItsMachine && self.died > 0 && self.scenario.is_taken_up_again() {
            self.world.nothing_half_made(MORTAL);
        }
    }

    /// The issue's ledger has what its agents spent, and no run began above its budget.
    async fn counts_each_run_once(&self) {
        let mut wrong = self.books.balance(&self.world, 1).await;
        if let Some(tokens) = self.scenario.budget() {
            wrong = wrong.and(self.books.keeps_to(&self.world, 1, tokens).await);
        }
        if let Err(wrong) = wrong {
            panic!("{wrong}: {:#?} {:?}", self.world.history(1).await, self.books);
        }
    }

    /// One pass of a worker that does not die.
    async fn run_before(&mut self) {
        let deaths = std::mem::take(&mut self.deaths);
        self.run_mortal("before", None).await.unwrap();
        self.deaths = deaths;
    }

    /// One pass of a worker; `None` if it died.
    async fn run_mortal(&mut self, name: &str, stops_after: Option<usize>) -> Option<RunSummary> {
        let cancel = CancellationToken::new();
        let settings = self.world.settings.clone();
        let worker = self.world.worker_until(name, settings, Access::ReadWrite, cancel.clone()).await;
        let moment = self.deaths.last().copied();
        let mut stopped = match moment {
            Some(Moment::Write(write, Side::Before)) => self.turnstile.stop_at_write(write),
            Some(Moment::Write(_, Side::After) | Moment::Step(..)) | None => {
                self.turnstile.stop_after(stops_after.unwrap_or(usize::MAX / 2))
            }
        };
        let trace = RefCell::new(Trace::new());
        let writes = || {
            let written = self.turnstile.written();
            trace.borrow_mut().push(written);
            written
        };
        let pass = async {
            let mut run = Box::pin(run_sequentially(&worker));
            let mut gate = self.gate.lock().await;
            let speaks = async {
                if let Some(gate) = gate.as_mut() {
                    self.scenario.speaks(&self.world, &self.turnstile, gate).await;
                }
                std::future::pending::<()>().await;
            };
            tokio::select! {
                () = Box::pin(speaks) => unreachable!("it never ends"),
                summary = &mut run => return Some(summary.unwrap()),
                Ok(go) = &mut stopped => match moment {
                    Some(Moment::Write(_, Side::Before)) => return None,
                    Some(Moment::Write(_, Side::After) | Moment::Step(..)) | None => {
                        cancel.cancel();
                        go.send(()).ok();
                    }
                },
            }
            Some(run.await.unwrap())
        };
        let ended = until(moment, writes, Box::pin(pass)).await.flatten();
        match &ended {
            Some(_) => self.trace = trace,
            None => {
                self.deaths.pop();
                self.died += 1;
            }
        }
        if ended.is_none() || stops_after.is_some() {
            let machine = match self.heirs {
                Heirs::OnItsMachine => Machine::Stays,
                Heirs::OnOthers => Machine::Goes,
            };
            self.books.loses(&self.world, 1, machine).await;
        }
        ended
    }

    /// New workers poll until one finds nothing to do, now or later. They may die too.
    async fn come_to_rest(&mut self) {
        let lease = self.world.settings.lease.duration + self.world.settings.lease.skew + Duration::from_secs(2);
        self.world.forge.advance(lease);
        for pass in 0..PASSES_MAX {
            let name = match self.heirs {
                Heirs::OnItsMachine => MORTAL.to_owned(),
                Heirs::OnOthers => format!("next{pass}"),
            };
            let Some(summary) = self.run_mortal(&name, None).await else {
                self.world.forge.advance(lease);
                continue;
            };
            // A lease is waited for too: the forge may carry out a request of the dead after it has ended.
            let record = self.world.record(1).await;
            let waits = record.is_some_and(|record| record.failure.until.is_some() || record.lease.is_some());
            if summary.worked + summary.reconciled + summary.failed == 0 && !waits {
                return;
            }
            if waits {
                self.world.forge.advance(Duration::from_secs(3_601));
            }
        }
        let (history, failures) = (self.world.history(1).await, self.world.failures());
        panic!("no rest after {PASSES_MAX} passes: {history:?} {failures:?}");
    }
}

/// Plays the scenario with these deaths to its end; returns whether all of them came.
fn survives(scenario: Scenario, deaths: Vec<Moment>) -> bool {
    in_virtual_time(Box::pin(async {
        let mut play = Play::begin(scenario, deaths).await;
        play.play().await;
        play.world.finish().await;
        play.deaths.is_empty()
    }))
}

/// The steps of the run in which a worker may die after the deaths so far: of the first deadly run, or of the first one
/// that takes up the work after a death.
fn trace(scenario: Scenario, deaths: &[Moment]) -> Trace {
    in_virtual_time(Box::pin(async {
        let mut play = Play::begin(scenario, deaths.to_vec()).await;
        for turn in 0..scenario.turns() {
            scenario.deed(&play.world, turn).await;
            if turn < scenario.first_deadly() {
                play.run_before().await;
                continue;
            }
            if play.run_mortal(MORTAL, scenario.stops_after(turn)).await.is_none() {
                let lease = play.world.settings.lease.duration * 2;
                play.world.forge.advance(lease);
                let name = if play.heirs == Heirs::OnItsMachine { MORTAL } else { "next0" };
                play.run_mortal(name, None).await.unwrap();
            }
            break;
        }
        play.world.leave();
        play.trace.take()
    }))
}

/// Both sides of every step.
fn all(trace: &Trace) -> Vec<Moment> {
    let steps = 0..trace.len().saturating_sub(1);
    steps.flat_map(|step| [Moment::Step(step, Side::Before), Moment::Step(step, Side::After)]).collect()
}

/// Both sides of every write.
fn writes(trace: &Trace) -> Vec<Moment> {
    let writes = trace.first().copied().unwrap_or(0)..trace.last().copied().unwrap_or(0);
    writes.flat_map(|write| [Moment::Write(write, Side::Before), Moment::Write(write, Side::After)]).collect()
}

fn every_point() -> bool {
    std::env::vars_os().any(|(name, _)| name == "HOB_CRASH_ALL")
}

/// Tries each list of deaths in its own world; fails if one is not survived.
#[expect(clippy::print_stdout, reason = "the figures are what one runs this for")]
fn try_all(scenario: Scenario, what: &str, points: &[Vec<Moment>]) {
    let (next, late, lost) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    let try_some = || {
        while let Some(deaths) = points.get(next.fetch_add(1, Ordering::Relaxed)) {
            match catch_unwind(|| survives(scenario, deaths.clone())) {
                Ok(true) => {}
                Ok(false) => drop(late.fetch_add(1, Ordering::Relaxed)),
                Err(_) => lost.lock().unwrap().push(deaths.clone()),
            }
        }
    };
    std::thread::scope(|scope| {
        for _thread in 0..AT_ONCE {
            std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, try_some).unwrap();
        }
    });
    let lost = lost.into_inner().unwrap();
    // A run that happened to have fewer steps was over before its last moments.
    let tried = points.len() - late.into_inner();
    println!("{scenario:?}: {tried} {what} tried, {} survived", tried - lost.len());
    assert!(lost.is_empty(), "{scenario:?} is lost at {lost:?}");
    assert!(tried * 2 > points.len(), "only {tried} of {} moments came", points.len());
}

/// A worker dies at some moments of the scenario, or at all.
fn crash(scenario: Scenario) {
    // The number of steps depends on the machine's current speed: the writes of the shorter run occur in most.
    let (one, other) = (trace(scenario, &[]), trace(scenario, &[]));
    let moments = all(if one.len() < other.len() { &one } else { &other });
    let every = if every_point() { 1 } else { EVERY.min(moments.len() / LEAST).max(1) };
    let wanted = moments.iter().step_by(every);
    try_all(scenario, "moments", &wanted.map(|moment| vec![*moment]).collect::<Vec<_>>());
}

/// A worker dies at each write, and the next one at each of its own.
fn crash_twice(scenario: Scenario) {
    if !every_point() {
        return;
    }
    let mut pairs = Vec::new();
    for first in writes(&trace(scenario, &[])) {
        pairs.extend(writes(&trace(scenario, &[first])).into_iter().map(|second| vec![first, second]));
    }
    try_all(scenario, "pairs of writes", &pairs);
}

#[test]
fn a_worker_may_die_at_any_write_of_the_happy_path() {
    let points: Vec<_> = writes(&trace(Scenario::Happy, &[])).into_iter().map(|moment| vec![moment]).collect();
    try_all(Scenario::Happy, "writes", &points);
}

macro_rules! deaths {
    ($($name:ident: $kill:ident($scenario:ident),)*) => {$(
        #[test]
        fn $name() {
            $kill(Scenario::$scenario);
        }
    )*};
}

deaths! {
    a_worker_may_die_anywhere_in_the_happy_path: crash(Happy),
    a_write_of_the_dead_may_come_late: crash(Late),
    a_worker_may_die_anywhere_between_two_rounds: crash(FixedInTheSecondRound),
    a_worker_may_die_anywhere_between_two_candidates: crash(TwoCandidates),
    a_worker_may_die_anywhere_before_and_after_an_answer: crash(Answered),
    a_worker_may_die_anywhere_in_a_refusal: crash(Refused),
    a_worker_may_die_anywhere_after_a_merge: crash(Merged),
    a_worker_may_die_anywhere_after_a_rejection: crash(Rejected),
    a_worker_may_die_anywhere_in_a_cancel: crash(Cancelled),
    a_worker_may_die_anywhere_before_a_retry: crash(Retried),
    a_worker_may_die_anywhere_while_it_is_stopped: crash(Stopped),
    a_worker_may_die_anywhere_when_it_is_asked_again: crash(AskedAgain),
    a_worker_may_die_anywhere_when_the_base_has_moved: crash(BaseMoved),
    a_worker_may_die_anywhere_in_a_round_in_review: crash(Reviewed),
    a_worker_may_die_anywhere_where_all_comes_at_once: crash(Mixed),
    a_worker_may_die_anywhere_before_and_after_a_plan: crash(Planned),
    a_worker_may_die_anywhere_over_commands: crash(Commanded),
    a_worker_may_die_anywhere_over_commands_at_work: crash(CommandedAtWork),
    a_worker_may_die_anywhere_in_a_pause: crash(Paused),
    a_worker_may_die_anywhere_over_words_at_work: crash(HeardAtWork),
    a_worker_may_die_anywhere_over_words_at_publication: crash(HeardAtPublication),
    a_worker_may_die_anywhere_in_the_round_of_words: crash(RoundOfWords),
    a_worker_may_die_anywhere_over_a_stop_at_work: crash(ToldOffAtWork),
    a_worker_may_die_anywhere_over_a_change_of_mind: crash(MindChanged),
    a_worker_may_die_anywhere_over_the_rules_of_a_house: crash(House),
    a_worker_may_die_anywhere_over_an_auto_merge: crash(MergedByItself),
    a_worker_may_die_anywhere_over_a_hand_off: crash(HandedOver),
    a_worker_may_die_anywhere_over_a_list_of_issues: crash(Split),
    a_worker_may_die_anywhere_over_a_used_up_budget: crash(SpentUp),
    a_worker_may_die_anywhere_over_spend_that_was_not_written: crash(Journaled),
    a_second_worker_may_die_over_what_the_first_left: crash_twice(Happy),
    a_second_worker_may_die_over_a_refusal: crash_twice(Refused),
    a_second_worker_may_die_over_a_merge: crash_twice(Merged),
    a_second_worker_may_die_over_a_rejection: crash_twice(Rejected),
    a_second_worker_may_die_over_a_cancel: crash_twice(Cancelled),
    a_second_worker_may_die_over_a_round_in_review: crash_twice(Reviewed),
    a_second_worker_may_die_over_commands: crash_twice(Commanded),
}
