# Daily commands. `just` alone lists them. Each is one plain command, so nobody needs `just` to work here.

_default:
    @just --list

# The whole loop on the embedded forge: no account, token, key or network
rehearse *args:
    cargo run -- rehearse {{args}}

# Formats the code
fmt:
    cargo fmt

# Formats and lints, the fast check before a commit
check:
    cargo fmt --check
    cargo clippy --all-targets -- -D warnings

# The tests; `just test lease` runs those with `lease` in their name
test *args:
    cargo test {{args}}

# The integration tests of one file below tests/it
it name *args:
    cargo test --test it {{name}} {{args}}

# The documentation of the code, private items included
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --document-private-items

# Checks the embedded forge's answers against GitHub's OpenAPI description
conformance:
    cargo build
    cd tests/conformance && npm ci --no-audit --no-fund && node run.mjs ../../target/debug/hob

# Drives the page of a run in Chromium; `just page --pictures target/page` saves pictures of its views
page *args:
    cargo build
    cd tests/page && npm ci --no-audit --no-fund && node run.mjs ../../target/debug/hob {{args}}

# Installs other agents' command lines and tests them; `just agents claude codex` only these two
agents *names:
    bash scripts/agents.sh target/agents {{names}}
    HOB_AGENTS_DIR="$PWD/target/agents" cargo test --test it agents::adapters

# What agents cost here, Hob's own and those that `just agents` installed
bench *args:
    cargo run --release -p hob-bench -- agent --agents-dir target/agents {{args}}

# The shape of the code: types over many files, circles of calls and imports
house *args:
    python3 scripts/house.py {{args}}

# The pinned programs of `deny` and `workflows`, in target/tools
tools:
    python3 -m venv target/tools
    target/tools/bin/pip install --quiet --require-hashes --requirement scripts/requirements.txt

# Licences, sources, banned crates and advisories; the last need the network
deny *args: tools
    target/tools/bin/cargo-deny --locked --workspace check {{args}}

# The workflows against known weaknesses
workflows: tools
    target/tools/bin/zizmor --offline --persona pedantic .github

# Changes the rules and shows which changes no unit test notices; needs `cargo install cargo-mutants --locked`
mutants *args:
    nice cargo mutants {{args}}

# Draws the rehearsal's terminal output as docs/rehearsal.svg
picture:
    cargo build
    python3 scripts/terminal_svg.py --title "hob rehearse" --until "#1 An hour" --output docs/rehearsal.svg -- target/debug/hob rehearse

# The files of a release, in target/release-files
release *args:
    bash scripts/release.sh {{args}}

# Proves what a release promises: two builds, an empty root, the installer; `just release-check --once` builds once
release-check *args:
    bash scripts/release_check.sh {{args}}

# What CI runs
ci:
    bash .ci/run

# Twenty workers on 200 issues, five of them killed at random
crowd:
    cargo build --release
    python3 lab/measure/crowd.py target/release/hob

# A simulated day of 5,000 issues over 50 repositories; `just soak 500 1 1500` is one repository of 1,500 files
soak *args:
    cargo build --release --features jemalloc --bin hob
    cargo run --release -p hob-bench --example soak -- target/release/hob {{args}}

# Seconds of an incremental build after one file of the worker, the agent, the emulator and the domain changed
build-times *files:
    python3 lab/measure/build_times.py {{files}}
