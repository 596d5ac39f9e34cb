//! `read`: shows a file, or some of its lines.

use serde::Deserialize;
use serde_json::json;

use crate::{
    agent::{
        folder::Folder,
        native::tools::{ToolError, toolbox::FILE_MAX},
    },
    model::Tool,
};

/// The tool as the model sees it.
pub(super) fn tool() -> Tool {
    Tool {
        name: "read".into(),
        description: "Shows a text file exactly as it is, or a range of its lines.".into(),
        schema: json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "from": { "type": "integer", "description": "first line" },
                "to": { "type": "integer" },
            },
            "required": ["path"],
        }),
    }
}

/// The arguments.
#[derive(Debug, Deserialize)]
pub(in crate::agent::native) struct Read {
    /// The file.
    pub(super) path: String,
    /// The first line, from 1.
    #[serde(default)]
    from: Option<usize>,
    /// The last line, from 1.
    #[serde(default)]
    to: Option<usize>,
}

impl Read {
    /// Shows the lines that were asked for, as many whole ones as `cap` bytes hold, and says what is left.
    pub(super) fn run(&self, folder: &Folder, cap: usize) -> Result<String, ToolError> {
        let text = folder.read(&folder.inside(&self.path)?, FILE_MAX)?;
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let (from, to) = (self.from.unwrap_or(1).max(1), self.to.unwrap_or(lines.len()).min(lines.len()));
        if lines.is_empty() {
            return Ok("(the file is empty)".to_owned());
        }
        if from > to {
            return Err(ToolError::Refused(format!(
                "`{}` has {} lines: no line {from} to {to}",
                self.path,
                lines.len()
            )));
        }
        let mut shown = String::new();
        let mut last = from - 1;
        for line in &lines[from - 1..to] {
            if shown.len() + line.len() > cap {
                break;
            }
            shown.push_str(line);
            last += 1;
        }
        if last < from {
            let said = format!(
                "line {from} of `{}` has {} bytes, more than fits: use `search` or `shell`",
                self.path,
                lines[from - 1].len()
            );
            return Err(ToolError::Refused(said));
        }
        if (from, last) != (1, lines.len()) {
            shown.push_str(&format!("\n[lines {from} to {last} of {}]", lines.len()));
        }
        Ok(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_is_shown_in_whole_lines_with_what_is_left() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "one\ntwo\nthree\n").unwrap();
        std::fs::write(dir.path().join("empty"), "").unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let read = |path: &str, from, to, cap| {
            Read { path: path.into(), from, to }.run(&folder, cap).map_err(|e| e.to_string())
        };
        assert_eq!(read("a", None, None, 100).unwrap(), "one\ntwo\nthree\n");
        assert_eq!(read("a", None, None, 9).unwrap(), "one\ntwo\n\n[lines 1 to 2 of 3]");
        assert_eq!(read("a", Some(2), Some(2), 100).unwrap(), "two\n\n[lines 2 to 2 of 3]");
        assert_eq!(read("a", Some(0), Some(99), 100).unwrap(), "one\ntwo\nthree\n");
        assert!(read("a", Some(9), None, 100).unwrap_err().contains("has 3 lines"));
        assert!(read("a", Some(3), Some(1), 100).is_err());
        assert!(read("a", None, None, 2).unwrap_err().contains("more than fits"));
        assert_eq!(read("empty", None, None, 2).unwrap(), "(the file is empty)");
        assert!(read("../a", None, None, 2).is_err() && read("/proc/self/environ", None, None, 2).is_err());
    }
}
