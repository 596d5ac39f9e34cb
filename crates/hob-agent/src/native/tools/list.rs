//! `list`: shows what is in a folder.

use serde::Deserialize;
use serde_json::json;

use crate::{
    folder::{Folder, Kind, walk},
    model::Tool,
    native::tools::ToolError,
};

/// Names one answer has.
const NAMES_MAX: usize = 1_000;

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
    #[serde(default = "two")]
    depth: usize,
}

pub(super) fn here() -> String {
    ".".to_owned()
}

fn two() -> usize {
    2
}

impl List {
    /// Lists at most a thousand names and at most `cap` bytes, and says when there are more.
    pub(super) fn run(&self, folder: &Folder, cap: usize) -> Result<String, ToolError> {
        let mut shown = String::new();
        for (count, found) in walk(folder, &folder.inside(&self.path)?, Some(self.depth.max(1)))?.enumerate() {
            let line = match found.kind {
                Kind::File => found.path,
                Kind::Folder => format!("{}/", found.path),
                Kind::Other => format!("{} (link or special file)", found.path),
            };
            if count == NAMES_MAX || shown.len() + line.len() > cap {
                shown.push_str("[there are more: begin further down, or use `search`]");
                return Ok(shown);
            }
            shown.push_str(&line);
            shown.push('\n');
        }
        Ok(if shown.is_empty() { "(nothing here)".to_owned() } else { shown })
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
        let list =
            |path: &str, depth, cap| List { path: path.into(), depth }.run(&folder, cap).map_err(|e| e.to_string());
        assert_eq!(list(".", 2, 1000).unwrap(), "a/\na/b/\nz (link or special file)\n");
        assert_eq!(list("a/b/c", 2, 1000).unwrap(), "(nothing here)");
        assert_eq!(list(".", 9, 6).unwrap(), "a/\n[there are more: begin further down, or use `search`]");
        assert!(list("z", 2, 1000).is_err() && list("../", 2, 1000).is_err());
    }
}
