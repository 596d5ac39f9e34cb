//! A part of all issues, for several workers that each take one.

use std::str::FromStr;

use hob_domain::IssueNumber;

/// A part of all issues: those whose number leaves this remainder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shard {
    index: u64,
    of: u64,
}

/// A text that names no part.
#[derive(Debug, thiserror::Error)]
#[error("expected I/N with I from 1 to N, for example `1/4`")]
pub(super) struct InvalidShard;

impl Shard {
    pub(super) fn has(self, issue: IssueNumber) -> bool {
        issue.0 % self.of == self.index - 1
    }
}

impl FromStr for Shard {
    type Err = InvalidShard;

    fn from_str(text: &str) -> Result<Self, InvalidShard> {
        let parts = text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((index, of)) if index >= 1 && index <= of => Ok(Self { index, of }),
            Some(_) | None => Err(InvalidShard),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shards_of_a_number_have_each_issue_once() {
        for bad in ["0/2", "3/2", "1", "1/0", "a/b", "1/2/3", "-1/2"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
        let shards = ["1/3", "2/3", "3/3"].map(|text| text.parse::<Shard>().unwrap());
        for number in 1..50 {
            assert_eq!(shards.iter().filter(|shard| shard.has(IssueNumber(number))).count(), 1, "{number}");
        }
    }
}
