//! `edit`: replaces one exact piece of a file.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    folder::Folder,
    model::Tool,
    native::tools::{ToolError, toolbox::FILE_MAX},
    report::clip,
};

/// Bytes of a near miss that are shown.
const NEAR_MAX: usize = 2_000;
/// Near misses that are named.
const NEAR_COUNT: usize = 5;

/// The tool as the model sees it.
pub(super) fn tool() -> Tool {
    Tool {
        name: "edit".into(),
        description:
            "Replaces one piece of a file. `old` must stand there exactly once, blanks and line ends included.".into(),
        schema: json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "old": { "type": "string" },
                "new": { "type": "string" },
            },
            "required": ["path", "old", "new"],
        }),
    }
}

/// The arguments.
#[derive(Debug, Deserialize, Serialize)]
pub(in crate::native) struct Edit {
    /// The file.
    pub(super) path: String,
    /// What is replaced.
    old: String,
    /// By what.
    new: String,
}

impl Edit {
    /// Replaces the one occurrence. Where there is none or more than one, nothing changes and the error says where.
    pub(super) fn run(&self, folder: &Folder) -> Result<String, ToolError> {
        let path = folder.inside(&self.path)?;
        if self.old.is_empty() {
            return Err(ToolError::Refused("`old` is empty: use `write` to make a file".into()));
        }
        if self.old == self.new {
            return Err(ToolError::Refused("`old` and `new` are the same: nothing would change".into()));
        }
        let text = folder.read(&path, FILE_MAX)?;
        let Some(at) = text.find(&self.old) else {
            return Err(ToolError::Refused(format!("`old` is not in `{path}`. {}", near_misses(&text, &self.old))));
        };
        // Looked for from the next character on, not from the end: an overlapping second place is one too.
        let next = at + self.old.chars().next().map_or(1, char::len_utf8);
        if let Some(second) = text[next..].find(&self.old) {
            let lines = [at, next + second].map(|at| line_of(&text, at));
            return Err(ToolError::Refused(format!(
                "`old` stands more than once in `{path}`, first at lines {} and {}: take more lines around the one you mean",
                lines[0], lines[1]
            )));
        }
        let edited = format!("{}{}{}", &text[..at], self.new, &text[at + self.old.len()..]);
        if edited.len() as u64 > FILE_MAX {
            return Err(ToolError::Refused(format!("`{path}` would have more than {FILE_MAX} bytes")));
        }
        folder.write(&path, &edited, None)?;
        Ok(format!("replaced at line {} of `{path}`", line_of(&text, at)))
    }
}

/// The number, from 1, of the line that the byte `at` is in.
fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// Where the file has what differs from `old` only in blanks; else where it has the first line of it.
pub(super) fn near_misses(text: &str, old: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let wanted: Vec<&str> = old.trim().lines().map(str::trim).collect();
    let same = |window: &[&str]| window.iter().zip(&wanted).all(|(line, wanted)| line.trim() == *wanted);
    if let Some(at) = lines.windows(wanted.len().max(1)).position(same).filter(|_| !wanted.is_empty()) {
        let there = lines[at..at + wanted.len()].join("\n");
        let ends = if text.contains("\r\n") { " (the file has CRLF line ends)" } else { "" };
        return format!(
            "Line {} differs from it in blanks only{ends}; there stands:\n{}",
            at + 1,
            clip(&there, NEAR_MAX)
        );
    }
    let first = wanted.iter().find(|line| line.len() > 3).copied().unwrap_or_default();
    let found = lines.iter().enumerate().filter(|(_, line)| !first.is_empty() && line.contains(first));
    let numbers: Vec<_> = found.take(NEAR_COUNT).map(|(index, _)| (index + 1).to_string()).collect();
    match numbers.as_slice() {
        [] => "No line is like it: `read` the file again.".to_owned(),
        numbers => format!("Its first line stands at line {}: `read` there again.", numbers.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(text: &str, old: &str, new: &str) -> Result<String, String> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), text).unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let edit = Edit { path: "a".into(), old: old.into(), new: new.into() };
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
        assert!(
            said("  let a = 1;\n\tlet b;\n", "let a = 1;\nlet b;")
                .contains("Line 1 differs from it in blanks only; there stands:\n  let a")
        );
        assert!(said("one\r\ntwo\r\n", "one\ntwo").contains("CRLF"));
        assert!(said("fn main() {\n  other\n", "fn main() {\n  body\n}").contains("first line stands at line 1"));
        assert!(said("a", "zzzz").contains("No line is like it"));
        assert!(said("a", "\n").contains("No line is like it"));
        assert!(said("a", "").contains("is empty"));
        assert!(edit("a", "a", "a").unwrap_err().contains("the same"));
    }
}
