#!/usr/bin/env python3
"""Runs test suites of public projects in every tier of the sandbox, and writes the table in docs/design/attacks.md.

    cargo build --bin hob --example inside && python3 lab/measure/suites.py target/debug FOLDER
    python3 lab/measure/suites.py target/debug FOLDER tornado werkzeug     # only those; writes nothing

The projects are fetched and built in FOLDER once, from PyPI, npm and crates.io, at the versions below. Each suite then runs without a
sandbox, in a fence and in a box; what it printed stays in FOLDER, and is not run again as long as it is there. Needs Linux, bubblewrap, Python with venv, npm and cargo. Fails where something fails in a box that
passes without a sandbox.
"""

import collections
import os
import pathlib
import platform
import re
import subprocess
import sys

TRUST = pathlib.Path(__file__).resolve().parents[2] / "docs/design/attacks.md"
BEGIN, END = "<!-- suites:begin -->", "<!-- suites:end -->"
TIERS = ["none", "fence", "box"]
TIME_SECONDS = 1_800

# How results are counted: the words of each tool's summary.
PYTEST = [r"(\d+) (passed|failed|error)"]
UNITTEST = [r"Ran (\d+) (test)", r"(failures|errors|skipped)=(\d+)"]
MOCHA = [r"(\d+) (passing|failing)"]
CARGO = [r"test result: \w+\. (\d+) (passed); (\d+) (failed)"]

Project = collections.namedtuple("Project", "name of set_up test counts")
PROJECTS = [
    Project(
        "tornado 6.5.2",
        "servers and clients, subprocesses, a resolver",
        ["{python} -m venv venv", "venv/bin/pip install -q tornado==6.5.2"],
        "venv/bin/python -m tornado.test.runtests --fail-if-logs=False",
        UNITTEST,
    ),
    Project(
        "werkzeug 3.1.3",
        "live servers, a reloader",
        [
            "{python} -m venv venv",
            "venv/bin/pip install -q pytest pytest-timeout ephemeral-port-reserve watchdog cryptography werkzeug==3.1.3",
            "venv/bin/pip install -q flit_core && venv/bin/pip download -q --no-deps --no-binary :all: --no-build-isolation werkzeug==3.1.3 -d .",
            "tar xzf werkzeug-3.1.3.tar.gz",
        ],
        "venv/bin/python -m pytest -q --timeout 60 -p no:cacheprovider werkzeug-3.1.3/tests",
        PYTEST,
    ),
    Project(
        "joblib 1.5.2",
        "process pools, semaphores, shared memory",
        ["{python} -m venv venv", "venv/bin/pip install -q pytest joblib==1.5.2"],
        "venv/bin/python -m pytest -q -p no:cacheprovider --pyargs joblib",
        PYTEST,
    ),
    Project(
        "express-mung 0.5.1",
        "servers under supertest",
        [
            "npm pack -s express-mung@0.5.1",
            "tar xzf express-mung-0.5.1.tgz",
            "cd package && npm install -s --no-audit --no-fund",
        ],
        "cd package && npx mocha",
        MOCHA,
    ),
    Project(
        "tokio 1.48.0",
        "TCP, UDP and Unix sockets, processes, signals",
        [
            "mkdir -p fetched/src && cd fetched && touch src/lib.rs && printf '[package]\\nname = \"fetched\"\\nversion = \"0.0.0\"\\n"
            "edition = \"2021\"\\n[dependencies]\\ntokio = \"=1.48.0\"\\n' > Cargo.toml && cargo vendor -q > /dev/null",
            "cp -r fetched/vendor/tokio tokio && cd tokio && printf '\\n[workspace]\\n' >> Cargo.toml && rm -f .cargo-checksum.json",
            "cd tokio && cargo test -q --no-run --features full --test uds_stream --test uds_datagram --test tcp_stream"
            " --test tcp_accept --test udp --test process_smoke --test signal_usr1 --test net_bind_resource",
        ],
        "for one in tokio/target/debug/deps/*; do case $one in */uds_*|*/tcp_*|*/udp-*|*/process_*|*/signal_*) [ -x $one ] || continue;"
        " case $one in *.d) ;; *) $one || code=1;; esac;; esac; done; exit ${{code:-0}}",
        CARGO,
    ),
]


def prepare(project, folder):
    """Fetches and builds it, once."""
    done = folder / ".set-up"
    if done.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    for step in project.set_up:
        step = step.replace("{python}", sys.executable)
        ended = subprocess.run(["sh", "-c", step], cwd=folder, capture_output=True, text=True)
        if ended.returncode != 0:
            raise SystemExit(f"{project.name}: `{step}` ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    done.touch()


def count(project, output):
    """How many passed and how many did not, by the tool's own summary."""
    found = collections.Counter()
    for pattern in project.counts:
        for match in re.findall(pattern, output):
            for first, second in zip(match[::2], match[1::2]):
                number, word = (first, second) if first.isdigit() else (second, first)
                found[word] += int(number)
    bad = found["failed"] + found["error"] + found["failures"] + found["errors"] + found["failing"]
    if "test" in found:
        return found["test"] - bad - found["skipped"], bad
    return found["passed"] + found["passing"], bad


def run(project, folder, tier, programs):
    """Passed and failed; nothing passed where no summary was printed."""
    test = project.test.replace("{{", "{").replace("}}", "}")
    log = folder / f"{tier}.log"
    if log.exists():
        return count(project, log.read_text())
    command = [str(programs / "examples/inside"), tier, str(programs / "hob"), str(folder), "--", "sh", "-c", test]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=TIME_SECONDS)
    log.write_text(ended.stdout + ended.stderr)
    return count(project, ended.stdout + ended.stderr)


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    programs, folder = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    only = sys.argv[3:]
    lines, worse = [], []
    for project in PROJECTS:
        short = project.name.split()[0]
        if only and short not in only:
            continue
        place = folder / short
        prepare(project, place)
        results = {tier: run(project, place, tier, programs) for tier in TIERS}
        told = [f"{passed} / {bad}" for passed, bad in results.values()]
        lines.append(f"| {project.name} | {project.of} | {' | '.join(told)} |")
        print(lines[-1], flush=True)
        if results["box"][0] < results["none"][0] or results["none"][0] == 0:
            worse.append(project.name)
    if not only:
        text = TRUST.read_text()
        head = f"Passed / failed, on Linux {platform.release()} with {os.cpu_count()} processors, as {'root' if os.geteuid() == 0 else 'a user'}.\n\n"
        table = head + "| project | what its tests use | none | fence | box |\n|---|---|---|---|---|\n" + "\n".join(lines)
        before, rest = text.split(BEGIN)
        TRUST.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.split(END)[1]}")
    if worse:
        raise SystemExit(f"worse in a box than without a sandbox: {', '.join(worse)}")


if __name__ == "__main__":
    main()
