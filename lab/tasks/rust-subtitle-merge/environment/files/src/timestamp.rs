use std::fmt;
use std::str::FromStr;

/// A moment in a track, in milliseconds from its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimestampError(String);

impl fmt::Display for TimestampError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a time: {:?}", self.0)
    }
}

impl std::error::Error for TimestampError {}

impl Timestamp {
    pub fn from_millis(millis: u64) -> Self {
        Timestamp(millis)
    }

    pub fn as_millis(self) -> u64 {
        self.0
    }

    /// Moves the time by `millis`, stopping at the beginning of the track.
    pub fn shifted(self, millis: i64) -> Self {
        Timestamp(self.0.saturating_add_signed(millis))
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).ok_or_else(|| TimestampError(text.to_string()))
    }
}

fn parse(text: &str) -> Option<Timestamp> {
    let (clock, fraction) = match text.split_once([',', '.']) {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (text, None),
    };

    let mut fields = clock.split(':');
    let hours = number(fields.next()?)?;
    let minutes = number(fields.next()?)?;
    let seconds = number(fields.next()?)?;
    if fields.next().is_some() || minutes > 59 || seconds > 59 {
        return None;
    }

    let millis = match fraction {
        Some(digits) => number(digits)?,
        None => 0,
    };
    hours
        .checked_mul(3_600_000)?
        .checked_add((minutes * 60 + seconds) * 1000 + millis)
        .map(Timestamp)
}

/// Stricter than `str::parse`, which would let a plus sign through.
fn number(digits: &str) -> Option<u64> {
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, millis) = (self.0 / 1000, self.0 % 1000);
        let (minutes, seconds) = (seconds / 60, seconds % 60);
        let (hours, minutes) = (minutes / 60, minutes % 60);
        write!(f, "{hours:02}:{minutes:02}:{seconds:02},{millis:03}")
    }
}
