//! Applies a patch: all new contents are known before the first file is written.

use std::os::unix::fs::PermissionsExt;

use crate::{
    folder::{FileChange, FileError, Folder, Inside, TransactionError, apply_all},
    native::tools::{
        ToolError,
        patch::{
            change::{Change, ChangeKind},
            place::patched,
        },
        toolbox::FILE_MAX,
    },
};

/// Applies `changes`, each to what the ones before leave; nothing is written if one of them does not fit.
pub(super) fn apply(folder: &Folder, changes: &[Change]) -> Result<String, ToolError> {
    let mut plan = Plan { folder, files: Vec::new() };
    let mut told: Vec<String> = Vec::new();
    for change in changes {
        let line = plan.change(change)?;
        if told.last() != Some(&line) {
            told.push(line);
        }
    }
    apply_all(folder, &plan.changes()).map_err(|error| match error {
        TransactionError::Twice(path) => refused(&path, "it is named twice: put all its hunks under one header"),
        error @ (TransactionError::Undone(_) | TransactionError::Torn { .. }) => ToolError::Refused(error.to_string()),
    })?;
    Ok(told.join("\n"))
}

/// The files that a patch names, as it leaves them.
struct Plan<'a> {
    folder: &'a Folder,
    files: Vec<File>,
}

/// A file as it is to be.
struct File {
    path: Inside,
    was_there: bool,
    /// Its content; `None` if it is not there.
    text: Option<String>,
    /// Its mode, if that changes.
    mode: Option<u32>,
}

impl Plan<'_> {
    /// Makes one change; a description of it.
    fn change(&mut self, change: &Change) -> Result<String, ToolError> {
        let refused = |reason: &str| refused(&change.path, reason);
        let file = self.file(&change.path)?;
        let path = file.path.clone();
        // The modes of git, which knows no others.
        let mode = change.is_executable.map(|is_executable| if is_executable { 0o755 } else { 0o644 });
        match (&change.kind, &file.text) {
            (ChangeKind::Add(_), Some(_)) => Err(refused("it exists already: use `*** Update File`")),
            (ChangeKind::Add(text), None) => {
                let text = bounded(&change.path, text.clone())?;
                (file.text, file.mode) = (Some(text), mode);
                Ok(format!("added {path}"))
            }
            (ChangeKind::Delete | ChangeKind::Update { .. }, None) => Err(refused("it does not exist")),
            (ChangeKind::Delete, Some(_)) => {
                file.text = None;
                Ok(format!("deleted {path}"))
            }
            (ChangeKind::Update { hunks, moved }, Some(text)) => {
                let after = patched(text, hunks).map_err(|error| refused(&error.to_string()))?;
                if after == *text && moved.is_none() && mode.is_none() {
                    return Err(refused("the patch changes nothing in it: its old and its new lines are the same"));
                }
                let after = bounded(&change.path, after)?;
                let Some(moved) = moved else {
                    (file.text, file.mode) = (Some(after), mode.or(file.mode));
                    return Ok(format!("changed {path}"));
                };
                let kept = match mode.or(file.mode) {
                    None if file.was_there => mode_of(self.folder, &path)?,
                    mode => mode,
                };
                let target = self.file(moved)?;
                if target.text.is_some() {
                    return Err(refused(&format!("`{}` exists already", target.path)));
                }
                (target.text, target.mode) = (Some(after), kept);
                let line = format!("moved {path} to {}", target.path);
                self.file(&change.path)?.text = None;
                Ok(line)
            }
        }
    }

    /// The file as the changes before leave it.
    fn file(&mut self, path: &str) -> Result<&mut File, ToolError> {
        let inside = self.folder.inside(path)?;
        let place = match self.files.iter().position(|file| file.path == inside) {
            Some(place) => place,
            None => {
                let text = match self.folder.read(&inside, FILE_MAX) {
                    Ok(text) => Some(text),
                    Err(FileError::Missing(_)) => None,
                    Err(error) => return Err(refused(path, &error.to_string())),
                };
                self.files.push(File { path: inside, was_there: text.is_some(), text, mode: None });
                self.files.len() - 1
            }
        };
        Ok(&mut self.files[place])
    }

    /// What has to be done, each file once: first what goes, which may be where another file needs a folder.
    fn changes(self) -> Vec<FileChange> {
        let (stays, goes): (Vec<File>, Vec<File>) = self.files.into_iter().partition(|file| file.text.is_some());
        let removed = goes.into_iter().filter(|file| file.was_there).map(|file| FileChange::Remove(file.path));
        let written = stays
            .into_iter()
            .filter_map(|File { path, text, mode, .. }| text.map(|text| FileChange::Write { path, text, mode }));
        removed.chain(written).collect()
    }
}

/// A text that is not too large for the file `path`.
fn bounded(path: &str, text: String) -> Result<String, ToolError> {
    match text.len() as u64 > FILE_MAX {
        true => Err(refused(path, &format!("it would have more than {FILE_MAX} bytes"))),
        false => Ok(text),
    }
}

fn refused(path: &str, reason: &str) -> ToolError {
    ToolError::Refused(format!("nothing was changed. `{path}`: {reason}"))
}

fn mode_of(folder: &Folder, path: &Inside) -> Result<Option<u32>, ToolError> {
    let file = folder.open_file(path, FILE_MAX)?;
    Ok(file.metadata().ok().map(|metadata| metadata.permissions().mode() & 0o777))
}
