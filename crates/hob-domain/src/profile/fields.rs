//! Values of the front matter, read as their types. Each error says what is wrong and in which line; the caller decides
//! how severe it is.

use std::{str::FromStr, time::Duration};

use hob_text::yaml::{Node, Value};

use crate::profile::{
    front_matter::FIRST_LINE,
    problem::{Problem, Severity},
};

/// The most values in a list.
const LIST_MAX: usize = 100;
/// The most characters in a value.
pub(super) const TEXT_MAX: usize = 500;

/// An invalid value.
#[derive(Debug)]
pub(super) struct Wrong {
    line: usize,
    text: String,
}

impl Wrong {
    pub(super) fn new(node: &Node, text: impl Into<String>) -> Self {
        Self { line: node.line, text: text.into() }
    }
}

/// The problems found in a file.
#[derive(Debug, Default)]
pub(super) struct Problems(pub(super) Vec<Problem>);

impl Problems {
    /// The value, or a problem that says what is wrong with it.
    pub(super) fn keep<T>(&mut self, severity: Severity, found: Result<T, Wrong>) -> Option<T> {
        found.map_err(|wrong| self.note(severity, wrong.line, wrong.text)).ok()
    }

    pub(super) fn note(&mut self, severity: Severity, line: usize, text: String) {
        self.0.push(Problem { severity, line: Some(line + FIRST_LINE - 1), text });
    }
}

/// One text.
pub(super) fn text(key: &str, node: &Node, max: usize) -> Result<String, Wrong> {
    let Value::Text(text) = &node.value else { return Err(Wrong::new(node, format!("`{key}` is not text"))) };
    let text = text.trim();
    match text.chars().count() {
        0 => Err(Wrong::new(node, format!("`{key}` is empty"))),
        length if length > max => Err(Wrong::new(node, format!("`{key}` has {length} characters; it may have {max}"))),
        _fits if text.chars().any(|c| c.is_control() && !c.is_whitespace()) => {
            Err(Wrong::new(node, format!("`{key}` holds a control character")))
        }
        _fits => Ok(text.to_owned()),
    }
}

/// The values of a list; a single value counts as a list of one.
pub(super) fn items<'a>(key: &str, node: &'a Node) -> Result<Vec<&'a Node>, Wrong> {
    match &node.value {
        Value::List(items) if items.len() > LIST_MAX => {
            Err(Wrong::new(node, format!("`{key}` lists {} values; it may list {LIST_MAX}", items.len())))
        }
        Value::List(items) => Ok(items.iter().collect()),
        Value::Text(_) => Ok(vec![node]),
        Value::Nothing => Ok(Vec::new()),
        Value::Map(_) | Value::Other => Err(Wrong::new(node, format!("`{key}` is not a list"))),
    }
}

/// A list of texts.
pub(super) fn texts(key: &str, node: &Node) -> Result<Vec<String>, Wrong> {
    items(key, node)?.into_iter().map(|item| text(key, item, TEXT_MAX)).collect()
}

/// The entries of a map, each key once.
pub(super) fn entries<'a>(key: &str, node: &'a Node) -> Result<&'a [(String, Node)], Wrong> {
    let entries = match &node.value {
        Value::Map(entries) => entries.as_slice(),
        Value::Nothing => &[],
        Value::Text(_) | Value::List(_) | Value::Other => {
            return Err(Wrong::new(node, format!("`{key}` is not a map: write its keys below it")));
        }
    };
    for (at, (name, value)) in entries.iter().enumerate() {
        if entries[..at].iter().any(|(earlier, _)| earlier == name) {
            return Err(Wrong::new(value, format!("`{}` appears twice", shown(name))));
        }
    }
    Ok(entries)
}

/// A text that names something.
pub(super) fn named<T: FromStr>(key: &str, node: &Node) -> Result<T, Wrong>
where
    T::Err: ToString,
{
    let text = text(key, node, TEXT_MAX)?;
    text.parse().map_err(|error: T::Err| Wrong::new(node, format!("`{key}`: {}", error.to_string())))
}

/// One of a fixed list of words.
pub(super) fn one_of<T: Copy>(key: &str, node: &Node, words: &[(&str, T)]) -> Result<T, Wrong> {
    let given = text(key, node, TEXT_MAX)?;
    let found = words.iter().find(|(word, _)| *word == given).map(|(_, meaning)| *meaning);
    let known = || words.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    found.ok_or_else(|| Wrong::new(node, format!("`{key}` is `{}`; it may be {}", shown(&given), known())))
}

/// A whole number from 1.
pub(super) fn number(key: &str, node: &Node) -> Result<u64, Wrong> {
    let given = text(key, node, TEXT_MAX)?;
    let number = given.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| Wrong::new(node, format!("`{key}` is `{}`; write a whole number from 1", shown(&given))))
}

/// A time such as `30m`.
pub(super) fn time(key: &str, node: &Node) -> Result<Duration, Wrong> {
    let given = text(key, node, TEXT_MAX)?;
    let time = humantime::parse_duration(&given).ok().filter(|time| !time.is_zero());
    time.ok_or_else(|| Wrong::new(node, format!("`{key}` is `{}`; write a time such as `30m`", shown(&given))))
}

/// A text of the file in a message.
pub(super) fn shown(text: &str) -> String {
    text.chars().take(60).flat_map(char::escape_debug).collect()
}
