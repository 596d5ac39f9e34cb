//! Short replies that are understood without an agent: a yes, and a word that ends the work. A comment counts only if
//! it says nothing else; everything longer is for the agent.

use crate::conversation::command::own_text;

/// What a short reply says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShortWord {
    /// Yes.
    Yes,
    /// The work is no longer wanted.
    Stop,
}

/// The longest such reply, in bytes, quotes not counted.
const SHORT_MAX: usize = 80;

/// Phrases that say yes, the longest of those with the same beginning first.
const YES: [&str; 26] = [
    "yes",
    "yep",
    "yeah",
    "ok",
    "okay",
    "sure",
    "agreed",
    "approved",
    "approve",
    "lgtm",
    "go ahead",
    "go for it",
    "go on",
    "do it",
    "do that",
    "ship it",
    "sounds good to me",
    "sounds good",
    "looks good to me",
    "looks good",
    "looks fine",
    "fine by me",
    "fine",
    "👍",
    "🚀",
    "✅",
];

/// Phrases that end the work.
const STOP: [&str; 14] = [
    "stop working on this",
    "stop this",
    "stop it",
    "stop",
    "never mind",
    "nevermind",
    "forget it",
    "forget about it",
    "cancel this",
    "cancel it",
    "cancel that",
    "cancel",
    "drop this",
    "drop it",
];

/// Words around such a phrase that change nothing.
const POLITE: [&str; 8] = ["please", "thanks", "thank you", "hob", "hey", "hi", "then", "😊"];

/// What a comment says, if it is such a reply and nothing else.
pub(crate) fn short_word(comment: &str) -> Option<ShortWord> {
    if comment.trim_end().ends_with('?') {
        return None;
    }
    let own = own_text(comment).filter(|own| own.len() <= SHORT_MAX)?;
    let text = own.replace('\u{2019}', "'").to_lowercase().replace("+1", "👍");
    let is_mark = |c: char| c.is_whitespace() || c.is_ascii_punctuation() || c == '\u{fe0f}';
    // A skin tone belongs to the sign before it.
    let tone = |c: char| ('\u{1f3fb}'..='\u{1f3ff}').contains(&c);
    let words: Vec<String> =
        text.split(is_mark).map(|word| word.replace(tone, "")).filter(|word| !word.is_empty()).collect();
    says_only(&words, &STOP).then_some(ShortWord::Stop).or_else(|| says_only(&words, &YES).then_some(ShortWord::Yes))
}

/// Whether the words are such phrases, one at least, and polite words.
fn says_only(mut words: &[String], phrases: &[&str]) -> bool {
    let mut has_one = false;
    while !words.is_empty() {
        let begins = |phrase: &&&str| begins_with(words, phrase);
        let length = |phrase: &&str| phrase.split(' ').count();
        let said = phrases.iter().filter(begins).map(length).max();
        let polite = POLITE.iter().filter(begins).map(length).max();
        let Some(taken) = said.or(polite) else { return false };
        has_one |= said.is_some();
        words = words.get(taken..).unwrap_or_default();
    }
    has_one
}

fn begins_with(words: &[String], phrase: &str) -> bool {
    let mut words = words.iter();
    phrase.split(' ').all(|part| words.next().is_some_and(|word| word == part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_counts_if_it_says_nothing_else() {
        use ShortWord::{Stop, Yes};
        for (comment, expected) in [
            ("yes", Some(Yes)),
            ("Yes, please!", Some(Yes)),
            ("ok, go ahead", Some(Yes)),
            ("OK. Do it, thanks", Some(Yes)),
            ("LGTM", Some(Yes)),
            ("lgtm 👍🏽", Some(Yes)),
            ("+1", Some(Yes)),
            ("**Approved.**", Some(Yes)),
            ("> Should the work begin by this plan?\n\nyes", Some(Yes)),
            ("Looks good to me :)", Some(Yes)),
            ("stop", Some(Stop)),
            ("Please stop!", Some(Stop)),
            ("Never mind.", Some(Stop)),
            ("never mind, thanks", Some(Stop)),
            ("Cancel this, please", Some(Stop)),
            // These say more, or something else.
            ("yes, but use UTC", None),
            ("yes?", None),
            ("LGTM, one nit: rename it", None),
            ("no", None),
            ("not ok", None),
            ("don't stop", None),
            ("Stop the server first", None),
            ("never mind the colour", None),
            ("ok, stop", None),
            ("> yes", None),
            ("`yes`", None),
            ("yes `if it is red`", None),
            ("<!-- yes -->", None),
            ("please", None),
            ("thanks", None),
            ("", None),
        ] {
            assert_eq!(short_word(comment), expected, "{comment:?}");
        }
        assert_eq!(short_word(&"yes ".repeat(100)), None);
    }
}
