//! The profiles in the form in which issues are held against them, made once.

use std::collections::{BTreeMap, HashMap, HashSet};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use regex::{RegexSet, RegexSetBuilder};

use super::{
    candidate::Candidate,
    profile_words::{IN_TOPIC, profile_words},
};

/// Profiles that are read; of more, the first.
const CANDIDATES_MAX: usize = 500;
/// Error patterns and globs of one profile that are read.
const PATTERNS_MAX: usize = 50;
/// Bytes that a compiled set of patterns may take.
const PATTERNS_BYTES: usize = 4 << 20;

/// Where a profile stands among the candidates.
pub(super) type Place = usize;

/// The profiles, ready to rank them for any number of issues.
#[derive(Debug)]
pub struct Router {
    pub(super) names: Vec<String>,
    /// Of each term, the profiles that stand for it, and what it is worth to each.
    pub(super) index: HashMap<String, Vec<(Place, f32)>>,
    /// Words that begin a pair that the index has.
    pub(super) firsts: HashSet<String>,
    /// Of each label, in lower case, the profiles whose it is.
    pub(super) labels: HashMap<String, Vec<Place>>,
    pub(super) errors: Patterns<RegexSet>,
    pub(super) paths: Patterns<GlobSet>,
}

/// Patterns of all profiles that are tried at once.
#[derive(Debug)]
pub(super) struct Patterns<S> {
    pub(super) set: S,
    /// Of each pattern, whose it is and how it is written.
    pub(super) owners: Vec<(Place, String)>,
}

impl Router {
    /// Reads the profiles. Patterns that cannot be read are passed over: who reads profiles names them.
    pub fn new(candidates: &[Candidate]) -> Self {
        let candidates = &candidates[..candidates.len().min(CANDIDATES_MAX)];
        let terms: Vec<_> = candidates.iter().map(profile_words).collect();
        let mut index: BTreeMap<&str, Vec<(Place, f32)>> = BTreeMap::new();
        for (place, terms) in terms.iter().enumerate() {
            for (term, weight) in terms {
                index.entry(term).or_default().push((place, *weight));
            }
        }
        let of = |(term, mut whose): (&str, Vec<(Place, f32)>)| {
            let rarity = rarity(&whose, candidates.len());
            whose.iter_mut().for_each(|(_, weight)| *weight *= rarity);
            (term.to_owned(), whose)
        };
        let index: HashMap<_, _> = index.into_iter().map(of).collect();
        let firsts = index.keys().filter_map(|term| term.split_once('_')).map(|(first, _)| first.to_owned()).collect();
        let mut labels: HashMap<String, Vec<Place>> = HashMap::new();
        for (place, candidate) in candidates.iter().enumerate() {
            for label in candidate.labels.iter().chain([&candidate.name]) {
                let whose = labels.entry(label.trim().to_lowercase()).or_default();
                if !whose.contains(&place) {
                    whose.push(place);
                }
            }
        }
        let names = candidates.iter().map(|candidate| candidate.name.clone()).collect();
        Self { names, index, firsts, labels, errors: errors(candidates), paths: paths(candidates) }
    }
}

/// How much a term tells profiles apart: 1 if one stands for it, less the more do.
#[expect(clippy::cast_precision_loss, reason = "they are few")]
fn rarity(whose: &[(Place, f32)], of: usize) -> f32 {
    let of = of as f32;
    let with = whose.iter().map(|(_, weight)| (weight / IN_TOPIC).min(1.0)).sum::<f32>().clamp(1.0, of.max(1.0));
    let inverse = |with: f32| (1.0 + (of - with + 0.5) / (with + 0.5)).ln();
    inverse(with) / inverse(1.0)
}

fn errors(candidates: &[Candidate]) -> Patterns<RegexSet> {
    let build = |patterns: &[&String]| {
        let mut builder = RegexSetBuilder::new(patterns);
        builder.case_insensitive(true).size_limit(PATTERNS_BYTES).dfa_size_limit(PATTERNS_BYTES).build().ok()
    };
    let all = candidates.iter().enumerate().flat_map(|(place, candidate)| {
        candidate.errors.iter().take(PATTERNS_MAX).map(move |pattern| (place, pattern))
    });
    let good: Vec<_> = all.filter(|(_, pattern)| build(&[pattern]).is_some_and(|set| !set.is_match(""))).collect();
    let patterns: Vec<_> = good.iter().map(|(_, pattern)| *pattern).collect();
    // Each alone is small enough, all together may be too large.
    let Some(set) = build(&patterns) else { return Patterns { set: RegexSet::empty(), owners: Vec::new() } };
    Patterns { set, owners: good.into_iter().map(|(place, pattern)| (place, pattern.clone())).collect() }
}

fn paths(candidates: &[Candidate]) -> Patterns<GlobSet> {
    let (mut builder, mut owners) = (GlobSetBuilder::new(), Vec::new());
    for (place, candidate) in candidates.iter().enumerate() {
        for glob in candidate.paths.iter().take(PATTERNS_MAX) {
            if let Ok(built) = GlobBuilder::new(glob.trim_start_matches("./")).literal_separator(true).build() {
                builder.add(built);
                owners.push((place, glob.clone()));
            }
        }
    }
    match builder.build() {
        Ok(set) => Patterns { set, owners },
        Err(_) => Patterns { set: GlobSet::empty(), owners: Vec::new() },
    }
}
