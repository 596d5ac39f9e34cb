//! Changes to several files as one transaction: all of them are made, or every file is restored.
//!
//! - Flow: the caller computes every new content first; the files are read again, then changed one after the other.
//! - Guarantees: when a change fails, the files changed before it get their old content and mode back, and files that were
//!   created are removed. No file is changed when two changes name the same one.
//! - Caveats: folders that were created for a new file stay, empty. A process that dies in the middle leaves the changes
//!   made so far.

use std::{collections::BTreeSet, io::Read, os::unix::fs::PermissionsExt};

use crate::folder::{FileError, Folder, Inside};

/// Bytes of a file that can be restored.
const SNAPSHOT_MAX: u64 = 8 << 20;

/// One change of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileChange {
    /// The file gets this content, whether it exists or not.
    Write {
        /// The file.
        path: Inside,
        /// Its whole content.
        text: String,
        /// Its mode; `None` means the old one, or 0644 for a new file.
        mode: Option<u32>,
    },
    /// The file is removed.
    Remove(Inside),
}

impl FileChange {
    /// The file.
    pub(crate) fn path(&self) -> &Inside {
        match self {
            Self::Write { path, .. } | Self::Remove(path) => path,
        }
    }

    fn make(&self, folder: &Folder) -> Result<(), FileError> {
        match self {
            Self::Write { path, text, mode } => folder.write(path, text, *mode),
            Self::Remove(path) => folder.remove(path),
        }
    }
}

/// A transaction that failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TransactionError {
    /// Two changes name the same file, and each was made against the file as it is.
    #[error("nothing was changed. The patch changes `{0}` twice")]
    Twice(String),
    /// A change failed, and those before it were undone.
    #[error("nothing was changed. {0}")]
    Undone(FileError),
    /// A change failed, and these files could not be restored.
    #[error("{error}. These files stay changed, because they could not be restored: {}", .files.join(", "))]
    Torn {
        /// Why the change failed.
        error: FileError,
        /// The files that stay changed.
        files: Vec<String>,
    },
}

/// Makes all `changes`, or none.
pub(crate) fn apply_all(folder: &Folder, changes: &[FileChange]) -> Result<(), TransactionError> {
    let mut named = BTreeSet::new();
    if let Some(twice) = changes.iter().map(|change| change.path().to_string()).find(|path| !named.insert(path.clone()))
    {
        return Err(TransactionError::Twice(twice));
    }
    let before: Result<Vec<_>, _> = changes.iter().map(|change| snapshot(folder, change.path())).collect();
    let before = before.map_err(TransactionError::Undone)?;
    for (index, change) in changes.iter().enumerate() {
        let Err(error) = change.make(folder) else { continue };
        // In reverse order: a file may be where a later change would have needed a folder.
        let undone = before[..index].iter().rev().filter(|undo| undo.make(folder).is_err());
        let files: Vec<_> = undone.map(|undo| format!("`{}`", undo.path())).collect();
        return Err(match files.is_empty() {
            true => TransactionError::Undone(error),
            false => TransactionError::Torn { error, files },
        });
    }
    Ok(())
}

/// The change that brings the file at `path` back to what it is now.
fn snapshot(folder: &Folder, path: &Inside) -> Result<FileChange, FileError> {
    let file = match folder.open_file(path, SNAPSHOT_MAX) {
        Ok(file) => file,
        Err(FileError::Missing(_)) => return Ok(FileChange::Remove(path.clone())),
        Err(error) => return Err(error),
    };
    let failed = |source| FileError::Io { path: path.to_string(), source };
    let mode = file.metadata().map_err(failed)?.permissions().mode() & 0o777;
    let mut bytes = Vec::new();
    file.take(SNAPSHOT_MAX).read_to_end(&mut bytes).map_err(failed)?;
    let text = String::from_utf8(bytes).map_err(|_| FileError::NotText(path.to_string()))?;
    Ok(FileChange::Write { path: path.clone(), text, mode: Some(mode) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_that_fails_undoes_those_before_it() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        for path in ["a", "b"] {
            std::fs::write(at(path), path).unwrap();
        }
        std::fs::set_permissions(at("b"), std::fs::Permissions::from_mode(0o755)).unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let inside = |path: &str| folder.inside(path).unwrap();
        let write = |path: &str| FileChange::Write { path: inside(path), text: "new".into(), mode: None };
        // `new` is a file by the time `new/c` needs a folder of that name.
        let changes = [write("a"), FileChange::Remove(inside("b")), write("new"), write("new/c"), write("d")];
        let error = apply_all(&folder, &changes).unwrap_err();
        assert!(matches!(error, TransactionError::Undone(_)), "{error}");
        assert_eq!((std::fs::read(at("a")).unwrap(), std::fs::read(at("b")).unwrap()), (b"a".into(), b"b".into()));
        assert_eq!(std::fs::metadata(at("b")).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
        let twice = apply_all(&folder, &[write("a"), write("d"), write("a")]).unwrap_err();
        assert_eq!(twice.to_string(), "nothing was changed. The patch changes `a` twice");
        assert!(!at("d").exists());
        apply_all(&folder, &[write("a"), write("d")]).unwrap();
        assert_eq!((std::fs::read(at("a")).unwrap(), std::fs::read(at("d")).unwrap()), (b"new".into(), b"new".into()));
    }
}
