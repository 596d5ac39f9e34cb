//! What `hob status` says of a repository beside its issues: the kill switch, outages, the day's spend, what Hob remembers.

use hob_domain::{Corrections, Durations, Full, LineProposal, Memory, RepositoryRecord, Spend, routing_is_off};
use hob_text::{count, terminal};
use hob_worker::Worker;
use serde_json::{Value, json};

use crate::cli::{
    layout,
    output::{BOLD, Unwritable, styled},
};

/// The kill switch, the day's spend, the circuit breakers, how long things took, the memory and the corrections, for programs.
pub(super) fn as_json(worker: &Worker, record: Option<&RepositoryRecord>) -> Value {
    let bill = record.map(|record| record.day_bill(worker.forge().now()).total()).unwrap_or_default();
    json!({
        "paused": record.and_then(|record| record.paused.as_ref()),
        "today": bill,
        "down": record.map(|record| record.outages.open().collect::<Vec<_>>()).unwrap_or_default(),
        "times": times(&record.map(|record| record.durations.clone()).unwrap_or_default()),
        "routing_off_until": record.and_then(|record| record.failed_loads.off_until(worker.forge().now())),
        "memory": record.map(|record| facts(&record.memory)).unwrap_or_default(),
        "corrections": record.map(|record| corrections(&record.corrections)).unwrap_or_default(),
    })
}

fn times(durations: &Durations) -> Value {
    let Durations { loads, hand_offs, pull_requests } = durations;
    json!({
        "loads": loads.percentiles(), "hand_offs": hand_offs.percentiles(), "pull_requests": pull_requests.percentiles(),
    })
}

fn corrections(corrections: &Corrections) -> Vec<Value> {
    let correction = |one: &hob_domain::Correction| {
        let said: Vec<Value> = [Some(&one.first), one.again.as_ref()]
            .into_iter()
            .flatten()
            .map(|remark| json!({ "by": remark.by, "pull_request": remark.pull }))
            .collect();
        let opened = match one.proposal {
            Some(LineProposal::Opened(pull)) => Some(pull),
            Some(LineProposal::Begun(_) | LineProposal::Dropped) | None => None,
        };
        let is_dropped = one.proposal == Some(LineProposal::Dropped);
        json!({ "text": one.first.text, "said": said, "proposed": opened, "dropped": is_dropped, "at": one.at })
    };
    corrections.iter().map(correction).collect()
}

fn facts(memory: &Memory) -> Vec<Value> {
    let fact = |fact: &hob_domain::Fact| {
        json!({
            "kind": fact.kind, "command": fact.command, "seconds": fact.seconds(), "days": fact.days, "issue": fact.issue,
            "at": fact.at,
        })
    };
    memory.facts().map(fact).collect()
}

/// Whether something is to be said of a repository without issues: it is paused, a service is down, or money was spent.
pub(super) fn is_noteworthy(worker: &Worker, record: Option<&RepositoryRecord>) -> bool {
    let now = worker.forge().now();
    record.is_some_and(|record| {
        record.paused.is_some()
            || record.failed_loads.off_until(now).is_some()
            || record.outages.open().next().is_some()
            || record.day_bill(now).total() != Spend::default()
    })
}

/// The kill switch, the circuit breakers, the day's spend, and the number of remembered facts.
pub(super) fn print(worker: &Worker, record: Option<&RepositoryRecord>) -> Result<(), Unwritable> {
    let Some(record) = record else { return Ok(()) };
    if let Some(pause) = &record.paused {
        layout::paragraph(&styled(BOLD, &terminal(&Full::Paused(pause.clone()).to_string())))?;
    }
    let now = worker.forge().now();
    if let Some(until) = record.failed_loads.off_until(now) {
        layout::paragraph(&styled(BOLD, &routing_is_off(until)))?;
    }
    for down in record.outages.open() {
        layout::paragraph(&styled(BOLD, &terminal(&down.to_string())))?;
    }
    let bill = record.day_bill(now);
    layout::paragraph(&format!("Today: {bill}."))?;
    let lists = "`hob status --json` lists them, `hob status --forget-memory` forgets them.";
    match record.memory.facts().count() {
        0 => {}
        facts => {
            layout::paragraph(&format!("Agents are told {} from merged work: {lists}", count(facts, "fact")))?;
        }
    }
    match record.corrections.iter().count() {
        0 => Ok(()),
        all => layout::paragraph(&format!("Reviews of merged work had {}: {lists}", count(all, "correction"))),
    }
}
