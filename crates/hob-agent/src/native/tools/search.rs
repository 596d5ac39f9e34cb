//! `search`: finds lines by a regular expression.

use std::time::{Duration, Instant};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, SearcherBuilder};
use ignore::types::{Types, TypesBuilder};
use regex::bytes::RegexBuilder;
use serde::Deserialize;
use serde_json::json;

use crate::{
    folder::{Folder, Kind, walk},
    model::Tool,
    native::tools::{
        ToolError,
        found_lines::{Found, Shown, Wanted},
        globs::{Globs, Patterns},
        list::here,
        toolbox::FILE_MAX,
    },
};

/// Lines one answer has.
const LINES_MAX: usize = 200;
/// Lines around a match at most.
const AROUND_MAX: usize = 50;
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
                "glob": { "type": "string", "description": "like `*.rs`, at any depth" },
            },
            "required": ["pattern"],
        }),
    }
}

/// The arguments.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::native) struct Search {
    /// The expression to search for.
    pub(super) pattern: String,
    /// The folder to search.
    #[serde(default = "here")]
    pub(super) path: String,
    /// The files to search.
    #[serde(default)]
    glob: Option<String>,
    /// Whether `a` is `A`.
    #[serde(default)]
    ignore_case: bool,
    /// Whether the pattern is a text, not an expression.
    #[serde(default)]
    literal: bool,
    /// Whether a match may have several lines.
    #[serde(default)]
    multiline: bool,
    /// The kind of files, as ripgrep names it.
    #[serde(default)]
    r#type: Option<String>,
    /// An expression of lines that do not count.
    #[serde(default)]
    exclude_lines: Option<String>,
    /// Whether lines have their numbers.
    #[serde(default)]
    numbers: Option<bool>,
    /// Lines shown before a match, and after it.
    #[serde(default)]
    before: usize,
    #[serde(default)]
    after: usize,
    /// What is shown of what is found.
    #[serde(default)]
    output: Shown,
    /// Matches, or files, at most.
    #[serde(default)]
    max: Option<usize>,
    /// Matches, or files, to pass over at first.
    #[serde(default)]
    skip: usize,
    /// Matches of one file at most.
    #[serde(default)]
    per_file: Option<usize>,
}

impl Search {
    /// Finds at most 200 lines and at most `cap` bytes of them, and says if there are more. Any expression runs in
    /// linear time.
    pub(super) fn run(&self, folder: &Folder, cap: usize) -> Result<String, ToolError> {
        let matcher = self.matcher(&self.pattern)?;
        let excluded = |pattern: &str| {
            RegexBuilder::new(pattern)
                .case_insensitive(self.ignore_case)
                .build()
                .map_err(|error| invalid(error.to_string()))
        };
        let excluded = self.exclude_lines.as_deref().map(excluded).transpose()?;
        let start = folder.inside(&self.path)?;
        let wanted: Vec<String> = self.glob.iter().cloned().collect();
        let globs = Globs::new("search", &start.to_string(), Patterns { wanted: &wanted, ..Patterns::default() })?;
        let types = self.r#type.as_deref().map(types).transpose()?;
        let mut searcher = SearcherBuilder::new()
            .line_number(true)
            .multi_line(self.multiline)
            .before_context(self.before.min(AROUND_MAX))
            .after_context(self.after.min(AROUND_MAX))
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(usize::try_from(FILE_MAX).unwrap_or(usize::MAX)))
            .build();
        let started = Instant::now();
        let mut found = Found::new(Wanted {
            excluded,
            numbers: self.numbers.unwrap_or(true),
            output: self.output,
            skip: self.skip,
            max: self.max.unwrap_or(LINES_MAX).min(LINES_MAX),
            per_file: self.per_file.unwrap_or(usize::MAX),
            cap,
        });
        let mut files = 0;
        for file in walk(folder, &start, None)? {
            let is_typed = |types: &Types| types.matched(&file.path, false).is_whitelist();
            if file.kind != Kind::File || !globs.takes(&file.path) || !types.as_ref().is_none_or(is_typed) {
                continue;
            }
            files += 1;
            // A file that is too big, or gone meanwhile, is skipped; the others still count.
            let Ok(open) = folder.inside(&file.path).and_then(|path| folder.open_file(&path, FILE_MAX)) else {
                continue;
            };
            found.search(&mut searcher, &matcher, &file.path, open);
            if found.is_full() || started.elapsed() > TIME_MAX {
                found.shown.push_str("[there may be more: narrow the pattern, the path or the glob]");
                return Ok(found.shown);
            }
        }
        Ok(match (found.shown.is_empty(), files, &self.glob) {
            (false, _, _) => found.shown,
            (true, 0, Some(glob)) => format!("(no file matches `{glob}`)"),
            (true, _, _) if self.pattern.contains(r"\|") && !self.literal => {
                r"(no line matches; `\|` is the sign itself here: write `|` between choices)".to_owned()
            }
            (true, _, _) => "(no line matches)".to_owned(),
        })
    }

    fn matcher(&self, pattern: &str) -> Result<RegexMatcher, ToolError> {
        let mut builder = RegexMatcherBuilder::new();
        builder.case_insensitive(self.ignore_case).fixed_strings(self.literal);
        match self.multiline {
            true => builder.multi_line(true).dot_matches_new_line(true),
            false => builder.line_terminator(Some(b'\n')),
        };
        builder.build(pattern).map_err(|error| invalid(error.to_string()))
    }
}

fn types(name: &str) -> Result<Types, ToolError> {
    let mut types = TypesBuilder::new();
    types.add_defaults().select(name);
    types.build().map_err(|error| invalid(format!("`type`: {error}")))
}

fn invalid(reason: String) -> ToolError {
    ToolError::Arguments { tool: "search".into(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(folder: &Folder, pattern: &str, path: &str, glob: Option<&str>) -> Result<String, String> {
        let (pattern, path) = (pattern.to_owned(), path.to_owned());
        let search = Search { pattern, path, glob: glob.map(str::to_owned), ..Search::default() };
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
        for glob in ["**/*.rs", "*.rs", "src/*.rs", "*.{rs,py}"] {
            assert_eq!(search(&folder, "greet", ".", Some(glob)).unwrap(), "src/a.rs:2: greet();\n", "{glob}");
        }
        assert_eq!(search(&folder, "greet", ".", Some("*.py")).unwrap(), "(no file matches `*.py`)");
        assert_eq!(search(&folder, "^greet", "b.txt", None).unwrap(), "b.txt:1: greet the house\n");
        assert_eq!(search(&folder, "nothing", ".", None).unwrap(), "(no line matches)");
        assert!(search(&folder, "(", ".", None).unwrap_err().contains("not valid"));
        assert!(search(&folder, "x", "out", None).is_err());
    }

    #[test]
    fn what_is_shown_of_a_match_is_what_was_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.py"), "one\nTwo\nthree\ntwo\nfive\n").unwrap();
        std::fs::write(dir.path().join("b.rs"), "two\n").unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let said = |arguments: serde_json::Value| {
            let search: Search = serde_json::from_value(arguments).unwrap();
            search.run(&folder, 10_000).unwrap_or_else(|error| error.to_string())
        };
        for (arguments, wanted) in [
            (json!({ "pattern": "two", "ignore_case": true }), "a.py:2: Two\na.py:4: two\nb.rs:1: two\n"),
            (json!({ "pattern": "two", "type": "rust" }), "b.rs:1: two\n"),
            (json!({ "pattern": "two", "output": "files" }), "a.py\nb.rs\n"),
            (json!({ "pattern": "t[wh]", "output": "count" }), "a.py: 2\nb.rs: 1\n"),
            (json!({ "pattern": "two", "numbers": false }), "a.py: two\nb.rs: two\n"),
            (json!({ "pattern": "two", "skip": 1 }), "b.rs:1: two\n"),
            (json!({ "pattern": "t.*", "per_file": 1 }), "a.py:3: three\nb.rs:1: two\n"),
            (json!({ "pattern": "t.o", "literal": true }), "(no line matches)"),
            (json!({ "pattern": "three\ntwo", "multiline": true }), "a.py:3: three\na.py:4: two\n"),
            (json!({ "pattern": "t.*", "exclude_lines": "hre" }), "a.py:4: two\nb.rs:1: two\n"),
            (
                json!({ "pattern": "two", "max": 1 }),
                "a.py:4: two\n[there may be more: narrow the pattern, the path or the glob]",
            ),
            (
                json!({ "pattern": "two", "before": 1, "after": 1 }),
                "a.py-3- three\na.py:4: two\na.py-5- five\nb.rs:1: two\n",
            ),
            (
                json!({ "pattern": "(?i)o", "after": 1 }),
                "a.py:1: one\na.py:2: Two\na.py-3- three\na.py:4: two\na.py-5- five\nb.rs:1: two\n",
            ),
        ] {
            assert_eq!(said(arguments.clone()), wanted, "{arguments}");
        }
        assert!(said(json!({ "pattern": "x", "type": "none" })).contains("`type`: unrecognized file type: none"));
    }

    #[test]
    fn a_pattern_made_for_backtracking_ends() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), format!("{}b\n", "a".repeat(50_000))).unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        assert_eq!(search(&folder, "(a+)+$", ".", None).unwrap(), "(no line matches)");
        assert!(search(&folder, r"a\|b", ".", None).unwrap().contains("write `|` between choices"));
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
