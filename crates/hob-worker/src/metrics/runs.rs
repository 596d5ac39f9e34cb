//! Metrics of runs of agents, of checks, and of the jobs of this process.

use std::{sync::Arc, time::Duration};

use prometheus_client::metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram};

use crate::{
    CheckedCommit,
    metrics::{
        named::{Labels, Named},
        room::{Names, Room},
    },
};

/// Upper ends of the buckets of runs, in seconds: an attempt has half an hour by default.
const RUN_BUCKETS: [f64; 4] = [60.0, 300.0, 900.0, 1_800.0];
/// The series of a histogram of runs.
const RUN_SERIES: usize = RUN_BUCKETS.len() + 3;

pub(crate) struct Runs {
    agents: Names<1>,
    seconds: Family<Labels, Histogram>,
    checks: Family<Labels, Counter>,
    jobs: Family<Labels, Gauge>,
}

impl Runs {
    pub(super) fn new(room: &Arc<Room>) -> Self {
        Self {
            agents: Names::new(room, RUN_SERIES),
            seconds: Family::new_with_constructor(|| Histogram::new(RUN_BUCKETS)),
            checks: Family::default(),
            jobs: Family::default(),
        }
    }

    pub(super) fn register(&self, of: &mut Named<'_>) {
        of.time("agent_run", "How long agents ran, by agent and end", &self.seconds);
        of.count("checks", "Checks that ran, by the commit and their result", &self.checks);
        of.count("jobs", "Issues in progress in this process, and the most that may be", &self.jobs);
    }

    /// An agent's run ended.
    pub(crate) fn ended(&self, agent: &str, is_failed: bool, took: Duration) {
        let end = if is_failed { "failed" } else { "done" };
        let [agent] = self.agents.of([agent], end);
        let labels = vec![("agent", agent), ("end", end.to_owned())];
        self.seconds.get_or_create(&labels).observe(took.as_secs_f64());
    }

    /// Checks ran on a commit. Runs between base and head, which are to fail, do not count.
    pub(super) fn checked(&self, on: CheckedCommit, passed: usize, run: usize) {
        let failed = run.saturating_sub(passed);
        for (result, checks) in [("passed", passed), ("failed", failed)] {
            self.count_checks(on, result, checks);
        }
    }

    /// Checks passed and failed on the same commit.
    pub(crate) fn flaky(&self, on: CheckedCommit, checks: usize) {
        self.count_checks(on, "flaky", checks);
    }

    fn count_checks(&self, on: CheckedCommit, result: &'static str, checks: usize) {
        let when = match on {
            CheckedCommit::Base => "base",
            CheckedCommit::Head => "head",
            CheckedCommit::Needed | CheckedCommit::Kept => return,
        };
        let labels = vec![("when", when.to_owned()), ("result", result.to_owned())];
        self.checks.get_or_create(&labels).inc_by(checks as u64);
    }

    /// So many issues are in progress, of at most `limit`.
    pub(crate) fn jobs(&self, running: usize, limit: usize) {
        for (kind, jobs) in [("running", running), ("limit", limit)] {
            let labels = vec![("kind", kind.to_owned())];
            self.jobs.get_or_create(&labels).set(i64::try_from(jobs).unwrap_or(i64::MAX));
        }
    }
}
