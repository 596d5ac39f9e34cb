//! The sides of a repository: the code, the tests with their fixtures, and the judge, which is what the checks run.
//!
//! # Caveats
//! By names alone. A repository that keeps its tests elsewhere says so (`tests` in `.github/hob.toml`).

use std::collections::BTreeSet;

use hob_domain::PathGlobs;

/// The side of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The product.
    Code,
    /// Text for people.
    Docs,
    /// A test, or what only tests need: fixtures, snapshots, a runner's settings.
    Test,
    /// What a check runs, such as a `Makefile`, a script or a workflow: it decides what is tested at all.
    Judge,
}

/// Folders of tests, at any depth.
const FOLDERS: [&str; 15] = [
    "__fixtures__",
    "__mocks__",
    "__snapshots__",
    "__tests__",
    "androidtest",
    "cypress",
    "e2e",
    "fixtures",
    "spec",
    "specs",
    "test",
    "test-data",
    "test_data",
    "testdata",
    "tests",
];

/// Names of files, in lower case, and their beginnings before a dot.
const NAMES: [&str; 21] = [
    ".mocharc",
    ".nycrc",
    ".rspec",
    "conftest.py",
    "cypress.config",
    "jest.config",
    "jest.setup",
    "karma.conf",
    "nextest.toml",
    "phpunit.xml",
    "phpunit.xml.dist",
    "playwright.config",
    "pytest.ini",
    "setuptests",
    "spec_helper.rb",
    "test.py",
    "test.rs",
    "test_helper.exs",
    "tests.py",
    "tests.rs",
    "vitest.config",
];

/// Endings of names in lower case.
const ENDINGS: [&str; 21] = [
    ".bats",
    ".feature",
    ".snap",
    ".t",
    "-test.js",
    "_spec.lua",
    "_spec.rb",
    "_test.c",
    "_test.cc",
    "_test.cpp",
    "_test.dart",
    "_test.exs",
    "_test.go",
    "_test.lua",
    "_test.ml",
    "_test.py",
    "_test.rb",
    "_test.rs",
    "_tests.py",
    "_tests.rs",
    "_unittest.cc",
];

/// Endings of names of types, whose case counts: `Latest.java` is not a test.
const TYPE_ENDINGS: [&str; 15] = [
    "IT.java",
    "Spec.groovy",
    "Spec.kt",
    "Spec.scala",
    "Suite.scala",
    "Test.cs",
    "Test.groovy",
    "Test.java",
    "Test.kt",
    "Test.php",
    "Test.scala",
    "Tests.cs",
    "Tests.java",
    "Tests.kt",
    "Tests.swift",
];

/// Endings of files whose names begin with `test_`.
const AFTER_TEST: [&str; 8] = [".c", ".cc", ".cpp", ".f90", ".jl", ".py", ".r", ".rb"];

/// Endings of files for people.
const FOR_PEOPLE: [&str; 5] = [".adoc", ".md", ".mdx", ".rst", ".txt"];

/// Files and folders of CI services.
const OF_SERVICES: [&str; 9] = [
    ".appveyor.yml",
    ".circleci/",
    ".drone.yml",
    ".github/actions/",
    ".github/workflows/",
    ".gitlab-ci.yml",
    ".travis.yml",
    "azure-pipelines.yml",
    "jenkinsfile",
];

/// Which file is on which side.
#[derive(Debug, Clone, Default)]
pub struct Sides {
    tests: Option<PathGlobs>,
    judges: BTreeSet<String>,
}

impl Sides {
    /// The sides of a repository with these `tests`, none: as the names say, whose checks run the files `judges`.
    pub fn new(tests: Option<PathGlobs>, judges: BTreeSet<String>) -> Self {
        Self { tests, judges }
    }

    /// The side of the file at `path`.
    pub fn of(&self, path: &str) -> Side {
        if self.judges.contains(path) || is_of_a_service(path) {
            return Side::Judge;
        }
        let is_test = self.tests.as_ref().map_or_else(|| is_named_like_a_test(path), |tests| tests.is_match(path));
        match (is_test, is_for_people(path)) {
            (true, _) => Side::Test,
            (false, true) => Side::Docs,
            (false, false) => Side::Code,
        }
    }
}

fn is_of_a_service(path: &str) -> bool {
    let path = path.to_lowercase();
    OF_SERVICES.iter().any(|of| path == *of || of.ends_with('/') && path.starts_with(of))
}

fn is_for_people(path: &str) -> bool {
    let path = path.to_lowercase();
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
    // A list of requirements is read by programs.
    let is_list = name.starts_with("requirements") || name == "cmakelists.txt" || name == "robots.txt";
    !is_list
        && (FOR_PEOPLE.iter().any(|ending| name.ends_with(ending))
            || matches!(name, "license" | "authors" | "changelog" | "readme" | "codeowners")
            || folders.split('/').next().is_some_and(|top| matches!(top, "doc" | "docs") && !name.ends_with(".py")))
}

fn is_named_like_a_test(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_folder = |folder: &str| {
        let lower = folder.to_lowercase();
        FOLDERS.contains(&lower.as_str())
            || [".tests", ".test", "-tests"].iter().any(|ending| lower.ends_with(ending))
            // Swift's and Gradle's: `AppTests`, `src/integrationTest`.
            || folder.ends_with("Tests") && folder != "Tests"
            || folder.ends_with("Test") && folder.starts_with(|c: char| c.is_ascii_lowercase())
    };
    let lower = name.to_lowercase();
    let stem = lower.split_once('.').map_or(lower.as_str(), |(stem, _)| stem);
    let has_part = |part: &str| lower.contains(part) && !lower.starts_with(part);
    folders.split('/').any(is_folder)
        || NAMES
            .iter()
            .any(|known| lower == *known || lower.strip_prefix(known).is_some_and(|rest| rest.starts_with('.')))
        || ENDINGS.iter().any(|ending| lower.ends_with(ending))
        || TYPE_ENDINGS.iter().any(|ending| name.ends_with(ending) && name.len() > ending.len())
        || stem.starts_with("test_") && AFTER_TEST.iter().any(|ending| lower.ends_with(ending))
        || [".test.", ".spec.", ".cy.", ".e2e."].into_iter().any(has_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(path: &str) -> Side {
        Sides::default().of(path)
    }

    #[test]
    fn tests_are_known_by_their_names_in_many_languages() {
        for path in [
            "tests/it/main.rs",
            "src/money/tests.rs",
            "pkg/a_test.go",
            "pkg/testdata/in.json",
            "tests/test_slug.py",
            "app/test_slug.py",
            "conftest.py",
            "src/a.test.ts",
            "src/__snapshots__/a.snap",
            "src/a.spec.tsx",
            "jest.config.mjs",
            "spec/models/user_spec.rb",
            "src/test/java/a/B.java",
            "src/integrationTest/kotlin/A.kt",
            "core/AppTest.java",
            "core/AppIT.java",
            "Site.Tests/Slug.cs",
            "AppTests/Slug.swift",
            "tests/SlugTest.php",
            "test/slug_test.exs",
            "t/basic.t",
            "cypress/a.cy.js",
            "lib/a_unittest.cc",
            ".config/nextest.toml",
        ] {
            assert_eq!(side(path), Side::Test, "{path}");
        }
    }

    #[test]
    fn code_and_text_are_not_taken_for_tests() {
        for path in [
            "src/lib.rs",
            "src/contest.py",
            "src/Latest.java",
            "src/Audit.java",
            "src/testing.go",
            "src/attest.ts",
            "lib/protest_helper.rb",
            "src/Test.java",
            "requirements.txt",
            "package.json",
            "src/inspect.rs",
        ] {
            assert_eq!(side(path), Side::Code, "{path}");
        }
        for path in ["README.md", "docs/a.png", "CHANGELOG", "src/notes.rst"] {
            assert_eq!(side(path), Side::Docs, "{path}");
        }
    }

    #[test]
    fn what_the_checks_run_and_what_a_service_runs_is_the_judge() {
        let tests = PathGlobs::new(vec!["checks/**".to_owned()]).unwrap();
        let sides = Sides::new(Some(tests), ["Makefile".to_owned()].into());
        for (path, side) in [
            ("Makefile", Side::Judge),
            (".github/workflows/ci.yml", Side::Judge),
            (".GitHub/Workflows/CI.yml", Side::Judge),
            ("checks/a.py", Side::Test),
            ("tests/a.py", Side::Code),
            ("sub/Makefile", Side::Code),
        ] {
            assert_eq!(sides.of(path), side, "{path}");
        }
    }
}
