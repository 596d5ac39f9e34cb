//! Amounts of money as people write them in comments.

/// The most dollars that an amount may have: more is a slip.
const MOST: u64 = 1_000_000;

/// An amount that cannot be read, as it was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is not an amount of US dollars above 0")]
pub struct UnreadableAmount;

/// Reads `5`, `2.50`, `$5` or `5 USD`, as millionths of a US dollar.
///
/// # Errors
/// [`UnreadableAmount`] for anything else, and for 0.
pub fn usd_micros(text: &str) -> Result<u64, UnreadableAmount> {
    let text = text.trim().to_ascii_lowercase();
    let text = text.strip_suffix("usd").map_or(text.as_str(), str::trim_end);
    let text = text.strip_prefix('$').unwrap_or(text);
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |digits: &str| (1..=7).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(part) || part.len() > 6 {
        return Err(UnreadableAmount);
    }
    let number = |digits: &str| digits.parse::<u64>().map_err(|_not_a_number| UnreadableAmount);
    let micros = number(whole)? * 1_000_000 + number(&format!("{part:0<6}"))?;
    if micros == 0 || micros > MOST * 1_000_000 { Err(UnreadableAmount) } else { Ok(micros) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_read_as_people_write_it_and_nothing_else_is() {
        for (text, micros) in [
            ("5", Some(5_000_000)),
            ("5.00", Some(5_000_000)),
            (" 2.5 ", Some(2_500_000)),
            ("$5", Some(5_000_000)),
            ("5 USD", Some(5_000_000)),
            ("$0.25usd", Some(250_000)),
            ("0.000001", Some(1)),
            ("1000000", Some(1_000_000_000_000)),
            ("1000000.01", None),
            ("0", None),
            ("0.00", None),
            ("-1", None),
            ("+1", None),
            ("5,00", None),
            ("1e99", None),
            ("1e1", None),
            ("NaN", None),
            ("inf", None),
            ("lots", None),
            ("", None),
            ("$", None),
            ("USD", None),
            ("5.", None),
            (".5", None),
            ("5.0000001", None),
            ("5 5", None),
            ("$ 5", None),
            ("\u{665}", None),
            ("99999999999999999999999", None),
        ] {
            assert_eq!(usd_micros(text).ok(), micros, "{text:?}");
        }
    }
}
