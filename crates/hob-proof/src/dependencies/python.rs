//! Python: the lock files of Poetry, uv, PDM and Pipenv, lists of requirements, and `pyproject.toml`.

use toml::{Table, Value};

use super::{Packages, add};

pub(super) fn lock(text: &str) -> Option<Packages> {
    let table: Table = toml::from_str(text).ok()?;
    let mut packages = Packages::new();
    for package in table.get("package").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| package.get(key).and_then(Value::as_str);
        let source = package.get("source").and_then(Value::as_table);
        let is_own = source.is_some_and(|source| source.contains_key("editable") || source.contains_key("virtual"));
        if let (Some(name), Some(version), false) = (text("name"), text("version"), is_own) {
            add(&mut packages, &normal(name), version);
        }
    }
    Some(packages)
}

pub(super) fn pipfile_lock(text: &str) -> Option<Packages> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    let mut packages = Packages::new();
    for group in ["default", "develop"] {
        for (name, package) in value.get(group).and_then(serde_json::Value::as_object).into_iter().flatten() {
            let version = package.get("version").and_then(serde_json::Value::as_str).unwrap_or("*");
            add(&mut packages, &normal(name), version.trim_start_matches("=="));
        }
    }
    Some(packages)
}

pub(super) fn requirements(text: &str) -> Option<Packages> {
    let mut packages = Packages::new();
    for line in text.lines() {
        require(&mut packages, line);
    }
    Some(packages)
}

/// One requirement: `name[extra]==1.0; python_version > "3" --hash=…`, or `name @ https://…`.
fn require(packages: &mut Packages, line: &str) {
    let line = line.split(" #").next().unwrap_or_default().trim().trim_end_matches('\\').trim();
    let end = line.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c)).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return;
    }
    let rest = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).map_or(rest, |(_, rest)| rest);
    let rest = rest.split([';']).next().unwrap_or_default().split(" --").next().unwrap_or_default();
    let version = rest.trim().trim_matches(['(', ')']).trim_start_matches("==").trim();
    add(packages, &normal(name), if version.is_empty() { "*" } else { version });
}

pub(super) fn pyproject(text: &str) -> Option<Packages> {
    let table: Table = toml::from_str(text).ok()?;
    let mut packages = Packages::new();
    let mut lists: Vec<&Value> = Vec::new();
    if let Some(project) = table.get("project").and_then(Value::as_table) {
        lists.extend(project.get("dependencies"));
        lists
            .extend(project.get("optional-dependencies").and_then(Value::as_table).into_iter().flat_map(Table::values));
    }
    lists.extend(table.get("dependency-groups").and_then(Value::as_table).into_iter().flat_map(Table::values));
    lists.extend(table.get("build-system").and_then(|build| build.get("requires")));
    for line in lists.into_iter().filter_map(Value::as_array).flatten().filter_map(Value::as_str) {
        require(&mut packages, line);
    }
    if let Some(poetry) = table.get("tool").and_then(|tool| tool.get("poetry")) {
        let groups = poetry.get("group").and_then(Value::as_table).into_iter().flat_map(Table::values);
        for group in groups.chain([poetry]) {
            for key in ["dependencies", "dev-dependencies"] {
                for (name, value) in group.get(key).and_then(Value::as_table).into_iter().flatten() {
                    let version = value.as_str().or_else(|| value.get("version").and_then(Value::as_str));
                    if name != "python" {
                        add(&mut packages, &normal(name), version.unwrap_or("*"));
                    }
                }
            }
        }
    }
    Some(packages)
}

/// A name as PyPI compares it.
fn normal(name: &str) -> String {
    name.to_lowercase().replace(['_', '.'], "-")
}
