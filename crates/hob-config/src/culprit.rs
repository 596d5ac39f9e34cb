//! Finds the value that cannot be read, and says what to write instead; the library's errors name Rust types.

use config::{ConfigError, Value, ValueKind};
use toml::Table;

use crate::{
    DEFAULTS, Settings, SettingsError,
    constants::{built_in, leaves},
    given::at,
    sensible::kind,
};

/// The error of the first value that cannot be read; `error` is the library's error for all values.
pub(super) fn culprit(given: &Value, error: ConfigError) -> SettingsError {
    let found = leaves(given).into_iter().find_map(|(key, value)| Some((refusal(&key, value)?, key, value)));
    match found {
        Some((allowed, key, value)) => SettingsError::senseless(key, shown(value), allowed),
        None => SettingsError::Invalid(error),
    }
}

/// A text as it is, other values as TOML.
pub(super) fn shown(value: &Value) -> String {
    match &value.kind {
        ValueKind::String(text) => text.clone(),
        _other => {
            value.clone().try_deserialize::<toml::Value>().map_or_else(|_| value.to_string(), |toml| toml.to_string())
        }
    }
}

/// What to write in place of a value. `None` if it can be read together with the defaults.
fn refusal(key: &str, value: &Value) -> Option<String> {
    let alone = built_in().set_override(key, value.clone()).ok()?.build().ok()?;
    let error = alone.try_deserialize::<Settings>().err()?;
    let said = words(&error);
    // It needs another key.
    if said.contains("missing") {
        return None;
    }
    variants(key, value).or_else(|| another_kind(key, value)).or(Some(said))
}

fn words(error: &ConfigError) -> String {
    match error {
        ConfigError::At { error, .. } => words(error),
        ConfigError::Type { expected, .. } => format!("write {expected}"),
        other => in_words(&other.to_string()),
    }
}

/// The library's sentence about a value of another kind, without the names of its types.
fn in_words(said: &str) -> String {
    let Some((found, expected)) = said.strip_prefix("invalid type: ").and_then(|rest| rest.split_once(", expected "))
    else {
        return said.to_owned();
    };
    match (found.strip_prefix("string "), expected) {
        (Some(text), "a sequence") => format!("write a list: `[{text}]`"),
        (None, "a sequence") => "write a list".to_owned(),
        (_, "a map") => "write a section".to_owned(),
        (_, "a boolean") => "write `true` or `false`".to_owned(),
        (_, expected) => format!("write {expected}"),
    }
}

/// The words that a setting allows, if there is a fixed list.
fn variants(key: &str, value: &Value) -> Option<String> {
    let mut document: Table = built_in().build().ok()?.try_deserialize().ok()?;
    let (section, name) = key.rsplit_once('.').unwrap_or(("", key));
    let mut table = &mut document;
    for part in section.split('.').filter(|part| !part.is_empty()) {
        table = table.entry(part).or_insert_with(|| Table::new().into()).as_table_mut()?;
    }
    table.insert(name.to_owned(), value.clone().try_deserialize().ok()?);
    let error = document.try_into::<Settings>().err()?;
    let (_, allowed) = error.message().split_once("unknown variant ")?.1.split_once("expected ")?;
    let allowed = allowed.lines().next()?;
    Some(format!("write {allowed}"))
}

/// What to write if the default is of another kind.
fn another_kind(key: &str, value: &Value) -> Option<String> {
    let defaults = toml::Value::Table(toml::from_str(DEFAULTS).ok()?);
    let default = at(&defaults, key)?;
    let is_text = default.is_str() && matches!(value.kind, ValueKind::String(_));
    (!is_text).then(|| kind(default).to_owned())
}
