//! Words: where they begin and end, their stems, and how much a word says by itself.

use std::{borrow::Cow, collections::HashSet, sync::LazyLock};

/// Longer words are hashes, encoded data or an attack.
const WORD_MAX: usize = 40;
/// Words that say nothing, and words that appear in issues of every kind and say little.
const LISTS: &str = include_str!("stop_words.txt");

/// Names with signs or capitals whose parts would mislead.
const NAMES: [&str; 20] = [
    "C++",
    "c++",
    "C#",
    "c#",
    "F#",
    "GitHub",
    "GitLab",
    "PostgreSQL",
    "MySQL",
    "NoSQL",
    "MongoDB",
    "GraphQL",
    "DevOps",
    "iOS",
    "iPhone",
    "iPad",
    "macOS",
    "watchOS",
    "YouTube",
    "LaTeX",
];

/// How much a word says by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// Nothing: it is grammar.
    Nothing,
    /// Little: it appears in issues of every kind.
    Little,
    /// What a word says.
    Full,
}

static NOTHING: LazyLock<HashSet<String>> = LazyLock::new(|| listed(0));
static LITTLE: LazyLock<HashSet<String>> = LazyLock::new(|| listed(1));

fn listed(part: usize) -> HashSet<String> {
    let words = LISTS.split("\n---\n").nth(part).unwrap_or_default().split_whitespace();
    words.flat_map(|word| [word.to_owned(), stem(word)]).collect()
}

/// How much the word with this stem says.
pub(super) fn weight(stem: &str) -> Weight {
    match () {
        () if stem.len() < 2 || NOTHING.contains(stem) => Weight::Nothing,
        () if LITTLE.contains(stem) || stem.bytes().all(|byte| byte.is_ascii_digit()) => Weight::Little,
        () => Weight::Full,
    }
}

/// Whether the word with this stem says anything.
pub(crate) fn is_significant(stem: &str) -> bool {
    weight(stem) != Weight::Nothing
}

/// The words of a text in their order, in lower case. A word of several parts, such as `parseQuery` or `read_only`, is
/// its parts, then the whole.
pub(crate) fn words(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    text.split(|at: char| !at.is_alphanumeric() && !matches!(at, '_' | '+' | '#'))
        .filter(|run| !run.is_empty() && run.len() <= 3 * WORD_MAX)
        .flat_map(|run| {
            let (one, several) = parts(run);
            one.into_iter().chain(several)
        })
        .filter(|word| word.len() <= WORD_MAX)
}

/// A run without blanks as one word, or as its parts and the whole.
fn parts(run: &str) -> (Option<Cow<'_, str>>, Vec<Cow<'_, str>>) {
    if is_plain(run) || NAMES.contains(&run) {
        return (Some(lower(run)), Vec::new());
    }
    let mut parts = Vec::new();
    for piece in run.split(['_', '+', '#']).filter(|piece| !piece.is_empty()) {
        let mut start = 0;
        let mut before = None::<char>;
        for (at, now) in piece.char_indices() {
            if before.is_some_and(|before| before.is_lowercase() && now.is_uppercase()) {
                parts.push(lower(&piece[start..at]));
                start = at;
            }
            before = Some(now);
        }
        parts.push(lower(&piece[start..]));
    }
    if parts.len() > 1 {
        parts.push(Cow::Owned(parts.concat()));
    }
    (None, parts)
}

fn is_plain(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

fn lower(word: &str) -> Cow<'_, str> {
    if is_plain(word) { Cow::Borrowed(word) } else { Cow::Owned(word.to_lowercase()) }
}

/// Endings of English words, each with its replacement and the minimum length of the rest. The first that fits is taken.
const ENDINGS: [(&str, &str, usize); 21] = [
    ("isations", "iz", 3),
    ("izations", "iz", 3),
    ("isation", "iz", 3),
    ("ization", "iz", 3),
    ("ising", "iz", 4),
    ("ised", "iz", 4),
    ("ises", "iz", 4),
    ("ise", "iz", 4),
    ("abilities", "abl", 3),
    ("ability", "abl", 3),
    ("ments", "", 4),
    ("ment", "", 4),
    ("ness", "", 4),
    ("ions", "", 4),
    ("ion", "", 4),
    ("ings", "", 4),
    ("ing", "", 3),
    ("ies", "y", 2),
    ("ed", "", 3),
    ("es", "", 3),
    ("s", "", 3),
];

/// A light stem: forms of one word mostly have the same one, in any script.
pub(crate) fn stem(word: &str) -> String {
    if word.len() <= 3 || !word.is_ascii() {
        return word.to_owned();
    }
    let kept = |ending: &str| word.ends_with("ss") && ending == "s" || word.ends_with("us") || word.ends_with("is");
    let found = ENDINGS.iter().find(|(ending, _, rest)| {
        word.len() >= rest + ending.len() && word.ends_with(ending) && !(matches!(*ending, "s") && kept(ending))
    });
    let Some((ending, instead, _)) = found else { return word.trim_end_matches('e').to_owned() };
    let rest = &word[..word.len() - ending.len()];
    let mut bytes = rest.bytes().rev();
    let doubled = matches!((bytes.next(), bytes.next()), (Some(last), Some(before)) if last == before && !matches!(last, b'l' | b's' | b'e'));
    let rest = if doubled && instead.is_empty() { &rest[..rest.len() - 1] } else { rest };
    format!("{}{instead}", rest.trim_end_matches('e'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            &["query", "queries"][..],
            &["migrate", "migrates", "migrated", "migrating", "migration", "migrations"],
            &["cache", "caches", "cached", "caching"],
            &["encrypt", "encrypted", "encryption"],
            &["deploy", "deploys", "deployment", "deployments"],
            &["optimize", "optimise", "optimization", "optimisation", "optimising"],
            &["log", "logs", "logging", "logged"],
            &["index", "indexes"],
            &["crash", "crashes", "crashing"],
            &["slow", "slowness"],
            &["process", "processes"],
            &["test", "tests", "testing"],
        ] {
            let stems: HashSet<String> = forms.iter().map(|form| stem(form)).collect();
            assert_eq!(stems.len(), 1, "{forms:?}: {stems:?}");
        }
        for word in ["status", "axis", "dns", "css", "aws", "the", "über"] {
            assert_eq!(stem(word), word);
        }
    }

    #[test]
    fn names_in_code_are_their_parts_and_the_whole() {
        let found: Vec<_> = words("OutOfMemoryError in `read_only` C++: DNS-Cache, v2").collect();
        assert_eq!(
            found,
            [
                "out",
                "of",
                "memory",
                "error",
                "outofmemoryerror",
                "in",
                "read",
                "only",
                "readonly",
                "c++",
                "dns",
                "cache",
                "v2"
            ]
        );
    }

    #[test]
    fn a_word_without_an_end_is_no_word() {
        assert_eq!(words(&"x".repeat(1_000_000)).count(), 0);
    }
}
