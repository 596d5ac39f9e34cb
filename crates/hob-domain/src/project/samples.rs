//! Repositories as they are out there, each with the checks and steps that a person would write for it.

use crate::project::{ProjectFiles, proposal};

/// A repository: its name, its files, the checks, the steps.
type Sample = (&'static str, &'static [(&'static str, &'static str)], &'static [&'static str], &'static [&'static str]);

const JUST: &str = "set shell := [\"bash\", \"-c\"]\n\ndefault:\n    @just --list\n\n# all that CI runs\ncheck: lint test\n\n\
                    lint:\n    cargo clippy\n\ntest *args:\n    cargo test {{args}}\n\nrelease version:\n    cargo publish\n";
const MAKE: &str = "PREFIX ?= /usr/local\nSRC := $(wildcard *.c)\n\n.PHONY: all test install\nall: prog\n\nprog: $(SRC)\n\t\
                    $(CC) -o $@ $^\n\ntest: prog\n\t./run-tests.sh\n\ninstall: prog\n\tinstall prog $(PREFIX)/bin\n";
const WRAPS: &str = "test: test-rust test-web\n\ntest-rust:\n\tcargo test --locked\n\ntest-web:\n\tcd web && npm test\n\n\
                     lint:\n\tcargo clippy\n\ndeploy:\n\t./deploy.sh\n";
const NPM: &str = r#"{"name": "site", "scripts": {"build": "vite build", "dev": "vite", "lint": "eslint .", "test": "vitest run", "deploy": "gh-pages -d dist"}, "devDependencies": {"vitest": "3"}}"#;
const PLACEHOLDER: &str = r#"{"name": "tool", "scripts": {"test": "echo \"Error: no test specified\" && exit 1"}, "dependencies": {"left-pad": "1"}}"#;
const TYPES: &str = r#"{"name": "app", "packageManager": "pnpm@10.2.0", "scripts": {"lint": "eslint . --max-warnings 0", "lint:fix": "eslint . --fix", "typecheck": "tsc --noEmit", "test": "jest"}}"#;
const BERRY: &str = r#"{"name": "app", "packageManager": "yarn@4.5.0", "scripts": {"format": "prettier --write .", "format:check": "prettier --check .", "test": "jest"}}"#;
const BUN: &str = r#"{"name": "cli", "scripts": {"start": "bun run src/index.ts"}, "dependencies": {"zod": "3"}}"#;
const UV: &str = "[project]\nname = \"lib\"\ndependencies = [\"httpx\"]\n\n[dependency-groups]\ndev = [\"pytest>=8\", \"ruff>=0.8\"]\n\n\
                  [tool.ruff]\nline-length = 100\n\n[tool.pytest.ini_options]\naddopts = \"-q\"\n";
const POETRY: &str = "[tool.poetry]\nname = \"lib\"\n\n[tool.poetry.dependencies]\npython = \"^3.11\"\n\n\
                      [tool.poetry.group.dev.dependencies]\npytest = \"^8.0\"\n";
const WORKSPACE: &str = "[workspace]\nmembers = [\"crates/*\"]\n\n[package]\nname = \"app\"\n";

const SAMPLES: [Sample; 24] = [
    (
        "cargo",
        &[("Cargo.toml", "[package]\nname = \"a\"\n"), ("Cargo.lock", ""), ("rustfmt.toml", ""), ("src/main.rs", "")],
        &["cargo fmt --all --check", "cargo clippy --all-targets --locked", "cargo test --locked"],
        &["cargo fetch --locked"],
    ),
    (
        "cargo workspace, without a lock file",
        &[("Cargo.toml", WORKSPACE), ("crates/b/Cargo.toml", "[package]\n"), ("src/lib.rs", "")],
        &["cargo clippy --workspace --all-targets", "cargo test --workspace"],
        &[],
    ),
    ("npm", &[("package.json", NPM), ("package-lock.json", "{}")], &["npm run lint", "npm test"], &["npm ci"]),
    (
        "npm, with npm's own placeholder",
        &[("package.json", PLACEHOLDER), ("index.js", "")],
        &[],
        &["npm install --no-package-lock"],
    ),
    (
        "pnpm",
        &[("package.json", TYPES), ("pnpm-lock.yaml", ""), ("tsconfig.json", "{}")],
        &["pnpm run lint", "pnpm run typecheck", "pnpm test"],
        &["pnpm install --frozen-lockfile"],
    ),
    (
        "yarn 4",
        &[("package.json", BERRY), ("yarn.lock", ""), (".yarnrc.yml", "")],
        &["yarn run format:check", "yarn test"],
        &["yarn install --immutable"],
    ),
    (
        "bun, with its own test runner",
        &[("package.json", BUN), ("bun.lock", ""), ("src/index.test.ts", "")],
        &["bun test"],
        &["bun install --frozen-lockfile"],
    ),
    (
        "uv",
        &[("pyproject.toml", UV), ("uv.lock", ""), ("src/lib/__init__.py", ""), ("tests/test_lib.py", "")],
        &["PYTHONPATH=src uv run --no-sync python -m ruff check .", "PYTHONPATH=src uv run --no-sync python -m pytest"],
        &["uv sync --frozen"],
    ),
    (
        "poetry",
        &[("pyproject.toml", POETRY), ("poetry.lock", ""), ("lib/__init__.py", ""), ("tests/test_lib.py", "")],
        &["poetry run python -m pytest"],
        &["POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --no-interaction"],
    ),
    (
        "pip and pytest",
        &[("requirements.txt", "flask\n"), ("requirements-dev.txt", "pytest\n"), ("app.py", ""), ("test_app.py", "")],
        &[".venv/bin/python -m pytest"],
        &["python3 -m venv .venv && .venv/bin/pip install -r requirements.txt -r requirements-dev.txt"],
    ),
    (
        "tox",
        &[
            ("tox.ini", "[tox]\nenvlist = py312\n[testenv]\ncommands = pytest\n"),
            ("setup.py", ""),
            ("tests/test_a.py", ""),
        ],
        &["tox"],
        &[],
    ),
    ("nox", &[("noxfile.py", "import nox\n"), ("pyproject.toml", "[project]\nname = 'a'\n")], &["nox"], &[]),
    (
        "go",
        &[("go.mod", "module example.org/a\n"), ("go.sum", ""), ("main.go", ""), ("main_test.go", "")],
        &["go vet ./...", "go test ./..."],
        &["go mod download"],
    ),
    (
        "go without dependencies, with a linter",
        &[("go.mod", "module example.org/a\n"), (".golangci.yml", ""), ("a.go", "")],
        &["golangci-lint run", "go test ./..."],
        &[],
    ),
    (
        "maven with its wrapper",
        &[("pom.xml", "<project/>"), ("mvnw", ""), ("src/test/java/ATest.java", "")],
        &["./mvnw --batch-mode test"],
        &["./mvnw --batch-mode dependency:go-offline"],
    ),
    (
        "maven",
        &[("pom.xml", "<project/>"), ("src/main/java/A.java", "")],
        &["mvn --batch-mode test"],
        &["mvn --batch-mode dependency:go-offline"],
    ),
    (
        "gradle with its wrapper",
        &[
            ("build.gradle.kts", ""),
            ("settings.gradle.kts", ""),
            ("gradlew", ""),
            ("gradle/wrapper/gradle-wrapper.properties", ""),
        ],
        &["./gradlew --no-daemon check"],
        &["./gradlew --no-daemon testClasses"],
    ),
    (
        "dotnet",
        &[("App.sln", ""), ("src/App/App.csproj", ""), ("test/App.Tests/App.Tests.csproj", "")],
        &["dotnet test"],
        &["dotnet restore"],
    ),
    ("make, in C", &[("Makefile", MAKE), ("prog.c", ""), ("run-tests.sh", "")], &["make test"], &[]),
    (
        "just, around cargo",
        &[("justfile", JUST), ("Cargo.toml", "[package]\n"), ("Cargo.lock", "")],
        &["just check"],
        &["cargo fetch --locked"],
    ),
    (
        "cargo and npm, a folder each",
        &[("Cargo.toml", "[package]\n"), ("Cargo.lock", ""), ("web/package.json", NPM), ("web/package-lock.json", "")],
        &["cargo clippy --all-targets --locked", "cargo test --locked", "cd web && npm run lint", "cd web && npm test"],
        &["cargo fetch --locked", "cd web && npm ci"],
    ),
    (
        "a makefile that wraps cargo and npm",
        &[
            ("Makefile", WRAPS),
            ("Cargo.toml", "[package]\n"),
            ("Cargo.lock", ""),
            ("web/package.json", NPM),
            ("web/package-lock.json", ""),
        ],
        &["make lint", "make test"],
        &["cargo fetch --locked", "cd web && npm ci"],
    ),
    (
        "a service in Go and a page in TypeScript, with nothing at the top",
        &[
            ("README.md", ""),
            ("api/go.mod", "module a\n"),
            ("api/go.sum", ""),
            ("ui/package.json", TYPES),
            ("ui/pnpm-lock.yaml", ""),
            ("docs/package.json", NPM),
        ],
        &[
            "cd api && go vet ./...",
            "cd api && go test ./...",
            "cd ui && pnpm run lint",
            "cd ui && pnpm run typecheck",
            "cd ui && pnpm test",
        ],
        &["cd api && go mod download", "cd ui && pnpm install --frozen-lockfile"],
    ),
    ("nothing", &[("README.md", "# Notes\n"), ("notes/today.md", ""), ("Makefile", "all:\n\techo built\n")], &[], &[]),
];

#[test]
fn the_right_checks_are_found_in_the_sample_repositories() {
    let mut wrong = Vec::new();
    for (name, files, checks, steps) in SAMPLES {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        let found = proposal(&ProjectFiles::new([], files));
        if found.checks != checks || found.setup != steps {
            wrong.push(format!("{name}: {:?}, {:?}", found.checks, found.setup));
        }
    }
    let right = SAMPLES.len() - wrong.len();
    assert!(wrong.is_empty(), "{right} of {} are right; these are not:\n{}", SAMPLES.len(), wrong.join("\n"));
}

#[test]
fn no_check_of_a_sample_writes_or_deploys() {
    for (name, files, _, _) in SAMPLES {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        let checks = proposal(&ProjectFiles::new([], files)).checks;
        assert!(checks.iter().all(|check| crate::project::part::only_looks(check)), "{name}: {checks:?}");
    }
}
