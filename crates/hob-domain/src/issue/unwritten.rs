//! What an attempt spent and could not write to its issue's ledger, until the ledger has it.

use serde::{Deserialize, Serialize};

use crate::{Generation, Record, Spend};

/// The spend under one lease that the ledger was not seen to accept before the lease ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnwrittenSpend {
    /// The lease's generation. It has one holder, so it names the attempt.
    pub generation: Generation,
    /// The issue's bill as the ledger was last seen to have it.
    pub written: Spend,
    /// The spend beyond that.
    pub spend: Spend,
}

impl UnwrittenSpend {
    /// The part of it that the ledger lacks; `None` if it lacks nothing. `history` has the ledger's sentences and records, the
    /// newest first, back to the last one of the generation.
    ///
    /// The forge may have carried out a write without answering: the attempt's own, or an earlier one that added this. The
    /// history shows both, so no amount counts twice.
    pub fn missing<'a>(&self, history: impl IntoIterator<Item = (&'a str, &'a Record)>) -> Option<Spend> {
        let added = sentence_of(self.generation);
        let mut lacks = self.spend;
        for (sentence, record) in history {
            if sentence.starts_with(&added) {
                return None;
            }
            if record.generation == self.generation {
                lacks = self.spend.since(record.spend.since(self.written));
                break;
            }
        }
        (lacks != Spend::default()).then_some(lacks)
    }
}

/// The beginning of the sentence that adds the spend of a generation.
fn sentence_of(generation: Generation) -> String {
    format!("added what the attempt of generation {generation} spent: ")
}

/// The sentence that adds `spend` of a generation.
pub(crate) fn added(generation: Generation, spend: Spend) -> String {
    format!("{}{spend}", sentence_of(generation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{State, issue::lease::tests::record_at};

    /// The same amount of everything that is counted.
    fn all(amount: u64) -> Spend {
        Spend { usd_micros: amount, input_tokens: amount, output_tokens: amount, wall_seconds: amount }
    }

    #[test]
    fn what_the_ledger_has_already_is_not_missing() {
        let unwritten = UnwrittenSpend { generation: Generation(12), written: all(100), spend: all(7) };
        let other = "released the lease".to_owned();
        let (its, anothers) = (added(Generation(12), all(7)), added(Generation(1), all(7)));
        for (history, missing) in [
            // The ledger as the attempt left it, and after others went on.
            (vec![(&other, 12, 100)], Some(7)),
            (vec![(&other, 14, 300), (&other, 13, 100), (&other, 12, 100)], Some(7)),
            // Writes whose answers were lost: of a part, and of all of it.
            (vec![(&other, 12, 103)], Some(4)),
            (vec![(&other, 13, 200), (&other, 12, 107)], None),
            // It was added, and the worker died before it could forget it.
            (vec![(&its, 13, 107), (&other, 12, 100)], None),
            (vec![(&other, 15, 900), (&its, 14, 109), (&other, 13, 102), (&other, 12, 100)], None),
            (vec![(&anothers, 13, 107), (&other, 12, 100)], Some(7)),
            // The ledger was deleted and began anew.
            (vec![(&other, 2, 5), (&other, 1, 0)], Some(7)),
            (vec![(&other, 12, 5)], Some(7)),
            (vec![(&other, 3, 12), (&its, 3, 12), (&other, 2, 5)], None),
            (vec![], Some(7)),
        ] {
            let records: Vec<_> = history
                .iter()
                .map(|(sentence, generation, bill)| {
                    let generation = Generation(*generation);
                    (sentence.as_str(), Record { generation, spend: all(*bill), ..record_at(State::Ready) })
                })
                .collect();
            let found = unwritten.missing(records.iter().map(|(sentence, record)| (*sentence, record)));
            assert_eq!(found, missing.map(all), "{history:?}");
        }
    }
}
