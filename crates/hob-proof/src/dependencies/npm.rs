//! JavaScript: the lock files of npm, pnpm and Yarn, and `package.json`.

use serde_json::{Map, Value};

use super::{Packages, add};

/// The deepest nesting in a lock file of npm's first form.
const DEEPEST: u32 = 32;

pub(super) fn package_lock(text: &str) -> Option<Packages> {
    let value: Value = serde_json::from_str(text).ok()?;
    let mut packages = Packages::new();
    match value.get("packages").and_then(Value::as_object) {
        Some(all) => {
            for (path, package) in all {
                let Some((_, name)) = path.rsplit_once("node_modules/") else { continue };
                if let Some(version) = package.get("version").and_then(Value::as_str) {
                    add(&mut packages, package.get("name").and_then(Value::as_str).unwrap_or(name), version);
                }
            }
        }
        None => nested(&mut packages, value.get("dependencies").and_then(Value::as_object), 0),
    }
    Some(packages)
}

fn nested(packages: &mut Packages, all: Option<&Map<String, Value>>, depth: u32) {
    for (name, package) in all.into_iter().flatten().filter(|_| depth < DEEPEST) {
        if let Some(version) = package.get("version").and_then(Value::as_str) {
            add(packages, name, version);
        }
        nested(packages, package.get("dependencies").and_then(Value::as_object), depth + 1);
    }
}

/// Keys of the map `packages`: `/name/1.0.0`, `/name@1.0.0` or `name@1.0.0`, with peers after `_` or in brackets.
pub(super) fn pnpm(text: &str) -> Option<Packages> {
    let mut packages = Packages::new();
    let mut lines = text.lines();
    // A project without packages has no such map.
    lines.by_ref().find(|line| *line == "packages:");
    for line in lines {
        if !line.is_empty() && !line.starts_with(' ') {
            break;
        }
        let Some(key) = line.strip_prefix("  ").filter(|line| !line.starts_with(' ')) else { continue };
        let Some(key) = key.strip_suffix(':').or_else(|| key.split_once(": ").map(|(key, _)| key)) else { continue };
        let key = key.trim_matches(['\'', '"']).trim_start_matches('/');
        // The slash of a scope is a part of the name.
        let scope = if key.starts_with('@') { key.find('/').map_or(0, |at| at + 1) } else { 0 };
        if let Some((name, version)) = key[scope..].find(['@', '/']).map(|at| key.split_at(scope + at)) {
            add(&mut packages, name, version[1..].split(['(', '_']).next().unwrap_or_default());
        }
    }
    text.contains("lockfileVersion").then_some(packages)
}

pub(super) fn yarn(text: &str) -> Option<Packages> {
    let mut packages = Packages::new();
    let mut name = None;
    for line in text.lines() {
        if !line.starts_with([' ', '#']) && line.ends_with(':') {
            let first = line.trim_end_matches(':').split(", ").next().unwrap_or_default().trim_matches('"');
            name = first.rfind('@').filter(|at| *at > 0).map(|_| first);
        } else if let Some(version) = line.strip_prefix("  version") {
            let version = version.trim_start_matches(':').trim().trim_matches('"');
            // One of the repository's own.
            if let Some(first) = name.filter(|_| version != "0.0.0-use.local") {
                add(&mut packages, name_of(first), version);
            }
        }
    }
    Some(packages)
}

/// The name in `name@range`; of an alias, `name@npm:other@range`, its own.
fn name_of(first: &str) -> &str {
    let rest = first.strip_prefix('@').map_or(0, |_| 1);
    first[rest..].find('@').map_or(first, |at| &first[..at + rest])
}

pub(super) fn manifest(text: &str) -> Option<Packages> {
    let value: Value = serde_json::from_str(text).ok()?;
    let mut packages = Packages::new();
    for key in ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"] {
        for (name, range) in value.get(key).and_then(Value::as_object).into_iter().flatten() {
            let own = |range: &&str| !["workspace:", "file:", "link:"].iter().any(|own| range.starts_with(own));
            if let Some(range) = range.as_str().filter(own) {
                add(&mut packages, name, range);
            }
        }
    }
    Some(packages)
}
