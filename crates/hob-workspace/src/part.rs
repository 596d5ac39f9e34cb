//! The part of a repository that is downloaded and checked out, where `folders` of `.github/hob.toml` names folders.
//!
//! It has these folders, the files in the folders above them, the folders at the top whose names begin with a dot, and
//! the files elsewhere that the work changed. The others are in the index, with git's mark for files that are not
//! checked out, so that each commit has them as they were.
//!
//! Git's faster form of such patterns (`core.sparseCheckoutCone`) names no single files, and so is not used.

use std::{collections::BTreeSet, fmt::Write as _, path::Path, sync::Arc};

use git2::{IndexEntry, IndexEntryExtendedFlag};

use crate::{
    WorkspaceError,
    layout::{make, write},
};

/// The settings below `core` by which git obeys the patterns.
pub(super) const PART_SETTINGS: [(&str, &str); 2] = [("sparseCheckout", "true"), ("sparseCheckoutCone", "false")];
/// The file with them, in a git directory.
const FILE: &str = "info/sparse-checkout";

/// The folders that are checked out; none: all.
#[derive(Debug, Clone, Default)]
pub(super) struct Part(Arc<[String]>);

/// Git's patterns for the files of a commit that are checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Patterns(String);

impl Part {
    /// The part with these paths of folders.
    pub(super) fn new(folders: &[String]) -> Self {
        let plain =
            |folder: &String| folder.split('/').filter(|name| !matches!(*name, "" | ".")).collect::<Vec<_>>().join("/");
        let all: BTreeSet<String> = folders.iter().map(plain).collect();
        let is_outermost = |folder: &&String| !parents(folder).any(|above| all.contains(above));
        Self(all.iter().filter(is_outermost).cloned().collect())
    }

    /// Whether it is the whole repository.
    pub(super) fn is_whole(&self) -> bool {
        self.0.is_empty()
    }

    /// A part of a name: the same for the same folders, and empty for all.
    pub(super) fn named(&self) -> String {
        self.0.join("\n")
    }

    /// The patterns for its files, and for those elsewhere that were changed.
    pub(super) fn patterns<'a>(&self, changed: impl Iterator<Item = &'a str>) -> Patterns {
        let mut text = self.of_folders();
        changed.for_each(|path| add(&mut text, path, ""));
        Patterns(text)
    }

    /// Of several patterns that match a file, the last one decides. None is for folders alone, as `/a/` would be: to tell a folder
    /// from a file, git looks at the disk for each of its files.
    fn of_folders(&self) -> String {
        let mut text = "/*\n!/*/**\n/.*/**\n".to_owned();
        for above in self.0.iter().flat_map(|folder| parents(folder)).collect::<BTreeSet<_>>() {
            add(&mut text, above, "/*");
        }
        self.0.iter().for_each(|folder| add(&mut text, folder, "/**"));
        text
    }
}

impl Patterns {
    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// Puts them into a git directory.
    pub(super) fn write(&self, git: &Path) -> Result<(), WorkspaceError> {
        make(&git.join("info"))?;
        write(&git.join(FILE), &self.0)
    }
}

/// Whether an entry of an index is marked as not checked out.
pub(super) fn is_elsewhere(entry: &IndexEntry) -> bool {
    entry.flags_extended & IndexEntryExtendedFlag::SKIP_WORKTREE.bits() != 0
}

/// The folders above this one.
fn parents(folder: &str) -> impl Iterator<Item = &str> {
    folder.match_indices('/').map(|(end, _slash)| &folder[..end])
}

/// Adds a pattern for one path.
fn add(text: &mut String, path: &str, suffix: &str) {
    text.push('/');
    for c in path.chars() {
        match c {
            // A pattern is a line of text: these stand for any character, and for any bytes of a name.
            '\n' => text.push('?'),
            char::REPLACEMENT_CHARACTER => text.push('*'),
            '*' | '?' | '[' | '\\' | ' ' => _ = write!(text, "\\{c}"),
            c => text.push(c),
        }
    }
    text.push_str(suffix);
    text.push('\n');
}
