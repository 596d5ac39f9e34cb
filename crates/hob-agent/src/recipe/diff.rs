//! The step `apply = "issue-diff"`: changes, creates, deletes and renames files as a unified diff says.

use diffy::patch_set::{FileMode, FileOperation, FilePatch, ParseOptions, PatchKind, PatchSet};

use crate::{
    folder::{FileChange, FileError, Folder, Inside, TransactionError, apply_all},
    recipe::patch::fenced_diff,
};

/// Bytes of a file that is read or written.
const FILE_MAX: u64 = 8 << 20;
/// Files one diff may change.
const FILES_MAX: usize = 500;

/// A diff that was not applied.
#[derive(Debug, thiserror::Error)]
pub(super) enum DiffError {
    /// The issue has none.
    #[error("the issue has no block fenced as ```diff")]
    None,
    /// It is not a unified diff.
    #[error("the diff is not valid: {0}")]
    Invalid(String),
    /// Its lines are not those of the file.
    #[error("the diff does not fit `{path}`: {why}")]
    Unfit {
        /// The file.
        path: String,
        /// The reason.
        why: String,
    },
    /// It has a change that is refused.
    #[error("the diff has {0}, which is refused")]
    Refused(&'static str),
    /// It has too many files.
    #[error("the diff changes more than {FILES_MAX} files")]
    TooMany,
    /// It changes nothing.
    #[error("the diff changes nothing")]
    Nothing,
    /// A file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// Its changes could not be made.
    #[error(transparent)]
    Transaction(#[from] TransactionError),
}

/// Applies the diff fenced in `body`, as a whole or not at all, and returns a text about the changes.
pub(super) fn apply(folder: &Folder, body: &str) -> Result<String, DiffError> {
    let diff = fenced_diff(body).ok_or(DiffError::None)?;
    let git = diff.lines().any(|line| line.starts_with("diff --git "));
    let options = if git { ParseOptions::gitdiff() } else { ParseOptions::unidiff() };
    let mut changes = Vec::new();
    for (index, patch) in PatchSet::parse(&diff, options).enumerate() {
        if index == FILES_MAX {
            return Err(DiffError::TooMany);
        }
        let patch = patch.map_err(|error| DiffError::Invalid(error.to_string()))?;
        changes.extend(work_out(folder, &patch)?);
    }
    if changes.is_empty() {
        return Err(DiffError::Nothing);
    }
    apply_all(folder, &changes)?;
    let names: Vec<_> = changes
        .iter()
        .map(|change| match change {
            FileChange::Write { path, .. } => format!("`{path}`"),
            FileChange::Remove(path) => format!("`{path}` (removed)"),
        })
        .collect();
    Ok(format!("applied the issue's diff to {}", names.join(", ")))
}

fn work_out(folder: &Folder, patch: &FilePatch<'_, str>) -> Result<Vec<FileChange>, DiffError> {
    for mode in [patch.old_mode(), patch.new_mode()].into_iter().flatten() {
        match mode {
            FileMode::Regular | FileMode::Executable => {}
            FileMode::Symlink => return Err(DiffError::Refused("a symbolic link")),
            FileMode::Gitlink => return Err(DiffError::Refused("a submodule")),
        }
    }
    let mode = patch.new_mode().map(|mode| if *mode == FileMode::Executable { 0o755 } else { 0o644 });
    let text = match patch.patch() {
        PatchKind::Text(text) => text,
        PatchKind::Binary(_) => return Err(DiffError::Refused("a binary file")),
    };
    let new = |path: Inside, old: &str| match diffy::apply(old, text) {
        Ok(text) if text.len() as u64 > FILE_MAX => {
            Err(DiffError::Unfit { path: path.to_string(), why: format!("it would have more than {FILE_MAX} bytes") })
        }
        Ok(text) => Ok(FileChange::Write { path, text, mode }),
        Err(error) => Err(DiffError::Unfit { path: path.to_string(), why: error.to_string() }),
    };
    match patch.operation() {
        FileOperation::Create(path) => {
            let path = place(folder, path)?;
            match folder.read(&path, FILE_MAX) {
                Err(FileError::Missing(_)) => Ok(vec![new(path, "")?]),
                Ok(_) => Err(DiffError::Unfit { path: path.to_string(), why: "it exists already".into() }),
                Err(error) => Err(error.into()),
            }
        }
        FileOperation::Delete(path) => {
            let path = place(folder, path)?;
            match new(path.clone(), &folder.read(&path, FILE_MAX)?)? {
                FileChange::Write { text, .. } if !text.is_empty() => {
                    Err(DiffError::Unfit { path: path.to_string(), why: "it has more than the diff deletes".into() })
                }
                FileChange::Write { .. } | FileChange::Remove(_) => Ok(vec![FileChange::Remove(path)]),
            }
        }
        FileOperation::Modify { original, modified } => {
            let (from, to) = (place(folder, original)?, place(folder, modified)?);
            let text = folder.read(&from, FILE_MAX)?;
            let moved = (from != to).then_some(FileChange::Remove(from));
            Ok(std::iter::once(new(to, &text)?).chain(moved).collect())
        }
        FileOperation::Rename { from, to } => {
            let (from, to) = (place(folder, from)?, place(folder, to)?);
            Ok(vec![new(to, &folder.read(&from, FILE_MAX)?)?, FileChange::Remove(from)])
        }
        FileOperation::Copy { from, to } => {
            Ok(vec![new(place(folder, to)?, &folder.read(&place(folder, from)?, FILE_MAX)?)?])
        }
    }
}

/// A path of a diff, without git's `a/` or `b/`.
fn place(folder: &Folder, path: &str) -> Result<Inside, FileError> {
    folder.inside(path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path))
}
