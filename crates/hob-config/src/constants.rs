//! What is built in: the defaults, and what Hob uses and nobody sets. Tests change the latter below `[testing]`.

use std::{collections::BTreeMap, sync::LazyLock};

use config::{Config, ConfigBuilder, File, FileFormat, Map, Value, ValueKind, builder::DefaultState};
use toml::Table;

use crate::SettingsError;

/// The defaults, as the documentation shows them.
pub const DEFAULTS: &str = include_str!("../../../config/default.toml");
/// The constants, in the shape of a settings file.
const CONSTANTS: &str = include_str!("../../../config/constants.toml");
/// The layers below what people write: the constants and the defaults.
pub(super) fn built_in() -> ConfigBuilder<DefaultState> {
    let layer = |text| File::from_str(text, FileFormat::Toml);
    Config::builder().add_source(layer(CONSTANTS)).add_source(layer(DEFAULTS))
}

/// The section that changes constants.
const TESTING: &str = "testing";
/// Constants of each agent, beside the text above.
const OF_AGENT: [&str; 6] = ["identical_calls", "last_look", "max_output", "max_tokens", "output_cap", "soft_limit"];
/// Constants of the models without a value of their own: Hob finds it.
const FOUND: [&str; 3] = ["model.anthropic_base_url", "model.openai_base_url", "model.openai_interface"];

/// The value of each constant, as it is written, by key. Read once: each source of settings is compared with it.
static VALUES: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    // The text is built in, and a test parses it.
    let all: Table = toml::from_str(CONSTANTS).unwrap_or_default();
    let of = |(section, keys): (String, toml::Value)| {
        let keys = keys.as_table().cloned().unwrap_or_default();
        keys.into_iter().map(move |(name, value)| (format!("{section}.{name}"), value.to_string()))
    };
    all.into_iter().flat_map(of).collect()
});

/// Whether nobody sets `key`, `section.key` or `agents.NAME.key`.
pub fn is_constant(key: &str) -> bool {
    match key.split('.').collect::<Vec<_>>().as_slice() {
        ["agents", _, name] => OF_AGENT.contains(name),
        _ => FOUND.contains(&key) || VALUES.contains_key(key),
    }
}

/// Takes out the constants that settings name, with the value that each has.
pub(super) fn take_given(given: &mut Value) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    // Sections that they were in.
    for old in ["agent", "executor"] {
        for name in ["retries", "retry_delay", "retry_delay_max"] {
            if take(given, &format!("{old}.{name}")).is_some() {
                found.push((format!("{old}.{name}"), VALUES.get(&format!("runs.{name}")).cloned()));
            }
        }
    }
    let taken = VALUES.iter().filter(|(key, _)| take(given, key).is_some());
    found.extend(taken.map(|(key, value)| (key.clone(), Some(value.clone()))));
    for agent in below(given, "agents") {
        let keys = OF_AGENT.iter().map(|name| format!("agents.{agent}.{name}"));
        found.extend(keys.filter(|key| take(given, key).is_some()).map(|key| (key, None)));
    }
    found
}

/// Takes `[testing]` out of `given`.
pub(super) fn take_testing(given: &mut Value) -> Option<Value> {
    take(given, TESTING)
}

/// Puts what `testing` says into `given`, whose constants were taken out.
///
/// # Errors
/// [`SettingsError::UnknownKey`] for what is not a constant.
pub(super) fn apply_testing(given: &mut Value, testing: &Value) -> Result<(), SettingsError> {
    for (key, value) in leaves(testing) {
        if !is_constant(&key) {
            return Err(SettingsError::UnknownKey { key: format!("{TESTING}.{key}"), origin: None, nearest: None });
        }
        put(given, &key, value.clone());
    }
    Ok(())
}

/// The values below `value`, by key and in the order of the keys.
pub(super) fn leaves(value: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    collect("", value, &mut found);
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    found
}

/// Takes the constants out of all settings.
pub(super) fn remove_from(settings: &mut Table) {
    let mut remove = |key: &str| {
        let Some((section, name)) = key.split_once('.') else { return };
        let Some(keys) = settings.get_mut(section).and_then(toml::Value::as_table_mut) else { return };
        keys.remove(name);
        if keys.is_empty() {
            settings.remove(section);
        }
    };
    VALUES.keys().map(String::as_str).chain(FOUND).for_each(&mut remove);
    let agents = settings.get_mut("agents").and_then(toml::Value::as_table_mut);
    for agent in agents.into_iter().flatten().filter_map(|(_, agent)| agent.as_table_mut()) {
        OF_AGENT.iter().for_each(|name| drop(agent.remove(*name)));
    }
}

fn collect<'a>(prefix: &str, value: &'a Value, leaves: &mut Vec<(String, &'a Value)>) {
    match &value.kind {
        ValueKind::Table(table) => {
            for (key, value) in table {
                let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                collect(&path, value, leaves);
            }
        }
        _leaf => leaves.push((prefix.to_owned(), value)),
    }
}

/// The names in a section.
pub(super) fn below(given: &Value, section: &str) -> Vec<String> {
    match find(given, section).map(|section| &section.kind) {
        Some(ValueKind::Table(named)) => named.keys().cloned().collect(),
        Some(_) | None => Vec::new(),
    }
}

/// The value of a key.
pub(super) fn find<'a>(given: &'a Value, key: &str) -> Option<&'a Value> {
    key.split('.').try_fold(given, |value, part| match &value.kind {
        ValueKind::Table(table) => table.get(part),
        _leaf => None,
    })
}

/// Whether a key has a value of its own, and is not a section.
pub(super) fn is_value(given: &Value, key: &str) -> bool {
    find(given, key).is_some_and(|value| !matches!(value.kind, ValueKind::Table(_)))
}

/// Takes a key out, and its section if nothing is left there.
pub(super) fn take(given: &mut Value, key: &str) -> Option<Value> {
    let ValueKind::Table(table) = &mut given.kind else { return None };
    let Some((section, rest)) = key.split_once('.') else { return table.remove(key) };
    let inner = table.get_mut(section)?;
    let taken = take(inner, rest);
    if matches!(&inner.kind, ValueKind::Table(left) if left.is_empty()) && taken.is_some() {
        table.remove(section);
    }
    taken
}

/// Puts a value at a key; returns what was there.
pub(super) fn put(given: &mut Value, key: &str, value: Value) -> Option<Value> {
    let ValueKind::Table(table) = &mut given.kind else { return None };
    match key.split_once('.') {
        None => table.insert(key.to_owned(), value),
        Some((section, rest)) => {
            let empty = || Value::new(None, ValueKind::Table(Map::new()));
            put(table.entry(section.to_owned()).or_insert_with(empty), rest, value)
        }
    }
}
