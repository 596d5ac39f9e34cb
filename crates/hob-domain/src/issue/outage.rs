//! Outages: services that fail an attempt through no fault of the work, and the circuit breaker that keeps a
//! repository's issues from all retrying a service while it is down.
//!
//! # Flow
//! When a service fails an attempt, the issue's record gets an [`Outage`], and the next attempt follows after a pause
//! that grows. When the same service has failed two issues, its circuit breaker opens in the repository's record: from
//! then on one issue at a time tries the service ([`Outages::ask`]), and the first answer closes the breaker for all of
//! them ([`Outages::answered`]).
//!
//! # Guarantees
//! - A single issue never opens the breaker: the fault may be in its own request.
//! - A worker that dies while it tries the service delays the others by at most one pause.
//! - An issue continues early only if the service has answered since it failed this issue.

use std::{fmt, time::Duration};

use hob_text::count;
use serde::{Deserialize, Serialize};

use crate::{IssueNumber, Timestamp};

/// The longest pause between two tries.
const PAUSE_MAX: Duration = Duration::from_secs(3_600);
/// Services that are remembered; the one whose failure is oldest is dropped first.
const SERVICES_MAX: usize = 16;
/// How long a service is remembered after its last failure or its recovery.
const REMEMBERED: Duration = Duration::from_secs(2 * 86_400);

/// A service that failed consecutive attempts of an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outage {
    /// The service that failed last, by the name that people know.
    pub service: String,
    /// When it began, by the forge's clock; or, if the service announced on its first failure when it would be back,
    /// that time.
    pub since: Timestamp,
    /// Consecutive failures. 0 if a person wants a retry at once.
    pub failures: u32,
}

impl Outage {
    /// The outage after one more failure. `back` is when the service says it will be back.
    #[must_use]
    pub fn after(before: Option<&Self>, service: &str, back: Option<Timestamp>, now: Timestamp) -> Self {
        let lasting = before.filter(|before| before.failures > 0);
        Self {
            service: service.to_owned(),
            // Only the first announcement counts; one that is repeated again and again is worthless.
            since: lasting.map_or(back.unwrap_or(now), |before| before.since),
            failures: lasting.map_or(0, |before| before.failures).saturating_add(1),
        }
    }

    /// The pause before the next try of `issue`: `first`, doubled after each further failure, up to an hour. From the
    /// second failure on, up to a quarter is subtracted, a different part each time, so that a service that works for
    /// ten minutes of each hour is reached at some point.
    pub fn pause(&self, first: Duration, issue: IssueNumber) -> Duration {
        let doubled = first.saturating_mul(1 << self.failures.saturating_sub(1).min(10)).min(PAUSE_MAX.max(first));
        let mark = u64::from(self.failures).wrapping_mul(7).wrapping_add(issue.0.wrapping_mul(3)) % 16;
        let off = if self.failures > 1 { u32::try_from(mark).unwrap_or_default() } else { 0 };
        doubled - doubled / 64 * off
    }

    /// Whether it has lasted longer than `patience`; 0 means no limit.
    pub fn outlasts(&self, patience: Duration, now: Timestamp) -> bool {
        !patience.is_zero() && now >= self.since + patience
    }

    /// The same after a person asked for a retry: due at once, as if it had failed for the first time.
    pub(crate) fn tried_again(self) -> Self {
        Self { failures: 0, ..self }
    }
}

/// A service's condition, for all issues of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceOutage {
    /// The service.
    pub service: String,
    /// When the failures began.
    pub since: Timestamp,
    /// How many attempts it has failed.
    pub failures: u32,
    /// The issues that it failed last, at most two.
    pub issues: Vec<IssueNumber>,
    /// No issue tries it before this time.
    pub until: Timestamp,
    /// The issue that tries it now, or was the last to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<IssueNumber>,
    /// When a person was last asked about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<Timestamp>,
    /// When it answered again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back: Option<Timestamp>,
}

impl ServiceOutage {
    /// Whether the circuit breaker is open: several issues failed, and no answer has come since.
    pub fn is_open(&self) -> bool {
        self.back.is_none() && self.issues.len() > 1
    }

    fn last_seen(&self) -> Timestamp {
        self.back.unwrap_or(self.until)
    }
}

impl fmt::Display for ServiceOutage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { service, since, failures, until, asks, .. } = self;
        let (since, until) = (since.format("%Y-%m-%d %H:%M UTC"), until.format("%Y-%m-%d %H:%M UTC"));
        write!(f, "{service} is down: it has failed {} since {since}", count(*failures, "attempt"))?;
        match asks {
            Some(issue) => {
                write!(f, "; issue #{issue} tried it last, and the next one tries it after {until}")
            }
            None => write!(f, "; one issue tries it after {until}"),
        }
    }
}

/// The services of one repository that failed recently.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Outages(Vec<ServiceOutage>);

impl Outages {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A service's condition. `None` if it has not failed recently.
    pub fn of(&self, service: &str) -> Option<&ServiceOutage> {
        self.0.iter().find(|known| known.service == service)
    }

    /// The services whose circuit breaker is open.
    pub fn open(&self) -> impl Iterator<Item = &ServiceOutage> {
        self.0.iter().filter(|known| known.is_open())
    }

    /// What is still worth remembering at `now`.
    #[must_use]
    pub fn at(&self, now: Timestamp) -> Self {
        let mut kept: Vec<_> = self.0.iter().filter(|known| known.last_seen() + REMEMBERED > now).cloned().collect();
        kept.sort_by_key(|known| std::cmp::Reverse(known.last_seen()));
        kept.truncate(SERVICES_MAX);
        Self(kept)
    }

    /// The same after a service failed an attempt of `issue`, whose next attempt is at `until`. The second value says
    /// whether to ask a person: `true` if none was asked within `patience`.
    #[must_use]
    pub fn failed(
        &self,
        issue: IssueNumber,
        outage: &Outage,
        until: Timestamp,
        patience: Duration,
        now: Timestamp,
    ) -> (Self, bool) {
        let mut outages = self.at(now);
        let known = outages.0.iter().position(|known| known.service == outage.service && known.back.is_none());
        let mut service = match known {
            Some(at) => outages.0.remove(at),
            None => ServiceOutage {
                service: outage.service.clone(),
                since: outage.since.min(now),
                failures: 0,
                issues: Vec::new(),
                until,
                asks: None,
                told: None,
                back: None,
            },
        };
        outages.0.retain(|known| known.service != outage.service);
        service.failures = service.failures.saturating_add(1);
        service.until = until;
        service.issues.retain(|known| *known != issue);
        service.issues.push(issue);
        let over = service.issues.len().saturating_sub(2);
        drop(service.issues.drain(..over));
        let asks = outage.outlasts(patience, now) && service.told.is_none_or(|told| told + patience <= now);
        if asks {
            service.told = Some(now);
        }
        outages.0.push(service);
        (outages, asks)
    }

    /// Whether `issue` may use the service now: freely, or as the one that tries it. While one issue tries it, the
    /// others wait for `pause`.
    ///
    /// # Errors
    /// The time before which it may not.
    pub fn ask(
        &self,
        service: &str,
        issue: IssueNumber,
        pause: Duration,
        now: Timestamp,
    ) -> Result<Option<Self>, Timestamp> {
        let Some(at) = self.0.iter().position(|known| known.service == service && known.is_open()) else {
            return Ok(None);
        };
        let mut outages = self.clone();
        let known = &mut outages.0[at];
        if known.until > now && known.asks != Some(issue) {
            return Err(known.until);
        }
        (known.until, known.asks) = (now + pause, Some(issue));
        Ok(Some(outages))
    }

    /// The same after a service answered. `None` if it had not failed.
    #[must_use]
    pub fn answered(&self, service: &str, now: Timestamp) -> Option<Self> {
        let at = self.0.iter().position(|known| known.service == service && known.back.is_none())?;
        let mut outages = self.clone();
        outages.0[at].back = Some(now);
        Some(outages)
    }

    /// When an issue that waits for a service may continue, if that differs from its own record. `failed_at` is when
    /// the service failed the issue.
    pub fn goes_on(&self, outage: &Outage, failed_at: Timestamp) -> Option<Timestamp> {
        let known = self.of(&outage.service)?;
        match known.back {
            Some(back) => Some(back).filter(|back| *back > failed_at),
            None => Some(known.until).filter(|_| known.is_open()),
        }
    }

    /// Of the issues that could try the same service, in the order in which they are taken, the one that does; not the
    /// one that did last time, unless it is the only one.
    pub fn asker(&self, service: &str, waiting: &[IssueNumber]) -> Option<IssueNumber> {
        let last = self.of(service).and_then(|known| known.asks);
        waiting.iter().copied().find(|issue| Some(*issue) != last).or(waiting.first().copied())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).unwrap()
    }

    fn outage(failures: u32) -> Outage {
        Outage { service: "the model".to_owned(), since: at(0), failures }
    }

    /// The outages after failures of these issues at these times, each with its own pause.
    fn after(failures: &[(u64, i64)]) -> Outages {
        failures.iter().fold(Outages::default(), |outages, (issue, seconds)| {
            let until = at(seconds + 300);
            outages.failed(IssueNumber(*issue), &outage(1), until, DAY, at(*seconds)).0
        })
    }

    /// Requirement A6: transient failures are retried later.
    #[test]
    fn each_failure_in_a_row_waits_about_twice_as_long_up_to_an_hour() {
        let pause = |failures| outage(failures).pause(Duration::from_secs(300), IssueNumber(1)).as_secs();
        assert_eq!(pause(1), 300);
        for (failures, whole) in [(2, 600), (3, 1_200), (4, 2_400), (5, 3_600), (60, 3_600)] {
            assert!((whole * 3 / 4..=whole).contains(&pause(failures)), "{failures}: {}", pause(failures));
        }
        let hours: BTreeSet<_> = (5..21).map(pause).collect();
        assert_eq!(hours.len(), 16, "no two in a row meet the same minute of an hour");
        let longer = outage(1).pause(Duration::from_secs(7_200), IssueNumber(1));
        assert_eq!(longer.as_secs(), 7_200, "a first pause above an hour stays what it is");
    }

    #[test]
    fn an_outage_counts_from_its_first_failure_or_from_when_the_service_said_it_is_back() {
        let first = Outage::after(None, "git", None, at(10));
        assert_eq!((first.since, first.failures), (at(10), 1));
        let second = Outage::after(Some(&first), "the model", None, at(20));
        assert_eq!((second.service.as_str(), second.since, second.failures), ("the model", at(10), 2));
        assert_eq!(Outage::after(Some(&second), "the model", Some(at(5_000)), at(30)).since, at(10));
        let quota = Outage::after(None, "the model", Some(at(5_000)), at(30));
        assert_eq!(quota.since, at(5_000));
        assert!(
            !quota.outlasts(Duration::from_secs(60), at(5_059)) && quota.outlasts(Duration::from_secs(60), at(5_060))
        );
        let asked_again = Outage::after(Some(&quota.tried_again()), "the model", None, at(9_000));
        assert_eq!((asked_again.since, asked_again.failures), (at(9_000), 1));
    }

    #[test]
    fn a_service_is_down_once_it_failed_two_issues_and_no_answer_came_between() {
        let is_open = |outages: &Outages| outages.open().count() == 1;
        assert!(!is_open(&after(&[(1, 0), (1, 10), (1, 20)])), "one issue may have itself to blame");
        assert!(is_open(&after(&[(1, 0), (2, 10)])));
        let back = after(&[(1, 0)]).answered("the model", at(5)).unwrap();
        let (again, _) = back.failed(IssueNumber(2), &outage(1), at(400), DAY, at(10));
        assert!(!is_open(&again), "the answer between them counts");
        assert_eq!(again.answered("another", at(20)), None);
    }

    #[test]
    fn one_issue_asks_at_a_time_and_the_next_one_when_it_has_no_news() {
        let down = after(&[(1, 0), (2, 10)]);
        let ask = |outages: &Outages, issue, now| {
            outages.ask("the model", IssueNumber(issue), Duration::from_secs(300), at(now))
        };
        assert_eq!(ask(&down, 3, 100), Err(at(310)));
        let asked = ask(&down, 3, 310).unwrap().unwrap();
        assert_eq!(ask(&asked, 2, 320), Err(at(610)));
        assert!(ask(&asked, 3, 320).unwrap().is_some(), "the one that tries may go on trying");
        assert!(ask(&asked, 2, 610).unwrap().is_some(), "it may have died");
        assert_eq!(ask(&after(&[(1, 0)]), 3, 1), Ok(None), "nothing is known to be down");
        let waiting = [2, 3, 4].map(IssueNumber);
        assert_eq!(down.asker("the model", &waiting), Some(IssueNumber(2)));
        assert_eq!(asked.asker("the model", &[3, 4].map(IssueNumber)), Some(IssueNumber(4)), "they take turns");
        assert_eq!(asked.asker("the model", &[IssueNumber(3)]), Some(IssueNumber(3)));
    }

    #[test]
    fn an_answer_lets_those_go_on_that_failed_before_it() {
        let down = after(&[(1, 0), (2, 10)]);
        assert_eq!(down.goes_on(&outage(1), at(10)), Some(at(310)));
        let back = down.answered("the model", at(200)).unwrap();
        assert_eq!(back.goes_on(&outage(1), at(10)), Some(at(200)));
        assert_eq!(back.goes_on(&outage(1), at(201)), None, "it failed this one since");
        assert_eq!(after(&[(1, 0)]).goes_on(&outage(1), at(0)), None, "one issue waits by its own record");
    }

    #[test]
    fn a_person_is_asked_once_for_all_issues_until_patience_is_over_again() {
        let patience = Duration::from_secs(1_000);
        let failed = |outages: &Outages, issue, now| {
            outages.failed(IssueNumber(issue), &outage(3), at(now + 100), patience, at(now))
        };
        let (early, asks) = failed(&Outages::default(), 1, 999);
        assert!(!asks);
        let (first, asks) = failed(&early, 2, 1_000);
        assert!(asks);
        let (second, asks) = failed(&first, 1, 1_100);
        assert!(!asks, "issue 2 asks already");
        assert!(failed(&second, 1, 2_000).1);
    }

    #[test]
    fn what_is_remembered_is_bounded_and_fades() {
        let many = (0..40).fold(Outages::default(), |outages, n| {
            let outage = Outage { service: format!("s{n}"), ..outage(1) };
            outages.failed(IssueNumber(1), &outage, at(n), DAY, at(n)).0
        });
        assert!(many.0.len() <= SERVICES_MAX + 1 && many.of("s39").is_some() && many.of("s0").is_none());
        assert!(many.at(at(40 + 2 * 86_400)).is_empty());
        let text = serde_json::to_string(&after(&[(1, 0)])).unwrap();
        assert_eq!(serde_json::from_str::<Outages>(&text).unwrap(), after(&[(1, 0)]));
    }
}
