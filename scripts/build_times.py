#!/usr/bin/env python3
"""Measures incremental builds: seconds of `cargo build` after one file of each area is touched.

    python3 scripts/build_times.py [FILE…]     no files: one of the worker, the agent, the emulator and the domain

Prints the median of three builds a file, and how many crates a release build compiles. Nothing else should build at
that time.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES = [
    "crates/hob-worker/src/publish.rs",
    "crates/hob-agent/src/native/turns.rs",
    "crates/github-emulator/src/api/merge.rs",
    "crates/hob-domain/src/slug.rs",
]
ROUNDS = 3


def build():
    """Seconds of one build."""
    begun = time.monotonic()
    subprocess.run(["cargo", "build", "--quiet"], cwd=ROOT, check=True)
    return time.monotonic() - begun


def rebuild(file):
    os.utime(ROOT / file)
    return build()


def crates():
    """The crates that a release build links."""
    tree = ["cargo", "tree", "--edges", "normal", "--prefix", "none"]
    lines = subprocess.run(tree, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    return len({line.removesuffix(" (*)") for line in lines if line})


def main():
    build()
    for file in sys.argv[1:] or FILES:
        print(f"{file}: {statistics.median(rebuild(file) for _ in range(ROUNDS)):.1f} s", flush=True)
    print(f"crates in a release build: {crates()}")


main()
