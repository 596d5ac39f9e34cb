//! Files of a repository that act as settings for a known program: they are hidden from it.
//!
//! An author of such a file chooses programs that start with the agent, and servers that it asks. In a box the program
//! sees empty ones in their place; the repository's own stay as they are. A fence cannot hide a part of a folder.

use std::{
    io,
    path::{Path, PathBuf},
};

use hob_process::Folder;
use hob_sandbox::{Plan, Tier};

use crate::home::Home;

/// An empty file in each format.
const EMPTY: [(&str, &str); 2] = [("json", "{}\n"), ("jsonc", "{}\n")];

/// `plan` with empty files and folders in place of those of `controls` that are in `folder`.
///
/// # Errors
/// The system's error; also if one of them is a link, whose target could be anywhere.
pub(super) fn hide(controls: &[&str], folder: &Path, home: &Home, plan: Plan) -> io::Result<Plan> {
    if plan.tier() != Tier::Box {
        return Ok(plan);
    }
    let hidden = Path::new(".hidden");
    let at_home = Folder::open(home.path())?;
    controls.iter().try_fold(plan, |plan, name| {
        let path = folder.join(name);
        let Some(kind) = kind(folder, name)? else { return Ok(plan) };
        let other: PathBuf = hidden.join(name);
        if kind.is_dir() {
            at_home.makes(&other)?;
        } else {
            let extension = path.extension().unwrap_or_default();
            let text = EMPTY.iter().find(|(wanted, _)| extension == *wanted).map_or("", |(_, text)| text);
            at_home.writes(&other, text.as_bytes())?;
        }
        Ok(plan.shows_instead(path, home.path().join(other)))
    })
}

/// The type of `name` in `folder`; `None` if it does not exist.
fn kind(folder: &Path, name: &str) -> io::Result<Option<std::fs::FileType>> {
    let mut path = folder.to_owned();
    let mut found = None;
    for part in Path::new(name) {
        path.push(part);
        let kind = match path.symlink_metadata() {
            Ok(found) => found.file_type(),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        if kind.is_symlink() {
            let message =
                format!("`{name}` is a link, by which the agent would read settings from elsewhere: remove it");
            return Err(io::Error::other(message));
        }
        found = Some(kind);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn a_link_in_the_place_of_settings_is_refused_and_none_is_none() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("settings")).unwrap();
        symlink("settings", folder.path().join(".claude")).unwrap();
        assert!(kind(folder.path(), ".claude").unwrap_err().to_string().contains("remove it"));
        assert!(kind(folder.path(), ".claude/hooks").is_err());
        assert!(kind(folder.path(), ".codex").unwrap().is_none() && kind(folder.path(), "settings").unwrap().is_some());
    }
}
