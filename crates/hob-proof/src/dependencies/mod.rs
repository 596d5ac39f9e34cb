//! Which packages the lock files and manifests of a repository name, and how a change differs in them.
//!
//! # Caveats
//! - A lock file says what is installed, a manifest what is wanted: where both name a package, the lock file's versions count.
//! - Only the common form of each file is read. One that cannot be read is named, not passed over.

mod bun;
mod cargo;
mod dotnet;
mod go;
mod java;
mod npm;
mod php;
mod python;
mod ruby;

use std::collections::{BTreeMap, BTreeSet};

use hob_domain::{Dependencies, DependencyChange};

/// Where packages come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ecosystem {
    Cargo,
    Npm,
    Python,
    Go,
    Ruby,
    Java,
    Php,
    Dotnet,
}

/// What a file says of packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    /// What is installed.
    Locked,
    /// What is wanted.
    Wanted,
}

/// A file that names packages, before and after a change; `None` where it is not there.
#[derive(Debug, Clone)]
pub struct PackageFile {
    /// Its path.
    pub path: String,
    /// Its text before.
    pub before: Option<String>,
    /// Its text after.
    pub after: Option<String>,
}

/// Packages with their versions.
type Packages = BTreeMap<String, BTreeSet<String>>;

/// How the reader of a kind of file is called: it returns `None` for a text of another form.
type Reader = fn(&str) -> Option<Packages>;

/// How a file is read; `None` if it names no packages.
fn reader(path: &str) -> Option<(Ecosystem, Says, Reader)> {
    use Ecosystem::{Cargo, Dotnet, Go, Java, Npm, Php, Python, Ruby};
    use Says::{Locked, Wanted};
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    Some(match name {
        "Cargo.lock" => (Cargo, Locked, cargo::lock),
        "Cargo.toml" => (Cargo, Wanted, cargo::manifest),
        "package-lock.json" | "npm-shrinkwrap.json" => (Npm, Locked, npm::package_lock),
        "pnpm-lock.yaml" => (Npm, Locked, npm::pnpm),
        "yarn.lock" => (Npm, Locked, npm::yarn),
        "bun.lock" => (Npm, Locked, bun::lock),
        "package.json" => (Npm, Wanted, npm::manifest),
        "poetry.lock" | "uv.lock" | "pdm.lock" => (Python, Locked, python::lock),
        "Pipfile.lock" => (Python, Locked, python::pipfile_lock),
        "pyproject.toml" => (Python, Wanted, python::pyproject),
        "go.sum" => (Go, Locked, go::sum),
        "go.mod" => (Go, Wanted, go::module),
        "Gemfile.lock" => (Ruby, Locked, ruby::lock),
        "Gemfile" => (Ruby, Wanted, ruby::gemfile),
        "composer.lock" => (Php, Locked, php::lock),
        "composer.json" => (Php, Wanted, php::manifest),
        "packages.lock.json" => (Dotnet, Locked, dotnet::lock),
        "gradle.lockfile" => (Java, Locked, java::gradle_lock),
        "pom.xml" => (Java, Wanted, java::pom),
        "build.gradle" | "build.gradle.kts" => (Java, Wanted, java::gradle),
        "libs.versions.toml" => (Java, Wanted, java::catalog),
        _other if is_requirements(folders, name) => (Python, Wanted, python::requirements),
        _other => return None,
    })
}

fn is_requirements(folders: &str, name: &str) -> bool {
    let in_folder = folders.rsplit('/').next() == Some("requirements");
    name.ends_with(".txt") && (in_folder || name.starts_with("requirements") || name.ends_with("requirements.txt"))
}

/// Whether a file at this path names packages.
pub fn names_packages(path: &str) -> bool {
    reader(path).is_some()
}

/// Whether a program writes the file at this path to fix the versions of packages.
pub fn is_lock(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let is_read = reader(path).is_some_and(|(_, says, _)| says == Says::Locked);
    is_read || name.ends_with(".lock") || name.ends_with(".lockb")
}

/// A package of one change.
#[derive(Default)]
struct Found {
    from: BTreeSet<String>,
    to: BTreeSet<String>,
    file: String,
    locked: bool,
    wanted: bool,
}

/// The packages that differ between the two sides of these files: those that a manifest names first, then by name.
pub fn dependencies(files: &[PackageFile]) -> Dependencies {
    let mut found: BTreeMap<(Ecosystem, String), Found> = BTreeMap::new();
    let mut unread = Vec::new();
    for file in files {
        let Some((ecosystem, says, read)) = reader(&file.path) else { continue };
        let side = |text: &Option<String>| text.as_deref().map_or_else(|| Some(Packages::new()), read);
        let Some((before, after)) = side(&file.before).zip(side(&file.after)) else {
            unread.push(file.path.clone());
            continue;
        };
        let none = BTreeSet::new();
        for name in before.keys().chain(after.keys()).collect::<BTreeSet<_>>() {
            let [old, new] = [&before, &after].map(|side| side.get(name).unwrap_or(&none));
            if old == new {
                continue;
            }
            let one = found.entry((ecosystem, name.clone())).or_default();
            one.wanted |= says == Says::Wanted;
            if says == Says::Wanted && one.locked {
                continue;
            }
            if says == Says::Locked && !one.locked {
                (one.from, one.to, one.locked) = (BTreeSet::new(), BTreeSet::new(), true);
                one.file.clear();
            }
            if one.file.is_empty() {
                one.file.clone_from(&file.path);
            }
            one.from.extend(old.difference(new).cloned());
            one.to.extend(new.difference(old).cloned());
        }
    }
    let change = |((_, name), found): (_, Found)| {
        // A version that moved from one file to another is where it was.
        let side = |own: &BTreeSet<String>, other: &BTreeSet<String>| {
            let own: Vec<&str> = own.difference(other).map(String::as_str).collect();
            (!own.is_empty()).then(|| own.join(", "))
        };
        let (from, to) = (side(&found.from, &found.to), side(&found.to, &found.from));
        let Found { file, wanted, .. } = found;
        DependencyChange { name, from, to, file, wanted, advisories: Vec::new() }
    };
    let mut changes: Vec<DependencyChange> =
        found.into_iter().map(change).filter(|change| change.from.is_some() || change.to.is_some()).collect();
    changes.sort_by_key(|change| (!change.wanted, change.to.is_none(), change.from.is_some()));
    Dependencies { all: changes.len(), first: changes, unread: unread.into_iter().collect() }.bounded()
}

/// Adds a version of a package.
fn add(packages: &mut Packages, name: &str, version: &str) {
    packages.entry(name.to_owned()).or_default().insert(version.to_owned());
}

#[cfg(test)]
mod tests;
