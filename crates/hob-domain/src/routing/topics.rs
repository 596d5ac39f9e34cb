//! Common knowledge about software work that profiles rarely spell out: which words belong to which topic.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use super::words::{stem, words};

/// The table; its head explains the form.
const TABLE: &str = include_str!("topics.txt");

/// The mark before the first word of a title.
const FIRST: char = '^';

/// The mark of a topic that goes along with others.
const ALONG: char = '~';

/// The remaining weight of a word that is half of a known pair: each of two words in a pair says less.
pub(super) const IN_PAIR: f32 = 0.4;

/// How a word belongs to a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bond {
    /// It names the topic.
    Name,
    /// It names the topic in a profile; in an issue it is only often about it.
    VagueName,
    /// It is nearly always about the topic.
    Word,
    /// It is often about the topic.
    Hint,
}

impl Bond {
    /// How much the word in an issue says for the topic.
    pub(super) fn in_issue(self) -> f32 {
        match self {
            Self::Name | Self::Word => 1.0,
            Self::VagueName | Self::Hint => 0.35,
        }
    }

    /// How much the word in a profile says that the topic is its.
    pub(super) fn in_profile(self) -> f32 {
        match self {
            Self::Name | Self::VagueName => 1.0,
            Self::Word => 0.5,
            Self::Hint => 0.12,
        }
    }
}

/// A topic's index in the table.
pub(super) type Topic = usize;

/// The table, from both sides.
pub(super) struct Topics {
    /// For each topic, its terms and how they belong to it.
    pub(super) terms: Vec<Vec<(String, Bond)>>,
    /// For each term, its topics.
    of_term: HashMap<String, Vec<(Topic, Bond)>>,
    /// The first words of its pairs.
    firsts: HashSet<String>,
    /// Whether each topic is a field of its own, by its index: not a kind of work, and not one that goes along with others.
    pub(super) fields: Vec<bool>,
    /// The terms that say in a title which kind of work is asked for.
    kinds: HashSet<String>,
}

impl Topics {
    /// Whether a term of a title says which kind of work is asked for, on any subject.
    pub(super) fn is_kind(&self, term: &str) -> bool {
        self.kinds.contains(term)
    }

    /// Whether a pair of the table begins with this word.
    pub(super) fn begins_pair(&self, stem: &str) -> bool {
        self.firsts.contains(stem)
    }

    /// How surely a profile means this topic by a term that names it: surely by the first of its names, less by a name that
    /// other topics have, too.
    #[expect(clippy::cast_precision_loss, reason = "they are few")]
    pub(super) fn precision(&self, term: &str, topic: Topic) -> f32 {
        let is_first = self.terms[topic].first().is_some_and(|(first, _)| first == term);
        let names = self.of(term).iter().filter(|(_, bond)| matches!(bond, Bond::Name | Bond::VagueName)).count();
        if is_first { 1.0 } else { 1.0 / (names.max(1) as f32).sqrt() }
    }

    /// The topics of a term.
    pub(super) fn of(&self, term: &str) -> &[(Topic, Bond)] {
        self.of_term.get(term).map_or(&[], Vec::as_slice)
    }
}

/// The table, read once.
pub(super) static TOPICS: LazyLock<Topics> = LazyLock::new(|| {
    let (of_term, firsts, kinds) = (HashMap::new(), HashSet::new(), HashSet::new());
    let mut topics = Topics { terms: Vec::new(), of_term, firsts, fields: Vec::new(), kinds };
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let Some((name, lists)) = line.split_once(": ") else { continue };
        let topic = topics.terms.len();
        let mut terms: Vec<(String, Bond)> = Vec::new();
        for (list, bond) in lists.split(" | ").zip([Bond::Name, Bond::Word, Bond::Hint]) {
            for term in list.split_whitespace().filter_map(term_of) {
                match terms.iter_mut().find(|(other, _)| *other == term) {
                    Some((_, known)) if *known == Bond::Name && bond == Bond::Hint => *known = Bond::VagueName,
                    // Otherwise the first list that has it says how it belongs.
                    Some(_) => {}
                    None => terms.push((term, bond)),
                }
            }
        }
        for (term, bond) in &terms {
            topics.firsts.extend(term.split_once('_').map(|(first, _)| first.to_owned()));
            if name.starts_with('!') && matches!(bond, Bond::Name | Bond::Word) {
                topics.kinds.insert(term.clone());
            }
            topics.of_term.entry(term.clone()).or_default().push((topic, *bond));
        }
        topics.terms.push(terms);
        topics.fields.push(!name.starts_with(['!', ALONG]));
    }
    topics
});

/// The term of an entry: a stem, or the stems of two words in a row.
fn term_of(entry: &str) -> Option<String> {
    if let Some(first) = entry.strip_prefix(FIRST) {
        return Some(first_word(&stem(first)));
    }
    let parts: Vec<String> = match entry {
        "c++" | "c#" => vec![entry.to_owned()],
        _ => entry.split(|at: char| !at.is_alphanumeric()).filter(|part| !part.is_empty()).map(stem).collect(),
    };
    match parts.as_slice() {
        [one] => Some(one.clone()),
        [one, two] => Some(pair(one, two)),
        _ => None,
    }
}

/// The first word of a title as a term of its own.
pub(super) fn first_word(stem: &str) -> String {
    format!("{FIRST}{stem}")
}

/// Whether the table only has the term as a hint.
pub(super) fn is_vague(term: &str) -> bool {
    let topics = TOPICS.of(term);
    !topics.is_empty() && topics.iter().all(|(_, bond)| matches!(bond, Bond::VagueName | Bond::Hint))
}

/// Two words in a row as one term.
pub(super) fn pair(first: &str, second: &str) -> String {
    let mut term = String::with_capacity(first.len() + second.len() + 1);
    term.push_str(first);
    term.push('_');
    term.push_str(second);
    term
}

/// The terms of a text: two words in a row where the table knows them as one, else stems; each with the part of its weight
/// that is left.
pub(super) fn terms(text: &str) -> Vec<(String, f32)> {
    let stems: Vec<String> = words(text).map(|word| stem(&word)).collect();
    let pairs: Vec<Option<String>> =
        stems.windows(2).map(|two| Some(pair(&two[0], &two[1])).filter(|pair| !TOPICS.of(pair).is_empty())).collect();
    let known = |at: usize| pairs.get(at).is_some_and(Option::is_some);
    let singles = stems.into_iter().enumerate().map(|(at, stem)| {
        let in_pair = known(at) || at.checked_sub(1).is_some_and(known);
        (stem, if in_pair { IN_PAIR } else { 1.0 })
    });
    let singles: Vec<_> = singles.collect();
    singles.into_iter().chain(pairs.into_iter().flatten().map(|pair| (pair, 1.0))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::words::{Weight, weight};

    #[test]
    fn the_table_is_whole() {
        let lines = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in lines.clone() {
            assert_eq!(line.matches(" | ").count(), 2, "{line}");
            let (name, lists) = line.split_once(": ").unwrap();
            assert!(!name.contains(' ') && lists.split(" | ").all(|list| !list.is_empty()), "{name}");
        }
        assert_eq!(TOPICS.terms.len(), lines.count());
    }

    /// Such a pair would be in issues of every kind.
    #[test]
    fn no_two_words_of_the_table_are_both_grammar() {
        for term in TOPICS.terms.iter().flatten().map(|(term, _)| term) {
            let says = term.split('_').any(|word| weight(word) != Weight::Nothing);
            assert!(says || !term.contains('_'), "{term}");
        }
    }

    #[test]
    fn a_term_is_found_in_each_form() {
        let names = |term: &str| TOPICS.of(term).iter().any(|(_, bond)| *bond == Bond::Name);
        assert!(terms("Databases, in GitHub Actions").iter().filter(|(term, _)| names(term)).count() >= 2);
        assert!(TOPICS.of(&pair(&stem("memory"), &stem("leaks"))).iter().any(|(_, bond)| *bond == Bond::Name));
    }
}
