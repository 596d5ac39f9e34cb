//! How much a model thinks before it answers.

use serde::{Deserialize, Serialize};

/// How much a model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// As its vendor recommends, and more for work that turned out to be hard.
    Auto,
    /// Not at all, or as little as the model can.
    None,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// As much as the model can.
    Max,
}

/// The words of all services, the least first.
const WORDS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

impl Effort {
    /// Tokens of thinking that a reply has room for in addition to its words.
    pub fn room(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Low => 4_096,
            Self::Auto | Self::Medium => 8_192,
            Self::High => 16_384,
            Self::Max => 32_768,
        }
    }

    /// One step more.
    #[must_use]
    pub fn raised(self) -> Self {
        match self {
            Self::None => Self::Low,
            Self::Low => Self::Medium,
            Self::Auto | Self::Medium => Self::High,
            Self::High | Self::Max => Self::Max,
        }
    }

    /// The word for it of a model that knows the words `known`, the least first: of those that it lacks the next larger one.
    /// A model of which nothing is known gets a word that all know; `None` if there is none.
    pub fn word(self, known: &[String]) -> Option<&str> {
        let plain = match self {
            Self::None => "none",
            Self::Low => "low",
            Self::Auto | Self::Medium => "medium",
            Self::High => "high",
            Self::Max => "max",
        };
        let rank = |word: &str| WORDS.iter().position(|one| *one == word);
        match known.last() {
            Some(most) if self == Self::Max => Some(most),
            Some(most) => known.iter().find(|word| rank(word) >= rank(plain)).or(Some(most)).map(String::as_str),
            None => match self {
                Self::None => None,
                Self::Max => Some("high"),
                Self::Auto | Self::Low | Self::Medium | Self::High => Some(plain),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known_model;

    #[test]
    fn a_model_gets_a_word_that_it_knows() {
        for (model, none, low, medium, high, max) in [
            ("gpt-5", "minimal", "low", "medium", "high", "high"),
            ("gpt-5.1", "none", "low", "medium", "high", "high"),
            ("gpt-5.1-codex-max", "none", "low", "medium", "high", "xhigh"),
            ("gpt-5.5-pro", "medium", "medium", "medium", "high", "xhigh"),
            ("gpt-6.1-sol", "low", "low", "medium", "high", "max"),
            ("gpt-5-pro", "high", "high", "high", "high", "high"),
            ("claude-opus-4-6", "low", "low", "medium", "high", "max"),
            ("mistral-large-4", "none", "high", "high", "high", "high"),
        ] {
            let known = &known_model(model).unwrap().efforts;
            let words = [Effort::None, Effort::Low, Effort::Medium, Effort::High, Effort::Max];
            let words = words.map(|effort| effort.word(known).unwrap());
            assert_eq!(words, [none, low, medium, high, max], "{model}");
        }
        assert_eq!(
            [Effort::None, Effort::Low, Effort::Max].map(|one| one.word(&[])),
            [None, Some("low"), Some("high")]
        );
    }
}
