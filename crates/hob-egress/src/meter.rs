//! The usage of models in a run, and the end of its budget.

use std::{collections::BTreeMap, fmt, sync::Arc};

use hob_config::PriceSettings;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Models that are counted by name; the rest are counted together, so that names cannot fill the memory.
const MODELS_MAX: usize = 100;
/// The name of the rest.
const OTHERS: &str = "others";

/// Tokens of one request, or of many.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// Tokens sent, all of them.
    pub input: u64,
    /// The tokens of `input` that the service had cached.
    pub cached_input: u64,
    /// The tokens of `input` that the service put into its cache.
    pub cache_write: u64,
    /// Tokens produced.
    pub output: u64,
}

impl Usage {
    /// The cost of these tokens, in millionths of a US dollar, rounded up. A price in dollars per million tokens is
    /// also one in millionths of a dollar per token.
    pub fn cost(&self, price: &PriceSettings) -> u64 {
        let plain = self.input.saturating_sub(self.cached_input).saturating_sub(self.cache_write);
        let micros = plain as f64 * price.input
            + self.cached_input as f64 * price.cached_input.unwrap_or(price.input)
            + self.cache_write as f64 * price.cache_write.unwrap_or(price.input)
            + self.output as f64 * price.output;
        // `as` saturates. The settings refuse prices below zero.
        micros.ceil() as u64
    }

    /// The larger of each count.
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            cached_input: self.cached_input.max(other.cached_input),
            cache_write: self.cache_write.max(other.cache_write),
            output: self.output.max(other.output),
        }
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.cached_input = self.cached_input.saturating_add(other.cached_input);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.output = self.output.saturating_add(other.output);
    }
}

/// The usage of one model.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct ModelUsage {
    /// Its tokens.
    pub usage: Usage,
    /// Its requests.
    pub requests: u64,
    /// The number of its requests whose tokens were estimated from bytes, because the service did not report them.
    pub estimated: u64,
}

/// The usage of a run.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Metered {
    /// The usage of each `ROUTE/MODEL`.
    pub models: BTreeMap<String, ModelUsage>,
    /// The cost, in millionths of a US dollar; 0 without a budget, which holds the prices.
    pub usd_micros: u64,
}

type PriceOf = dyn Fn(&str) -> Option<PriceSettings> + Send + Sync;

/// The limit on a run's spend, with the prices.
#[derive(Clone)]
pub struct Budget {
    usd_micros: u64,
    price: Arc<PriceOf>,
}

impl Budget {
    /// `usd_micros` millionths of a US dollar, at the prices that `price` gives for `ROUTE/MODEL`.
    pub fn new(usd_micros: u64, price: impl Fn(&str) -> Option<PriceSettings> + Send + Sync + 'static) -> Self {
        Self { usd_micros, price: Arc::new(price) }
    }
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Budget").field("usd_micros", &self.usd_micros).finish_non_exhaustive()
    }
}

/// Counts what a run uses. Its copies share one count.
#[derive(Debug, Clone)]
pub struct Meter {
    counts: Arc<watch::Sender<Metered>>,
    budget: Option<Budget>,
    exhausted: CancellationToken,
}

/// Why a model may not be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Exhausted,
    NoPrice,
}

/// Whether tokens were estimated from bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Estimated {
    Yes,
    No,
}

impl Meter {
    pub(crate) fn new(budget: Option<Budget>) -> Self {
        let exhausted = CancellationToken::new();
        if budget.as_ref().is_some_and(|budget| budget.usd_micros == 0) {
            exhausted.cancel();
        }
        Self { counts: Arc::new(watch::Sender::default()), budget, exhausted }
    }

    /// The usage so far.
    pub fn read(&self) -> Metered {
        self.counts.borrow().clone()
    }

    /// A receiver that sees each change.
    pub fn watch(&self) -> watch::Receiver<Metered> {
        self.counts.subscribe()
    }

    /// A token that is cancelled once the budget is used up. The caller then ends the run.
    pub fn exhausted(&self) -> CancellationToken {
        self.exhausted.clone()
    }

    /// Checks that `model` may be asked.
    pub(crate) fn may_ask(&self, model: &str) -> Result<(), Stop> {
        let Some(budget) = &self.budget else { return Ok(()) };
        match (budget.price)(model) {
            _ if self.exhausted.is_cancelled() => Err(Stop::Exhausted),
            Some(_) => Ok(()),
            None => Err(Stop::NoPrice),
        }
    }

    /// Adds one request of `model`.
    pub(crate) fn add(&self, model: &str, usage: Usage, is_estimated: Estimated) {
        let price = self.budget.as_ref().and_then(|budget| (budget.price)(model));
        self.counts.send_modify(|counts| {
            let known = counts.models.contains_key(model) || counts.models.len() < MODELS_MAX;
            let counted = counts.models.entry(if known { model } else { OTHERS }.to_owned()).or_default();
            counted.usage += usage;
            counted.requests += 1;
            counted.estimated += u64::from(is_estimated == Estimated::Yes);
            counts.usd_micros = counts.usd_micros.saturating_add(price.map_or(0, |price| usage.cost(&price)));
        });
        if self.budget.as_ref().is_some_and(|budget| self.counts.borrow().usd_micros >= budget.usd_micros) {
            self.exhausted.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cached_token_costs_its_own_price() {
        let price = PriceSettings { input: 3.0, output: 15.0, cached_input: Some(0.3), cache_write: Some(3.75) };
        let usage = Usage { input: 1_000, cached_input: 600, cache_write: 100, output: 10 };
        assert_eq!(usage.cost(&price), 900 + 180 + 375 + 150);
        assert_eq!(usage.cost(&PriceSettings { cached_input: None, cache_write: None, ..price }), 3_150);
    }
}
