//! Rust: `Cargo.lock` and `Cargo.toml`.

use toml::{Table, Value};

use super::{Packages, add};

pub(super) fn lock(text: &str) -> Option<Packages> {
    let table: Table = toml::from_str(text).ok()?;
    let mut packages = Packages::new();
    for package in table.get("package").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| package.get(key).and_then(Value::as_str);
        // Without a source it is one of the repository's own.
        if let (Some(name), Some(version), Some(source)) = (text("name"), text("version"), text("source")) {
            let is_registry = source.starts_with("registry+") || source.starts_with("sparse+");
            add(&mut packages, name, &if is_registry { version.to_owned() } else { format!("{version} ({source})") });
        }
    }
    Some(packages)
}

pub(super) fn manifest(text: &str) -> Option<Packages> {
    let table: Table = toml::from_str(text).ok()?;
    let mut packages = Packages::new();
    take(&mut packages, &table);
    if let Some(workspace) = table.get("workspace").and_then(Value::as_table) {
        take(&mut packages, workspace);
    }
    for target in table.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values) {
        if let Some(target) = target.as_table() {
            take(&mut packages, target);
        }
    }
    Some(packages)
}

fn take(packages: &mut Packages, table: &Table) {
    for key in ["dependencies", "dev-dependencies", "build-dependencies"] {
        for (name, value) in table.get(key).and_then(Value::as_table).into_iter().flatten() {
            let text = |key: &str| value.get(key).and_then(Value::as_str);
            let version = value.as_str().or_else(|| text("version")).or_else(|| text("git"));
            if let Some(version) = version {
                add(packages, text("package").unwrap_or(name), version);
            }
        }
    }
}
