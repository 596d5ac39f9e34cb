//! The cost of a run's models, by the counts of its egress.

use std::sync::Arc;

use hob_config::{ModelSettings, PriceSettings};
use hob_domain::Spend;
use hob_egress::{Metered, Route, Usage};

use crate::model::is_loopback;

/// The prices of models by `ROUTE/MODEL`.
#[derive(Debug, Clone)]
pub(crate) struct Prices {
    settings: Arc<ModelSettings>,
    /// Routes to this machine, where a model without a price is free.
    here: Vec<String>,
}

impl Prices {
    /// The prices of the settings, for models behind `routes`.
    pub(crate) fn new<'a>(settings: Arc<ModelSettings>, routes: impl Iterator<Item = &'a Route>) -> Self {
        let here = routes.filter(|route| is_loopback(&route.upstream));
        Self { settings, here: here.map(|route| format!("{}/", route.name)).collect() }
    }

    /// The price of a model; `None` if it is unknown.
    pub(crate) fn get(&self, model: &str) -> Option<PriceSettings> {
        let free = || self.here.iter().any(|route| model.starts_with(route)).then(PriceSettings::default);
        self.settings.price_of(model).or_else(free)
    }

    /// The price in a budget: where `tokens` are limited, a model without one counts as free.
    pub(crate) fn in_budget(&self, model: &str, tokens: Option<u64>) -> Option<PriceSettings> {
        self.get(model).or_else(|| tokens.map(|_limit| PriceSettings::default()))
    }
}

/// The measured cost of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Measured {
    /// Money; `None` if a model has no price.
    pub(crate) usd_micros: Option<u64>,
    /// Tokens.
    pub(crate) usage: Usage,
}

impl Measured {
    /// The cost as spend; `told` is the cost by the program's own report.
    pub(crate) fn spend(self, told: Option<u64>) -> Spend {
        Spend {
            usd_micros: self.usd_micros.or(told).unwrap_or(0),
            input_tokens: self.usage.input,
            output_tokens: self.usage.output,
            wall_seconds: 0,
        }
    }
}

/// The counts of a run's meter; `None` if it counted nothing.
pub(crate) fn measured(counts: &Metered, prices: &Prices) -> Option<Measured> {
    let mut sum = Measured { usd_micros: Some(0), usage: Usage::default() };
    for (model, used) in &counts.models {
        let cost = prices.get(model).map(|_price| used.usd_micros);
        sum.usd_micros = sum.usd_micros.zip(cost).map(|(sum, cost)| sum.saturating_add(cost));
        sum.usage += used.usage;
    }
    (!counts.models.is_empty()).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_without_a_price_is_free_only_where_tokens_are_limited() {
        let prices = Prices { settings: Arc::default(), here: vec!["local/".to_owned()] };
        for (model, tokens, is_priced) in [
            ("openai/gpt-6-sol", None, true),
            ("openai/new", None, false),
            ("openai/new", Some(1_000), true),
            ("local/new", None, true),
        ] {
            assert_eq!(prices.in_budget(model, tokens).is_some(), is_priced, "{model} {tokens:?}");
        }
        assert!(prices.in_budget("openai/gpt-6-sol", Some(1_000)).unwrap().input > 0.0);
    }
}
