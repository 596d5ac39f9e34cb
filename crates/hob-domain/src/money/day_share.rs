//! How an issue's share of the day is written: all workers read and write those of all the day's issues again and again,
//! so amounts are short lists and what is nothing is left out.

use serde::{Deserialize, Serialize};

use crate::{Generation, IssueNumber, Spend, Timestamp};

/// A share as JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ShareWire {
    pub(crate) issue: IssueNumber,
    #[serde(default, skip_serializing_if = "Amounts::are_none")]
    pub(crate) before: Amounts,
    #[serde(default, skip_serializing_if = "Amounts::are_none")]
    pub(crate) now: Amounts,
    pub(crate) attempts: u32,
    #[serde(default, skip_serializing_if = "Amounts::are_none")]
    pub(crate) reserved: Amounts,
    /// Left out where nothing is reserved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) until: Option<Timestamp>,
    /// `None` in a share that an older Hob wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) generation: Option<Generation>,
}

/// What a day cost, as JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct DayWire {
    pub(crate) day: chrono::NaiveDate,
    pub(crate) spend: Amounts,
}

/// What was spent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Amounts {
    /// Money, tokens in, tokens out and seconds; zeros at the end are left out.
    Short(Vec<u64>),
    /// As they were written once, by name.
    Named(Spend),
}

impl Amounts {
    fn are_none(&self) -> bool {
        match self {
            Self::Short(amounts) => amounts.is_empty(),
            Self::Named(spend) => *spend == Spend::default(),
        }
    }
}

impl Default for Amounts {
    fn default() -> Self {
        Self::Short(Vec::new())
    }
}

impl From<Spend> for Amounts {
    fn from(spend: Spend) -> Self {
        let Spend { usd_micros, input_tokens, output_tokens, wall_seconds } = spend;
        let mut amounts = vec![usd_micros, input_tokens, output_tokens, wall_seconds];
        while amounts.last() == Some(&0) {
            amounts.pop();
        }
        Self::Short(amounts)
    }
}

impl From<Amounts> for Spend {
    fn from(amounts: Amounts) -> Self {
        let amounts = match amounts {
            Amounts::Named(spend) => return spend,
            Amounts::Short(amounts) => amounts,
        };
        let amount = |n: usize| amounts.get(n).copied().unwrap_or_default();
        Self { usd_micros: amount(0), input_tokens: amount(1), output_tokens: amount(2), wall_seconds: amount(3) }
    }
}
