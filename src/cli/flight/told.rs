//! Text of others in the flight record: without secrets, with nothing invisible, and bounded. The templates escape it.

use std::sync::Arc;

use hob_text::{KnownSecrets, Redaction, clip_middle, shortened, with_escapes, without_tokens};
use serde::Serialize;

/// Bytes of a text; the middle of a longer one is left out.
const TEXT_MAX: usize = 16 << 10;
/// Characters of a line.
const LINE_MAX: usize = 400;
/// Characters of a heading, below which the whole text follows.
pub(super) const HEADING_MAX: usize = 160;

/// A text that a [`Cleaner`] made harmless.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(super) struct Told(String);

impl Told {
    /// Its bytes.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is in it but blanks.
    pub(super) fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }

    /// Whether it is, or has, a unified diff.
    pub(super) fn has_diff(&self) -> bool {
        let begins = |start: &str| self.0.lines().any(|line| line.starts_with(start));
        begins("@@ ") && begins("--- ") && begins("+++ ")
    }
}

/// Makes texts harmless.
#[derive(Debug)]
pub(super) struct Cleaner(Arc<Redaction>);

impl Cleaner {
    /// One that takes out these secrets, and those of known forms.
    pub(super) fn new(secrets: &KnownSecrets) -> Self {
        Self(secrets.redaction())
    }

    /// A text of many lines.
    pub(super) fn text(&self, text: &str) -> Told {
        Told(clip_middle(&self.clean(text), TEXT_MAX))
    }

    /// A text in one line.
    pub(super) fn line(&self, text: &str) -> Told {
        Told(shortened(&self.clean(text), LINE_MAX))
    }

    /// A heading, which is a shorter line.
    pub(super) fn heading(&self, text: &str) -> Told {
        Told(shortened(&self.clean(text), HEADING_MAX))
    }

    /// The secrets first: none is found in a text that was cut or escaped.
    fn clean(&self, text: &str) -> String {
        let text = without_tokens(&self.0.text(text)).replace("\r\n", "\n").replace('\r', "\n");
        with_escapes(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_no_secret_nothing_invisible_and_an_end() {
        let secrets = KnownSecrets::default();
        secrets.add(["canary-1234567890".to_owned().into()]);
        let cleaner = Cleaner::new(&secrets);
        let text = |text: &str| serde_json::to_value(cleaner.text(text)).unwrap().as_str().unwrap().to_owned();
        assert_eq!(text("is canary-1234567890\r\nso"), "is (redacted: a secret of Hob)\nso");
        assert_eq!(text("a\u{202e}b\u{200b}c\u{1b}[31m ⚠\u{fe0f}"), "a\\u{202e}b\\u{200b}c\\u{1b}[31m ⚠\u{fe0f}");
        let github = ["ghp", "_", &"aB3dE6gH9k".repeat(4)].concat()[..40].to_owned();
        assert!(!text(&github).contains("aB3dE6gH9k"), "{}", text(&github));
        let long = text(&"x".repeat(TEXT_MAX + 1_000));
        assert!(long.len() < TEXT_MAX + 50 && long.contains("bytes cut"), "{}", long.len());
        assert_eq!(cleaner.line("a\nb  c"), Told("a b c".to_owned()));
        assert!(cleaner.line(&"x".repeat(1_000)).len() <= LINE_MAX + 2);
    }
}
