//! Compares an issue with the profiles and adds up what they have in common.

use std::collections::HashMap;

use crate::{
    ProfileName,
    routing::{
        candidate::RoutedText,
        complexity::complexity,
        confidence::Likeness,
        issue_text::{Read, body, head, kind, labels, read, title},
        profile_words::{IN_TOPIC, said_by},
        router::{Place, Router},
        topics::{IN_PAIR, TOPICS, first_word, pair},
        words::{Weight, stem, weight, words},
    },
};

/// Weights above those of words: a person chose it, or a pattern was written for it.
const OF_LABEL: f32 = 6.0;
const OF_ERROR: f32 = 4.0;
const OF_PATH: f32 = 3.0;
/// Errors and paths that count for one profile.
const PATTERNS_COUNT: usize = 3;
/// How soon repetitions of a word stop counting.
const REPEATS: f32 = 1.5;
/// How much more the first word of a title counts, and what in it says which kind of work is asked for.
const FIRST_WORD: f32 = 2.0;
const OF_KIND: f32 = 2.5;
/// The part of a kind of work that counts against all profiles if none does such work.
const UNCLAIMED_KIND: f32 = 0.4;
/// Different words of an issue that are read.
const TERMS_MAX: usize = 2_000;
/// Reasons that are reported, and those that they are chosen from.
const REASONS: usize = 3;
const REASONS_KEPT: usize = 10;

/// A profile, compared with an issue.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// The profile's name.
    pub profile: ProfileName,
    /// How sure it is that the issue is this profile's, from 0 to 1.
    pub confidence: f32,
    /// The basis of that conclusion.
    pub likeness: Likeness,
    /// What speaks for it, the strongest first; at most three.
    pub reasons: Vec<String>,
}

/// All profiles, compared with an issue.
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
    Kind,
    Label(usize),
    Error(usize),
    Path(usize),
    Term(usize),
}

impl Case {
    fn add(&mut self, weight: f32, reason: Reason) {
        self.score += weight;
        let at = self.best.partition_point(|(other, _)| *other >= weight);
        if at < REASONS_KEPT {
            self.best.truncate(REASONS_KEPT - 1);
            self.best.insert(at.min(self.best.len()), (weight, reason));
        }
    }
}

/// What an issue says, independent of a profile.
struct Common {
    /// How much its terms could have counted for a profile that has all of them.
    known: f32,
    /// How much speaks for the likeliest field that no profile has.
    rival: f32,
}

/// A term of an issue.
struct Term {
    stem: String,
    /// As the issue writes it.
    shown: String,
    count: f32,
    in_title: bool,
}

/// The terms found so far.
#[derive(Default)]
struct Found {
    terms: Vec<Term>,
    places: HashMap<String, usize>,
    words: Vec<Known>,
    of_word: HashMap<String, usize>,
    in_title: bool,
}

/// A word of the text, looked at once.
struct Known {
    word: String,
    stem: String,
    begins_pair: bool,
    /// The index of its term.
    term: Option<usize>,
}

impl Found {
    /// A word's index among the known ones.
    fn place_of(&mut self, word: &str, begins_pair: impl Fn(&str) -> bool) -> usize {
        if let Some(place) = self.of_word.get(word) {
            return *place;
        }
        let stem = stem(word);
        let (begins_pair, place) = (begins_pair(&stem), self.words.len());
        self.words.push(Known { word: word.to_owned(), stem, begins_pair, term: None });
        self.of_word.insert(word.to_owned(), place);
        place
    }

    /// Counts a known word.
    fn count(&mut self, place: usize, count: f32) {
        let known = &self.words[place];
        if let Some(term) = known.term {
            self.terms[term].count += count;
        } else {
            let (stem, word) = (known.stem.clone(), known.word.clone());
            self.words[place].term = self.add(&stem, &word, count);
        }
    }

    /// Counts a term, and returns its index; `None` if there are too many.
    fn add(&mut self, stem: &str, shown: &str, count: f32) -> Option<usize> {
        if let Some(term) = self.places.get(stem) {
            self.terms[*term].count += count;
            return Some(*term);
        }
        let term = self.terms.len();
        (term < TERMS_MAX).then(|| {
            self.places.insert(stem.to_owned(), term);
            self.terms.push(Term { stem: stem.to_owned(), shown: shown.to_owned(), count, in_title: self.in_title });
            term
        })
    }
}

impl Router {
    /// Ranks the profiles for an issue or a message.
    pub fn route(&self, issue: RoutedText<'_>) -> Routing {
        let read = read(issue);
        let terms = self.terms(&read);
        let mut cases = vec![Case::default(); self.names.len()];
        let Common { known, rival } = self.hold(&terms, &mut cases);
        self.hold_patterns(issue, &read, &mut cases);
        let scores = |place: Place| (place, cases[place].score);
        let all = two_best((0..cases.len()).map(scores));
        // A repository's own profiles go before those that Hob brings, so the latter do not lower the confidence.
        let own = two_best((0..cases.len()).filter(|place| !self.ready[*place]).map(scores));
        let mut ranked: Vec<Scored> = Vec::with_capacity(cases.len());
        for (place, case) in cases.iter().enumerate() {
            let (first, second) = if self.ready[place] { all } else { own };
            let other =
                if first.is_some_and(|(best, _)| best == place) { second } else { first.map(|(_, score)| score) };
            let likeness = Likeness::new(case.score, other.unwrap_or_default(), known, rival);
            let reasons = self.reasons(case, issue, &read, &terms);
            let profile = self.names[place].clone();
            ranked.push(Scored { profile, confidence: likeness.confidence(), likeness, reasons });
        }
        // Stable: of equals, the profile that was found first.
        let is_own_choice = |scored: &Scored| {
            let place = self.names.iter().position(|name| *name == scored.profile);
            scored.likeness.is_choice() && place.is_some_and(|place| !self.ready[place])
        };
        ranked.sort_by(|one, other| other.confidence.total_cmp(&one.confidence));
        if self.ready.contains(&true) {
            ranked.sort_by_key(|scored| !is_own_choice(scored));
        }
        let topical = terms.iter().filter(|term| !TOPICS.of(&term.stem).is_empty()).count();
        Routing { ranked, complexity: complexity(&read, topical) }
    }

    /// The terms of an issue with how much each counts, in the order of the text.
    fn terms(&self, read: &Read<'_>) -> Vec<Term> {
        let mut found = Found::default();
        for (part, (text, weight)) in read.parts.iter().enumerate() {
            found.in_title = part == 0;
            let mut before = None::<usize>;
            for word in words(text) {
                let at = found.place_of(&word, |stem| self.firsts.contains(stem) || TOPICS.begins_pair(stem));
                if found.in_title && before.is_none() {
                    let first = first_word(&found.words[at].stem);
                    found.add(&first, &word, weight * FIRST_WORD);
                }
                let two = before.filter(|before| found.words[*before].begins_pair);
                let two = two.map(|before| (before, pair(&found.words[before].stem, &found.words[at].stem)));
                match two.filter(|(_, pair)| self.index.contains_key(pair) || !TOPICS.of(pair).is_empty()) {
                    Some((before, pair)) => {
                        let shown = format!("{} {word}", found.words[before].word);
                        found.add(&pair, &shown, *weight);
                        // Each of two words in a pair says less.
                        found.count(before, weight * (IN_PAIR - 1.0));
                        found.count(at, weight * IN_PAIR);
                    }
                    None => found.count(at, *weight),
                }
                before = Some(at);
            }
        }
        found.terms
    }

    /// Adds what the terms say.
    fn hold(&self, terms: &[Term], cases: &mut [Case]) -> Common {
        let (mut known, mut rivals) = (0.0, vec![0.0_f32; self.unclaimed.len()]);
        for (at, term) in terms.iter().enumerate() {
            let count = term.count.max(0.0);
            let repeated = count * (1.0 + REPEATS) / (count + REPEATS);
            let topical = TOPICS.of(&term.stem).iter().map(|(_, bond)| bond.in_issue()).fold(0.0, f32::max);
            let whose = self.index.get(&term.stem).map_or(&[][..], Vec::as_slice);
            if whose.is_empty() && topical == 0.0 {
                continue;
            }
            let kind = match TOPICS.is_kind(&term.stem) {
                // A kind of work that no profile does leaves the issue to the profile of its subject.
                true if whose.is_empty() => UNCLAIMED_KIND,
                true if term.in_title => OF_KIND,
                true | false => 1.0,
            };
            let said = said_by(&term.stem) * repeated * kind;
            let most = whose.iter().map(|(_, weight)| *weight).fold(topical * IN_TOPIC, f32::max);
            known += most * said;
            for (place, weight) in whose {
                cases[*place].add(weight * said, Reason::Term(at));
            }
            for (topic, bond) in TOPICS.of(&term.stem).iter().filter(|(topic, _)| self.unclaimed[*topic]) {
                rivals[*topic] += IN_TOPIC * bond.in_issue() * said;
            }
        }
        Common { known, rival: rivals.into_iter().fold(0.0, f32::max) }
    }

    fn hold_patterns(&self, issue: RoutedText<'_>, read: &Read<'_>, cases: &mut [Case]) {
        for (at, label) in labels(issue).enumerate() {
            let label = label.trim().to_lowercase();
            let last = label.rsplit([':', '/']).next().unwrap_or_default().trim();
            let whose = self.labels.get(&label).or_else(|| self.labels.get(last));
            for place in whose.into_iter().flatten() {
                cases[*place].add(OF_LABEL, Reason::Label(at));
            }
        }
        let kind = kind(title(issue)).map(str::to_lowercase).unwrap_or_default();
        for place in self.labels.get(&kind).into_iter().flatten() {
            cases[*place].add(OF_LABEL, Reason::Kind);
        }
        let mut counted: HashMap<Place, usize> = HashMap::new();
        let mut room = |place: Place| {
            let counted = counted.entry(place).or_default();
            *counted += 1;
            *counted <= PATTERNS_COUNT
        };
        if !self.errors.owners.is_empty() {
            for text in [title(issue), body(issue)] {
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
            for (place, globs) in &self.paths {
                if globs.is_match(path) && room(*place) {
                    cases[*place].add(OF_PATH, Reason::Path(at));
                }
            }
        }
    }

    /// The reasons that a person would give: without words that say nothing by themselves, or that are part of a named phrase.
    fn reasons(&self, case: &Case, issue: RoutedText<'_>, read: &Read<'_>, terms: &[Term]) -> Vec<String> {
        let mut named: Vec<&str> = Vec::new();
        let mut reasons: Vec<String> = Vec::new();
        for (_, reason) in &case.best {
            if let Reason::Term(at) = reason {
                let shown = told_words(&terms[*at].shown);
                // A title's first word is a term by itself, and shown as the word is.
                let is_named =
                    named.iter().any(|other| shown.split(' ').all(|word| other.split(' ').any(|part| part == word)));
                if is_named || !is_telling(shown) {
                    continue;
                }
                named.push(shown);
            }
            reasons.push(self.told(*reason, issue, read, terms));
            if reasons.len() == REASONS {
                break;
            }
        }
        reasons
    }

    fn told(&self, reason: Reason, issue: RoutedText<'_>, read: &Read<'_>, terms: &[Term]) -> String {
        let one_line = |text: &str| -> String {
            head(text, 60).chars().map(|at| if at.is_control() || at == '`' { ' ' } else { at }).collect()
        };
        match reason {
            Reason::Kind => format!("the title's kind `{}`", one_line(kind(title(issue)).unwrap_or_default())),
            Reason::Label(at) => format!("the label `{}`", one_line(&issue.labels[at])),
            Reason::Error(at) => format!("the error pattern `{}`", one_line(&self.errors.owners[at].1)),
            Reason::Path(at) => format!("the path `{}`", one_line(read.paths[at])),
            Reason::Term(at) => {
                let shown = told_words(&terms[at].shown);
                format!("the word{} `{shown}`", if shown.contains(' ') { "s" } else { "" })
            }
        }
    }
}

/// A term without the words of grammar at its ends: nobody names `tokens in`.
fn told_words(shown: &str) -> &str {
    shown.split_once(' ').map_or(shown, |(first, second)| {
        let is_grammar = |word: &str| weight(&stem(word)) == Weight::Nothing;
        match (is_grammar(first), is_grammar(second)) {
            (true, false) => second,
            (false, true) => first,
            (true, true) | (false, false) => shown,
        }
    })
}

/// Whether one of these words says something by itself.
fn is_telling(shown: &str) -> bool {
    words(shown).any(|word| weight(&stem(&word)) == Weight::Full)
}

/// The best score with its place, and the second best.
fn two_best(scores: impl Iterator<Item = (Place, f32)>) -> (Option<(Place, f32)>, Option<f32>) {
    let mut first = None::<(Place, f32)>;
    let mut second = None::<f32>;
    for (place, score) in scores {
        match first {
            Some((_, best)) if score <= best => second = Some(second.map_or(score, |second: f32| second.max(score))),
            _ => {
                second = first.map(|(_, best)| best);
                first = Some((place, score));
            }
        }
    }
    (first, second)
}
