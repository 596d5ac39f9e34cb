//! What the sources give, with where and in place of which default.

use toml::Value;

use crate::constants;

/// A setting that a source gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: Value,
    /// The default. `None` if there is none.
    pub default: Option<Value>,
    /// Where it was given: a file and its line, a variable, or a flag.
    pub origin: Option<String>,
}

/// The value of a key.
pub(super) fn at<'a>(all: &'a Value, key: &str) -> Option<&'a Value> {
    key.split('.').try_fold(all, |value, part| value.as_table()?.get(part))
}

/// What `given` has, by key; `origin` finds where a key was given.
pub(super) fn given(given: &config::Value, defaults: &Value, origin: impl Fn(&str) -> Option<String>) -> Vec<Given> {
    let one = |(key, value): (String, &config::Value)| {
        let default = at(defaults, &key).cloned();
        Some(Given { origin: origin(&key), value: value.clone().try_deserialize().ok()?, default, key })
    };
    constants::leaves(given).into_iter().filter_map(one).collect()
}
