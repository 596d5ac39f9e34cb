//! What tools make in a folder, and nobody wants in a commit: dependencies, environments, caches, byte code, programs. A
//! repository ought to ignore it; many forget to.

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
/// Files by which a folder says that it is a cache, <https://bford.info/cachedir/>, or an environment of Python's.
const MARKS: [&str; 2] = ["CACHEDIR.TAG", "pyvenv.cfg"];
/// How the names of folders end that packages of Python are described in.
const EGG_INFO: &str = ".egg-info";
/// Endings of files that have one use.
const ENDINGS: [&str; 4] = ["pyc", "pyo", "class", "o"];
/// How programs and libraries begin: ELF, Mach-O (in both orders, and for several processors), and archives of objects.
const PROGRAMS: [&[u8]; 5] = [b"\x7fELF", b"\xfe\xed\xfa", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"!<arch>\n"];
/// How programs of Windows begin, which have an ending too: two letters may be anything.
const OF_WINDOWS: (&[u8], [&str; 2]) = (b"MZ", ["exe", "dll"]);

/// Looks at untracked paths of a folder.
pub(super) struct Made<'a> {
    tree: &'a Path,
    index: &'a Index,
    /// What the work is to be: what it names is wanted.
    wanted: &'a str,
    folders: BTreeMap<PathBuf, bool>,
}

impl<'a> Made<'a> {
    pub(super) fn new(tree: &'a Path, index: &'a Index, wanted: &'a str) -> Self {
        Self { tree, index, wanted, folders: BTreeMap::new() }
    }

    /// The file, or the folder that it is in, that a tool made and nobody wants.
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

/// The first bytes of a file; none where it is no file.
fn begins(path: &Path) -> Vec<u8> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut bytes = Vec::new();
    let Ok(file) = rustix::fs::open(path, flags, Mode::empty()).map(File::from) else { return bytes };
    if file.metadata().is_ok_and(|found| found.is_file()) {
        file.take(8).read_to_end(&mut bytes).ok();
    }
    bytes
}
