//! Finds the value that cannot be read, and says what to write instead; the library's errors name Rust types.

use config::{Config, ConfigError, File, FileFormat, Value, ValueKind};
use toml::Table;

use crate::{DEFAULTS, Settings, SettingsError, constants::CONSTANTS, sensible::kind};

/// The error of the first value that cannot be read; `error` is the library's error for all values.
pub(super) fn culprit(given: &Value, error: ConfigError) -> SettingsError {
    let mut leaves = Vec::new();
    collect("", given, &mut leaves);
    let found = leaves.into_iter().find_map(|(key, value)| Some((refusal(&key, value)?, key, value)));
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

fn collect<'a>(prefix: &str, value: &'a Value, leaves: &mut Vec<(String, &'a Value)>) {
    match &value.kind {
        ValueKind::Table(table) => {
            let mut entries: Vec<_> = table.iter().collect();
            entries.sort_by_key(|(key, _)| key.as_str());
            for (key, value) in entries {
                let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                collect(&path, value, leaves);
            }
        }
        _leaf => leaves.push((prefix.to_owned(), value)),
    }
}

/// What to write in place of a value. `None` if it can be read together with the defaults.
fn refusal(key: &str, value: &Value) -> Option<String> {
    let built_in = |text| File::from_str(text, FileFormat::Toml);
    let below = Config::builder().add_source(built_in(CONSTANTS)).add_source(built_in(DEFAULTS));
    let alone = below.set_override(key, value.clone()).ok()?.build().ok()?;
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
        other => other.to_string(),
    }
}

/// The words that a setting allows, if there is a fixed list.
fn variants(key: &str, value: &Value) -> Option<String> {
    let mut document: Table = toml::from_str(CONSTANTS).ok()?;
    let own: Table = toml::from_str(DEFAULTS).ok()?;
    for (name, value) in own {
        match (document.get_mut(&name).and_then(toml::Value::as_table_mut), value) {
            (Some(constants), toml::Value::Table(keys)) => constants.extend(keys),
            (_, value) => drop(document.insert(name, value)),
        }
    }
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
    let defaults: Table = toml::from_str(DEFAULTS).ok()?;
    let (first, rest) = key.split_once('.').unwrap_or((key, ""));
    let keys = rest.split('.').filter(|part| !part.is_empty());
    let default = keys.fold(defaults.get(first), |value, part| value?.as_table()?.get(part))?;
    let is_text = default.is_str() && matches!(value.kind, ValueKind::String(_));
    (!is_text).then(|| kind(default).to_owned())
}
