//! An issue's share of the day, and how it is written: all workers read and write those of all the day's issues again and again,
//! so amounts are short lists and what is nothing is left out.

use serde::{Deserialize, Serialize};

use crate::{Generation, IssueNumber, Spend, Timestamp};

/// An issue's share of the day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "ShareWire", into = "ShareWire")]
pub struct DayShare {
    /// The issue.
    pub issue: IssueNumber,
    /// Its whole bill before the day.
    pub before: Spend,
    /// Its whole bill now.
    pub now: Spend,
    /// Attempts begun in the day.
    pub attempts: u32,
    /// The most that the running attempt may use.
    pub reserved: Spend,
    /// When the reservation ends by itself, so that a dead worker does not keep it.
    pub until: Timestamp,
    /// The generation of the lease under which it was written last.
    pub generation: Generation,
}

impl From<DayShare> for ShareWire {
    fn from(share: DayShare) -> Self {
        let DayShare { issue, before, now, attempts, reserved, until, generation } = share;
        let until = (reserved != Spend::default()).then_some(until);
        let generation = Some(generation);
        Self { issue, before: before.into(), now: now.into(), attempts, reserved: reserved.into(), until, generation }
    }
}

impl From<ShareWire> for DayShare {
    fn from(wire: ShareWire) -> Self {
        let ShareWire { issue, before, now, attempts, reserved, until, generation } = wire;
        let (until, generation) = (until.unwrap_or(Timestamp::UNIX_EPOCH), generation.unwrap_or(Generation(0)));
        Self { issue, before: before.into(), now: now.into(), attempts, reserved: reserved.into(), until, generation }
    }
}

/// A share as JSON.
#[derive(Debug, Serialize, Deserialize)]
struct ShareWire {
    issue: IssueNumber,
    #[serde(default, skip_serializing_if = "Amounts::are_none")]
    before: Amounts,
    #[serde(default, skip_serializing_if = "Amounts::are_none")]
    now: Amounts,
    attempts: u32,
    #[serde(default, skip_serializing_if = "Amounts::are_none")]
    reserved: Amounts,
    /// Left out where nothing is reserved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<Timestamp>,
    /// `None` in a share that an older Hob wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    generation: Option<Generation>,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn share(reserved: u64) -> DayShare {
        let spend = |usd_micros, seconds| Spend {
            usd_micros,
            input_tokens: 123_456,
            output_tokens: 7_890,
            wall_seconds: seconds,
        };
        let reserved = Spend { usd_micros: reserved, ..Spend::default() };
        let until = Timestamp::from_timestamp(1_800_000_000, 0).unwrap();
        let until = if reserved == Spend::default() { Timestamp::UNIX_EPOCH } else { until };
        let (issue, before, generation) = (IssueNumber(1_234), Spend::default(), Generation(3));
        DayShare { issue, before, now: spend(1_234_567, 600), attempts: 1, reserved, until, generation }
    }

    #[test]
    fn a_share_at_rest_is_short_and_comes_back_as_it_was() {
        let written = serde_json::to_string(&share(0)).unwrap();
        assert_eq!(written, r#"{"issue":1234,"now":[1234567,123456,7890,600],"attempts":1,"generation":3}"#);
        for share in [share(0), share(5_000_000), DayShare { before: share(0).now, ..share(0) }] {
            let written = serde_json::to_string(&share).unwrap();
            assert_eq!(serde_json::from_str::<DayShare>(&written).unwrap(), share, "{written}");
        }
    }

    #[test]
    fn a_share_that_was_written_at_length_is_read() {
        let spend = r#"{"usd_micros":5,"input_tokens":6,"output_tokens":7,"wall_seconds":8}"#;
        let none = r#"{"usd_micros":0,"input_tokens":0,"output_tokens":0,"wall_seconds":0}"#;
        let written = format!(
            r#"{{"issue":3,"before":{none},"now":{spend},"attempts":2,"reserved":{spend},"until":"2026-01-01T00:00:00Z"}}"#
        );
        let share: DayShare = serde_json::from_str(&written).unwrap();
        assert_eq!((share.now.wall_seconds, share.reserved.input_tokens, share.attempts), (8, 6, 2));
        assert_eq!((share.before, share.until.timestamp()), (Spend::default(), 1_767_225_600));
        assert_eq!(share.generation, Generation(0), "which every lease follows");
    }
}
