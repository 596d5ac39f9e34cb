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
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// Each file of the crate and of the crates below `crates`, with the folder of its sources, its path in it and its text.
fn files(root: &Path) -> Vec<(PathBuf, PathBuf, String)> {
    let crates = fs::read_dir(root.join("crates")).into_iter().flatten().map(|entry| entry.unwrap().path().join("src"));
    let mut found = Vec::new();
    for folder in crates.chain([root.join("src")]) {
        let mut paths = Vec::new();
        sources(&folder, &mut paths);
        for path in paths {
            let text = fs::read_to_string(&path).unwrap();
            found.push((folder.clone(), path.strip_prefix(&folder).unwrap().to_owned(), text));
        }
    }
    found
}

/// The modules of this crate that `text` names after `crate::`, alone or in a group, comments left out.
fn imports(text: &str) -> Vec<String> {
    let code: Vec<_> = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let word = |text: &str| text.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect::<String>();
    let mut found = Vec::new();
    for rest in code.join("\n").split("crate::").skip(1) {
        let Some(group) = rest.strip_prefix('{') else {
            found.push(word(rest));
            continue;
        };
        let mut depth = 0;
        for part in group.split_inclusive(['{', '}', ',']) {
            if depth == 0 {
                found.push(word(part.trim_start()));
            }
            match part.chars().next_back() {
                Some('{') => depth += 1,
                Some('}') if depth == 0 => break,
                Some('}') => depth -= 1,
                _ => {}
            }
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

fn production_lines(text: &str) -> usize {
    text.split("#[cfg(test)]").next().unwrap().lines().count()
}

/// The imports below `root` that the map does not allow.
fn wrong_imports(root: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    for (_, path, text) in files(root).into_iter().filter(|(folder, ..)| *folder == root.join("src")) {
        let first = path.iter().next().unwrap().to_str().unwrap();
        let module = first.trim_end_matches(".rs");
        if matches!(module, "cli" | "main" | "lib") {
            continue;
        }
        let Some((_, allowed)) = MAP.iter().find(|(name, _)| *name == module) else {
            wrong.push(format!("{}: module `{module}` is not in the map", path.display()));
            continue;
        };
        for import in imports(&text).into_iter().filter(|name| name != module && !allowed.contains(&name.as_str())) {
            wrong.push(format!("{}: `{module}` may not import `{import}`", path.display()));
        }
    }
    wrong
}

/// The files below `root` that do not open with what they own.
fn without_header(root: &Path) -> Vec<PathBuf> {
    files(root).into_iter().filter(|(_, _, text)| !text.starts_with("//! ")).map(|file| file.1).collect()
}

/// The files below `root` that are longer than they may be.
fn past_the_ceiling(root: &Path) -> Vec<PathBuf> {
    files(root).into_iter().filter(|file| production_lines(&file.2) > CEILING).map(|file| file.1).collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_module_imports_only_what_the_map_allows() {
    let wrong = wrong_imports(root());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_file_opens_with_what_it_owns() {
    let bare = without_header(root());
    assert!(bare.is_empty(), "no `//!` header: {bare:?}");
    assert!(files(root()).len() > 100, "the sources are not where this test looks");
}

#[test]
fn no_file_passes_the_ceiling() {
    let long = past_the_ceiling(root());
    assert!(long.is_empty(), "more than {CEILING} production lines: {long:?}");
}

#[test]
fn each_check_finds_what_is_planted() {
    let planted = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = planted.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("src/domain/plan.rs", "//! Rules.\nuse crate::{\n    domain::Record,\n    forge::{Forge, Issue},\n};\n");
    write("src/added.rs", "//! In no map.\n");
    write("crates/hob-agent/src/bare.rs", "// No header.\n");
    write("crates/hob-agent/src/long.rs", &"//! Long.\n".repeat(CEILING + 1));
    let wrong = ["added.rs: module `added` is not in the map", "domain/plan.rs: `domain` may not import `forge`"];
    let mut found = wrong_imports(planted.path());
    found.sort();
    assert_eq!(found, wrong);
    assert_eq!(without_header(planted.path()), [Path::new("bare.rs")]);
    assert_eq!(past_the_ceiling(planted.path()), [Path::new("long.rs")]);
}

#[test]
fn an_import_is_seen_alone_in_a_path_and_in_a_group() {
    let text = "use crate::forge::Client;\n// crate::web\nlet x = crate::domain::f();\npub use crate::{\n    agent::{\n        \
                Registry, native::{Guard},\n    },\n    model, // crate::cli\n    worker::*,\n};\nuse crate::{a::B, c};";
    assert_eq!(imports(text), ["forge", "domain", "agent", "model", "worker", "a", "c"]);
    assert_eq!(imports("crate::x"), ["x"]);
}
