//! The parts of a program's installation beside its file: the packages that npm, pip, pipx or uv installed with it.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

/// The folders that `program` needs beside its file and the system's folders, never `home` itself or a parent of it;
/// `None` if they are not known.
pub(super) fn installation(program: &Path, home: Option<&Path>) -> Option<Vec<PathBuf>> {
    let file = program.canonicalize().ok()?;
    // The outermost one: a package's dependencies may be installed beside it.
    let packages = file.ancestors().filter(|folder| folder.file_name() == Some(OsStr::new("node_modules"))).last();
    if let Some(packages) = packages {
        return Some(vec![packages.to_owned()]);
    }
    let environment = file.parent()?.parent().filter(|folder| folder.join("pyvenv.cfg").is_file())?;
    // Its interpreter is a link to one whose own library is beside it.
    let interpreter = environment.join("bin/python3").canonicalize().ok();
    let library = interpreter.as_deref().and_then(Path::parent).and_then(Path::parent).map(Path::to_owned);
    let found = std::iter::once(environment.to_owned()).chain(library);
    Some(found.filter(|folder| home.is_none_or(|home| !home.starts_with(folder))).collect())
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn packages_are_found_from_a_link_to_one_of_their_files() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let packages = root.join("lib/node_modules");
        let inner = packages.join("agent/node_modules/inner");
        fs::create_dir_all(&inner).unwrap();
        fs::write(inner.join("cli.js"), "").unwrap();
        symlink(inner.join("cli.js"), root.join("agent")).unwrap();
        assert_eq!(installation(&root.join("agent"), None), Some(vec![packages]));
    }

    #[test]
    fn an_environment_of_python_has_its_interpreters_library() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for made in ["venv/bin", "python/bin"] {
            fs::create_dir_all(root.join(made)).unwrap();
        }
        fs::write(root.join("python/bin/python3.12"), "").unwrap();
        symlink(root.join("python/bin/python3.12"), root.join("venv/bin/python3")).unwrap();
        fs::write(root.join("venv/bin/mini"), "").unwrap();
        assert_eq!(installation(&root.join("venv/bin/mini"), None), None);
        fs::write(root.join("venv/pyvenv.cfg"), "").unwrap();
        let found = Some(vec![root.join("venv"), root.join("python")]);
        assert_eq!(installation(&root.join("venv/bin/mini"), None), found);
        let found = Some(vec![root.join("venv")]);
        assert_eq!(installation(&root.join("venv/bin/mini"), Some(&root.join("python"))), found);
    }
}
