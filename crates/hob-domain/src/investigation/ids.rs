//! The names of objects in a record: a letter and a number, so that they cannot be confused with a model's or a
//! person's text.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident, $letter:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(u32);

        impl $name {
            /// The name of the object at this index of its list.
            pub(super) fn at(index: usize) -> Self {
                Self(u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", $letter, self.0)
            }
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let number = text.trim().strip_prefix([$letter, $letter.to_ascii_lowercase()]);
                let number = number.and_then(|number| number.parse().ok()).filter(|number| *number > 0);
                number.map(Self).ok_or_else(|| format!("`{}1` is the form of such a name", $letter))
            }
        }

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.to_string()
            }
        }
    };
}

numbered!(
    /// One piece of evidence, `E1`.
    EvidenceId, 'E'
);
numbered!(
    /// One question, `Q1`.
    QuestionId, 'Q'
);
numbered!(
    /// One hypothesis, `H1`.
    HypothesisId, 'H'
);

/// Names as a list within a sentence.
pub(super) fn list<T: fmt::Display>(ids: &[T]) -> String {
    ids.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_letter_and_a_number() {
        assert_eq!("E12".parse::<EvidenceId>().unwrap().to_string(), "E12");
        assert_eq!("q3".parse::<QuestionId>().unwrap(), QuestionId::at(2));
        for bad in ["", "E", "E0", "E-1", "Q1", "E1 x", "../E1", "E99999999999"] {
            assert!(bad.parse::<EvidenceId>().is_err(), "{bad:?}");
        }
    }
}
