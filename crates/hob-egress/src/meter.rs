//! The usage of models in a run, and its budget.
//!
//! - Flow: a request reserves the most that it can cost before it is sent; what it did cost takes the place of that once
//!   its answer is read.
//! - Guarantees: what was spent and what is reserved never exceed the budget together, in any order of requests and ends, as
//!   long as no service bills more than a request's most. A request that was sent and never settled counts as its most.
//! - Caveats: a service that bills more than the most is believed; the run then ends.

use std::{collections::BTreeMap, fmt, sync::Arc};

use futures_util::future::BoxFuture;
use hob_config::PriceSettings;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::usage::{Bill, Most, Usage};

/// Models that are counted by name; the rest are counted together, so that names cannot fill the memory.
const MODELS_MAX: usize = 100;
/// The name of the rest.
const OTHERS: &str = "others";

/// The usage of one model.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct ModelUsage {
    /// Its tokens.
    pub usage: Usage,
    /// Its requests.
    pub requests: u64,
    /// The number of its requests that count as their most, because the service did not say what they cost.
    pub at_most: u64,
    /// The cost, in millionths of a US dollar; 0 without a price.
    pub usd_micros: u64,
}

/// The usage of a run.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Metered {
    /// The usage of each `ROUTE/MODEL`.
    pub models: BTreeMap<String, ModelUsage>,
    /// The cost, in millionths of a US dollar.
    pub usd_micros: u64,
    /// The most that requests under way can cost.
    pub reserved: Reserved,
    /// The request that the rest of the budget did not carry, if one did not.
    pub refused: Option<TooMuch>,
}

impl Metered {
    /// The tokens of all models.
    pub fn usage(&self) -> Usage {
        let mut sum = Usage::default();
        self.models.values().for_each(|used| sum += used.usage);
        sum
    }

    /// The requests of all models.
    pub fn requests(&self) -> u64 {
        self.models.values().map(|used| used.requests).sum()
    }
}

/// The most that requests under way can use.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Reserved {
    /// Tokens.
    pub usage: Usage,
    /// Millionths of a US dollar.
    pub usd_micros: u64,
    /// Requests.
    pub requests: u64,
}

/// A request that the rest of a budget does not carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the request can cost up to {}, and the run has {} left", usd(*most), usd(*left))]
pub struct TooMuch {
    /// The most that it can cost, in millionths of a US dollar.
    pub most: u64,
    /// The rest of the budget.
    pub left: u64,
}

/// An amount as `$1.40`, and one below a cent as `$0.0014`.
fn usd(micros: u64) -> String {
    let dollars = micros as f64 / 1e6;
    if micros > 0 && micros < 10_000 { format!("${dollars:.6}") } else { format!("${dollars:.2}") }
}

type PriceOf = dyn Fn(&str) -> Option<PriceSettings> + Send + Sync;
type Noting = dyn Fn(Metered) -> BoxFuture<'static, ()> + Send + Sync;

/// The limit on a run's spend, with the prices.
#[derive(Clone)]
pub struct Budget {
    usd_micros: Option<u64>,
    price: Arc<PriceOf>,
    note: Option<Arc<Noting>>,
}

impl Budget {
    /// `usd_micros` millionths of a US dollar, `None` for no limit, at the prices that `price` gives for `ROUTE/MODEL`.
    pub fn new(usd_micros: Option<u64>, price: impl Fn(&str) -> Option<PriceSettings> + Send + Sync + 'static) -> Self {
        Self { usd_micros, price: Arc::new(price), note: None }
    }

    /// The same; `note` takes what is spent and reserved each time that it changes. No request is sent before the future of
    /// its reservation is done, so that a killed process loses none of it.
    #[must_use]
    pub fn noting(self, note: impl Fn(Metered) -> BoxFuture<'static, ()> + Send + Sync + 'static) -> Self {
        Self { note: Some(Arc::new(note)), ..self }
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
    budget: Budget,
    exhausted: CancellationToken,
}

/// Why a model may not be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The budget is used up.
    #[error("the budget of this run is used up")]
    Exhausted,
    /// The rest of the budget does not carry the request.
    #[error(transparent)]
    TooMuch(TooMuch),
    /// The model has no price, and there is a budget.
    #[error(
        "this model has no price, and the run has a budget: add `[model.prices.\"PROVIDER/MODEL\"]` to the settings, or limit tokens with \
         `budget.tokens`"
    )]
    NoPrice,
}

/// What a look at the budget led to.
enum Look {
    Reserved,
    Wait,
    Refused(TooMuch),
}

impl Meter {
    /// A meter that holds `budget`.
    pub fn new(budget: Budget) -> Self {
        let exhausted = CancellationToken::new();
        if budget.usd_micros == Some(0) {
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

    /// A token that is cancelled once the budget is used up, or does not carry a request. The caller then ends the run.
    pub fn exhausted(&self) -> CancellationToken {
        self.exhausted.clone()
    }

    /// Reserves `most` for a request of `model`. If the rest of the budget does not carry it, waits for requests under way,
    /// whose reservations may become smaller costs.
    ///
    /// # Errors
    /// [`Stop`] if the model may not be asked.
    pub async fn reserve(&self, model: &str, most: Most) -> Result<Reservation, Stop> {
        let price = (self.budget.price)(model);
        if price.is_none() && self.budget.usd_micros.is_some() {
            return Err(if self.exhausted.is_cancelled() { Stop::Exhausted } else { Stop::NoPrice });
        }
        let usd_micros = price.map_or(0, |price| most.cost(&price));
        let mut changes = self.counts.subscribe();
        loop {
            if self.exhausted.is_cancelled() {
                return Err(Stop::Exhausted);
            }
            changes.mark_unchanged();
            match self.look(most, usd_micros) {
                Look::Reserved => break,
                Look::Refused(too_much) => {
                    self.exhausted.cancel();
                    return Err(Stop::TooMuch(too_much));
                }
                Look::Wait => tokio::select! {
                    // `self` holds the sender.
                    _ = changes.changed() => {}
                    () = self.exhausted.cancelled() => {}
                },
            }
        }
        let model = model.to_owned();
        let held = Reservation { meter: self.clone(), model, price, most, usd_micros, state: Held::Unsent };
        if let Some(note) = &self.budget.note {
            note(self.read()).await;
        }
        Ok(held)
    }

    /// Counts a request of `model` that was not reserved: a recorded reply, which no service bills.
    pub fn count(&self, model: &str, usage: Usage) {
        let (price, most) = ((self.budget.price)(model), Most::default());
        let (meter, model) = (self.clone(), model.to_owned());
        let unreserved = Reservation { meter, model, price, most, usd_micros: 0, state: Held::Unsent };
        // It takes back one request that it never added.
        self.counts.send_modify(|counts| counts.reserved.requests += 1);
        unreserved.settle(usage.into());
    }

    /// Takes the amount out of the rest of the budget, if that carries it.
    fn look(&self, most: Most, usd_micros: u64) -> Look {
        let mut look = Look::Reserved;
        self.counts.send_if_modified(|counts| {
            let taken = counts.usd_micros.saturating_add(counts.reserved.usd_micros);
            let carries = self.budget.usd_micros.is_none_or(|budget| taken.saturating_add(usd_micros) <= budget);
            if carries {
                counts.reserved.usage += most.usage();
                counts.reserved.usd_micros = counts.reserved.usd_micros.saturating_add(usd_micros);
                counts.reserved.requests += 1;
                return true;
            }
            if counts.reserved.requests > 0 {
                look = Look::Wait;
                return false;
            }
            let left = self.budget.usd_micros.unwrap_or(0).saturating_sub(taken);
            let too_much = TooMuch { most: usd_micros, left };
            (look, counts.refused) = (Look::Refused(too_much), Some(too_much));
            true
        });
        look
    }
}

/// The most of one request, taken out of the budget. Dropped without an end, it counts as its most if the request was sent, and
/// is given back if not.
#[derive(Debug)]
#[must_use]
pub struct Reservation {
    meter: Meter,
    model: String,
    price: Option<PriceSettings>,
    most: Most,
    usd_micros: u64,
    state: Held,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    Unsent,
    Sent,
    Ended,
}

impl Reservation {
    /// The request is being sent: the service may bill it from now on.
    pub fn sent(&mut self) {
        self.state = Held::Sent;
    }

    /// The most that it can cost, in millionths of a US dollar.
    pub(crate) fn most_micros(&self) -> u64 {
        self.usd_micros
    }

    /// The service billed this much. What that costs, in millionths of a US dollar.
    pub fn settle(mut self, bill: Bill) -> u64 {
        let cost = self.price.map_or(0, |price| bill.cost(&price));
        self.end(Some(bill.usage), cost, 0);
        cost
    }

    /// The service answered and did not say what it bills, so it counts as its most; `guess` are its tokens.
    pub fn settle_at_most(mut self, guess: Usage) {
        self.end(Some(guess), self.usd_micros, 1);
    }

    /// The service did not accept the request, so it bills nothing.
    pub fn give_back(mut self) {
        self.end(None, 0, 0);
    }

    /// `usage` is `None` if the request does not count.
    fn end(&mut self, usage: Option<Usage>, cost: u64, at_most: u64) {
        self.state = Held::Ended;
        let (most, reserved) = (self.most.usage(), self.usd_micros);
        self.meter.counts.send_modify(|counts| {
            let held = &mut counts.reserved;
            held.usage.input = held.usage.input.saturating_sub(most.input);
            held.usage.output = held.usage.output.saturating_sub(most.output);
            held.usd_micros = held.usd_micros.saturating_sub(reserved);
            held.requests = held.requests.saturating_sub(1);
            let Some(usage) = usage else { return };
            let known = counts.models.contains_key(&self.model) || counts.models.len() < MODELS_MAX;
            let counted = counts.models.entry(if known { self.model.clone() } else { OTHERS.to_owned() }).or_default();
            counted.usage += usage;
            counted.requests += 1;
            counted.at_most += at_most;
            counted.usd_micros = counted.usd_micros.saturating_add(cost);
            counts.usd_micros = counts.usd_micros.saturating_add(cost);
        });
        if let Some(note) = &self.meter.budget.note {
            drop(note(self.meter.read()));
        }
        if self.meter.budget.usd_micros.is_some_and(|budget| self.meter.counts.borrow().usd_micros >= budget) {
            self.meter.exhausted.cancel();
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        match self.state {
            Held::Ended => {}
            Held::Unsent => self.end(None, 0, 0),
            Held::Sent => self.end(Some(self.most.usage()), self.usd_micros, 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use proptest::prelude::*;

    use super::*;

    const PRICE: PriceSettings =
        PriceSettings { input: 1.0, output: 10.0, cached_input: None, cache_write: None, long: None };

    fn meter(usd_micros: u64) -> Meter {
        Meter::new(Budget::new(Some(usd_micros), |model| (model == "m").then_some(PRICE)))
    }

    fn most(input: u64, output: u64) -> Most {
        Most { input, output, ..Most::default() }
    }

    /// What happens to a request of a run.
    #[derive(Debug, Clone)]
    enum Event {
        Asks { input: u64, output: u64, sends: bool },
        Settles { of: usize, part: u64 },
        Fails(usize),
        HangsUp(usize),
    }

    fn events() -> impl Strategy<Value = Vec<Event>> {
        let event = prop_oneof![
            (0..400_u64, 0..60_u64, any::<bool>()).prop_map(|(input, output, sends)| Event::Asks {
                input,
                output,
                sends
            }),
            (any::<usize>(), 0..=100_u64).prop_map(|(of, part)| Event::Settles { of, part }),
            any::<usize>().prop_map(Event::Fails),
            any::<usize>().prop_map(Event::HangsUp),
        ];
        prop::collection::vec(event, 0..80)
    }

    proptest! {
        /// Attack corpus K139. In any order of requests, ends, failures and hang-ups.
        #[test]
        fn what_is_spent_and_reserved_is_never_above_the_budget(budget in 1..3_000_u64, events in events()) {
            let meter = meter(budget);
            let (mut held, mut waiting): (Vec<Reservation>, Vec<BoxFuture<'_, _>>) = (Vec::new(), Vec::new());
            for event in events {
                match event {
                    Event::Asks { input, output, sends } => {
                        let meter = &meter;
                        waiting.push(Box::pin(async move { (meter.reserve("m", most(input, output)).await, sends) }));
                    }
                    Event::Settles { of, part } if !held.is_empty() => {
                        let of = held.swap_remove(of % held.len());
                        let usage = Usage {
                            input: of.most.input * part / 100,
                            output: of.most.output * part / 100,
                            ..Usage::default()
                        };
                        of.settle(usage.into());
                    }
                    Event::Fails(of) if !held.is_empty() => held.swap_remove(of % held.len()).give_back(),
                    Event::HangsUp(of) if !held.is_empty() => drop(held.swap_remove(of % held.len())),
                    Event::Settles { .. } | Event::Fails(_) | Event::HangsUp(_) => {}
                }
                waiting.retain_mut(|asks| match asks.now_or_never() {
                    Some((Ok(mut granted), sends)) => {
                        if sends {
                            granted.sent();
                        }
                        held.push(granted);
                        false
                    }
                    Some((Err(_), _)) => false,
                    None => true,
                });
                let now = meter.read();
                prop_assert!(now.usd_micros + now.reserved.usd_micros <= budget, "{now:?}");
                prop_assert_eq!(now.reserved.requests, held.len() as u64);
            }
            drop(held);
            prop_assert!(meter.read().usd_micros <= budget);
            prop_assert_eq!(meter.read().reserved, Reserved::default());
        }
    }

    #[tokio::test]
    async fn a_request_waits_for_those_under_way_and_is_refused_once_none_is() {
        let meter = meter(1_000);
        let mut first = meter.reserve("m", most(600, 0)).await.unwrap();
        first.sent();
        let second = meter.reserve("m", most(600, 0));
        let mut second = std::pin::pin!(second);
        assert!(second.as_mut().now_or_never().is_none(), "it waits");
        first.settle(Usage { input: 100, ..Usage::default() }.into());
        let second = second.await.unwrap();
        let third = meter.reserve("m", most(301, 0));
        let mut third = std::pin::pin!(third);
        assert!(third.as_mut().now_or_never().is_none());
        let mut sent = second;
        sent.sent();
        // Nobody says what it cost.
        drop(sent);
        let stop = third.await.unwrap_err();
        assert_eq!(stop.to_string(), "the request can cost up to $0.000301, and the run has $0.000300 left");
        assert!(meter.exhausted().is_cancelled());
        let now = meter.read();
        assert_eq!((now.usd_micros, now.models["m"].at_most, now.models["m"].requests), (700, 1, 2));
    }

    #[tokio::test]
    async fn what_is_reserved_is_noted_before_the_request_is_sent() {
        let noted: Arc<std::sync::Mutex<Vec<u64>>> = Arc::default();
        let kept = Arc::clone(&noted);
        let budget = Budget::new(None, |_| Some(PRICE)).noting(move |now| {
            kept.lock().unwrap().push(now.reserved.usd_micros);
            Box::pin(std::future::ready(()))
        });
        let meter = Meter::new(budget);
        let held = meter.reserve("m", most(7, 0)).await.unwrap();
        assert_eq!(*noted.lock().unwrap(), [7]);
        drop(held);
        assert_eq!(*noted.lock().unwrap(), [7, 0]);
        assert_eq!(meter.read(), Metered::default(), "what was not sent costs nothing");
    }
}
