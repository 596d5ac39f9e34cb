//! `edit`: replaces one exact piece of a file.

use std::collections::BTreeSet;

use hob_text::count;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    folder::{FileError, Folder, Inside},
    model::Tool,
    native::tools::{
        ToolError,
        lines::{Places, Unclear, line_end, with_crlf, without_mark},
        toolbox::FILE_MAX,
    },
    report::clip,
};

/// Bytes of a near miss that are shown.
const NEAR_MAX: usize = 2_000;
/// Bytes of a shown line, and lines that are searched for it.
const LINE_MAX: usize = 300;
const LINES_MAX: usize = 20_000;
/// Near misses that are named.
const NEAR_COUNT: usize = 5;

/// The tool as the model sees it.
pub(super) fn tool() -> Tool {
    Tool {
        name: "edit".into(),
        description: "Replaces one piece of a file. `old` must occur there once, or `replace_all` be true.".into(),
        schema: json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "old": { "type": "string" },
                "new": { "type": "string" },
                "replace_all": { "type": "boolean" },
            },
            "required": ["path", "old", "new"],
        }),
    }
}

/// The arguments.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(in crate::native) struct Edit {
    /// The file.
    pub(super) path: String,
    /// The text to replace.
    old: String,
    /// The replacement.
    new: String,
    /// Whether to replace each occurrence.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    replace_all: bool,
    /// How often the text occurs, if that is said: then each is replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    times: Option<usize>,
    /// The line after which the new text is put in, instead of a replacement; 0 is the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after_line: Option<usize>,
    /// More replacements in the same file, each in the result of the one before: all of them or none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    then: Vec<Piece>,
}

/// One of several replacements in a file.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Piece {
    old: String,
    new: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    replace_all: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    times: Option<usize>,
}

impl Edit {
    /// Replaces the one occurrence, or each. If there is none or more than one, nothing changes and the error says
    /// where. Without an old text, a file that does not exist is made.
    pub(super) fn run(&self, folder: &Folder) -> Result<String, ToolError> {
        let path = folder.inside(&self.path)?;
        let before = folder.read(&path, FILE_MAX);
        let is_insertion = self.after_line.is_some();
        let is_nothing =
            matches!(&before, Err(FileError::Missing(_))) || matches!(&before, Ok(text) if text.is_empty());
        if self.old.is_empty() && !is_insertion && self.then.is_empty() && is_nothing {
            folder.write(&path, &self.new, None)?;
            return Ok(format!("made `{path}`"));
        }
        if self.old.is_empty() && !is_insertion {
            return Err(ToolError::Refused("`old` is empty: use `write` to make a file".into()));
        }
        let whole = before?;
        let (mark, text) = without_mark(&whole);
        let mut text = text.to_owned();
        let mut told = Vec::new();
        if let Some(line) = self.after_line {
            text = inserted(&text, line, &self.new).ok_or_else(|| {
                ToolError::Refused(format!("`{path}` has {}: no line {line}", count(text.lines().count(), "line")))
            })?;
            told.push(format!("put in after line {line}"));
        }
        let first = (!is_insertion).then(|| self.first());
        let number = first.iter().count() + self.then.len();
        for (index, piece) in first.iter().chain(&self.then).enumerate() {
            let (edited, how) = piece.applied(&path, &text).map_err(|error| match number {
                1 => error,
                _ => ToolError::Refused(format!("nothing was changed. Replacement {} of {number}: {error}", index + 1)),
            })?;
            text = edited;
            told.push(how);
        }
        if text.len() as u64 > FILE_MAX {
            return Err(ToolError::Refused(format!("`{path}` would have more than {FILE_MAX} bytes")));
        }
        folder.write(&path, &format!("{mark}{text}"), None)?;
        Ok(format!("{} of `{path}`", told.join(", ")))
    }

    fn first(&self) -> Piece {
        let Self { old, new, replace_all, times, .. } = self;
        Piece { old: old.clone(), new: new.clone(), replace_all: *replace_all, times: *times }
    }
}

/// The text with `new` as lines of their own after the line `line`; `None` if it has fewer lines.
fn inserted(text: &str, line: usize, new: &str) -> Option<String> {
    let at = match line {
        0 => 0,
        line => text.split_inclusive('\n').take(line).map(str::len).sum(),
    };
    if text.lines().count() < line {
        return None;
    }
    let end = line_end(text);
    let mut new = if end == "\r\n" { with_crlf(new) } else { new.to_owned() };
    let (before, after) = text.split_at(at);
    if !new.ends_with('\n') && (!after.is_empty() || before.ends_with('\n')) {
        new.push_str(end);
    }
    let gap = if before.is_empty() || before.ends_with('\n') { "" } else { end };
    Some(format!("{before}{gap}{new}{after}"))
}

impl Piece {
    /// The text of the file `path` after this replacement, and a description of it.
    fn applied(&self, path: &Inside, text: &str) -> Result<(String, String), ToolError> {
        if self.old.is_empty() {
            return Err(ToolError::Refused("`old` is empty: take the lines around the place".into()));
        }
        if self.old == self.new {
            return Err(ToolError::Refused("`old` and `new` are the same: nothing would change".into()));
        }
        if let Some(times) = self.times {
            let there = text.matches(&self.old).count();
            if there != times {
                let there = count(there, "place");
                return Err(ToolError::Refused(format!("`old` is in {there} of `{path}`, not in {times}")));
            }
        }
        self.edited(text).map_err(|reason| match reason {
            Unedited::Nowhere => {
                ToolError::Refused(format!("`old` is not in `{path}`. {}", near_misses(text, &self.old)))
            }
            Unedited::Several(first, second) => ToolError::Refused(format!(
                "`old` occurs more than once in `{path}`, first at lines {first} and {second}: take more lines around the one you mean, \
                 or set `replace_all`"
            )),
            unsure @ (Unedited::NotExact | Unedited::LineEnd | Unedited::Unclear(_)) => ToolError::Refused(format!(
                "nothing was changed in `{path}`: {unsure}. {}",
                near_misses(text, &self.old)
            )),
        })
    }

    /// The text afterwards, and a description of the change.
    fn edited(&self, text: &str) -> Result<(String, String), Unedited> {
        // The file's own line ends, not the model's.
        let [old, new] = [&self.old, &self.new].map(|given| without_mark(given).1);
        let (old, new) = match line_end(text) {
            "\r\n" => (with_crlf(old), with_crlf(new)),
            _ => (old.to_owned(), new.to_owned()),
        };
        let Some(at) = text.find(&old) else { return self.by_lines(text) };
        if self.replace_all || self.times.is_some_and(|times| times > 1) {
            let times = text.matches(&old).count();
            return Ok((
                text.replace(&old, &new),
                format!("replaced {} from line {} on", count(times, "place"), line_of(text, at)),
            ));
        }
        // The search continues at the next character, not at the end: an overlapping second match counts too.
        let next = at + old.chars().next().map_or(1, char::len_utf8);
        if let Some(second) = text[next..].find(&old) {
            return Err(Unedited::Several(line_of(text, at), line_of(text, next + second)));
        }
        let after = format!("{}{new}{}", &text[..at], &text[at + old.len()..]);
        Ok((after, format!("replaced at line {}", line_of(text, at))))
    }

    /// The same for whole lines that differ from `old` by common mistakes of models.
    fn by_lines(&self, text: &str) -> Result<(String, String), Unedited> {
        let end = line_end(text);
        let ends = text.ends_with(end);
        let lines: Vec<&str> = text.strip_suffix(end).unwrap_or(text).split(end).collect();
        let given = |text: &'_ str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
        let (old, new) = (given(&self.old), given(&self.new));
        let [old, new] = [&old, &new].map(|lines| lines.iter().map(String::as_str).collect::<Vec<_>>());
        let places = Places::find(&lines, 0, &old);
        let at = match places.at.as_slice() {
            [] => return Err(Unedited::Nowhere),
            [at] => *at,
            [first, second, ..] => return Err(Unedited::Several(first + 1, second + 1)),
        };
        if self.replace_all {
            return Err(Unedited::NotExact);
        }
        if self.old.ends_with('\n') != self.new.ends_with('\n') && !self.new.is_empty() {
            return Err(Unedited::LineEnd);
        }
        let there = &lines[at..at + old.len()];
        let replaced = places.replaced(there, &old, &new)?;
        let mut all: Vec<&str> = lines[..at].to_vec();
        all.extend(replaced.iter().map(String::as_str));
        if self.new.is_empty() && !self.old.ends_with('\n') {
            all.push("");
        }
        all.extend_from_slice(&lines[at + old.len()..]);
        let mut after = all.join(end);
        if ends && !after.is_empty() {
            after.push_str(end);
        }
        Ok((after, format!("replaced at line {}, where blanks, quotes or the indentation differ from `old`,", at + 1)))
    }
}

/// Why nothing was replaced.
#[derive(Debug, thiserror::Error)]
enum Unedited {
    #[error("it is nowhere")]
    Nowhere,
    /// The lines of the first two places.
    #[error("it is at lines {0} and {1}")]
    Several(usize, usize),
    #[error("`replace_all` wants the exact text")]
    NotExact,
    #[error("only one of `old` and `new` ends with a line end")]
    LineEnd,
    #[error(transparent)]
    Unclear(#[from] Unclear),
}

/// The number, from 1, of the line that the byte `at` is in.
fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// The places in the file that differ from `old` only in blanks, otherwise those of its first line.
pub(super) fn near_misses(text: &str, old: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let wanted: Vec<&str> = old.trim().lines().map(str::trim).collect();
    let same = |window: &[&str]| window.iter().zip(&wanted).all(|(line, wanted)| line.trim() == *wanted);
    if let Some(at) = lines.windows(wanted.len().max(1)).position(same).filter(|_| !wanted.is_empty()) {
        let there = lines[at..at + wanted.len()].join("\n");
        let ends = if text.contains("\r\n") { " (the file has CRLF line ends)" } else { "" };
        return format!(
            "Line {} differs from it in blanks only{ends}; there it is:\n{}",
            at + 1,
            clip(&there, NEAR_MAX)
        );
    }
    let first = wanted.iter().find(|line| line.len() > 3).copied().unwrap_or_default();
    let found = lines.iter().enumerate().filter(|(_, line)| !first.is_empty() && line.contains(first));
    let numbers: Vec<_> = found.take(NEAR_COUNT).map(|(index, _)| (index + 1).to_string()).collect();
    match numbers.as_slice() {
        [] => most_alike(&lines, first).map_or_else(
            || "No line is like it: `read` the file again.".to_owned(),
            |(number, line)| format!("Most like its first line is line {number}: {}", clip(line.trim_end(), LINE_MAX)),
        ),
        numbers => format!("Its first line is at line {}: `read` there again.", numbers.join(", ")),
    }
}

/// The line that shares the most pairs of letters with `wanted`, if more than half of them.
fn most_alike<'t>(lines: &[&'t str], wanted: &str) -> Option<(usize, &'t str)> {
    let pairs = |line: &str| -> BTreeSet<(char, char)> {
        line.chars().zip(line.chars().skip(1)).filter(|(a, b)| !a.is_whitespace() && !b.is_whitespace()).collect()
    };
    let of_wanted = pairs(wanted);
    let alike = |line: &str| {
        let of_line = pairs(line);
        let all = of_line.len() + of_wanted.len();
        (200 * of_line.intersection(&of_wanted).count()).checked_div(all).unwrap_or(0)
    };
    let found = lines.iter().take(LINES_MAX).enumerate().map(|(index, line)| (alike(line), index + 1, *line));
    let (share, number, line) = found.max_by_key(|(share, number, _)| (*share, std::cmp::Reverse(*number)))?;
    (share > 50).then_some((number, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(text: &str, old: &str, new: &str) -> Result<String, String> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), text).unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let edit: Edit = serde_json::from_value(json!({ "path": "a", "old": old, "new": new })).unwrap();
        edit.run(&folder).map_err(|error| error.to_string())?;
        Ok(std::fs::read_to_string(dir.path().join("a")).unwrap())
    }

    #[test]
    fn one_exact_place_is_replaced() {
        assert_eq!(edit("a\nb\nc\n", "b\n", "B\n"), Ok("a\nB\nc\n".into()));
        assert_eq!(edit("über\n", "über", "$1"), Ok("$1\n".into()));
    }

    #[test]
    fn nothing_is_guessed() {
        let said = |text: &str, old: &str| edit(text, old, "new").unwrap_err();
        assert!(said("x\nx\n", "x").contains("lines 1 and 2"));
        assert!(said("aaa", "aa").contains("more than once"));
        assert!(said("  a\n      b\n", "a\nb").contains("Line 1 differs from it in blanks only; there it is:\n  a"));
        assert!(said("fn main() {\n  other\n", "fn main() {\n  body\n}").contains("first line is at line 1"));
        assert!(said("a", "zzzz").contains("No line is like it"));
        let near = said("x\nlet total = price * amount;\n", "let totals = prices * amount;");
        assert!(near.contains("Most like its first line is line 2: let total = price"), "{near}");
        assert!(said("a", "\n").contains("No line is like it"));
        assert!(said("a", "").contains("is empty"));
        assert!(edit("a", "a", "a").unwrap_err().contains("the same"));
    }

    #[test]
    fn several_replacements_are_all_made_or_none() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let edit = |arguments: serde_json::Value| {
            std::fs::write(dir.path().join("a"), "one\ntwo\ntwo\n").unwrap();
            let said = serde_json::from_value::<Edit>(arguments).unwrap().run(&folder).map_err(|e| e.to_string());
            (std::fs::read_to_string(dir.path().join("a")).unwrap(), said)
        };
        let then = json!([{ "old": "ONE", "new": "1" }, { "old": "two", "new": "2", "times": 2 }]);
        let (text, said) = edit(json!({ "path": "a", "old": "one", "new": "ONE", "then": then }));
        assert_eq!(text, "1\n2\n2\n", "{said:?}");
        let then = json!([{ "old": "two", "new": "2", "times": 3 }]);
        let (text, said) = edit(json!({ "path": "a", "old": "one", "new": "ONE", "then": then }));
        assert_eq!(text, "one\ntwo\ntwo\n");
        assert!(said.unwrap_err().contains("Replacement 2 of 2: `old` is in 2 places of `a`, not in 3"));
        for (line, after) in [(0, "x\none\ntwo\ntwo\n"), (1, "one\nx\ntwo\ntwo\n"), (3, "one\ntwo\ntwo\nx\n")] {
            let (text, said) = edit(json!({ "path": "a", "old": "", "new": "x", "after_line": line }));
            assert_eq!(text, after, "{said:?}");
        }
        let (_, said) = edit(json!({ "path": "a", "old": "", "new": "x", "after_line": 4 }));
        assert!(said.unwrap_err().contains("`a` has 3 lines: no line 4"));
        let (_, said) = edit(json!({ "path": "b", "old": "", "new": "new" }));
        assert_eq!(said.unwrap(), "made `b`");
        let (_, said) = edit(json!({ "path": "b", "old": "", "new": "again" }));
        assert!(said.unwrap_err().contains("use `write`"));
    }
}
