//! Sizes as people write them: `512M`, `8G`, `0`. For `#[serde(with = "size")]`; in the program they are bytes.

use serde::{Deserialize, Deserializer, Serializer, de::Error};

/// The units, the largest first: each is 1024 of the next.
const UNITS: [(char, u32); 4] = [('T', 40), ('G', 30), ('M', 20), ('K', 10)];

/// A text that is not a size.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a size: write for example `512M` or `8G`")]
pub struct InvalidSize(String);

/// Reads `512M`, `8G`, or plain bytes.
///
/// # Errors
/// [`InvalidSize`] says the valid format.
pub fn parse_size(text: &str) -> Result<u64, InvalidSize> {
    let written = text.trim();
    let unit = |(name, shift): &(char, u32)| Some((written.strip_suffix(*name)?, *shift));
    let (digits, shift) = UNITS.iter().find_map(unit).unwrap_or((written, 0));
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    bytes.filter(|_| digits.bytes().all(|b| b.is_ascii_digit())).ok_or_else(|| InvalidSize(text.to_owned()))
}

/// The size in the largest unit that shows it whole.
pub fn show_size(bytes: u64) -> String {
    let whole = UNITS.iter().find(|(_, shift)| bytes > 0 && bytes.is_multiple_of(1 << shift));
    whole.map_or_else(|| bytes.to_string(), |(name, shift)| format!("{}{name}", bytes >> shift))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    parse_size(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

pub(super) fn serialize<S: Serializer>(bytes: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&show_size(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_read_and_shown_in_its_largest_unit() {
        for (text, bytes, shown) in [
            ("8G", 8 << 30, "8G"),
            (" 1536M ", 1536 << 20, "1536M"),
            ("2048M", 2 << 30, "2G"),
            ("0", 0, "0"),
            ("1000", 1000, "1000"),
            ("1T", 1 << 40, "1T"),
        ] {
            assert_eq!((parse_size(text).unwrap(), show_size(bytes).as_str()), (bytes, shown));
        }
        for text in ["", "G", "8GB", "8 G", "-1", "+1", "1.5G", "8g", "99999999999T"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
