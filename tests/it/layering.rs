//! The rules of the crate map in `docs/design/architecture.md` that cargo cannot check: which of our crates a `Cargo.toml` may
//! name, a header in every file, no file past the ceiling.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Production lines a file may have; inline tests are not counted.
const CEILING: usize = 500;

/// Each crate and which of our crates it depends on, a line each.
#[rustfmt::skip]
const MAP: &[(&str, &[&str])] = &[
    ("hob-text", &[]),
    ("hob-domain", &["hob-text"]),
    ("hob-words", &["hob-domain", "hob-text"]),
    ("hob-traces", &["hob-text", "hob-domain"]),
    ("hob-listener", &[]),
    ("hob-sandbox", &["hob-listener"]),
    ("hob-config", &["hob-domain", "hob-sandbox"]),
    ("hob-process", &["hob-sandbox"]),
    ("hob-egress", &["hob-domain", "hob-config"]),
    ("hob-forge", &["hob-text", "hob-domain", "hob-config"]),
    ("hob-proof", &["hob-domain"]),
    ("hob-workspace", &["hob-text", "hob-domain", "hob-config", "hob-proof", "hob-process", "hob-sandbox"]),
    ("hob-agent", &["hob-text", "hob-domain", "hob-config", "hob-process", "hob-sandbox", "hob-egress"]),
    ("hob-worker", &["hob-text", "hob-domain", "hob-words", "hob-config", "hob-process", "hob-sandbox", "hob-forge", "hob-proof", "hob-workspace", "hob-agent"]),
    ("hob-kubernetes", &["hob-text", "hob-domain", "hob-worker"]),
    ("hob-web", &["hob-text", "hob-domain", "hob-words", "hob-forge", "hob-workspace", "hob-worker"]),
    ("hob-eval", &["hob-domain", "hob-process", "hob-proof", "hob-sandbox"]),
    ("github-emulator", &[]),
    ("hob-bench", &["hob-text", "hob-domain", "hob-config", "hob-process", "hob-sandbox", "hob-agent", "github-emulator"]),
];

/// Dependencies that tests and examples may have beyond the map.
const DEV: &[(&str, &str)] = &[("hob", "hob-bench"), ("hob", "hob-proof"), ("hob", "hob-workspace")];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folders of all packages: `root`, those below its `crates`, and the one in `lab`.
fn packages(root: &Path) -> Vec<PathBuf> {
    let crates = fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path());
    [root.to_owned(), root.join("lab/hob-bench")].into_iter().chain(crates).collect()
}

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

/// Each file below a package's `src`, with its text.
fn files(root: &Path) -> Vec<(PathBuf, String)> {
    let mut paths = Vec::new();
    packages(root).iter().for_each(|package| sources(&package.join("src"), &mut paths));
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

fn production_lines(text: &str) -> usize {
    text.split("#[cfg(test)]").next().unwrap().lines().count()
}

/// The files that do not open with what they own.
fn without_header(root: &Path) -> Vec<PathBuf> {
    files(root).into_iter().filter(|(_, text)| !text.starts_with("//! ")).map(|file| file.0).collect()
}

/// The files that are longer than they may be.
fn past_the_ceiling(root: &Path) -> Vec<PathBuf> {
    files(root).into_iter().filter(|file| production_lines(&file.1) > CEILING).map(|file| file.0).collect()
}

/// The texts of errors that keep a cause and do not say it. An error shown without its chain, as on an issue and in
/// progress, would lose the cause.
fn texts_without_their_cause(text: &str) -> Vec<String> {
    let production = text.split("#[cfg(test)]").next().unwrap();
    let shown = production.split("#[error(").skip(1).filter_map(|rest| rest.split_once(")]\n"));
    let silent = shown.filter(|(says, item)| {
        let item = item.split("\n}\n").next().unwrap();
        let item = item.split("\n    },\n").next().unwrap();
        let keeps = ["source:", "#[source]", "#[from]"].iter().any(|mark| item.contains(mark));
        let named = item.split_once("#[source]").and_then(|(_, field)| field.split_once(':'));
        let named = named.map_or("source", |(name, _)| name.trim().trim_start_matches("pub "));
        // The reason of an `AgentError` has the text of its cause. A function may show it, or a method of its own.
        let parts = ["{source", "(.source", "{0", "(.0", ", .0.", "{reason", &format!("{{{named}")];
        let tells = says.starts_with("transparent") || parts.iter().any(|part| says.contains(part));
        keeps && !tells
    });
    silent.map(|(says, _)| says.to_owned()).collect()
}

/// The violations in the dependencies of one package, by its `Cargo.toml`.
fn wrong(manifest: &str) -> Vec<String> {
    let manifest: toml::Table = toml::from_str(manifest).unwrap();
    let name = manifest["package"]["name"].as_str().unwrap();
    let ours = |table: &str| -> BTreeSet<&str> {
        let named = manifest.get(table).and_then(|table| table.as_table()).into_iter().flat_map(|table| table.keys());
        named.map(String::as_str).filter(|dependency| MAP.iter().any(|(ours, _)| ours == dependency)).collect()
    };
    let allowed: BTreeSet<&str> = match MAP.iter().find(|(ours, _)| *ours == name) {
        Some((_, allowed)) => allowed.iter().copied().collect(),
        // The root wires the product together: anything but the lab.
        None if name == "hob" => ours("dependencies").into_iter().filter(|other| *other != "hob-bench").collect(),
        None => return vec![format!("`{name}` is not in the map")],
    };
    let direct = ours("dependencies");
    let more = direct.difference(&allowed).map(|other| format!("`{name}` may not depend on `{other}`"));
    let fewer = allowed.difference(&direct).map(|other| format!("`{name}` does not depend on `{other}` any more"));
    let dev = ours("dev-dependencies").into_iter().filter(|other| !DEV.contains(&(name, other)));
    let dev = dev.map(|other| format!("tests of `{name}` may not use `{other}`"));
    let build = ours("build-dependencies").into_iter().map(|other| format!("`{name}` may not be built with `{other}`"));
    more.chain(fewer).chain(dev).chain(build).collect()
}

#[test]
fn every_crate_depends_on_what_the_map_says() {
    let manifests = packages(root()).into_iter().map(|folder| fs::read_to_string(folder.join("Cargo.toml")).unwrap());
    let wrong: Vec<_> = manifests.flat_map(|manifest| wrong(&manifest)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_dependency_that_is_not_in_the_map_is_seen() {
    let agent = "[package]\nname = 'hob-agent'\n[dependencies]\nhob-domain.workspace = true\nhob-config.workspace = true\n\
        hob-process.workspace = true\nhob-sandbox.workspace = true\nhob-egress.workspace = true\nhob-text.workspace = true\n\
        hob-forge.workspace = true\n[dev-dependencies]\nhob-bench.workspace = true\n";
    let told = ["`hob-agent` may not depend on `hob-forge`", "tests of `hob-agent` may not use `hob-bench`"];
    assert_eq!(wrong(agent), told);
    assert_eq!(wrong("[package]\nname = 'hob-new'\n"), ["`hob-new` is not in the map"]);
}

#[test]
fn every_file_opens_with_what_it_owns() {
    let bare = without_header(root());
    assert!(bare.is_empty(), "no `//!` header: {bare:?}");
}

#[test]
fn no_file_passes_the_ceiling() {
    let long = past_the_ceiling(root());
    assert!(long.is_empty(), "more than {CEILING} production lines: {long:?}");
}

#[test]
fn every_error_says_its_cause() {
    // Only the command line shows the embedded forge's failures, with their whole chain.
    let ours = files(root())
        .into_iter()
        .filter(|(path, _)| !path.components().any(|part| part.as_os_str() == "github-emulator"));
    let silent: Vec<_> = ours.flat_map(|(_, text)| texts_without_their_cause(&text)).collect();
    assert!(silent.is_empty(), "errors that drop their causes: {silent:?}");
}

#[test]
fn an_error_that_drops_its_cause_is_seen() {
    let planted = "#[error(\"read it\")]\n    Io(#[from] io::Error),\n    #[error(\"start `{name}`: {source}\")]\n    Start {\n        \
        source: io::Error,\n    },\n    #[error(\"{doing}\")]\n    Disk {\n        source: io::Error,\n    },\n    #[error(\"no\")]\n    No,\n}\n";
    assert_eq!(texts_without_their_cause(planted), ["\"read it\"", "\"{doing}\""]);
}

#[test]
fn each_check_of_files_finds_what_is_planted() {
    let planted = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = planted.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    };
    write("src/lib.rs", "//! Rules.\n");
    let bare = write("crates/hob-agent/src/bare.rs", "// No header.\n");
    let long = write("crates/hob-agent/src/inner/long.rs", &"//! Long.\n".repeat(CEILING + 1));
    assert_eq!(without_header(planted.path()), [bare]);
    assert_eq!(past_the_ceiling(planted.path()), [long]);
}
