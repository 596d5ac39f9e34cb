//! The files below a part of the folder, without those that git ignores.

use std::path::{Path, PathBuf};

use crate::folder::{FileError, Folder, Inside, path::is_gits};

/// One entry of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// The path below the folder; names that are not UTF-8 are left out of a walk.
    pub(crate) path: String,
    /// Its type.
    pub(crate) kind: Kind,
}

/// The type of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, a FIFO, a device or a socket: named, never opened.
    Other,
}

/// Walks the entries below `start` in the order of their names, at most `depth` levels deep. Links are named but not
/// followed; git's own files and files that `.gitignore` excludes do not appear.
pub(crate) fn walk(
    folder: &Folder,
    start: &Inside,
    depth: Option<usize>,
) -> Result<impl Iterator<Item = Found>, FileError> {
    let root = folder.path().to_owned();
    let from = start.names().iter().fold(root.clone(), |path, name| path.join(name));
    let shown = start.to_string();
    // The walk reads names by path; each link on the way to its start is refused here, and files are opened by the
    // folder, which refuses links again: a swap in between can show names, never contents.
    if from.canonicalize().map_err(|source| missing(&shown, source))? != from {
        return Err(FileError::Outside(shown));
    }
    if !readable_rules(&from) {
        return Err(FileError::NotAFile { path: format!("{shown}/.gitignore"), kind: "no regular file" });
    }
    let walker = ignore::WalkBuilder::new(&from)
        .hidden(false)
        .parents(false)
        .git_global(false)
        .git_exclude(false)
        .require_git(false)
        .follow_links(false)
        .max_depth(depth)
        .sort_by_file_name(Ord::cmp)
        .filter_entry(|entry| {
            let gits = entry.file_name().to_str().is_none_or(is_gits);
            !gits && (!entry.file_type().is_some_and(|kind| kind.is_dir()) || readable_rules(entry.path()))
        })
        .build();
    let entries = walker.filter_map(Result::ok).filter(|entry| entry.depth() > 0 || entry.path().is_file());
    Ok(entries.filter_map(move |entry| found(&root, &entry)))
}

fn found(root: &Path, entry: &ignore::DirEntry) -> Option<Found> {
    let path = entry.path().strip_prefix(root).ok()?.to_str()?.to_owned();
    let kind = match entry.file_type()? {
        kind if kind.is_file() => Kind::File,
        kind if kind.is_dir() => Kind::Folder,
        _ => Kind::Other,
    };
    Some(Found { path, kind })
}

fn missing(shown: &str, source: std::io::Error) -> FileError {
    match source.kind() {
        std::io::ErrorKind::NotFound => FileError::Missing(shown.to_owned()),
        _ => FileError::Io { path: shown.to_owned(), source },
    }
}

/// Whether the walker can read the ignore rules of `folder` without blocking: a FIFO in their place would hang it.
fn readable_rules(folder: &Path) -> bool {
    [".gitignore", ".ignore"].iter().map(|name| -> PathBuf { folder.join(name) }).all(|path| {
        match path.symlink_metadata() {
            Ok(metadata) => metadata.is_file(),
            Err(_) => true,
        }
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn paths(folder: &Folder, start: &str) -> Vec<String> {
        walk(folder, &folder.inside(start).unwrap(), None).unwrap().map(|found| found.path).collect()
    }

    #[test]
    fn a_walk_leaves_out_what_git_ignores_and_git_itself_and_follows_no_link() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(outside.path().join("secret"), "").unwrap();
        for path in ["b/x.rs", ".github/w.yml", "target/big", ".git/config", "a.txt"] {
            let path = inside.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        std::fs::write(inside.path().join(".gitignore"), "/target\n").unwrap();
        symlink(outside.path(), inside.path().join("out")).unwrap();
        let folder = Folder::open(inside.path()).unwrap();
        assert_eq!(paths(&folder, "."), [".github", ".github/w.yml", ".gitignore", "a.txt", "b", "b/x.rs", "out"]);
        assert_eq!(paths(&folder, "b"), ["b/x.rs"]);
        assert!(walk(&folder, &folder.inside("out").unwrap(), None).is_err());
        assert!(walk(&folder, &folder.inside("none").unwrap(), None).is_err());
    }

    #[test]
    fn a_fifo_in_place_of_the_ignore_rules_does_not_hang_the_walk() {
        let inside = tempfile::tempdir().unwrap();
        std::fs::create_dir(inside.path().join("sub")).unwrap();
        let pipe = inside.path().join("sub/.gitignore");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o644),
            0,
        )
        .unwrap();
        let folder = Folder::open(inside.path()).unwrap();
        assert!(paths(&folder, ".").is_empty());
        assert!(walk(&folder, &folder.inside("sub").unwrap(), None).is_err());
    }
}
