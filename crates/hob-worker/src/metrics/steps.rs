//! Metrics of steps of issues' ledgers: what became of issues, how long it took, and what it cost.
//!
//! # Guarantees
//! A step is counted by the worker that writes it, once it is written. So the sums over all processes are those of the ledgers.

use std::sync::{Arc, atomic::AtomicU64};

use hob_domain::{AttemptFate, RepoName, Spend, StepFigures};
use prometheus_client::metrics::{counter::Counter, family::Family, histogram::Histogram};

use crate::metrics::{
    named::{Labels, Named, count},
    room::{Names, Room},
};

/// Upper ends of the buckets of claims, in seconds. A daemon polls every 30 s to 5 min.
const CLAIM_BUCKETS: [f64; 6] = [30.0, 60.0, 300.0, 1_800.0, 7_200.0, 43_200.0];
/// Upper ends of the buckets of pull requests, in seconds.
const PULL_BUCKETS: [f64; 6] = [300.0, 900.0, 1_800.0, 3_600.0, 14_400.0, 86_400.0];
/// Upper ends of the buckets of merges, in seconds: an hour to a month.
const MERGE_BUCKETS: [f64; 6] = [3_600.0, 14_400.0, 86_400.0, 259_200.0, 604_800.0, 2_592_000.0];
/// A name that the ledger does not say.
const UNKNOWN: &str = "unknown";

type Times = Family<Labels, Histogram>;

pub(crate) struct Steps {
    room: Arc<Room>,
    payers: Names<2>,
    models: Names<1>,
    claim_wait: Times,
    pull_wait: Times,
    merge_time: Times,
    attempts: Family<Labels, Counter>,
    rounds: Family<Labels, Counter>,
    pulls: Family<Labels, Counter>,
    cost: Family<Labels, Counter<f64, AtomicU64>>,
    tokens: Family<Labels, Counter>,
    lost_leases: Family<Labels, Counter>,
}

impl Steps {
    pub(super) fn new(room: &Arc<Room>) -> Self {
        Self {
            room: Arc::clone(room),
            payers: Names::new(room, 1),
            models: Names::new(room, 2),
            claim_wait: Times::new_with_constructor(|| Histogram::new(CLAIM_BUCKETS)),
            pull_wait: Times::new_with_constructor(|| Histogram::new(PULL_BUCKETS)),
            merge_time: Times::new_with_constructor(|| Histogram::new(MERGE_BUCKETS)),
            attempts: Family::default(),
            rounds: Family::default(),
            pulls: Family::default(),
            cost: Family::default(),
            tokens: Family::default(),
            lost_leases: Family::default(),
        }
    }

    pub(super) fn register(&self, of: &mut Named<'_>) {
        of.time("claim_wait", "From the label to the first claim", &self.claim_wait);
        of.time("pull_request_wait", "From the label to the pull request", &self.pull_wait);
        of.time("pull_request_merge", "From the opening of a pull request to its merge", &self.merge_time);
        of.count("attempts", "Attempts that ended, by their end", &self.attempts);
        of.count("rounds", "Rounds on open pull requests, by their reason", &self.rounds);
        of.count("pull_requests", "Pull requests that ended, by their end", &self.pulls);
        of.count("cost_usd", "What agents cost, by agent and model", &self.cost);
        of.count("tokens", "Tokens of models, by model and type", &self.tokens);
        of.count("leases_lost", "Leases that expired and were taken over", &self.lost_leases);
    }

    /// Shows the repository's series before anything happens: a counter that appears with its first event has no rate.
    pub(crate) fn begin(&self, repo: &RepoName) {
        for fate in AttemptFate::ALL {
            drop(self.attempts.get_or_create(&self.labels(repo, "end", fate.word())));
        }
        for why in ["review", "ci", "conflict"] {
            drop(self.rounds.get_or_create(&self.labels(repo, "why", why)));
        }
        for end in ["merged", "rejected"] {
            drop(self.pulls.get_or_create(&self.labels(repo, "end", end)));
        }
        let of_repo = self.room.labels(repo, Vec::new());
        drop(self.lost_leases.get_or_create(&of_repo));
        for times in [&self.claim_wait, &self.pull_wait, &self.merge_time] {
            drop(times.get_or_create(&of_repo));
        }
    }

    /// Counts a step of the ledger of one of the repository's issues.
    pub(crate) fn note(&self, repo: &RepoName, figures: &StepFigures) {
        let of_repo = self.room.labels(repo, Vec::new());
        for (times, took) in [
            (&self.claim_wait, figures.claim_wait),
            (&self.pull_wait, figures.pull_wait),
            (&self.merge_time, figures.merge_time),
        ] {
            if let Some(took) = took {
                times.get_or_create(&of_repo).observe(took.as_secs_f64());
            }
        }
        if let Some(fate) = figures.attempt {
            count(&self.attempts, &self.labels(repo, "end", fate.word()));
        }
        for (why, rounds) in
            [("review", figures.review_rounds), ("ci", figures.ci_rounds), ("conflict", figures.base_rounds)]
        {
            self.rounds.get_or_create(&self.labels(repo, "why", why)).inc_by(rounds.into());
        }
        for (end, has_come) in [("merged", figures.is_merged), ("rejected", figures.is_rejected)] {
            if has_come {
                count(&self.pulls, &self.labels(repo, "end", end));
            }
        }
        if figures.lost_lease {
            count(&self.lost_leases, &of_repo);
        }
        // Where an agent begins, its series do.
        if figures.spend != Spend::default() || figures.by.is_some() {
            self.spent(repo, figures);
        }
    }

    fn spent(&self, repo: &RepoName, StepFigures { spend, by, .. }: &StepFigures) {
        let agent = by.as_ref().map_or(UNKNOWN, |by| &by.agent);
        let model = by.as_ref().and_then(|by| by.model.as_deref()).unwrap_or(UNKNOWN);
        let [agent, payer] = self.payers.of([agent, model], "");
        let labels = self.room.labels(repo, vec![("agent", agent), ("model", payer)]);
        self.cost.get_or_create(&labels).inc_by(spend.usd());
        let [model] = self.models.of([model], "");
        for (kind, tokens) in [("input", spend.input_tokens), ("output", spend.output_tokens)] {
            let labels = self.room.labels(repo, vec![("model", model.clone()), ("type", kind.to_owned())]);
            self.tokens.get_or_create(&labels).inc_by(tokens);
        }
    }

    fn labels(&self, repo: &RepoName, name: &'static str, word: &str) -> Labels {
        self.room.labels(repo, vec![(name, word.to_owned())])
    }
}
