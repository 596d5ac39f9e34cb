//! `read`: shows a file, or some of its lines.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read as _},
};

use serde::Deserialize;
use serde_json::json;

use crate::{
    folder::{FileError, Folder, Kind, walk},
    model::Tool,
    native::tools::{
        ToolError,
        globs::{Globs, Patterns},
        list::List,
        toolbox::FILE_MAX,
    },
    report::clip,
};
use hob_text::count;

/// Bytes of a large file that are searched for a line.
const SCAN_MAX: u64 = 64 << 20;
/// Bytes of the names of files that are not shown.
const NAMES_MAX: usize = 2_000;

/// The tool as the model sees it.
pub(super) fn tool() -> Tool {
    Tool {
        name: "read".into(),
        description: "Shows a text file exactly as it is, or a range of its lines; or a picture.".into(),
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
#[serde(deny_unknown_fields)]
pub(in crate::native) struct Read {
    /// The file.
    pub(super) path: String,
    /// The first line, from 1.
    #[serde(default)]
    from: Option<usize>,
    /// The last line, from 1.
    #[serde(default)]
    to: Option<usize>,
    /// Patterns of several files to show instead, below `path`.
    #[serde(default)]
    files: Vec<String>,
    /// Patterns of files of them to leave out.
    #[serde(default)]
    exclude: Vec<String>,
}

impl Read {
    /// The one file that it wants whole, if that is so.
    pub(super) fn whole(&self) -> Option<&str> {
        let is_whole = self.files.is_empty() && self.from.or(self.to).is_none();
        is_whole.then_some(self.path.as_str())
    }

    /// The files it names, in a few words.
    pub(super) fn what(&self) -> String {
        if self.files.is_empty() { self.path.clone() } else { self.files.join(" ") }
    }

    /// Shows the requested lines, as many whole ones as `cap` bytes hold, and says how many are left.
    pub(super) fn run(&self, folder: &Folder, cap: usize) -> Result<String, ToolError> {
        if !self.files.is_empty() {
            return self.several(folder, cap);
        }
        let path = folder.inside(&self.path)?;
        let text = match (folder.read(&path, FILE_MAX), self.from.or(self.to)) {
            (Err(FileError::TooBig { .. }), Some(_)) => return self.piece(folder.open_file(&path, u64::MAX)?, cap),
            (Err(FileError::NotAFile { kind: "a folder" | "the folder", .. }), None) => {
                return Ok(format!("[it is a folder]\n{}", List::of(&self.path).run(folder, cap)?));
            }
            (text, _) => text?,
        };
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let (from, to) = (self.from.unwrap_or(1).max(1), self.to.unwrap_or(lines.len()).min(lines.len()));
        if lines.is_empty() {
            return Ok("(the file is empty)".to_owned());
        }
        if from > to {
            return Err(ToolError::Refused(format!(
                "`{}` has {}: no line {from} to {to}",
                self.path,
                count(lines.len(), "line")
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

impl Read {
    /// Shows the files that match, as many as `cap` bytes hold, and names the others.
    fn several(&self, folder: &Folder, cap: usize) -> Result<String, ToolError> {
        let start = folder.inside(&self.path)?;
        let patterns = Patterns { wanted: &self.files, excluded: &self.exclude, ..Patterns::default() };
        let globs = Globs::new("read", &start.to_string(), patterns)?;
        let (mut shown, mut left) = (String::new(), Vec::new());
        for found in walk(folder, &start, None)?.filter(|found| found.kind == Kind::File && globs.takes(&found.path)) {
            let text = folder.inside(&found.path).and_then(|path| folder.read(&path, FILE_MAX));
            let text = text.unwrap_or_else(|error| format!("[{error}]\n"));
            let piece = format!("--- {} ---\n{text}\n", found.path);
            match shown.len() + piece.len() > cap {
                true => left.push(found.path),
                false => shown.push_str(&piece),
            }
        }
        if shown.is_empty() && left.is_empty() {
            return Err(ToolError::Refused(format!("no file matches {}", self.files.join(", "))));
        }
        if !left.is_empty() {
            shown.push_str(&format!("[not shown, too long for one answer: {}]", clip(&left.join(", "), NAMES_MAX)));
        }
        Ok(shown)
    }

    /// Shows lines of a file that is too large to be read whole.
    fn piece(&self, file: File, cap: usize) -> Result<String, ToolError> {
        let (from, to) = (self.from.unwrap_or(1).max(1), self.to.unwrap_or(usize::MAX));
        let failed = |source| FileError::Io { path: self.path.clone(), source };
        let mut reader = BufReader::new(file).take(SCAN_MAX);
        let (mut shown, mut number, mut whole) = (Vec::new(), 1, 0);
        loop {
            let buffer = reader.fill_buf().map_err(failed)?;
            let end = buffer.iter().position(|byte| *byte == b'\n').map_or(buffer.len(), |at| at + 1);
            let (line, ends) = (&buffer[..end], buffer[..end].ends_with(b"\n"));
            if number >= from && shown.len() <= cap {
                shown.extend_from_slice(&line[..line.len().min(cap + 1 - shown.len())]);
            }
            reader.consume(end);
            if ends && number >= from && shown.len() <= cap {
                whole = shown.len();
            }
            if end == 0 || shown.len() > cap || (ends && number >= to) {
                break;
            }
            number += usize::from(ends);
        }
        if whole == 0 {
            let said = format!(
                "`{}` has no line {from} that fits, in its first {} MiB: use `search` or `shell`",
                self.path,
                SCAN_MAX >> 20
            );
            return Err(ToolError::Refused(said));
        }
        shown.truncate(whole);
        let count = shown.iter().filter(|byte| **byte == b'\n').count();
        let text = String::from_utf8(shown).map_err(|_| FileError::NotText(self.path.clone()))?;
        Ok(format!("{text}\n[lines {from} to {} of a large file]", from + count - 1))
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
            Read { path: path.into(), from, to, files: Vec::new(), exclude: Vec::new() }
                .run(&folder, cap)
                .map_err(|e| e.to_string())
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

    #[test]
    fn lines_of_a_large_file_are_shown_where_they_are_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let text: String = (1..=400_000).map(|line| format!("line {line}\n")).collect();
        std::fs::write(dir.path().join("log"), text).unwrap();
        File::create(dir.path().join("holes")).unwrap().set_len(2 << 30).unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let read = |path: &str, from, to, cap| {
            Read { path: path.into(), from, to, files: Vec::new(), exclude: Vec::new() }
                .run(&folder, cap)
                .map_err(|e| e.to_string())
        };
        let said = read("log", Some(300_000), Some(300_001), 100).unwrap();
        assert_eq!(said, "line 300000\nline 300001\n\n[lines 300000 to 300001 of a large file]");
        assert_eq!(read("log", Some(2), None, 15).unwrap(), "line 2\nline 3\n\n[lines 2 to 3 of a large file]");
        assert!(read("log", None, None, 100).unwrap_err().contains("more than the 2097152"));
        assert!(read("log", Some(400_001), None, 100).unwrap_err().contains("no line 400001"));
        assert!(read("holes", Some(1), Some(2), 100).unwrap_err().contains("no line 1 that fits"));
    }
}
