//! Seeded random faults and moods: the forge fails at random and behaves as the real one does on a bad day, workers
//! come, go and die, people act in the middle of it; and once the forge is well again each issue is where it belongs,
//! with one pull request, one comment and its bill, and nothing is held or stuck.
//!
//! A seed runs in this process and in virtual time; a few run over sockets and in real time too. `HOB_SEED` is the
//! first seed, and the only one unless `HOB_SEEDS` gives their number. `--nocapture` shows the figures.

mod draw;
mod faults;
mod lives;
mod talk;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use chrono::Timelike;
use futures_util::{FutureExt, StreamExt, stream};
use github_emulator::Moods;
use hob_domain::State;
use hob_worker::{RunLimits, RunSummary, Worker};

use self::{
    draw::Draw,
    faults::{faults, moods},
    lives::{Life, SCRIPT, SETTINGS},
    talk::unheard,
};
use crate::harness::{Books, Machine, Turnstile, World, in_virtual_time};

/// The number of seeds in the suite.
const SEEDS: u64 = 40;
/// The number of them that also run over sockets.
const OVER_SOCKETS: u64 = 2;
/// Seeds that run beside each other.
const AT_ONCE: usize = 2;
/// Bytes of their stacks: frames of code that is not optimised are many times those of the program that ships.
const STACK: usize = 8 << 20;
/// Passes while the forge fails.
const FAULTY_PASSES: u64 = 8;
/// Passes on the healed forge until every issue must be where it belongs.
const HEALED_PASSES: usize = 10;
/// Longer than a lease and its skew, and than any pause before an attempt.
const LONG: Duration = Duration::from_secs(2 * 3600);
/// Shorter than a lease, longer than most limits of the forge.
const SHORT: Duration = Duration::from_secs(20);

/// The way of Hob's calls to the forge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Inside,
    Sockets,
}

/// A world, the way of Hob's requests in it, and the number of workers that have died.
struct Stage {
    world: World,
    books: Books,
    turnstile: Arc<Turnstile>,
    draw: Draw,
    deaths: u64,
}

impl Stage {
    async fn build(draw: Draw, line: Line) -> Self {
        let turnstile = Arc::new(Turnstile::default());
        let builder = World::with_bare_agent(SCRIPT)
            .file(".github/hob.toml", SETTINGS)
            .file("NOTICE", "Copyright 2025\n")
            .set("testing.forge.patience", "2s")
            .set("limits.attempts", "100")
            // What a run costs grows with its number, so that the books tell them apart.
            .set("budget.issue", "0")
            .set("budget.day", "0")
            .set("limits.issues_per_hour", "1000")
            .set("testing.limits.retry_delay", "1s");
        let world = match line {
            Line::Inside => builder.inside(&turnstile).start().await,
            Line::Sockets => builder.start().await,
        };
        Self { world, books: Books::default(), turnstile, draw, deaths: 0 }
    }

    async fn worker(&self, name: &str) -> Arc<Worker> {
        // Some fetch the repository themselves.
        if self.draw.below(6, "mirror") > 0 {
            self.world.plant_mirror(name).await;
        }
        self.world.worker(name).await
    }

    /// The worker of a pass: most often the one before, at times a new process of it, at times another machine's.
    async fn worker_of(&self, pass: u64, before: Option<(String, Arc<Worker>)>) -> (String, Arc<Worker>) {
        let name = match (before, self.draw.below(4, &format!("{pass}: worker"))) {
            (Some(before), 0 | 1) => return before,
            (Some((name, _)), 2) => name,
            _ => format!("w{pass}"),
        };
        let worker = self.worker(&name).await;
        (name, worker)
    }

    /// One pass of a worker, in the middle of which people act; or it dies there.
    async fn pass(&mut self, pass: u64, worker: Arc<Worker>, lives: &mut [Life]) -> Option<Arc<Worker>> {
        let acts = lives.iter().position(|life| life.moment.0 == pass && !life.is_quiet());
        let dies = acts.is_none() && self.draw.below(4, &format!("{pass}: death")) == 0;
        let talks = acts.is_none() && self.draw.below(2, &format!("{pass}: words")) == 0;
        let talks = talks.then(|| self.draw.count(lives.len(), &format!("{pass}: issue of the words")));
        let after = match acts {
            Some(acts) => lives[acts].moment.1,
            None => self.draw.count(60, &format!("{pass}: moment of death")),
        };
        let moods = moods(self.draw, pass);
        self.world.forge.set_moods(moods.clone());
        let stopped = self.turnstile.stop_after(if dies || acts.or(talks).is_some() { after } else { usize::MAX / 2 });
        {
            let mut run = Box::pin(hob_worker::run_once(&worker, RunLimits::default()));
            let reached = tokio::select! {
                // A pass that fails is the subject here.
                ended = &mut run => { drop(ended); None }
                go = stopped => go.ok(),
            };
            // People's actions must succeed: the moods are for Hob.
            self.world.forge.set_moods(Moods::default());
            if let Some(acts) = acts {
                lives[acts].act(&self.world).await;
            }
            if let Some(talks) = talks {
                lives[talks].hears(&self.world, self.draw, pass).await;
            }
            self.world.forge.set_moods(moods);
            if reached.is_some() && dies {
                drop(run);
                self.deaths += 1;
                for life in lives.iter() {
                    self.books.loses(&self.world, life.issue, Machine::Goes).await;
                }
                return None;
            }
            if let Some(go) = reached {
                go.send(()).ok();
                drop(run.await);
            }
        }
        self.turnstile.open();
        // An agent that is ended before it reports its cost reports none.
        let ended = acts.filter(|acts| lives[*acts].ends_an_agent()).or(talks);
        if let Some(ended) = ended {
            self.books.loses(&self.world, lives[ended].issue, Machine::Goes).await;
        }
        Some(worker)
    }

    /// Between two passes the forge is itself.
    fn calms_down(&self) {
        self.world.forge.heal();
        self.world.forge.set_moods(Moods::default());
    }

    /// At times it was a worker of version 1 that came before.
    async fn ages(&self, pass: u64, lives: &[Life]) {
        for life in lives {
            let is_older = self.draw.below(4, &format!("{pass}: version 1 of {}", life.issue)) == 0;
            if is_older && self.world.record(life.issue).await.is_some() {
                self.world.is_of_version_1(life.issue).await;
            }
        }
    }

    async fn is_over(&self, lives: &[Life]) -> bool {
        for life in lives {
            if !life.is_over(self.world.record(life.issue).await.as_ref()) {
                return false;
            }
        }
        true
    }

    /// On the healed forge every issue comes to its end, and then there is nothing left to do.
    async fn heals(&self, lives: &[Life]) {
        for pass in 0..HEALED_PASSES {
            self.world.forge.advance(LONG);
            let healer = self.worker("healer").await;
            let summary: RunSummary = hob_worker::run_once(&healer, RunLimits::default()).await.unwrap();
            let idle = summary.worked + summary.reconciled + summary.failed == 0;
            if idle && self.is_over(lives).await {
                return self.world.pays().await;
            }
            if pass + 1 == HEALED_PASSES {
                panic!("no rest: {summary:?}\n{}", self.story(lives).await);
            }
            for life in lives {
                life.answer(&self.world).await;
            }
        }
    }

    /// The required state of the forge at the end, beside that of [`World::finish_after_faults`].
    async fn ends_well(&self, lives: &[Life]) {
        for life in lives {
            let Some(record) = self.world.record(life.issue).await else { continue };
            let open = life.open_pulls(&self.world).await;
            let said = self.world.said(life.issue).await;
            // Each question and reply is a comment of its own.
            let is_status =
                |text: &str| !text.starts_with("<!-- hob:question ") && !text.starts_with("<!-- hob:reply ");
            let own = said.iter().filter(|said| said.author == "hob" && is_status(&said.text)).count();
            let its_pull = record.pull.number.map(|pull| pull.0);
            let wrong = if !life.is_over(Some(&record)) {
                format!("it is {:?}", record.state)
            } else if record.state == State::InReview && (open.len(), its_pull) != (1, open.first().copied()) {
                format!("its pull request is {its_pull:?}, and open are {open:?}")
            } else if let Some(unheard) = unheard(&self.world, life, &record).await {
                unheard
            } else if life.is_red_still(&self.world).await {
                "its head is the one on which a check failed".to_owned()
            } else if own != 1 {
                format!("{own} comments: {said:#?}")
            } else if let Err(wrong) = self.books.balance(&self.world, life.issue).await {
                format!("{wrong} {:?}", self.books)
            } else {
                continue;
            };
            panic!("issue {}: {wrong}\n{}", life.issue, self.story(lives).await);
        }
    }

    /// The data for understanding a failed seed.
    async fn story(&self, lives: &[Life]) -> String {
        let mut story = format!("seed {}: {} deaths\n", self.draw.0, self.deaths);
        for life in lives {
            let (issue, labels) = (life.issue, self.world.labels(life.issue).await);
            story += &format!("{life:?} {labels:?}\n{:#?}\n", self.world.history(issue).await);
        }
        story + &format!("{:#?}", self.world.failures())
    }
}

/// The life of a seed's issues. Returns how many of them had a review that was answered.
async fn survives(seed: u64, line: Line) -> u64 {
    let draw = Draw(seed);
    let mut stage = Stage::build(draw, line).await;
    // Each hour of the day has its seeds, whenever they run: a day's budget ends at midnight.
    let hour = u32::try_from(seed % 24).unwrap();
    let began = stage.world.now().await;
    let hours = (24 + hour - began.hour()) % 24;
    stage.world.forge.advance(Duration::from_secs(u64::from(hours) * 3_600));
    let mut lives = Vec::new();
    for n in 0..=draw.below(3, "issues") {
        lives.push(Life::begin(&stage.world, draw, n).await);
    }
    let mut before = None;
    for pass in 0..FAULTY_PASSES {
        let (name, worker) = stage.worker_of(pass, before.take()).await;
        for fault in faults(draw, pass) {
            stage.world.forge.inject(fault);
        }
        before = stage.pass(pass, worker, &mut lives).await.map(|worker| (name, worker));
        stage.calms_down();
        stage.ages(pass, &lives).await;
        for life in &lives {
            life.answer(&stage.world).await;
        }
        if lives.iter().all(Life::is_quiet) && stage.is_over(&lives).await {
            break;
        }
        stage.world.forge.advance(if draw.below(3, &format!("{pass}: pause")) == 0 { SHORT } else { LONG });
    }
    for life in lives.iter_mut().filter(|life| !life.is_quiet()) {
        life.act(&stage.world).await;
    }
    stage.heals(&lives).await;
    stage.ends_well(&lives).await;
    let mut reviewed = 0;
    for life in &lives {
        reviewed += u64::from(life.is_reviewed(&stage.world).await);
    }
    stage.world.finish_after_faults().await;
    reviewed
}

/// The number that a variable of the environment has.
#[expect(clippy::disallowed_methods, reason = "a test's own switch, no setting of Hob's")]
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The seeds that are asked for.
fn wanted(usual: u64) -> std::ops::Range<u64> {
    let first = number("HOB_SEED");
    let many = number("HOB_SEEDS").unwrap_or(if first.is_some() { 1 } else { usual });
    first.unwrap_or(0)..first.unwrap_or(0) + many
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are what one runs many seeds for")]
fn whatever_fails_each_issue_comes_to_its_end_once() {
    let (seeds, started) = (wanted(SEEDS), Instant::now());
    let (next, reviewed, failed) = (AtomicU64::new(seeds.start), AtomicU64::new(0), Mutex::new(Vec::new()));
    let run_all = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return;
            }
            match catch_unwind(|| in_virtual_time(Box::pin(survives(seed, Line::Inside)))) {
                Ok(reviews) => drop(reviewed.fetch_add(reviews, Ordering::Relaxed)),
                Err(_) => failed.lock().unwrap().push(seed),
            }
        }
    };
    std::thread::scope(|scope| {
        for _thread in 0..AT_ONCE {
            std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run_all).unwrap();
        }
    });
    let failed = failed.into_inner().unwrap();
    let (tried, seconds) = (seeds.end - seeds.start, started.elapsed().as_secs());
    let reviewed = reviewed.into_inner();
    println!("{tried} seeds in {seconds} s, {reviewed} reviews answered, {} failed", failed.len());
    assert!(failed.is_empty(), "set HOB_SEED to run one of the seeds that failed alone: {failed:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_few_seeds_end_so_over_sockets_and_in_real_time() {
    let seeds = wanted(OVER_SOCKETS).take(usize::try_from(OVER_SOCKETS).unwrap());
    // Most of their time they wait.
    let survive = |seed| async move {
        let end = AssertUnwindSafe(Box::pin(survives(seed, Line::Sockets))).catch_unwind().await;
        assert!(end.is_ok(), "seed {seed} over sockets");
    };
    stream::iter(seeds).for_each_concurrent(AT_ONCE, survive).await;
}
