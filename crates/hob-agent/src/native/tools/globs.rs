//! Patterns of file names, as ripgrep's `--glob` reads them: `*.py` is any depth, `src/*.py` begins at the top.

use std::path::{Path, PathBuf};

use ignore::{
    gitignore::{Gitignore, GitignoreBuilder},
    overrides::{Override, OverrideBuilder},
};

use crate::native::tools::ToolError;

/// Patterns that one call may have.
const GLOBS_MAX: usize = 200;
/// The top that the patterns begin at.
const TOP: &str = "/";

/// Files that are wanted, and files that are not.
#[derive(Debug)]
pub(super) struct Globs {
    wanted: Override,
    excluded: Gitignore,
    start: String,
}

/// The patterns of one call.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Patterns<'a> {
    /// Those of the wanted files; all are if it is empty.
    pub(super) wanted: &'a [String],
    /// Those of the files that are left out, also below a folder that matches.
    pub(super) excluded: &'a [String],
    /// Whether `a` is `A`.
    pub(super) ignore_case: bool,
}

impl Globs {
    /// The files below `start`. A pattern counts from the top and from `start`.
    pub(super) fn new(tool: &str, start: &str, patterns: Patterns<'_>) -> Result<Self, ToolError> {
        let invalid = |reason: String| ToolError::Arguments { tool: tool.to_owned(), reason };
        let Patterns { wanted: globs, excluded: left_out, ignore_case } = patterns;
        if globs.len() + left_out.len() > GLOBS_MAX {
            return Err(invalid(format!("there are more than {GLOBS_MAX} patterns")));
        }
        let mut wanted = OverrideBuilder::new(TOP);
        wanted.case_insensitive(ignore_case).map_err(|error| invalid(error.to_string()))?;
        for glob in globs.iter().flat_map(|glob| alternatives(glob)) {
            wanted.add(glob.strip_prefix("./").unwrap_or(glob)).map_err(|error| invalid(error.to_string()))?;
        }
        let mut excluded = GitignoreBuilder::new(TOP);
        excluded.case_insensitive(ignore_case).map_err(|error| invalid(error.to_string()))?;
        for glob in left_out {
            let glob = glob.strip_prefix("./").unwrap_or(glob);
            excluded.add_line(None, glob).map_err(|error| invalid(error.to_string()))?;
        }
        let wanted = wanted.build().map_err(|error| invalid(error.to_string()))?;
        let excluded = excluded.build().map_err(|error| invalid(error.to_string()))?;
        let start = if start == "." { String::new() } else { format!("{start}/") };
        Ok(Self { wanted, excluded, start })
    }

    /// Whether the file `path` is wanted.
    pub(super) fn takes(&self, path: &str) -> bool {
        let below = path.strip_prefix(&self.start).unwrap_or(path);
        let places = [path, below].map(|path| Path::new(TOP).join(path));
        let is_excluded = |path: &PathBuf| self.excluded.matched_path_or_any_parents(path, false).is_ignore();
        if places.iter().any(is_excluded) {
            return false;
        }
        places.iter().any(|path| !self.wanted.matched(path, false).is_ignore())
    }
}

/// The pattern, and what it is if its commas and blanks stand between several.
fn alternatives(glob: &str) -> Vec<&str> {
    let (mut depth, mut from, mut parts) = (0_usize, 0, Vec::new());
    for (at, c) in glob.char_indices() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            ',' | ' ' if depth == 0 => {
                parts.push(&glob[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    if from == 0 {
        return vec![glob];
    }
    parts.push(&glob[from..]);
    parts.push(glob);
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_as_ripgreps_does() {
        for (glob, start, path, takes) in [
            ("*.py", ".", "sub/b.py", true),
            ("*.py", ".", "b.rs", false),
            ("**/*.py", ".", "b.py", true),
            ("src/*.py", ".", "src/b.py", true),
            ("src/*.py", ".", "src/a/b.py", false),
            ("src/*.py", ".", "x/src/b.py", false),
            ("a/*.py", "src", "src/a/b.py", true),
            ("./src/**", ".", "src/a/b.py", true),
            ("*.{rs,py}", ".", "a/b.py", true),
            ("*.rs, *.py", ".", "a/b.py", true),
            ("*.rs *.py", ".", "a/b.py", true),
            ("!*.py", ".", "a/b.py", false),
            ("!*.py", ".", "a/b.rs", true),
        ] {
            let wanted = [glob.to_owned()];
            let globs = Globs::new("search", start, Patterns { wanted: &wanted, ..Patterns::default() }).unwrap();
            assert_eq!(globs.takes(path), takes, "{glob} {path}");
        }
        let excluded = ["node_modules".to_owned(), "*.log".to_owned()];
        let globs = Globs::new("list", ".", Patterns { excluded: &excluded, ..Patterns::default() }).unwrap();
        assert!(globs.takes("a.py") && !globs.takes("x/node_modules/y/a.py") && !globs.takes("b/a.log"));
        let wanted = ["{".to_owned()];
        assert!(Globs::new("list", ".", Patterns { wanted: &wanted, ..Patterns::default() }).is_err());
    }
}
