//! The effects of moods on issues and pull requests: those too new to be seen, and those submitted too quickly.

use chrono::TimeDelta;

use super::super::{call::Call, moods::Mood, refusal::Refusal, state::Issue};

/// How long a push, an issue or a pull request is new.
const LAG: TimeDelta = TimeDelta::seconds(2);

fn named(call: &Call, what: &str) -> String {
    format!("{}/{} {what}", call.part("owner"), call.part("repo")).to_ascii_lowercase()
}

/// Refuses to open a pull request whose head was pushed just now.
///
/// # Errors
/// 422, drawn: there are no commits yet, or no such branch.
pub(super) fn sees_push(call: &Call, head: &str, base: &str) -> Result<(), Refusal> {
    let (temper, name) = (&call.forge.temper, named(call, &format!("refs/heads/{head}")));
    if !temper.is_fresh(Mood::PullLag, &name, LAG, call.forge.clock.now()) {
        return Ok(());
    }
    let none = Refusal::custom("PullRequest", "head", format!("No commits between {base} and {head}"));
    let refusals = [&none, &Refusal::invalid("PullRequest", "head")];
    let draw = temper.hits(Mood::PullLag, &name);
    draw.and_then(|draw| draw.among(&refusals)).map_or(Ok(()), |refusal| Err(refusal.clone()))
}

/// Refuses a write that notifies people, because there were too many; GitHub does not say how many are too many.
///
/// # Errors
/// 403, drawn.
pub(super) fn has_leisure(call: &Call, resource: &str, field: &str) -> Result<(), Refusal> {
    let who = call.caller.as_ref().map_or("", crate::names::Login::as_str);
    let draw = call.forge.temper.hits(Mood::PullLag, &named(call, &format!("{resource} by {who}")));
    draw.map_or(Ok(()), |_| Err(Refusal::too_quick(resource, field)))
}

/// Refuses to show an issue or pull request that was opened just now.
///
/// # Errors
/// 404, drawn.
pub(super) fn sees(call: &Call, issue: &Issue) -> Result<(), Refusal> {
    if call.now - issue.created_at >= LAG {
        return Ok(());
    }
    let draw = call.forge.temper.hits(Mood::PullLag, &named(call, &format!("#{}", issue.number)));
    draw.map_or(Ok(()), |_| Err(Refusal::not_found()))
}
