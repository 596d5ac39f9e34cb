#!/usr/bin/env python3
"""Measures how often Hob's rules for secrets would have stopped the work of real projects: a table for docs/design/sandbox.md.

    python3 scripts/secret_alarms.py NAME=FOLDER…

Each FOLDER is a clone with its history. A finding in a commit counts as an alarm, whether it was false or not: what a project has
published for years is hardly ever a secret.

Needs git and cargo.
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOG = ["log", "--patch", "--unified=0", "--no-color", "--no-renames", "--text", "--format=commit %H"]


def main():
    run = ["cargo", "build", "--quiet", "--locked", "--package", "hob-text", "--example", "secret_alarms"]
    subprocess.run(run, cwd=ROOT, check=True)
    program = ROOT / "target/debug/examples/secret_alarms"
    print("| project | commits | with a finding | a thousand | found |\n|---|---|---|---|---|")
    commits = alarms = 0
    for argument in sys.argv[1:]:
        name, folder = argument.split("=", 1)
        log = subprocess.Popen(["git", "-C", folder, *LOG], stdout=subprocess.PIPE)
        said = subprocess.run([program], stdin=log.stdout, check=True, capture_output=True, text=True).stdout
        if log.wait() != 0:
            raise SystemExit(f"{name}: git log failed")
        these, found, kinds = said.rstrip("\n").split("\t")
        commits, alarms = commits + int(these), alarms + int(found)
        print(f"| {name} | {these} | {found} | {1000 * int(found) / int(these):.2f} | {kinds} |", flush=True)
    print(f"| all | {commits} | {alarms} | {1000 * alarms / commits:.2f} | |")


main()
