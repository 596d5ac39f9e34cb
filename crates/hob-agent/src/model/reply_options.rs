//! How a model's client asks for replies. The settings' names for it are in `models.rs`.

use hob_config::{Effort, KnownModel, ThinkingForm, Vendor};
use hob_domain::Strain;
use hob_egress::ServiceTier;

/// The replies that are asked of a model: what the settings say, and what is known of the model.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReplyOptions {
    /// Tokens of a reply at most, without its reasoning.
    pub(super) max_tokens: u32,
    /// The effort of the settings; `None` for what the model's vendor recommends.
    pub(super) effort: Option<Effort>,
    pub(super) known: Option<&'static KnownModel>,
    /// Whether the model is shown images.
    pub(super) sees: bool,
    /// The tier that the agent may be answered in.
    pub(super) tier: ServiceTier,
}

/// The member of a request for OpenAI's slow tier ("Flex processing", read 2026-11).
pub(super) const FLEX: &str = r#","service_tier":"flex""#;

impl ReplyOptions {
    /// The effort to ask for; `None` if the service chooses it.
    pub(super) fn effort(&self, strain: Strain) -> Option<Effort> {
        if self.known.is_some_and(|known| known.thinking.is_none()) {
            return None;
        }
        match (self.effort, self.recommended(), strain) {
            (Some(Effort::Auto), Some(usual), Strain::Hard) => Some(usual.raised()),
            (Some(Effort::Auto) | None, usual, Strain::Usual | Strain::Hard) => usual,
            (fixed, _, Strain::Usual | Strain::Hard) => fixed,
        }
    }

    /// What the vendor of a known model recommends for code; `None` to leave it to the service.
    ///
    /// Sources, read 2026-11: OpenAI's "Reasoning models" guide (medium; without a word, models from GPT-5.1 to 5.4 do not
    /// reason), Anthropic's "Effort" (high). Gemini's, DeepSeek's and xAI's models choose by themselves.
    fn recommended(&self) -> Option<Effort> {
        let known = self.known?;
        match known.vendor {
            Vendor::OpenAi => Some(Effort::Medium),
            Vendor::Anthropic => Some(Effort::High),
            Vendor::Deepseek | Vendor::Gemini | Vendor::Mistral | Vendor::Xai => None,
        }
    }

    /// The tier to ask for: another than the ordinary one only where it is known that the vendor has it.
    pub(super) fn tier(&self) -> ServiceTier {
        let has = self.known.is_some_and(KnownModel::has_flex);
        if has { self.tier } else { ServiceTier::Standard }
    }

    /// The word for the effort at interfaces compatible with OpenAI's.
    pub(super) fn word(&self, strain: Strain) -> Option<&'static str> {
        self.effort(strain)?.word(self.known.map_or(&[], |known| known.efforts.as_slice()))
    }

    /// Tokens of a reply at most, with the room that its reasoning takes, and no more than the model can produce.
    pub(super) fn with_reasoning(&self, strain: Strain) -> u32 {
        let thinks_anyway = self.known.is_some_and(|known| match (known.thinking, known.vendor) {
            (Some(ThinkingForm::Always), _) => true,
            (Some(_), Vendor::OpenAi | Vendor::Anthropic) | (None, _) => false,
            (Some(_), Vendor::Deepseek | Vendor::Gemini | Vendor::Mistral | Vendor::Xai) => true,
        });
        let least = if thinks_anyway { Effort::Low.room() } else { 0 };
        let unsaid = if thinks_anyway { Effort::High.room() } else { 0 };
        let room = self.effort(strain).map_or(unsaid, |effort| effort.room().max(least));
        let most = self.known.map_or(u32::MAX, |known| u32::try_from(known.output).unwrap_or(u32::MAX));
        self.max_tokens.saturating_add(room).min(most)
    }
}

#[cfg(test)]
mod tests {
    use hob_config::known_model;

    use super::*;

    fn options(model: &str, effort: Option<Effort>) -> ReplyOptions {
        ReplyOptions { max_tokens: 16_384, effort, known: known_model(model), sees: false, tier: ServiceTier::Flex }
    }

    #[test]
    fn a_model_reasons_as_its_vendor_recommends_with_room_for_it() {
        for (model, word, cap) in [
            ("gpt-5.1", Some("medium"), 24_576),
            ("gpt-5.4-2026-03-05", Some("medium"), 24_576),
            ("gpt-5-pro", Some("high"), 24_576),
            ("claude-opus-4-8", Some("high"), 32_768),
            ("claude-sonnet-5-5", Some("high"), 32_768),
            ("gemini-4-argon", None, 32_768),
            ("grok-4.7", None, 32_768),
            ("gpt-4o", None, 16_384),
            ("gpt-4o-2024-05-13", None, 4_096),
            ("unknown", None, 16_384),
        ] {
            let options = options(model, None);
            assert_eq!((options.word(Strain::Usual), options.with_reasoning(Strain::Usual)), (word, cap), "{model}");
            assert_eq!(options.word(Strain::Hard), word, "{model}");
        }
    }

    #[test]
    fn auto_raises_the_effort_of_hard_work_by_one_step() {
        for (model, words, cap) in [
            ("gpt-6-sol", [Some("medium"), Some("high")], 32_768),
            ("claude-opus-5-5", [Some("high"), Some("max")], 49_152),
            ("gpt-4o", [None, None], 16_384),
            ("unknown", [None, None], 16_384),
        ] {
            let options = options(model, Some(Effort::Auto));
            assert_eq!([Strain::Usual, Strain::Hard].map(|strain| options.word(strain)), words, "{model}");
            assert_eq!(options.with_reasoning(Strain::Hard), cap, "{model}");
        }
    }

    #[test]
    fn the_slow_tier_is_for_models_that_are_known_to_have_it() {
        for (model, tier) in [
            ("gpt-6-sol", ServiceTier::Flex),
            ("gpt-5.1-codex", ServiceTier::Standard),
            ("gemini-4-argon", ServiceTier::Standard),
            ("claude-opus-5", ServiceTier::Standard),
            ("unknown", ServiceTier::Standard),
        ] {
            assert_eq!(options(model, None).tier(), tier, "{model}");
        }
    }

    #[test]
    fn the_settings_win_as_far_as_the_model_can() {
        for (model, effort, word, cap) in [
            ("gpt-6-sol", Effort::None, Some("none"), 16_384),
            ("claude-opus-5-5", Effort::None, Some("low"), 20_480),
            ("gpt-4.1", Effort::High, None, 32_768 / 2),
            ("unknown", Effort::Max, Some("high"), 49_152),
            ("unknown", Effort::None, None, 16_384),
        ] {
            let options = options(model, Some(effort));
            assert_eq!((options.word(Strain::Hard), options.with_reasoning(Strain::Hard)), (word, cap), "{model}");
        }
    }
}
