//! Durations as people write them: `30s`, `5m`, `1h`, `500ms`. For `#[serde(with = "duration")]`.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer, de::Error};

/// A century. Times are sums of the clock and durations: a calendar and a monotonic clock have an end.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// A text that is not a duration.
#[derive(Debug, thiserror::Error)]
pub enum InvalidDuration {
    /// Not of the format.
    #[error("`{0}` is not a duration: write for example `30s`, `5m` or `1h`")]
    Malformed(String),
    /// Longer than any time that Hob waits.
    #[error("`{0}` is longer than 100 years: write a shorter time")]
    TooLong(String),
}

/// Reads `30s`, `5m`, `1h`, or a sum such as `1h 30m`.
///
/// # Errors
/// [`InvalidDuration`] says the valid format.
pub fn parse_duration(text: &str) -> Result<Duration, InvalidDuration> {
    let read = humantime::parse_duration(text.trim());
    let duration = read.map_err(|_invalid| InvalidDuration::Malformed(text.to_owned()))?;
    if duration > LONGEST { Err(InvalidDuration::TooLong(text.to_owned())) } else { Ok(duration) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_that_no_clock_can_add_is_refused() {
        assert_eq!(parse_duration(" 1h 30m ").unwrap(), Duration::from_secs(5400));
        assert_eq!(parse_duration("36500d").unwrap(), LONGEST);
        for (text, said) in [
            ("36500d 1s", "`36500d 1s` is longer than 100 years: write a shorter time"),
            ("18446744073709551615s", "`18446744073709551615s` is longer than 100 years: write a shorter time"),
            ("soon", "`soon` is not a duration: write for example `30s`, `5m` or `1h`"),
        ] {
            assert_eq!(parse_duration(text).unwrap_err().to_string(), said);
        }
    }
}
