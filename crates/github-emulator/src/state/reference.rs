//! References to issues in text: mentions (`#12`) and closing keywords (`Fixes #12`).

/// The keywords that close an issue when their text is merged.
const KEYWORDS: [&str; 9] = ["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"];

/// The numbers of the issues that `text` mentions, each once.
pub(in super::super) fn mentions(text: &str) -> Vec<u64> {
    found(text).map(|(_, number)| number).collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

/// The numbers of the issues that `text` closes.
pub(in super::super) fn closes(text: &str) -> Vec<u64> {
    let closing = found(text).filter(|(before, _)| {
        let word = before.trim_end().trim_end_matches(':').rsplit(|c: char| !c.is_ascii_alphabetic()).next();
        before.ends_with(char::is_whitespace)
            && word.is_some_and(|word| KEYWORDS.contains(&word.to_ascii_lowercase().as_str()))
    });
    closing.map(|(_, number)| number).collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

/// Each separate `#number`, with the text before it.
fn found(text: &str) -> impl Iterator<Item = (&str, u64)> {
    text.match_indices('#').filter_map(move |(at, _)| {
        let (before, after) = (&text[..at], &text[at + 1..]);
        let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let alone = |c: char| !c.is_alphanumeric() && c != '_';
        let starts = before.chars().next_back().is_none_or(|c| alone(c) && !matches!(c, '/' | '&' | '#'));
        let ends = after[digits..].chars().next().is_none_or(alone);
        (starts && ends).then(|| after[..digits].parse().ok()).flatten().map(|number| (before, number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mention_stands_on_its_own() {
        assert_eq!(mentions("see #3, (#12) and #3; not a#4, #5b, &#6; or x/#7"), [3, 12]);
    }

    #[test]
    fn only_a_keyword_before_the_number_closes() {
        assert_eq!(closes("Fixes #1. closes: #2\nresolved #3; see #4, prefixes#5 and prefix #6"), [1, 2, 3]);
    }
}
