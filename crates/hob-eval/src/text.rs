//! Texts of a task's files, names that can be a file's, and words of the shell.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

/// Bytes of a text of a task that are read.
const TEXT_MAX: u64 = 1 << 20;

/// A text of a task that cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoText {
    #[error("its `{name}` cannot be read: {source}")]
    Unreadable { name: String, source: io::Error },
    #[error("`{}` is not a file", .0.display())]
    NotAFile(PathBuf),
    #[error("`{}` has more than {most} bytes", path.display())]
    TooLong { path: PathBuf, most: u64 },
}

/// A text of a task, which no link may be: it would bring a file of this machine to a model.
pub(crate) fn text(path: &Path) -> Result<String, NoText> {
    text_up_to(path, TEXT_MAX)
}

/// The same of at most `most` bytes.
pub(crate) fn text_up_to(path: &Path, most: u64) -> Result<String, NoText> {
    let why = |source: io::Error| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        NoText::Unreadable { name, source }
    };
    let kind = path.symlink_metadata().map_err(why)?;
    if !kind.is_file() {
        return Err(NoText::NotAFile(path.to_owned()));
    }
    let mut text = String::new();
    fs::File::open(path).map_err(why)?.take(most + 1).read_to_string(&mut text).map_err(why)?;
    if text.len() as u64 > most {
        return Err(NoText::TooLong { path: path.to_owned(), most });
    }
    Ok(text)
}

/// Whether a name can be a file's, on any system, and nothing else.
pub(crate) fn is_plain(name: &str) -> bool {
    let is_known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
    !name.is_empty() && name.len() <= 200 && !name.starts_with('.') && name.chars().all(is_known)
}

/// A word of the shell.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}
