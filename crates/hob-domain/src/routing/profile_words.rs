//! The field of a profile as terms with weights: its own words, and the words of the topics that it names.

use std::collections::BTreeMap;

use super::{
    candidate::Candidate,
    issue_text::head,
    topics::{TOPICS, is_vague, pair, terms},
    words::{Weight, stem, weight, words},
};

/// The weight of a word by its place.
const IN_NAME: f32 = 3.0;
const IN_MATCH: f32 = 2.5;
const IN_DESCRIPTION: f32 = 1.0;
const IN_INSTRUCTIONS: f32 = 0.3;
/// The weight of a topic's word that the profile does not use itself.
pub(super) const IN_TOPIC: f32 = 2.0;
/// The remaining weight of a word that says little.
pub(super) const LITTLE: f32 = 0.2;
/// The remaining weight of a word of several topics.
const VAGUE: f32 = 0.6;
/// The part of the strongest topic that another one needs to count.
const TOPIC_MIN: f32 = 0.25;
/// How much of a topic a profile has to say for all of its words to count.
const TOPIC_FULL: f32 = 1.2;
/// Bytes of each text that are read.
const TEXT_MAX: usize = 4 * 1024;
/// Words and labels of a profile that are read.
const LIST_MAX: usize = 200;

/// Terms and their weights.
pub(super) type Terms = BTreeMap<String, f32>;

/// The terms of a profile.
pub(super) fn profile_words(profile: &Candidate) -> Terms {
    let mut own = Terms::new();
    for (text, weight) in [
        (profile.name.as_str(), IN_NAME),
        (&profile.description, IN_DESCRIPTION),
        (&profile.instructions, IN_INSTRUCTIONS),
    ] {
        for (term, left) in terms(head(text, TEXT_MAX)) {
            raise(&mut own, term, weight * left);
        }
    }
    for text in profile.words.iter().chain(&profile.labels).take(LIST_MAX) {
        phrase(&mut own, head(text, TEXT_MAX));
    }
    let topics = topics_of(&own);
    for (term, weight) in &mut own {
        *weight *= said_by(term) * if is_vague(term) { VAGUE } else { 1.0 };
    }
    own.retain(|_, weight| *weight > 0.0);
    for (topic, share) in topics {
        for (term, bond) in &TOPICS.terms[topic] {
            raise(&mut own, term.clone(), IN_TOPIC * share * bond.in_issue());
        }
    }
    own
}

/// The part of a term's weight that its words are good for.
pub(super) fn said_by(term: &str) -> f32 {
    match weight(term) {
        Weight::Nothing => 0.0,
        Weight::Little => LITTLE,
        Weight::Full => 1.0,
    }
}

fn raise(terms: &mut Terms, term: String, weight: f32) {
    let known = terms.entry(term).or_default();
    *known = known.max(weight);
}

/// A word to match, or several: then they count together, and each alone only a little.
fn phrase(own: &mut Terms, text: &str) {
    let stems: Vec<String> = words(text).map(|word| stem(&word)).collect();
    let alone = if stems.len() > 1 { IN_DESCRIPTION / 2.0 } else { IN_MATCH };
    for two in stems.windows(2) {
        raise(own, pair(&two[0], &two[1]), IN_MATCH);
    }
    for stem in stems {
        raise(own, stem, alone);
    }
}

/// The topics that a profile names, and how fully each is its.
fn topics_of(own: &Terms) -> Vec<(usize, f32)> {
    let mut named = vec![0.0_f32; TOPICS.terms.len()];
    for (term, weight) in own {
        for (topic, bond) in TOPICS.of(term) {
            named[*topic] += weight * bond.in_profile();
        }
    }
    let strongest = named.iter().copied().fold(0.0, f32::max);
    let full = (strongest / TOPIC_FULL).min(1.0);
    let counts = |(_, weight): &(usize, f32)| *weight > 0.0 && *weight >= TOPIC_MIN * strongest;
    named
        .into_iter()
        .enumerate()
        .filter(counts)
        .map(|(topic, weight)| (topic, full * (weight / strongest).sqrt()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_stands_for_the_words_of_the_topics_it_names() {
        let file = "---\nname: dora\ndescription: Reviews after our databases.\n---\nBe careful.\n";
        let profile = crate::profile::parse("dora.md", file.as_bytes()).profile.unwrap();
        let terms = profile_words(&Candidate::from(&profile));
        assert!(terms["postgr"] > 1.0 && terms[&pair("foreign", "key")] > 1.0, "{terms:?}");
        assert!(!terms.contains_key("our") && !terms.contains_key("kubernet"));
    }
}
