//! `hob models`: what is known of each model, and where that is from.

use std::collections::BTreeMap;

use hob_config::{KnownModel, PriceSettings, Settings, ThinkingForm, Vendor, known_model, known_models, model_source};
use serde_json::{Value, json};

use crate::cli::{
    about_args::ModelsArgs,
    args::Shared,
    json,
    layout::{self, Table},
    output,
    setup::Setup,
};

/// A model as Hob uses it.
struct Row {
    name: String,
    is_configured: bool,
    known: Option<&'static KnownModel>,
    /// The window that an agent's settings give it.
    context_tokens: Option<u64>,
    /// The price of the settings.
    own_price: Option<PriceSettings>,
}

impl Row {
    fn new(name: String, settings: &Settings) -> Self {
        let (known, own_price) = (known_model(&name), settings.model.own_price(&name));
        Self { name, is_configured: false, known, context_tokens: None, own_price }
    }

    fn price(&self) -> Option<PriceSettings> {
        self.own_price.or_else(|| self.known?.price)
    }

    fn window(&self) -> Option<u64> {
        self.context_tokens.or_else(|| Some(self.known?.window))
    }

    /// Where its facts are from.
    fn source(&self) -> String {
        let settings = self.own_price.is_some() || self.context_tokens.is_some();
        match (self.known.is_some(), settings) {
            (true, false) => model_source().date.to_string(),
            (true, true) => format!("settings, {}", model_source().date),
            (false, true) => "settings".to_owned(),
            (false, false) => "unknown".to_owned(),
        }
    }

    fn json(&self) -> Value {
        let price = self.price();
        let long = price.and_then(|price| price.long).map(|long| {
            json!({
                "above": long.above, "input": long.input, "output": long.output,
                "cached_input": long.cached_input, "cache_write": long.cache_write,
            })
        });
        json!({
            "name": self.name,
            "is_configured": self.is_configured,
            "window": self.window(),
            "output": self.known.map(|known| known.output),
            "images": self.known.map(|known| known.images),
            "thinking": self.known.and_then(|known| known.thinking).map(word),
            "efforts": self.known.map_or(&[] as &[String], |known| &known.efforts),
            "price": price,
            "long_price": long,
            "flex": self.known.map(|known| known.flex),
            "retires": self.known.and_then(|known| known.retires),
            "successor": self.known.and_then(|known| known.successor.as_ref()),
            "source": self.source(),
        })
    }

    fn cells(&self) -> Vec<String> {
        let or_none = |cell: Option<String>| cell.unwrap_or_else(|| "-".to_owned());
        let price = self.price().map(|price| {
            let long =
                price.long.map(|long| format!("; above {}: {} {}", thousands(long.above), long.input, long.output));
            format!("{} {}{}", price.input, price.output, long.unwrap_or_default())
        });
        vec![
            self.name.clone(),
            or_none(self.window().map(thousands)),
            or_none(self.known.map(|known| thousands(known.output))),
            or_none(self.known.and_then(efforts)),
            or_none(self.known.map(|known| if known.images { "yes" } else { "no" }.to_owned())),
            or_none(price),
            or_none(self.known.and_then(|known| known.retires).map(|date| date.to_string())),
            self.source(),
        ]
    }
}

pub(super) fn models(setup: &Setup, shared: &Shared, args: &ModelsArgs) -> anyhow::Result<()> {
    let rows = named(rows(&setup.settings), args.name.as_deref(), &setup.settings);
    let source = model_source();
    if shared.json {
        return json::result(&json!({
            "package": source.package,
            "package_version": source.version,
            "licence": source.licence,
            "date": source.date,
            "models": rows.iter().map(Row::json).collect::<Vec<_>>(),
        }));
    }
    let heads = ["MODEL", "WINDOW", "OUTPUT", "EFFORT", "IMAGES", "USD PER MILLION, IN OUT", "RETIRES", "FROM"];
    let mut table = Table::new(&heads[..5], &heads[5..]);
    rows.iter().for_each(|row| table.row(row.cells()));
    table.print()?;
    output::line("")?;
    let text = format!(
        "Known are the models of {} {}, read on {}. Settings win: `[model.prices.\"NAME\"]`, and `context_tokens` of an agent. Any other \
         model works, too, and a run of one without a price is limited by `budget.tokens`.",
        source.package, source.version, source.date
    );
    Ok(layout::paragraph(&text)?)
}

/// The rows whose names hold this text; if none does, that of the model that has it as its name, such as a dated snapshot.
fn named(mut rows: Vec<Row>, text: Option<&str>, settings: &Settings) -> Vec<Row> {
    let Some(text) = text else { return rows };
    rows.retain(|row| row.name.contains(text));
    if rows.is_empty() { vec![Row::new(text.to_owned(), settings)] } else { rows }
}

/// The configured models in the order of their names, then the known ones.
fn rows(settings: &Settings) -> Vec<Row> {
    let mut configured: BTreeMap<String, Row> = BTreeMap::new();
    let shared = &settings.model;
    let of_all = shared.default.iter().chain(&shared.fallback).chain(&settings.profiles.models);
    let names = of_all.chain([&settings.routing.model]).chain(shared.prices.keys()).map(|name| (name, None));
    let of_agents = settings.agents.values().flat_map(|agent| {
        let model = agent.model.iter().map(move |name| (name, agent.context_tokens));
        model.chain(agent.fallback.iter().map(|name| (name, None)))
    });
    for (name, context_tokens) in names.chain(of_agents).filter(|(name, _)| !name.is_empty()) {
        let row = configured.entry(name.clone()).or_insert_with(|| Row::new(name.clone(), settings));
        row.is_configured = true;
        row.context_tokens = row.context_tokens.or(context_tokens);
    }
    let known = known_models().map(|(name, known)| format!("{}/{name}", vendor(known.vendor)));
    let known: Vec<Row> =
        known.filter(|name| !configured.contains_key(name)).map(|name| Row::new(name, settings)).collect();
    configured.into_values().chain(known).collect()
}

/// The efforts that a model knows, from the least to the most.
fn efforts(known: &KnownModel) -> Option<String> {
    let range = match (known.efforts.first(), known.efforts.last()) {
        (Some(least), Some(most)) if least != most => format!("{least} to {most}"),
        (Some(only), _) => only.clone(),
        (None, _) => return known.thinking.map(|form| word(form).to_owned()),
    };
    Some(if known.thinking == Some(ThinkingForm::Always) { format!("{range}, always") } else { range })
}

fn thousands(tokens: u64) -> String {
    if tokens >= 1_000 { format!("{}k", tokens / 1_000) } else { tokens.to_string() }
}

fn word(form: ThinkingForm) -> &'static str {
    match form {
        ThinkingForm::Effort => "effort",
        ThinkingForm::Budget => "budget",
        ThinkingForm::Adaptive => "adaptive",
        ThinkingForm::Unasked => "unasked",
        ThinkingForm::Always => "always",
    }
}

fn vendor(vendor: Vendor) -> &'static str {
    match vendor {
        Vendor::Anthropic => "anthropic",
        Vendor::Deepseek => "deepseek",
        Vendor::Gemini => "gemini",
        Vendor::Mistral => "mistral",
        Vendor::OpenAi => "openai",
        Vendor::Xai => "xai",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configured_models_come_first_and_settings_win() {
        let mut settings = Settings::load(None, [].into(), &[]).unwrap();
        settings.model.default = Some("openai/gpt-5.1".to_owned());
        let price = PriceSettings { input: 1.0, output: 2.0, ..PriceSettings::default() };
        settings.model.prices.insert("openai/mine".to_owned(), price);
        let rows = rows(&settings);
        let first: Vec<Vec<String>> = rows.iter().take(2).map(Row::cells).collect();
        let date = model_source().date.to_string();
        assert_eq!(first[0], ["openai/gpt-5.1", "272k", "128k", "none to high", "yes", "1.25 10", "2027-04-01", &date]);
        assert_eq!(first[1], ["openai/mine", "-", "-", "-", "-", "1 2", "-", "settings"]);
        assert_eq!(rows.iter().filter(|row| row.name == "openai/gpt-5.1").count(), 1);
        let long = rows.iter().find(|row| row.name == "openai/gpt-6-sol").unwrap();
        assert_eq!(long.cells()[5], "2 10; above 272k: 4 15");
        assert_eq!(long.json()["long_price"]["above"], 272_000);
        let named = |text: &str| -> Vec<Vec<String>> {
            named(super::rows(&settings), Some(text), &settings).iter().map(Row::cells).collect()
        };
        assert_eq!(
            named("gpt-6.1").iter().map(|row| &*row[0]).collect::<Vec<_>>(),
            ["openai/gpt-6.1-sol", "openai/gpt-6.1-terra"]
        );
        assert_eq!(named("openai/gpt-5.1-2025-11-13")[0][1..3], ["272k", "128k"]);
        assert_eq!(named("openai/gpt-99"), [["openai/gpt-99", "-", "-", "-", "-", "-", "-", "unknown"]]);
        let always = rows.iter().find(|row| row.name == "anthropic/claude-opus-5-5").unwrap();
        assert_eq!(always.cells()[3], "low to max, always");
    }
}
