//! YAML as a tree in which each value knows its line, built from the parser's events, with a cap on depth and on the
//! number of values. An alias is kept but not resolved, so that it cannot make a text grow.

use yaml_rust2::{
    parser::{Event, Parser},
    scanner::{Marker, ScanError, TScalarStyle},
};

/// The deepest nesting of values.
const DEEPEST: usize = 16;
/// The most values in one document.
const MOST: usize = 5_000;

/// A value and its line, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The line, from 1.
    pub line: usize,
    /// The value.
    pub value: Value,
}

/// The kinds of values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A text, a number or a switch, as it is written.
    Text(String),
    /// A key without a value, `~` or `null`.
    Nothing,
    /// A list.
    List(Vec<Node>),
    /// Keys that are texts, in their order.
    Map(Vec<(String, Node)>),
    /// A reference to another value, or a map with keys that are not texts.
    Other,
}

impl Node {
    /// The value of a key. `None` if this is not a map, or has no such key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, node)| node),
            Value::Text(_) | Value::Nothing | Value::List(_) | Value::Other => None,
        }
    }

    /// The values of a list.
    pub fn list(&self) -> Option<&[Self]> {
        match &self.value {
            Value::List(items) => Some(items),
            Value::Text(_) | Value::Nothing | Value::Map(_) | Value::Other => None,
        }
    }

    /// The text.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            Value::Nothing | Value::List(_) | Value::Map(_) | Value::Other => None,
        }
    }
}

/// A text that is not YAML, or has too many values.
#[derive(Debug, PartialEq, Eq)]
pub struct NoYaml {
    /// The line, from 1.
    pub line: usize,
    /// Why.
    pub reason: String,
}

/// Reads the first document.
///
/// # Errors
/// If the text is not YAML or has too many values.
pub fn read(text: &str) -> Result<Node, NoYaml> {
    let mut reader = Reader { parser: Parser::new_from_str(text), left: MOST };
    loop {
        let (event, mark) = reader.next()?;
        match event {
            Event::Nothing | Event::StreamStart | Event::DocumentStart => {}
            Event::StreamEnd | Event::DocumentEnd => return Ok(Node { line: mark.line(), value: Value::Nothing }),
            Event::Alias(_)
            | Event::Scalar(..)
            | Event::SequenceStart(..)
            | Event::SequenceEnd
            | Event::MappingStart(..)
            | Event::MappingEnd => {
                let node = reader.node(event, mark, 0)?;
                // Anything after it would be skipped silently.
                let (event, mark) = reader.next()?;
                let whole = event == Event::DocumentEnd;
                return if whole { Ok(node) } else { Err(no_yaml(mark, "there is more than one value")) };
            }
        }
    }
}

struct Reader<'a> {
    parser: Parser<std::str::Chars<'a>>,
    left: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Result<(Event, Marker), NoYaml> {
        self.parser.next_token().map_err(|error: ScanError| no_yaml(*error.marker(), error.info()))
    }

    fn node(&mut self, event: Event, mark: Marker, depth: usize) -> Result<Node, NoYaml> {
        if depth > DEEPEST {
            return Err(no_yaml(mark, &format!("values stand in more than {DEEPEST} others")));
        }
        self.left = self.left.checked_sub(1).ok_or_else(|| no_yaml(mark, &format!("more than {MOST} values")))?;
        let value = match event {
            Event::Scalar(text, style, ..) => scalar(text, style),
            Event::SequenceStart(..) => self.list(depth)?,
            Event::MappingStart(..) => self.map(depth)?,
            Event::Alias(_) => Value::Other,
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => return Err(no_yaml(mark, "a value is missing")),
        };
        Ok(Node { line: mark.line(), value })
    }

    fn list(&mut self, depth: usize) -> Result<Value, NoYaml> {
        let mut items = Vec::new();
        loop {
            let (event, mark) = self.next()?;
            if event == Event::SequenceEnd {
                return Ok(Value::List(items));
            }
            items.push(self.node(event, mark, depth + 1)?);
        }
    }

    fn map(&mut self, depth: usize) -> Result<Value, NoYaml> {
        let (mut entries, mut is_plain) = (Vec::new(), true);
        loop {
            let (event, mark) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(if is_plain { Value::Map(entries) } else { Value::Other });
            }
            let key = self.node(event, mark, depth + 1)?;
            let (event, mark) = self.next()?;
            let mut value = self.node(event, mark, depth + 1)?;
            match key.value {
                Value::Text(name) => {
                    // A reader looks at the key's line; a missing value has no line of its own.
                    if value.value == Value::Nothing {
                        value.line = key.line;
                    }
                    entries.push((name, value));
                }
                Value::Nothing | Value::List(_) | Value::Map(_) | Value::Other => is_plain = false,
            }
        }
    }
}

fn scalar(text: String, style: TScalarStyle) -> Value {
    let is_nothing = style == TScalarStyle::Plain && matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL");
    if is_nothing { Value::Nothing } else { Value::Text(text) }
}

fn no_yaml(mark: Marker, reason: &str) -> NoYaml {
    // The reason may quote the file.
    NoYaml { line: mark.line(), reason: reason.chars().take(200).flat_map(char::escape_debug).collect() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_value_knows_its_line() {
        let Value::Map(entries) = read("a: b\nc:\n  - d\n  - |\n    e\nf:\n").unwrap().value else { panic!() };
        let lines: Vec<_> = entries.iter().map(|(key, node)| (key.as_str(), node.line)).collect();
        assert_eq!(lines, [("a", 1), ("c", 3), ("f", 6)]);
        let Value::List(items) = &entries[1].1.value else { panic!() };
        assert_eq!(items.iter().map(|item| item.line).collect::<Vec<_>>(), [3, 5], "a block is where its text is");
    }

    #[test]
    fn what_is_no_yaml_names_its_line() {
        let error = read("a: b\nc: [d\n").unwrap_err();
        assert!(error.line >= 2 && !error.reason.is_empty(), "{error:?}");
        assert_eq!(read("a: 1\n---\nb: 2\n").map(|node| node.line), Ok(1), "the second document is none of ours");
    }

    #[test]
    fn neither_depth_nor_number_nor_aliases_grow() {
        assert!(read(&format!("a: {}", "[".repeat(30_000))).is_err());
        assert!(read(&"- a\n".repeat(6_000)).unwrap_err().reason.contains("5000 values"));
        let bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n";
        let Value::Map(entries) = read(bomb).unwrap().value else { panic!() };
        let alias = Node { line: 3, value: Value::Other };
        assert_eq!(entries[2].1.value, Value::List(vec![alias.clone(), alias]));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in r"[-a:#\[\]{},&*!|>'%@`?~0 \n\t\u{feff}\u{85}\r]{0,80}") {
            drop(read(&text));
        }

        #[test]
        fn no_other_text_does(text in ".{0,200}") {
            drop(read(&text));
        }
    }
}
