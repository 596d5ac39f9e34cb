//! "Worth it": what came of the work, what it cost, and how good the quotes were.

use std::collections::BTreeMap;

use axum::{
    extract::{Query, State},
    response::Response,
};
use chrono::{NaiveDate, TimeDelta};
use hob_domain::{OutcomeGroup, OutcomeKind, spend_by_day};
use hob_words::age;
use minijinja::{Value, context};
use serde::Deserialize;

use crate::{
    api::{OutcomeSums, dollars, grouped, is_wanted, outcomes_of},
    page::{
        charts::{Bar, Dot, bars, dots},
        templates::{View, render},
    },
    shared::Shared,
};

/// Quotes that are drawn.
const DOTS_MAX: usize = 200;

/// What is shown.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    repo: Option<String>,
    by: Option<String>,
}

/// The groups, and their names.
const GROUPS: [(&str, OutcomeGroup); 5] = [
    ("agent", OutcomeGroup::Agent),
    ("model", OutcomeGroup::Model),
    ("profile", OutcomeGroup::Profile),
    ("label", OutcomeGroup::Label),
    ("week", OutcomeGroup::Week),
];

pub(super) async fn get(State(shared): State<Shared>, Query(wanted): Query<Wanted>) -> Response {
    let by = wanted.by.as_deref().and_then(|by| GROUPS.iter().find(|(name, _)| *name == by)).unwrap_or(&GROUPS[0]);
    let all = outcomes_of(&shared, wanted.repo.as_deref());
    let found = grouped(&all, by.1, shared.known.now().unwrap_or_default());
    let groups: Vec<Value> = found.groups.iter().map(sums).collect();
    let by_group: Vec<Value> =
        GROUPS.iter().map(|(name, _)| context! { name => *name, is_chosen => *name == by.0 }).collect();
    let quoted: Vec<Dot> = all
        .iter()
        .filter_map(|(repo, outcome)| {
            let is_over = matches!(outcome.kind, OutcomeKind::Merged | OutcomeKind::Rejected | OutcomeKind::Ended);
            let quote = outcome.quote.filter(|_| is_over)?;
            let name = format!("{repo}#{}", outcome.issue);
            Some(Dot { name, low: dollars(quote.low), high: dollars(quote.high), is: outcome.spend.usd() })
        })
        .collect();
    let newest = quoted.len().saturating_sub(DOTS_MAX);
    let days = days(&shared, wanted.repo.as_deref());
    let repos: Vec<String> = shared.known.repositories().keys().map(ToString::to_string).collect();
    let shown = context! {
        total => sums(&found.total),
        groups,
        by => by.0,
        by_group,
        repos,
        repo => wanted.repo,
        quotes => dots(&quoted[newest..]),
        spend => bars(&days),
    };
    render(&shared, View::Worth, "worth.html", "Worth it", shown)
}

fn sums(sum: &OutcomeSums) -> Value {
    let length = |seconds: i64| age(TimeDelta::seconds(seconds));
    let to_merge = sum.median_merge_seconds.and_then(|seconds| i64::try_from(seconds).ok()).map(length);
    let oldest = sum.oldest_waiting_seconds.map(length);
    let proven = sum.words.iter().find(|word| word.word == "proven").map_or(0, |word| word.pull_requests);
    let share = sum.merged_share.map(|share| format!("{:.0}%", 100.0 * share));
    let name = sum.name.clone().flatten();
    context! {
        ..context! { to_merge, oldest, proven, share, usd => dollars(sum.spend.usd_micros), name },
        ..Value::from(minijinja::value::Serde(sum))
    }
}

/// What each day cost, over all repositories.
fn days(shared: &Shared, repo: Option<&str>) -> Vec<Bar> {
    let now = shared.known.now().unwrap_or_default();
    let mut days: BTreeMap<NaiveDate, f64> = BTreeMap::new();
    let all = shared.known.repositories();
    for (_, known) in all.iter().filter(|(name, _)| is_wanted(name, repo)) {
        for day in spend_by_day(known.record.as_ref(), now) {
            *days.entry(day.day).or_default() += day.spend.usd();
        }
    }
    days.into_iter().map(|(day, usd)| Bar { name: day.format("%m-%d").to_string(), usd }).collect()
}
