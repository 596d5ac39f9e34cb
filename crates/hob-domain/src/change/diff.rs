//! What a piece of work changes: files, counts, patch. `workspace` reads it.

use hob_text::SecretKind;

use crate::Sha;

/// The difference between two commits.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Diff {
    /// Every changed file.
    pub files: Vec<FileChange>,
    /// The unified diff as text, capped; bytes that are not UTF-8 are U+FFFD, control characters are as they are.
    pub patch: String,
    /// Whether the cap cut the patch short. Everything else is still complete.
    pub patch_truncated: bool,
    /// Links that lead out of the repository because of this change.
    pub links_out: Vec<LinkOut>,
    /// Secrets that the commits add, including those that a later commit removes.
    pub secrets: Vec<SecretFound>,
}

/// A symbolic link that leads out of the repository, by itself or through other links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkOut {
    /// Its path, as [`shown_path`] writes it.
    pub path: String,
    /// Where it points, as [`shown_path`] writes it.
    pub target: String,
}

/// A secret in a commit; its value is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretFound {
    /// The path of the file that contains it or is named by it, as [`shown_path`] writes it, without the secret.
    pub path: String,
    /// Its kind.
    pub kind: SecretKind,
    /// The commit, unless it is the last one.
    pub commit: Option<Sha>,
}

impl Diff {
    /// Lines added over all files.
    pub fn additions(&self) -> u64 {
        self.files.iter().map(|file| file.additions).sum()
    }

    /// Lines removed over all files.
    pub fn deletions(&self) -> u64 {
        self.files.iter().map(|file| file.deletions).sum()
    }
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Its path after the change (before it, for a deleted file), as [`shown_path`] writes it.
    pub path: String,
    /// What happened to it.
    pub kind: ChangeKind,
    /// Its mode after the change; before it, for a deleted file.
    pub mode: FileMode,
    /// Lines added; 0 for binary content.
    pub additions: u64,
    /// Lines removed; 0 for binary content.
    pub deletions: u64,
    /// Size in bytes after the change.
    pub size: u64,
}

/// What happened to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its content or mode changed.
    Modified,
    /// It is gone.
    Deleted,
    /// It was moved.
    Renamed {
        /// Its path before, as [`shown_path`] writes it.
        from: String,
    },
}

/// The kinds of objects at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileMode {
    /// A plain file.
    File,
    /// An executable file.
    Executable,
    /// A symbolic link.
    Link,
    /// A commit of another repository.
    Gitlink,
}

/// Writes a path so that it is safe to print and no two paths look alike: backslash, control and direction characters
/// and bytes that are not UTF-8 become escapes.
pub fn shown_path(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => shown.push_str("\\\\"),
                '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => {
                    shown.extend(c.escape_unicode());
                }
                c if c.is_control() => shown.extend(c.escape_default()),
                c => shown.push(c),
            }
        }
        for byte in chunk.invalid() {
            shown.push_str(&format!("\\x{byte:02x}"));
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_path_is_shown_with_escapes() {
        for (path, shown) in [
            (&b"src/gr\xc3\xb6\xc3\x9fe.rs"[..], "src/größe.rs"),
            (b"a\nb", "a\\nb"),
            (b"\x1b[31m", "\\u{1b}[31m"),
            (b"a\xffb", "a\\xffb"),
            (b"a\\xffb", "a\\\\xffb"),
            ("a\u{202e}b".as_bytes(), "a\\u{202e}b"),
        ] {
            assert_eq!(shown_path(path), shown);
        }
    }
}
