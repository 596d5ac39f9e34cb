//! The field of a profile as terms with weights: its own words, and the words of the topics that it names.

use std::collections::BTreeMap;

use super::{
    candidate::Candidate,
    issue_text::head,
    topics::{TOPICS, Topic, is_vague, pair, terms},
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
/// How soon a topic counts in full beside the strongest one: the lower, the sooner.
const SHARE_POWER: f32 = 0.5;
/// How much of a topic a profile has to say for all of its words to count.
const TOPIC_FULL: f32 = 1.2;
/// A topic of which a profile has a smaller share is only mentioned, and the remaining weight of the profile's word for it.
const MENTIONED: f32 = 0.5;
const ASIDE: f32 = 0.4;
/// Bytes of each text that are read.
const TEXT_MAX: usize = 4 * 1024;
/// Words and labels of a profile that are read.
const LIST_MAX: usize = 200;

/// Terms and their weights.
pub(super) type Terms = BTreeMap<String, f32>;

/// How fully a profile has each of the topics that it names, from 0 to 1.
pub(super) type Shares = BTreeMap<Topic, f32>;

/// What a profile says of its field.
#[derive(Debug)]
pub(super) struct Field {
    own: Terms,
    /// The topics that it names.
    pub(super) topics: Shares,
}

impl Field {
    /// Reads a profile.
    pub(super) fn new(profile: &Candidate) -> Self {
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
            let names = TOPICS.of(term);
            let mine = |(topic, _): &(Topic, _)| topics.get(topic).is_some_and(|share| *share >= MENTIONED);
            *weight *= if names.is_empty() || names.iter().any(mine) { 1.0 } else { ASIDE };
        }
        own.retain(|_, weight| *weight > 0.0);
        Self { own, topics }
    }

    /// Its terms beside other profiles; `most`: the largest share that any of them has in each topic. A topic is the
    /// profile's that is nearest to it: others that name it, too, have less of its words.
    pub(super) fn terms(&self, most: &Shares) -> Terms {
        let mut found = self.own.clone();
        for (topic, share) in &self.topics {
            let nearest = most.get(topic).copied().unwrap_or(*share).max(*share);
            let part = share * share / nearest;
            for (term, bond) in &TOPICS.terms[*topic] {
                raise(&mut found, term.clone(), IN_TOPIC * part * bond.in_issue());
            }
        }
        found
    }
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
fn topics_of(own: &Terms) -> Shares {
    let mut named = vec![0.0_f32; TOPICS.terms.len()];
    for (term, weight) in own {
        for (topic, bond) in TOPICS.of(term) {
            named[*topic] += weight * bond.in_profile() * TOPICS.precision(term, *topic);
        }
    }
    let strongest = named.iter().copied().fold(0.0, f32::max);
    let full = (strongest / TOPIC_FULL).min(1.0);
    let counts = |(_, weight): &(usize, f32)| *weight > 0.0 && *weight >= TOPIC_MIN * strongest;
    let shares = named.into_iter().enumerate().filter(counts);
    shares.map(|(topic, weight)| (topic, full * (weight / strongest).powf(SHARE_POWER))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_stands_for_the_words_of_the_topics_it_names() {
        let file = "---\nname: dora\ndescription: Reviews after our databases.\n---\nBe careful.\n";
        let profile = crate::profile::parse("dora.md", file.as_bytes()).profile.unwrap();
        let terms = Field::new(&Candidate::from(&profile)).terms(&Shares::new());
        assert!(terms["postgr"] > 1.0 && terms[&pair("foreign", "key")] > 1.0, "{terms:?}");
        assert!(!terms.contains_key("our") && !terms.contains_key("kubernet"));
    }
}
