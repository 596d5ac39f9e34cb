//! "Health": what is wrong, each with its fix, and what there is left of everything.

use std::collections::BTreeMap;

use axum::{
    extract::{Query, State},
    response::Response,
};
use chrono::TimeDelta;
use hob_domain::{BlockCode, RepoName, Timestamp};
use hob_text::{count, terminal};
use hob_words::age;
use minijinja::{Value, context};
use serde::{Deserialize, Serialize};

use crate::{
    api::{Filter, RepositoryView, StateView, issues, state},
    known::Repository,
    page::{
        rows::encoded,
        templates::{View, render},
    },
    shared::Shared,
};

/// Repositories of one answer.
const PART: usize = 50;
/// How long a repository may go without a good poll: half an hour passes between two where nothing happens.
const POLL_AGE: TimeDelta = TimeDelta::minutes(40);
/// How long an issue may be blocked, and a lease go without a renewal.
const BLOCKED_AGE: TimeDelta = TimeDelta::days(2);
const LEASE_AGE: TimeDelta = TimeDelta::minutes(30);
/// Bytes of the disk that should be free.
const DISK_MIN: u64 = 2 << 30;
/// Issues on which an agent has failed, from which on the reason is hardly in one issue.
const AGENT_FAILURES: usize = 3;
/// Checks that fail at times, of one repository.
const FLAKES_MAX: usize = 3;
/// Warnings of one kind.
const WARNINGS_MAX: usize = 20;

/// Something that is wrong.
#[derive(Debug, Serialize)]
struct Warning {
    /// The repository. Empty if it is about the process.
    repo: String,
    /// What.
    what: String,
    /// What to do.
    fix: String,
    /// Where to look; empty if there is nothing to see.
    address: String,
}

/// Which repositories.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    /// Those after this one.
    after: Option<String>,
}

pub(super) async fn get(State(shared): State<Shared>, Query(wanted): Query<Wanted>) -> Response {
    let process = state(&shared);
    let now = process.now;
    let free = shared.known.facts.free_bytes();
    let mut warnings = of_process(&process, free);
    warnings.extend(of_polls(&process.repositories, now));
    warnings.extend(process.repositories.iter().flat_map(|known| of_repository(known, now)));
    warnings.extend(of_issues(&shared));
    let after = wanted.after.unwrap_or_default();
    let begins = process.repositories.partition_point(|known| known.repo <= after);
    let shown = &process.repositories[begins..process.repositories.len().min(begins + PART)];
    let has_more = begins + shown.len() < process.repositories.len();
    let next = shown.last().filter(|_| has_more).map(|last| format!("/health?after={}", encoded(&last.repo)));
    let repositories: Vec<Value> = shown
        .iter()
        .map(|known| {
            let polled = known.polled_at.zip(now).map(|(at, now)| age(now - at));
            context! { polled, ..Value::from(minijinja::value::Serde(known)) }
        })
        .collect();
    let rates: Vec<Value> = process
        .rates
        .iter()
        .map(|rate| {
            let resets = rate.reset.format("%H:%M UTC").to_string();
            context! { resource => &*rate.resource, limit => rate.limit, remaining => rate.remaining, resets }
        })
        .collect();
    let free = free.map(|bytes| bytes >> 30);
    let shown = context! {
        warnings => Value::from(minijinja::value::Serde(&warnings)),
        repositories,
        next,
        rates,
        running => process.running,
        jobs => process.jobs,
        sandbox => process.sandbox.as_deref(),
        free,
        all => process.repositories.len(),
    };
    render(&shared, View::Health, "health.html", "Health", shown)
}

fn of_process(process: &StateView, free: Option<u64>) -> Vec<Warning> {
    let warning =
        |what: String, fix: &str| Warning { repo: String::new(), what, fix: fix.to_owned(), address: String::new() };
    let mut warnings = Vec::new();
    for rate in process.rates.iter().filter(|rate| rate.remaining < rate.limit / 10) {
        let (resource, remaining, limit) = (&rate.resource, rate.remaining, rate.limit);
        let resets = rate.reset.format("%H:%M UTC");
        warnings.push(warning(
            format!("{remaining} of {limit} calls of the quota `{resource}` are left until {resets}"),
            "Hob waits by itself. If it happens often, poll less (`poll.interval`), or give Hob an App of its own.",
        ));
    }
    if let Some(free) = free.filter(|free| *free < DISK_MIN) {
        warnings.push(warning(
            format!("{} MiB are free where Hob keeps its mirrors and checkouts", free >> 20),
            "Free some space, or set `state.disk`, which bounds what Hob keeps.",
        ));
    }
    if process.sandbox.as_deref() == Some("none") {
        warnings.push(warning(
            "agents and checks run without a sandbox".to_owned(),
            "`hob doctor` says what is missing on this machine.",
        ));
    }
    warnings
}

/// Polls that failed last. What fails in several repositories in one way is one warning.
fn of_polls(all: &[RepositoryView], now: Option<Timestamp>) -> Vec<Warning> {
    let mut failures: BTreeMap<&str, Vec<&RepositoryView>> = BTreeMap::new();
    for known in all {
        if let Some(failed) = &known.failed {
            failures.entry(failed).or_default().push(known);
        }
    }
    let fix =
        "Hob tries again by itself. If it goes on, `hob doctor` checks token, permissions and the way to the forge.";
    let of_one = |failed: &str, known: &RepositoryView| {
        let last = known.polled_at.zip(now).map(|(at, now)| format!(" (the last good one was {} ago)", age(now - at)));
        let what = format!("the last poll failed{}: {failed}", last.unwrap_or_default());
        Warning { repo: known.repo.clone(), what, fix: fix.to_owned(), address: String::new() }
    };
    let of_several = |failed: &str, several: &[&RepositoryView]| {
        let first = several.first().map(|known| known.repo.as_str()).unwrap_or_default();
        let what =
            format!("the last polls of {} repositories failed, such as that of {first}: {failed}", several.len());
        Warning { repo: String::new(), what, fix: fix.to_owned(), address: String::new() }
    };
    failures
        .into_iter()
        .map(|(failed, several)| match several.as_slice() {
            [known] => of_one(failed, known),
            several => of_several(failed, several),
        })
        .collect()
}

fn of_repository(known: &RepositoryView, now: Option<Timestamp>) -> Vec<Warning> {
    let warning = |what: String, fix: &str| Warning {
        repo: known.repo.clone(),
        what,
        fix: fix.to_owned(),
        address: String::new(),
    };
    let mut warnings = Vec::new();
    if known.failed.is_none() && known.polled_at.zip(now).is_some_and(|(at, now)| now - at > POLL_AGE) {
        warnings.push(warning(
            "it was not polled for long".to_owned(),
            "Look whether this process still runs: its log says more.",
        ));
    }
    for trouble in &known.trouble {
        warnings.push(warning(trouble.clone(), "Nothing begins in this repository until a maintainer mends it."));
    }
    if let Some(by) = &known.paused_by {
        let why =
            known.paused_why.as_deref().filter(|why| !why.is_empty()).map(|why| format!(": {why}")).unwrap_or_default();
        warnings.push(warning(format!("{by} paused all work{why}"), "Resume it below, or with `hob resume --all`."));
    }
    for service in &known.services_down {
        warnings.push(warning(
            format!("attempts fail because of the service {service}"),
            "One issue asks it now and then, and the others wait. Its operator's status page may say more.",
        ));
    }
    if known.usd_day_max.is_some_and(|max| known.usd_today >= 0.9 * max) {
        let max = known.usd_day_max.unwrap_or_default();
        warnings.push(warning(
            format!("${:.2} of the day's ${max:.2} are spent", known.usd_today),
            "No attempt begins beyond it before the next day. `budget.day` is the limit.",
        ));
    }
    for issue in known.unreadable.iter().take(WARNINGS_MAX) {
        warnings.push(warning(
            format!("issue {} is left alone: {}", issue.issue, issue.why),
            "Hob goes on with the others.",
        ));
    }
    warnings
}

/// Issues that have been blocked for long, and leases that nobody renews.
fn of_issues(shared: &Shared) -> Vec<Warning> {
    let Some(now) = shared.known.now() else { return Vec::new() };
    let mut warnings = Vec::new();
    let blocked = Filter { state: Some("blocked".to_owned()), limit: Some(WARNINGS_MAX), ..Filter::default() };
    for issue in issues(shared, &blocked).map(|part| part.issues).unwrap_or_default() {
        if now - issue.since > BLOCKED_AGE {
            warnings.push(Warning {
                what: format!("issue {} has waited for an answer for {}", issue.issue, age(now - issue.since)),
                fix: "Answer it, or cancel it.".to_owned(),
                address: format!("/issues/{}/{}", issue.repo, issue.issue),
                repo: issue.repo,
            });
        }
    }
    let all = shared.known.repositories();
    for (repo, known) in all.iter() {
        warnings.extend(of_agents(repo, known));
        for (issue, known) in &known.issues {
            let Some(record) = known.record.as_ref().filter(|record| record.lease.is_some()) else { continue };
            if now - record.renewed_at > LEASE_AGE {
                warnings.push(Warning {
                    repo: repo.to_string(),
                    what: format!("the lease of issue {issue} was not renewed for {}", age(now - record.renewed_at)),
                    fix:
                        "Its worker is gone or cannot reach the forge. Another takes it over when the lease has ended."
                            .to_owned(),
                    address: format!("/issues/{repo}/{issue}"),
                });
            }
        }
    }
    warnings
}

/// Agents that fail wherever they work, and checks that fail on unchanged code.
fn of_agents(repo: &RepoName, known: &Repository) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let failed = known.issues.values().filter_map(|issue| issue.record.as_ref()?.blocked.as_ref()).filter(|blocked| {
        matches!(blocked.reason, BlockCode::AgentFailed | BlockCode::AttemptsFailed | BlockCode::AttemptsUsedUp)
    });
    let failed = failed.count();
    if failed >= AGENT_FAILURES {
        warnings.push(Warning {
            repo: repo.to_string(),
            what: format!("{} are blocked because the agent failed on them", count(failed, "issue")),
            fix: "If they have one reason, mend that and try them again; `hob doctor` looks at the agents and models."
                .to_owned(),
            address: format!("/?needs=trouble&repo={}", encoded(&repo.to_string())),
        });
    }
    let flakes = known.record.iter().flat_map(|record| record.flakes.iter());
    for flake in flakes.take(FLAKES_MAX) {
        warnings.push(Warning {
            repo: repo.to_string(),
            what: format!("the check `{}` failed in {} on unchanged code", terminal(&flake.name.check), flake.rate),
            fix: "Its failures count less for that. `hob flakes` lists all; open an issue that has it repaired."
                .to_owned(),
            address: String::new(),
        });
    }
    warnings
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hob_domain::{
        BaseRates, BlockReason, Claimant, FlakeName, Flakes, IssueNumber, Rate, Record, RepositoryRecord,
        State as IssueState, Transition, acquire, apply, first_record,
    };
    use hob_worker::{Watcher, news_channel};

    use super::*;
    use crate::{
        access::Access,
        api::{RateView, UnreadableView},
        known::{Facts, Known},
    };

    const BEGAN: i64 = 1_800_000_000;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_timestamp(BEGAN, 0).unwrap() + TimeDelta::minutes(minutes)
    }

    fn repository() -> RepositoryView {
        RepositoryView {
            repo: "acme/site".to_owned(),
            polled_at: Some(at(0)),
            failed: None,
            trouble: Vec::new(),
            unreadable: Vec::new(),
            paused_by: None,
            paused_why: None,
            services_down: Vec::new(),
            usd_today: 1.0,
            usd_day_max: Some(50.0),
            issues: Vec::new(),
        }
    }

    fn process() -> StateView {
        StateView {
            version: "1",
            now: Some(at(0)),
            jobs: 1,
            running: 0,
            sandbox: Some("box".to_owned()),
            rates: vec![RateView { resource: "core".to_owned(), limit: 5_000, remaining: 4_000, reset: at(60) }],
            repositories: Vec::new(),
        }
    }

    fn says(warnings: &[Warning]) -> Vec<&str> {
        warnings.iter().map(|warning| warning.what.as_str()).collect()
    }

    #[test]
    fn what_is_well_is_no_warning() {
        assert!(of_process(&process(), Some(100 << 30)).is_empty());
        assert!(of_repository(&repository(), Some(at(5))).is_empty());
    }

    /// The troubles of a process and of a repository that an operator has to see at once.
    #[test]
    fn each_trouble_is_told_with_its_fix() {
        let quota = StateView {
            rates: vec![RateView { resource: "core".to_owned(), limit: 5_000, remaining: 12, reset: at(60) }],
            ..process()
        };
        let open = StateView { sandbox: Some("none".to_owned()), ..process() };
        for (what, found) in [
            ("12 of 5000 calls of the quota `core` are left", of_process(&quota, None)),
            ("agents and checks run without a sandbox", of_process(&open, None)),
            ("512 MiB are free", of_process(&process(), Some(512 << 20))),
        ] {
            assert!(found.len() == 1 && found[0].what.starts_with(what) && !found[0].fix.is_empty(), "{found:?}");
        }
        let unreadable = UnreadableView { issue: 9, title: String::new(), why: "a newer Hob's".to_owned() };
        for (what, known, now) in [
            ("it was not polled for long", repository(), at(41)),
            (
                "`.github/hob.toml` cannot be used: line 3",
                RepositoryView {
                    trouble: vec!["`.github/hob.toml` cannot be used: line 3".to_owned()],
                    ..repository()
                },
                at(0),
            ),
            (
                "ann paused all work: lunch",
                RepositoryView {
                    paused_by: Some("ann".to_owned()),
                    paused_why: Some("lunch".to_owned()),
                    ..repository()
                },
                at(0),
            ),
            (
                "attempts fail because of the service OpenAI",
                RepositoryView { services_down: vec!["OpenAI".to_owned()], ..repository() },
                at(0),
            ),
            ("$45.00 of the day's $50.00 are spent", RepositoryView { usd_today: 45.0, ..repository() }, at(0)),
            (
                "issue 9 is left alone: a newer Hob's",
                RepositoryView { unreadable: vec![unreadable], ..repository() },
                at(0),
            ),
        ] {
            let found = of_repository(&known, Some(now));
            assert!(found.len() == 1 && found[0].what == what && !found[0].fix.is_empty(), "{what}: {found:?}");
        }
    }

    #[test]
    fn what_fails_in_several_repositories_in_one_way_is_one_warning() {
        let failed = |repo: &str, why: &str| RepositoryView {
            repo: repo.to_owned(),
            failed: Some(why.to_owned()),
            ..repository()
        };
        let token = "the token is rejected";
        let all = [failed("a/b", token), repository(), failed("c/d", "it is gone"), failed("e/f", token)];
        assert_eq!(
            says(&of_polls(&all, Some(at(7)))),
            [
                "the last poll failed (the last good one was 7 min ago): it is gone",
                "the last polls of 2 repositories failed, such as that of a/b: the token is rejected",
            ]
        );
    }

    /// Those of single issues, of agents and of checks.
    #[test]
    fn what_waits_too_long_and_what_fails_everywhere_is_told() {
        let known = Arc::new(Known::new(Facts { jobs: 1, state_dir: "/".into() }));
        let repo: RepoName = "acme/site".parse().unwrap();
        let working = |issue| Record { state: IssueState::InProgress, ..first_record(IssueNumber(issue), at(0)) };
        let blocked = |issue, reason| apply(&working(issue), Transition::Block(reason), at(0)).unwrap().0;
        let question = |issue| blocked(issue, BlockReason::Question { question: "?".to_owned() });
        let failed = |issue| blocked(issue, BlockReason::AgentFailed { failure: "no model".to_owned() });
        known.record(&repo, &question(1));
        let lease = std::time::Duration::from_secs(300);
        let claimant = Claimant { worker: "w".into(), nonce: "n".into(), duration: lease, skew: lease, bill: None };
        known.record(&repo, &acquire(None, IssueNumber(2), &claimant, at(0)).unwrap());
        (3..=5).for_each(|issue| known.record(&repo, &failed(issue)));
        let rates: BaseRates =
            [(FlakeName { check: "make test".to_owned(), test: None }, Rate { failed: 2, runs: 7 })].into();
        let record = RepositoryRecord::next(None, "n".into(), at(0));
        let record = RepositoryRecord { flakes: Flakes::default().after(&rates, at(0)).unwrap(), ..record };
        known.set(&repo, |known| (known.polled_at, known.record) = (Some(at(20)), Some(record.clone())));
        let shared = Shared {
            known,
            access: Arc::new(Access::ThisMachine),
            webhooks: None,
            news: news_channel().0,
            forwards: tokio::sync::watch::Sender::default().subscribe(),
        };
        assert_eq!(
            says(&of_issues(&shared)),
            [
                "3 issues are blocked because the agent failed on them",
                "the check `make test` failed in 2 of 7 runs on unchanged code"
            ]
        );
        shared.known.set(&repo, |known| known.polled_at = Some(at(3 * 24 * 60)));
        let later = of_issues(&shared);
        let later = says(&later);
        assert!(later.contains(&"issue 1 has waited for an answer for 3 d"), "{later:?}");
        assert!(later.contains(&"the lease of issue 2 was not renewed for 3 d"), "{later:?}");
    }
}
