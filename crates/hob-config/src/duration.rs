//! Durations as people write them: `30s`, `5m`, `1h`, `500ms`. For `#[serde(with = "duration")]`.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer, de::Error};

/// A text that is not a duration.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a duration: write for example `30s`, `5m` or `1h`")]
pub struct InvalidDuration(String);

/// Reads `30s`, `5m`, `1h`, or a sum such as `1h 30m`.
///
/// # Errors
/// [`InvalidDuration`] says the valid format.
pub fn parse_duration(text: &str) -> Result<Duration, InvalidDuration> {
    humantime::parse_duration(text.trim()).map_err(|_invalid| InvalidDuration(text.to_owned()))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    parse_duration(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

pub(super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&humantime::format_duration(*duration))
}

/// For `#[serde(with = "duration::optional")]`: a duration that may be missing.
pub(super) mod optional {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| super::parse_duration(&text).map_err(D::Error::custom)).transpose()
    }

    pub(crate) fn serialize<S: Serializer>(duration: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        match duration {
            Some(duration) => super::serialize(duration, to),
            None => to.serialize_none(),
        }
    }
}
