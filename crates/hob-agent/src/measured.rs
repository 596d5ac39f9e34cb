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
