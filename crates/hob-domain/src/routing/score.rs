//! An issue against the profiles: what they have in common, added up.

use std::{borrow::Cow, collections::HashMap};

use super::{
    candidate::RoutedText,
    complexity::complexity,
    confidence::Likeness,
    issue_text::{BODY_MAX, Read, head, read},
    profile_words::{IN_TOPIC, said_by},
    router::{Place, Router},
    topics::TOPICS,
    words::{stem, words},
};

/// What is worth more than words: somebody said it, or a pattern was written for it.
const OF_LABEL: f32 = 6.0;
const OF_ERROR: f32 = 4.0;
const OF_PATH: f32 = 3.0;
/// Errors and paths that count for one profile.
const PATTERNS_COUNT: usize = 3;
/// How soon it stops counting that a word comes again.
const REPEATS: f32 = 1.5;
/// Different words of an issue that are looked at.
const TERMS_MAX: usize = 2_000;
/// Reasons that are told.
const REASONS: usize = 3;

/// A profile, held against an issue.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// The profile's name.
    pub profile: String,
    /// How sure it is that the issue is this profile's, from 0 to 1.
    pub confidence: f32,
    /// What that was concluded from.
    pub likeness: Likeness,
    /// What speaks for it, the strongest first; at most three.
    pub reasons: Vec<String>,
}

/// All profiles, held against an issue.
#[derive(Debug, Clone, PartialEq)]
pub struct Routing {
    /// The profiles, the likeliest first.
    pub ranked: Vec<Scored>,
    /// How much work the issue may be, from 1 to 10.
    pub complexity: u8,
}

/// What speaks for a profile so far.
#[derive(Debug, Default, Clone)]
struct Case {
    score: f32,
    /// The strongest that speak for it, with their weights.
    best: Vec<(f32, Reason)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Reason {
    Label(usize),
    Error(usize),
    Path(usize, usize),
    Term(usize),
}

impl Case {
    fn add(&mut self, weight: f32, reason: Reason) {
        self.score += weight;
        let at = self.best.partition_point(|(other, _)| *other >= weight);
        if at < REASONS {
            self.best.truncate(REASONS - 1);
            self.best.insert(at.min(self.best.len()), (weight, reason));
        }
    }
}

/// A term of an issue.
struct Term<'a> {
    stem: String,
    /// As the issue writes it.
    shown: Cow<'a, str>,
    count: f32,
}

impl Router {
    /// Ranks the profiles for an issue or a message.
    pub fn route(&self, issue: RoutedText<'_>) -> Routing {
        let read = read(issue);
        let terms = self.terms(&read);
        let mut cases = vec![Case::default(); self.names.len()];
        let known = self.hold(&terms, &mut cases);
        self.hold_patterns(issue, &read, &mut cases);
        let scores: Vec<f32> = cases.iter().map(|case| case.score).collect();
        let (first, second) = two_best(&scores);
        let mut ranked: Vec<Scored> = Vec::with_capacity(cases.len());
        for (place, case) in cases.iter().enumerate() {
            let other = if first.is_some_and(|(best, _)| best == place) { second } else { first.map(|(_, score)| score) };
            let likeness = Likeness::of(case.score, other.unwrap_or_default(), known);
            let reasons = case.best.iter().map(|(_, reason)| self.told(*reason, issue, &read, &terms)).collect();
            let profile = self.names[place].clone();
            ranked.push(Scored { profile, confidence: likeness.confidence(), likeness, reasons });
        }
        // Stable: of equals, the profile that was found first.
        ranked.sort_by(|one, other| other.confidence.total_cmp(&one.confidence));
        let topical = terms.iter().filter(|term| !TOPICS.of(&term.stem).is_empty()).count();
        Routing { ranked, complexity: complexity(&read, topical) }
    }

    /// The terms of an issue with how much each counts, in the order of the text.
    fn terms<'a>(&self, read: &Read<'a>) -> Vec<Term<'a>> {
        let mut terms: Vec<Term<'a>> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut stems: HashMap<Cow<'a, str>, usize> = HashMap::new();
        let mut kept: Vec<(String, bool)> = Vec::new();
        for (text, weight) in &read.parts {
            let mut before = None::<usize>;
            for word in words(text) {
                let known = stems.get(&word).copied();
                let stem_at = known.unwrap_or_else(|| {
                    let stem = stem(&word);
                    kept.push((stem.clone(), self.firsts.contains(&stem) || TOPICS.begins_pair(&stem)));
                    stems.insert(word.clone(), kept.len() - 1);
                    kept.len() - 1
                });
                let pair = before.filter(|before| kept[*before].1).map(|before| {
                    let shown = format!("{} {}", kept[before].0, word);
                    (super::topics::pair(&kept[before].0, &kept[stem_at].0), Cow::Owned(shown))
                });
                let known_pair = pair.filter(|(pair, _)| self.index.contains_key(pair) || !TOPICS.of(pair).is_empty());
                before = Some(stem_at);
                for (stem, shown) in known_pair.into_iter().chain([(kept[stem_at].0.clone(), word)]) {
                    match places.get(&stem) {
                        Some(place) => terms[*place].count += weight,
                        None if terms.len() < TERMS_MAX => {
                            places.insert(stem.clone(), terms.len());
                            terms.push(Term { stem, shown, count: *weight });
                        }
                        None => {}
                    }
                }
            }
        }
        terms
    }

    /// Adds what the terms say. Returns how much they could have said for a profile that stood for all of them.
    fn hold(&self, terms: &[Term<'_>], cases: &mut [Case]) -> f32 {
        let mut known = 0.0;
        for (at, term) in terms.iter().enumerate() {
            let repeated = term.count * (1.0 + REPEATS) / (term.count + REPEATS);
            let topical = TOPICS.of(&term.stem).iter().map(|(_, bond)| bond.in_issue()).fold(0.0, f32::max);
            let whose = self.index.get(&term.stem).map_or(&[][..], Vec::as_slice);
            if whose.is_empty() && topical == 0.0 {
                continue;
            }
            let said = said_by(&term.stem) * repeated;
            let most = whose.iter().map(|(_, weight)| *weight).fold(topical * IN_TOPIC, f32::max);
            known += most * said;
            for (place, weight) in whose {
                cases[*place].add(weight * said, Reason::Term(at));
            }
        }
        known
    }

    fn hold_patterns(&self, issue: RoutedText<'_>, read: &Read<'_>, cases: &mut [Case]) {
        for (at, label) in issue.labels.iter().enumerate() {
            let label = label.trim().to_lowercase();
            let last = label.rsplit([':', '/']).next().unwrap_or_default().trim();
            let whose = self.labels.get(&label).or_else(|| self.labels.get(last));
            for place in whose.into_iter().flatten() {
                cases[*place].add(OF_LABEL, Reason::Label(at));
            }
        }
        let mut counted: HashMap<Place, usize> = HashMap::new();
        let mut room = |place: Place| {
            let counted = counted.entry(place).or_default();
            *counted += 1;
            *counted <= PATTERNS_COUNT
        };
        if !self.errors.owners.is_empty() {
            for text in [issue.title, head(issue.body, BODY_MAX)] {
                for pattern in self.errors.set.matches(text) {
                    let place = self.errors.owners[pattern].0;
                    if room(place) {
                        cases[place].add(OF_ERROR, Reason::Error(pattern));
                    }
                }
            }
        }
        for (at, path) in read.paths.iter().enumerate() {
            let path = path.split(':').next().unwrap_or(path);
            for pattern in self.paths.set.matches(path) {
                let place = self.paths.owners[pattern].0;
                if room(place) {
                    cases[place].add(OF_PATH, Reason::Path(at, pattern));
                }
            }
        }
    }

    fn told(&self, reason: Reason, issue: RoutedText<'_>, read: &Read<'_>, terms: &[Term<'_>]) -> String {
        let one_line = |text: &str| -> String {
            head(text, 60).chars().map(|at| if at.is_control() || at == '`' { ' ' } else { at }).collect()
        };
        match reason {
            Reason::Label(at) => format!("the label `{}`", one_line(&issue.labels[at])),
            Reason::Error(at) => format!("the error pattern `{}`", one_line(&self.errors.owners[at].1)),
            Reason::Path(path, glob) => {
                format!("the path `{}` (`{}`)", one_line(read.paths[path]), one_line(&self.paths.owners[glob].1))
            }
            Reason::Term(at) => format!("the word `{}`", terms[at].shown),
        }
    }
}

/// The best score with its place, and the second best.
fn two_best(scores: &[f32]) -> (Option<(Place, f32)>, Option<f32>) {
    let mut first = None::<(Place, f32)>;
    let mut second = None::<f32>;
    for (place, score) in scores.iter().enumerate() {
        match first {
            Some((_, best)) if *score <= best => second = Some(second.map_or(*score, |second: f32| second.max(*score))),
            _ => {
                second = first.map(|(_, best)| best);
                first = Some((place, *score));
            }
        }
    }
    (first, second)
}
