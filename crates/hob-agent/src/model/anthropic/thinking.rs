//! The request for an Anthropic model's thinking.
//!
//! Source: Anthropic's "Adaptive thinking" and "Extended thinking", read 2026-11: from Claude 4.6 on a model itself
//! decides how much it thinks, by `output_config.effort`; older ones get a budget of tokens, and think between calls
//! only with a beta header.

use hob_config::{Effort, KnownModel, ThinkingForm};
use http::HeaderValue;

/// The unknown models that only know budgets, by the prefixes of their names: some services still have them.
const BUDGETED: [&str; 7] = [
    "claude-3-7",
    "claude-sonnet-4-0",
    "claude-sonnet-4-2",
    "claude-opus-4-0",
    "claude-opus-4-1",
    "claude-opus-4-2",
    "claude-haiku-4-5",
];
/// Tokens that a budget leaves for words, at least: the service refuses a budget that is all of `max_tokens`.
const WORDS: u32 = 1_024;

/// The form in which one model's thinking is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thinking {
    /// Not at all: the service's own choice.
    Unset,
    /// The model does not think.
    Disabled,
    /// The model decides, within an effort of this word.
    Adaptive(&'static str),
    /// At most this many tokens.
    Budget(u32),
}

impl Thinking {
    /// The form for `effort` in a reply of at most `cap` tokens.
    pub(super) fn new(model: &str, known: Option<&'static KnownModel>, effort: Option<Effort>, cap: u32) -> Self {
        let Some(effort) = effort else { return Self::Unset };
        let form = match known {
            Some(known) => known.thinking,
            None if BUDGETED.iter().any(|name| model.starts_with(name)) => Some(ThinkingForm::Budget),
            None => Some(ThinkingForm::Adaptive),
        };
        match (form, effort) {
            (Some(ThinkingForm::Unasked), Effort::None) => Self::Disabled,
            (Some(ThinkingForm::Adaptive | ThinkingForm::Budget), Effort::None)
            | (Some(ThinkingForm::Effort) | None, _) => Self::Unset,
            (Some(ThinkingForm::Budget), effort) => Self::Budget(effort.room().min(cap.saturating_sub(WORDS))),
            (Some(ThinkingForm::Adaptive | ThinkingForm::Unasked | ThinkingForm::Always), effort) => {
                let words = known.map_or(&[] as &[String], |known| &known.efforts);
                // Anthropic's models have had `max` from the first with an effort on.
                let unknown = if effort == Effort::Max { Some("max") } else { effort.word(&[]) };
                let word = if words.is_empty() { unknown } else { effort.word(words) };
                word.map_or(Self::Unset, Self::Adaptive)
            }
        }
    }

    /// Members of a request, each with its comma. With a budget, calls without thinking cannot be answered with it.
    pub(super) fn members(self, may_think: bool) -> String {
        match self {
            Self::Adaptive(effort) => {
                format!(r#""thinking":{{"type":"adaptive"}},"output_config":{{"effort":"{effort}"}},"#)
            }
            Self::Budget(tokens) if may_think => {
                format!(r#""thinking":{{"type":"enabled","budget_tokens":{tokens}}},"#)
            }
            Self::Disabled => r#""thinking":{"type":"disabled"},"#.to_owned(),
            Self::Unset | Self::Budget(_) => String::new(),
        }
    }

    /// The header with which a model that has a budget thinks between its calls.
    pub(super) fn beta(self) -> Option<HeaderValue> {
        match self {
            Self::Budget(_) => Some(HeaderValue::from_static("interleaved-thinking-2025-05-14")),
            Self::Unset | Self::Disabled | Self::Adaptive(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use hob_config::known_model;

    use super::*;

    fn thinking(model: &str, effort: Option<Effort>) -> Thinking {
        Thinking::new(model, known_model(model), effort, 32_768)
    }

    #[test]
    fn each_model_is_asked_in_its_own_terms() {
        for (model, members) in [
            ("claude-sonnet-5-5", r#""thinking":{"type":"adaptive"},"output_config":{"effort":"high"},"#),
            ("claude-opus-4-6", r#""thinking":{"type":"adaptive"},"output_config":{"effort":"high"},"#),
            ("claude-unknown", r#""thinking":{"type":"adaptive"},"output_config":{"effort":"high"},"#),
            ("claude-sonnet-4-20250514", r#""thinking":{"type":"enabled","budget_tokens":16384},"#),
            ("claude-opus-4-5-20251101", r#""thinking":{"type":"enabled","budget_tokens":16384},"#),
        ] {
            assert_eq!(thinking(model, Some(Effort::High)).members(true), members, "{model}");
        }
        assert_eq!(thinking("claude-opus-4-1", Some(Effort::Low)).members(false), "");
        assert_eq!(thinking("claude-opus-5", None), Thinking::Unset);
        assert_eq!(
            Thinking::new("claude-opus-4-5", known_model("claude-opus-4-5"), Some(Effort::Max), 9_000),
            Thinking::Budget(7_976)
        );
    }

    #[test]
    fn a_model_is_asked_not_to_think_where_it_can() {
        for (model, form) in [
            ("claude-opus-5-5", Thinking::Adaptive("low")),
            ("claude-opus-5", Thinking::Disabled),
            ("claude-opus-4-8", Thinking::Unset),
            ("claude-haiku-4-5", Thinking::Unset),
        ] {
            assert_eq!(thinking(model, Some(Effort::None)), form, "{model}");
        }
    }
}
