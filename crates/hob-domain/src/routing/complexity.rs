//! How much work an issue may be, from 1 to 10, by how it is built and what it asks for.

use super::{
    issue_text::Read,
    words::{stem, words},
};

/// Work that is rarely small, whatever the length of the text that asks for it.
const LARGE: [&str; 22] = [
    "review",
    "audit",
    "investigate",
    "analyze",
    "analyse",
    "diagnose",
    "migrate",
    "redesign",
    "refactor",
    "rewrite",
    "rearchitect",
    "harden",
    "design",
    "optimize",
    "overhaul",
    "integrate",
    "parallelize",
    "intermittent",
    "everywhere",
    "across",
    "architecture",
    "compare",
];
/// What is usually done in a minute.
const TRIVIAL: [&str; 4] = ["typo", "typos", "misspelled", "rename"];

/// The complexity of an issue; `topical`: how many different words of software work it has.
pub(super) fn complexity(read: &Read<'_>, topical: usize) -> u8 {
    let shape = &read.shape;
    let mut points = steps(shape.words, &[20, 45, 100, 250])
        + steps(shape.list_items, &[2, 5])
        + steps(shape.code_blocks, &[1, 3])
        + steps(read.paths.len(), &[1, 3])
        + steps(shape.links, &[1])
        + steps(shape.headings, &[3])
        + steps(topical, &[2, 6, 12]);
    let asked = read.parts.iter().take(3).flat_map(|(text, _)| words(text)).map(|word| stem(&word));
    let (mut large, mut trivial) = (false, false);
    for word in asked.take(60) {
        large |= LARGE.iter().any(|other| stem(other) == word);
        trivial |= TRIVIAL.iter().any(|other| stem(other) == word);
    }
    points += if large { 2 } else { 0 };
    points /= if trivial { 2 } else { 1 };
    u8::try_from(points.saturating_add(1).min(10)).unwrap_or(10)
}

/// How many of the steps a number has reached.
fn steps(number: usize, steps: &[usize]) -> usize {
    steps.iter().filter(|step| number >= **step).count()
}

#[cfg(test)]
mod tests {
    use crate::routing::{RoutedText, Router};

    fn complexity(title: &str, body: &str) -> u8 {
        Router::new(&[]).route(RoutedText { title, body, labels: &[] }).complexity
    }

    #[test]
    fn it_grows_with_what_an_issue_asks() {
        assert_eq!(complexity("What's the weather?", ""), 1);
        assert!(complexity("Fix a typo in the README", "In `docs/intro.md` it says \"teh\".") <= 3);
        assert!(complexity("Review this Python code for security issues", "") > 3);
        let long = "Users lose their session when the service restarts.\n\n## Steps\n1. Sign in\n2. Restart\n\n```\n401\n```\n\n\
                    See `src/session.rs`, `src/store.rs`, `src/auth.rs` and #12.\n\n"
            .repeat(6);
        assert_eq!(complexity("Sessions are lost", &long), 10);
    }
}
