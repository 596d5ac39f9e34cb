//! Projects with a `package.json`: its scripts, by the package manager that made the lock file.

use serde_json::Value;

use crate::project::{
    files::ProjectFiles,
    part::{Part, only_looks},
};

/// What installs the packages and runs the scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manager {
    Npm,
    Pnpm,
    Yarn,
    Bun,
}

/// Lock files, the most significant first.
const LOCKS: [(&str, Manager); 6] = [
    ("pnpm-lock.yaml", Manager::Pnpm),
    ("yarn.lock", Manager::Yarn),
    ("bun.lock", Manager::Bun),
    ("bun.lockb", Manager::Bun),
    ("package-lock.json", Manager::Npm),
    ("npm-shrinkwrap.json", Manager::Npm),
];
/// Scripts that run all the others, if they test.
const WHOLE: [&str; 4] = ["check", "verify", "validate", "ci"];
/// Scripts that inspect the code, in the order of their cost; the first existing one of each row is used.
const LINTS: [&[&str]; 3] = [
    &["format:check", "check:format", "fmt:check", "prettier:check"],
    &["lint", "lint:check", "eslint"],
    &["typecheck", "type-check", "check-types", "check:types", "types", "tsc"],
];

pub(super) fn javascript(files: &ProjectFiles) -> Option<Part> {
    let lock = LOCKS.into_iter().find(|(file, _)| files.has(file));
    if lock.is_none() && !files.has("package.json") {
        return None;
    }
    let manifest: Value = serde_json::from_str(files.text("package.json")).unwrap_or_default();
    let named = manifest["packageManager"].as_str().and_then(|named| manager(named.split('@').next()?));
    let manager = named.or(lock.map(|(_, manager)| manager)).unwrap_or(Manager::Npm);
    let lock = LOCKS.into_iter().find(|(file, of)| *of == manager && files.has(file)).map(|(file, _)| file);
    let mut part = Part { checks: checks(manager, &manifest["scripts"]), ..Part::default() };
    if part.checks.iter().all(|check| !check.contains("test")) && manager == Manager::Bun && has_bun_tests(files) {
        part.checks.push("bun test".to_owned());
    }
    let has_packages = ["dependencies", "devDependencies"]
        .iter()
        .any(|key| manifest[*key].as_object().is_some_and(|all| !all.is_empty()));
    match lock {
        Some(lock) => part.step(frozen(manager, files), &[lock]),
        None if has_packages => part.step(fresh(manager), &["package.json"]),
        None => {}
    }
    Some(part)
}

fn manager(name: &str) -> Option<Manager> {
    match name {
        "npm" => Some(Manager::Npm),
        "pnpm" => Some(Manager::Pnpm),
        "yarn" => Some(Manager::Yarn),
        "bun" => Some(Manager::Bun),
        _other => None,
    }
}

/// The command that installs exactly the lock file's packages.
fn frozen(manager: Manager, files: &ProjectFiles) -> &'static str {
    match manager {
        Manager::Npm => "npm ci",
        Manager::Pnpm => "pnpm install --frozen-lockfile",
        // Since version 2, which has this file.
        Manager::Yarn if files.has(".yarnrc.yml") => "yarn install --immutable",
        Manager::Yarn => "yarn install --frozen-lockfile",
        Manager::Bun => "bun install --frozen-lockfile",
    }
}

/// The command that installs without a lock file and does not create one.
fn fresh(manager: Manager) -> &'static str {
    match manager {
        Manager::Npm => "npm install --no-package-lock",
        Manager::Pnpm => "pnpm install --no-lockfile",
        Manager::Yarn => "yarn install",
        Manager::Bun => "bun install --no-save",
    }
}

fn checks(manager: Manager, scripts: &Value) -> Vec<String> {
    let script = |name: &str| scripts[name].as_str().filter(|script| only_looks(script) && !is_placeholder(script));
    if let Some(whole) = WHOLE.into_iter().find(|name| script(name).is_some_and(|script| script.contains("test"))) {
        return vec![run(manager, whole)];
    }
    let test = ["test", "test:unit", "test:ci"].into_iter().find(|name| script(name).is_some());
    let tested = test.and_then(script).unwrap_or_default();
    // A script that the test already runs is not run again.
    let fits = |name: &&&str| script(name).is_some() && !tested.contains(&format!("run {name}"));
    let lints = LINTS.iter().filter_map(|names| names.iter().find(fits));
    lints.copied().chain(test).map(|name| run(manager, name)).collect()
}

/// What `npm init` writes.
fn is_placeholder(script: &str) -> bool {
    script.contains("no test specified") || script.trim() == "exit 1" || script.trim() == "true"
}

fn run(manager: Manager, script: &str) -> String {
    match (manager, script) {
        (Manager::Npm, "test") => "npm test".to_owned(),
        (Manager::Pnpm, "test") => "pnpm test".to_owned(),
        (Manager::Yarn, "test") => "yarn test".to_owned(),
        (Manager::Npm, script) => format!("npm run {script}"),
        (Manager::Pnpm, script) => format!("pnpm run {script}"),
        (Manager::Yarn, script) => format!("yarn run {script}"),
        // `bun test` is Bun's own test runner, regardless of the script.
        (Manager::Bun, script) => format!("bun run {script}"),
    }
}

/// Whether there are files that Bun's own test runner finds.
fn has_bun_tests(files: &ProjectFiles) -> bool {
    files.paths().any(|path| {
        let name = path.rsplit('/').next().unwrap_or(path);
        [".test.", "_test.", ".spec.", "_spec."].iter().any(|mark| name.contains(mark))
            && [".ts", ".tsx", ".js", ".jsx"].iter().any(|end| name.ends_with(end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(scripts: &str) -> Vec<String> {
        let text = format!("{{\"scripts\": {scripts}}}");
        javascript(&ProjectFiles::new([], [("package.json".to_owned(), text)])).unwrap().checks
    }

    #[test]
    fn scripts_are_checks_where_they_only_look() {
        for (scripts, wanted) in [
            (r#"{"test": "echo \"Error: no test specified\" && exit 1"}"#, vec![]),
            (
                r#"{"test": "jest", "lint": "eslint . --fix", "lint:check": "eslint ."}"#,
                vec!["npm run lint:check", "npm test"],
            ),
            (r#"{"test": "npm run lint && vitest run", "lint": "eslint ."}"#, vec!["npm test"]),
            (r#"{"test": "jest --watch", "test:ci": "jest"}"#, vec!["npm run test:ci"]),
            (r#"{"test": "react-scripts test --watchAll=false"}"#, vec!["npm test"]),
            (r#"{"check": "npm run lint && npm test", "test": "x", "lint": "y"}"#, vec!["npm run check"]),
            (r#"{"check": "tsc", "test": "x"}"#, vec!["npm test"]),
            (r#"{"deploy": "x", "ci": "npm test && npm run deploy", "test": "x"}"#, vec!["npm test"]),
            ("3", vec![]),
        ] {
            assert_eq!(of(scripts), wanted, "{scripts}");
        }
    }
}
