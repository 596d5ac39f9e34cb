//! Version 1 of the record, read as version 2. No release wrote it.
//!
//! The conversion works on the JSON, so that fields that this Hob does not know stay as they are.

use chrono::TimeDelta;
use serde::{
    Serialize,
    de::{DeserializeOwned, Error},
};
use serde_json::{Value, json};

use crate::{
    Attempts, Branch, Controlled, Lease, NotifyEvent, Pause, Request, Since, State, Timestamp,
    issue::record_message::{Fields, in_calendar},
};

/// The fields of a record of version 1, as version 2 has them.
///
/// # Errors
/// The error of the first field that is not as version 1 wrote it.
pub(crate) fn upgraded(mut old: Fields) -> serde_json::Result<Fields> {
    let mut new = Fields::new();
    lease(&mut old, &mut new)?;
    since(&mut old, &mut new)?;
    attempts(&mut old, &mut new)?;
    move_into(
        &mut old,
        &mut new,
        "failure",
        &[("last_failure", "text"), ("retry_after", "until"), ("stalled", "mark"), ("outage", "outage")],
    );
    move_into(&mut old, &mut new, "comments", &[("status_comment", "status"), ("report", "report")]);
    work(&mut old, &mut new)?;
    control(&mut old, &mut new)?;
    move_into(&mut old, &mut new, "approval", &[("proposed", "waits"), ("approved", "given"), ("plan", "plan")]);
    move_into(&mut old, &mut new, "taught", &[("learned", "facts"), ("remarks", "remarks")]);
    if take(&mut old, "handed_on")?.unwrap_or(false)
        && let Value::Object(chain) = old.entry("chain").or_insert_with(|| json!({}))
    {
        put(chain, "after_report", true)?;
    }
    if let Some(Value::Object(blocked)) = old.get_mut("blocked") {
        block(blocked);
    }
    // What has the same name in both versions, and what is in neither.
    old.extend(new);
    Ok(old)
}

/// Takes a field. `None` if it is absent or null.
fn take<T: DeserializeOwned>(old: &mut Fields, name: &str) -> serde_json::Result<Option<T>> {
    old.remove(name).map_or(Ok(None), serde_json::from_value)
}

/// Takes a field that version 1 always wrote.
fn need<T: DeserializeOwned>(old: &mut Fields, name: &'static str) -> serde_json::Result<T> {
    take(old, name)?.ok_or_else(|| serde_json::Error::missing_field(name))
}

fn put(new: &mut Fields, name: &str, value: impl Serialize) -> serde_json::Result<()> {
    new.insert(name.to_owned(), serde_json::to_value(value)?);
    Ok(())
}

/// Moves fields into a part of the record, unchanged.
fn move_into(old: &mut Fields, new: &mut Fields, part: &str, names: &[(&str, &str)]) {
    let moved = names.iter().filter_map(|(from, to)| Some(((*to).to_owned(), old.remove(*from)?)));
    let moved: Fields = moved.collect();
    if !moved.is_empty() {
        new.insert(part.to_owned(), Value::Object(moved));
    }
}

/// Who held it, since when and for how long is now who holds it until when.
fn lease(old: &mut Fields, new: &mut Fields) -> serde_json::Result<()> {
    let (holder, seconds) = (take::<Value>(old, "holder")?, need::<u64>(old, "duration_seconds")?);
    let renewed_at: Timestamp = need(old, "renewed_at")?;
    put(new, "renewed_at", renewed_at)?;
    let duration = i64::try_from(seconds).ok().and_then(TimeDelta::try_seconds);
    let until = duration.and_then(|duration| renewed_at.checked_add_signed(duration));
    let until = until
        .filter(|until| in_calendar(*until))
        .ok_or_else(|| serde_json::Error::custom("`duration_seconds` is longer than a calendar"))?;
    let Some(holder) = holder else { return Ok(()) };
    let lease = Lease {
        worker: serde_json::from_value(holder["worker"].clone())?,
        nonce: serde_json::from_value(holder["nonce"].clone())?,
        until,
        may_reach: None,
    };
    put(new, "lease", lease)
}

/// The time of the claim or of the state, and the flags of what was notified. A record from before there were notifications
/// owes none.
fn since(old: &mut Fields, new: &mut Fields) -> serde_json::Result<()> {
    let (entered, claimed_at) = (take::<Value>(old, "entered")?, need::<Timestamp>(old, "claimed_at")?);
    let state: State = serde_json::from_value(old.get("state").cloned().unwrap_or_default())?;
    let generation = old.get("generation").cloned().unwrap_or_default();
    let mut told: Vec<NotifyEvent> = Vec::new();
    if entered.as_ref().is_none_or(|entered| entered["notified"] == json!(true)) {
        told.extend(NotifyEvent::for_state(state));
    }
    if take(old, "budget_warned")?.unwrap_or(false) {
        told.push(NotifyEvent::BudgetWarning);
    }
    let since = match entered {
        Some(entered) => serde_json::from_value(entered)?,
        None => Since { at: claimed_at, generation: serde_json::from_value(generation)? },
    };
    // Commands count from the trigger on, and without its time from the claim on.
    if let Some(Value::Object(trigger)) = old.get_mut("trigger") {
        trigger.entry("at").or_insert(serde_json::to_value(claimed_at)?);
    }
    put(new, "since", since)?;
    if told.is_empty() { Ok(()) } else { put(new, "told", told) }
}

fn attempts(old: &mut Fields, new: &mut Fields) -> serde_json::Result<()> {
    let attempts = Attempts { now: need(old, "attempt")?, ever: take(old, "attempts_ever")?.unwrap_or_default() };
    put(new, "attempts", attempts)?;
    let begun: u32 = take(old, "round")?.unwrap_or_default();
    if begun > 0
        && let Value::Object(review) = old.entry("review").or_insert_with(|| json!({}))
    {
        put(review, "begun", begun)?;
    }
    Ok(())
}

/// A request is what is still to be done, so it comes before a pause that lasts.
fn control(old: &mut Fields, new: &mut Fields) -> serde_json::Result<()> {
    let (request, paused) = (take::<Request>(old, "request")?, take::<Pause>(old, "paused")?);
    let control = request.map(Controlled::from).or(paused.map(Controlled::from));
    control.map_or(Ok(()), |control| put(new, "control", control))
}

/// The branch and the flag that it was pushed, and what version 1 kept with the repository's rules. The commit that the branch
/// starts from was never read.
fn work(old: &mut Fields, new: &mut Fields) -> serde_json::Result<()> {
    drop(old.remove("base_sha"));
    let (name, pushed) = (take::<String>(old, "branch")?, take(old, "pushed")?.unwrap_or(false));
    if let Some(name) = name {
        put(old, "branch", Branch { name, pushed })?;
    }
    let mut house = take::<Fields>(old, "house")?.unwrap_or_default();
    old.extend(house.remove("base").map(|base| ("base".to_owned(), base)));
    old.extend(house.remove("introduced").map(|introduced| ("introduced".to_owned(), introduced)));
    old.extend(house.remove("draft").map(|draft| ("draft".to_owned(), draft)));
    move_into(
        old,
        new,
        "work",
        &[
            ("base", "base"),
            ("branch", "branch"),
            ("head_sha", "head"),
            ("accepted", "accepted"),
            ("checks", "checks"),
            ("proof", "proof"),
            ("checklist", "checklist"),
        ],
    );
    let pull = [("pull_request", "number"), ("introduced", "introduced"), ("draft", "draft")];
    move_into(old, new, "pull", &pull);
    Ok(())
}

/// Version 1 had one word for several reasons; their texts tell them apart.
fn block(blocked: &mut Fields) {
    let text = blocked.get("text").and_then(Value::as_str).unwrap_or_default();
    let reason = match blocked.get("kind").and_then(Value::as_str).unwrap_or_default() {
        "limit-reached" if text.starts_with("The attempt's ") => "attempt-budget",
        "limit-reached" if text.contains(" in a row since ") => "service-down",
        "limit-reached" if text.contains(" used up, the most that ") => "attempts-used-up",
        "limit-reached" => "attempts-failed",
        "budget-spent" => "issue-budget",
        "set-up-needed" if text.starts_with("The ledger of this issue was deleted") => "ledger-lost",
        "no-progress" if text.starts_with("The agent changed nothing in a round") => "round-changed-nothing",
        same => same,
    };
    let reason = Value::from(reason);
    blocked.insert("reason".to_owned(), reason);
}
