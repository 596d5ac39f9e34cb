//! How an agent's closing words are read as a plan, and why they may not be one.

use hob_text::shortened;

/// Closing words that are not a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoPlan {
    /// There are no steps.
    #[error("the agent gave no plan: its last words have no steps")]
    NoSteps,
    /// The issue is to be split, and there are no issues.
    #[error("the agent named no issues to split this one into")]
    NoIssues,
    /// An issue has no title.
    #[error("issue {0} of the agent's plan has no title")]
    NoTitle(usize),
    /// An issue would wait for itself, for a later one or for one outside the list.
    #[error("issue {issue} of the agent's plan cannot wait for issue {other}: only for one before it")]
    BadOrder {
        /// The issue, counted from 1.
        issue: usize,
        /// The other issue.
        other: usize,
    },
    /// It is longer than people are asked to read.
    #[error("the agent's plan is too long: it has {0}, and may have {1}")]
    TooLong(String, usize),
    /// A file cannot be in the repository.
    #[error("the agent's plan names a file that cannot be one of the repository: {0}")]
    BadPath(String),
}

/// Whether a line begins an item of a list, and its text without the mark.
pub(crate) fn item(line: &str) -> (bool, &str) {
    let line = line.trim();
    for mark in ["- [ ] ", "- [x] ", "- ", "* ", "+ "] {
        if let Some(text) = line.strip_prefix(mark) {
            return (true, text.trim());
        }
    }
    let after = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let text = after.strip_prefix(". ").or_else(|| after.strip_prefix(") "));
    match text.filter(|_| after.len() < line.len()) {
        Some(text) => (true, text.trim()),
        None => (false, line),
    }
}

/// Whether a line says that there is nothing to say.
pub(crate) fn is_nothing(text: &str) -> bool {
    matches!(
        text.trim_end_matches('.').to_ascii_lowercase().as_str(),
        "none" | "nothing" | "n/a" | "-" | "–" | "(none)"
    )
}

/// Adds words to a text of at most `max` characters.
pub(crate) fn push_words(text: &mut String, words: &str, max: usize) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(words);
    *text = shortened(text, max);
}
