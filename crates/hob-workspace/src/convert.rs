//! Files that git converts: line ends, encodings, ids. The library knows some of git's rules; git itself, which checked
//! the files out, knows all of them.
//!
//! The committer starts git, within its plan, with Hob's index and settings that name no program.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    fs,
    io::{Seek, Write},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    process::Command,
};

use git2::{AttrCheckFlags, AttrValue, Repository};
use serde::{Deserialize, Serialize};

use crate::{UnfitWork, WorkspaceError, error::disk, layout::remove};

/// The attributes that make git convert a file without a program. <https://git-scm.com/docs/gitattributes>
const CONVERTS: [&str; 5] = ["text", "crlf", "eol", "ident", "working-tree-encoding"];
/// The folder in Hob's git directory where files are checked out to be compared.
const COMPARED: &str = "compared";

/// The git program and its environment.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct GitCommand {
    pub(super) program: PathBuf,
    pub(super) environment: Vec<(OsString, OsString)>,
}

/// Converts files between a folder and the index of a git directory of Hob's.
pub(super) struct Converter<'a> {
    pub(super) command: &'a GitCommand,
    pub(super) git: &'a Path,
    pub(super) tree: &'a Path,
}

/// Whether git converts the file at this path: by the attributes of the index, which the checkout used, or by those in
/// the folder now.
pub(super) fn is_converted(repo: &Repository, path: &Path) -> bool {
    let says = |name, flags| {
        let value = repo.get_attr_bytes(path, name, flags).ok().flatten();
        !matches!(AttrValue::from_bytes(value), AttrValue::Unspecified | AttrValue::False)
    };
    CONVERTS
        .into_iter()
        .any(|name| says(name, AttrCheckFlags::INDEX_ONLY) || says(name, AttrCheckFlags::FILE_THEN_INDEX))
}

impl Converter<'_> {
    /// The files of these that are, byte for byte, what git checks out for them.
    pub(super) fn untouched(&self, paths: &[PathBuf]) -> Result<BTreeSet<PathBuf>, WorkspaceError> {
        if paths.is_empty() {
            return Ok(BTreeSet::new());
        }
        // A folder without files: the attributes are the index's.
        let compared = self.git.join(COMPARED);
        remove(&compared)?;
        fs::create_dir(&compared).map_err(disk("make", &compared))?;
        self.run(&compared, &["checkout-index", "--stdin", "-z"], paths)?;
        let same = |path: &&PathBuf| {
            let (was, is) = (fs::read(compared.join(path)), fs::read(self.tree.join(path)));
            matches!((was, is), (Ok(was), Ok(is)) if was == is)
        };
        let found = paths.iter().filter(same).cloned().collect();
        remove(&compared)?;
        Ok(found)
    }

    /// Puts these files into the index.
    pub(super) fn add(&self, paths: &[PathBuf]) -> Result<(), WorkspaceError> {
        if paths.is_empty() {
            return Ok(());
        }
        self.run(self.tree, &["update-index", "--add", "-z", "--stdin"], paths)
    }

    #[expect(clippy::disallowed_methods, reason = "the committer is inside of a plan, and so is what it starts")]
    fn run(&self, work_tree: &Path, arguments: &[&str], paths: &[PathBuf]) -> Result<(), WorkspaceError> {
        let failed = || disk("run", &self.command.program);
        // Not a pipe: git may write more than a pipe holds before it has read all names.
        let mut names = tempfile::tempfile_in(self.git).map_err(failed())?;
        let all: Vec<u8> = paths.iter().flat_map(|path| [path.as_os_str().as_bytes(), b"\0"].concat()).collect();
        names.write_all(&all).and_then(|()| names.rewind()).map_err(failed())?;
        let option = |name: &str, path: &Path| [OsStr::new(name), path.as_os_str()].into_iter().collect::<OsString>();
        let mut command = Command::new(&self.command.program);
        command.env_clear().envs(self.command.environment.iter().map(|(name, value)| (name, value)));
        command.env("GIT_INDEX_FILE", self.git.join("index")).current_dir(work_tree);
        command.args([option("--git-dir=", self.git), option("--work-tree=", work_tree)]).args(arguments);
        let ended = command.stdin(names).output().map_err(failed())?;
        if ended.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&ended.stderr);
        let reason = said.lines().find(|line| line.starts_with("error:") || line.starts_with("fatal:"));
        let reason = reason.or(said.lines().next()).unwrap_or("it gave no reason");
        Err(UnfitWork::Unconverted { said: hob_text::clip(reason, 300) }.into())
    }
}
