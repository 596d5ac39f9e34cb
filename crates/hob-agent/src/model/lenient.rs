//! Members of an answer that servers leave out, or send as another type than the interface says.

use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::Value;

/// A member that says nothing in another form than its own. Only for what a reply can do without.
pub(super) fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned>(from: D) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(from)?).ok())
}

/// A text; other values are their JSON, and `null` is an empty one.
pub(super) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::Null => String::new(),
        Value::String(text) => text,
        other => other.to_string(),
    })
}

/// A list; one element alone is a list of it, and `null` an empty one.
pub(super) fn list<'de, D: Deserializer<'de>, T: DeserializeOwned>(from: D) -> Result<Vec<T>, D::Error> {
    let read = match Value::deserialize(from)? {
        Value::Null => return Ok(Vec::new()),
        one @ Value::Object(_) => serde_json::from_value(one).map(|one| vec![one]),
        list => serde_json::from_value(list),
    };
    read.map_err(serde::de::Error::custom)
}

/// A number of tokens; some servers write it as a fraction, and what is not a number counts as none.
pub(super) fn tokens<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let value = Value::deserialize(from)?;
    let whole = value.as_f64().filter(|number| (0.0..1e15).contains(number)).map(|number| format!("{number:.0}"));
    Ok(whole.and_then(|number| number.parse().ok()).unwrap_or(0))
}
