//! Replaces the worker's paths in text for people, which would tell its folders and its user.

use std::path::{Path, PathBuf};

/// The paths to replace, each with its replacement.
#[derive(Debug, Clone)]
pub struct PublicPaths {
    folder: String,
    /// One may be inside another.
    homes: Vec<String>,
}

impl PublicPaths {
    /// Paths in `folder` become relative to it, and those in `homes` begin with `~`.
    pub fn new(folder: &Path, homes: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut homes: Vec<_> = homes.into_iter().filter_map(|home| home.into_os_string().into_string().ok()).collect();
        homes.retain(|home| home.len() > 1);
        homes.sort_by_key(|home| std::cmp::Reverse(home.len()));
        homes.dedup();
        Self { folder: folder.to_string_lossy().into_owned(), homes }
    }

    /// The text as people may read it.
    pub fn text(&self, text: &str) -> String {
        let text = relative(text, &self.folder);
        self.homes.iter().fold(text, |text, home| with_tilde(&text, home))
    }
}

/// The text with `~` for this home.
fn with_tilde(text: &str, home: &str) -> String {
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once(home) {
        shown.push_str(before);
        // `/root` is not part of `/rooted`, nor of `/x/root`.
        let is_whole = !after.starts_with(is_named) && !before.ends_with(is_named);
        shown.push_str(if is_whole { "~" } else { home });
        rest = after;
    }
    shown.push_str(rest);
    shown
}

/// Whether a name in a path may contain this character.
fn is_named(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// The text with paths as they are in the checkout.
fn relative(text: &str, folder: &str) -> String {
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once(folder).filter(|_| folder.len() > 1) {
        shown.push_str(before);
        rest = match after.strip_prefix('/') {
            Some(below) if below.starts_with(is_named) => below,
            None if after.starts_with(is_named) => {
                shown.push_str(folder);
                after
            }
            Some(_) | None => {
                shown.push('.');
                after
            }
        };
    }
    shown.push_str(rest);
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_checkout() {
        for (text, shown) in [
            ("/w/proof/src/a.rs:3: no\n/w/proof/b", "src/a.rs:3: no\nb"),
            ("in '/w/proof', '/w/proof/': /w/proof-2/a /w/proof2", "in '.', './': /w/proof-2/a /w/proof2"),
            ("/w/proof", "."),
            ("src/a.rs", "src/a.rs"),
        ] {
            assert_eq!(relative(text, "/w/proof"), shown);
        }
        assert_eq!(relative("/a/b", "/"), "/a/b");
    }

    #[test]
    fn a_home_is_nobodys() {
        for (text, shown) in [
            ("/home/ann/.pyenv/x.py:3 in '/home/ann'", "~/.pyenv/x.py:3 in '~'"),
            ("/home/anna/x /data/home/ann/x /home/ann.old", "/home/anna/x /data/home/ann/x /home/ann.old"),
            ("PATH=/home/ann/bin:/usr/bin", "PATH=~/bin:/usr/bin"),
        ] {
            assert_eq!(with_tilde(text, "/home/ann"), shown);
        }
    }
}
