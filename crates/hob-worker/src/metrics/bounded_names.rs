//! Names as labels of counters: each counts by itself up to a maximum number, so that no repository fills a collector.

use std::collections::BTreeSet;

use parking_lot::Mutex;

/// The name that replaces every name beyond the bound.
const OTHER: &str = "other";

/// The names that are counted by themselves, `N` of them together.
#[derive(Debug)]
pub(super) struct BoundedNames<const N: usize> {
    most: usize,
    known: Mutex<BTreeSet<[String; N]>>,
}

impl<const N: usize> BoundedNames<N> {
    /// Names up to this number.
    pub(super) fn new(most: usize) -> Self {
        Self { most, known: Mutex::default() }
    }

    /// The names as they are counted.
    pub(super) fn of(&self, names: [&str; N]) -> [String; N] {
        let names = names.map(str::to_owned);
        let mut known = self.known.lock();
        if known.contains(&names) {
            return names;
        }
        if known.len() >= self.most {
            return std::array::from_fn(|_| OTHER.to_owned());
        }
        known.insert(names.clone());
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requirement M9: a label has few values, no matter which names repositories use.
    #[test]
    fn names_beyond_the_bound_are_one() {
        let names = BoundedNames::new(2);
        let counted = [["a", "b"], ["a", "c"], ["b", "a"], ["a", "b"]].map(|pair| names.of(pair).join(" "));
        assert_eq!(counted, ["a b", "a c", "other other", "a b"]);
    }
}
