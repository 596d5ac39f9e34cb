#!/usr/bin/env python3
"""Measures incremental builds, after one file of each area was touched.

    python3 lab/measure/build_times.py [PACKAGE=FILE…]     none: one of the domain, the agent, the worker and the emulator

For each it prints the median seconds of three rounds of two commands: `cargo build --package hob`, which links the program,
and `cargo test --package PACKAGE --lib --no-run`, after which the area's own tests can run. The last line counts the crates
that a release build of the program links. Nothing else should build at that time.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = [
    "hob-domain=crates/hob-domain/src/change/slug.rs",
    "hob-agent=crates/hob-agent/src/native/turns.rs",
    "hob-worker=crates/hob-worker/src/attempt/publish.rs",
    "github-emulator=crates/github-emulator/src/api/merge.rs",
]
ROUNDS = 3


def seconds(command):
    begun = time.monotonic()
    subprocess.run(["cargo", *command, "--quiet"], cwd=ROOT, check=True)
    return time.monotonic() - begun


def rebuilt(file, command):
    """Median seconds of `command` after `file` was touched."""
    seconds(command)
    times = []
    for _round in range(ROUNDS):
        os.utime(ROOT / file)
        times.append(seconds(command))
    return statistics.median(times)


def crates():
    """The crates that a release build of the program links."""
    tree = ["cargo", "tree", "--package", "hob", "--edges", "normal", "--prefix", "none"]
    lines = subprocess.run(tree, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return len({line.removesuffix(" (*)") for line in lines if line})


def main():
    for area in sys.argv[1:] or FILES:
        package, file = area.split("=", 1)
        program = rebuilt(file, ["build", "--package", "hob"])
        tests = rebuilt(file, ["test", "--package", package, "--lib", "--no-run"])
        print(f"{file}: the program {program:.1f} s, its own tests {tests:.1f} s", flush=True)
    print(f"crates in a release build: {crates()}")


main()
