//! The cost of work: money, tokens, time.

use std::{iter::Sum, ops::Add};

use hob_text::count;
use serde::{Deserialize, Serialize};

/// The cost of a run, or of all runs of an issue. Money is in millionths of a US dollar, so that sums are exact.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spend {
    /// Millionths of a US dollar.
    pub usd_micros: u64,
    /// Tokens sent to a model, including cached ones.
    pub input_tokens: u64,
    /// Tokens a model produced.
    pub output_tokens: u64,
    /// Seconds of wall time.
    pub wall_seconds: u64,
}

impl Spend {
    /// US dollars, for people.
    #[expect(clippy::cast_precision_loss, reason = "what agents cost is far below 2^53 millionths")]
    pub fn usd(self) -> f64 {
        self.usd_micros as f64 / 1e6
    }

    /// Tokens sent and produced.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl Spend {
    /// The amount beyond `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            usd_micros: self.usd_micros.saturating_sub(earlier.usd_micros),
            input_tokens: self.input_tokens.saturating_sub(earlier.input_tokens),
            output_tokens: self.output_tokens.saturating_sub(earlier.output_tokens),
            wall_seconds: self.wall_seconds.saturating_sub(earlier.wall_seconds),
        }
    }
}

/// Millionths of a US dollar as a price: whole cents if that is exact, else rounded up to a hundredth of a cent.
pub fn dollars(micros: u64) -> String {
    if micros.is_multiple_of(10_000) {
        return format!("${}.{:02}", micros / 1_000_000, micros / 10_000 % 100);
    }
    let hundredths = micros.div_ceil(100);
    format!("${}.{:04}", hundredths / 10_000, hundredths % 10_000)
}

impl Add for Spend {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            usd_micros: self.usd_micros.saturating_add(other.usd_micros),
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            wall_seconds: self.wall_seconds.saturating_add(other.wall_seconds),
        }
    }
}

impl Sum for Spend {
    fn sum<I: Iterator<Item = Self>>(spends: I) -> Self {
        spends.fold(Self::default(), Self::add)
    }
}

impl std::fmt::Display for Spend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.usd_micros > 0 {
            // A bill must never show less than was spent.
            write!(f, "{}, ", dollars(self.usd_micros))?;
        }
        if self.tokens() > 0 {
            write!(f, "{}, ", count(self.tokens(), "token"))?;
        }
        match self.wall_seconds {
            seconds @ 0..60 => write!(f, "{seconds} s"),
            seconds => write!(f, "{} min {} s", seconds / 60, seconds % 60),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bill_reads_as_money_tokens_and_time() {
        let spend = Spend { usd_micros: 12_345, input_tokens: 1_000, output_tokens: 200, wall_seconds: 61 };
        assert_eq!(spend.to_string(), "$0.0124, 1200 tokens, 1 min 1 s");
        assert_eq!(Spend { output_tokens: 5, ..Spend::default() }.to_string(), "5 tokens, 0 s");
        assert_eq!(Spend { wall_seconds: 3, ..Spend::default() }.to_string(), "3 s");
    }
}
