//! Files that tools make in a folder and that do not belong in a commit: dependencies, environments, caches, byte code,
//! programs. A repository ought to ignore them; many forget to.

use std::{
    collections::BTreeMap,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use git2::Index;
use rustix::fs::{Mode, OFlags};

/// Folders that have one use, by their names.
const FOLDERS: [&str; 11] = [
    "__pycache__",
    "node_modules",
    "bower_components",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".nox",
    ".nyc_output",
    ".gradle",
    ".next",
];
/// Files that mark a folder as a cache, <https://bford.info/cachedir/>, or as a Python environment.
const MARKS: [&str; 2] = ["CACHEDIR.TAG", "pyvenv.cfg"];
/// The suffix of folders with the metadata of Python packages.
const EGG_INFO: &str = ".egg-info";
/// Endings of files that have one use.
const ENDINGS: [&str; 4] = ["pyc", "pyo", "class", "o"];
/// The first bytes of programs and libraries: ELF, Mach-O (both orders, and fat), and archives of objects.
const PROGRAMS: [&[u8]; 5] = [b"\x7fELF", b"\xfe\xed\xfa", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"!<arch>\n"];
/// The first bytes and the extensions of Windows programs: two letters alone prove nothing.
const OF_WINDOWS: (&[u8], [&str; 2]) = (b"MZ", ["exe", "dll"]);

/// Reviews at untracked paths of a folder.
pub(super) struct Made<'a> {
    tree: &'a Path,
    index: &'a Index,
    /// The wanted work: files that it names are kept.
    wanted: &'a str,
    folders: BTreeMap<PathBuf, bool>,
}

impl<'a> Made<'a> {
    pub(super) fn new(tree: &'a Path, index: &'a Index, wanted: &'a str) -> Self {
        Self { tree, index, wanted, folders: BTreeMap::new() }
    }

    /// The unwanted file, or the unwanted folder that it is in; `None` if it belongs in the commit.
    pub(super) fn of(&mut self, path: &Path) -> Option<PathBuf> {
        let mut folder = PathBuf::new();
        for name in path.parent()?.components() {
            folder.push(name);
            let is_made = match self.folders.get(&folder) {
                Some(known) => *known,
                None => {
                    let is_made = self.is_made_folder(&folder) && !self.is_wanted(&folder);
                    self.folders.insert(folder.clone(), is_made);
                    is_made
                }
            };
            if is_made {
                return Some(folder);
            }
        }
        (self.is_made_file(path) && !self.is_wanted(path)).then(|| path.to_owned())
    }

    fn is_made_folder(&self, folder: &Path) -> bool {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let is_marked = || MARKS.iter().any(|mark| self.tree.join(folder).join(mark).symlink_metadata().is_ok());
        FOLDERS.contains(&&*name) || name.ends_with(EGG_INFO) || is_marked()
    }

    fn is_made_file(&self, path: &Path) -> bool {
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        if ENDINGS.contains(&&*ending) {
            return true;
        }
        let begins = begins(&self.tree.join(path));
        let (windows, endings) = OF_WINDOWS;
        PROGRAMS.iter().any(|program| begins.starts_with(program))
            || begins.starts_with(windows) && endings.contains(&&*ending)
    }

    /// Whether the issue names it, or the repository has a part of it.
    fn is_wanted(&self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let names = |(at, _): (usize, &str)| {
            let (before, behind) = (&self.wanted[..at], &self.wanted[at + name.len()..]);
            !before.ends_with(is_word) && !behind.starts_with(is_word)
        };
        let has_part = || self.index.find_prefix(path.join("")).is_ok();
        self.wanted.match_indices(&*name).any(names) || has_part()
    }
}

/// The first bytes of a file; empty if it is not a file.
fn begins(path: &Path) -> Vec<u8> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut bytes = Vec::new();
    let Ok(file) = rustix::fs::open(path, flags, Mode::empty()).map(File::from) else { return bytes };
    if file.metadata().is_ok_and(|found| found.is_file()) {
        file.take(8).read_to_end(&mut bytes).ok();
    }
    bytes
}
