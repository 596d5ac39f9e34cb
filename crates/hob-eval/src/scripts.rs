//! The scripts of a task, and what they printed last.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use hob_process::copy_tree;

use crate::EvalError;

/// The script that judges.
pub(crate) const TEST: &str = "test.sh";
/// The script that solves.
pub(crate) const SOLVE: &str = "solve.sh";
/// Characters of an output's end that a sentence quotes.
const LAST_LINE: usize = 200;

/// Copies the folder of a script, which it may write in, and makes the script executable.
pub(crate) fn copy_scripts(from: &Path, to: &Path, script: &str) -> Result<(), EvalError> {
    fs::create_dir_all(to).map_err(EvalError::at("make", to))?;
    copy_tree(from, to).map_err(EvalError::at("copy", from))?;
    let script = to.join(script);
    // It may be a link, but to no file of this machine's.
    match (script.canonicalize(), to.canonicalize()) {
        (Ok(file), Ok(folder)) if file.starts_with(&folder) => make_executable(&file),
        _elsewhere => Ok(()),
    }
}

/// Lets a script be run by its first line.
pub(crate) fn make_executable(script: &Path) -> Result<(), EvalError> {
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).map_err(EvalError::at("make executable", script))
}

/// The last line of an output, for a sentence; `None` if there is none.
pub(crate) fn last_line(output: &str) -> Option<String> {
    output.trim().lines().next_back().map(|line| line.trim().chars().take(LAST_LINE).collect())
}
