//! The wording of events: for the lines that people see and the messages that programs get.

use std::collections::BTreeMap;

use hob_domain::{IssueNumber, State};
use hob_text::{count, terminal};
use hob_worker::{Waiting, WaitsOn};

use crate::cli::{
    layout::shortened,
    output::{DIM, WARN, styled},
};

/// Characters of one line's text.
const LINE_MAX: usize = 240;

/// The labels that are created.
pub(super) fn lacked_labels(labels: &[String]) -> String {
    format!("creating {}", count(labels.len(), "missing label"))
}

/// A sentence with the number of issues that a poll found, and what holds all of them back.
pub(super) fn polled(issues: usize, ready: usize, waiting: &[Waiting]) -> String {
    let asked = waiting.iter().filter(|one| one.on == WaitsOn::Person).count();
    let asked = if asked > 0 { format!(", {asked} waiting for an answer") } else { String::new() };
    let mut text = styled(DIM, &format!("polled: {}, {ready} ready{asked}", count(issues, "issue")));
    for (why, held) in held_back(waiting) {
        text.push_str(&styled(WARN, &format!("; {} held back: {}", held.len(), plain(why))));
    }
    text
}

/// The issues that the repository has no room for, by the reason.
pub(super) fn held_back(waiting: &[Waiting]) -> BTreeMap<&str, Vec<IssueNumber>> {
    let mut held: BTreeMap<&str, Vec<IssueNumber>> = BTreeMap::new();
    for one in waiting.iter().filter(|one| one.on == WaitsOn::Repository) {
        held.entry(&one.why).or_default().push(one.issue);
    }
    held
}

/// Why an issue is in a state, without the state's name, which precedes it.
pub(super) fn because(state: State, why: &str) -> String {
    let named = format!("{state}: ");
    plain(why.strip_prefix(&named).unwrap_or(why))
}

/// The first line that is not blank, without control characters.
pub(super) fn plain(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    shortened(&terminal(line), LINE_MAX)
}
