//! Renamed settings: an old name still works, and each use of it causes a warning.

use std::fmt;

use config::{Value, ValueKind};

/// Old names, each with the current one. Both are in the same section.
const RENAMED: [(&str, &str); 3] = [
    ("limits.issue_time", "limits.attempt_time"),
    ("agent.silence_warns", "agent.idle_warning"),
    ("agent.silence_ends", "agent.idle_timeout"),
];

/// An old name that was used. Its `Display` is the warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Renamed {
    /// The old name.
    pub old: &'static str,
    /// The name that replaces it.
    pub new: &'static str,
}

impl fmt::Display for Renamed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { old, new } = self;
        write!(formatter, "the setting `{old}` is now `{new}`; the old name still works")
    }
}

/// Moves the values in `given`, the settings from all sources except the defaults, to their current names, and returns
/// the old names that were used.
///
/// # Errors
/// A setting that is given under both names, since it is unclear which value should win.
pub(super) fn replace_old_names(given: &mut Value) -> Result<Vec<Renamed>, Renamed> {
    let mut used = Vec::new();
    for (old, new) in RENAMED {
        let (Some((section, old_key)), Some((_, new_key))) = (old.split_once('.'), new.split_once('.')) else {
            continue;
        };
        let ValueKind::Table(sections) = &mut given.kind else { continue };
        let Some(ValueKind::Table(keys)) = sections.get_mut(section).map(|value| &mut value.kind) else { continue };
        let Some(value) = keys.remove(old_key) else { continue };
        if keys.insert(new_key.to_owned(), value).is_some() {
            return Err(Renamed { old, new });
        }
        used.push(Renamed { old, new });
    }
    Ok(used)
}
