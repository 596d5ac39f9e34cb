//! The list of finished ledgers, which saves a process that knows nothing from reading each of them.
//!
//! # Guarantees
//! Nothing depends on the list: a ledger that is missing there, or that has moved since, is read. The ledger of an open issue is read in
//! any case.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    IssueNumber, Sha,
    issue::record_message::{UnreadableRecord, UnwritableRecord, from_message, to_message},
};

const VERSION: u32 = 1;
/// Ledgers in a list that is written: about a megabyte.
const LISTED: usize = 50_000;

/// Ledgers by their issues, each with the first 64 bits of the tip at which it was found finished. They distinguish the tips of an issue.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FinishedList(BTreeMap<IssueNumber, u64>);

#[derive(Serialize, Deserialize)]
struct ListWire {
    version: u32,
    /// The bits in hexadecimal digits: a number in JSON has 53.
    finished: BTreeMap<IssueNumber, String>,
}

impl FinishedList {
    /// Whether the ledger is listed at this tip.
    pub fn has(&self, issue: IssueNumber, tip: &Sha) -> bool {
        self.0.get(&issue).is_some_and(|known| begins(tip.as_str()) == Some(*known))
    }

    /// Lists the ledger at this tip.
    pub fn note(&mut self, issue: IssueNumber, tip: &Sha) {
        if let Some(begins) = begins(tip.as_str()) {
            self.0.insert(issue, begins);
        }
    }

    /// Takes over what another list has; its tips replace those that are here.
    pub fn learn(&mut self, other: &Self) {
        self.0.extend(&other.0);
    }

    /// Forgets the ledgers with the lowest numbers beyond so many.
    pub fn keep(&mut self, most: usize) {
        while self.0.len() > most {
            self.0.pop_first();
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The commit message, with the highest numbers if there are too many.
    ///
    /// # Errors
    /// [`UnwritableRecord`] if the list has no JSON form.
    pub fn to_message(&self) -> Result<String, UnwritableRecord> {
        let last = self.0.iter().rev().take(LISTED);
        let finished: BTreeMap<_, _> = last.map(|(issue, tip)| (*issue, format!("{tip:016x}"))).collect();
        to_message(&format!("{} finished ledgers", finished.len()), &ListWire { version: VERSION, finished })
    }

    /// Reads the list back from a commit message.
    ///
    /// # Errors
    /// [`UnreadableRecord`] if the body is not a list, or has a newer version.
    pub fn from_message(message: &str) -> Result<Self, UnreadableRecord> {
        let fields = from_message(message, VERSION)?.fields;
        let ListWire { finished, .. } = serde_json::from_value(Value::Object(fields))?;
        Ok(Self(finished.into_iter().filter_map(|(issue, tip)| Some((issue, begins(&tip)?))).collect()))
    }
}

/// The first 64 bits of a commit's name.
fn begins(commit: &str) -> Option<u64> {
    u64::from_str_radix(commit.get(..16)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sha(text: &str) -> Sha {
        Sha::from(text)
    }

    #[test]
    fn a_ledger_is_finished_at_the_tip_at_which_it_was_found_so() {
        let (first, other) = (sha("0123456789abcdef0000"), sha("0123456789abcdee0000"));
        let mut list = FinishedList::default();
        assert!(!list.has(IssueNumber(1), &first));
        list.note(IssueNumber(1), &first);
        assert!(
            list.has(IssueNumber(1), &first) && !list.has(IssueNumber(1), &other) && !list.has(IssueNumber(2), &first)
        );
        list.note(IssueNumber(1), &other);
        assert!(!list.has(IssueNumber(1), &first) && list.has(IssueNumber(1), &other));
        // A text that is not a commit's name is never known.
        for odd in ["", "0123", "0123456789abcdeg0000"] {
            list.note(IssueNumber(3), &sha(odd));
            assert!(!list.has(IssueNumber(3), &sha(odd)), "{odd}");
        }
    }

    #[test]
    fn a_list_is_read_as_it_was_written_and_has_the_newest_if_it_is_too_long() {
        let mut list = FinishedList::default();
        for issue in 0..=LISTED as u64 {
            list.note(IssueNumber(issue), &sha(&format!("{issue:040x}").chars().rev().collect::<String>()));
        }
        let read = FinishedList::from_message(&list.to_message().unwrap()).unwrap();
        list.keep(LISTED);
        assert_eq!((read.len(), &read), (LISTED, &list));
        let mut other = FinishedList::default();
        other.note(IssueNumber(0), &sha("ffffffffffffffffffff"));
        other.learn(&read);
        assert_eq!(other.len(), LISTED + 1);
    }

    #[test]
    fn what_is_no_list_is_an_error_and_what_is_no_tip_is_left_out() {
        let of = |body: &str| FinishedList::from_message(&format!("s\n\n{body}\n"));
        let list = of(r#"{"version":1,"finished":{"7":"0123456789abcdef","8":"zz"}}"#).unwrap();
        assert_eq!((list.len(), list.is_empty()), (1, false));
        for body in ["", "[]", r#"{"version":1}"#, r#"{"version":1,"finished":{"x":"0123456789abcdef"}}"#] {
            assert!(matches!(of(body), Err(UnreadableRecord::Malformed(_))), "{body}");
        }
        assert!(matches!(of(r#"{"version":2,"finished":{}}"#), Err(UnreadableRecord::Newer { .. })));
    }
}
