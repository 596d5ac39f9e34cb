//! Parts of texts for people: code spans, folds, numbers with nouns.

use std::fmt::{Display, Write};

use crate::terminal;

/// Adds a line.
pub fn line(text: &mut String, part: &str) {
    // Writing to a string cannot fail.
    writeln!(text, "{part}").ok();
}

/// A code span that shows this text, on one line.
pub fn code_span(text: &str) -> String {
    let text = terminal(text).replace('\n', " ");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    match longest {
        0 => format!("`{text}`"),
        // It is delimited by a longer run of back-ticks than any in the text.
        _ => format!("{fence} {text} {fence}", fence = "`".repeat(longest + 1)),
    }
}

/// Code spans that show these texts, as a list.
pub fn code_spans(texts: &[String]) -> String {
    texts.iter().map(|text| code_span(text)).collect::<Vec<_>>().join(", ")
}

/// An account's name without a mention.
pub fn person(login: impl Display) -> String {
    code_span(&login.to_string())
}

/// Folded text: a heading that opens it.
pub fn folded(heading: &str, inner: &str) -> String {
    format!("<details><summary>{heading}</summary>\n\n{}\n\n</details>\n", inner.trim_end())
}

/// A number with its noun.
pub fn count(number: impl TryInto<u64>, noun: &str) -> String {
    match number.try_into().unwrap_or(u64::MAX) {
        1 => format!("1 {noun}"),
        number => format!("{number} {noun}s"),
    }
}

/// An error's text as a separate sentence.
pub fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// The text as a sentence that another one may follow. Several lines stay unchanged, because the last may end a block.
pub fn sentence(text: &str) -> String {
    let text = text.trim_end();
    match text.chars().next_back() {
        None => String::new(),
        Some(_) if text.contains('\n') => text.to_owned(),
        Some('.' | '?' | '!' | '…') => text.to_owned(),
        Some(':' | ';' | ',') => format!("{}.", &text[..text.len() - 1]),
        Some(_) => format!("{text}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_span_shows_its_text_whatever_is_in_it() {
        for (text, span) in [
            ("make test", "`make test`"),
            ("echo `date`", "`` echo `date` ``"),
            ("a ``` b", "```` a ``` b ````"),
            ("two\nlines \u{202e}", "`two lines \\u{202e}`"),
        ] {
            assert_eq!(code_span(text), span);
        }
    }

    #[test]
    fn one_thing_is_no_plural() {
        assert_eq!([0_u32, 1, 2].map(|n| count(n, "turn")), ["0 turns", "1 turn", "2 turns"]);
    }

    #[test]
    fn a_sentence_ends() {
        for (text, ended) in [
            ("no route", "no route."),
            ("rules were broken:", "rules were broken."),
            ("Why? ", "Why?"),
            ("", ""),
            ("a\n```", "a\n```"),
        ] {
            assert_eq!(sentence(text), ended);
        }
    }
}
