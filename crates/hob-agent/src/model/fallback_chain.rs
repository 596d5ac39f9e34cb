//! The models of one agent, in the order in which they are asked, each with its price.

use std::sync::Arc;

use chrono::NaiveDate;
use hob_config::PriceSettings;

use crate::model::{
    ModelClient,
    notices::{retirement, unknown, unmeasured},
    recording::Records,
};

/// The models of one agent. Never empty.
pub struct FallbackChain {
    first: Member,
    others: Vec<Member>,
    records: Option<Records>,
    /// Whether a slow tier is wanted that none of them has.
    lacks_tier: bool,
}

/// One model of a list.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) client: Arc<dyn ModelClient>,
    /// The price of its tokens; `None` if it is not known.
    pub(super) price: Option<PriceSettings>,
}

impl FallbackChain {
    /// A single model, whose tokens cost `price`.
    pub fn one(name: &str, client: Arc<dyn ModelClient>, price: PriceSettings) -> Self {
        Self::new(Member { name: name.to_owned(), client, price: Some(price) }, Vec::new(), None)
    }

    /// `first`, with `others` as fallbacks; recordings of their replies go to `records`.
    pub(super) fn new(first: Member, others: Vec<Member>, records: Option<Records>) -> Self {
        Self { first, others, records, lacks_tier: false }
    }

    /// Notes that a slow tier is wanted that none of them has.
    #[must_use]
    pub(super) fn lacking_tier(self, lacks_tier: bool) -> Self {
        Self { lacks_tier, ..self }
    }

    /// The name of the model that is asked first.
    pub fn first(&self) -> &str {
        &self.first.name
    }

    /// The name of the model that a candidate of the work asks first: each asks the next one.
    pub fn name_at(&self, candidate: u32) -> &str {
        &self.at(candidate as usize).name
    }

    /// The names of all, in the order in which they are asked.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.first).chain(&self.others).map(|member| member.name.as_str())
    }

    /// The known prices, by the models' names.
    pub(super) fn prices(&self) -> impl Iterator<Item = (String, PriceSettings)> {
        let members = std::iter::once(&self.first).chain(&self.others);
        members.filter_map(|member| Some((member.name.clone(), member.price?)))
    }

    /// The same, of which those without one cost nothing: their runs are held by tokens.
    pub(super) fn prices_or_nothing(&self) -> impl Iterator<Item = (String, PriceSettings)> {
        let members = std::iter::once(&self.first).chain(&self.others);
        members.map(|member| (member.name.clone(), member.price.unwrap_or_default()))
    }

    /// What people should know of its models on this day; `window` is what the settings say of theirs.
    pub fn notices(&self, today: NaiveDate, window: Option<u64>) -> Vec<String> {
        let members = std::iter::once(&self.first).chain(&self.others);
        let of = |member: &Member| {
            let unknown = match member.price {
                None => unknown(&member.name),
                // A server on this machine, or a recording.
                Some(price) if price == PriceSettings::default() => None,
                Some(_) if window.is_none() => unmeasured(&member.name),
                Some(_) => None,
            };
            unknown.or_else(|| retirement(&member.name, today))
        };
        let tier =
            self.lacks_tier.then(|| format!("`allow = [\"flex\"]` has no effect: `{}` has no slow tier", self.first()));
        members.filter_map(of).chain(tier).collect()
    }

    /// The first model without a known price: a budget could not be enforced.
    pub fn unpriced(&self) -> Option<&str> {
        let mut members = std::iter::once(&self.first).chain(&self.others);
        members.find(|member| member.price.is_none()).map(|member| member.name.as_str())
    }

    /// The folder for recordings of replies; `None` if nothing is recorded.
    pub(super) fn records(&self) -> Option<&Records> {
        self.records.as_ref()
    }

    /// The place of the model whose output costs most, if it costs more than that of the model at `place`.
    pub(super) fn dearest(&self, place: usize) -> Option<usize> {
        let price = |place: usize| self.at(place).price.map(|price| price.output);
        let now = price(place)?;
        let dearer =
            (0..self.count()).filter_map(|place| Some((place, price(place)?))).filter(|(_, price)| *price > now);
        dearer.max_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(place, _)| place)
    }

    pub(super) fn count(&self) -> usize {
        1 + self.others.len()
    }

    /// The model at `place`, modulo their number.
    pub(super) fn at(&self, place: usize) -> &Member {
        match place % self.count() {
            0 => &self.first,
            place => self.others.get(place - 1).unwrap_or(&self.first),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::model::Cassette;

    use super::*;

    #[test]
    fn a_stronger_model_is_one_that_costs_more() {
        let client = || Arc::new(Cassette::parse(r#"{"cassette":1,"replies":[]}"#).unwrap());
        let member = |name: &str, output: Option<f64>| Member {
            name: name.to_owned(),
            client: client(),
            price: output.map(|output| PriceSettings { output, ..PriceSettings::default() }),
        };
        let others = vec![member("small", Some(1.0)), member("unknown", None), member("large", Some(9.0))];
        let chain = FallbackChain::new(member("usual", Some(3.0)), others, None);
        assert_eq!([0, 1, 2, 3].map(|place| chain.dearest(place)), [Some(3), Some(3), None, None]);
    }
}
