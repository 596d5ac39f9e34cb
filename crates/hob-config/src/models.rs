//! The section `[model]`: the default model, its address, prices and time limits.

use std::{collections::BTreeMap, path::PathBuf, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    Effort, PriceSettings, duration,
    known_models::{known_model, undated},
};

/// Settings of the models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    /// The model of agents that name none: `anthropic/MODEL`, `openai/MODEL` or `cassette/PATH`.
    pub default: Option<String>,
    /// The fallback models, in order. An agent with a `model` of its own uses its own list.
    pub fallback: Vec<String>,
    /// The address of the OpenAI-compatible interface, with its version: `http://127.0.0.1:11434/v1`. `OPENAI_BASE_URL`
    /// wins.
    pub openai_base_url: Option<String>,
    /// The address of Anthropic's interface, without its version. `ANTHROPIC_BASE_URL` wins.
    pub anthropic_base_url: Option<String>,
    /// The interface for `openai/MODEL`. `None` for responses at OpenAI's own address, and chat completions elsewhere.
    pub openai_interface: Option<OpenAiInterface>,
    /// How much a model thinks. `None` for what its vendor recommends.
    pub effort: Option<Effort>,
    /// Whether a model is shown the images of an issue.
    pub images: ImageUse,
    /// Tokens in one reply, not counting its thinking.
    pub max_output_tokens: u32,
    /// Deadline of a connection attempt.
    #[serde(with = "duration")]
    pub connect_timeout: Duration,
    /// How long a request may be silent: before the answer begins, and between two pieces of a stream.
    #[serde(with = "duration")]
    pub idle_timeout: Duration,
    /// How often a request is sent again after a transient failure.
    pub retries: u32,
    /// The longest pause before the first retry; it doubles for each further one, with full jitter. `0s` retries at
    /// once.
    #[serde(with = "duration")]
    pub backoff: Duration,
    /// The longest wait before a retry; if the service asks for more, the run is handed back instead.
    #[serde(with = "duration")]
    pub backoff_max: Duration,
    /// Prices by `anthropic/MODEL` or `openai/MODEL`, instead of the known ones. A dated snapshot has the price of its model.
    pub prices: BTreeMap<String, PriceSettings>,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            default: None,
            fallback: Vec::new(),
            openai_base_url: None,
            anthropic_base_url: None,
            openai_interface: None,
            effort: None,
            images: ImageUse::Auto,
            max_output_tokens: 16_384,
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(180),
            retries: 4,
            backoff: Duration::from_secs(1),
            backoff_max: Duration::from_secs(60),
            prices: BTreeMap::new(),
        }
    }
}

/// An interface of OpenAI's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpenAiInterface {
    /// Responses: keeps the reasoning of earlier turns.
    Responses,
    /// Chat completions, which many servers support.
    Chat,
}

/// Whether models are shown the images of an issue.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageUse {
    /// Models that are known to accept images.
    #[default]
    Auto,
    /// All.
    Always,
    /// None.
    Never,
}

impl ImageUse {
    /// Whether the model of this name is shown images. Open models that see often say so in their names.
    pub fn sees(self, model: &str) -> bool {
        let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => match known_model(model) {
                Some(known) => known.images,
                None => ["-vl", "vision", "llava", "pixtral"].iter().any(|sign| name.contains(sign)),
            },
        }
    }
}

impl ModelSettings {
    /// The price of `model`: that of the settings for it or for what it is a dated snapshot of, otherwise the known one.
    pub fn price(&self, model: &ModelName) -> Option<PriceSettings> {
        self.price_of(&model.to_string())
    }

    /// The same for a model by its name in the prices.
    pub fn price_of(&self, name: &str) -> Option<PriceSettings> {
        self.own_price(name).or_else(|| known_model(name)?.price)
    }

    /// The price that the settings have.
    pub fn own_price(&self, name: &str) -> Option<PriceSettings> {
        self.prices.get(name).or_else(|| self.prices.get(undated(name)?)).copied()
    }
}

/// A model's name, including the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelName {
    /// `anthropic/MODEL`: Anthropic's messages interface.
    Anthropic(String),
    /// `openai/MODEL`: any OpenAI-compatible chat completions interface.
    OpenAi(String),
    /// `cassette/PATH`: recorded replies in a file.
    Cassette(PathBuf),
}

/// A text that is not a model's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` does not name a model: write `anthropic/MODEL`, `openai/MODEL` or `cassette/PATH`")]
pub struct InvalidModelName(String);

impl FromStr for ModelName {
    type Err = InvalidModelName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('/') {
            Some(("anthropic", model)) if !model.is_empty() => Ok(Self::Anthropic(model.to_owned())),
            Some(("openai", model)) if !model.is_empty() => Ok(Self::OpenAi(model.to_owned())),
            Some(("cassette", path)) if !path.is_empty() => Ok(Self::Cassette(path.into())),
            Some(_) | None => Err(InvalidModelName(text.to_owned())),
        }
    }
}

impl std::fmt::Display for ModelName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Anthropic(model) => write!(f, "anthropic/{model}"),
            Self::OpenAi(model) => write!(f, "openai/{model}"),
            Self::Cassette(path) => write!(f, "cassette/{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_names_where_it_is_served() {
        for name in ["anthropic/claude-sonnet-4-5", "openai/org/model", "cassette//tmp/a.json"] {
            assert_eq!(name.parse::<ModelName>().unwrap().to_string(), name);
        }
        assert_eq!("cassette//tmp/a.json".parse(), Ok(ModelName::Cassette("/tmp/a.json".into())));
        for bad in ["", "gpt-4.1", "openai/", "azure/x"] {
            assert!(bad.parse::<ModelName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn models_that_see_are_known_or_say_so() {
        for (model, sees) in [
            ("anthropic/claude-sonnet-4-5", true),
            ("anthropic/claude-2.1", false),
            ("openai/gpt-5-mini", true),
            ("openai/gpt-6-sol", true),
            ("openai/gpt-6.2", false),
            ("openai/o3-mini", false),
            ("openai/qwen/qwen3-vl-8b", true),
            ("openai/qwen3-coder", false),
            ("cassette//tmp/claude", false),
        ] {
            assert_eq!(ImageUse::Auto.sees(model), sees, "{model}");
        }
        assert!(ImageUse::Always.sees("openai/x") && !ImageUse::Never.sees("openai/gpt-5"));
    }

    /// Attack corpus K140.
    #[test]
    fn a_snapshot_has_the_price_of_its_model() {
        let mut settings = ModelSettings::default();
        for (name, input) in [("openai/gpt-5", 7.25), ("openai/my", 0.25)] {
            settings.prices.insert(name.into(), PriceSettings { input, ..PriceSettings::default() });
        }
        for (name, input) in [
            ("gpt-5", Some(7.25)),
            ("gpt-5-2025-08-07", Some(7.25)),
            ("gpt-5-20250807", Some(7.25)),
            ("gpt-5-latest", Some(7.25)),
            ("my-2025-08-07", Some(0.25)),
            // The known ones.
            ("gpt-5-mini", Some(0.25)),
            ("gpt-5-mini-2025-08-07", Some(0.25)),
            ("gpt-5-pro", Some(15.0)),
            ("gpt-5-1", None),
            ("gpt-5-4-1", None),
            ("gpt-5-2025-08", None),
            ("gpt-5-2025-08-07-1", None),
            ("gpt-5-", None),
            ("gpt-50", None),
            ("my-2", None),
        ] {
            assert_eq!(settings.price(&ModelName::OpenAi(name.into())).map(|price| price.input), input, "{name}");
        }
    }
}
