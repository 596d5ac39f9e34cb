//! The profiles in the form in which issues are compared with them, built once.

use std::collections::{BTreeMap, HashMap, HashSet};

use regex::{RegexSet, RegexSetBuilder};

use crate::{
    PathGlobs, ProfileName,
    routing::{
        candidate::Candidate,
        profile_words::{Field, IN_TOPIC, Shares},
        topics::TOPICS,
    },
};

/// Profiles that are read; the rest are ignored.
const CANDIDATES_MAX: usize = 500;
/// Error patterns of one profile that are read.
const PATTERNS_MAX: usize = 50;
/// Bytes that a compiled set of patterns may take.
const PATTERNS_BYTES: usize = 4 << 20;

/// A topic of which no profile has this share is nobody's.
const CLAIMED: f32 = 0.4;

/// A profile's index among the candidates.
pub(super) type Place = usize;

/// The profiles, ready to rank them for any number of issues.
#[derive(Debug)]
pub struct Router {
    pub(super) names: Vec<ProfileName>,
    /// Whether Hob brings the profile, by its place.
    pub(super) ready: Vec<bool>,
    /// For each term, its profiles and its weight for each.
    pub(super) index: HashMap<String, Vec<(Place, f32)>>,
    /// Words that begin a pair that the index has.
    pub(super) firsts: HashSet<String>,
    /// Whether each topic is a field that no profile has.
    pub(super) unclaimed: Vec<bool>,
    /// For each label, in lower case, its profiles.
    pub(super) labels: HashMap<String, Vec<Place>>,
    pub(super) errors: Errors,
    pub(super) paths: Vec<(Place, PathGlobs)>,
}

/// The error patterns of all profiles, tried at once.
#[derive(Debug)]
pub(super) struct Errors {
    pub(super) set: RegexSet,
    /// For each pattern, its profile and its text.
    pub(super) owners: Vec<(Place, String)>,
}

impl Router {
    /// Reads the profiles.
    pub fn new(candidates: &[Candidate]) -> Self {
        let candidates = &candidates[..candidates.len().min(CANDIDATES_MAX)];
        let fields: Vec<Field> = candidates.iter().map(Field::new).collect();
        // Profiles that Hob brings take no topic away from a repository's own.
        let own = nearest(fields.iter().zip(candidates).filter(|(_, one)| !one.is_ready).map(|(field, _)| field));
        let all = nearest(&fields);
        let most = |candidate: &Candidate| if candidate.is_ready { &all } else { &own };
        let terms = fields.iter().zip(candidates).map(|(field, candidate)| field.terms(most(candidate)));
        let terms: Vec<_> = terms.collect();
        let mut index: BTreeMap<&str, Vec<(Place, f32)>> = BTreeMap::new();
        for (place, terms) in terms.iter().enumerate() {
            for (term, weight) in terms {
                index.entry(term).or_default().push((place, *weight));
            }
        }
        let of = |(term, mut whose): (&str, Vec<(Place, f32)>)| {
            // A word of a repository's profile counts in full, even if a profile that Hob brings has it, too.
            let own = candidates.iter().filter(|candidate| !candidate.is_ready).count();
            let of_own: Vec<_> = whose.iter().copied().filter(|(place, _)| !candidates[*place].is_ready).collect();
            let (of_own, of_all) = (rarity(&of_own, own), rarity(&whose, candidates.len()));
            for (place, weight) in &mut whose {
                *weight *= if candidates[*place].is_ready { of_all } else { of_own };
            }
            (term.to_owned(), whose)
        };
        let index: HashMap<_, _> = index.into_iter().map(of).collect();
        let firsts = index.keys().filter_map(|term| term.split_once('_')).map(|(first, _)| first.to_owned()).collect();
        let is_unclaimed =
            |(topic, is_field): (usize, &bool)| *is_field && all.get(&topic).is_none_or(|share| *share < CLAIMED);
        let unclaimed = TOPICS.fields.iter().enumerate().map(is_unclaimed).collect();
        let mut labels: HashMap<String, Vec<Place>> = HashMap::new();
        for (place, candidate) in candidates.iter().enumerate() {
            for label in candidate.labels.iter().map(String::as_str).chain([candidate.name.as_str()]) {
                let whose = labels.entry(label.trim().to_lowercase()).or_default();
                if !whose.contains(&place) {
                    whose.push(place);
                }
            }
        }
        let names = candidates.iter().map(|candidate| candidate.name.clone()).collect();
        let paths = candidates.iter().enumerate().filter(|(_, candidate)| !candidate.paths.is_empty());
        let paths = paths.map(|(place, candidate)| (place, candidate.paths.clone())).collect();
        let ready = candidates.iter().map(|candidate| candidate.is_ready).collect();
        Self { names, ready, index, firsts, unclaimed, labels, errors: errors(candidates), paths }
    }
}

/// The largest share that any of the profiles has in each topic.
fn nearest<'a>(fields: impl IntoIterator<Item = &'a Field>) -> Shares {
    let mut most = Shares::new();
    for (topic, share) in fields.into_iter().flat_map(|field| &field.topics) {
        let known = most.entry(*topic).or_default();
        *known = known.max(*share);
    }
    most
}

/// How well a term distinguishes profiles: 1 if one profile has it, less the more have it.
#[expect(clippy::cast_precision_loss, reason = "they are few")]
fn rarity(whose: &[(Place, f32)], of: usize) -> f32 {
    let of = of as f32;
    let with = whose.iter().map(|(_, weight)| (weight / IN_TOPIC).min(1.0)).sum::<f32>().clamp(1.0, of.max(1.0));
    let inverse = |with: f32| (1.0 + (of - with + 0.5) / (with + 0.5)).ln();
    inverse(with) / inverse(1.0)
}

/// All patterns at once: a text is read once, however many there are.
fn errors(candidates: &[Candidate]) -> Errors {
    let build = |patterns: &[&str]| {
        RegexSetBuilder::new(patterns)
            .multi_line(true)
            .size_limit(PATTERNS_BYTES)
            .dfa_size_limit(PATTERNS_BYTES)
            .build()
    };
    let mut owners = Vec::new();
    for (place, candidate) in candidates.iter().enumerate() {
        // A pattern that fits any text says nothing.
        let telling = candidate.errors.iter().filter(|pattern| !pattern.is_match(""));
        owners.extend(telling.take(PATTERNS_MAX).map(|pattern| (place, pattern.as_str().to_owned())));
    }
    let patterns: Vec<&str> = owners.iter().map(|(_, pattern)| pattern.as_str()).collect();
    match build(&patterns) {
        Ok(set) => Errors { set, owners },
        // Each alone is small enough; together they are not. Words, labels and paths still count.
        Err(_) => Errors { set: RegexSet::empty(), owners: Vec::new() },
    }
}
