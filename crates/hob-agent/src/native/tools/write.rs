//! `write`: makes a file or replaces a whole one.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    folder::{FileError, Folder},
    model::Tool,
    native::tools::{
        ToolError,
        lines::{line_end, with_crlf, with_mark, without_mark},
        toolbox::FILE_MAX,
    },
};

/// The tool as the model sees it.
pub(super) fn tool() -> Tool {
    Tool {
        name: "write".into(),
        description: "Makes a text file with this content, or replaces a whole one. Makes its folders.".into(),
        schema: json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "text": { "type": "string" },
            },
            "required": ["path", "text"],
        }),
    }
}

/// The arguments.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(in crate::native) struct Write {
    /// The file.
    pub(super) path: String,
    /// Its content.
    text: String,
    /// Whether a file that exists is left alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    only_new: bool,
}

impl Write {
    /// Writes the file.
    pub(super) fn run(&self, folder: &Folder) -> Result<String, ToolError> {
        if self.text.len() as u64 > FILE_MAX {
            return Err(ToolError::Refused(format!("the text has more than {FILE_MAX} bytes")));
        }
        let path = folder.inside(&self.path)?;
        if self.only_new && !matches!(folder.read(&path, FILE_MAX), Err(FileError::Missing(_))) {
            return Err(ToolError::Refused(format!("`{path}` exists already: use `edit`, or `write` to replace it")));
        }
        // A file keeps its line ends and its byte-order mark, even if the model writes others.
        let before = folder.read(&path, FILE_MAX).unwrap_or_default();
        let has_crlf = line_end(&before) == "\r\n";
        let text = if has_crlf { Cow::Owned(with_crlf(&self.text)) } else { Cow::Borrowed(self.text.as_str()) };
        let text = if without_mark(&before).0.is_empty() { text } else { Cow::Owned(with_mark(&text)) };
        folder.write(&path, &text, None)?;
        Ok(format!("wrote {} bytes to `{path}`{}", text.len(), if has_crlf { ", with its CRLF line ends" } else { "" }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_in_the_folder_and_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/tmp", dir.path().join("tmp")).unwrap();
        let folder = Folder::open(dir.path()).unwrap();
        let write = |path: &str| {
            Write { path: path.into(), text: "x".into(), only_new: false }.run(&folder).map_err(|e| e.to_string())
        };
        assert_eq!(write("a/b.txt").unwrap(), "wrote 1 bytes to `a/b.txt`");
        for bad in ["../x", "/tmp/x", "tmp/x", ".git/hooks/post-commit", "a", "", "sub/.GIT/config"] {
            assert!(write(bad).is_err(), "{bad}");
        }
        assert!(!dir.path().join(".git").exists() && !dir.path().join("sub").exists());
    }
}
