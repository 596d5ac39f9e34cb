//! What is known of models: one dated table, made from public data by `scripts/models.py`.
//!
//! A model is found by its name alone, or as a dated snapshot of that name. A name that merely resembles another one is
//! unknown: `claude-opus-5-5` is not a `claude-opus-5`.

use std::{collections::BTreeMap, sync::LazyLock};

use chrono::NaiveDate;
use serde::Deserialize;

use crate::{PriceSettings, prices::LongPrices};

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let read: Result<Table, _> = serde_json::from_str(include_str!("models.json"));
    read.unwrap_or_default()
});

/// The prefixes of names by which services that pass requests on say whose model it is.
const PREFIXES: [&str; 16] = [
    "openai/",
    "anthropic/",
    "gemini/",
    "google/",
    "models/",
    "mistral/",
    "mistralai/",
    "deepseek/",
    "xai/",
    "x-ai/",
    "openrouter/",
    "azure/",
    "vertex_ai/",
    "bedrock/",
    // Bedrock's own names; those of a region have another price.
    "global.anthropic.",
    "anthropic.",
];
/// What services write behind a name for the same model at the same price: OpenRouter's variants and Bedrock's versions.
const SUFFIXES: [&str; 6] = [":thinking", ":beta", ":extended", ":exacto", "-v1:0", "-v2:0"];

/// Where the table is from.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSource {
    /// The package of the Python index.
    pub package: String,
    /// Its version.
    pub version: String,
    /// The file in it.
    pub file: String,
    /// Its licence.
    pub licence: String,
    /// When it was read.
    pub date: NaiveDate,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    source: ModelSource,
    /// By the beginnings of names.
    edits: BTreeMap<String, EditForm>,
    models: BTreeMap<String, KnownModel>,
}

/// The way of editing files that a family of models was trained on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditForm {
    /// Exact texts of a file are replaced.
    Replace,
    /// Patches of OpenAI's form, as a text.
    Patch,
    /// The same, which it also writes as the plain text of a custom tool, by a grammar.
    PatchText,
    /// The same, which the responses interface also has as a tool of its own.
    PatchTool,
}

/// Who makes a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Vendor {
    /// Anthropic.
    Anthropic,
    /// DeepSeek.
    Deepseek,
    /// Google.
    Gemini,
    /// Mistral.
    Mistral,
    /// OpenAI.
    #[serde(rename = "openai")]
    OpenAi,
    /// xAI.
    Xai,
}

/// How a model comes to think before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingForm {
    /// By a word, `effort`, of the interfaces compatible with OpenAI's.
    Effort,
    /// Within a budget of tokens.
    Budget,
    /// It decides itself, if it is asked to.
    Adaptive,
    /// It decides itself, unless it is asked not to.
    Unasked,
    /// In each reply: it cannot be asked not to.
    Always,
}

/// What is known of one model.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, from = "Row")]
pub struct KnownModel {
    /// Who makes it.
    pub vendor: Vendor,
    /// The tokens that it takes in.
    pub window: u64,
    /// The tokens that it produces at most, its thinking among them.
    pub output: u64,
    /// Whether it sees images.
    pub images: bool,
    /// How it thinks; `None` if it does not.
    pub thinking: Option<ThinkingForm>,
    /// The efforts that it knows, the least first; empty if that is not known.
    pub efforts: Vec<String>,
    /// What its tokens cost; `None` if that is not known.
    pub price: Option<PriceSettings>,
    /// Whether its vendor answers slower for half the price (`service_tier = "flex"`).
    pub flex: bool,
    /// The first day without it, if that was told.
    pub retires: Option<NaiveDate>,
    /// The vendor's suggestion for the time after that.
    pub successor: Option<String>,
}

impl KnownModel {
    /// Whether its service is asked for the slow tier.
    pub fn has_flex(&self) -> bool {
        self.flex && self.vendor == Vendor::OpenAi
    }
}

/// A model as the file has it: prices are in US dollars for a million tokens in, out, read from the cache and written to it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    vendor: Vendor,
    window: u64,
    output: u64,
    images: bool,
    thinking: Option<ThinkingForm>,
    #[serde(default)]
    efforts: Vec<String>,
    prices: Option<Vec<Option<f64>>>,
    above: Option<Above>,
    #[serde(default)]
    flex: bool,
    retires: Option<NaiveDate>,
    successor: Option<String>,
}

/// The prices of requests with more tokens than this.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Above {
    tokens: u64,
    prices: Vec<Option<f64>>,
}

impl From<Row> for KnownModel {
    fn from(row: Row) -> Self {
        let Row { vendor, window, output, images, thinking, efforts, prices, above, flex, retires, successor } = row;
        let long = above.and_then(|above| {
            let PriceSettings { input, output, cached_input, cache_write, .. } = price(&above.prices)?;
            Some(LongPrices { above: above.tokens, input, output, cached_input, cache_write })
        });
        let price = prices.and_then(|prices| price(&prices)).map(|price| PriceSettings { long, ..price });
        Self { vendor, window, output, images, thinking, efforts, price, flex, retires, successor }
    }
}

fn price(of: &[Option<f64>]) -> Option<PriceSettings> {
    let at = |place: usize| of.get(place).copied().flatten();
    let (cached_input, cache_write) = (at(2), at(3));
    Some(PriceSettings { input: at(0)?, output: at(1)?, cached_input, cache_write, long: None })
}

/// What is known of `name`, with or without a service before it; `None` if nothing is.
pub fn known_model(name: &str) -> Option<&'static KnownModel> {
    let (bare, models) = (bare(name), &TABLE.models);
    let find = |name: &str| models.get(name).or_else(|| models.get(undated(name)?));
    let plain = SUFFIXES.iter().find_map(|suffix| bare.strip_suffix(suffix)).unwrap_or(bare);
    // OpenRouter writes the versions of Claude with a dot.
    let dashed = || plain.starts_with("claude-").then(|| plain.replace('.', "-"));
    find(bare).or_else(|| find(plain)).or_else(|| find(&dashed()?))
}

/// How the family of `name` edits files, also of a model that is not known itself; `None` if the family is not.
pub fn edit_form(name: &str) -> Option<EditForm> {
    let bare = bare(name);
    let family = TABLE.edits.iter().filter(|(family, _)| bare.starts_with(family.as_str()));
    family.max_by_key(|(family, _)| family.len()).map(|(_, form)| *form)
}

/// A name without the services before it.
fn bare(name: &str) -> &str {
    let mut bare = name;
    while let Some(rest) = PREFIXES.iter().find_map(|prefix| bare.strip_prefix(prefix)) {
        bare = rest;
    }
    bare
}

/// All known models by their names.
pub fn known_models() -> impl Iterator<Item = (&'static str, &'static KnownModel)> {
    TABLE.models.iter().map(|(name, model)| (name.as_str(), model))
}

/// Where what is known is from.
pub fn model_source() -> &'static ModelSource {
    &TABLE.source
}

/// The model that a snapshot is of: `gpt-5` for `gpt-5-2025-08-07`, `gpt-5-20250807` and `gpt-5-latest`. `4-1` is the
/// version of another model.
pub(crate) fn undated(name: &str) -> Option<&str> {
    let digits = |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((model, last)) = name.rsplit_once('@') {
        // Vertex' form.
        return (last == "latest" || last == "default" || digits(last, 8)).then_some(model);
    }
    let (model, last) = name.rsplit_once('-')?;
    if last == "latest" || digits(last, 8) {
        return Some(model);
    }
    let (model, month) = model.rsplit_once('-')?;
    let (model, year) = model.rsplit_once('-')?;
    (digits(last, 2) && digits(month, 2) && digits(year, 4)).then_some(model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_whole() {
        let read: Table = serde_json::from_str(include_str!("models.json")).unwrap();
        assert!(read.models.len() > 100 && TABLE.models.len() == read.models.len());
        assert_eq!((read.source.package.as_str(), read.source.licence.as_str()), ("litellm", "MIT"));
        for (name, model) in &read.models {
            assert!(model.window >= 8_192 && model.output > 0, "{name}");
            let price = model.price.unwrap();
            assert!(price.input > 0.0 && price.output > 0.0, "{name}: a budget would not hold it");
        }
    }

    #[test]
    fn current_models_are_known_as_they_are() {
        for (name, window, output, thinking, input) in [
            ("openai/gpt-6-sol", 922_000, 128_000, Some(ThinkingForm::Effort), 2.0),
            ("openai/gpt-6.1-terra", 922_000, 128_000, Some(ThinkingForm::Effort), 1.0),
            ("openai/gpt-5.1", 272_000, 128_000, Some(ThinkingForm::Effort), 1.25),
            ("openai/gpt-5.4-2026-03-05", 922_000, 128_000, Some(ThinkingForm::Effort), 2.5),
            ("anthropic/claude-opus-5", 1_000_000, 128_000, Some(ThinkingForm::Unasked), 5.0),
            ("anthropic/claude-opus-5-5", 1_000_000, 128_000, Some(ThinkingForm::Always), 4.0),
            ("anthropic/claude-haiku-5-5", 1_000_000, 128_000, Some(ThinkingForm::Unasked), 0.1),
            ("anthropic/claude-opus-4-8", 1_000_000, 128_000, Some(ThinkingForm::Adaptive), 5.0),
            ("claude-haiku-4-5-20251001", 200_000, 64_000, Some(ThinkingForm::Budget), 1.0),
            ("openai/gemini/gemini-4-argon", 1_048_576, 1_048_576, Some(ThinkingForm::Effort), 2.0),
            ("openai/gpt-4.1-mini", 1_047_576, 32_768, None, 0.4),
        ] {
            let model = known_model(name).unwrap();
            let KnownModel { window: takes, output: gives, thinking: thinks, price, .. } = model;
            assert_eq!((*takes, *gives, *thinks), (window, output, thinking), "{name}");
            assert!((price.unwrap().input - input).abs() < 1e-9, "{name}");
        }
    }

    #[test]
    fn a_name_that_resembles_a_known_one_is_unknown() {
        for name in [
            "gpt-6.2",
            "gpt-6",
            "claude-opus-5-6",
            "claude-opus-5-5-5",
            "gpt-5-2025",
            "gpt-5-",
            "gpt-50",
            "",
            "openai/",
            "openrouter/anthropic/claude-opus-4.5:online",
            "openrouter/deepseek/deepseek-r1:free",
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "claude-opus-4.9",
            "gpt-5@x",
        ] {
            assert!(known_model(name).is_none(), "{name}");
        }
        // A snapshot with facts of its own.
        assert_eq!(known_model("gpt-4o-2024-05-13").unwrap().output, 4_096);
    }

    #[test]
    fn a_model_is_known_by_the_name_that_a_service_gives_it() {
        for (name, of) in [
            ("openai/openrouter/anthropic/claude-opus-4.5", "claude-opus-4-5"),
            ("openai/anthropic/claude-sonnet-4.5:thinking", "claude-sonnet-4-5"),
            ("openai/bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
            ("openai/global.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"),
            ("openai/vertex_ai/claude-opus-4-5@20251101", "claude-opus-4-5"),
            ("openai/azure/gpt-5.1-2025-11-13", "gpt-5.1"),
            ("openai/openrouter/x-ai/grok-4.5", "grok-4.5"),
        ] {
            assert!(std::ptr::eq(known_model(name).unwrap(), known_model(of).unwrap()), "{name}");
        }
    }

    #[test]
    fn a_family_edits_in_its_own_way() {
        for (name, form) in [
            ("anthropic/claude-sonnet-5-5", Some(EditForm::Replace)),
            ("openai/openrouter/anthropic/claude-opus-4.5", Some(EditForm::Replace)),
            ("openai/anthropic/claude-of-tomorrow", Some(EditForm::Replace)),
            ("openai/gpt-5-mini", Some(EditForm::PatchText)),
            ("openai/codex-mini-latest", Some(EditForm::Patch)),
            ("openai/gpt-5.2-codex", Some(EditForm::PatchTool)),
            ("openai/gpt-6-sol", Some(EditForm::PatchTool)),
            ("openai/gpt-6.9", Some(EditForm::PatchTool)),
            ("openai/gpt-4o", None),
            ("openai/qwen3-coder", None),
        ] {
            assert_eq!(edit_form(name), form, "{name}");
        }
    }

    #[test]
    fn only_a_date_makes_a_snapshot() {
        for (name, of) in [
            ("gpt-5-2025-08-07", Some("gpt-5")),
            ("gpt-5-20250807", Some("gpt-5")),
            ("gpt-5-latest", Some("gpt-5")),
            ("gpt-5-1", None),
            ("claude-opus-4-1", None),
            ("gpt-5-2025-08", None),
            ("2025-08-07", None),
        ] {
            assert_eq!(undated(name), of, "{name}");
        }
    }
}
