//! "Health": what is wrong, each with its fix, and what there is left of everything.

use axum::{
    extract::{Query, State},
    response::Response,
};
use chrono::TimeDelta;
use hob_domain::Timestamp;
use hob_words::age;
use minijinja::{Value, context};
use serde::{Deserialize, Serialize};

use crate::{
    api::{Filter, RepositoryView, StateView, issues, state},
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
    let mut warnings = of_process(&shared, &process);
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
    let free = shared.known.facts.free_bytes().map(|bytes| bytes >> 30);
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

fn of_process(shared: &Shared, process: &StateView) -> Vec<Warning> {
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
    if let Some(free) = shared.known.facts.free_bytes().filter(|free| *free < DISK_MIN) {
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

fn of_repository(known: &RepositoryView, now: Option<Timestamp>) -> Vec<Warning> {
    let warning = |what: String, fix: &str| Warning {
        repo: known.repo.clone(),
        what,
        fix: fix.to_owned(),
        address: String::new(),
    };
    let mut warnings = Vec::new();
    if let Some(failed) = &known.failed {
        let last = match known.polled_at.zip(now) {
            Some((at, now)) => format!(" (the last good one was {} ago)", age(now - at)),
            None => String::new(),
        };
        warnings.push(warning(
            format!("the last poll failed{last}: {failed}"),
            "Hob tries again by itself. If it goes on, `hob doctor` checks token, permissions and the way to the forge.",
        ));
    } else if known.polled_at.zip(now).is_some_and(|(at, now)| now - at > POLL_AGE) {
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
            "No attempt begins beyond it before the next day. `budget.day_usd` is the limit.",
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
