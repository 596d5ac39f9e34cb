//! Text without secrets.

use std::{borrow::Cow, collections::BTreeSet, fmt, ops::Range};

use serde_json::Value;

use crate::redaction::search::Search;

/// What replaces a secret. It has no meaning in Markdown, JSON, a shell or a workflow command, regardless of the text
/// around it: with brackets, a `!` before the secret and an address after it would become an image.
const MARK: &str = "(redacted: a secret of Hob)";
/// Bytes of a file that are searched at a time.
const PIECE: usize = 1 << 20;
/// Bytes that two pieces share: more than any form of a secret takes.
const OVERLAP: usize = 64 << 10;

/// A gate for text. It is built once for a set of secrets and searches each text once.
#[derive(Default)]
pub struct Redaction(Search);

impl fmt::Debug for Redaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redaction").finish_non_exhaustive()
    }
}

impl Redaction {
    /// The gate for these secrets.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        Self(Search::new(secrets))
    }

    /// The text with a mark in place of each secret, or unchanged if there is none. A JSON object at its end stays
    /// valid JSON.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = self.stretches(text.as_bytes());
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        // In JSON a secret can begin or end within an escape, which must not be cut.
        if let Some(kept) = self.before_and_object(text).filter(|kept| self.stretches(kept.as_bytes()).is_empty()) {
            return Cow::Owned(kept);
        }
        let mut kept = String::with_capacity(text.len());
        let mut at = 0;
        for Range { start, end } in found {
            // A part of a secret may begin within a letter of two bytes.
            kept.push_str(&text[at..text.floor_char_boundary(start).max(at)]);
            kept.push_str(MARK);
            at = text.ceil_char_boundary(end);
        }
        kept.push_str(&text[at..]);
        Cow::Owned(kept)
    }

    fn before_and_object(&self, text: &str) -> Option<String> {
        let (before, object) = text.split_at(text.find('{')?);
        let value = serde_json::from_str(object).ok()?;
        let end = &object[object.trim_end().len()..];
        let kept = self.unescaped(self.value(&value).into_owned());
        Some(format!("{}{kept}{end}", self.text(before)))
    }

    /// The value without texts that look like a secret once JSON's escapes are written: the `n` of a line end may be a
    /// secret's first letter.
    fn unescaped(&self, value: Value) -> Value {
        match value {
            Value::String(text) if self.holds(&Value::from(text.as_str()).to_string()) => Value::from(MARK),
            Value::Array(items) => items.into_iter().map(|item| self.unescaped(item)).collect(),
            Value::Object(fields) => {
                Value::Object(fields.into_iter().map(|(name, item)| (name, self.unescaped(item))).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
        }
    }

    /// The value with a mark in place of each secret in its texts.
    pub fn value<'a>(&self, value: &'a Value) -> Cow<'a, Value> {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => Cow::Borrowed(value),
            Value::String(text) => match self.text(text) {
                Cow::Borrowed(_) => Cow::Borrowed(value),
                Cow::Owned(kept) => Cow::Owned(Value::String(kept)),
            },
            Value::Array(items) => {
                let kept: Vec<_> = items.iter().map(|item| self.value(item)).collect();
                match kept.iter().any(|item| matches!(item, Cow::Owned(_))) {
                    true => Cow::Owned(kept.into_iter().map(Cow::into_owned).collect()),
                    false => Cow::Borrowed(value),
                }
            }
            Value::Object(fields) => {
                let kept: Vec<_> = fields.iter().map(|(name, item)| (self.text(name), self.value(item))).collect();
                match kept.iter().any(|one| matches!(one, (Cow::Owned(_), _) | (_, Cow::Owned(_)))) {
                    true => {
                        let owned = kept.into_iter().map(|(name, item)| (name.into_owned(), item.into_owned()));
                        Cow::Owned(Value::Object(owned.collect()))
                    }
                    false => Cow::Borrowed(value),
                }
            }
        }
    }

    /// Whether the text contains a secret.
    pub fn holds(&self, text: &str) -> bool {
        !self.0.findings(text.as_bytes()).is_empty()
    }

    /// The secrets in the content of a file, as indices into the list that the gate was built with.
    pub fn found_in(&self, content: &[u8]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut at = 0;
        loop {
            let end = content.len().min(at + PIECE);
            found.extend(self.0.findings(&content[at..end]).into_iter().map(|one| one.secret));
            if end == content.len() {
                return found;
            }
            at = end - OVERLAP;
        }
    }

    /// The ranges of the text to leave out, in order and disjoint.
    fn stretches(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut stretches: Vec<Range<usize>> = Vec::new();
        for found in self.0.findings(text) {
            let (start, end) = found.at;
            match stretches.last_mut() {
                Some(last) if start <= last.end => last.end = last.end.max(end),
                _ => stretches.push(start..end),
            }
        }
        stretches
    }
}
