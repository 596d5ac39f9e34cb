//! `search`: finds lines by a regular expression.

use std::time::{Duration, Instant};

use globset::{GlobBuilder, GlobMatcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, sinks::Lossy};
use serde::Deserialize;
use serde_json::json;

use crate::{
    folder::{Folder, Kind, walk},
    model::Tool,
    native::tools::{ToolError, list::here, toolbox::FILE_MAX},
    report::first_line,
};

/// Lines one answer has.
const LINES_MAX: usize = 200;
/// Bytes of one line that are shown.
const LINE_MAX: usize = 300;
/// The time limit of one search.
const TIME_MAX: Duration = Duration::from_secs(20);

/// The tool as the model sees it.
pub(super) fn tool() -> Tool {
    Tool {
        name: "search".into(),
        description: "Finds lines in text files by a regular expression (Rust syntax).".into(),
        schema: json!({
            "type": "object",
            "properties": {
                "pattern": { "type": "string" },
                "path": { "type": "string" },
                "glob": { "type": "string", "description": "like `**/*.rs`" },
            },
            "required": ["pattern"],
        }),
    }
}

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::native) struct Search {
    /// The expression to search for.
    pub(super) pattern: String,
    /// The folder to search.
    #[serde(default = "here")]
    path: String,
    /// The files to search.
    #[serde(default)]
    glob: Option<String>,
}

impl Search {
    /// Finds at most 200 lines and at most `cap` bytes of them, and says if there are more. Any expression runs in
    /// linear time.
    pub(super) fn run(&self, folder: &Folder, cap: usize) -> Result<String, ToolError> {
        let invalid = |reason: String| ToolError::Arguments { tool: "search".into(), reason };
        let matcher = RegexMatcherBuilder::new().line_terminator(Some(b'\n')).build(&self.pattern);
        let matcher = matcher.map_err(|error| invalid(error.to_string()))?;
        let glob = self.glob.as_deref().map(|glob| GlobBuilder::new(glob).literal_separator(true).build());
        let glob = glob.transpose().map_err(|error| invalid(error.to_string()))?.map(|glob| glob.compile_matcher());
        let mut searcher = SearcherBuilder::new()
            .line_number(true)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(usize::try_from(FILE_MAX).unwrap_or(usize::MAX)))
            .build();
        let started = Instant::now();
        let mut lines = Lines { shown: String::new(), count: 0, cap };
        for found in walk(folder, &folder.inside(&self.path)?, None)? {
            if found.kind != Kind::File || glob.as_ref().is_some_and(|glob: &GlobMatcher| !glob.is_match(&found.path)) {
                continue;
            }
            // A file that is too big, or gone meanwhile, is skipped; the others still count.
            let Ok(file) = folder.inside(&found.path).and_then(|path| folder.open_file(&path, FILE_MAX)) else {
                continue;
            };
            lines.search(&mut searcher, &matcher, &found.path, file);
            if lines.is_full() || started.elapsed() > TIME_MAX {
                lines.shown.push_str("[there may be more: narrow the pattern, the path or the glob]");
                return Ok(lines.shown);
            }
        }
        Ok(if lines.shown.is_empty() { "(no line matches)".to_owned() } else { lines.shown })
    }
}

/// The lines found so far.
struct Lines {
    shown: String,
    count: usize,
    cap: usize,
}

impl Lines {
    fn is_full(&self) -> bool {
        self.count >= LINES_MAX || self.shown.len() >= self.cap
    }

    fn search(&mut self, searcher: &mut Searcher, matcher: &RegexMatcher, path: &str, file: std::fs::File) {
        let sink = Lossy(|number, line| {
            let line = format!("{path}:{number}: {}\n", first_line(line, LINE_MAX));
            self.count += 1;
            self.shown.push_str(&line);
            Ok(!self.is_full())
        });
        // An error here is a line longer than the heap limit or a file that vanished: what was found before stays.
        searcher.search_reader(matcher, file, sink).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(folder: &Folder, pattern: &str, path: &str, glob: Option<&str>) -> Result<String, String> {
        let search = Search { pattern: pattern.into(), path: path.into(), glob: glob.map(str::to_owned) };
        search.run(folder, 10_000).map_err(|error| error.to_string())
    }

    #[test]
    fn lines_are_found_in_text_files_of_the_folder_only() {
        let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::create_dir(dir.path().join("src")).unwrap();
        std::fs::write(dir.path().join("src/a.rs"), "fn main() {\n    greet();\n}\n").unwrap();
        std::fs::write(dir.path().join("b.txt"), "greet the house\n").unwrap();
        std::fs::write(dir.path().join("bin"), b"greet\0").unwrap();
        std::fs::write(outside.path().join("secret"), "greet").unwrap();
        std::os::unix::fs::symlink(outside.path(), dir.path().join("out")).unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        assert_eq!(search(&folder, "greet", ".", None).unwrap(), "b.txt:1: greet the house\nsrc/a.rs:2: greet();\n");
        assert_eq!(search(&folder, "greet", ".", Some("**/*.rs")).unwrap(), "src/a.rs:2: greet();\n");
        assert_eq!(search(&folder, "^greet", "b.txt", None).unwrap(), "b.txt:1: greet the house\n");
        assert_eq!(search(&folder, "nothing", ".", None).unwrap(), "(no line matches)");
        assert!(search(&folder, "(", ".", None).unwrap_err().contains("not valid"));
        assert!(search(&folder, "x", "out", None).is_err());
    }

    #[test]
    fn a_pattern_made_for_backtracking_ends() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), format!("{}b\n", "a".repeat(50_000))).unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        assert_eq!(search(&folder, "(a+)+$", ".", None).unwrap(), "(no line matches)");
    }

    #[test]
    fn many_lines_are_cut() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "x\n".repeat(5_000)).unwrap();
        let found = search(&Folder::open(dir.path()).unwrap(), "x", ".", None).unwrap();
        assert_eq!(found.lines().count(), LINES_MAX + 1);
        assert!(found.ends_with("the glob]"));
    }
}
