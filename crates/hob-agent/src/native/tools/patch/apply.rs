//! Applies a patch: all new contents are known before the first file is written.

use std::{collections::BTreeMap, os::unix::fs::PermissionsExt};

use crate::{
    folder::{FileError, Folder, Inside},
    native::tools::{
        ToolError,
        patch::{
            place::patched,
            read::{Change, ChangeKind},
        },
        toolbox::FILE_MAX,
    },
};

/// A file before and after.
struct Planned {
    path: Inside,
    before: Option<String>,
    after: Option<String>,
    mode: Option<u32>,
}

/// Applies `changes`; nothing is written where one of them does not fit.
pub(super) fn apply(folder: &Folder, changes: &[Change]) -> Result<String, ToolError> {
    let mut planned: BTreeMap<String, Planned> = BTreeMap::new();
    let mut told = Vec::new();
    for change in changes {
        let refused = |reason: &str| ToolError::Refused(format!("nothing was changed. `{}`: {reason}", change.path));
        let path = folder.inside(&change.path)?;
        let before = match folder.read(&path, FILE_MAX) {
            Ok(text) => Some(text),
            Err(FileError::Missing(_)) => None,
            Err(error) => return Err(refused(&error.to_string())),
        };
        let mut plan = |path: Inside, before, after: Option<String>, mode| {
            if after.as_ref().is_some_and(|text: &String| text.len() as u64 > FILE_MAX) {
                return Err(refused(&format!("it would have more than {FILE_MAX} bytes")));
            }
            match planned.insert(path.to_string(), Planned { path, before, after, mode }) {
                Some(_) => Err(refused("it is named twice: put all its hunks under one header")),
                None => Ok(()),
            }
        };
        match (&change.kind, before) {
            (ChangeKind::Add(_), Some(_)) => return Err(refused("it exists already: use `*** Update File`")),
            (ChangeKind::Add(text), None) => {
                told.push(format!("added {path}"));
                plan(path, None, Some(text.clone()), None)?;
            }
            (ChangeKind::Delete | ChangeKind::Update { .. }, None) => return Err(refused("it does not exist")),
            (ChangeKind::Delete, Some(text)) => {
                let mode = mode_of(folder, &path)?;
                told.push(format!("deleted {path}"));
                plan(path, Some(text), None, mode)?;
            }
            (ChangeKind::Update { hunks, moved }, Some(text)) => {
                let after = patched(&text, hunks).map_err(|reason| refused(&reason))?;
                let Some(moved) = moved else {
                    told.push(format!("changed {path}"));
                    plan(path, Some(text), Some(after), None)?;
                    continue;
                };
                let target = folder.inside(moved)?;
                if !matches!(folder.read(&target, FILE_MAX), Err(FileError::Missing(_))) {
                    return Err(refused(&format!("`{target}` exists already")));
                }
                let mode = mode_of(folder, &path)?;
                told.push(format!("moved {path} to {target}"));
                plan(path, Some(text), None, mode)?;
                plan(target, None, Some(after), mode)?;
            }
        }
    }
    write(folder, &planned)?;
    Ok(told.join("\n"))
}

fn mode_of(folder: &Folder, path: &Inside) -> Result<Option<u32>, ToolError> {
    let file = folder.open_file(path, FILE_MAX)?;
    Ok(file.metadata().ok().map(|metadata| metadata.permissions().mode() & 0o777))
}

/// Writes all files; when one cannot be written, those before it are put back.
fn write(folder: &Folder, planned: &BTreeMap<String, Planned>) -> Result<(), ToolError> {
    for (index, file) in planned.values().enumerate() {
        if let Err(error) = put(folder, &file.path, file.after.as_deref(), file.mode) {
            let back =
                planned.values().take(index).map(|file| put(folder, &file.path, file.before.as_deref(), file.mode));
            let state = if back.filter(Result::is_err).count() == 0 {
                "nothing was changed"
            } else {
                "the files are half changed: look at each"
            };
            return Err(ToolError::Refused(format!("{state}. {error}")));
        }
    }
    Ok(())
}

fn put(folder: &Folder, path: &Inside, text: Option<&str>, mode: Option<u32>) -> Result<(), FileError> {
    match text {
        Some(text) => folder.write(path, text, mode),
        None => folder.remove(path),
    }
}
