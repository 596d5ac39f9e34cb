//! The arguments of a call, joined from the pieces in which a service sends them.
//!
//! - Guarantees: the pieces one after the other, unless only another reading is an object: an empty object that only
//!   holds the place of what follows, or pieces that each repeat what came before.
//! - Sources: Anthropic's messages begin a call with `input: {}`, which proxies to OpenAI's interface send as a first or last piece;
//!   servers that send the arguments so far with each piece.

use serde_json::{Map, Value};

/// The pieces so far.
#[derive(Debug, Default, Clone)]
pub(super) struct Pieces {
    joined: String,
    last: String,
    count: usize,
    /// Whether each piece begins with the one before.
    grows: bool,
}

impl Pieces {
    /// Adds a piece.
    pub(super) fn push(&mut self, more: &str) {
        let is_place = |text: &str| text.trim() == "{}";
        if more.is_empty() || is_place(more) && self.is_whole() {
            return;
        }
        if is_place(&self.joined) && more.trim_start().starts_with('{') {
            *self = Self::default();
        }
        self.grows = self.count == 0 || self.grows && more.starts_with(&self.last);
        self.count += 1;
        self.joined.push_str(more);
        more.clone_into(&mut self.last);
    }

    /// Whether nothing came.
    pub(super) fn is_empty(&self) -> bool {
        self.joined.is_empty()
    }

    /// Whether they are one object.
    pub(super) fn is_whole(&self) -> bool {
        is_object(&self.joined)
    }

    /// Whether they are one object with something in it, and `more` is another one.
    pub(super) fn is_followed_by(&self, more: &str) -> bool {
        self.joined.trim() != "{}" && more.trim() != "{}" && more != self.joined && self.is_whole() && is_object(more)
    }

    /// Whether `more` is all of them again.
    pub(super) fn is_repeated_by(&self, more: &str) -> bool {
        more == self.joined && self.is_whole()
    }

    /// All of them.
    pub(super) fn whole(self) -> String {
        let repeats = self.count > 1 && self.grows && !is_object(&self.joined) && is_object(&self.last);
        if repeats { self.last } else { self.joined }
    }
}

fn is_object(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('{') && text.ends_with('}') && serde_json::from_str::<Map<String, Value>>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_what_they_are_together_or_what_alone_makes_sense() {
        for (pieces, whole) in [
            (&[r#"{"a":"#, r#"1}"#][..], r#"{"a":1}"#),
            (&["{}", r#"{"a":1}"#], r#"{"a":1}"#),
            (&["{}", r#"{"a":"#, "1}"], r#"{"a":1}"#),
            (&[r#"{"a":"#, "1}", "{}"], r#"{"a":1}"#),
            (&["{}", "{}"], "{}"),
            (&["", "{}", ""], "{}"),
            (&[r#"{"a":"#, r#"{"a":1"#, r#"{"a":1}"#], r#"{"a":1}"#),
            // A nested object is not a repetition, nor is what is cut.
            (&[r#"{"a":"#, r#"{"a":1}}"#], r#"{"a":{"a":1}}"#),
            (&[r#"{"a":"#, r#"{"a":1"#], r#"{"a":{"a":1"#),
            (&["a", "ab"], "aab"),
            (&[r#"{"a":{}"#, "{}", "}"], r#"{"a":{}{}}"#),
        ] {
            let mut joined = Pieces::default();
            pieces.iter().for_each(|piece| joined.push(piece));
            assert_eq!(joined.whole(), whole, "{pieces:?}");
        }
    }
}
