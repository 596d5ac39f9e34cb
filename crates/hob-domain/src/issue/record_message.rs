//! A ledger's commit message: the sentence, an empty line, the record as one line of JSON.
//!
//! # Guarantees
//! A record is refused only if its version is above what this Hob reads. Fields that this Hob does not know are kept by
//! the record and written back, so that workers of different age may share a repository. Anyone who may push refs can write
//! any time into it: one that a sum with a duration could carry out of the calendar becomes the end of year 9999.

use chrono::Datelike;
use serde::{Deserialize, Serialize, de::Error};
use serde_json::{Map, Value};

use crate::Timestamp;

/// The last time that RFC 3339 has a year for.
const LAST_TIME: &str = "9999-12-31T23:59:59Z";

/// The fields of a record as JSON.
pub(crate) type Fields = Map<String, Value>;

/// A commit message of the ledger that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableRecord {
    /// There is no JSON record below the subject.
    #[error("the ledger's commit has no readable record: {0}")]
    Malformed(#[from] serde_json::Error),
    /// A newer Hob wrote it, in a way that this one could only damage.
    #[error("the ledger's record has version {found}, this Hob reads up to {newest}: update Hob")]
    Newer {
        /// The record's version.
        found: u32,
        /// The newest version that this Hob reads.
        newest: u32,
    },
}

/// A record that has no JSON form.
#[derive(Debug, thiserror::Error)]
#[error("the ledger's record cannot be written as JSON: {0}")]
pub struct UnwritableRecord(#[from] serde_json::Error);

/// A ledger's sentence and record, before the record's fields are read.
pub(crate) struct Message {
    pub(crate) sentence: String,
    pub(crate) version: u32,
    pub(crate) fields: Fields,
}

/// Writes a ledger's commit message.
///
/// # Errors
/// [`UnwritableRecord`] if the record has no JSON form.
pub(crate) fn to_message(sentence: &str, record: &impl Serialize) -> Result<String, UnwritableRecord> {
    let body = serde_json::to_string(record)?;
    Ok(format!("{}\n\n{body}\n", one_line(sentence)))
}

/// Reads a ledger's commit message, up to the version `newest` of its record.
///
/// # Errors
/// [`UnreadableRecord`] if the body is not a record, or has a newer version.
pub(crate) fn from_message(message: &str, newest: u32) -> Result<Message, UnreadableRecord> {
    let (sentence, body) = message.split_once("\n\n").unwrap_or((message, ""));
    let mut fields: Fields = serde_json::from_str(body)?;
    fields.values_mut().for_each(bound_times);
    let version = fields.get("version").ok_or_else(|| serde_json::Error::missing_field("version"))?;
    let version = u32::deserialize(version)?;
    if version > newest {
        return Err(UnreadableRecord::Newer { found: version, newest });
    }
    Ok(Message { sentence: sentence.to_owned(), version, fields })
}

/// Whether RFC 3339 has a year for this time.
pub(crate) fn in_calendar(time: Timestamp) -> bool {
    (0..=9_999).contains(&time.year())
}

/// Moves the times of `value` that RFC 3339 has no year for into its calendar.
fn bound_times(value: &mut Value) {
    match value {
        Value::String(text) if text.parse().is_ok_and(|time: Timestamp| !in_calendar(time)) => {
            LAST_TIME.clone_into(text);
        }
        Value::Array(values) => values.iter_mut().for_each(bound_times),
        Value::Object(fields) => fields.values_mut().for_each(bound_times),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// One line of text: line ends become spaces, and text beyond 200 characters is cut.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_without_a_json_form_is_an_error_and_not_an_empty_commit() {
        // JSON has no lists as keys.
        let unwritable = std::collections::BTreeMap::from([(vec![1], 2)]);
        assert!(to_message("s", &unwritable).is_err());
    }

    /// A fuzzer found one that changed with each write: what another Hob wrote is written back as it was.
    #[test]
    fn a_number_of_any_size_is_read_as_it_is_written() {
        let read = |text: &str| from_message(text, 3).unwrap().fields;
        let first = read("s\n\n{\"version\":1,\"new\":{\"kind\":666666666666666666666666666666666666660}}\n");
        let again = read(&to_message("s", &first).unwrap());
        assert_eq!(again, first);
    }

    /// A fuzzer found a length that no calendar has; a time near its end breaks the same sums.
    #[test]
    fn a_time_is_within_the_calendar_wherever_it_stands() {
        let times = r#"{"version":1,"a":"+262142-12-31T23:59:59Z","b":[{"c":"-200000-01-01T00:00:00Z"}],"d":"+1 to this",
            "e":"9999-12-31T23:00:00-02:00","f":"9999-12-31T23:00:00Z","g":"0000-01-01T00:00:00+01:00"}"#;
        let fields = from_message(&format!("s\n\n{times}\n"), 3).unwrap().fields;
        assert_eq!(
            Value::Object(fields),
            serde_json::json!({"version": 1, "a": LAST_TIME, "b": [{"c": LAST_TIME}], "d": "+1 to this",
                "e": LAST_TIME, "f": "9999-12-31T23:00:00Z", "g": LAST_TIME})
        );
    }

    #[test]
    fn a_newer_record_is_refused_and_no_record_is_malformed() {
        let newer = from_message("s\n\n{\"version\":4}\n", 3);
        assert!(matches!(newer, Err(UnreadableRecord::Newer { found: 4, newest: 3 })));
        for text in ["", "s", "s\n\n", "s\n\n{}", "s\n\nnull", "s\n\n{\"version\":\"1\"}", "s\n\n{\"version\":-1}"] {
            assert!(matches!(from_message(text, 3), Err(UnreadableRecord::Malformed(_))), "{text:?}");
        }
    }
}
