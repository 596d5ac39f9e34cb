//! What people are told about checks on a head that start no round.

use hob_text::markup::code_span;
use serde::{Deserialize, Serialize};

/// Checks on a head that start no round.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckNotes {
    /// Checks that fail on the base, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub red_on_base: Vec<String>,
    /// Checks without a verdict, if a draft waits for one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<String>,
    /// The permissions that the token lacks to see other checks, if a draft waits for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
    /// Whether workflows wait until a maintainer approves them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unapproved: bool,
}

impl CheckNotes {
    /// The notes in one sentence.
    pub(crate) fn says(&self) -> String {
        let some = |names: &[String], says: fn(&[String]) -> String| (!names.is_empty()).then(|| says(names));
        let told: Vec<String> = [
            self.unapproved.then(|| "the workflows of the pull request wait for an approval".to_owned()),
            some(&self.red_on_base, |names| format!("{} on the base, too", failing(names))),
            some(&self.undecided, no_verdict),
            some(&self.hidden, unseen),
        ]
        .into_iter()
        .flatten()
        .collect();
        match told.as_slice() {
            [] => "no check still fails on the base, too, waits for an approval or lacks a verdict".to_owned(),
            told => told.join("; "),
        }
    }
}

/// Which checks fail: ``the check `lint` fails``.
pub fn failing(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| code_span(name)).collect();
    match quoted.as_slice() {
        [one] => format!("the check {one} fails"),
        all => format!("the checks {} fail", all.join(", ")),
    }
}

/// Which checks have no verdict: ``no verdict can be seen of `lint` ``.
pub fn no_verdict(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| code_span(name)).collect();
    format!("no verdict of {} can be seen", quoted.join(", "))
}

/// What the token cannot see: ``the token lacks `checks: read`, so Hob cannot see all checks``.
pub fn unseen(permissions: &[String]) -> String {
    let quoted: Vec<String> = permissions.iter().map(|name| code_span(name)).collect();
    format!("the token lacks {}, so Hob cannot see all checks", quoted.join(" and "))
}
