//! The effects of moods on refs: wordings for a lost race, refusals without a reason, and refs too new to be seen.

use chrono::TimeDelta;
use git2::Oid;

use super::super::{call::Call, moods::Mood, refusal::Refusal};

/// How long a commit or ref is new.
const LAG: TimeDelta = TimeDelta::seconds(1);

/// GitHub's messages about a ref that it did not move, for any reason.
const WORDINGS: [&str; 2] = ["Reference cannot be updated", "Reference update failed"];

/// The name of a ref among all repositories.
fn named(call: &Call, name: &str) -> String {
    format!("{}/{} {name}", call.part("owner"), call.part("repo")).to_ascii_lowercase()
}

/// The refusal of a caller that lost a race for a ref; `reason` is the wording that says why.
pub(super) fn lost(call: &Call, name: &str, reason: &'static str) -> Refusal {
    let draw = call.forge.temper.draw(Mood::RefRaces, &named(call, name));
    let [first, second] = WORDINGS;
    Refusal::unprocessable(draw.and_then(|draw| draw.among(&[first, second, reason])).unwrap_or(reason))
}

/// Refuses to move a ref that could be moved, outside of branches.
///
/// # Errors
/// 422, drawn.
pub(super) fn refuses(call: &Call, name: &str) -> Result<(), Refusal> {
    if name.starts_with("refs/heads/") {
        return Ok(());
    }
    let draw = call.forge.temper.hits(Mood::RefRefusals, &named(call, name));
    draw.and_then(|draw| draw.among(&WORDINGS)).map_or(Ok(()), |wording| Err(Refusal::unprocessable(wording)))
}

/// Remembers that the API made this commit just now.
pub(super) fn note_commit(call: &Call, commit: Oid) {
    call.forge.temper.note(Mood::RefLag, named(call, &commit.to_string()), call.forge.clock.now());
}

/// Remembers that the API made this ref just now.
pub(super) fn note_ref(call: &Call, name: &str) {
    call.forge.temper.note(Mood::RefLag, named(call, name), call.forge.clock.now());
}

/// The refusals of a commit that is too new to make a ref to it.
pub(super) fn unknown_to_new() -> [Refusal; 2] {
    let [object] = unknown_to_old();
    [object, Refusal::not_found()]
}

/// The refusals of a commit that is too new to move a ref to it.
pub(super) fn unknown_to_old() -> [Refusal; 1] {
    [Refusal::unprocessable("Object does not exist")]
}

/// Refuses to point the ref to a commit that is too new.
///
/// # Errors
/// One of these, drawn.
pub(super) fn sees_commit(call: &Call, name: &str, commit: Oid, refusals: &[Refusal]) -> Result<(), Refusal> {
    sees(call, &commit.to_string(), &format!("{name} to a commit"), refusals)
}

/// Refuses to move a ref that is too new.
///
/// # Errors
/// 404 or 422, drawn.
pub(super) fn sees_ref(call: &Call, name: &str) -> Result<(), Refusal> {
    sees(call, name, name, &[Refusal::not_found(), Refusal::unprocessable("Reference does not exist")])
}

/// Whether a ref is shown, or too new.
pub(super) fn shows(call: &Call, name: &str) -> bool {
    sees(call, name, &format!("{name} read"), &[Refusal::not_found()]).is_ok()
}

fn sees(call: &Call, made: &str, about: &str, refusals: &[Refusal]) -> Result<(), Refusal> {
    let (temper, now) = (&call.forge.temper, call.forge.clock.now());
    if !temper.is_fresh(Mood::RefLag, &named(call, made), LAG, now) {
        return Ok(());
    }
    let draw = temper.hits(Mood::RefLag, &named(call, about));
    let refusals: Vec<&Refusal> = refusals.iter().collect();
    draw.and_then(|draw| draw.among(&refusals)).map_or(Ok(()), |refusal| Err(refusal.clone()))
}
