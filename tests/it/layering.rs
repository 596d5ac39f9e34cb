//! The module map of `docs/architecture.md`, enforced: who may import whom, a header in every file, no file past the ceiling.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Production lines a file may have; inline tests are not counted.
const CEILING: usize = 500;

/// Each module and what it may import. `lib`, `main` and `cli` may import all.
const MAP: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("config", &["domain"]),
    ("process", &["domain"]),
    ("telemetry", &["domain", "config"]),
    ("forge", &["domain", "config"]),
    ("workspace", &["domain", "config", "process"]),
    ("session", &["domain", "config"]),
    ("sandbox", &["domain", "config", "process"]),
    ("model", &["domain", "config"]),
    ("agent", &["domain", "config", "process", "session", "sandbox", "model"]),
    ("scripted_model", &[]),
    ("worker", &["domain", "config", "telemetry", "forge", "workspace", "session", "agent"]),
    ("local_forge", &["domain", "config", "process"]),
    ("web", &["domain", "config", "telemetry", "session", "worker"]),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// Each file below `src`, with the module it belongs to and its text.
fn files() -> Vec<(String, PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    sources(&root, &mut paths);
    let module = |path: &Path| {
        let first = path.strip_prefix(&root).unwrap().iter().next().unwrap().to_str().unwrap();
        first.trim_end_matches(".rs").to_owned()
    };
    paths
        .into_iter()
        .map(|path| (module(&path), fs::read_to_string(&path).unwrap(), path))
        .map(|(m, t, p)| (m, p, t))
        .collect()
}

/// The modules of this crate that `text` names as `crate::module`, comments left out.
fn imports(text: &str) -> Vec<String> {
    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let names = code
        .iter()
        .flat_map(|line| line.split("crate::").skip(1))
        .map(|rest| rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect::<String>());
    names.filter(|name| !name.is_empty()).collect()
}

fn production_lines(text: &str) -> usize {
    text.split("#[cfg(test)]").next().unwrap().lines().count()
}

#[test]
fn every_module_imports_only_what_the_map_allows() {
    let mut wrong = Vec::new();
    for (module, path, text) in files() {
        if matches!(module.as_str(), "cli" | "main" | "lib") {
            continue;
        }
        let Some((_, allowed)) = MAP.iter().find(|(name, _)| *name == module) else {
            wrong.push(format!("{}: module `{module}` is not in the map", path.display()));
            continue;
        };
        for import in imports(&text) {
            if import != module && !allowed.contains(&import.as_str()) {
                wrong.push(format!("{}: `{module}` may not import `{import}`", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_file_opens_with_what_it_owns() {
    let bare: Vec<_> =
        files().into_iter().filter(|(_, _, text)| !text.starts_with("//! ")).map(|file| file.1).collect();
    assert!(bare.is_empty(), "no `//!` header: {bare:?}");
}

#[test]
fn no_file_passes_the_ceiling() {
    let long: Vec<_> =
        files().into_iter().filter(|file| production_lines(&file.2) > CEILING).map(|file| file.1).collect();
    assert!(long.is_empty(), "more than {CEILING} production lines: {long:?}");
}

#[test]
fn the_check_itself_sees_an_import_that_is_not_allowed() {
    assert_eq!(imports("use crate::forge::Client;\n// crate::web\nlet x = crate::domain::f();"), ["forge", "domain"]);
}
