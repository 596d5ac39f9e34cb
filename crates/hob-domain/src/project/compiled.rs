//! Languages whose own program builds and tests: Rust, Go, those of the JVM, and .NET.

use crate::project::{files::ProjectFiles, part::Part};

/// Files that determine what Gradle fetches.
const GRADLE: [&str; 7] = [
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
    "gradle.lockfile",
    "gradle/libs.versions.toml",
    "gradle/wrapper/gradle-wrapper.properties",
];
/// The most project files of .NET that a key names.
const PROJECTS_MAX: usize = 20;

pub(super) fn cargo(files: &ProjectFiles) -> Option<Part> {
    if !files.has_any(&["Cargo.toml", "Cargo.lock"]) {
        return None;
    }
    let manifest = files.text("Cargo.toml");
    let locked = if files.has("Cargo.lock") { " --locked" } else { "" };
    // Otherwise only the package at the top of a workspace would be tested.
    let all = if manifest.lines().any(|line| line.trim() == "[workspace]") { " --workspace" } else { "" };
    let mut part = Part::default();
    if files.has_any(&["rustfmt.toml", ".rustfmt.toml"]) {
        part.checks.push("cargo fmt --all --check".to_owned());
    }
    if files.has("Cargo.toml") {
        part.checks.push(format!("cargo clippy{all} --all-targets{locked}"));
        part.checks.push(format!("cargo test{all}{locked}"));
    }
    if files.has("Cargo.lock") {
        part.step("cargo fetch --locked", &["Cargo.lock"]);
    } else if manifest.contains("dependencies") {
        part.step("cargo fetch", &["Cargo.toml"]);
    }
    Some(part)
}

pub(super) fn go(files: &ProjectFiles) -> Option<Part> {
    if !files.has_any(&["go.mod", "go.sum"]) {
        return None;
    }
    let linted = files.has_any(&[".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"]);
    let lint = if linted { "golangci-lint run" } else { "go vet ./..." };
    let mut part = Part { checks: vec![lint.to_owned(), "go test ./...".to_owned()], ..Part::default() };
    if files.has("go.sum") {
        part.step("go mod download", &["go.sum"]);
    }
    Some(part)
}

pub(super) fn java(files: &ProjectFiles) -> Option<Part> {
    let mut part = Part::default();
    if files.has("pom.xml") {
        let maven = if files.has("mvnw") { "./mvnw" } else { "mvn" };
        part.checks.push(format!("{maven} --batch-mode test"));
        part.step(format!("{maven} --batch-mode dependency:go-offline"), &["pom.xml"]);
        return Some(part);
    }
    if !files.has_any(&GRADLE[..4]) {
        return None;
    }
    let gradle = if files.has("gradlew") { "./gradlew" } else { "gradle" };
    part.checks.push(format!("{gradle} --no-daemon check"));
    part.step(format!("{gradle} --no-daemon testClasses"), &files.those(&GRADLE));
    Some(part)
}

pub(super) fn dotnet(files: &ProjectFiles) -> Option<Part> {
    let ends = |path: &str, ends: &[&str]| ends.iter().any(|end| path.ends_with(end));
    let is_project = |path: &&str| ends(path, &[".csproj", ".fsproj", ".vbproj"]);
    let at_top = |path: &str| !path.contains('/') && ends(path, &[".sln", ".slnx", ".csproj", ".fsproj", ".vbproj"]);
    if !files.paths().any(at_top) {
        return None;
    }
    let mut key = files.those(&["Directory.Packages.props", "global.json", "packages.lock.json"]);
    key.extend(files.paths().filter(is_project).take(PROJECTS_MAX));
    let mut part = Part { checks: vec!["dotnet test".to_owned()], ..Part::default() };
    part.step("dotnet restore", &key);
    Some(part)
}
