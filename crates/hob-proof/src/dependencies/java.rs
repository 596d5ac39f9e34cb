//! Java: Maven's `pom.xml`, and Gradle's lock files, scripts and version catalogs.

use std::sync::LazyLock;

use quick_xml::{Reader, events::Event};
use regex::Regex;
use toml::{Table, Value};

use super::{Packages, add};

/// Coordinates in a script of Gradle's: `"group:name:version"`.
static COORDINATES: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"["']([\w.\-]+:[\w.\-]+):([^"':@\s]+)(?:[:@][^"']*)?["']"#).ok());

pub(super) fn gradle_lock(text: &str) -> Option<Packages> {
    let mut packages = Packages::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let coordinates = line.split('=').next().unwrap_or_default();
        if let Some((name, version)) = coordinates.rsplit_once(':') {
            add(&mut packages, name, version);
        }
    }
    Some(packages)
}

pub(super) fn gradle(text: &str) -> Option<Packages> {
    let mut packages = Packages::new();
    for found in COORDINATES.as_ref()?.captures_iter(text) {
        add(&mut packages, &found[1], &found[2]);
    }
    Some(packages)
}

pub(super) fn catalog(text: &str) -> Option<Packages> {
    let table: Table = toml::from_str(text).ok()?;
    let versions = table.get("versions").and_then(Value::as_table);
    let mut packages = Packages::new();
    for library in table.get("libraries").and_then(Value::as_table).into_iter().flat_map(Table::values) {
        let text = |key: &str| library.get(key).and_then(Value::as_str);
        if let Some((name, version)) = library.as_str().and_then(|short| short.rsplit_once(':')) {
            add(&mut packages, name, version);
            continue;
        }
        let name = text("module").map(str::to_owned).or_else(|| Some(format!("{}:{}", text("group")?, text("name")?)));
        let reference = library.get("version").and_then(|version| version.get("ref")).and_then(Value::as_str);
        let referred = || versions?.get(reference?)?.as_str();
        if let Some(name) = name {
            add(&mut packages, &name, text("version").or_else(referred).unwrap_or("*"));
        }
    }
    Some(packages)
}

pub(super) fn pom(text: &str) -> Option<Packages> {
    let mut packages = Packages::new();
    let mut reader = Reader::from_str(text);
    // The names of the open elements, and the texts of the package's own.
    let (mut open, mut own): (Vec<String>, Vec<[String; 3]>) = (Vec::new(), Vec::new());
    loop {
        match reader.read_event().ok()? {
            Event::Start(start) => {
                let name = String::from_utf8_lossy(start.local_name().as_ref()).into_owned();
                if is_package(&name) {
                    own.push(Default::default());
                }
                open.push(name);
            }
            Event::Text(text) => {
                let [.., parent, name] = open.as_slice() else { continue };
                let part = ["groupId", "artifactId", "version"].iter().position(|part| part == name);
                if let (true, Some(part), Some(own)) = (is_package(parent), part, own.last_mut()) {
                    own[part] = text.decode().ok()?.trim().to_owned();
                }
            }
            Event::End(_) => {
                let name = open.pop()?;
                if is_package(&name)
                    && let Some([group, artifact, version]) = own.pop()
                {
                    let version = if version.is_empty() { "*" } else { &version };
                    add(&mut packages, format!("{group}:{artifact}").trim_start_matches(':'), version);
                }
            }
            Event::Eof => return open.is_empty().then_some(packages),
            _other => {}
        }
    }
}

fn is_package(element: &str) -> bool {
    matches!(element, "dependency" | "plugin" | "parent" | "extension")
}
