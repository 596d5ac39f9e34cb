//! Calls in Python's words, `[read(path="a", from=3)]`: of Llama 4, LFM2, Gemma and Gemini. Only keywords and plain values.

use serde_json::{Map, Value};

/// A call: its name and its arguments.
type Call = (String, Map<String, Value>);

/// Values inside of each other.
const DEPTH_MAX: usize = 8;

/// The calls that are all of `text`: a list of them, or one in each line, also as `print(…)`.
pub(super) fn calls(text: &str) -> Option<Vec<Call>> {
    let text = text.trim();
    let (mut rest, end) = match text.strip_prefix('[') {
        Some(inner) => (inner.trim_start(), "]"),
        None => (text, ""),
    };
    let mut calls = Vec::new();
    loop {
        let printed = rest.strip_prefix("print(");
        let (call, after) = call(printed.unwrap_or(rest))?;
        calls.push(call);
        let after = if printed.is_some() { after.trim_start().strip_prefix(')')? } else { after };
        let after = after.trim_start();
        if after.strip_prefix(end).is_some_and(|more| more.trim().is_empty()) {
            return Some(calls);
        }
        rest = if end.is_empty() { after } else { after.strip_prefix(',')?.trim_start() };
    }
}

/// `NAME(KEY=VALUE, …)`.
fn call(text: &str) -> Option<(Call, &str)> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let (name, mut rest) = text.split_at(text.find(|c| !is_name(c))?);
    rest = rest.strip_prefix('(')?.trim_start();
    let mut given = Map::new();
    while !rest.starts_with(')') {
        let (key, after) = rest.split_at(rest.find(|c| !is_name(c))?);
        let (value, after) = value(after.trim_start().strip_prefix('=')?.trim_start(), 0)?;
        if key.is_empty() || given.insert(key.to_owned(), value).is_some() {
            return None;
        }
        rest = next(after, ')')?;
    }
    (!name.is_empty()).then(|| ((name.to_owned(), given), &rest[1..]))
}

/// What follows a comma, or `end` itself.
fn next(text: &str, end: char) -> Option<&str> {
    let text = text.trim_start();
    if text.starts_with(end) { Some(text) } else { text.strip_prefix(',').map(str::trim_start) }
}

fn value(text: &str, depth: usize) -> Option<(Value, &str)> {
    if depth > DEPTH_MAX {
        return None;
    }
    for (word, value) in [("True", Value::Bool(true)), ("False", Value::Bool(false)), ("None", Value::Null)] {
        if let Some(rest) = text.strip_prefix(word) {
            return Some((value, rest));
        }
    }
    match text.chars().next()? {
        '\'' | '"' => string(text),
        '[' => {
            let (mut list, mut rest) = (Vec::new(), text[1..].trim_start());
            while !rest.starts_with(']') {
                let (item, after) = value(rest, depth + 1)?;
                list.push(item);
                rest = next(after, ']')?;
            }
            Some((list.into(), &rest[1..]))
        }
        '{' => {
            let (mut map, mut rest) = (Map::new(), text[1..].trim_start());
            while !rest.starts_with('}') {
                let (Value::String(key), after) = string(rest)? else { return None };
                let (item, after) = value(after.trim_start().strip_prefix(':')?.trim_start(), depth + 1)?;
                map.insert(key, item);
                rest = next(after, '}')?;
            }
            Some((map.into(), &rest[1..]))
        }
        _ => {
            let at = text.find([',', ')', ']', '}'])?;
            Some((serde_json::from_str(text[..at].trim()).ok().filter(Value::is_number)?, &text[at..]))
        }
    }
}

/// A quoted text; an escape that is not a common one is read as it is, as Python does.
fn string(text: &str) -> Option<(Value, &str)> {
    let mark = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|mark| text.starts_with(mark))?;
    let (mut said, mut rest) = (String::new(), &text[mark.len()..]);
    loop {
        if let Some(after) = rest.strip_prefix(mark) {
            return Some((said.into(), after));
        }
        let mut chars = rest.chars();
        match chars.next()? {
            '\n' if mark.len() == 1 => return None,
            '\\' => match chars.next()? {
                'n' => said.push('\n'),
                't' => said.push('\t'),
                'r' => said.push('\r'),
                '\n' => {}
                quoted @ ('\\' | '\'' | '"') => said.push(quoted),
                // Numbers of characters would have to be guessed from.
                'x' | 'u' | 'U' | 'N' | '0'..='7' => return None,
                other => said.extend(['\\', other]),
            },
            other => said.push(other),
        }
        rest = chars.as_str();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<Vec<String>> {
        let calls = calls(text)?.into_iter().map(|(name, given)| format!("{name} {}", Value::Object(given)));
        Some(calls.collect())
    }

    #[test]
    fn a_call_is_read_with_its_values_as_they_are_or_not_at_all() {
        for (text, calls) in [
            (r#"[read(path="a", from=3)]"#, &[r#"read {"from":3,"path":"a"}"#][..]),
            ("[list(), list(path='b')]", &["list {}", r#"list {"path":"b"}"#]),
            ("print(default_api.read(path='it\\'s'))", &[r#"default_api.read {"path":"it's"}"#]),
            ("read(path='a')\nread(path='b')", &[r#"read {"path":"a"}"#, r#"read {"path":"b"}"#]),
            (
                "[f(a=[1, 'x'], b={'k': True}, c=None, d=-1.5)]",
                &[r#"f {"a":[1,"x"],"b":{"k":true},"c":null,"d":-1.5}"#],
            ),
            ("[f(a=\"\"\"one\n\"two\"\n\"\"\")]", &[r#"f {"a":"one\n\"two\"\n"}"#]),
            (r#"[f(a="\d\n")]"#, &[r#"f {"a":"\\d\n"}"#]),
        ] {
            assert_eq!(
                found(text).as_deref(),
                Some(&calls.iter().map(|call| (*call).to_owned()).collect::<Vec<_>>()[..]),
                "{text}"
            );
        }
        for none in [
            "",
            "[]",
            "read",
            "read(",
            "read('a')",
            "[read(path='a'",
            "[read(path=a)]",
            "[read(path='a)]",
            "f(a=1, a=2)",
            "f(a=1) + 2",
            "[f(a='\\x41')]",
        ] {
            assert_eq!(found(none), None, "{none}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_the_reader(text in "[af=,()\\[\\]{}'\"\\\\ 1\n]{0,40}") {
            calls(&text);
        }
    }
}
