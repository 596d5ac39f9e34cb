//! Ranges of times, as a search has them: `>=2026-01-31`, `2026-01-01..2026-01-31`, `*..2026-01-31T12:00:00Z`.
//! <https://docs.github.com/search-github/getting-started-with-searching-on-github/understanding-the-search-syntax#query-for-dates>

use chrono::{NaiveDate, NaiveTime, TimeDelta};

use crate::names::Timestamp;

/// A range of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    /// The first moment of it. `None` if it has no beginning.
    from: Option<Timestamp>,
    /// The first moment after it. `None` if it has no end.
    until: Option<Timestamp>,
}

impl Range {
    /// Parses a range; `None` if the text is not one.
    pub(super) fn read(text: &str) -> Option<Self> {
        if let Some((from, until)) = text.split_once("..") {
            let end = |text: &str| if text == "*" { Some(None) } else { span(text).map(Some) };
            let (from, until) = (end(from)?, end(until)?);
            return Some(Self { from: from.map(|(start, _)| start), until: until.map(|(_, end)| end) });
        }
        let (sign, time) = text.split_at(text.find(|c: char| !matches!(c, '<' | '>' | '='))?);
        let (start, end) = span(time)?;
        let (from, until) = match sign {
            "" => (Some(start), Some(end)),
            ">" => (Some(end), None),
            ">=" => (Some(start), None),
            "<" => (None, Some(start)),
            "<=" => (None, Some(end)),
            _ => return None,
        };
        Some(Self { from, until })
    }

    /// Whether a moment is in it.
    pub(super) fn has(self, at: Timestamp) -> bool {
        self.from.is_none_or(|from| at >= from) && self.until.is_none_or(|until| at < until)
    }
}

/// A day or a second: its first moment, and the first one after it.
fn span(text: &str) -> Option<(Timestamp, Timestamp)> {
    if let Ok(day) = text.parse::<NaiveDate>() {
        let start = day.and_time(NaiveTime::MIN).and_utc();
        return Some((start, start.checked_add_signed(TimeDelta::days(1))?));
    }
    let start: Timestamp = text.parse().ok()?;
    Some((start, start.checked_add_signed(TimeDelta::seconds(1))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_its_ends_as_its_sign_says() {
        let has = |range: &str, time: &str| Range::read(range).map(|range| range.has(time.parse().unwrap()));
        let (before, noon, late, after) =
            ("2026-01-30T23:59:59Z", "2026-01-31T12:00:00Z", "2026-01-31T23:59:59Z", "2026-02-01T00:00:00Z");
        for (range, expected) in [
            ("2026-01-31", [false, true, true, false]),
            (">2026-01-31", [false, false, false, true]),
            (">=2026-01-31", [false, true, true, true]),
            ("<2026-01-31", [true, false, false, false]),
            ("<=2026-01-31", [true, true, true, false]),
            ("2026-01-31..2026-02-01", [false, true, true, true]),
            ("*..2026-01-31T12:00:00Z", [true, true, false, false]),
            ("2026-01-31T13:00:00+01:00..*", [false, true, true, true]),
            ("2026-01-31T12:00:00Z", [false, true, false, false]),
        ] {
            assert_eq!([before, noon, late, after].map(|time| has(range, time).unwrap()), expected, "{range}");
        }
        for wrong in ["", ">", "yesterday", "2026-13-01", "=>2026-01-31", "2026-01-31..", "2026-01-31...2026-02-01"] {
            assert_eq!(Range::read(wrong), None, "{wrong}");
        }
    }
}
