#!/usr/bin/env python3
"""Measures how long the trees of an issue take in a large repository: the agent's folder, and that of the checks.

    cargo build --release && python3 lab/measure/trees.py target/release/hob

It makes a repository of `--files` files on the embedded forge, and lets one worker do `--issues` issues, one after the other,
with an agent that writes one file and a check that does nothing. Each pull request is merged before the next issue, and the
checkouts of finished issues go at once. Nothing outside a temporary folder is written, and only processes that were started
here are ended.
"""

import argparse
import datetime
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from embedded_forge import Forge, machine

SETTINGS = """
agent = "writer"
[agents.writer]
backend = "command"
command = ["sh", "-c", "cat > /dev/null; echo done > done-$HOB_ISSUE.txt"]
[limits]
issues_per_hour = 1000
[forge]
pace = "unlimited"
[poll]
interval = "200ms"
"""
# The files of a folder, and the bytes of one: random ones, which do not compress.
IN_FOLDER, BYTES = 50, 12_000


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hob", nargs="?", default="target/release/hob")
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--issues", type=int, default=5)
    parser.add_argument("--part", type=int, help="how many of the folders, of fifty files each, are checked out; by default all")
    parser.add_argument("--folder", help="where the temporary folder is made: on a disk, not in memory")
    return parser.parse_args()


def fill(forge, folder, files, part):
    """Pushes that many files to the repository; with a part, its settings name so many folders."""
    def git(*words):
        who = ["-c", "user.name=ann", "-c", "user.email=ann@example.com"]
        subprocess.run(["git", *who, *words], check=True, cwd=folder, stdout=subprocess.DEVNULL)

    folder.mkdir()
    git("clone", "-q", forge.server.replace("://", "://ann:ann@") + "/ann/site.git", ".")
    numbers = random.Random(1)
    for n in range(files):
        path = folder / f"src/{n // IN_FOLDER}/{n}.bin"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(numbers.randbytes(BYTES))
    if part:
        rules = folder / ".github/hob.toml"
        named = json.dumps([f"src/{n}" for n in range(part)])
        rules.write_text(f"folders = {named}\n{rules.read_text()}")
    git("add", "-A")
    git("commit", "-qm", "Add files")
    git("push", "-q", "origin", "HEAD:main")


def read_until(worker, wanted, seen):
    for line in worker.stdout:
        seen.append(json.loads(line))
        if wanted(seen[-1]):
            return seen[-1]
    raise SystemExit("the worker ended")


def megabytes(folder):
    blocks = (os.lstat(pathlib.Path(place) / name).st_blocks for place, _, names in os.walk(folder) for name in names)
    return sum(blocks) * 512 / 1e6


def issue(forge, site, worker, state):
    """Does one issue and merges its pull request: the seconds to the agent and from there to the proof, and megabytes."""
    number = forge.call("POST", f"{site}/issues", {"title": "Write a file", "body": "Please."})["number"]
    forge.call("POST", f"{site}/issues/{number}/labels", {"labels": ["code"]})
    seen = []
    pull = read_until(worker, lambda event: event.get("issue") == number and event["event"] == "published", seen)

    def time(is_it):
        said = next(event["time"] for event in seen if event.get("issue") == number and is_it(event))
        return datetime.datetime.fromisoformat(said)

    claimed = time(lambda event: event.get("text") == "fetching the repository")
    starts = time(lambda event: event["event"] == "agent_started")
    proven = time(lambda event: event["event"] == "checked" and event["on"] == "head")
    used = megabytes(state)
    forge.call("PUT", f"{site}/pulls/{pull['pull']}/merge", {})
    read_until(worker, lambda event: event.get("issue") == number and event.get("state") == "done", seen)
    for _ in range(2):
        read_until(worker, lambda event: event["event"] == "polled", seen)
    return (starts - claimed).total_seconds(), (proven - starts).total_seconds(), used


def main():
    options = arguments()
    hob = str(pathlib.Path(options.hob).resolve())
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = pathlib.Path(name)
        forge, worker = Forge(hob, folder), None
        try:
            site = forge.repository("site")
            fill(forge, folder / "source", options.files, options.part)
            (folder / "hob.toml").write_text(SETTINGS)
            environment = forge.environment(folder) | {
                "GITHUB_REPOSITORY": "ann/site",
                "HOB__TESTING__WORKSPACE__KEEP": "0s",
            }
            state = folder / "state"
            command = [hob, "--config", str(folder / "hob.toml"), "--state-dir", str(state), "--json", "run"]
            worker = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
            print(f"{machine()}; {options.files:,} files\n")
            print("| issue | claim to agent, s | agent to checks on the head, s | on the disk, MB |\n|---|---|---|---|")
            for n in range(options.issues):
                ready, proven, used = issue(forge, site, worker, state)
                print(f"| {n + 1} | {ready:.2f} | {proven:.2f} | {used:.0f} |", flush=True)
        finally:
            if worker:
                worker.terminate()
                worker.wait(60)
            forge.close()


if __name__ == "__main__":
    main()
