//! `limits.candidates`: how many changes an attempt makes, of which one is chosen.

use hob_domain::Strain;
use serde::{Deserialize, Serialize};

/// How many candidates an attempt's first work has: `1`, `3`, `"auto"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum Candidates {
    /// So many.
    Number(u32),
    /// Two for work that has turned out to be hard, otherwise one.
    Auto,
}

/// The value in a file, a variable or a flag.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Number(i64),
    Text(String),
}

/// Those of hard work, if their number is Hob's to choose.
const HARD: u32 = 2;

/// A value that is not a number of candidates. It reads like the error of a fixed list of words, whose choices the settings' errors quote.
#[derive(Debug, thiserror::Error)]
#[error("unknown variant `{0}`, expected a number from 1 to {most}, or `auto`", most = Candidates::MOST)]
struct InvalidCandidates(String);

impl TryFrom<Written> for Candidates {
    type Error = InvalidCandidates;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        let text = match written {
            Written::Number(number) => number.to_string(),
            Written::Text(text) => text,
        };
        let number = text.parse().ok().filter(|number| (1..=Self::MOST).contains(number));
        match (text.as_str(), number) {
            ("auto", _) => Ok(Self::Auto),
            (_, Some(number)) => Ok(Self::Number(number)),
            (_, None) => Err(InvalidCandidates(text)),
        }
    }
}

impl From<Candidates> for Written {
    fn from(candidates: Candidates) -> Self {
        match candidates {
            Candidates::Number(number) => Self::Number(number.into()),
            Candidates::Auto => Self::Text("auto".to_owned()),
        }
    }
}

impl Candidates {
    /// The most that can be set: each costs as much as an attempt did before.
    pub const MOST: u32 = 8;

    /// The number of work that is as hard as this.
    pub fn of(self, strain: Strain) -> u32 {
        match (self, strain) {
            (Self::Number(number), _) => number,
            (Self::Auto, Strain::Usual) => 1,
            (Self::Auto, Strain::Hard) => HARD,
        }
    }

    /// The most that there can be.
    pub fn most(self) -> u32 {
        self.of(Strain::Hard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_fixed_and_auto_asks_how_hard_the_work_is() {
        for (text, numbers) in [("1", [1, 1]), ("8", [8, 8]), ("auto", [1, 2])] {
            let read = Candidates::try_from(Written::Text(text.to_owned())).unwrap();
            assert_eq!([Strain::Usual, Strain::Hard].map(|strain| read.of(strain)), numbers, "{text}");
        }
    }
}
