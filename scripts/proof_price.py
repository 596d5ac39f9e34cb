#!/usr/bin/env python3
"""Measures what the two runs between base and head cost: seconds, and their share of an attempt.

    cargo build --release && python3 scripts/proof_price.py target/release/hob
    python3 scripts/proof_price.py target/release/hob --clone PATH COMMIT "make test"

Each sample is worked on twice by `hob run --once` on the embedded forge, on loopback: with the runs, and with `proof_time = "0s"`. The agent
copies the finished change, which takes no time, so the share is the highest that it can be: an agent that thinks makes it smaller. The
samples are tasks of `lab/tasks` with their hidden tests as a part of the change; with `--clone`, a commit of that clone on the one before.
Nothing outside a temporary folder is written. The median of `--times` is printed as the table of `docs/proof.md`.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from embedded_forge import Forge, machine

TASKS = pathlib.Path(__file__).resolve().parent.parent / "lab/tasks"
# The task, where its hidden tests go, and the check.
SAMPLES = [
    ("python-night-bus", "test_night_bus.py", "tests/test_night_bus.py", "python3 -B -m unittest discover -s tests -v"),
    ("javascript-ics-fold", "fold.test.mjs", "test/fold.test.mjs", "node --test"),
    ("perl-chord-transpose", "hidden.t", "t/hidden.t", "prove -v -l t"),
    ("rust-money-allocate", "hidden.rs", "tests/hidden.rs", "cargo test --offline"),
    ("shell-pack-ignore", "hidden_test.sh", "tests/hidden_test.sh", "for one in tests/*_test.sh; do bash $one || exit 1; done"),
]
SETTINGS = """
agent = "copier"
[agents.copier]
backend = "command"
command = ["sh", "-c", "cat > /dev/null; cp -R {head}/. ."]
[forge]
pace = "unlimited"
[sandbox]
read = ["{head}"]
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hob", nargs="?", default="target/release/hob")
    wanted = ("PATH", "COMMIT", "CHECK")
    parser.add_argument("--clone", action="append", default=[], nargs=3, metavar=wanted, help="measure this instead of the tasks")
    parser.add_argument("--times", type=int, default=3)
    return parser.parse_args()


def git(folder, *words):
    who = ["-c", "user.name=ann", "-c", "user.email=ann@example.org"]
    return subprocess.run(["git", "-C", folder, *who, *words], check=True, capture_output=True, text=True).stdout.strip()


def of_task(folder, task, hidden, place):
    """The base and the head of a task, as folders."""
    base, head = folder / "base", folder / "head"
    for side in (base, head):
        shutil.copytree(TASKS / task / "environment/files", side)
    shutil.copytree(TASKS / task / "solution/files", head, dirs_exist_ok=True)
    tests = (TASKS / task / "tests" / hidden).read_text().replace("/app/", "../").replace("/app", ".")
    (head / place).write_text(tests)
    return base, head


def of_clone(folder, clone, commit):
    base, head = folder / "base", folder / "head"
    for side, commit in ((base, f"{commit}~1"), (head, commit)):
        subprocess.run(["git", "clone", "--quiet", clone, side], check=True)
        git(side, "checkout", "--quiet", commit)
        shutil.rmtree(side / ".git")
    return base, head


def toolchain():
    """Where Rust's toolchain is: the worker has another home."""
    home = pathlib.Path.home()
    places = {"RUSTUP_HOME": home / ".rustup", "CARGO_HOME": home / ".cargo"}
    return {name: os.environ.get(name, str(place)) for name, place in places.items()}


def attempt(hob, folder, sides, check, proof_time):
    """Seconds of one attempt, and what its pull request says that was shown."""
    forge = Forge(hob, folder)
    try:
        forge.call("POST", "/user/repos", {"name": "site"})
        source = folder / "source"
        shutil.copytree(sides[0], source, symlinks=True)
        (source / ".github").mkdir(exist_ok=True)
        (source / ".github/hob.toml").write_text(f"checks = [{json.dumps(check)}]\n")
        git(source, "init", "--quiet", "--initial-branch", "main")
        git(source, "add", "--all", "--force")
        git(source, "commit", "--quiet", "--message", "Begin")
        server = forge.server.replace("http://", "http://x-access-token:ann@")
        git(source, "push", "--quiet", f"{server}/ann/site.git", "main")
        forge.call("POST", "/repos/ann/site/labels", {"name": "code", "color": "5319e7"})
        issue = {"title": "Make the change", "labels": ["code"]}
        number = forge.call("POST", "/repos/ann/site/issues", issue)["number"]
        (folder / "hob.toml").write_text(SETTINGS.format(head=sides[1]))
        options = ["--config", folder / "hob.toml", "--state-dir", folder / "state", "--repo", "ann/site", "--set", f"proof_time={proof_time}"]
        began = time.monotonic()
        run = subprocess.run([hob, *options, "run", "--once"], env=forge.environment(folder) | toolchain(), capture_output=True, text=True)
        seconds = time.monotonic() - began
        if run.returncode:
            sys.exit(f"hob run ended with {run.returncode}: {run.stdout}{run.stderr}")
        pulls = forge.call("GET", "/repos/ann/site/pulls")
        if not pulls:
            sys.exit(f"there is no pull request for issue {number}: {run.stdout}{run.stderr}")
        evidence = pulls[0]["body"].partition("## Evidence")[2]
        return seconds, evidence.partition("**")[2].partition("**")[0]
    finally:
        forge.close()


def measured(asked, name, sides, check):
    with_runs, without, shown = [], [], set()
    for _ in range(asked.times):
        for proof_time, times in (("20m", with_runs), ("0s", without)):
            with tempfile.TemporaryDirectory() as folder:
                seconds, word = attempt(asked.hob, pathlib.Path(folder), sides, check, proof_time)
                times.append(seconds)
                if times is with_runs:
                    shown.add(word)
    more = statistics.median(with_runs) - statistics.median(without)
    whole = statistics.median(with_runs)
    word = " or ".join(sorted(shown))
    command = check.replace("|", "\\|")
    print(f"| {name} | `{command}` | {word} | {whole:.1f} s | {more:.1f} s | {100 * more / whole:.0f}% |", flush=True)


def main():
    asked = arguments()
    asked.hob = str(pathlib.Path(asked.hob).resolve())
    print(machine())
    print("\n| sample | check | shown | attempt | two more runs | share |\n|---|---|---|---|---|---|")
    for task, hidden, place, check in [] if asked.clone else SAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            measured(asked, f"`{task}`", of_task(pathlib.Path(folder), task, hidden, place), check)
    for clone, commit, check in asked.clone:
        with tempfile.TemporaryDirectory() as folder:
            measured(asked, f"{pathlib.Path(clone).name}@{commit}", of_clone(pathlib.Path(folder), clone, commit), check)


if __name__ == "__main__":
    main()
