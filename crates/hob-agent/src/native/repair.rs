//! Finds a JSON object in a model's words, and repairs it as far as that needs no guess at its meaning.

use serde_json::{Map, Value};

use crate::report::first_line;

/// The most bytes of words that are searched.
const TEXT_MAX: usize = 256 * 1024;
/// The most places in the words at which an object is tried.
const PLACES_MAX: usize = 24;
/// Keys of which a reply has one.
const KEYS: [&str; 6] = ["action", "actions", "type", "tool", "command", "name"];

/// Why a text is not the one object that is wanted.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotOneObject {
    /// There is none.
    #[error("there is nothing")]
    Nothing,
    /// There are two that differ.
    #[error("there are two that differ: reply with one, and with nothing else")]
    Two,
    /// It has no end.
    #[error("they are cut: {0}")]
    Cut(#[source] serde_json::Error),
    /// It is not JSON.
    #[error(transparent)]
    Broken(#[from] serde_json::Error),
    /// Something else follows it.
    #[error("they are one JSON object, and something follows it: {0}")]
    Followed(String),
}

/// The object that is a reply. `None` if there is none; an error if there is one and it is broken, or there are two
/// that differ: one of them is an example or the model's guess of what comes next, and nothing tells which.
pub(super) fn object(text: &str) -> Result<Option<Map<String, Value>>, NotOneObject> {
    let text = &text[..text.floor_char_boundary(TEXT_MAX)];
    let (mut reply, mut broken) = (None, None);
    let mut skip_to = 0;
    for (at, _) in text.match_indices('{').take(PLACES_MAX) {
        if at < skip_to {
            continue;
        }
        match object_at(&text[at..]) {
            Ok((object, length)) => {
                // Its nested objects are not replies either.
                skip_to = at + length;
                match &reply {
                    _ if !KEYS.iter().any(|key| object.contains_key(*key)) => {}
                    None => reply = Some(object),
                    // Some servers send the same twice.
                    Some(first) if *first == object => {}
                    Some(_) => {
                        return Err(NotOneObject::Two);
                    }
                }
            }
            Err(error) => broken = broken.or(looks_meant(&text[at..]).then_some(error)),
        }
    }
    match (reply, broken) {
        (Some(reply), _) => Ok(Some(reply)),
        (None, broken) => broken.map_or(Ok(None), Err),
    }
}

/// The object at the beginning of `text`, repaired if needed, and its length in `text`.
fn object_at(text: &str) -> Result<(Map<String, Value>, usize), NotOneObject> {
    first_object(text).or_else(|error| {
        let (whole, _) = repaired(text, usize::MAX);
        let (object, length) = first_object(&whole).map_err(|_| error)?;
        Ok((object, repaired(text, length).1))
    })
}

/// The one object that a text is, repaired if that needs no guess. A text of two different objects is an error.
pub(super) fn only_object(text: &str) -> Result<Map<String, Value>, NotOneObject> {
    let (repaired, _) = repaired(text, usize::MAX);
    let (object, rest) = match first_object(text) {
        Ok((object, length)) => (object, &text[length..]),
        Err(error) => match (first_object(&repaired), error) {
            (Ok((object, length)), _) => (object, &repaired[length..]),
            (Err(_), NotOneObject::Broken(error)) if error.is_eof() => return Err(NotOneObject::Cut(error)),
            (Err(_), error) => return Err(error),
        },
    };
    match rest.trim() {
        "" => Ok(object),
        // Some servers send the same twice.
        rest if first_object(rest).is_ok_and(|(again, _)| again == object) => Ok(object),
        rest => Err(NotOneObject::Followed(first_line(rest, 60))),
    }
}

/// Whether a broken object was meant as a reply.
fn looks_meant(text: &str) -> bool {
    KEYS.iter().any(|key| text.contains(&format!("\"{key}\"")))
}

/// The object at the beginning of `text`, and its length.
fn first_object(text: &str) -> Result<(Map<String, Value>, usize), NotOneObject> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Map<String, Value>>();
    match values.next() {
        Some(Ok(object)) => Ok((object, values.byte_offset())),
        Some(Err(error)) => Err(error.into()),
        None => Err(NotOneObject::Nothing),
    }
}

/// The text with line breaks in strings escaped and commas before a closing bracket removed, until that has `most`
/// bytes; and the number of bytes of the text that it covers.
fn repaired(text: &str, most: usize) -> (String, usize) {
    let mut fixed = String::with_capacity(text.len() + 16);
    let (mut in_string, mut escaped) = (false, false);
    for (at, c) in text.char_indices() {
        if fixed.len() >= most {
            return (fixed, at);
        }
        if in_string {
            match c {
                '\n' => fixed.push_str("\\n"),
                '\r' => fixed.push_str("\\r"),
                '\t' => fixed.push_str("\\t"),
                c if c.is_control() => {}
                c => fixed.push(c),
            }
            in_string = escaped || c != '"';
            escaped = c == '\\' && !escaped;
            continue;
        }
        in_string = c == '"';
        let closes = || text[at + 1..].trim_start().starts_with(['}', ']']);
        if c != ',' || !closes() {
            fixed.push(c);
        }
    }
    (fixed, text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_and_commas_are_repaired_and_nothing_else() {
        let read = |text: &str| object(text).unwrap().map(|object| Value::Object(object).to_string());
        for (text, wanted) in [
            ("{\"command\": \"a\nb\tc\"}", r#"{"command":"a\nb\tc"}"#),
            (r#"{"command": "a", }"#, r#"{"command":"a"}"#),
            (r#"{"command": ["a", ] , }"#, r#"{"command":["a"]}"#),
            (r#"{"command": "a,}"}}}"#, r#"{"command":"a,}"}"#),
            (r#"{"command": "say \"hi,\" }"}"#, r#"{"command":"say \"hi,\" }"}"#),
            (r#"in {braces} then {"command": "x"}"#, r#"{"command":"x"}"#),
            (r#"{"note": {"command": "no"}} {"command": "x"}"#, r#"{"command":"x"}"#),
        ] {
            assert_eq!(read(text).as_deref(), Some(wanted), "{text}");
        }
        for two in [
            r#"For example {"command": "a"}, but I do {"command": "b"}"#,
            "{\"command\": \"a\nb\", }\n{\"command\": \"b\"}",
        ] {
            assert!(matches!(object(two), Err(NotOneObject::Two)), "{two}");
        }
        assert_eq!(read(r#"{"command": "a"} {"command": "a"}"#).as_deref(), Some(r#"{"command":"a"}"#));
        for broken in [r#"{"command": "a"#, r#"{"command": 'a'}"#, r#"{"command" "a"}"#] {
            assert!(object(broken).is_err(), "{broken}");
        }
        assert_eq!(object("{not json}").unwrap(), None);
    }

    #[test]
    fn a_flood_of_brackets_costs_little() {
        assert!(object(&"{".repeat(10 << 20)).unwrap().is_none());
        assert!(object(&r#"{"action":"#.repeat(1 << 20)).is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in "[a{}\\[\\]\",:\\\\\n ]{0,60}") {
            object(&text).ok();
        }
    }
}
