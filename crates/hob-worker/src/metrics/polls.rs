//! Metrics of what polls find: how much is where, who waits too long, leases, budgets. They are read from ledgers, so any process that
//! polls a repository shows the same.

use std::{
    collections::BTreeMap,
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use hob_config::Settings;
use hob_domain::{DayBill, IssueNumber, Record, RepoName, Snapshot, State, Timestamp};
use parking_lot::Mutex;
use prometheus_client::{collector::Collector, encoding::DescriptorEncoder, metrics::MetricType, registry::Unit};
use tokio::time::Instant;

use crate::metrics::{named::Labels, room::Room};

/// The states of issues that are not finished.
const STATES: [State; 5] = [State::Ready, State::Assigned, State::InProgress, State::InReview, State::Blocked];

/// What polls found last.
#[derive(Debug)]
pub(crate) struct Polls {
    room: Arc<Room>,
    seen: Mutex<BTreeMap<RepoName, Seen>>,
}

/// What is known of one repository.
#[derive(Debug)]
struct Seen {
    /// When the last good poll was, in seconds since 1970 and by the clock of this process.
    at: f64,
    polled: Instant,
    issues: [u64; STATES.len()],
    /// How long ago, at the poll, the issue that is in the state for longest came there.
    oldest: [Option<Duration>; STATES.len()],
    /// How long the lease had not been renewed that was longest so. A poll reads it anew: only what it saw counts.
    lease: Duration,
    /// Millionths of a dollar, by scope and kind.
    budgets: Vec<Amount>,
    /// When issues without a record were first seen, or changed last before.
    unclaimed: BTreeMap<IssueNumber, Timestamp>,
}

#[derive(Debug, Clone, Copy)]
struct Amount {
    scope: &'static str,
    kind: &'static str,
    usd_micros: u64,
}

impl Polls {
    pub(super) fn new(room: &Arc<Room>) -> Self {
        Self { room: Arc::clone(room), seen: Mutex::default() }
    }

    /// The repository is polled from now on. Until a poll goes well, the last good one is thought to be now.
    pub(crate) fn begin(&self, repo: &RepoName) {
        self.seen.lock().entry(repo.clone()).or_insert_with(Seen::new);
    }

    /// A poll found this.
    pub(crate) fn found(&self, repo: &RepoName, snapshot: &Snapshot, settings: &Settings, now: Timestamp) {
        let mut all = self.seen.lock();
        let before = all.remove(repo).map(|seen| seen.unclaimed).unwrap_or_default();
        let mut seen = Seen::new();
        for issue in &snapshot.issues {
            let (state, since) = match &issue.record {
                Some(record) => (record.state, record.since.at),
                None => {
                    let since = before.get(&issue.number).copied().unwrap_or(issue.updated_at);
                    seen.unclaimed.insert(issue.number, since);
                    (State::Ready, since)
                }
            };
            seen.count(state, past(now, since));
            let unrenewed = issue.record.as_ref().filter(|record| record.lease.is_some());
            let unrenewed = unrenewed.map(|record| past(now, record.renewed_at)).unwrap_or_default();
            seen.lease = seen.lease.max(unrenewed);
        }
        let records = snapshot.issues.iter().filter_map(|issue| issue.record.as_ref());
        let day = snapshot.repository.as_ref().map(|record| record.day_bill(now)).unwrap_or_default();
        seen.budgets = budgets(settings, records, day);
        all.insert(repo.clone(), seen);
    }

    /// The forge said that nothing is new.
    pub(crate) fn nothing_new(&self, repo: &RepoName) {
        if let Some(seen) = self.seen.lock().get_mut(repo) {
            seen.oldest.iter_mut().flatten().for_each(|age| *age += seen.polled.elapsed());
            (seen.at, seen.polled) = (unix_now(), Instant::now());
        }
    }

    /// The repository is not polled any more.
    pub(crate) fn forget(&self, repo: &RepoName) {
        self.seen.lock().remove(repo);
    }
}

impl Seen {
    fn new() -> Self {
        Self {
            at: unix_now(),
            polled: Instant::now(),
            issues: Default::default(),
            oldest: Default::default(),
            lease: Duration::ZERO,
            budgets: Vec::new(),
            unclaimed: BTreeMap::new(),
        }
    }

    /// Counts an issue that is in this state for so long. What is finished does not count.
    fn count(&mut self, state: State, age: Duration) {
        let Some(place) = STATES.iter().position(|known| *known == state) else { return };
        let places = self.issues.iter_mut().zip(&mut self.oldest).nth(place);
        if let Some((issues, oldest)) = places {
            *issues += 1;
            *oldest = (*oldest).max(Some(age));
        }
    }
}

/// Seconds since 1970. Collectors compare them with a clock of their own.
#[expect(clippy::disallowed_methods, reason = "nothing is decided by it, and it is in no ledger")]
fn unix_now() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64().floor()
}

/// How long ago that was; none if it is to come, by clocks that differ.
fn past(now: Timestamp, at: Timestamp) -> Duration {
    (now - at).to_std().unwrap_or_default()
}

/// The repository's day, and the issue that has spent most.
fn budgets<'a>(settings: &Settings, records: impl Iterator<Item = &'a Record>, day: DayBill) -> Vec<Amount> {
    let limits = settings.budgets();
    let unfinished = records.filter(|record| record.state != State::Done);
    let most = unfinished.map(|record| record.spend.usd_micros).max().unwrap_or_default();
    let amount = |scope, kind, usd_micros| Amount { scope, kind, usd_micros };
    let limit = |scope, limit: Option<u64>| limit.map(|limit| amount(scope, "limit", limit));
    let spent = [
        amount("day", "spent", day.spent.usd_micros),
        amount("day", "reserved", day.reserved.usd_micros),
        amount("issue", "spent", most),
    ];
    let limits = [limit("day", limits.day.usd_micros), limit("issue", limits.issue.usd_micros)];
    limits.into_iter().flatten().chain(spent).collect()
}

/// Series of one metric, which those with the same labels share.
struct Series(BTreeMap<Labels, f64>);

impl Series {
    fn put(&mut self, labels: Labels, value: f64, join: fn(f64, f64) -> f64) {
        self.0.entry(labels).and_modify(|known| *known = join(*known, value)).or_insert(value);
    }
}

/// A gauge of the text.
struct Shown {
    name: &'static str,
    what: &'static str,
    unit: Option<Unit>,
    series: Series,
}

impl Collector for Polls {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for Shown { name, what, unit, series } in self.shown() {
            let mut gauge = encoder.encode_descriptor(name, what, unit.as_ref(), MetricType::Gauge)?;
            for (labels, value) in &series.0 {
                gauge.encode_family(labels)?.encode_gauge(value)?;
            }
        }
        Ok(())
    }
}

impl Polls {
    /// The gauges. Over several repositories with the same labels, numbers and money are added, and of times the worst counts.
    fn shown(&self) -> [Shown; 5] {
        let empty = || Series(BTreeMap::new());
        let (mut issues, mut oldest, mut leases) = (empty(), empty(), empty());
        let (mut polls, mut budgets) = (empty(), empty());
        for (repo, seen) in self.seen.lock().iter() {
            let labels = |more: Labels| self.room.labels(repo, more);
            let passed = seen.polled.elapsed();
            for (state, (number, age)) in STATES.iter().zip(seen.issues.iter().zip(&seen.oldest)) {
                let of_state = || labels(vec![("state", state.to_string())]);
                issues.put(of_state(), exact(*number), |a, b| a + b);
                let age = age.map(|age| age + passed).unwrap_or_default();
                oldest.put(of_state(), age.as_secs_f64(), f64::max);
            }
            leases.put(labels(Vec::new()), seen.lease.as_secs_f64(), f64::max);
            polls.put(labels(Vec::new()), seen.at, f64::min);
            for Amount { scope, kind, usd_micros } in &seen.budgets {
                let labels = labels(vec![("scope", (*scope).to_owned()), ("kind", (*kind).to_owned())]);
                budgets.put(labels, exact(*usd_micros) / 1e6, |a, b| a + b);
            }
        }
        let shown = |name, what, unit, series| Shown { name, what, unit, series };
        [
            shown("issues", "Issues that are not finished, by state", None, issues),
            shown(
                "oldest_issue_age",
                "How long the issue is in its state that is there for longest; 0 if none is",
                Some(Unit::Seconds),
                oldest,
            ),
            shown("lease_age_seconds_max", "How long a lease was not renewed, at the last poll", None, leases),
            shown("last_poll_timestamp", "When the repository was last polled well", Some(Unit::Seconds), polls),
            shown("budget_usd", "Budgets, and what is spent or reserved of them", None, budgets),
        ]
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts and money are far below 2^53")]
fn exact(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use hob_domain::{Claimant, IssueStatus, IssueView, Since, Spend, acquire, released};

    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    /// An issue that changed last at second 40.
    fn view(number: u64, record: Option<Record>) -> IssueView {
        IssueView {
            number: IssueNumber(number),
            title: "canary-title".to_owned(),
            labels: Vec::new(),
            status: IssueStatus::Open,
            created_at: at(0),
            updated_at: at(40),
            comments: 0,
            record,
            assignees: Vec::new(),
            blockers: Vec::new(),
            begun: Vec::new(),
            pull: None,
            is_dashboard: false,
            review: None,
            goes_on: None,
            has_command_on_pull: false,
            is_quiet: false,
            pull_updated_at: None,
        }
    }

    /// The record of an issue in this state since then, whose lease was renewed at second 90.
    fn record(number: u64, state: State, since: u64) -> Record {
        let lease = Duration::from_secs(300);
        let claimant = Claimant { worker: "w".into(), nonce: "n".into(), duration: lease, skew: lease, bill: None };
        let held = acquire(None, IssueNumber(number), &claimant, at(90)).unwrap();
        let since = Since { at: at(since), ..held.since };
        Record { state, since, spend: Spend { usd_micros: 250_000, ..Spend::default() }, ..held }
    }

    fn polls() -> Polls {
        Polls::new(&Arc::new(Room::default()))
    }

    fn found(polls: &Polls, repo: &str, issues: Vec<IssueView>, now: u64) {
        let settings = Settings::load(None, HashMap::new(), &[]).unwrap();
        polls.found(&repo.parse().unwrap(), &Snapshot { issues, repository: None }, &settings, at(now));
    }

    /// The value of a series, by the name of its gauge and the values of its labels.
    fn value(polls: &Polls, name: &str, labels: &str) -> Option<f64> {
        let shown = polls.shown().into_iter().find(|shown| shown.name == name).unwrap();
        let is_it =
            |known: &Labels| known.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(" ") == labels;
        shown.series.0.iter().find(|(known, _)| is_it(known)).map(|(_, value)| *value)
    }

    #[tokio::test(start_paused = true)]
    async fn a_poll_shows_how_much_is_where_and_who_waits_for_longest() {
        let polls = polls();
        let free = released(&record(2, State::Blocked, 20), "m".into(), at(95));
        let issues = vec![
            view(1, None),
            view(2, Some(free)),
            view(3, Some(record(3, State::Blocked, 60))),
            view(4, Some(record(4, State::Done, 1))),
        ];
        found(&polls, "o/n", issues, 100);
        for (name, labels, is) in [
            ("issues", "o/n ready", 1.0),
            ("issues", "o/n blocked", 2.0),
            ("issues", "o/n in-review", 0.0),
            ("oldest_issue_age", "o/n ready", 60.0),
            ("oldest_issue_age", "o/n blocked", 80.0),
            ("oldest_issue_age", "o/n in-review", 0.0),
            ("lease_age_seconds_max", "o/n", 10.0),
            ("budget_usd", "o/n issue spent", 0.25),
            ("budget_usd", "o/n issue limit", 5.0),
            ("budget_usd", "o/n day limit", 50.0),
            ("budget_usd", "o/n day spent", 0.0),
        ] {
            assert_eq!(value(&polls, name, labels), Some(is), "{name} {labels}");
        }
        assert_eq!(value(&polls, "issues", "o/n done"), None);
        // Who waits goes on waiting between polls, and a lease is known to be old only when it is read.
        tokio::time::advance(Duration::from_secs(30)).await;
        assert_eq!(value(&polls, "oldest_issue_age", "o/n blocked"), Some(110.0));
        assert_eq!(value(&polls, "oldest_issue_age", "o/n in-review"), Some(0.0));
        assert_eq!(value(&polls, "lease_age_seconds_max", "o/n"), Some(10.0));
        polls.nothing_new(&"o/n".parse().unwrap());
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!(value(&polls, "oldest_issue_age", "o/n blocked"), Some(115.0));
        polls.forget(&"o/n".parse().unwrap());
        assert_eq!(value(&polls, "issues", "o/n blocked"), None);
    }

    /// A comment on an issue that was never claimed changes it.
    #[tokio::test(start_paused = true)]
    async fn an_unclaimed_issue_waits_since_it_was_first_seen() {
        let polls = polls();
        found(&polls, "o/n", vec![view(1, None)], 100);
        found(&polls, "o/n", vec![IssueView { updated_at: at(190), ..view(1, None) }], 200);
        assert_eq!(value(&polls, "oldest_issue_age", "o/n ready"), Some(160.0));
        found(&polls, "o/n", Vec::new(), 210);
        found(&polls, "o/n", vec![IssueView { updated_at: at(290), ..view(1, None) }], 300);
        assert_eq!(value(&polls, "oldest_issue_age", "o/n ready"), Some(10.0));
    }

    #[tokio::test(start_paused = true)]
    async fn over_all_repositories_issues_are_added_and_the_worst_time_counts() {
        let polls = polls();
        polls.room.sum();
        polls.begin(&"o/never".parse().unwrap());
        found(&polls, "o/a", vec![view(1, Some(record(1, State::Blocked, 20)))], 100);
        found(&polls, "o/b", vec![view(1, Some(record(1, State::Blocked, 50)))], 100);
        assert_eq!(value(&polls, "issues", "blocked"), Some(2.0));
        assert_eq!(value(&polls, "oldest_issue_age", "blocked"), Some(80.0));
        assert_eq!(value(&polls, "budget_usd", "day limit"), Some(100.0));
        // A repository that was never polled well counts from the beginning of the process.
        assert!(value(&polls, "last_poll_timestamp", "").is_some_and(|at| at > 1.7e9));
    }
}
