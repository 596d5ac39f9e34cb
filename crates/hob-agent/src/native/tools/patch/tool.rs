//! The tool `apply_patch` as the model sees it.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::json;

use crate::{
    folder::Folder,
    model::Tool,
    native::tools::{
        ToolError,
        patch::{
            apply::apply,
            change::{Change, ChangeKind, InvalidPatch},
            command::joined,
            read::read,
        },
    },
};

/// The tool as the model sees it.
pub(in crate::native::tools) fn tool() -> Tool {
    Tool {
        name: "apply_patch".into(),
        description:
            "Changes several files, all or none. `*** Begin Patch` … `*** End Patch` with `*** Update File: P`, \
                      `*** Add File: P`, `*** Delete File: P`; or a unified diff."
                .into(),
        schema: json!({
            "type": "object",
            "properties": { "patch": { "type": "string" } },
            "required": ["patch"],
        }),
    }
}

/// The arguments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::native) struct ApplyPatch {
    patch: String,
    /// Where a command wants it applied; `None` for the tool, whose paths begin at the top.
    #[serde(skip)]
    wanted: Option<Place>,
    /// The folder that its paths begin at, below the top.
    #[serde(skip)]
    below: PathBuf,
}

/// The folder of a patch that a command applies.
#[derive(Debug)]
struct Place {
    /// Whether it begins at the shell's folder, not at the top.
    in_shell: bool,
    /// The folder from there.
    folder: Option<String>,
}

impl ApplyPatch {
    /// A patch that a command applies in `folder`, as seen from the shell's own, or from `workdir` if there is one.
    pub(in crate::native::tools) fn in_shell(patch: String, folder: Option<String>, workdir: Option<String>) -> Self {
        let in_shell = workdir.is_none();
        let folder = match (workdir, folder) {
            (Some(workdir), Some(folder)) => Some(format!("{workdir}/{folder}")),
            (workdir, folder) => workdir.or(folder),
        };
        Self { patch, wanted: Some(Place { in_shell, folder }), below: PathBuf::new() }
    }

    /// The same with the paths that it has where it is applied.
    pub(in crate::native) fn placed(mut self, root: &Path, shell: &Path) -> Result<Self, ToolError> {
        let Some(Place { in_shell, folder }) = self.wanted.take() else { return Ok(self) };
        let start = if in_shell { shell } else { root };
        let folder = joined(start, Path::new(folder.as_deref().unwrap_or(".")));
        let below = folder.as_deref().and_then(|folder| folder.strip_prefix(root).ok()).ok_or_else(|| {
            let folder = folder.as_deref().unwrap_or(start).display();
            ToolError::Refused(format!("nothing was changed: `{folder}` is outside the folder {}", root.display()))
        })?;
        self.below = below.to_owned();
        Ok(self)
    }

    /// The changes, with paths that begin at the top.
    fn changes(&self) -> Result<Vec<Change>, InvalidPatch> {
        let seen = |path: &mut String| {
            if let Some(whole) = joined(&self.below, Path::new(path.as_str())) {
                *path = whole.display().to_string();
            }
        };
        let mut changes = read(&self.patch)?;
        for change in changes.iter_mut().filter(|_| !self.below.as_os_str().is_empty()) {
            seen(&mut change.path);
            if let ChangeKind::Update { moved: Some(moved), .. } = &mut change.kind {
                seen(moved);
            }
        }
        Ok(changes)
    }

    /// The patch itself.
    pub(in crate::native::tools) fn text(&self) -> &str {
        &self.patch
    }

    /// Applies the patch, wholly or not at all.
    pub(in crate::native::tools) fn run(&self, folder: &Folder) -> Result<String, ToolError> {
        let changes = self
            .changes()
            .map_err(|error| ToolError::Arguments { tool: "apply_patch".to_owned(), reason: error.to_string() })?;
        apply(folder, &changes)
    }

    /// The files it names, for progress.
    pub(in crate::native) fn files(&self) -> String {
        self.paths().join(" ")
    }

    /// The files it names.
    pub(in crate::native) fn paths(&self) -> Vec<String> {
        self.changes().map(|changes| changes.into_iter().map(|change| change.path).collect()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn apply(files: &[(&str, &str)], patch: &str) -> (tempfile::TempDir, Result<String, String>) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let folder = Folder::open(dir.path()).unwrap();
        let result = ApplyPatch { patch: patch.to_owned(), wanted: None, below: PathBuf::new() }
            .run(&folder)
            .map_err(|error| error.to_string());
        (dir, result)
    }

    const PATCH: &str = "*** Begin Patch\n*** Update File: a\n@@\n one\n-two\n+2\n*** Add File: new/b\n+hello\n+\n*** Delete File: c\n\
                         *** Update File: d\n*** Move to: e\n@@ x\n-y\n+Y\n*** End Patch";

    #[test]
    fn several_files_change_at_once() {
        let files = [("a", "one\ntwo\n"), ("c", "bye\n"), ("d", "y\nx\ny\n")];
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            std::fs::write(dir.path().join(path), text).unwrap();
        }
        std::fs::set_permissions(dir.path().join("d"), std::fs::Permissions::from_mode(0o755)).unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let said = ApplyPatch { patch: PATCH.to_owned(), wanted: None, below: PathBuf::new() }.run(&folder).unwrap();
        assert_eq!(said, "changed a\nadded new/b\ndeleted c\nmoved d to e");
        let read = |path: &str| std::fs::read_to_string(dir.path().join(path)).ok();
        assert_eq!(read("a").as_deref(), Some("one\n2\n"));
        assert_eq!(read("new/b").as_deref(), Some("hello\n\n"));
        assert_eq!((read("c"), read("d")), (None, None));
        assert_eq!(read("e").as_deref(), Some("y\nx\nY\n"));
        assert_eq!(std::fs::metadata(dir.path().join("e")).unwrap().permissions().mode() & 0o777, 0o755);
    }

    #[test]
    fn a_patch_that_does_not_fit_changes_nothing() {
        let files = [("a", "one\nthree\n"), ("c", "bye\n"), ("d", "y\nx\ny\n")];
        let (dir, result) = apply(&files, PATCH);
        let said = result.unwrap_err();
        assert!(said.starts_with("nothing was changed. `a`: hunk 1: its lines are not there."), "{said}");
        for (path, text) in files {
            assert_eq!(std::fs::read_to_string(dir.path().join(path)).unwrap(), text);
        }
        assert!(!dir.path().join("new").exists());
        for (patch, said) in [
            ("", "there is no change in it"),
            ("*** Begin Patch\n*** Update File: a\n@@\n-one\n", "no `*** End Patch`"),
            ("*** Begin Patch\n*** Update File: ../x\n@@\n-one\n*** End Patch", "outside the folder"),
            ("*** Begin Patch\n*** Add File: a\n+x\n*** End Patch", "exists already"),
            ("*** Begin Patch\n*** Delete File: none\n*** End Patch", "does not exist"),
            ("*** Begin Patch\n*** Update File: a\n*** End Patch", "the patch changes nothing in"),
            ("*** Begin Patch\nhello\n*** End Patch", "before any file"),
            ("*** Begin Patch\n*** Add File: n\nhello\n*** End Patch", "begins with `+`"),
            ("*** Begin Patch\n*** Delete File: a\n*** Delete File: a\n*** End Patch", "`a`: it does not exist"),
        ] {
            let (_, result) = apply(&files, patch);
            let error = result.unwrap_err();
            assert!(error.contains(said), "{patch}: {error}");
        }
    }

    #[test]
    fn a_unified_diff_is_a_patch_too() {
        let diff = "diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -3,2 +3,2 @@ fn\n x\n-x\n+y\n--- /dev/null\n+++ b/n\n\
                    @@ -0,0 +1 @@\n+new\n\\ No newline at end of file\n--- a/c\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n";
        let (dir, result) = apply(&[("a", "x\nx\nx\nx\nx\n"), ("c", "bye\n")], diff);
        assert_eq!(result.unwrap(), "changed a\nadded n\ndeleted c");
        assert_eq!(std::fs::read_to_string(dir.path().join("a")).unwrap(), "x\nx\nx\ny\nx\n");
        assert_eq!(std::fs::read_to_string(dir.path().join("n")).unwrap(), "new\n");
        // Counts that are too small lose no line; too large ones are ignored if another hunk follows.
        let counts = "--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n one\n-two\n+2\n+2b\n three\n@@ -9,9 +9,9 @@\n-five\n+5\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-x\n+y\n";
        let (dir, result) = apply(&[("a", "one\ntwo\nthree\nfour\nfive\n"), ("b", "x\n")], counts);
        assert_eq!(result.unwrap(), "changed a\nchanged b");
        assert_eq!(std::fs::read_to_string(dir.path().join("a")).unwrap(), "one\n2\n2b\nthree\nfour\n5\n");
        let (dir, result) =
            apply(&[("a", "one\n")], "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n\\ No newline at end of file\n");
        result.unwrap();
        assert_eq!(std::fs::read_to_string(dir.path().join("a")).unwrap(), "two");
        let (_, result) = apply(&[("a", "one\n")], "--- a/a\n+++ b/a\n@@ -1,3 +1,2 @@\n one\n");
        assert!(result.unwrap_err().contains("cut"));
    }

    /// The corpus has patches as models write them, with the files before, and those that differ afterwards, or what is said.
    #[test]
    fn a_patch_is_applied_as_it_is_meant_or_refused_for_a_reason() {
        let corpus: Vec<serde_json::Value> =
            include_str!("patches.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut wrong = Vec::new();
        for case in &corpus {
            let files: Vec<(&str, &str)> = case["files"]
                .as_object()
                .unwrap()
                .iter()
                .map(|(path, text)| (path.as_str(), text.as_str().unwrap()))
                .collect();
            let (dir, result) = apply(&files, case["patch"].as_str().unwrap());
            let mut after = serde_json::Map::new();
            let before = |path: &str| files.iter().find(|(name, _)| *name == path).map(|(_, text)| *text);
            let folder = Folder::open(dir.path()).unwrap();
            for found in crate::folder::walk(&folder, &folder.inside(".").unwrap(), None).unwrap() {
                let Ok(text) = std::fs::read_to_string(dir.path().join(&found.path)) else { continue };
                if before(&found.path) != Some(&text) {
                    after.insert(found.path, text.into());
                }
            }
            for (path, _) in files.iter().filter(|(path, _)| !dir.path().join(path).exists()) {
                after.insert((*path).to_owned(), serde_json::Value::Null);
            }
            let is_meant = match (case["is"].as_str(), &result) {
                (Some(said), Err(error)) => error.contains(said) && after.is_empty(),
                (None, Ok(_)) => case["is"] == serde_json::Value::Object(after.clone()),
                (Some(_), Ok(_)) | (None, Err(_)) => false,
            };
            if !is_meant {
                wrong.push(format!("{}: {result:?} {}\n  wanted {}", case["way"], json!(after), case["is"]));
            }
        }
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), corpus.len(), wrong.join("\n"));
        assert_eq!(corpus.len(), 65, "docs/agents.md has this figure");
    }

    #[test]
    fn a_mode_of_git_is_the_files() {
        let mode = |dir: &tempfile::TempDir, path: &str| {
            std::fs::metadata(dir.path().join(path)).unwrap().permissions().mode() & 0o777
        };
        let new = "diff --git a/run b/run\nnew file mode 100755\n--- /dev/null\n+++ b/run\n@@ -0,0 +1 @@\n+x\n";
        let (dir, result) = apply(&[], new);
        assert_eq!((result.as_deref(), mode(&dir, "run")), (Ok("added run"), 0o755));
        let changed = "diff --git a/run b/run\nold mode 100644\nnew mode 100755\n";
        let (dir, result) = apply(&[("run", "x\n")], changed);
        assert_eq!((result.as_deref(), mode(&dir, "run")), (Ok("changed run"), 0o755));
    }

    #[test]
    fn a_patch_of_a_command_begins_at_its_folder() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("sub/deep")).unwrap();
        std::fs::write(dir.path().join("sub/a"), "one\n").unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let patch = "*** Begin Patch\n*** Update File: a\n*** Move to: ../b\n@@\n-one\n+two\n*** End Patch";
        let root = folder.path().to_owned();
        let at = |in_shell: Option<&str>, workdir: Option<&str>, shell: &str| {
            let of = ApplyPatch::in_shell(patch.to_owned(), in_shell.map(str::to_owned), workdir.map(str::to_owned));
            of.placed(&root, &root.join(shell)).map(|patch| patch.paths().join(" ")).map_err(|error| error.to_string())
        };
        assert_eq!(at(None, None, "sub").unwrap(), "sub/a");
        assert_eq!(at(Some("sub"), None, "").unwrap(), "sub/a");
        assert_eq!(at(Some(".."), None, "sub/deep").unwrap(), "sub/a");
        assert_eq!(at(None, Some("sub"), "sub/deep").unwrap(), "sub/a");
        assert!(at(Some("/etc"), None, "sub").unwrap_err().contains("`/etc` is outside the folder"));
        let of = ApplyPatch::in_shell(patch.to_owned(), Some("sub".into()), None).placed(&root, &root).unwrap();
        assert_eq!(of.run(&folder).unwrap(), "moved sub/a to b");
        assert_eq!(std::fs::read_to_string(dir.path().join("b")).unwrap(), "two\n");
    }
}
