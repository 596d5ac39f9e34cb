//! Applies a patch: all new contents are known before the first file is written.

use std::os::unix::fs::PermissionsExt;

use crate::{
    folder::{FileChange, FileError, Folder, Inside, TransactionError, apply_all},
    native::tools::{
        ToolError,
        patch::{
            place::patched,
            read::{Change, ChangeKind},
        },
        toolbox::FILE_MAX,
    },
};

/// Applies `changes`; nothing is written if one of them does not fit.
pub(super) fn apply(folder: &Folder, changes: &[Change]) -> Result<String, ToolError> {
    let mut planned = Vec::new();
    let mut told = Vec::new();
    for change in changes {
        let path = folder.inside(&change.path)?;
        let before = match folder.read(&path, FILE_MAX) {
            Ok(text) => Some(text),
            Err(FileError::Missing(_)) => None,
            Err(error) => return Err(refused(&change.path, &error.to_string())),
        };
        let refused = |reason: &str| refused(&change.path, reason);
        let write = |path: Inside, text: String, mode| match text.len() as u64 > FILE_MAX {
            true => Err(refused(&format!("it would have more than {FILE_MAX} bytes"))),
            false => Ok(FileChange::Write { path, text, mode }),
        };
        match (&change.kind, before) {
            (ChangeKind::Add(_), Some(_)) => return Err(refused("it exists already: use `*** Update File`")),
            (ChangeKind::Add(text), None) => {
                told.push(format!("added {path}"));
                planned.push(write(path, text.clone(), None)?);
            }
            (ChangeKind::Delete | ChangeKind::Update { .. }, None) => return Err(refused("it does not exist")),
            (ChangeKind::Delete, Some(_)) => {
                told.push(format!("deleted {path}"));
                planned.push(FileChange::Remove(path));
            }
            (ChangeKind::Update { hunks, moved }, Some(text)) => {
                let after = patched(&text, hunks).map_err(|error| refused(&error.to_string()))?;
                let Some(moved) = moved else {
                    told.push(format!("changed {path}"));
                    planned.push(write(path, after, None)?);
                    continue;
                };
                let target = folder.inside(moved)?;
                if !matches!(folder.read(&target, FILE_MAX), Err(FileError::Missing(_))) {
                    return Err(refused(&format!("`{target}` exists already")));
                }
                let mode = mode_of(folder, &path)?;
                told.push(format!("moved {path} to {target}"));
                planned.push(FileChange::Remove(path));
                planned.push(write(target, after, mode)?);
            }
        }
    }
    apply_all(folder, &planned).map_err(|error| match error {
        TransactionError::Twice(path) => refused(&path, "it is named twice: put all its hunks under one header"),
        error @ (TransactionError::Undone(_) | TransactionError::Torn { .. }) => ToolError::Refused(error.to_string()),
    })?;
    Ok(told.join("\n"))
}

fn refused(path: &str, reason: &str) -> ToolError {
    ToolError::Refused(format!("nothing was changed. `{path}`: {reason}"))
}

fn mode_of(folder: &Folder, path: &Inside) -> Result<Option<u32>, ToolError> {
    let file = folder.open_file(path, FILE_MAX)?;
    Ok(file.metadata().ok().map(|metadata| metadata.permissions().mode() & 0o777))
}
