//! The tasks of a path, in any format.

use std::{fs, path::Path};

use crate::{EvalError, Found, SweBenchParts, Unusable, harbor, swe_bench};

/// Folders between the one that is named and a task's.
const DEPTH_MAX: usize = 3;

/// The tasks of `path`: a task's folder, a folder of tasks, or a file of SWE-bench's instances. `assume_built`: this machine has what the
/// `RUN` lines of Dockerfiles would install.
///
/// # Errors
/// [`EvalError`] when the path cannot be read, has no task, or has two of one name.
pub fn find_tasks(path: &Path, assume_built: bool, swe_bench: &SweBenchParts) -> Result<Found, EvalError> {
    let mut found = Found::default();
    let kind = fs::metadata(path).map_err(EvalError::at("read", path))?;
    if kind.is_file() {
        swe_bench::read(path, swe_bench, &mut found)?;
    } else {
        walk(path, DEPTH_MAX, assume_built, &mut found)?;
    }
    if found.tasks.is_empty() && found.unusable.is_empty() {
        let why = "has no task: a task is a folder with `task.toml` and `instruction.md`, or a line of SWE-bench";
        return Err(EvalError::Unfit(format!("`{}` {why}", path.display())));
    }
    found.tasks.sort_by(|a, b| a.name.cmp(&b.name));
    match found.tasks.windows(2).find(|two| two[0].name == two[1].name) {
        Some(two) => Err(EvalError::Unfit(format!("two tasks have the name `{}`", two[0].name))),
        None => Ok(found),
    }
}

fn walk(folder: &Path, depth: usize, assume_built: bool, found: &mut Found) -> Result<(), EvalError> {
    if folder.join("task.toml").is_file() {
        let absolute = folder.canonicalize().map_err(EvalError::at("read", folder))?;
        let name = absolute.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match harbor::read(&absolute, &name, assume_built) {
            Ok(task) => found.tasks.push(task),
            Err(why) => found.unusable.push(Unusable { task: name, why: why.to_string() }),
        }
        return Ok(());
    }
    if depth == 0 {
        return Ok(());
    }
    for entry in fs::read_dir(folder).map_err(EvalError::at("read", folder))? {
        let entry = entry.map_err(EvalError::at("read", folder))?;
        // No link: it may lead in a circle.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(&entry.path(), depth - 1, assume_built, found)?;
        }
    }
    Ok(())
}
