//! The request for an Anthropic model's thinking.
//!
//! Source: Anthropic's "Adaptive thinking" and "Extended thinking", read 2026-11: from Claude 4.6 on a model itself
//! decides how much it thinks, by `output_config.effort`; older ones get a budget of tokens, and think between calls
//! only with a beta header.

use hob_config::Effort;
use http::HeaderValue;

/// The models that only know budgets, by the prefixes of their names.
const BUDGETED: [&str; 9] = [
    "claude-3-7",
    "claude-sonnet-4-0",
    "claude-sonnet-4-2",
    "claude-sonnet-4-5",
    "claude-opus-4-0",
    "claude-opus-4-1",
    "claude-opus-4-2",
    "claude-opus-4-5",
    "claude-haiku-4-5",
];

/// The form in which one model's thinking is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thinking {
    /// Not at all: the service's own choice.
    Unset,
    /// The model decides, within an effort.
    Adaptive(Effort),
    /// At most this many tokens.
    Budget(u32),
}

impl Thinking {
    pub(super) fn new(model: &str, effort: Option<Effort>) -> Self {
        match effort {
            None => Self::Unset,
            Some(effort) if BUDGETED.iter().any(|name| model.starts_with(name)) => Self::Budget(effort.room()),
            Some(effort) => Self::Adaptive(effort),
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
            Self::Unset | Self::Budget(_) => String::new(),
        }
    }

    /// The header with which a model that has a budget thinks between its calls.
    pub(super) fn beta(self) -> Option<HeaderValue> {
        match self {
            Self::Budget(_) => Some(HeaderValue::from_static("interleaved-thinking-2025-05-14")),
            Self::Unset | Self::Adaptive(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_model_is_asked_in_its_own_terms() {
        for (model, members) in [
            ("claude-sonnet-5-5", r#""thinking":{"type":"adaptive"},"output_config":{"effort":"high"},"#),
            ("claude-opus-4-6", r#""thinking":{"type":"adaptive"},"output_config":{"effort":"high"},"#),
            ("claude-sonnet-4-20250514", r#""thinking":{"type":"enabled","budget_tokens":16384},"#),
            ("claude-opus-4-5-20251101", r#""thinking":{"type":"enabled","budget_tokens":16384},"#),
        ] {
            assert_eq!(Thinking::new(model, Some(Effort::High)).members(true), members, "{model}");
        }
        assert_eq!(Thinking::new("claude-opus-4-1", Some(Effort::Low)).members(false), "");
        assert_eq!(Thinking::new("claude-opus-5", None), Thinking::Unset);
    }
}
