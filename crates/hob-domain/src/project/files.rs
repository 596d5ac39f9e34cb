//! The files of a repository as the detection sees them: all paths, and the texts of the few files that say how it is
//! built.

use std::collections::{BTreeMap, BTreeSet};

/// The files whose text is read.
const READ: [&str; 21] = [
    ".justfile",
    "Cargo.toml",
    "GNUmakefile",
    "Justfile",
    "Makefile",
    "build.gradle",
    "dev-requirements.txt",
    "justfile",
    "makefile",
    "package.json",
    "pom.xml",
    "pyproject.toml",
    "requirements-dev.txt",
    "requirements-test.txt",
    "requirements.txt",
    "requirements_dev.txt",
    "setup.cfg",
    "setup.py",
    "test-requirements.txt",
    "tox.ini",
    ".flake8",
];
/// The most files that are read of one repository.
const READ_MAX: usize = 40;
/// Folders that contain no project, or one that is not the repository's own work.
const APART: [&str; 16] = [
    "bench",
    "benches",
    "doc",
    "docs",
    "example",
    "examples",
    "fixtures",
    "node_modules",
    "scripts",
    "target",
    "test",
    "testdata",
    "tests",
    "third_party",
    "tools",
    "vendor",
];

/// A repository's files, or those of one folder of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectFiles {
    paths: BTreeSet<String>,
    texts: BTreeMap<String, String>,
}

impl ProjectFiles {
    /// All paths, with `/` between folders, and the texts of some. A path without its text counts as an empty file.
    pub fn new(paths: impl IntoIterator<Item = String>, texts: impl IntoIterator<Item = (String, String)>) -> Self {
        let texts: BTreeMap<_, _> = texts.into_iter().collect();
        Self { paths: paths.into_iter().chain(texts.keys().cloned()).collect(), texts }
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    pub(super) fn text(&self, path: &str) -> &str {
        self.texts.get(path).map_or("", String::as_str)
    }

    /// Those of `names` that exist.
    pub(super) fn those<'a>(&self, names: &[&'a str]) -> Vec<&'a str> {
        names.iter().copied().filter(|name| self.has(name)).collect()
    }

    pub(super) fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has(name))
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// The folders at the top that may be separate projects.
    pub(super) fn folders(&self) -> BTreeSet<&str> {
        self.paths().filter_map(|path| Some(path.split_once('/')?.0)).filter(|folder| is_project(folder)).collect()
    }

    /// The files of one folder at the top.
    pub(super) fn below(&self, folder: &str) -> Self {
        let inner = |path: &String| Some(path.strip_prefix(folder)?.strip_prefix('/')?.to_owned());
        Self {
            paths: self.paths.iter().filter_map(inner).collect(),
            texts: self.texts.iter().filter_map(|(path, text)| Some((inner(path)?, text.clone()))).collect(),
        }
    }
}

/// Whether a folder's name can be used in a command unquoted, and the folder is not a side matter.
pub(super) fn is_project(folder: &str) -> bool {
    let plain = folder.starts_with(|c: char| c.is_ascii_alphanumeric())
        && folder.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    plain && !APART.contains(&folder)
}

/// Whether a file of this name is read for its checks and steps.
pub(super) fn is_manifest(name: &str) -> bool {
    READ.contains(&name)
}

/// The paths whose text [`proposal`](super::proposal()) reads: manifests at the top and in the folders there.
pub fn manifests<'a>(paths: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let matters = |path: &&str| match path.split_once('/') {
        None => is_manifest(path),
        Some((folder, name)) => is_project(folder) && is_manifest(name),
    };
    let mut found: Vec<&str> = paths.into_iter().filter(matters).collect();
    // Those at the top come first, so that they are read regardless of the folders.
    found.sort_by_key(|path| (path.contains('/'), *path));
    found.truncate(READ_MAX);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_read_at_the_top_and_one_folder_down() {
        let paths =
            ["web/package.json", "package.json", "docs/package.json", "a/b/package.json", "src/main.rs", "$x/Makefile"];
        assert_eq!(manifests(paths), ["package.json", "web/package.json"]);
        let many: Vec<String> = (0..100).map(|n| format!("p{n}/Cargo.toml")).chain(["Makefile".to_owned()]).collect();
        let read = manifests(many.iter().map(String::as_str));
        assert_eq!((read.len(), read[0]), (READ_MAX, "Makefile"));
    }
}
