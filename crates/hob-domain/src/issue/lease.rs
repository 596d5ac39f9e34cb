//! The lease: who may claim, renew and hold it.
//!
//! # Flow
//! A claimant reads the tip of the issue's ref, asks [`acquire`] for the record to write, and writes it by
//! compare-and-set: creating the ref, or fast-forwarding it from the tip that was read. The holder checks each tip that
//! it reads with [`still_mine`] before it renews, changes state or releases.
//!
//! # Guarantees
//! - One generation has at most one holder: a generation only comes from a successful compare-and-set on the record
//!   before it, and each record has a nonce, so no two claimants write the same object.
//! - A live lease is never taken: a tip is free only if it has no holder, or if `now` is past its expiry and the
//!   margin.
//!
//! # Assumptions
//! The forge's ref update is a compare-and-set (creating fails if the ref exists, `force: false` refuses anything but a
//! fast-forward), and `now` is the forge's own `Date`.
//!
//! # Caveats
//! A holder that cannot reach the forge does not see that it was superseded: it must stop visible work by itself once
//! [`remaining`] no longer covers the write.

use std::time::Duration;

use crate::{
    Approval, Attempts, CommandLog, Failure, Generation, HandOffLog, IssueNumber, LabelFights, Lease, Nonce,
    OwnComments, PullLog, RECORD_VERSION, Record, ReviewLog, Since, Spend, State, Taught, Timestamp, Work, WorkerId,
    issue::unwritten::added,
};

/// A worker that wants a lease.
#[derive(Debug, Clone)]
pub struct Claimant {
    /// The worker.
    pub worker: WorkerId,
    /// Drawn for this acquisition.
    pub nonce: Nonce,
    /// How long the lease lasts without a renewal.
    pub duration: Duration,
    /// How far clocks may differ; this margin is added to the expiry.
    pub skew: Duration,
    /// The issue's bill as this machine has it, if it has what a holder that died counted. `None`: the bill that the holder
    /// was allowed to reach counts.
    pub bill: Option<Spend>,
}

/// A lease that is not free.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("held by {holder} until {until}")]
pub struct Held {
    /// Who holds it.
    pub holder: WorkerId,
    /// When it expires without a renewal, not counting the margin.
    pub until: Timestamp,
}

/// A lease that the caller no longer holds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the lease is lost: the ledger is at generation {tip}")]
pub struct Lost {
    /// The generation at the tip.
    pub tip: Generation,
}

/// How long the record's lease still lasts; zero once it has expired, or if there is none.
pub fn remaining(record: &Record, now: Timestamp) -> Duration {
    record.lease.as_ref().map(|lease| (lease.until - now).to_std().unwrap_or_default()).unwrap_or_default()
}

/// The lease that excludes other workers at `now`, if there is one.
pub fn held_by(record: &Record, now: Timestamp, skew: Duration) -> Option<Held> {
    let Lease { worker, until, .. } = record.lease.as_ref()?;
    (now <= *until + skew).then(|| Held { holder: worker.clone(), until: *until })
}

/// The record that takes the lease, to be written over exactly the tip that was read.
///
/// # Errors
/// [`Held`] if another lease is still valid.
pub fn acquire(tip: Option<&Record>, issue: IssueNumber, claimant: &Claimant, now: Timestamp) -> Result<Record, Held> {
    let mut next = match tip {
        Some(record) => match held_by(record, now, claimant.skew) {
            Some(held) => return Err(held),
            None => record.clone(),
        },
        None => first_record(issue, now),
    };
    next.version = RECORD_VERSION;
    next.nonce = claimant.nonce.clone();
    next.generation = Generation(next.generation.0.saturating_add(1));
    let Claimant { worker, nonce, duration, bill, .. } = claimant.clone();
    let dead = next.lease.take();
    let bill = dead.and_then(|dead| bill.or(dead.may_reach)).unwrap_or_default();
    next.spend = next.spend + bill.since(next.spend);
    // The forge's times have whole seconds.
    let until = now + Duration::from_secs(duration.as_secs());
    next.lease = Some(Lease { worker, nonce, until, may_reach: None });
    next.renewed_at = now;
    Ok(next)
}

/// The sentence about what the holder before spent beyond the ledger's bill, if `acquired` counts some of it.
pub fn counted(before: &Record, acquired: &Record) -> Option<String> {
    let counted = acquired.spend.since(before.spend);
    (counted != Spend::default()).then(|| added(before.generation, counted))
}

/// Whether the record at the tip still gives the lease to the holder of `mine`.
///
/// # Errors
/// [`Lost`] if the tip has another generation or another holder.
pub fn still_mine(tip: &Record, mine: &Record) -> Result<(), Lost> {
    match (&tip.lease, &mine.lease) {
        (Some(at_tip), Some(held)) if tip.generation == mine.generation && at_tip.is_of(held) => Ok(()),
        _ => Err(Lost { tip: tip.generation }),
    }
}

/// The record that renews the lease `mine`.
pub fn renewed(mine: &Record, nonce: Nonce, now: Timestamp) -> Record {
    // A renewal is as long as what it renews.
    let until = |lease: &Lease| now + (lease.until - mine.renewed_at);
    let lease = mine.lease.as_ref().map(|lease| Lease { until: until(lease), ..lease.clone() });
    Record { nonce, lease, renewed_at: now, ..mine.clone() }
}

/// The record that releases the lease `mine`.
pub fn released(mine: &Record, nonce: Nonce, now: Timestamp) -> Record {
    Record { lease: None, ..renewed(mine, nonce, now) }
}

/// The record of an issue that has no ledger yet.
pub fn first_record(issue: IssueNumber, now: Timestamp) -> Record {
    Record {
        version: RECORD_VERSION,
        issue,
        nonce: Nonce::from(""),
        generation: Generation(0),
        lease: None,
        renewed_at: now,
        state: State::Ready,
        since: Since { at: now, generation: Generation(0) },
        attempts: Attempts::default(),
        review: ReviewLog::default(),
        commands: CommandLog::default(),
        failure: Failure::default(),
        blocked: None,
        approval: Approval::default(),
        answer: None,
        label_fights: LabelFights::default(),
        refused: None,
        work: Work::default(),
        control: None,
        pull: PullLog::default(),
        comments: OwnComments::default(),
        session: None,
        trigger: None,
        spend: Spend::default(),
        told: Vec::new(),
        route: None,
        chain: HandOffLog::default(),
        taught: Taught::default(),
        extra: serde_json::Map::new(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Sha, UnwrittenSpend};

    const DURATION: u64 = 60;
    const SKEW: u64 = 5;

    /// A record in `state`, held by `w` in generation 1, in its first attempt.
    pub(crate) fn record_at(state: State) -> Record {
        let claimant = Claimant { worker: WorkerId::from("w"), ..claimant(0, 1) };
        let first = acquire(None, IssueNumber(1), &claimant, at(0)).unwrap();
        Record { state, attempts: Attempts { now: 1, ever: 1 }, ..first }
    }

    fn at(seconds: u64) -> Timestamp {
        Timestamp::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn claimant(worker: usize, nonce: u64) -> Claimant {
        Claimant {
            worker: WorkerId(format!("w{worker}")),
            nonce: Nonce(nonce.to_string()),
            duration: Duration::from_secs(DURATION),
            skew: Duration::from_secs(SKEW),
            bill: None,
        }
    }

    #[test]
    fn a_lease_is_free_only_when_released_or_past_its_margin() {
        let first = acquire(None, IssueNumber(1), &claimant(0, 1), at(0)).unwrap();
        assert_eq!(first.generation, Generation(1));
        for (now, free) in [(0, false), (DURATION, false), (DURATION + SKEW, false), (DURATION + SKEW + 1, true)] {
            let taken = acquire(Some(&first), IssueNumber(1), &claimant(1, 2), at(now));
            assert_eq!(taken.is_ok(), free, "at {now}");
        }
        let free = released(&first, Nonce::from("3"), at(1));
        assert_eq!(acquire(Some(&free), IssueNumber(1), &claimant(1, 4), at(1)).unwrap().generation, Generation(2));
    }

    #[test]
    fn what_a_dead_holder_may_have_spent_counts_where_its_own_count_is_not() {
        let usd = |usd_micros| Spend { usd_micros, ..Spend::default() };
        let record = |lease: Option<Spend>| {
            let held = acquire(None, IssueNumber(1), &claimant(0, 1), at(0)).unwrap();
            let lease = held.lease.clone().map(|held| Lease { may_reach: lease, ..held });
            Record { lease, spend: usd(5), ..held }
        };
        let free = Record { lease: None, ..record(None) };
        for (tip, known, bill) in [
            (record(Some(usd(9))), None, 9),
            // Beyond it nothing was spent; a lower bill is the true one, and none goes down.
            (record(Some(usd(9))), Some(7), 7),
            (record(Some(usd(9))), Some(3), 5),
            (record(Some(usd(4))), None, 5),
            (record(None), None, 5),
            (record(None), Some(8), 8),
            // Its holder released it, and wrote what it spent.
            (free, Some(8), 5),
        ] {
            let claimant = Claimant { bill: known.map(usd), ..claimant(1, 2) };
            let taken = acquire(Some(&tip), IssueNumber(1), &claimant, at(1_000)).unwrap();
            assert_eq!((taken.spend, taken.lease.as_ref().unwrap().may_reach), (usd(bill), None), "{tip:?}");
            let sentence = counted(&tip, &taken);
            let says = (bill > 5).then(|| "added what the attempt of generation 1 spent: $0.0001, 0 s".to_owned());
            assert_eq!(sentence, says);
            // What the holder has in its journal, because it lived on, is in that.
            let late = UnwrittenSpend { generation: Generation(1), written: usd(5), spend: usd(2) };
            let history = [(sentence.as_deref().unwrap_or("acquired"), &taken), ("renewed the lease", &tip)];
            assert_eq!(late.missing(history).is_none(), bill > 5);
        }
    }

    #[test]
    fn what_remains_of_a_lease_shrinks_to_nothing_at_its_expiry() {
        let lease = acquire(None, IssueNumber(1), &claimant(0, 1), at(100)).unwrap();
        for (now, left) in [(100, DURATION), (101, DURATION - 1), (100 + DURATION, 0), (500, 0)] {
            assert_eq!(remaining(&lease, at(now)), Duration::from_secs(left), "at {now}");
        }
    }

    /// The forge: a ref that only moves by compare-and-set.
    #[derive(Default)]
    struct Server {
        tip: Option<(Sha, Record)>,
        written: u64,
    }

    impl Server {
        fn compare_and_set(&mut self, from: Option<&Sha>, next: Record) -> Option<Sha> {
            if self.tip.as_ref().map(|(sha, _)| sha) != from {
                return None;
            }
            self.written += 1;
            let sha = Sha(self.written.to_string());
            self.tip = Some((sha.clone(), next));
            Some(sha)
        }
    }

    /// One worker: the tip that it last read, and the lease that it believes it holds.
    #[derive(Default)]
    struct Worker {
        seen: Option<(Sha, Record)>,
        mine: Option<(Sha, Record)>,
    }

    #[derive(Debug, Clone)]
    enum Step {
        Read(usize),
        /// If the answer is lost, the worker finds out by a later read.
        Acquire {
            worker: usize,
            answer: Answer,
        },
        Renew {
            worker: usize,
            answer: Answer,
        },
        Release(usize),
        Crash(usize),
        Wait(u64),
    }

    #[derive(Debug, Clone, Copy)]
    enum Answer {
        Arrives,
        Lost,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let worker = 0..2_usize;
        let answer = prop_oneof![3 => Just(Answer::Arrives), 1 => Just(Answer::Lost)];
        let step = prop_oneof![
            3 => worker.clone().prop_map(Step::Read),
            3 => (worker.clone(), answer.clone()).prop_map(|(worker, answer)| Step::Acquire { worker, answer }),
            2 => (worker.clone(), answer).prop_map(|(worker, answer)| Step::Renew { worker, answer }),
            1 => worker.clone().prop_map(Step::Release),
            1 => worker.prop_map(Step::Crash),
            2 => (1..90_u64).prop_map(Step::Wait),
        ];
        proptest::collection::vec(step, 1..80)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// Requirement A3, and users' first wish: never two workers on one issue.
        #[test]
        fn no_interleaving_gives_one_generation_two_holders(steps in steps()) {
            let (mut server, mut workers, mut now, mut nonce) = (Server::default(), [Worker::default(), Worker::default()], 0, 0);
            let mut holders: std::collections::BTreeMap<Generation, WorkerId> = std::collections::BTreeMap::new();
            for step in steps {
                nonce += 1;
                match step {
                    Step::Wait(seconds) => now += seconds,
                    Step::Read(n) => workers[n].seen.clone_from(&server.tip),
                    Step::Crash(n) => workers[n] = Worker::default(),
                    Step::Acquire { worker: n, answer } => {
                        let seen = workers[n].seen.clone();
                        let claim = acquire(seen.as_ref().map(|(_, record)| record), IssueNumber(1), &claimant(n, nonce), at(now));
                        let Ok(record) = claim else { continue };
                        let live_other = server.tip.as_ref().is_some_and(|(_, tip)| held_by(tip, at(now), Duration::from_secs(SKEW)).is_some());
                        let written = server.compare_and_set(seen.as_ref().map(|(sha, _)| sha), record.clone());
                        if written.is_some() {
                            prop_assert!(!live_other, "a live lease was taken");
                        }
                        let settled = match answer {
                            Answer::Arrives => written,
                            // The outcome is unknown: the tip is read, and is mine if it has my nonce.
                            Answer::Lost => server.tip.as_ref().filter(|(_, tip)| tip.nonce == record.nonce).map(|(sha, _)| sha.clone()),
                        };
                        workers[n].mine = settled.map(|sha| (sha, record));
                    }
                    Step::Renew { worker: n, answer } => {
                        let Some((sha, mine)) = workers[n].mine.clone() else { continue };
                        if server.tip.as_ref().is_none_or(|(_, tip)| still_mine(tip, &mine).is_err()) {
                            workers[n].mine = None;
                            continue;
                        }
                        let next = renewed(&mine, Nonce(nonce.to_string()), at(now));
                        let written = server.compare_and_set(Some(&sha), next.clone());
                        let settled = match answer {
                            Answer::Arrives => written,
                            Answer::Lost => server.tip.as_ref().filter(|(_, tip)| tip.nonce == next.nonce).map(|(sha, _)| sha.clone()),
                        };
                        workers[n].mine = settled.map(|sha| (sha, next));
                    }
                    Step::Release(n) => {
                        if let Some((sha, mine)) = workers[n].mine.take() {
                            server.compare_and_set(Some(&sha), released(&mine, Nonce(nonce.to_string()), at(now)));
                        }
                    }
                }
                for (n, worker) in workers.iter().enumerate() {
                    if let Some((_, mine)) = &worker.mine {
                        let id = WorkerId(format!("w{n}"));
                        let holder = holders.entry(mine.generation).or_insert_with(|| id.clone());
                        prop_assert_eq!(&*holder, &id, "generation {} has two holders", mine.generation);
                    }
                }
                // At most one worker's lease is live by its own reckoning; the others must not write.
                let live = workers.iter().filter(|worker| worker.mine.as_ref().is_some_and(|(_, mine)| !remaining(mine, at(now)).is_zero()));
                prop_assert!(live.count() <= 1, "two workers may write at {}", now);
            }
        }
    }
}
