//! Python projects: how they install packages and run tests.
//!
//! Steps and checks run in different folders, so an environment's scripts cannot be called by name: their first line
//! contains the folder that they were made in. `python -m` works anyway.

use crate::project::{files::ProjectFiles, hosts::Found, part::Part};

/// Lists of packages, in order of preference.
const LISTS: [&str; 6] = [
    "requirements.txt",
    "requirements-dev.txt",
    "requirements_dev.txt",
    "dev-requirements.txt",
    "requirements-test.txt",
    "test-requirements.txt",
];
/// Names of extras that projects use for their tests' packages.
const EXTRAS: [&str; 5] = ["dev", "test", "tests", "testing", "develop"];

/// The place where packages are installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Home {
    Uv,
    Poetry,
    Venv,
    Machine,
}

pub(super) fn python(files: &ProjectFiles) -> Option<Part> {
    let lists = files.those(&LISTS);
    let is_python =
        files.has_any(&["pyproject.toml", "setup.py", "setup.cfg", "uv.lock", "poetry.lock", "tox.ini", "noxfile.py"]);
    if !is_python && lists.is_empty() {
        return None;
    }
    if let Some(own) = own_environments(files) {
        let checks = vec![own.to_owned()];
        // It makes its own environment for each run.
        return Some(Part { checks, checks_from: Some(Found::default()), ..Part::default() });
    }
    let mut part = Part::default();
    let told = told(files, &lists);
    let tests_by = Tests::new(files, &told);
    let home = set_up(files, &lists, &told, tests_by, &mut part);
    let prefix = if has_src_layout(files) { "PYTHONPATH=src " } else { "" };
    let module = |module: &str| format!("{prefix}{} {module}", interpreter(home));
    if is_configured(files, "ruff", &["ruff.toml", ".ruff.toml"]) {
        part.checks.push(if is_needed(&told, "ruff") { module("-m ruff check .") } else { "ruff check .".to_owned() });
    } else if files.has(".flake8") && is_needed(&told, "flake8") {
        part.checks.push(module("-m flake8"));
    }
    if is_configured(files, "mypy", &["mypy.ini", ".mypy.ini"]) && is_needed(&told, "mypy") {
        part.checks.push(module(if mypy_knows_its_files(files) { "-m mypy" } else { "-m mypy ." }));
    }
    part.checks.extend(match tests_by {
        Tests::Pytest => Some(module("-m pytest")),
        Tests::Django => Some(module("manage.py test")),
        Tests::Unittest { folder: false } => Some(module("-m unittest discover")),
        Tests::Unittest { folder: true } => Some(module("-m unittest discover -s tests")),
        Tests::None => None,
    });
    Some(part)
}

/// The program that makes an environment for each of its runs, if one is used.
fn own_environments(files: &ProjectFiles) -> Option<&'static str> {
    let says = |file: &str, section: &str| files.text(file).lines().any(|line| line.trim().starts_with(section));
    if files.has("noxfile.py") {
        return Some("nox");
    }
    let tox = files.has("tox.ini") && (says("tox.ini", "[tox") || says("tox.ini", "[testenv"));
    (tox || says("pyproject.toml", "[tool.tox") || says("setup.cfg", "[tox:")).then_some("tox")
}

/// The texts of the files that list packages.
fn told(files: &ProjectFiles, lists: &[&str]) -> String {
    let named = ["pyproject.toml", "setup.cfg", "setup.py"].into_iter().chain(lists.iter().copied());
    named.map(|file| files.text(file)).collect::<Vec<_>>().join("\n")
}

/// Whether a package is installed, and not only configured.
fn is_needed(told: &str, package: &str) -> bool {
    told.lines().any(|line| {
        let line = line.trim();
        line.contains(package) && !line.starts_with('#') && !line.starts_with(&format!("[tool.{package}"))
    })
}

fn is_configured(files: &ProjectFiles, tool: &str, own: &[&str]) -> bool {
    let section = format!("[tool.{tool}");
    files.has_any(own) || files.text("pyproject.toml").lines().any(|line| line.trim().starts_with(&section))
}

/// Whether the settings of mypy name the files to check.
fn mypy_knows_its_files(files: &ProjectFiles) -> bool {
    let sections = ["mypy.ini", ".mypy.ini", "pyproject.toml"].map(|file| files.text(file));
    let own = sections.iter().flat_map(|text| text.lines().skip_while(|line| !line.trim().ends_with("mypy]")).skip(1));
    own.take_while(|line| !line.trim_start().starts_with('['))
        .filter_map(|line| line.split_once('='))
        .any(|(key, _)| matches!(key.trim(), "files" | "packages" | "modules"))
}

/// The program that runs the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tests {
    Pytest,
    Django,
    Unittest { folder: bool },
    None,
}

impl Tests {
    fn new(files: &ProjectFiles, told: &str) -> Self {
        let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        let is_test =
            |path: &str| path.ends_with(".py") && (name(path).starts_with("test_") || name(path).ends_with("_test.py"));
        let has_conftest = files.paths().any(|path| name(path) == "conftest.py");
        if files.has("pytest.ini") || has_conftest || told.contains("pytest") {
            return Self::Pytest;
        }
        if files.has("manage.py") {
            return Self::Django;
        }
        match files.paths().any(is_test) {
            true => Self::Unittest {
                folder: files.paths().any(|path| path.starts_with("tests/")) && !files.has("tests/__init__.py"),
            },
            false => Self::None,
        }
    }
}

/// Adds the step that installs the packages.
fn set_up(files: &ProjectFiles, lists: &[&str], told: &str, tests: Tests, part: &mut Part) -> Home {
    let pytest = if tests == Tests::Pytest && !is_needed(told, "pytest") { " pytest" } else { "" };
    if files.has("uv.lock") {
        part.step("uv sync --frozen", &["uv.lock"]);
        return Home::Uv;
    }
    if files.has("poetry.lock") {
        // Otherwise the environment would be found by the checkout's folder, which changes.
        part.step("POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction", &["poetry.lock"]);
        return Home::Poetry;
    }
    if !lists.is_empty() {
        let from: String = lists.iter().map(|list| format!(" -r {list}")).collect();
        part.step(format!("python3 -m venv .venv && .venv/bin/pip install{from}{pytest}"), lists);
        return Home::Venv;
    }
    let project = files.text("pyproject.toml");
    if project.contains("[project]") || files.has("setup.py") {
        let extra = EXTRAS.iter().find(|extra| has_extra(project, extra));
        let what = extra.map_or_else(|| ".".to_owned(), |extra| format!("'.[{extra}]'"));
        let key = files.those(&["pyproject.toml", "setup.py", "setup.cfg"]);
        part.step(format!("python3 -m venv .venv && .venv/bin/pip install -e {what}{pytest}"), &key);
        return Home::Venv;
    }
    Home::Machine
}

fn has_extra(project: &str, extra: &str) -> bool {
    let Some((_, section)) = project.split_once("[project.optional-dependencies]") else { return false };
    let section = section.split("\n[").next().unwrap_or_default();
    section.lines().any(|line| line.split_once('=').is_some_and(|(name, _)| name.trim().trim_matches('"') == extra))
}

fn interpreter(home: Home) -> &'static str {
    match home {
        Home::Uv => "uv run --no-sync python",
        Home::Poetry => "poetry run python",
        Home::Venv => ".venv/bin/python",
        Home::Machine => "python3",
    }
}

/// Whether the packages are in `src`. An installation from there contains the files as they were when the step ran.
fn has_src_layout(files: &ProjectFiles) -> bool {
    files.paths().any(|path| path.strip_prefix("src/").is_some_and(|inner| inner.ends_with("/__init__.py")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Part {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        python(&ProjectFiles::new([], files)).unwrap()
    }

    #[test]
    fn a_tool_that_is_configured_and_not_installed_is_the_machines() {
        let ruff = |packages: &str| {
            let project = format!("[project]\ndependencies = [{packages}]\n[tool.ruff]\nline-length = 100\n");
            of(&[("pyproject.toml", &project), ("uv.lock", "")]).checks
        };
        assert_eq!(ruff(""), ["ruff check ."]);
        assert_eq!(ruff("\"ruff>=0.5\""), ["uv run --no-sync python -m ruff check ."]);
    }

    #[test]
    fn types_are_checked_where_the_program_for_it_is_installed_and_configured() {
        let mypy = |settings: &str, packages: &str| {
            let project = format!("[project]\ndependencies = [{packages}]\n{settings}");
            of(&[("pyproject.toml", &project), ("uv.lock", "")]).checks
        };
        let run = "uv run --no-sync python -m mypy";
        assert_eq!(mypy("[tool.mypy]\nstrict = true\n", "\"mypy\""), [format!("{run} .")]);
        assert_eq!(mypy("[tool.mypy]\nfiles = [\"src\"]\n[tool.x]\n", "\"mypy\""), [run]);
        assert_eq!(mypy("[tool.mypy]\n[tool.x]\nfiles = 1\n", "\"mypy\""), [format!("{run} .")]);
        assert_eq!(mypy("[tool.mypy]\n", ""), Vec::<String>::new());
        assert_eq!(mypy("", "\"mypy\""), Vec::<String>::new());
    }

    #[test]
    fn tests_are_found_whatever_runs_them() {
        assert_eq!(
            of(&[("requirements.txt", "flask\n"), ("tests/test_a.py", "")]).checks,
            [".venv/bin/python -m unittest discover -s tests"]
        );
        assert_eq!(
            of(&[("requirements.txt", "django\n"), ("manage.py", "")]).checks,
            [".venv/bin/python manage.py test"]
        );
        assert_eq!(of(&[("setup.cfg", ""), ("test_a.py", "")]).checks, ["python3 -m unittest discover"]);
        let src = of(&[("setup.py", "tests_require=['pytest']"), ("src/a/__init__.py", "")]);
        assert_eq!(src.checks, ["PYTHONPATH=src .venv/bin/python -m pytest"]);
        assert_eq!(of(&[("requirements.txt", "flask\n")]).checks, Vec::<String>::new());
    }

    #[test]
    fn what_the_tests_need_is_installed_by_its_extra() {
        let project = "[project]\nname = 'a'\n[project.optional-dependencies]\ndocs = ['sphinx']\ntest = ['pytest']\n[tool.x]\ndev = 1\n";
        let step = &of(&[("pyproject.toml", project)]).steps[0];
        assert_eq!(step.command, "python3 -m venv .venv && .venv/bin/pip install -e '.[test]'");
        let bare = &of(&[("pyproject.toml", "[project]\nname = 'a'\n"), ("tests/conftest.py", "")]).steps[0];
        assert!(bare.command.ends_with("-e . pytest"), "{bare:?}");
    }
}
