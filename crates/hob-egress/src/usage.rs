//! The tokens of requests and their cost.

use hob_config::PriceSettings;
use serde::{Deserialize, Serialize};

// The factors are those of the table in hob-config: `scripts/models.py` fails where it has others.

/// The price of a token that is cached for an hour, in prices of a token sent.
const HOUR_BY_INPUT: f64 = 2.0;
/// The same in prices of a token that is cached for five minutes, which is 1.25 times that of a token sent.
const HOUR_BY_WRITE: f64 = 1.6;
/// The factor of the tier `priority`: the highest one of that table, where OpenAI's are 1.67 to 2.5 and Gemini's 1.8.
const PRIORITY: f64 = 2.5;
/// That of Anthropic's speed `fast`, 2 in that table, and of tiers of that kind that it does not have: a bound.
const FAST: f64 = 6.0;
/// That of `flex` in that table.
const FLEX: f64 = 0.5;

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
    /// The cost of these tokens, of requests of ordinary length and tier, in millionths of a US dollar, rounded up. A price in
    /// dollars per million tokens is also one in millionths of a dollar per token.
    pub fn cost(&self, price: &PriceSettings) -> u64 {
        Bill::from(*self).cost(&price.of_short())
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

/// How fast a service is paid to answer.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum ServiceTier {
    /// At the ordinary prices.
    #[default]
    Standard,
    /// Faster, for more.
    Priority,
    /// The fastest, for the most.
    Fast,
    /// Slower, for less.
    Flex,
}

impl ServiceTier {
    /// The tier, or speed, of this name; other names have the ordinary prices.
    pub fn named(name: &str) -> Self {
        match name {
            "priority" => Self::Priority,
            "fast" | "ultrafast" => Self::Fast,
            "flex" => Self::Flex,
            _ => Self::Standard,
        }
    }

    fn factor(self) -> f64 {
        match self {
            Self::Standard => 1.0,
            Self::Priority => PRIORITY,
            Self::Fast => FAST,
            Self::Flex => FLEX,
        }
    }
}

/// What a service bills for one request.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Bill {
    /// The tokens.
    pub usage: Usage,
    /// The tokens of `usage.cache_write` that are cached for an hour.
    pub hour_write: u64,
    /// The tier that answered.
    pub tier: ServiceTier,
    /// Searches, in millionths of a US dollar.
    pub searches_micros: u64,
}

impl From<Usage> for Bill {
    fn from(usage: Usage) -> Self {
        Self { usage, ..Self::default() }
    }
}

impl Bill {
    /// The cost, in millionths of a US dollar, rounded up. A long request has the prices of long ones.
    pub fn cost(&self, price: &PriceSettings) -> u64 {
        let Usage { input, cached_input, cache_write, output } = self.usage;
        let price = &price.of_request(input);
        let plain = input.saturating_sub(cached_input).saturating_sub(cache_write);
        let hour = self.hour_write.min(cache_write);
        let micros = plain as f64 * price.input
            + cached_input as f64 * price.cached_input.unwrap_or(price.input)
            + (cache_write - hour) as f64 * price.cache_write.unwrap_or(price.input)
            + hour as f64 * hour_price(price)
            + output as f64 * price.output;
        micros_of(micros, self.tier).saturating_add(self.searches_micros)
    }

    /// The larger of each part: reports of one answer count everything so far.
    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            usage: self.usage.max(other.usage),
            hour_write: self.hour_write.max(other.hour_write),
            tier: if other.tier == ServiceTier::Standard { self.tier } else { other.tier },
            searches_micros: self.searches_micros.max(other.searches_micros),
        }
    }
}

/// The most that one request can use.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Most {
    /// Tokens sent.
    pub input: u64,
    /// Tokens produced, reasoning included.
    pub output: u64,
    /// Whether it caches tokens for an hour.
    pub hour: bool,
    /// The tier that it asks for.
    pub tier: ServiceTier,
    /// Searches, in millionths of a US dollar.
    pub searches_micros: u64,
}

impl Most {
    /// The most that it can cost, in millionths of a US dollar: every token sent at the highest price that it can have.
    pub fn cost(&self, price: &PriceSettings) -> u64 {
        // It may be shorter than its most.
        [price.of_short(), price.of_request(self.input)].iter().map(|price| self.cost_at(price)).fold(0, u64::max)
    }

    fn cost_at(&self, price: &PriceSettings) -> u64 {
        let hour = if self.hour { hour_price(price) } else { 0.0 };
        let each = [price.cached_input, price.cache_write].into_iter().flatten().fold(price.input.max(hour), f64::max);
        let micros = self.input as f64 * each + self.output as f64 * price.output;
        // A service may answer in the ordinary tier instead of a cheaper one.
        let tier = if self.tier == ServiceTier::Flex { ServiceTier::Standard } else { self.tier };
        micros_of(micros, tier).saturating_add(self.searches_micros)
    }

    /// Its tokens.
    pub(crate) fn usage(&self) -> Usage {
        Usage { input: self.input, output: self.output, ..Usage::default() }
    }
}

fn hour_price(price: &PriceSettings) -> f64 {
    (price.input * HOUR_BY_INPUT).max(price.cache_write.unwrap_or(0.0) * HOUR_BY_WRITE)
}

/// `as` saturates. The settings refuse prices below zero.
fn micros_of(micros: f64, tier: ServiceTier) -> u64 {
    (micros * tier.factor()).ceil() as u64
}

#[cfg(test)]
mod tests {
    use hob_config::LongPrices;

    use super::*;

    const PRICE: PriceSettings =
        PriceSettings { input: 3.0, output: 15.0, cached_input: Some(0.3), cache_write: Some(3.75), long: None };

    #[test]
    fn a_cached_token_costs_its_own_price() {
        let usage = Usage { input: 1_000, cached_input: 600, cache_write: 100, output: 10 };
        assert_eq!(usage.cost(&PRICE), 900 + 180 + 375 + 150);
        assert_eq!(usage.cost(&PriceSettings { cached_input: None, cache_write: None, ..PRICE }), 3_150);
    }

    /// Attack corpus K140.
    #[test]
    fn searches_tiers_and_an_hour_in_the_cache_have_their_prices() {
        let usage = Usage { input: 1_000, cached_input: 0, cache_write: 1_000, output: 0 };
        let bill = Bill { hour_write: 1_000, ..usage.into() };
        assert_eq!((Bill::from(usage).cost(&PRICE), bill.cost(&PRICE)), (3_750, 6_000));
        assert_eq!(bill.cost(&PriceSettings { cache_write: None, ..PRICE }), 6_000);
        for (tier, cost) in [("priority", 15_000), ("flex", 3_000), ("fast", 36_000), ("default", 6_000)] {
            assert_eq!(Bill { tier: ServiceTier::named(tier), ..bill }.cost(&PRICE), cost, "{tier}");
        }
        assert_eq!(Bill { searches_micros: 10_000, ..Bill::default() }.cost(&PRICE), 10_000);
    }

    #[test]
    fn a_long_request_has_its_own_prices_for_all_its_tokens() {
        let long = LongPrices { above: 999, input: 6.0, output: 22.5, cached_input: None, cache_write: None };
        let price = PriceSettings { long: Some(long), ..PRICE };
        let bill = |input| Bill::from(Usage { input, output: 10, ..Usage::default() });
        assert_eq!((bill(999).cost(&price), bill(1_000).cost(&price)), (2_997 + 150, 6_000 + 225));
        assert_eq!(bill(1_000).usage.cost(&price), 3_150, "many short ones");
        let most = |input| Most { input, output: 10, ..Most::default() }.cost(&price);
        assert_eq!((most(999), most(1_000)), (3_897, 6_225));
        let cheaper = PriceSettings { long: Some(LongPrices { input: 0.1, output: 0.1, ..long }), ..PRICE };
        assert_eq!(Most { input: 1_000, output: 10, ..Most::default() }.cost(&cheaper), 3_900);
    }

    #[test]
    fn the_most_is_never_below_the_bill() {
        for tier in [ServiceTier::Standard, ServiceTier::Priority, ServiceTier::Flex] {
            for hour_write in [0, 700] {
                let usage = Usage { input: 1_000, cached_input: 200, cache_write: 700, output: 10 };
                let bill = Bill { usage, hour_write, tier, searches_micros: 5 };
                let most = Most { input: 1_000, output: 10, hour: hour_write > 0, tier, searches_micros: 5 };
                assert!(most.cost(&PRICE) >= bill.cost(&PRICE), "{bill:?}");
            }
        }
    }
}
