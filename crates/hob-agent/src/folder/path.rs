//! A path that stays in the folder, by its text.

use std::path::{Component, Path};

use crate::folder::FileError;

/// A path below the folder: plain names only, none of them git's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inside {
    names: Vec<String>,
}

impl Inside {
    /// Reads `text` as a path relative to `root`; one that is written absolute and lies below `root` is taken too,
    /// because models like to write paths so.
    pub(crate) fn parse(root: &Path, text: &str) -> Result<Self, FileError> {
        let outside = || FileError::Outside(text.to_owned());
        // A shell's word for the home folder is not a folder of that name.
        if text == "~" || text.starts_with("~/") {
            return Err(outside());
        }
        let path = Path::new(text);
        let path = if path.is_absolute() { path.strip_prefix(root).map_err(|_| outside())? } else { path };
        let mut names = Vec::new();
        for component in path.components() {
            match component {
                Component::CurDir => {}
                Component::Normal(name) => {
                    let name = name.to_str().filter(|name| !name.contains('\0')).ok_or_else(outside)?;
                    if is_gits(name) {
                        return Err(FileError::Git(text.to_owned()));
                    }
                    names.push(name.to_owned());
                }
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(outside()),
            }
        }
        Ok(Self { names })
    }

    /// The names, from the folder downwards; empty for the folder itself.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }
}

impl std::fmt::Display for Inside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.names.is_empty() { f.write_str(".") } else { f.write_str(&self.names.join("/")) }
    }
}

/// Whether some file system takes `name` for `.git`: in any case, with dots or blanks behind it, as the short name
/// `git~1`, or with characters in it that are ignored (the names git itself refuses in a tree).
pub(super) fn is_gits(name: &str) -> bool {
    let ignored = |c: &char| !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let name: String = name.chars().filter(ignored).collect();
    // `.git:stream` is an alternate data stream of `.git`.
    let name = name.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case("git~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_below_the_folder_are_paths() {
        let parse = |text: &str| {
            Inside::parse(Path::new("/srv/tree"), text).map(|path| path.to_string()).map_err(|e| e.to_string())
        };
        for (text, path) in [
            ("a/b", "a/b"),
            ("./a//b/", "a/b"),
            ("", "."),
            ("/srv/tree/a", "a"),
            ("...", "..."),
            (".github/x", ".github/x"),
        ] {
            assert_eq!(parse(text).as_deref(), Ok(path), "{text}");
        }
        for text in
            ["..", "a/../b", "/etc/passwd", "/srv/tree/../x", "/srv/treehouse", "a\0b", "/proc/self/root", "/dev/fd/3"]
        {
            assert!(parse(text).unwrap_err().contains("outside the folder"), "{text}");
        }
        for text in
            [".git", ".git/config", "a/.GIT/hooks", "GIT~1", ".git. ", ".g\u{200c}it", ".git::$INDEX_ALLOCATION"]
        {
            assert!(parse(text).unwrap_err().contains("belongs to git"), "{text}");
        }
    }
}
