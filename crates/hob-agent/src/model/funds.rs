//! The money of a conversation: each request takes its most out of the budget before it is sent.

use std::collections::BTreeMap;

use bytes::Bytes;
use hob_config::PriceSettings;
use hob_egress::{Api, Bounds, Budget, Meter, Reservation, Stop};

/// The money of one conversation.
#[derive(Debug)]
pub(super) struct Purse {
    meter: Meter,
    bounds: Bounds,
}

/// It for one model.
#[derive(Debug, Clone, Copy)]
pub struct Funds<'a> {
    purse: &'a Purse,
    model: &'a str,
}

impl Purse {
    /// At most `usd_micros` millionths of a US dollar, `None` for no limit, at `prices` by the models' names.
    pub(super) fn budget(usd_micros: Option<u64>, prices: BTreeMap<String, PriceSettings>) -> Budget {
        Budget::new(usd_micros, move |model| prices.get(model).copied())
    }

    pub(super) fn new(budget: Budget) -> Self {
        Self { meter: Meter::new(budget), bounds: Bounds::default() }
    }

    pub(super) fn funds<'a>(&'a self, model: &'a str) -> Funds<'a> {
        Funds { purse: self, model }
    }

    pub(super) fn meter(&self) -> &Meter {
        &self.meter
    }
}

impl Funds<'_> {
    /// Reserves the most of a request with this body.
    pub(super) async fn reserve(self, api: Api, body: &Bytes) -> Result<Reservation, Stop> {
        let most = self.purse.bounds.of_body(api, self.model, body);
        self.purse.meter.reserve(self.model, most).await
    }

    /// Notes that the service counted `input` tokens in this body.
    pub(super) fn counted(self, body: &Bytes, input: u64) {
        self.purse.bounds.counted(self.model, body, input);
    }
}
