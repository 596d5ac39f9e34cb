//! A small system for a box: some of this machine's programs, with the libraries that they need, and nothing else.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use hob_process::Program;
use tokio_util::sync::CancellationToken;

/// Writes one below `root`, with programs of `/bin` or `/usr/bin`.
pub(crate) async fn small_system(root: &Path, programs: &[&str]) {
    let environment = hob_config::child_environment();
    let files: Vec<PathBuf> = programs
        .iter()
        .map(|name| ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(name)).into_iter().find(|at| at.exists()))
        .map(Option::unwrap)
        .collect();
    let told = Program::of_hob("ldd", &environment).args(&files).run(&CancellationToken::new()).await.unwrap();
    let told = told.stdout.text();
    let words = told.lines().filter(|line| !line.ends_with(':')).flat_map(str::split_whitespace);
    let libraries: BTreeSet<&str> = words.filter(|word| word.starts_with('/')).collect();
    for library in libraries {
        copy(Path::new(library), &root.join(library.trim_start_matches('/')));
    }
    for file in &files {
        copy(file, &root.join("bin").join(file.file_name().unwrap()));
    }
}

/// Copies what a path leads to, with the folders that it needs.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(from, to).unwrap();
}
