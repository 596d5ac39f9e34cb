//! A shell command that is a patch: `apply_patch <<'EOF' …`, as codex tells its models to write it.

use std::{
    path::{Component, Path, PathBuf},
    sync::LazyLock,
};

use regex::Regex;

use crate::native::command_line::{CommandLine, arguments};

/// The names of the command.
const NAMES: [&str; 2] = ["apply_patch", "applypatch"];
/// The first line of the whole command: a folder, the name, and the here-document's end.
static FIRST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let folder = r#"(?:cd\s+(?:'([^']+)'|"([^"$`\\]+)"|([^\s'"$`\\;&|<>]+))\s*&&\s*)?"#;
    let end = r#"<<-?\s*(?:'(\w+)'|"(\w+)"|(\w+))"#;
    Regex::new(&format!(r"^\s*{folder}(?:apply_patch|applypatch)\s*(?:-\s*)?{end}\s*$")).ok()
});
/// The command somewhere in a line.
static SOMEWHERE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?m)(?:^|[;&|])\s*(?:apply_patch|applypatch)(?:\s|<|$)").ok());

/// What a command has to do with patches.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::native::tools) enum InCommand {
    /// It is one, and nothing else.
    Patch {
        /// The folder that it changes to first.
        folder: Option<String>,
        /// The patch.
        patch: String,
    },
    /// It applies one, and does something else.
    AndMore,
}

/// The patch that `command` applies; `None` if it applies none.
pub(in crate::native::tools) fn in_command(command: &str) -> Option<InCommand> {
    let whole = |patch: &str| Some(InCommand::Patch { folder: None, patch: patch.to_owned() });
    let trimmed = command.trim();
    if trimmed.starts_with("*** Begin Patch") && trimmed.ends_with("*** End Patch") {
        return whole(trimmed);
    }
    if !NAMES.iter().any(|name| command.contains(name)) {
        return None;
    }
    if let Some(found) = here_document(command) {
        return Some(found);
    }
    // The same in a shell of its own.
    if let Ok(words) = arguments(trimmed)
        && let [shell, option, script] = words.as_slice()
        && ["bash", "sh"].contains(&shell.as_str())
        && ["-c", "-lc"].contains(&option.as_str())
    {
        return in_command(script);
    }
    if NAMES.iter().any(|name| trimmed.starts_with(name))
        && let Ok(words) = arguments(trimmed)
        && let [name, patch] = words.as_slice()
        && NAMES.contains(&name.as_str())
    {
        return whole(patch);
    }
    // The name in a text or in the lines of a file is not the command.
    let runs = CommandLine::parse(command).runs_one_of(&NAMES);
    (runs && SOMEWHERE.as_ref().is_some_and(|somewhere| somewhere.is_match(command))).then_some(InCommand::AndMore)
}

fn here_document(command: &str) -> Option<InCommand> {
    let command = command.trim_start_matches(['\n', '\r']);
    let (first, rest) = command.split_once('\n')?;
    let found = FIRST.as_ref()?.captures(first)?;
    let group = |numbers: [usize; 3]| numbers.iter().find_map(|number| found.get(*number)).map(|part| part.as_str());
    let end = group([4, 5, 6])?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == end {
            let more = rest[at + line.len()..].trim();
            let (folder, patch) = (group([1, 2, 3]).map(str::to_owned), rest[..at].to_owned());
            return Some(if more.is_empty() { InCommand::Patch { folder, patch } } else { InCommand::AndMore });
        }
        at += line.len();
    }
    None
}

/// `path` as seen from `folder`, without `.` and `..`; `None` if it leads above the root.
pub(super) fn joined(folder: &Path, path: &Path) -> Option<PathBuf> {
    let mut whole = PathBuf::new();
    for component in folder.join(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if !whole.pop() => return None,
            Component::ParentDir => {}
            other => whole.push(other),
        }
    }
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "*** Begin Patch\n*** Add File: a\n+$x `y`\n*** End Patch\n";

    #[test]
    fn a_command_that_only_applies_a_patch_is_one() {
        let patch = |folder: Option<&str>, patch: &str| {
            Some(InCommand::Patch { folder: folder.map(str::to_owned), patch: patch.to_owned() })
        };
        for (first, folder) in [
            ("apply_patch <<'EOF'", None),
            ("apply_patch << \"EOF\"", None),
            ("applypatch <<EOF", None),
            ("cd sub && apply_patch <<'EOF'", Some("sub")),
            ("cd 'a b' && apply_patch <<'EOF'", Some("a b")),
        ] {
            assert_eq!(in_command(&format!("{first}\n{PATCH}EOF\n")), patch(folder, PATCH), "{first}");
        }
        assert_eq!(in_command(&format!("apply_patch '{PATCH}'")), patch(None, PATCH));
        assert_eq!(in_command(PATCH), patch(None, PATCH.trim()));
        assert_eq!(
            in_command("bash -lc \"apply_patch - <<'EOF'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF\""),
            patch(None, "*** Begin Patch\n*** Delete File: a\n*** End Patch\n")
        );
        for more in [
            format!("apply_patch <<'EOF'\n{PATCH}EOF\nmake test\n"),
            format!("make && apply_patch <<'EOF'\n{PATCH}EOF\n"),
            format!("cd $X && apply_patch <<'EOF'\n{PATCH}EOF"),
            "apply_patch < my.patch".to_owned(),
        ] {
            assert_eq!(in_command(&more), Some(InCommand::AndMore), "{more}");
        }
        for none in [
            "grep -rn apply_patch src".to_owned(),
            format!("cat > doc.md <<'E'\napply_patch <<'EOF'\n{PATCH}EOF\nE\n"),
            "git apply my.patch".to_owned(),
        ] {
            assert_eq!(in_command(&none), None, "{none}");
        }
    }

    #[test]
    fn a_path_is_seen_from_a_folder() {
        let joined = |folder: &str, path: &str| joined(Path::new(folder), Path::new(path));
        assert_eq!(joined("sub", "../a"), Some("a".into()));
        assert_eq!(joined("sub", "./b/c"), Some("sub/b/c".into()));
        assert_eq!(joined("sub", "/a"), Some("/a".into()));
        assert_eq!(joined("sub", "../../a"), None);
    }
}
