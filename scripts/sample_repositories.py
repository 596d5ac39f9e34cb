#!/usr/bin/env python3
"""Makes 20 sample repositories, runs `hob init --dry-run` on each, and says for how many it finds the right checks.

    cargo build && python3 scripts/sample_repositories.py target/debug/hob

The repositories have the files that real ones have beside those that tell what they are built with: several manifests, scripts
that deploy, tools that are only mentioned. They stand on the embedded forge, on loopback, and Hob sees them as it sees any other.
What is right is what a maintainer would write: each check that is needed is found, and nothing that publishes, deploys, formats in
place or never ends. The exit code is 1 if fewer than `--least` are right.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from embedded_forge import Forge

PACKAGE = {
    "npm": {"scripts": {"start": "node server.js", "test": "node --test", "lint": "eslint src", "prepublishOnly": "npm test"}},
    "typescript": {
        "packageManager": "pnpm@9.12.3",
        "scripts": {
            "dev": "next dev", "build": "next build", "check:types": "tsc -p . --noEmit", "test": "vitest --run",
            "test:watch": "vitest", "lint": "next lint", "format": "prettier -w .", "release": "changeset publish",
        },
    },
    "yarn": {"scripts": {"test": "jest --ci", "lint": "eslint --ext .js,.jsx .", "deploy": "firebase deploy"}},
    "bare": {"scripts": {"start": "electron ."}, "devDependencies": {"electron": "31"}},
    "web": {"private": True, "scripts": {"build": "vite build", "test": "vitest run", "lint": "biome check ."}},
}
PYPROJECT_UV = """[project]
name = "relay"
requires-python = ">=3.11"
dependencies = ["anyio"]

[project.optional-dependencies]
docs = ["mkdocs"]

[dependency-groups]
dev = ["pytest", "ruff", "mypy"]

[tool.mypy]
strict = true

[tool.ruff]
target-version = "py311"
"""
PYPROJECT_POETRY = """[tool.poetry]
name = "ledger"
version = "0.3.0"

[tool.poetry.dependencies]
python = "^3.10"

[tool.poetry.group.test.dependencies]
pytest = "*"

[build-system]
requires = ["poetry-core"]
build-backend = "poetry.core.masonry.api"
"""
MAKEFILE_C = """CC = gcc
all: build/wc2
build/wc2: wc2.c
\tmkdir -p build && $(CC) -O2 -o $@ $<
check: all
\tsh tests/run.sh
clean:
\trm -rf build
install: all
\tcp build/wc2 /usr/local/bin
"""
MAKEFILE_GO = """VERSION := $(shell git describe --tags)
build:
\tgo build -ldflags "-X main.version=$(VERSION)" ./cmd/...
test:
\tgo test -race ./...
lint:
\tgolangci-lint run
docker-push: build
\tdocker push registry.example.org/app
"""
JUSTFILE = """default: test

test filter="":
    cargo nextest run {{filter}}

lint:
    cargo clippy --all-targets -- -D warnings

bump version:
    cargo set-version {{version}}
"""
TOX = """[tox]
env_list = lint, py{310,311,312}

[testenv]
deps = pytest
commands = pytest {posargs}

[testenv:lint]
deps = flake8
commands = flake8 src
"""

NEVER = r"deploy|publish|release|docker|push|install -|--write|-w \.|watch|\bdev\b|start|set-version|bump"

# Name, files, what checks there must be (each a pattern), what there must not be beside NEVER.
SAMPLES = [
    ("cargo-binary", {"Cargo.toml": '[package]\nname = "grepl"\nedition = "2024"\n', "Cargo.lock": "version = 4\n", "src/main.rs": "fn main() {}\n", "README.md": "Run `make`.\n"}, [r"cargo test"], r"make"),
    ("cargo-workspace", {"Cargo.toml": '[workspace]\nresolver = "3"\nmembers = ["core", "cli"]\n', "Cargo.lock": "version = 4\n", "core/Cargo.toml": '[package]\nname = "core"\n', "cli/Cargo.toml": '[package]\nname = "cli"\n', "rustfmt.toml": "max_width = 100\n"}, [r"cargo test.*--workspace", r"cargo fmt"], None),
    ("npm-server", {"package.json": PACKAGE["npm"], "package-lock.json": {"lockfileVersion": 3}, "server.js": "", "src/a.js": "", ".nvmrc": "22\n"}, [r"npm (run )?test", r"npm run lint"], None),
    ("pnpm-next", {"package.json": PACKAGE["typescript"], "pnpm-lock.yaml": "lockfileVersion: '9.0'\n", "tsconfig.json": {}, "next.config.js": "", "app/page.tsx": ""}, [r"pnpm (run )?test$", r"pnpm (run )?lint", r"check:types"], r"format"),
    ("yarn-classic", {"package.json": PACKAGE["yarn"], "yarn.lock": "# yarn lockfile v1\n", "firebase.json": {}}, [r"yarn (run )?test", r"yarn (run )?lint"], None),
    ("electron-without-tests", {"package.json": PACKAGE["bare"], "package-lock.json": {"lockfileVersion": 3}, "main.js": ""}, [], r"test"),
    ("uv-library", {"pyproject.toml": PYPROJECT_UV, "uv.lock": "version = 1\n", "src/relay/__init__.py": "", "tests/test_relay.py": "", "docs/index.md": ""}, [r"uv run.*pytest", r"uv run.*ruff", r"uv run.*mypy"], r"mkdocs"),
    ("poetry-package", {"pyproject.toml": PYPROJECT_POETRY, "poetry.lock": "# generated\n", "ledger/__init__.py": "", "tests/test_ledger.py": ""}, [r"poetry run.*pytest"], None),
    ("tox-matrix", {"tox.ini": TOX, "setup.cfg": "[metadata]\nname = jot\n", "setup.py": "from setuptools import setup\nsetup()\n", "src/jot.py": "", "tests/test_jot.py": ""}, [r"tox"], None),
    ("requirements-and-unittest", {"requirements.txt": "requests==2.32.3\n", "app/__init__.py": "", "tests/test_app.py": "import unittest\n\n\nclass TestApp(unittest.TestCase):\n    def test_a(self):\n        pass\n"}, [r"unittest|pytest"], None),
    ("go-service", {"go.mod": "module example.org/svc\n\ngo 1.23\n\nrequire golang.org/x/sync v0.9.0\n", "go.sum": "golang.org/x/sync v0.9.0 h1:a=\n", "cmd/svc/main.go": "package main\n", "internal/a/a_test.go": "package a\n", "Dockerfile": "FROM golang\n"}, [r"go test \./\.\.\."], None),
    ("go-with-make", {"go.mod": "module example.org/app\n", "Makefile": MAKEFILE_GO, "cmd/app/main.go": "package main\n"}, [r"make test|go test"], None),
    ("maven-library", {"pom.xml": "<project><modelVersion>4.0.0</modelVersion></project>\n", "src/main/java/A.java": "", "src/test/java/ATest.java": ""}, [r"mvn.*(test|verify)"], None),
    ("gradle-kotlin", {"build.gradle.kts": 'plugins { kotlin("jvm") version "2.1.0" }\n', "settings.gradle.kts": "", "gradlew": "#!/bin/sh\n", "gradle/wrapper/gradle-wrapper.properties": "", "src/test/kotlin/ATest.kt": ""}, [r"\./gradlew.*(check|test)"], None),
    ("dotnet-solution", {"Shop.sln": "", "src/Shop/Shop.csproj": "<Project/>", "tests/Shop.Tests/Shop.Tests.csproj": "<Project/>", ".editorconfig": ""}, [r"dotnet test"], None),
    ("make-c", {"Makefile": MAKEFILE_C, "wc2.c": "int main(void) { return 0; }\n", "tests/run.sh": "exit 0\n"}, [r"make check"], r"clean"),
    ("just-cargo", {"justfile": JUSTFILE, "Cargo.toml": '[package]\nname = "x"\n', "Cargo.lock": "version = 4\n", "src/lib.rs": ""}, [r"just test|cargo (nextest|test)", r"just lint|cargo clippy"], None),
    ("go-and-web", {"go.mod": "module example.org/ui\n", "main.go": "package main\n", "main_test.go": "package main\n", "web/package.json": PACKAGE["web"], "web/pnpm-lock.yaml": "lockfileVersion: '9.0'\n"}, [r"go test", r"cd web && pnpm (run )?test", r"cd web && pnpm (run )?lint"], None),
    ("python-and-rust", {"pyproject.toml": '[build-system]\nrequires = ["maturin>=1"]\nbuild-backend = "maturin"\n\n[project]\nname = "fastjoin"\n\n[project.optional-dependencies]\ntest = ["pytest"]\n', "Cargo.toml": '[package]\nname = "fastjoin"\n', "src/lib.rs": "", "tests/test_join.py": ""}, [r"cargo test", r"pytest"], None),
    ("docs-only", {"README.md": "# Notes\n", "notes/2026.md": "Run `npm test` in the other repository.\n", "LICENSE": "MIT\n"}, [], r"."),
]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hob", nargs="?", default="target/debug/hob")
    parser.add_argument("--least", type=int, default=18, help="how many have to be right")
    return parser.parse_args()


def make(forge, name, files):
    """Puts the files on the default branch of a new repository."""
    forge.call("POST", "/user/repos", {"name": name, "auto_init": True})
    path = f"/repos/ann/{name}"
    main = forge.call("GET", f"{path}/git/ref/heads/main")["object"]["sha"]
    text = {key: value if isinstance(value, str) else json.dumps(value, indent=2) for key, value in files.items()}
    entries = [{"path": key, "mode": "100644", "type": "blob", "content": value or "\n"} for key, value in text.items()]
    tree = forge.call("POST", f"{path}/git/trees", {"tree": entries})["sha"]
    commit = forge.call("POST", f"{path}/git/commits", {"message": "Begin", "tree": tree, "parents": [main]})["sha"]
    forge.call("PATCH", f"{path}/git/refs/heads/main", {"sha": commit})


def proposed(hob, forge, folder, name):
    """The checks that `hob init` would write."""
    line = [hob, "--repo", f"ann/{name}", "--state-dir", str(folder / "state"), "--json", "init", "--dry-run", "--no-workflow"]
    ended = subprocess.run(line, env=forge.environment(folder), capture_output=True, text=True, timeout=60)
    if ended.returncode:
        sys.exit(f"{name}: hob init ended with {ended.returncode}: {ended.stdout}{ended.stderr}")
    return json.loads(ended.stdout.splitlines()[-1])["result"]["checks"]


def faults(checks, needed, never):
    """What is wrong with the checks; nothing: they are right."""
    found = [f"nothing matches {pattern}" for pattern in needed if not any(re.search(pattern, check) for check in checks)]
    bad = re.compile(f"{NEVER}|{never}" if never else NEVER)
    return found + [f"must not be there: {check}" for check in checks if bad.search(check)]


def main():
    given = arguments()
    right = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        forge = Forge(str(pathlib.Path(given.hob).resolve()), folder)
        try:
            for name, files, needed, never in SAMPLES:
                make(forge, name, files)
                checks = proposed(str(pathlib.Path(given.hob).resolve()), forge, folder, name)
                wrong = faults(checks, needed, never)
                right += not wrong
                print(f"{'ok   ' if not wrong else 'WRONG'} {name}: {'; '.join(checks) or 'no checks'}")
                for fault in wrong:
                    print(f"      {fault}")
        finally:
            forge.close()
    print(f"{right} of {len(SAMPLES)} are right")
    return 0 if right >= given.least else 1


if __name__ == "__main__":
    sys.exit(main())
