//! `edit`: replaces one exact piece of a file.

use std::collections::BTreeSet;

use hob_text::count;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    folder::Folder,
    model::Tool,
    native::tools::{
        ToolError,
        lines::{Places, Unclear, line_end, with_crlf},
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
    #[serde(alias = "file_path", alias = "file")]
    pub(super) path: String,
    /// The text to replace.
    #[serde(alias = "old_string", alias = "old_str")]
    old: String,
    /// The replacement.
    #[serde(alias = "new_string", alias = "new_str")]
    new: String,
    /// Whether to replace each occurrence.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    replace_all: bool,
}

impl Edit {
    /// Replaces the one occurrence, or each. If there is none or more than one, nothing changes and the error says
    /// where.
    pub(super) fn run(&self, folder: &Folder) -> Result<String, ToolError> {
        let path = folder.inside(&self.path)?;
        if self.old.is_empty() {
            return Err(ToolError::Refused("`old` is empty: use `write` to make a file".into()));
        }
        if self.old == self.new {
            return Err(ToolError::Refused("`old` and `new` are the same: nothing would change".into()));
        }
        let text = folder.read(&path, FILE_MAX)?;
        let (edited, told) = self.edited(&text).map_err(|reason| match reason {
            Unedited::Nowhere => {
                ToolError::Refused(format!("`old` is not in `{path}`. {}", near_misses(&text, &self.old)))
            }
            Unedited::Several(first, second) => ToolError::Refused(format!(
                "`old` occurs more than once in `{path}`, first at lines {first} and {second}: take more lines around the one you mean, \
                 or set `replace_all`"
            )),
            unsure @ (Unedited::NotExact | Unedited::LineEnd | Unedited::Unclear(_)) => ToolError::Refused(format!(
                "nothing was changed in `{path}`: {unsure}. {}",
                near_misses(&text, &self.old)
            )),
        })?;
        if edited.len() as u64 > FILE_MAX {
            return Err(ToolError::Refused(format!("`{path}` would have more than {FILE_MAX} bytes")));
        }
        folder.write(&path, &edited, None)?;
        Ok(format!("{told} of `{path}`"))
    }

    /// The text afterwards, and a description of the change.
    fn edited(&self, text: &str) -> Result<(String, String), Unedited> {
        // The file's own line ends, not the model's.
        let (old, new) = match line_end(text) {
            "\r\n" => (with_crlf(&self.old), with_crlf(&self.new)),
            _ => (self.old.clone(), self.new.clone()),
        };
        let Some(at) = text.find(&old) else { return self.by_lines(text) };
        if self.replace_all {
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
        let edit = Edit { path: "a".into(), old: old.into(), new: new.into(), replace_all: false };
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
}
