//! Fields of work: how likely an issue is about each, by how much it says on every topic, and by what its common words mean.
//! The weights were learned from labelled issues (`lab/measure/routing_fit.py`).

use std::{cmp::Ordering, sync::LazyLock};

use super::{
    profile_words::Shares,
    topics::{TOPICS, Topic},
};

/// The weights; the head explains the form.
const TABLE: &str = include_str!("field_weights.txt");
/// The words in their order, one a line: the word, a character for how rare it is, and one for its weight for each field.
const WORDS: &str = include_str!("field_words.txt");
/// What a character of `WORDS` means: its distance from `ZERO`, in parts of one.
const ZERO: u8 = b'O';
const RAREST: u8 = b'!';
const RARITY_UNIT: f32 = 90.0;
const WORD_UNIT: f32 = 10.0;
/// Few words say less than many.
const WORD_DAMPING: f32 = 0.5;
/// Weights are written in hundredths.
const UNIT: f32 = 100.0;
/// What a topic's part of an issue is measured against beside the other topics, so that a single word is not all.
const PART_DAMPING: f32 = 2.0;
/// A field of which no profile has this share is nobody's.
const CLAIMED: f32 = 0.4;
/// How much a field is the profile's that is nearest to it: the higher, the less the others have of it.
const NEAREST: i32 = 6;

/// The part of a kind of work that counts if no profile does such work: the rest is left to the subject.
pub(super) const UNCLAIMED_KIND: f32 = 0.3;

/// A field of work.
struct Field {
    /// The topics by which a profile has the field; none, if no specialist has it.
    topics: Vec<Topic>,
    bias: f32,
    /// For each topic: the weight of the logarithm of its amount, of its part, and of being the most.
    weights: Vec<[f32; 3]>,
}

static FIELDS: LazyLock<Vec<Field>> = LazyLock::new(|| TABLE.lines().filter_map(field).collect());

/// A line such as `ci: ci | -12 | ci 130 22 5, build -7 0 0`.
fn field(line: &str) -> Option<Field> {
    let (_name, rest) = line.split_once(": ").filter(|_| !line.starts_with('#'))?;
    let mut parts = rest.split('|');
    let topics = parts.next()?.split_whitespace().filter_map(|name| TOPICS.named(name)).collect();
    let number = |text: &str| text.parse::<f32>().map_or(0.0, |hundredths| hundredths / UNIT);
    let bias = number(parts.next()?.trim());
    let mut weights = vec![[0.0; 3]; TOPICS.terms.len()];
    for entry in parts.next()?.split(',') {
        let mut words = entry.split_whitespace();
        if let Some(of) = words.next().and_then(|name| TOPICS.named(name)).and_then(|topic| weights.get_mut(topic)) {
            *of = std::array::from_fn(|_| words.next().map_or(0.0, number));
        }
    }
    Some(Field { topics, bias, weights })
}

/// What the common words of an issue say for each field.
#[derive(Debug)]
pub(super) struct WordSum {
    sums: Vec<f32>,
    squares: f32,
}

impl WordSum {
    pub(super) fn new() -> Self {
        Self { sums: vec![0.0; FIELDS.len()], squares: 0.0 }
    }

    /// Adds a word by how much it says in the issue.
    pub(super) fn add(&mut self, word: &str, says: f32) {
        let Some((rarity, weights)) = weights_of(word).and_then(<[u8]>::split_first) else { return };
        for (sum, weight) in self.sums.iter_mut().zip(weights) {
            *sum += says * (f32::from(*weight) - f32::from(ZERO)) / WORD_UNIT;
        }
        self.squares += (says * f32::from(rarity - RAREST) / RARITY_UNIT).powi(2);
    }

    fn of(&self, field: usize) -> f32 {
        self.sums[field] / (self.squares + WORD_DAMPING).sqrt()
    }
}

/// The characters of a word, found by halving the table.
fn weights_of(word: &str) -> Option<&'static [u8]> {
    let table = WORDS.as_bytes();
    let (mut from, mut to) = (0, table.len());
    while from < to {
        let middle = usize::midpoint(from, to);
        let start = table[from..middle].iter().rposition(|at| *at == b'\n').map_or(from, |at| from + at + 1);
        let end = table[middle..to].iter().position(|at| *at == b'\n').map_or(to, |at| middle + at);
        let (name, weights) = WORDS[start..end].split_once(' ')?;
        match word.cmp(name) {
            Ordering::Less => to = start,
            Ordering::Greater => from = end + 1,
            Ordering::Equal => return Some(weights.as_bytes()),
        }
    }
    None
}

/// How likely an issue is about each field, by how much it says on each topic, and its common words.
pub(super) fn chances(amounts: &[f32], words: &WordSum) -> Vec<f32> {
    let all: f32 = amounts.iter().sum();
    let most = amounts.iter().copied().fold(0.0, f32::max);
    let score = |(at, field): (usize, &Field)| {
        let said = amounts.iter().zip(&field.weights).filter(|(amount, _)| **amount > 0.0);
        let said = said.map(|(amount, [by_amount, by_part, by_most])| {
            let is_most = if *amount >= most { 1.0 } else { 0.0 };
            by_amount * amount.ln_1p() + by_part * amount / (all + PART_DAMPING) + by_most * is_most
        });
        field.bias + words.of(at) + said.sum::<f32>()
    };
    softmax(FIELDS.iter().enumerate().map(score).collect())
}

/// Chances that add up to 1, from their logarithms up to a constant.
pub(super) fn softmax(mut scores: Vec<f32>) -> Vec<f32> {
    let most = scores.iter().copied().fold(f32::MIN, f32::max);
    scores.iter_mut().for_each(|score| *score = (*score - most).exp());
    let all: f32 = scores.iter().sum();
    scores.iter_mut().for_each(|score| *score /= all);
    scores
}

/// Which part of each field is which profile's.
#[derive(Debug)]
pub(super) struct Claims {
    of_field: Vec<Vec<(usize, f32)>>,
    /// The remaining part of each field's chance.
    left: Vec<f32>,
    /// Profiles without any field, whose part of an issue only their own words say.
    pub(super) fieldless: Vec<usize>,
}

impl Claims {
    /// From the topics of some of the profiles.
    pub(super) fn new(profiles: &[(usize, &Shares)]) -> Self {
        let share = |field: &Field, topics: &Shares| {
            field.topics.iter().filter_map(|topic| topics.get(topic)).copied().fold(0.0, f32::max)
        };
        let claim = |field: &Field| {
            let shares: Vec<_> = profiles.iter().map(|(place, topics)| (*place, share(field, topics))).collect();
            let most = shares.iter().map(|(_, share)| *share).fold(0.0, f32::max);
            if most < CLAIMED {
                return Vec::new();
            }
            let near = |share: f32| (share / most).powi(NEAREST);
            let all: f32 = shares.iter().map(|(_, share)| near(*share)).sum();
            let some = shares.into_iter().filter(|(_, share)| *share > 0.0);
            // Of a field that even the nearest profile only has in part, the rest is nobody's.
            some.map(|(place, share)| (place, most * most * near(share) / all)).collect()
        };
        let of_field: Vec<Vec<_>> = FIELDS.iter().map(claim).collect();
        let is_kind = |field: &Field| field.topics.iter().any(|topic| TOPICS.is_kind_of_work(*topic));
        let left = |(field, whose): (&Field, &Vec<_>)| {
            if whose.is_empty() && is_kind(field) { UNCLAIMED_KIND } else { 1.0 }
        };
        let left = FIELDS.iter().zip(&of_field).map(left).collect();
        let has_field = |topics: &Shares| FIELDS.iter().any(|field| share(field, topics) >= CLAIMED);
        let fieldless = profiles.iter().filter(|(_, topics)| !has_field(topics)).map(|(place, _)| *place).collect();
        Self { of_field, left, fieldless }
    }

    /// How likely the issue is in the field of each of `count` profiles, from how likely it is about each field.
    pub(super) fn share_out(&self, chances: &[f32], count: usize) -> Vec<f32> {
        let mut of_profile = vec![0.0; count];
        let chances: Vec<f32> = chances.iter().zip(&self.left).map(|(chance, left)| chance * left).collect();
        let all: f32 = chances.iter().sum();
        for (whose, chance) in self.of_field.iter().zip(chances.iter().map(|chance| chance / all)) {
            for (place, part) in whose {
                of_profile[*place] += part * chance;
            }
        }
        of_profile
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_are_whole() {
        let lines: Vec<_> = TABLE.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(FIELDS.len(), lines.len());
        for line in lines {
            let (topics, weights) = (line.split([':', '|']).nth(1).unwrap(), line.rsplit('|').next().unwrap());
            let named = weights.split(',').map(|entry| {
                assert_eq!(entry.split_whitespace().count(), 4, "{entry}");
                entry.split_whitespace().next().unwrap()
            });
            for name in topics.split_whitespace().chain(named) {
                assert!(TOPICS.named(name).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn each_word_is_found_with_all_its_weights() {
        for line in WORDS.lines() {
            let (word, weights) = line.split_once(' ').unwrap();
            assert_eq!(weights_of(word), Some(weights.as_bytes()), "{word}");
            assert_eq!(weights.len(), FIELDS.len() + 1, "{word}");
        }
        for word in ["", "a", "zzzz", "é", "!"] {
            assert_eq!(weights_of(word), None);
        }
    }

    #[test]
    fn a_field_is_the_nearest_profiles_or_nobodys() {
        let topic = TOPICS.named("database").unwrap();
        let (near, far) = (Shares::from([(topic, 1.0)]), Shares::from([(topic, 0.5)]));
        let mut amounts = vec![0.0; TOPICS.terms.len()];
        amounts[topic] = 12.0;
        let chances = chances(&amounts, &WordSum::new());
        let parts = Claims::new(&[(0, &far), (1, &near)]).share_out(&chances, 2);
        assert!(parts[1] > 0.5 && parts[0] < 0.05, "{parts:?}");
        let none = Claims::new(&[(0, &Shares::new())]);
        assert_eq!((none.share_out(&chances, 1), none.fieldless), (vec![0.0], vec![0]));
    }
}
