//! How much work an issue may be, from 1 to 10: by what it asks for and how many subjects that has, not by how many words it takes
//! to say so. A terse issue need not be simple.

use std::{collections::HashSet, sync::LazyLock};

use super::{
    issue_text::Read,
    words::{stem, words},
};

/// Verbs and nouns of people who want work done or report a fault.
static WORK: LazyLock<HashSet<String>> = LazyLock::new(|| {
    stems(
        "add allow automate avoid block break broken bug build cache change configure convert crash create delete \
    deploy deprecate detect disable document drop enable encrypt error expose fail fix flaky freeze generate \
    handle hang ignore implement improve incorrect instead introduce leak limit lose make merge miss move need \
    outage please prevent problem protect publish reduce regression reject remove replace request restore \
    restrict rotate schedule set setup shorten should show slow speed split stop suggest support test unable \
    update upgrade validate want write wrong",
    )
});
/// Work that is rarely small.
static LARGE: LazyLock<HashSet<String>> = LazyLock::new(|| {
    stems(
        "review audit investigate analyze analyse diagnose migrate redesign refactor rewrite rearchitect harden \
    design optimize overhaul integrate parallelize intermittent everywhere across architecture compare",
    )
});
/// Words for work that usually takes a minute.
static TRIVIAL: LazyLock<HashSet<String>> =
    LazyLock::new(|| stems("typo typos misspelled misspelt spelling rename bump whitespace"));
/// The number of words that are read, from the beginning.
const ASKED_WORDS: usize = 60;
/// The complexity of any work in a specific field: more than the base agent does without help.
const SOME_WORK: usize = 4;

/// The complexity of an issue; `topical`: how many different words of software work it has.
pub(super) fn complexity(read: &Read<'_>, topical: usize) -> u8 {
    let shape = &read.shape;
    let asked = read.parts.iter().take(3).flat_map(|(text, _)| words(text)).map(|word| stem(&word));
    let (mut work, mut large, mut trivial) = (false, false, false);
    // A body may mention anything; only a title says that the work is trivial.
    let in_title = read.parts.first().map_or(0, |(title, _)| words(title).count());
    for (at, word) in asked.take(ASKED_WORDS).enumerate() {
        work |= WORK.contains(&word);
        large |= LARGE.contains(&word);
        trivial |= at < in_title && TRIVIAL.contains(&word);
    }
    let things = steps(shape.list_items, &[3, 8])
        + steps(shape.code_blocks, &[1, 3])
        + steps(read.paths.len(), &[2, 5])
        + steps(shape.links, &[2])
        + steps(shape.headings, &[3])
        + steps(topical, &[8, 16]);
    // A word or two of a field says what is asked as well as a verb does.
    let asks = if large || topical > 1 || work && topical > 0 { SOME_WORK } else { 1 + usize::from(work) };
    let points = asks + things + if large { 2 } else { 0 };
    let points = if trivial { points.min(2 * SOME_WORK) / 2 - usize::from(points >= 2 * SOME_WORK) } else { points };
    u8::try_from(points.clamp(1, 10)).unwrap_or(10)
}

fn stems(words: &str) -> HashSet<String> {
    words.split(' ').map(stem).collect()
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

    /// Requirement M1: the threshold is 3.
    #[test]
    fn it_grows_with_what_an_issue_asks() {
        assert_eq!(complexity("What's the weather?", ""), 1);
        assert_eq!(complexity("Thank you, it works", ""), 1);
        assert!(complexity("Fix a typo in the README", "In `docs/intro.md` it says \"teh\".") <= 3);
        assert!(complexity("Rename the column `id` of the table `users` in the SQL schema", "") <= 3);
        assert!(complexity("Review this Python code for security issues", "") > 3);
        let long = "Users lose their session when the service restarts.\n\n## Steps\n1. Sign in\n2. Restart\n\n```\n401\n```\n\n\
                    See `src/session.rs`, `src/store.rs`, `src/auth.rs` and #12.\n\n"
            .repeat(6);
        assert!(complexity("Sessions are lost", &long) > 7);
    }

    #[test]
    fn a_long_text_is_no_more_work_than_a_short_one_that_asks_the_same() {
        let chat =
            "I was thinking about this for a while, and so were the others here, as you may well imagine. ".repeat(30);
        let title = "Setup Azure Exchange with custom domain";
        assert_eq!(complexity(title, ""), complexity(title, &chat));
        assert!(complexity(title, "") > 3);
        assert_eq!(complexity("Hello!", &chat), 1);
    }
}
