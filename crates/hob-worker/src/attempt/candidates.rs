//! The candidates of an attempt's first work: changes that are made one after another from the same commit, of which one is chosen.
//!
//! # Flow
//! [`first_round`] runs the first round as often as `limits.candidates` says, each time with a fresh session in a folder that is laid out
//! anew, and with the next model where the agent has several. Of two candidates the one with the stronger proof stays; what the proof
//! does not tell apart, the reviewer does, or else the size of the change. Later rounds and the review are the chosen one's alone.
//! No candidate follows one that is Proven and that nobody has to look at first, one that needs a person, or one that left too little of
//! the budget.
//!
//! # Guarantees
//! All of them are paid out of the attempt's allowance, and the ledger knows each one's session before it costs anything. The best one
//! so far is on the branch while the next is made, so a worker that takes over begins with it.
//!
//! # Caveats
//! Only the first work has candidates: not the rounds after it, and nothing that people review. What another candidate costs is not
//! known before: it is taken to cost no more than the dearest so far, and ends at the attempt's limits like any other run.

use std::{cmp::Ordering, sync::Arc, time::Duration};

use hob_domain::{
    Allowance, BlockReason, CheckResult, FindingSeverity, Note, RunId, Spend, Strain, Strength, Transition, dollars,
};
use hob_text::count;
use hob_words::{ReviewerReport, word_of};
use hob_workspace::Aside;
use tokio::time::Instant;

use crate::{
    WorkError, Worker,
    attempt::{
        active_profile::ActiveProfile,
        branch::{is_reviewed, keep},
        job::Job,
        proof::Proven,
        remaining_allowance::remaining_allowance,
        reviewer::look,
        round::{Round, run_round},
        runs_made::FourRuns,
    },
    on_heap::on_heap,
};

/// A candidate that was made.
struct Made {
    /// Counted from 0.
    number: u32,
    round: Round,
    active: Arc<ActiveProfile>,
    /// How much of what people said its agent has heard.
    heard: usize,
    /// The reviewer's report, if it was asked for.
    report: Option<ReviewerReport>,
}

/// What was learned from each candidate, in their order.
#[derive(Default)]
struct Tally {
    costs: Vec<Cost>,
    standings: Vec<String>,
    /// Why there are no more.
    ended: Option<String>,
}

/// What a candidate took.
#[derive(Debug, Clone, Copy)]
struct Cost {
    spend: Spend,
    /// With its checks.
    time: Duration,
}

/// How good a candidate is, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// Its checks pass, or failed before. `true` if a person should look at its tests first.
    Passed(Strength, bool),
    /// So many checks fail.
    Failing(usize),
    /// It cannot be committed.
    Unfit,
    /// It ended otherwise.
    Ended,
}

/// The first round of an attempt's work, of the candidate that was chosen. `failed` are the checks that the work so far failed.
pub(super) async fn first_round(worker: &Worker, job: &Job<'_>, failed: &[CheckResult]) -> Result<Round, WorkError> {
    let most = wanted(worker, job);
    if most < 2 {
        return on_heap(|| run_round(worker, job, 0, failed)).await;
    }
    let (from, first, mut tally) = (job.checkout.tip().await?, job.active.now(), Tally::default());
    worker.progress(job.number(), &format!("making candidate 1 of {most}"));
    let mut best = make(worker, job, failed, &mut tally).await?;
    let mut aside: Option<Aside> = None;
    for number in 1..most {
        if !may_go_on(worker, job, &best, &first, &mut tally) {
            break;
        }
        // The best one so far waits, unless it does already.
        match aside {
            None => {
                keep_best(worker, job, &best).await?;
                aside = Some(Aside::put(&job.checkout, &from).await?);
            }
            Some(_) => job.checkout.restore(&from).await?,
        }
        begin(worker, job, &first, number, most, &tally).await?;
        let made = make(worker, job, failed, &mut tally).await?;
        if choose(worker, job, &mut best, made).await? {
            job.candidates.lock().is_kept = false;
            if let Some(aside) = aside.take() {
                aside.throw_away(&job.checkout).await?;
            }
        }
    }
    if let Some(aside) = aside {
        aside.take_back(&job.checkout).await?;
    }
    settle(worker, job, best, &tally).await
}

/// The number of candidates that the attempt should have.
fn wanted(worker: &Worker, job: &Job<'_>) -> u32 {
    let record = job.held.lease.record();
    let is_first = record.pull.number.is_none() && !is_reviewed(job) && job.proven.is_none();
    if !is_first || !job.checkout.conflicts().is_empty() {
        return 1;
    }
    let complexity = record.route.as_ref().map_or(0, |route| route.complexity);
    worker.settings.limits.candidates.of(Strain::of(0, record.failure.text.as_deref(), complexity))
}

/// Makes a candidate.
async fn make(worker: &Worker, job: &Job<'_>, failed: &[CheckResult], tally: &mut Tally) -> Result<Made, WorkError> {
    let (began, before, active) = (Instant::now(), job.held.lease.record().spend, job.active.now());
    let round = on_heap(|| run_round(worker, job, 0, failed)).await?;
    let record = job.held.lease.record();
    tally.costs.push(Cost { spend: record.spend.since(before), time: began.elapsed() });
    tally.standings.push(standing(&round));
    let heard = job.held.steering.said().len().saturating_sub(record.commands.unread.len());
    // A hand-off made another one active.
    Ok(Made { number: active.candidate, round, active: job.active.now(), heard, report: None })
}

/// Whether another candidate follows; why not is told.
fn may_go_on(worker: &Worker, job: &Job<'_>, best: &Made, first: &Arc<ActiveProfile>, tally: &mut Tally) -> bool {
    let next = tally.costs.len() + 1;
    let why = match &best.round {
        Round::Proven(_) if rank(&best.round) == Rank::Passed(Strength::Proven, false) => {
            Some("the one before is Proven".to_owned())
        }
        Round::Proven(_) | Round::Again(_) | Round::Unfit(_) => None,
        Round::Blocked(BlockReason::NoChanges { .. } | BlockReason::PolicyViolated(_)) => None,
        Round::Blocked(_) | Round::Conflicted(_) | Round::Failed(..) => {
            Some("the one before ended the work".to_owned())
        }
    };
    // Another profile has the work, and its own way to end.
    let is_handed_off = !Arc::ptr_eq(&best.active, first) && best.number == first.candidate;
    let why = why
        .or_else(|| is_handed_off.then(|| "the work was handed off".to_owned()))
        .or_else(|| carries_no_more(worker, job, &tally.costs));
    let Some(why) = why else { return true };
    worker.progress(job.number(), &format!("making no candidate {next}: {why}"));
    if !matches!(rank(&best.round), Rank::Passed(Strength::Proven, false)) {
        tally.ended = Some(format!("No other was made: {why}."));
    }
    false
}

/// Why what is left of the attempt does not carry another candidate. `None` if it does.
fn carries_no_more(worker: &Worker, job: &Job<'_>, costs: &[Cost]) -> Option<String> {
    let Ok(left) = remaining_allowance(worker, job) else { return Some("the budget is used up".to_owned()) };
    if let Some(Cost { spend, .. }) = costs.iter().find(|cost| !covers(left, cost.spend)) {
        return Some(format!("one cost {spend}, and less is left of the budget"));
    }
    let time = job.limits.ends.saturating_duration_since(Instant::now());
    let longest = costs.iter().map(|cost| cost.time).max().unwrap_or_default();
    (time < longest).then(|| format!("one took {} s, and less is left of the attempt", longest.as_secs()))
}

/// Whether `left` is at least this cost.
fn covers(left: Allowance, cost: Spend) -> bool {
    left.usd_micros.is_none_or(|usd_micros| usd_micros >= cost.usd_micros)
        && left.tokens.is_none_or(|tokens| tokens >= cost.tokens())
        && left.time.is_none_or(|time| time.as_secs() >= cost.wall_seconds)
}

/// Has the best candidate so far on the branch, where a worker that takes over finds it.
async fn keep_best(worker: &Worker, job: &Job<'_>, best: &Made) -> Result<(), WorkError> {
    match &best.round {
        Round::Proven(proven) => job.held.lease.note(Note::Proven(proven.head.clone())).await,
        Round::Again(_) => {}
        Round::Unfit(_) | Round::Conflicted(_) | Round::Blocked(_) | Round::Failed(..) => return Ok(()),
    }
    keep(worker, job).await?;
    job.candidates.lock().is_kept = true;
    Ok(())
}

/// Begins a candidate: with the agent of the first one and a session of its own, which the ledger has first.
async fn begin(
    worker: &Worker,
    job: &Job<'_>,
    first: &ActiveProfile,
    number: u32,
    most: u32,
    tally: &Tally,
) -> Result<(), WorkError> {
    let next = number + 1;
    let session = session_of(&job.run, next);
    let says = format!(
        "candidate {number}: {}; candidate {next} of {most} begins",
        tally.standings.last().map_or("", |of| of)
    );
    let step = Transition::Candidate(session.clone(), says);
    worker.forge.ledger().transition(&job.held.lease, step).await?;
    worker.progress(job.number(), &format!("making candidate {next} of {most}"));
    job.note_unfit(None);
    job.active.begin(ActiveProfile {
        loaded: first.loaded.clone(),
        run: session.clone(),
        session,
        took_over_at: None,
        candidate: number,
    });
    Ok(())
}

/// The session of a candidate after the first, by its number from 1.
fn session_of(run: &RunId, number: u32) -> RunId {
    RunId(format!("{run}-c{number}"))
}

/// Whether a session is that of a candidate after the first, which may not be the one that was chosen.
pub(super) fn is_a_later_ones(session: &RunId) -> bool {
    let number = session.as_str().rsplit_once("-c").map(|(_, number)| number);
    number.is_some_and(|number| number.len() == 1 && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Keeps the better one of two candidates as the best; `true` if that is the later one, `made`.
async fn choose(worker: &Worker, job: &Job<'_>, best: &mut Made, mut made: Made) -> Result<bool, WorkError> {
    let mut order = rank(&made.round).cmp(&rank(&best.round));
    if order == Ordering::Equal {
        order = match [review(worker, job, best).await?, review(worker, job, &mut made).await?] {
            [Some(of_best), Some(of_made)] => of_made.cmp(&of_best),
            _ => Ordering::Equal,
        };
    }
    let is_better = order.then_with(|| size(&made.round).cmp(&size(&best.round))) == Ordering::Less;
    if is_better {
        *best = made;
    }
    Ok(is_better)
}

/// How many findings the reviewer has on a candidate, the worst first. `None` if it was not reviewed.
async fn review(worker: &Worker, job: &Job<'_>, made: &mut Made) -> Result<Option<[usize; 3]>, WorkError> {
    let Round::Proven(proven) = &made.round else { return Ok(None) };
    if worker.settings.review.reviewer.is_empty() {
        return Ok(None);
    }
    if made.report.is_none() {
        look(worker, job, proven).await?;
        made.report = job.with_reviews(|reviews| reviews.report.take());
    }
    let findings = made.report.as_ref().filter(|report| report.missing.is_none()).map(|report| &report.findings.list);
    Ok(findings.map(|all| {
        [FindingSeverity::High, FindingSeverity::Medium, FindingSeverity::Low]
            .map(|severity| all.iter().filter(|finding| finding.severity == severity).count())
    }))
}

/// Makes the chosen candidate the attempt's work, and tells people what came of all.
async fn settle(worker: &Worker, job: &Job<'_>, best: Made, tally: &Tally) -> Result<Round, WorkError> {
    let Made { number, round, active, heard, report } = best;
    {
        let mut notes = job.candidates.lock();
        notes.is_kept = false;
        // Words that nobody has heard send the work back by themselves.
        let is_last = number as usize + 1 == tally.costs.len();
        let can_hear = !is_last && remaining_allowance(worker, job).is_ok();
        notes.is_behind = can_hear && heard < job.held.steering.said().len();
    }
    let session = active.session.clone();
    job.active.begin(active);
    if let Round::Proven(proven) = &round {
        let Proven { head, shown, between, notable, diff, .. } = &**proven;
        let runs = FourRuns { shown: shown.clone(), between: between.clone() };
        *job.shown.lock() = Some((head.clone(), runs));
        job.notable.lock().clone_from(notable);
        job.held.lease.note(Note::Proven(head.clone())).await;
        // Another one is there, which would be published in its place if this worker died now.
        if job.pushed().is_some_and(|pushed| pushed != *head) {
            keep(worker, job).await?;
        }
        if let Some(report) = report {
            job.held.lease.note(Note::Found(report.findings.high().cloned().collect())).await;
            job.with_reviews(|reviews| {
                reviews.report = Some(report);
                reviews.looked_at = Some(diff.clone());
            });
        }
    }
    let made = tally.costs.len();
    let mut says = tally.told(number as usize);
    if made > 1 {
        let step = Transition::Candidate(session, says.clone());
        worker.forge.ledger().transition(&job.held.lease, step).await?;
        worker.progress(job.number(), &says);
    }
    if let Some(ended) = &tally.ended {
        says = [says, ended.clone()].join(" ").trim().to_owned();
    }
    job.candidates.lock().told = (!says.is_empty()).then_some(says);
    Ok(round)
}

impl Tally {
    /// What came of all candidates, of which this one was chosen. Empty if there was one alone.
    fn told(&self, chosen: usize) -> String {
        let made = self.costs.len();
        if made < 2 {
            return String::new();
        }
        let sum = |of: &dyn Fn(usize) -> bool| {
            let costs = self.costs.iter().enumerate().filter(|(number, _)| of(*number));
            costs.fold(Spend::default(), |sum, (_, cost)| sum + cost.spend)
        };
        let (others, all) = (sum(&|number| number != chosen), sum(&|_| true));
        let standings: Vec<_> =
            self.standings.iter().enumerate().map(|(number, of)| format!("candidate {}: {of}", number + 1)).collect();
        let rest = if made == 2 { "the other" } else { "the others" };
        format!(
            "Of {made} candidates, number {} was chosen ({}); {rest} cost {}.",
            chosen + 1,
            standings.join("; "),
            part(others, all)
        )
    }
}

/// A part of a bill, in what the bill has.
fn part(part: Spend, all: Spend) -> String {
    if all.usd_micros > 0 {
        return format!("{} of {}", dollars(part.usd_micros), dollars(all.usd_micros));
    }
    if all.tokens() > 0 {
        return format!("{} of {}", part.tokens(), count(all.tokens(), "token"));
    }
    format!("{} of {} s", part.wall_seconds, all.wall_seconds)
}

/// What came of a candidate, in a few words.
fn standing(round: &Round) -> String {
    match round {
        Round::Proven(proven) => word_of(&proven.shown).unwrap_or("nothing is shown").to_owned(),
        Round::Again(evidence) => format!("{} on it", failing(evidence.worse().len())),
        Round::Unfit(_) => "it cannot be committed".to_owned(),
        Round::Conflicted(_) => "conflicts are left".to_owned(),
        Round::Blocked(BlockReason::NoChanges { .. }) => "it changed nothing".to_owned(),
        Round::Blocked(BlockReason::PolicyViolated(_)) => "it changed what it must not".to_owned(),
        Round::Blocked(BlockReason::Question { .. }) => "the agent asked a question".to_owned(),
        Round::Blocked(_) => "a person was needed".to_owned(),
        Round::Failed(..) => "the agent failed".to_owned(),
    }
}

fn failing(checks: usize) -> String {
    let fail = if checks == 1 { "fails" } else { "fail" };
    format!("{} {fail}", count(checks, "check"))
}

fn rank(round: &Round) -> Rank {
    match round {
        Round::Proven(proven) => Rank::Passed(proven.shown.strength(), proven.shown.asks_for_a_look()),
        Round::Again(evidence) => Rank::Failing(evidence.worse().len()),
        Round::Unfit(_) => Rank::Unfit,
        Round::Conflicted(_) | Round::Blocked(_) | Round::Failed(..) => Rank::Ended,
    }
}

/// The lines that it changes, as far as that counts.
fn size(round: &Round) -> u64 {
    match round {
        Round::Proven(proven) => proven.diff.additions() + proven.diff.deletions(),
        Round::Again(_) | Round::Unfit(_) | Round::Conflicted(_) | Round::Blocked(_) | Round::Failed(..) => 0,
    }
}
