//! When two remarks say the same: a comparison of words that anyone can repeat.
//!
//! # Flow
//! The significant words of each remark are taken as in the router: words of grammar are left out, and the others count by
//! their stems. A word after a negation, as in `not spaces` or `instead of spaces`, is the contrary of the same without one. Two
//! remarks are the same if they share [`WORDS_MIN`] such words and three fifths of all that either has, and neither has the
//! contrary of a word of the other.
//!
//! # Caveats
//! It knows words, not their meaning: a correction in quite different words is another one, and a text without blanks has too few
//! words. The result is only a proposal, which people read.

use std::collections::BTreeSet;

use crate::routing::{is_significant, stem, words};

/// Significant words that a remark needs, and that two have to share.
const WORDS_MIN: usize = 3;
/// The share of all their words that both must have: three of five.
const SHARED: (usize, usize) = (3, 5);
/// The mark of a word after a negation.
const NEGATED: char = '!';
/// What turns the next word into its contrary. `t` is what is left of `don't`.
const NEGATIONS: [&str; 9] = ["no", "not", "never", "none", "nor", "neither", "without", "cannot", "t"];
/// The same, in two words.
const NEGATIONS_OF_TWO: [(&str, &str); 2] = [("instead", "of"), ("rather", "than")];

/// Whether a text has enough words to be compared.
pub(super) fn is_comparable(text: &str) -> bool {
    significant(text).len() >= WORDS_MIN
}

/// Whether two texts say the same.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (significant(one), significant(other));
    let shared = one.intersection(&other).count();
    let all = one.union(&other).count();
    let denies = |some: &BTreeSet<String>, others: &BTreeSet<String>| {
        some.iter().any(|word| others.contains(&format!("{NEGATED}{word}")))
    };
    let is_contrary = denies(&one, &other) || denies(&other, &one);
    shared >= WORDS_MIN && shared * SHARED.1 >= all * SHARED.0 && !is_contrary
}

/// The stems of the significant words, those after a negation with a mark.
fn significant(text: &str) -> BTreeSet<String> {
    let (mut found, mut is_negated, mut before) = (BTreeSet::new(), false, String::new());
    for word in words(text) {
        let stem = stem(&word);
        if is_significant(&stem) {
            found.insert(if is_negated { format!("{NEGATED}{stem}") } else { stem });
            is_negated = false;
        } else {
            is_negated |= NEGATIONS.contains(&&*word) || NEGATIONS_OF_TWO.contains(&(&*before, &*word));
        }
        before = word.into_owned();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_that_say_the_same_are_told_from_others() {
        for (one, other, same) in [
            ("Write error messages in lower case.", "Error messages are written in lower case", true),
            ("Please write error messages in lower case!", "Error messages should be in lower case.", true),
            ("Don't use unwrap in library code.", "Never use `unwrap` in code of the library", true),
            ("Use tabs, not spaces, for indentation", "Use tabs instead of spaces for indentation.", true),
            ("Public functions need a doc comment", "public function needs doc comments", true),
            ("Bitte immer deutsche Fehlermeldungen verwenden", "Deutsche Fehlermeldungen verwenden, bitte", true),
            // The contrary.
            ("Use tabs, not spaces, for indentation", "Use spaces, not tabs, for indentation", false),
            ("Use unwrap in tests of the parser", "Do not use unwrap in tests of the parser", false),
            // Too little in common.
            ("Write error messages in lower case.", "Write log messages in upper case, with a prefix", false),
            ("Public functions need a doc comment", "Public functions need a unit test", false),
            (
                "Error messages in lower case",
                "Error messages in lower case and a test for every new branch of it",
                false,
            ),
            // Too little at all.
            ("Please fix this", "Please fix this", false),
            ("Typo here", "Typo here.", false),
            ("", "", false),
        ] {
            assert_eq!(is_same(one, other), same, "{one} / {other}: {:?} {:?}", significant(one), significant(other));
            assert_eq!(is_same(other, one), same);
        }
    }
}
