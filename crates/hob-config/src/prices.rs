//! The price of a model's tokens.

use serde::{Deserialize, Deserializer, Serialize, de::Error};

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
    /// Of long requests. The settings have none: their prices are those of all requests.
    #[serde(skip)]
    pub long: Option<LongPrices>,
}

/// The prices of all tokens of a request with more than `above` tokens sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LongPrices {
    /// Tokens sent that still have the ordinary prices.
    pub above: u64,
    /// As in [`PriceSettings`].
    pub input: f64,
    /// As in [`PriceSettings`].
    pub output: f64,
    /// As in [`PriceSettings`].
    pub cached_input: Option<f64>,
    /// As in [`PriceSettings`].
    pub cache_write: Option<f64>,
}

impl PriceSettings {
    /// The prices of one request with this many tokens sent.
    #[must_use]
    pub fn of_request(self, sent: u64) -> Self {
        match self.long {
            Some(LongPrices { above, input, output, cached_input, cache_write }) if sent > above => {
                Self { input, output, cached_input, cache_write, long: None }
            }
            Some(_) | None => self.of_short(),
        }
    }

    /// The prices of requests that are not long.
    #[must_use]
    pub fn of_short(self) -> Self {
        Self { long: None, ..self }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_a_number_from_zero_up() {
        assert!(toml::from_str::<PriceSettings>("input = 0\noutput = 1.5").is_ok());
        for bad in [
            "input = -1\noutput = 1",
            "input = 1\noutput = nan",
            "input = 1\noutput = 1\ncached_input = -0.1",
            "input = 1",
            "input = 1\noutput = 1\nlong = 3",
        ] {
            assert!(toml::from_str::<PriceSettings>(bad).is_err(), "{bad}");
        }
    }
}
