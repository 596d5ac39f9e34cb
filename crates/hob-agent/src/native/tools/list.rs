//! `list`: shows what is in a folder.

use serde::Deserialize;
use serde_json::json;

use crate::{
    folder::{Folder, Found, Kind, walk},
    model::Tool,
    native::tools::{
        ToolError,
        globs::{Globs, Patterns},
    },
};

/// Names one answer has.
const NAMES_MAX: usize = 1_000;
/// Levels that it goes down by itself.
const DEPTH: usize = 2;

/// The tool as the model sees it.
pub(super) fn tool() -> Tool {
    Tool {
        name: "list".into(),
        description: "Lists files and folders (with `/`), without those that git ignores.".into(),
        schema: json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "depth": { "type": "integer", "description": "default 2" },
            },
        }),
    }
}

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::native) struct List {
    /// The starting folder.
    #[serde(default = "here")]
    pub(super) path: String,
    /// Levels to go down.
    #[serde(default)]
    depth: Option<usize>,
    /// A pattern of the names to list, at any depth.
    #[serde(default)]
    glob: Option<String>,
    /// Whether the pattern's `a` is `A`.
    #[serde(default)]
    ignore_case: bool,
    /// Patterns of names to leave out.
    #[serde(default)]
    exclude: Vec<String>,
    /// Names to pass over at first.
    #[serde(default)]
    skip: usize,
    /// Names at most.
    #[serde(default)]
    max: Option<usize>,
}

pub(super) fn here() -> String {
    ".".to_owned()
}

impl List {
    /// All of `path`, two levels deep.
    pub(super) fn of(path: &str) -> Self {
        let (path, depth, glob, ignore_case, exclude) = (path.to_owned(), None, None, false, Vec::new());
        Self { path, depth, glob, ignore_case, exclude, skip: 0, max: None }
    }

    /// What it lists, in a few words.
    pub(super) fn what(&self) -> String {
        self.glob.as_ref().map_or_else(|| self.path.clone(), |glob| format!("{} {glob}", self.path))
    }

    /// Lists at most a thousand names and at most `cap` bytes, and says when there are more.
    pub(super) fn run(&self, folder: &Folder, cap: usize) -> Result<String, ToolError> {
        let mut shown = String::new();
        let start = folder.inside(&self.path)?;
        let wanted: Vec<String> = self.glob.iter().cloned().collect();
        let patterns = Patterns { wanted: &wanted, excluded: &self.exclude, ignore_case: self.ignore_case };
        let globs = Globs::new("list", &start.to_string(), patterns)?;
        // A pattern names files, which may be anywhere.
        let depth = if self.glob.is_some() { self.depth } else { Some(self.depth.unwrap_or(DEPTH)) };
        let fits = |found: &Found| (self.glob.is_none() || found.kind == Kind::File) && globs.takes(&found.path);
        let found = walk(folder, &start, depth.map(|depth| depth.max(1)))?.filter(fits).skip(self.skip);
        for (count, found) in found.enumerate() {
            let line = match found.kind {
                Kind::File => found.path,
                Kind::Folder => format!("{}/", found.path),
                Kind::Other => format!("{} (link or special file)", found.path),
            };
            if count == self.max.unwrap_or(NAMES_MAX).min(NAMES_MAX) || shown.len() + line.len() > cap {
                shown.push_str("[there are more: begin further down, or use `search`]");
                return Ok(shown);
            }
            shown.push_str(&line);
            shown.push('\n');
        }
        Ok(match (shown.is_empty(), &self.glob) {
            (true, Some(glob)) => format!("(no file matches `{glob}`)"),
            (true, None) => "(nothing here)".to_owned(),
            (false, _) => shown,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_goes_down_as_far_as_asked_and_is_bounded() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a/b/c")).unwrap();
        std::os::unix::fs::symlink("/", dir.path().join("z")).unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let list = |path: &str, depth, cap| {
            List { depth: Some(depth), ..List::of(path) }.run(&folder, cap).map_err(|e| e.to_string())
        };
        assert_eq!(list(".", 2, 1000).unwrap(), "a/\na/b/\nz (link or special file)\n");
        assert_eq!(list("a/b/c", 2, 1000).unwrap(), "(nothing here)");
        assert_eq!(list(".", 9, 6).unwrap(), "a/\n[there are more: begin further down, or use `search`]");
        assert!(list("z", 2, 1000).is_err() && list("../", 2, 1000).is_err());
    }
}
