//! The repository's own ledger: what the day has cost, what the hour has claimed, the kill switch, failed loads of profiles, how long
//! things took, what issues cost, and what merged work showed of the repository.
//!
//! # Flow
//! A worker that wins an issue's lease asks [`reserve`] for a record with its share of the day, and writes it by
//! compare-and-set over the record that it read; when the attempt ends, [`close_reservation`] replaces the share with
//! the actual spend.
//!
//! # Guarantees
//! - For any number of workers, spend and reservations together stay within the day's budget: each reservation is
//!   computed from the record before it, and only one write can follow a record.
//! - A bill is never counted twice and never lost: a share has the issue's whole bill before the day and now, taken
//!   from the issue's own ledger.
//! - A worker that lost its lease, and does not know it yet, settles nothing: a share has the generation that wrote it, and an earlier
//!   one closes no reservation of a later one.
//!
//! # Caveats
//! Days are in UTC. What a run uses beyond its allowance (a model's last reply, a command that reports its cost only at
//! its end) is added to the day's sum as soon as it is known; no reservation is made for it.

use std::{fmt, time::Duration};

use hob_text::count;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Allowance, Bills, Budget, Corrections, DayShare, DaySpend, Drawn, Durations, Exhausted, FailedLoads, Flakes,
    Generation, IssueNumber, Memory, Nonce, Outages, Pause, SettingsInUse, SharedSettings, Spend, Timestamp,
    UnreadableRecord, UnwritableRecord, WorkerId,
    issue::record_message::{Fields, from_message, to_message},
};

/// The version of the record that this Hob writes, and the newest that it reads. It rises by the same rule as the version of
/// an issue's record, and apart from it: while one issue needs a newer Hob, the day's budget still counts for all.
const REPOSITORY_VERSION: u32 = 1;

/// Days before the current one whose spend is remembered.
const DAYS_KEPT: usize = 13;
/// How long a claim counts for the hourly limit.
const HOUR: Duration = Duration::from_secs(3_600);

/// One claim within the hour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimMark {
    /// The issue.
    pub issue: IssueNumber,
    /// When.
    pub at: Timestamp,
}

/// The record at the tip of the repository's ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryRecord {
    /// The record's version.
    pub version: u32,
    /// Drawn for each commit.
    pub nonce: Nonce,
    /// The settings of the attempt that began last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<SettingsInUse>,
    /// When it was written, by the forge's clock.
    pub at: Timestamp,
    /// The kill switch: nothing is claimed while it is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<Pause>,
    /// The shares of the day that `at` is in.
    #[serde(default)]
    pub day: Vec<DayShare>,
    /// The claims within the hour before `at`.
    #[serde(default)]
    pub claims: Vec<ClaimMark>,
    /// The cost of the days before, oldest first, without days that have no attempts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub days: Vec<DaySpend>,
    /// The dashboard as it was last drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dashboard: Option<Drawn>,
    /// When profiles recently failed to load.
    #[serde(default, skip_serializing_if = "FailedLoads::is_empty")]
    pub failed_loads: FailedLoads,
    /// Services that failed attempts lately.
    #[serde(default, skip_serializing_if = "Outages::is_empty")]
    pub outages: Outages,
    /// How long things took lately.
    #[serde(default, skip_serializing_if = "Durations::is_empty")]
    pub durations: Durations,
    /// What issues cost lately.
    #[serde(default, skip_serializing_if = "Bills::is_empty")]
    pub bills: Bills,
    /// How often checks and tests fail on unchanged code.
    #[serde(default, skip_serializing_if = "Flakes::is_empty")]
    pub flakes: Flakes,
    /// What merged work showed of the repository.
    #[serde(default, skip_serializing_if = "Memory::is_empty")]
    pub memory: Memory,
    /// What maintainers corrected in merged work.
    #[serde(default, skip_serializing_if = "Corrections::is_empty")]
    pub corrections: Corrections,
    /// The fields that this Hob does not know. They are written back as they were read.
    #[serde(flatten)]
    pub extra: Fields,
}

/// What the settings allow a repository.
#[derive(Debug, Clone)]
pub struct RepositoryRules {
    /// Issues that may be claimed within an hour.
    pub issues_per_hour: usize,
    /// The budget of a day.
    pub day: Budget,
    /// The settings that all workers have to share.
    pub shared: SharedSettings,
}

/// An attempt's request for a share of the day.
#[derive(Debug, Clone)]
pub struct Reservation {
    /// The worker.
    pub worker: WorkerId,
    /// The issue.
    pub issue: IssueNumber,
    /// The generation of the worker's lease.
    pub generation: Generation,
    /// Its whole bill so far, from its own ledger.
    pub bill: Spend,
    /// What attempt and issue may still use.
    pub allowance: Allowance,
    /// When the attempt is over at the latest.
    pub until: Timestamp,
}

/// What an attempt cost, as its worker settles it.
#[derive(Debug, Clone, Copy)]
pub struct AttemptCost {
    /// The issue.
    pub issue: IssueNumber,
    /// The generation of the worker's lease.
    pub generation: Generation,
    /// The issue's bill when the attempt began, for a day that began after it.
    pub began: Spend,
    /// The issue's bill now.
    pub bill: Spend,
}

/// Why nothing may be claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Full {
    /// The kill switch is set.
    Paused(Pause),
    /// A worker with other settings has attempts under way.
    OtherSettings {
        /// The worker.
        by: WorkerId,
        /// The keys in which its settings differ.
        keys: Vec<String>,
        /// When its attempts are over at the latest.
        until: Timestamp,
    },
    /// The hour's limit of claims is reached.
    Hour {
        /// The limit.
        limit: usize,
        /// When the next may be claimed.
        until: Timestamp,
    },
    /// The day's budget is spent, or reserved by running attempts.
    Day {
        /// Which limit.
        exhausted: Exhausted,
        /// What the day has cost, without reservations.
        spent: Spend,
        /// What running attempts may still use.
        reserved: Spend,
        /// When the next day begins.
        until: Timestamp,
    },
}

/// The cost of a day, and what running attempts may still use.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct DayBill {
    /// The cost, without reservations.
    pub spent: Spend,
    /// The reservations of running attempts.
    pub reserved: Spend,
}

impl DayBill {
    /// Both together: what counts against the day's budget.
    pub fn total(self) -> Spend {
        self.spent + self.reserved
    }
}

impl fmt::Display for DayBill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} spent", self.spent)?;
        if self.reserved == Spend::default() {
            return Ok(());
        }
        write!(f, "; {} reserved by running attempts", self.reserved)
    }
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paused(pause) => {
                let why = if pause.reason.is_empty() { String::new() } else { format!(" ({})", pause.reason) };
                write!(f, "{} paused the repository{why}; `hob resume --all` resumes it", pause.by)
            }
            Self::OtherSettings { by, keys, until } => write!(
                f,
                "worker {by} works here with other settings (`{}`), and nothing is claimed beside it until its attempts are over, by {until} \
                 at the latest: give all workers of the repository the same",
                keys.join("`, `")
            ),
            Self::Hour { limit, until } => {
                let claimed = format!("{} {}", count(*limit, "issue"), if *limit == 1 { "was" } else { "were" });
                let limit = "the limit (`limits.issues_per_hour`)";
                write!(f, "{claimed} claimed within the hour, {limit}; the next is claimed after {until}")
            }
            Self::Day { exhausted, spent, reserved, until } => write!(
                f,
                "the day's {exhausted} is used up ({}); work resumes after {until}",
                DayBill { spent: *spent, reserved: *reserved }
            ),
        }
    }
}

impl RepositoryRecord {
    /// The commit message: the sentence, an empty line, the record.
    ///
    /// # Errors
    /// [`UnwritableRecord`] if the record has no JSON form; nothing may be written then.
    pub fn to_message(&self, sentence: &str) -> Result<String, UnwritableRecord> {
        to_message(sentence, self)
    }

    /// Reads the record back from a commit message.
    ///
    /// # Errors
    /// [`UnreadableRecord`] if the body is not a record, or has a newer version.
    pub fn from_message(message: &str) -> Result<Self, UnreadableRecord> {
        let fields = from_message(message, REPOSITORY_VERSION)?.fields;
        Ok(serde_json::from_value(Value::Object(fields))?)
    }

    /// The record after this one, or the first, without what is older than its day and its hour.
    pub fn next(before: Option<&Self>, nonce: Nonce, now: Timestamp) -> Self {
        let same_day = before.filter(|record| record.is_of(now));
        let claims = before.into_iter().flat_map(|record| &record.claims).filter(|claim| claim.at + HOUR > now);
        Self {
            version: REPOSITORY_VERSION,
            nonce,
            settings: before.and_then(|record| record.settings.clone()),
            at: now,
            paused: before.and_then(|record| record.paused.clone()),
            day: same_day.map(|record| record.day.clone()).unwrap_or_default(),
            claims: claims.cloned().collect(),
            days: before.map(|record| record.days_before(now)).unwrap_or_default(),
            dashboard: before.and_then(|record| record.dashboard.clone()),
            failed_loads: before.map(|record| record.failed_loads.at(now)).unwrap_or_default(),
            outages: before.map(|record| record.outages.at(now)).unwrap_or_default(),
            durations: before.map(|record| record.durations.clone()).unwrap_or_default(),
            bills: before.map(|record| record.bills.clone()).unwrap_or_default(),
            flakes: before.map(|record| record.flakes.clone()).unwrap_or_default(),
            memory: before.map(|record| record.memory.clone()).unwrap_or_default(),
            corrections: before.map(|record| record.corrections.clone()).unwrap_or_default(),
            extra: before.map(|record| record.extra.clone()).unwrap_or_default(),
        }
    }

    /// The cost of the days before `now`, as far as they are remembered.
    fn days_before(&self, now: Timestamp) -> Vec<DaySpend> {
        let mut days = self.days.clone();
        let today = DaySpend { day: self.at.date_naive(), spend: self.spent() };
        if today.day != now.date_naive() && today.spend != Spend::default() {
            days.push(today);
        }
        let over = days.len().saturating_sub(DAYS_KEPT);
        drop(days.drain(..over));
        days
    }

    /// The cost of the record's day, without reservations.
    fn spent(&self) -> Spend {
        self.day.iter().map(|share| share.now.since(share.before)).sum()
    }

    /// The cost of the day by `now`, and what running attempts may still use.
    pub fn day_bill(&self, now: Timestamp) -> DayBill {
        self.bill_without(now, None)
    }

    /// Whether the record is about the day of `now`.
    pub fn is_of(&self, now: Timestamp) -> bool {
        self.at.date_naive() == now.date_naive()
    }

    /// Whether the issue's share of the day has no reservation and equals the issue's bill. An issue without a share
    /// today has nothing to settle.
    pub fn is_settled(&self, issue: IssueNumber, bill: Spend, now: Timestamp) -> bool {
        let share = self.day.iter().find(|share| self.is_of(now) && share.issue == issue);
        share.is_none_or(|share| share.reserved == Spend::default() && share.now == bill)
    }

    /// The day's bill by `now`, without the reservation of `except`.
    fn bill_without(&self, now: Timestamp, except: Option<IssueNumber>) -> DayBill {
        if !self.is_of(now) {
            return DayBill::default();
        }
        let holds = |share: &&DayShare| share.until > now && Some(share.issue) != except;
        let reserved = self.day.iter().filter(holds).map(|share| share.reserved).sum();
        DayBill { spent: self.spent(), reserved }
    }

    /// The attempts under way, but for `except`, if they began with other settings than `own`.
    fn other_settings(&self, own: &SharedSettings, except: Option<IssueNumber>, now: Timestamp) -> Option<Full> {
        let in_use = self.settings.as_ref()?;
        let keys = own.differing(&in_use.values);
        let under_way =
            |share: &&DayShare| share.until > now && share.reserved != Spend::default() && Some(share.issue) != except;
        let until = self.day.iter().filter(under_way).map(|share| share.until).max()?;
        (!keys.is_empty()).then(|| Full::OtherSettings { by: in_use.by.clone(), keys, until })
    }

    /// The attempts of the day by `now`.
    fn attempts(&self, now: Timestamp) -> u32 {
        if self.is_of(now) { self.day.iter().map(|share| share.attempts).sum() } else { 0 }
    }

    fn share(&mut self, issue: IssueNumber, before: Spend) -> &mut DayShare {
        let at = self.day.iter().position(|share| share.issue == issue).unwrap_or_else(|| {
            let until = self.at;
            let (reserved, generation) = (Spend::default(), Generation(0));
            self.day.push(DayShare { issue, before, now: before, attempts: 0, reserved, until, generation });
            self.day.len() - 1
        });
        &mut self.day[at]
    }
}

/// The cost of each day, the current one first, without days that cost nothing.
pub fn spend_by_day(record: Option<&RepositoryRecord>, now: Timestamp) -> Vec<DaySpend> {
    let Some(record) = record else { return Vec::new() };
    // Seen from the next day, the record's own day is one of the days before.
    let mut days = record.days_before(now);
    if record.at.date_naive() == now.date_naive() && record.spent() != Spend::default() {
        days.push(DaySpend { day: now.date_naive(), spend: record.spent() });
    }
    days.reverse();
    days
}

/// What the day has left for one more attempt.
///
/// # Errors
/// [`Full`] if nothing is left, if the kill switch is set, or if a worker with other settings has attempts under way.
pub fn day_left(
    record: Option<&RepositoryRecord>,
    rules: &RepositoryRules,
    issue: Option<IssueNumber>,
    now: Timestamp,
) -> Result<Allowance, Full> {
    if let Some(pause) = record.and_then(|record| record.paused.clone()) {
        return Err(Full::Paused(pause));
    }
    if let Some(other) = record.and_then(|record| record.other_settings(&rules.shared, issue, now)) {
        return Err(other);
    }
    let bill = record.map(|record| record.bill_without(now, issue)).unwrap_or_default();
    let DayBill { spent, reserved } = bill;
    let full = |exhausted| Full::Day { exhausted, spent, reserved, until: next_day(now) };
    rules.day.next_attempt(record.map_or(0, |record| record.attempts(now))).map_err(full)?;
    rules.day.left(bill.total()).map_err(full)
}

/// How many more issues the hour has room for.
///
/// # Errors
/// [`Full`] if it has no room.
pub fn hour_room(record: Option<&RepositoryRecord>, rules: &RepositoryRules, now: Timestamp) -> Result<usize, Full> {
    let claims = record.into_iter().flat_map(|record| &record.claims).map(|claim| claim.at);
    let claims: Vec<Timestamp> = claims.filter(|at| *at + HOUR > now).collect();
    let room = rules.issues_per_hour.saturating_sub(claims.len());
    let until = claims.iter().min().map_or(now, |first| *first + HOUR);
    if room == 0 { Err(Full::Hour { limit: rules.issues_per_hour, until }) } else { Ok(room) }
}

/// The record with the attempt's share of the day, and the attempt's allowance. A claim that continues an attempt of
/// the same hour counts once.
///
/// # Errors
/// [`Full`] if hour or day have no room for it.
pub fn reserve(
    before: Option<&RepositoryRecord>,
    ask: &Reservation,
    rules: &RepositoryRules,
    nonce: Nonce,
    now: Timestamp,
) -> Result<(RepositoryRecord, Allowance), Full> {
    let allowance = day_left(before, rules, Some(ask.issue), now)?.and(ask.allowance);
    let mut record = RepositoryRecord::next(before, nonce, now);
    if !record.claims.iter().any(|claim| claim.issue == ask.issue) {
        hour_room(before, rules, now)?;
    }
    record.claims.retain(|claim| claim.issue != ask.issue);
    record.claims.push(ClaimMark { issue: ask.issue, at: now });
    record.settings = Some(SettingsInUse { by: ask.worker.clone(), values: rules.shared.clone() });
    let share = record.share(ask.issue, ask.bill);
    share.now = ask.bill;
    share.attempts += 1;
    share.reserved = allowance.at_most();
    share.until = ask.until;
    share.generation = ask.generation;
    Ok((record, allowance))
}

/// The record after an attempt, with its cost in place of its reservation. What a later lease of the issue wrote stays.
pub fn close_reservation(
    before: Option<&RepositoryRecord>,
    cost: AttemptCost,
    nonce: Nonce,
    now: Timestamp,
) -> RepositoryRecord {
    let AttemptCost { issue, generation, began, bill } = cost;
    let mut record = RepositoryRecord::next(before, nonce, now);
    let share = record.share(issue, began);
    if share.generation <= generation {
        let (before, attempts) = (share.before, share.attempts);
        *share = DayShare { issue, before, now: bill, attempts, reserved: Spend::default(), until: now, generation };
    }
    record
}

/// How much room hour and day have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Headroom {
    /// Room for this attempt and for more.
    Ample,
    /// Room only for this attempt.
    Last,
    /// No room.
    None,
}

/// The room that hour and day have for an attempt, according to `before`; if it is the last, others may be taking it.
pub fn headroom(
    before: Option<&RepositoryRecord>,
    ask: &Reservation,
    rules: &RepositoryRules,
    now: Timestamp,
) -> Headroom {
    let Ok((after, _)) = reserve(before, ask, rules, Nonce::from(""), now) else { return Headroom::None };
    let more = day_left(Some(&after), rules, None, now).is_ok() && hour_room(Some(&after), rules, now).is_ok();
    if more { Headroom::Ample } else { Headroom::Last }
}

fn next_day(now: Timestamp) -> Timestamp {
    let midnight = now.date_naive().succ_opt().and_then(|day| day.and_hms_opt(0, 0, 0));
    midnight.map_or(now, |midnight| midnight.and_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noon of the first day.
    const NOON: i64 = 12 * 3_600;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).unwrap()
    }

    fn money(usd_micros: u64) -> Spend {
        Spend { usd_micros, ..Spend::default() }
    }

    fn rules() -> RepositoryRules {
        let day = Budget { usd_micros: Some(100), attempts: Some(5), ..Budget::default() };
        RepositoryRules { issues_per_hour: 3, day, shared: SharedSettings::default() }
    }

    fn ask(issue: u64, allowed: u64) -> Reservation {
        let allowance = Allowance { usd_micros: Some(allowed), ..Allowance::default() };
        Reservation {
            worker: WorkerId::from("w"),
            issue: IssueNumber(issue),
            generation: Generation(1),
            bill: money(1_000),
            allowance,
            until: at(NOON + 1_800),
        }
    }

    /// What the first lease on the first issue settles.
    fn cost(began: u64, bill: u64) -> AttemptCost {
        let (issue, generation) = (IssueNumber(1), Generation(1));
        AttemptCost { issue, generation, began: money(began), bill: money(bill) }
    }

    fn reserved(before: Option<&RepositoryRecord>, ask: &Reservation, now: i64) -> RepositoryRecord {
        reserve(before, ask, &rules(), Nonce::from("n"), at(now)).unwrap().0
    }

    #[test]
    fn what_is_reserved_is_nobody_elses() {
        let first = reserved(None, &ask(1, 60), NOON);
        let (second, allowance) = reserve(Some(&first), &ask(2, 60), &rules(), Nonce::from("m"), at(NOON)).unwrap();
        assert_eq!(allowance.usd_micros, Some(40), "what the first left");
        let full = reserve(Some(&second), &ask(3, 60), &rules(), Nonce::from("o"), at(NOON)).unwrap_err();
        let until = at(24 * 3_600);
        let (exhausted, spent, reserved) = (Exhausted::Money(100), Spend::default(), money(100));
        assert_eq!(full, Full::Day { exhausted, spent, reserved, until });
        insta::assert_snapshot!(full, @"the day's budget of $0.0001 is used up (0 s spent; $0.0001, 0 s reserved by running attempts); work resumes after 1970-01-02 00:00:00 UTC");
    }

    #[test]
    fn a_reservation_ends_with_its_attempt_or_by_itself() {
        let held = reserved(None, &ask(1, 100), NOON);
        let closed = close_reservation(Some(&held), cost(1_000, 1_030), Nonce::from("m"), at(NOON + 60));
        assert_eq!(day_left(Some(&closed), &rules(), None, at(NOON + 60)).unwrap().usd_micros, Some(70));
        assert!(day_left(Some(&held), &rules(), None, at(NOON + 1_799)).is_err());
        assert_eq!(day_left(Some(&held), &rules(), None, at(NOON + 1_800)).unwrap().usd_micros, Some(100));
    }

    #[test]
    fn a_dead_workers_bill_is_counted_once() {
        let held = reserved(None, &ask(1, 100), NOON);
        // It spent 30, as the issue's ledger shows, and died; another worker takes over.
        let again = Reservation { bill: money(1_030), ..ask(1, 100) };
        let taken = reserved(Some(&held), &again, NOON + 60);
        assert_eq!(taken.claims.len(), 1, "one issue, one claim of the hour");
        let closed = close_reservation(Some(&taken), cost(1_030, 1_050), Nonce::from("m"), at(NOON + 90));
        assert_eq!(day_left(Some(&closed), &rules(), None, at(NOON + 90)).unwrap().usd_micros, Some(50));
    }

    #[test]
    fn a_lost_lease_settles_nothing_of_the_next_one() {
        let next = |ask| Reservation { generation: Generation(2), bill: money(1_030), ..ask };
        let held = reserved(None, &next(ask(1, 60)), NOON);
        let stale = close_reservation(Some(&held), cost(1_000, 1_010), Nonce::from("m"), at(NOON + 60));
        assert_eq!(stale.day, held.day, "its reservation and its bill stay");
        let own = AttemptCost { generation: Generation(2), ..cost(1_030, 1_050) };
        let closed = close_reservation(Some(&stale), own, Nonce::from("o"), at(NOON + 90));
        assert!(closed.is_settled(IssueNumber(1), money(1_050), at(NOON + 90)));
        let late = close_reservation(Some(&closed), cost(1_000, 1_010), Nonce::from("p"), at(NOON + 95));
        assert_eq!(late.day, closed.day, "what it settled stays, too");
        // A ledger that was deleted begins at the first generation again.
        let rebuilt = reserved(Some(&closed), &ask(1, 60), NOON + 120);
        assert_eq!(rebuilt.day[0].generation, Generation(1));
    }

    #[test]
    fn a_new_day_begins_with_nothing_spent() {
        let held = reserved(None, &ask(1, 100), NOON);
        let tomorrow = NOON + 86_400;
        assert_eq!(day_left(Some(&held), &rules(), None, at(tomorrow)).unwrap().usd_micros, Some(100));
        // The whole cost of an attempt that began the day before counts for the new day.
        let closed = close_reservation(Some(&held), cost(1_000, 1_070), Nonce::from("m"), at(tomorrow));
        assert_eq!(day_left(Some(&closed), &rules(), None, at(tomorrow)).unwrap().usd_micros, Some(30));
    }

    /// Attack corpus I98.
    #[test]
    fn hour_and_attempts_have_limits() {
        let mut record = None;
        for issue in 1..=3 {
            record = Some(reserved(record.as_ref(), &ask(issue, 1), NOON));
        }
        let full = |now| reserve(record.as_ref(), &ask(4, 1), &rules(), Nonce::from("n"), at(now));
        assert_eq!(full(NOON + 3_599).unwrap_err(), Full::Hour { limit: 3, until: at(NOON + 3_600) });
        let mut record = full(NOON + 3_600).unwrap().0;
        record = reserved(Some(&record), &ask(4, 1), NOON + 3_600);
        let over = reserve(Some(&record), &ask(4, 1), &rules(), Nonce::from("n"), at(NOON + 3_600)).unwrap_err();
        assert!(matches!(over, Full::Day { exhausted: Exhausted::Attempts(5), .. }), "{over:?}");
    }

    #[test]
    fn nothing_is_claimed_beside_a_worker_with_other_settings() {
        let held = reserved(None, &ask(1, 10), NOON);
        let shared = SharedSettings::new([("budget.day".to_owned(), "7.0".to_owned())]);
        let own = RepositoryRules { shared: shared.clone(), ..rules() };
        let left = |record: &RepositoryRecord, issue, now| day_left(Some(record), &own, issue, at(now)).map(drop);
        let until = at(NOON + 1_800);
        let other = Full::OtherSettings { by: WorkerId::from("w"), keys: vec!["budget.day".to_owned()], until };
        assert_eq!(left(&held, None, NOON + 60), Err(other.clone()));
        assert_eq!(
            other.to_string(),
            "worker w works here with other settings (`budget.day`), and nothing is claimed beside it until its attempts are over, by \
             1970-01-01 12:30:00 UTC at the latest: give all workers of the repository the same"
        );
        assert_eq!(left(&held, Some(IssueNumber(1)), NOON + 60), Ok(()), "its dead attempt may be taken over");
        assert_eq!(left(&held, None, NOON + 1_800), Ok(()), "what is over does not count");
        let closed = close_reservation(Some(&held), cost(0, 5), Nonce::from("m"), at(NOON + 90));
        let ask = Reservation { worker: WorkerId::from("v"), ..ask(2, 10) };
        let (taken, _) = reserve(Some(&closed), &ask, &own, Nonce::from("o"), at(NOON + 120)).unwrap();
        assert_eq!(taken.settings, Some(SettingsInUse { by: WorkerId::from("v"), values: shared }));
        assert!(matches!(day_left(Some(&taken), &rules(), None, at(NOON + 120)), Err(Full::OtherSettings { .. })));
        let before = RepositoryRecord { settings: None, ..held };
        assert_eq!(left(&before, None, NOON + 60), Ok(()), "a worker that did not say which it had");
    }

    #[test]
    fn the_last_room_of_hour_and_day_is_told_from_ample_room() {
        let room = |before: Option<&RepositoryRecord>, issue, allowed, now| {
            headroom(before, &ask(issue, allowed), &rules(), at(now))
        };
        assert_eq!(room(None, 1, 60, NOON), Headroom::Ample);
        assert_eq!(room(None, 1, 100, NOON), Headroom::Last, "of the day's money");
        let first = reserved(None, &ask(1, 60), NOON);
        assert_eq!(room(Some(&first), 2, 30, NOON), Headroom::Ample);
        assert_eq!(room(Some(&first), 2, 60, NOON), Headroom::Last, "what is left is less than it asks for");
        assert_eq!(room(Some(&first), 1, 100, NOON), Headroom::Last, "its own reservation is replaced");
        let second = reserved(Some(&first), &ask(2, 60), NOON);
        assert_eq!(room(Some(&second), 3, 60, NOON), Headroom::None);
        let mut hour = reserved(None, &ask(1, 1), NOON);
        assert_eq!(room(Some(&hour), 2, 1, NOON), Headroom::Ample);
        hour = reserved(Some(&hour), &ask(2, 1), NOON);
        assert_eq!(room(Some(&hour), 3, 1, NOON), Headroom::Last, "of three issues an hour");
        hour = reserved(Some(&hour), &ask(3, 1), NOON);
        assert_eq!(room(Some(&hour), 4, 1, NOON), Headroom::None);
    }

    #[test]
    fn the_kill_switch_stays_on_from_record_to_record() {
        let pause = Pause { by: "ann".into(), since: at(1), reason: "too dear".to_owned() };
        let record = RepositoryRecord::next(None, Nonce::from("n"), at(NOON));
        let record = RepositoryRecord { paused: Some(pause.clone()), ..record };
        let next = close_reservation(Some(&record), cost(0, 0), Nonce::from("m"), at(NOON));
        let full = reserve(Some(&next), &ask(1, 1), &rules(), Nonce::from("o"), at(NOON + 86_400)).unwrap_err();
        assert_eq!(full, Full::Paused(pause));
        assert!(full.to_string().contains("ann paused the repository (too dear)"));
    }

    #[test]
    fn failed_loads_go_from_record_to_record_until_they_are_old() {
        let record = RepositoryRecord::next(None, Nonce::from("n"), at(NOON));
        assert!(!record.to_message("x").unwrap().contains("failed_loads"), "none takes no room");
        let record = RepositoryRecord { failed_loads: record.failed_loads.and_one(at(NOON)), ..record };
        let record = RepositoryRecord::from_message(&record.to_message("x").unwrap()).unwrap();
        let after = |seconds| RepositoryRecord::next(Some(&record), Nonce::from("m"), at(NOON + seconds)).failed_loads;
        assert_eq!(after(299), record.failed_loads);
        assert!(!after(299).is_empty() && after(301).is_empty());
    }
}
