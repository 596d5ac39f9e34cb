//! The tests of an instance of SWE-bench in one trial: the files of its patch as they are with it, and the script that runs them.

use std::{fs, os::unix::fs::symlink, path::Path};

use crate::{
    EvalError,
    git::Git,
    scripts::{TEST, make_executable},
    task::TestPatch,
    text::quoted,
};

/// Writes the tests of one trial: the files of the patch as they are with it, and the script. Its exit code decides, not a file: any code that
/// it runs could write one.
pub(crate) async fn write(given: &TestPatch, git: &Git, tests: &Path) -> Result<(), EvalError> {
    let files = tests.join("files");
    fs::create_dir_all(&files).map_err(EvalError::at("make", &files))?;
    let mut gone = Vec::new();
    if !given.patch.trim().is_empty() {
        let patch = tests.join("test.patch");
        fs::write(&patch, &given.patch).map_err(EvalError::at("write", &patch))?;
        let whole = tests.join("whole");
        fs::create_dir_all(&whole).map_err(EvalError::at("make", &whole))?;
        git.check_out(&given.repository, &given.commit, &whole, &tests.join("index")).await?;
        let patch = patch.to_string_lossy();
        // Outside a repository, so that the paths are this folder's.
        let nowhere = [("GIT_CEILING_DIRECTORIES", tests.to_str().unwrap_or("/"))];
        git.run(&["apply", "--whitespace=nowarn", &patch], &whole, &nowhere).await?;
        // Backwards it names what a file was called before.
        for numstat in [["apply", "--numstat", "-z"].as_slice(), &["apply", "--reverse", "--numstat", "-z"]] {
            let named = git.run(&[numstat, &[&*patch]].concat(), &whole, &nowhere).await?;
            for path in named.split('\0').filter_map(|line| line.splitn(3, '\t').nth(2)) {
                keep(&whole, &files, path, &mut gone)?;
            }
        }
        fs::remove_dir_all(&whole).map_err(EvalError::at("remove", &whole))?;
    }
    let removals: String = gone.iter().map(|path| format!("rm -f -- {}\n", quoted(path))).collect();
    let script = format!(
        "#!/usr/bin/env bash\n# The tests' own files take the place of the agent's.\ncp -rT --remove-destination /tests/files . || exit 1\n\
         {removals}if\n{}\nthen exit 0; else exit 1; fi\n",
        given.script
    );
    let path = tests.join(TEST);
    fs::write(&path, script).map_err(EvalError::at("write", &path))?;
    make_executable(&path)
}

/// Keeps one file of the patch, which git has checked to be below the folder.
fn keep(whole: &Path, files: &Path, path: &str, gone: &mut Vec<String>) -> Result<(), EvalError> {
    let (from, to) = (whole.join(path), files.join(path));
    let Ok(kind) = from.symlink_metadata() else {
        gone.push(path.to_owned());
        return Ok(());
    };
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(EvalError::at("make", folder))?;
    }
    match kind.is_symlink() {
        // A path that both directions name is there already.
        true if to.is_symlink() => Ok(()),
        true => fs::read_link(&from).and_then(|target| symlink(target, &to)).map_err(EvalError::at("copy", from)),
        false => fs::copy(&from, &to).map(drop).map_err(EvalError::at("copy", from)),
    }
}
