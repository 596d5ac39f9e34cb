//! The step `replace`: one text for another in the files of a glob.

use std::borrow::Cow;

use globset::GlobBuilder;
use hob_config::{Pattern, Replace};
use regex::{NoExpand, Regex, RegexBuilder};

use hob_text::count;

use crate::folder::{FileError, Folder, Kind, walk};

/// Bytes of a file that is read.
const FILE_MAX: u64 = 8 << 20;
/// Bytes that a file may grow to.
const GROWN_MAX: usize = 32 << 20;

/// A replacement that changed nothing, or could not be made.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReplaceError {
    /// The regular expression or the glob is not valid.
    #[error("`{0}` is not valid: {1}")]
    Invalid(String, String),
    /// No file matches.
    #[error("it changes nothing: no file matches `{0}`")]
    NoFile(String),
    /// No file has the text.
    #[error("it changes nothing: the text is in no file that matches ({0} looked at)")]
    NoText(String),
    /// The text was replaced by itself.
    #[error("it changes nothing: the text is replaced by itself")]
    Same,
    /// A file would grow too large.
    #[error("`{0}` would have more than {GROWN_MAX} bytes")]
    TooBig(String),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Replaces in every file of the folder that the glob matches and git does not ignore; returns a text about the
/// changes. Files that are not text or too big are skipped, unless the step names just one. If a plain text is replaced
/// already, as it is when a recipe resumes its own work, the step is done.
pub(super) fn replace(folder: &Folder, step: &Replace) -> Result<String, ReplaceError> {
    let invalid = |text: &str, error: String| ReplaceError::Invalid(text.to_owned(), error);
    let pattern = match step.pattern {
        Pattern::Text => regex::escape(&step.find),
        Pattern::Regex => step.find.clone(),
    };
    let pattern = RegexBuilder::new(&pattern).multi_line(true).build();
    let pattern = pattern.map_err(|error| invalid(&step.find, error.to_string()))?;
    let (mut looked, mut found, mut places, mut changed) = (0, 0, 0, 0);
    let mut done_before = false;
    for path in files(folder, &step.files).map_err(|error| match error {
        Unlisted::Glob(error) => invalid(&step.files, error),
        Unlisted::File(error) => error.into(),
    })? {
        looked += 1;
        let inside = folder.inside(&path)?;
        let text = match folder.read(&inside, FILE_MAX) {
            Ok(text) => text,
            Err(error) if path == step.files => return Err(error.into()),
            Err(_) => continue,
        };
        let count = pattern.find_iter(&text).count();
        if count == 0 {
            let is_plain = step.pattern == Pattern::Text && !step.with.trim().is_empty();
            done_before |= is_plain && text.contains(&step.with);
            continue;
        }
        found += 1;
        let new = replaced(&pattern, &text, step);
        if new.len() > GROWN_MAX {
            return Err(ReplaceError::TooBig(path));
        }
        if new != text {
            folder.write(&inside, &new, None)?;
            (places, changed) = (places + count, changed + 1);
        }
    }
    match (looked, found, changed) {
        (0, _, _) => Err(ReplaceError::NoFile(step.files.clone())),
        (_, 0, _) if done_before => Ok(format!("`{}` is replaced already", step.find)),
        (_, 0, _) => Err(ReplaceError::NoText(count(looked, "file"))),
        (_, _, 0) => Err(ReplaceError::Same),
        (_, _, changed) => {
            Ok(format!("replaced `{}` at {} in {}", step.find, count(places, "place"), count(changed, "file")))
        }
    }
}

fn replaced<'t>(pattern: &Regex, text: &'t str, step: &Replace) -> Cow<'t, str> {
    match step.pattern {
        Pattern::Text => pattern.replace_all(text, NoExpand(&step.with)),
        Pattern::Regex => pattern.replace_all(text, step.with.as_str()),
    }
}

/// Why the files of a step cannot be listed.
enum Unlisted {
    Glob(String),
    File(FileError),
}

fn files(folder: &Folder, wanted: &str) -> Result<Vec<String>, Unlisted> {
    let inside = folder.inside(wanted).map_err(Unlisted::File)?;
    if folder.open_file(&inside, FILE_MAX).is_ok() {
        return Ok(vec![wanted.to_owned()]);
    }
    let wanted = wanted.trim_start_matches("./");
    let glob = GlobBuilder::new(wanted).literal_separator(true).build();
    let glob = glob.map_err(|error| Unlisted::Glob(error.to_string()))?.compile_matcher();
    let root = folder.inside(".").map_err(Unlisted::File)?;
    let found = walk(folder, &root, None).map_err(Unlisted::File)?;
    let files = found.filter(|found| found.kind == Kind::File && glob.is_match(&found.path));
    Ok(files.map(|found| found.path).collect())
}
