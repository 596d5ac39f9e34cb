//! Old names of settings. One that was renamed still counts; one that is constant now, or follows from another setting, is passed over.
//! Each use of either causes a warning. A limit that is gone is refused, because passing it over would lift it.

use std::fmt;

use config::{Value, ValueKind};

use crate::{SettingsError, constants};

/// How an old value becomes the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As it is.
    Same,
    /// A number of MiB becomes a size.
    Mib,
}

/// Old names, each with the current one.
const RENAMED: [(&str, &str, Form); 25] = [
    ("agent.idle_timeout", "limits.idle_timeout", Form::Same),
    ("agent.silence_ends", "limits.idle_timeout", Form::Same),
    ("checks.on_red_base", "on_red_base", Form::Same),
    ("checks.time", "check_time", Form::Same),
    ("forge.repositories", "repositories", Form::Same),
    ("identity.name", "publish.author", Form::Same),
    ("issues.assignee", "assignee", Form::Same),
    ("limits.issue_time", "limits.attempt_time", Form::Same),
    ("limits.jobs", "jobs", Form::Same),
    ("limits.review_rounds", "limits.rounds", Form::Same),
    ("limits.time_per_issue", "budget.time", Form::Same),
    ("limits.tokens_per_issue", "budget.tokens", Form::Same),
    ("limits.usd_per_attempt", "budget.attempt", Form::Same),
    ("limits.usd_per_day", "budget.day", Form::Same),
    ("limits.usd_per_issue", "budget.issue", Form::Same),
    ("limits.usd_per_issue_max", "budget.comment_max", Form::Same),
    ("publish.signing_key_file", "publish.signing", Form::Same),
    ("review.before_pull", "review.reviewer", Form::Same),
    ("sandbox.disk_mib", "sandbox.disk", Form::Mib),
    ("sandbox.hosts", "sandbox.setup_hosts", Form::Same),
    ("sandbox.memory_mib", "sandbox.memory", Form::Mib),
    ("sessions.keep", "state.keep", Form::Same),
    ("workspace.disk_mib", "state.disk", Form::Mib),
    ("workspace.max_file_mib", "workspace.max_file", Form::Mib),
    // After the other keys of its section, in whose place it comes.
    ("agent.default", "agent", Form::Same),
];

/// Settings that follow from others now, each with what decides in their place.
const DERIVED: [(&str, &str); 9] = [
    ("agent.idle_warning", "Hob warns after two fifths of `limits.idle_timeout`"),
    ("agent.silence_warns", "Hob warns after two fifths of `limits.idle_timeout`"),
    ("limits.attempts_per_issue", "an issue has four times `limits.attempts` in its life"),
    ("limits.ci_rounds", "`limits.rounds` counts for each kind"),
    ("limits.conflict_rounds", "`limits.rounds` counts for each kind"),
    ("poll.max_interval", "it is ten times `poll.interval`"),
    ("sandbox.file_mib", "one file may have a quarter of `sandbox.disk`, or 1G"),
    ("sessions.max_mib", "all sessions together may have 1G"),
    ("model.openai_interface", "it follows from the address"),
];

/// Settings whose value must not be passed over, each with what to do.
const REFUSED: [(&str, &str); 12] = [
    ("identity.email", "write it into `publish.author`: `NAME <ADDRESS>`"),
    ("labels.assigned", "set `labels.prefix`, with which the labels of all states begin"),
    ("labels.blocked", "set `labels.prefix`, with which the labels of all states begin"),
    ("labels.in_progress", "set `labels.prefix`, with which the labels of all states begin"),
    ("labels.in_review", "set `labels.prefix`, with which the labels of all states begin"),
    ("ledger.prefix", "ledgers are below `refs/hob/`, so that all workers find them"),
    ("limits.attempts_per_day", "`budget.day` bounds a day"),
    ("limits.time_per_day", "`budget.day` bounds a day"),
    ("limits.tokens_per_attempt", "`budget.attempt` and `budget.tokens` bound an attempt"),
    ("limits.tokens_per_day", "`budget.day` bounds a day"),
    ("model.anthropic_base_url", "set the variable ANTHROPIC_BASE_URL"),
    ("model.openai_base_url", "set the variable OPENAI_BASE_URL"),
];

/// A name that was used and is not a setting any more. Its `Display` is the warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OldName {
    /// It has another name, and still counts.
    Renamed {
        /// The old name.
        old: &'static str,
        /// The name that replaces it.
        new: &'static str,
    },
    /// It is passed over.
    PassedOver {
        /// The name.
        key: String,
        /// What decides in its place.
        instead: String,
    },
}

impl OldName {
    /// The name that was used.
    pub fn key(&self) -> &str {
        match self {
            Self::Renamed { old, .. } => old,
            Self::PassedOver { key, .. } => key,
        }
    }
}

impl fmt::Display for OldName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Renamed { old, new } => write!(f, "the setting `{old}` is now `{new}`; the old name still works"),
            Self::PassedOver { key, instead } => write!(f, "`{key}` is not a setting any more: {instead}"),
        }
    }
}

/// The old names of the setting `new`.
pub(super) fn old_names(new: &str) -> impl Iterator<Item = &'static str> {
    RENAMED.iter().filter(move |(_, name, _)| *name == new).map(|(old, _, _)| *old)
}

/// Moves the values in `given`, the settings from all sources except the defaults, to their current names, takes out what is not a
/// setting any more, and returns the old names that were used.
///
/// # Errors
/// A setting that is given under both names, since it is unclear which value should win, and one whose value must not be passed over.
pub(super) fn replace_old_names(given: &mut Value) -> Result<Vec<OldName>, SettingsError> {
    if let Some((key, instead)) = REFUSED.into_iter().find(|(key, _)| constants::find(given, key).is_some()) {
        return Err(SettingsError::Gone { key, instead });
    }
    let mut used = Vec::new();
    for (key, instead) in DERIVED {
        if constants::take(given, key).is_some() {
            used.push(OldName::PassedOver { key: key.to_owned(), instead: instead.to_owned() });
        }
    }
    used.extend(constants::take_given(given).into_iter().map(|(key, value)| {
        let instead = value.map_or_else(|| "it is constant".to_owned(), |value| format!("Hob uses {value}"));
        OldName::PassedOver { key, instead }
    }));
    for (old, new, form) in RENAMED {
        let Some(value) = constants::take(given, old) else { continue };
        if let Some(other) = constants::below(given, new).into_iter().min() {
            return Err(SettingsError::UnknownKey { key: format!("{new}.{other}"), origin: None, nearest: None });
        }
        let value = match form {
            Form::Same => value,
            Form::Mib => Value::new(None, format!("{value}M")),
        };
        if constants::put(given, new, value).is_some() {
            return Err(SettingsError::GivenTwice { old, new });
        }
        used.push(OldName::Renamed { old, new });
    }
    Ok(used)
}

/// Drops `signing = "ssh"`, which only said that there was a key.
pub(super) fn signing_of_key(given: &mut Value) {
    let ValueKind::Table(sections) = &mut given.kind else { return };
    let Some(ValueKind::Table(publish)) = sections.get_mut("publish").map(|section| &mut section.kind) else { return };
    let is_ssh = |value: &Value| matches!(&value.kind, ValueKind::String(text) if text == "ssh");
    if publish.contains_key("signing_key_file") && publish.get("signing").is_some_and(is_ssh) {
        publish.remove("signing");
    }
}
