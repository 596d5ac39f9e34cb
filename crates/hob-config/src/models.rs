//! The section `[model]`: the default model, its address, prices and time limits.

use std::{collections::BTreeMap, path::PathBuf, str::FromStr, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, de::Error};

use crate::duration;

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
    /// How much a model thinks. `None` for its service's default.
    pub effort: Option<Effort>,
    /// Whether a model is shown the images of an issue.
    pub images: ImageUse,
    /// Tokens in one reply, not counting its thinking if `effort` is set.
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
    /// Prices by `anthropic/MODEL` or `openai/MODEL`. A dated snapshot has the price of its model.
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

/// How much a model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// As much as the model can.
    Max,
}

impl std::fmt::Display for Effort {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Max => "max",
        })
    }
}

impl Effort {
    /// Tokens of thinking that a reply has room for in addition to its words.
    pub fn room(self) -> u32 {
        match self {
            Self::Low => 4_096,
            Self::Medium => 8_192,
            Self::High => 16_384,
            Self::Max => 32_768,
        }
    }

    /// OpenAI's word for it. `xhigh` came after GPT-5.1 (OpenAI's "Reasoning models" guide, read 2026-11); earlier
    /// models get `high`.
    pub fn openai(self, model: &str) -> &'static str {
        let older = ["gpt-5.1-codex-max", "gpt-5.1", "gpt-5-", "o1", "o3", "o4"];
        let knows_xhigh = model.starts_with("gpt-")
            && model != "gpt-5"
            && older.iter().find(|name| model.starts_with(**name)).is_none_or(|name| *name == "gpt-5.1-codex-max");
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::Max if knows_xhigh => "xhigh",
            Self::High | Self::Max => "high",
        }
    }
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
    /// Whether the model of this name is shown images. Source: the vendors' lists of models, read 2026-11.
    pub fn sees(self, model: &str) -> bool {
        let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
        let families =
            ["claude-", "gpt-4o", "gpt-4.1", "gpt-5", "gpt-6", "o1", "o3", "o4-", "gemini-", "pixtral", "llava"];
        // The text-only models of these families.
        let blind = ["claude-2", "claude-instant", "o1-mini", "o1-preview", "o3-mini"];
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                let is_of = |names: &[&str]| names.iter().any(|start| name.starts_with(start));
                is_of(&families) && !is_of(&blind) || name.contains("-vl") || name.contains("vision")
            }
        }
    }
}

impl ModelSettings {
    /// The price of `model`: its own entry, or the longest one that it is a dated snapshot of.
    pub fn price(&self, model: &ModelName) -> Option<PriceSettings> {
        self.price_of(&model.to_string())
    }

    /// The same for a model by its name in the prices.
    pub fn price_of(&self, name: &str) -> Option<PriceSettings> {
        let snapshot_of = |key: &str| {
            let tail = name.strip_prefix(key).and_then(|rest| rest.strip_prefix('-'));
            tail.is_some_and(|tail| tail == "latest" || is_date(tail))
        };
        let known = self.prices.get(name).or_else(|| {
            let snapshots = self.prices.iter().filter(|(key, _)| snapshot_of(key));
            snapshots.max_by_key(|(key, _)| key.len()).map(|(_, price)| price)
        });
        known.copied()
    }
}

/// Whether a model's snapshot is named so: `20250807`, or `2025-08-07`. `4-1` is the version of another model.
fn is_date(text: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = text.split('-').collect();
    match parts.as_slice() {
        [date] => date.len() == 8 && digits(date),
        [year, month, day] => {
            [(year, 4), (month, 2), (day, 2)].iter().all(|(part, of)| part.len() == *of && digits(part))
        }
        _ => false,
    }
}

/// The price of a model, in US dollars for a million tokens.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceSettings {
    /// Tokens sent.
    #[serde(deserialize_with = "dollars")]
    pub input: f64,
    /// Tokens produced.
    #[serde(deserialize_with = "dollars")]
    pub output: f64,
    /// Tokens sent that the service had cached. `None` for the price of `input`.
    #[serde(default, deserialize_with = "some_dollars")]
    pub cached_input: Option<f64>,
    /// Tokens sent that the service put into its cache. `None` for the price of `input`.
    #[serde(default, deserialize_with = "some_dollars")]
    pub cache_write: Option<f64>,
}

/// A price below zero would let a budget grow.
fn dollars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    checked(f64::deserialize(deserializer)?)
}

fn some_dollars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    Option::deserialize(deserializer)?.map(checked).transpose()
}

fn checked<E: Error>(price: f64) -> Result<f64, E> {
    if price.is_finite() && price >= 0.0 { Ok(price) } else { Err(E::custom("a price is a number from 0 up")) }
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
    fn the_most_effort_is_what_the_model_knows() {
        for (model, word) in [
            ("gpt-5", "high"),
            ("gpt-5-mini", "high"),
            ("gpt-5.1", "high"),
            ("gpt-5.1-codex-max", "xhigh"),
            ("gpt-5.2", "xhigh"),
            ("o4-mini", "high"),
            ("qwen3-coder", "high"),
        ] {
            assert_eq!((Effort::Max.openai(model), Effort::Low.openai(model)), (word, "low"), "{model}");
        }
    }

    #[test]
    fn models_that_see_are_known_by_their_names() {
        for (model, sees) in [
            ("anthropic/claude-sonnet-4-5", true),
            ("anthropic/claude-2.1", false),
            ("openai/gpt-5-mini", true),
            ("openai/o3-mini", false),
            ("openai/qwen/qwen3-vl-8b", true),
            ("openai/qwen3-coder", false),
            ("cassette//tmp/claude", false),
        ] {
            assert_eq!(ImageUse::Auto.sees(model), sees, "{model}");
        }
        assert!(ImageUse::Always.sees("openai/x") && !ImageUse::Never.sees("openai/gpt-5"));
    }

    #[test]
    fn a_price_is_a_number_from_zero_up() {
        assert!(toml::from_str::<PriceSettings>("input = 0\noutput = 1.5").is_ok());
        for bad in [
            "input = -1\noutput = 1",
            "input = 1\noutput = nan",
            "input = 1\noutput = 1\ncached_input = -0.1",
            "input = 1",
        ] {
            assert!(toml::from_str::<PriceSettings>(bad).is_err(), "{bad}");
        }
    }

    /// Attack corpus K140.
    #[test]
    fn a_snapshot_has_the_price_of_its_model() {
        let mut settings = ModelSettings::default();
        for (name, input) in [("openai/gpt-5", 1.25), ("openai/gpt-5-mini", 0.25)] {
            settings.prices.insert(name.into(), PriceSettings { input, ..PriceSettings::default() });
        }
        for (name, input) in [
            ("gpt-5", Some(1.25)),
            ("gpt-5-2025-08-07", Some(1.25)),
            ("gpt-5-mini-2025-08-07", Some(0.25)),
            ("gpt-5-20250807", Some(1.25)),
            ("gpt-5-latest", Some(1.25)),
            ("gpt-5-1", None),
            ("gpt-5-4-1", None),
            ("gpt-5-2025-08", None),
            ("gpt-5-2025-08-07-1", None),
            ("gpt-5-", None),
            ("gpt-5-pro", None),
            ("gpt-50", None),
        ] {
            assert_eq!(settings.price(&ModelName::OpenAi(name.into())).map(|price| price.input), input, "{name}");
        }
    }
}
