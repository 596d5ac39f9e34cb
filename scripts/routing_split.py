#!/usr/bin/env python3
"""Splits the routing corpus into a tuning part and a test part, and writes both.

    python3 scripts/routing_split.py [FOLDER]      # FOLDER/tuning.jsonl and FOLDER/test.jsonl; target/routing by default

The part of an issue follows from the hash of its title alone: it stays where it is when the corpus grows. Constants and
lists are tuned on the tuning part; the test part is only measured.
"""

import hashlib
import json
import pathlib
import sys

CORPUS = pathlib.Path(__file__).parent.parent / "config/routing/corpus.jsonl"
TEST_PART = 0.4


def part(title):
    """The part that an issue belongs to."""
    number = int.from_bytes(hashlib.sha256(title.encode()).digest()[:4])
    return "test" if number < TEST_PART * 2**32 else "tuning"


def split(corpus=CORPUS):
    """The lines of both parts."""
    parts = {"tuning": [], "test": []}
    for line in corpus.read_text().splitlines():
        parts[part(json.loads(line)["title"])].append(line)
    return parts


def write(folder):
    """Writes both parts into the folder, and returns their files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for name, lines in split().items():
        files[name] = folder / f"{name}.jsonl"
        files[name].write_text("".join(f"{line}\n" for line in lines))
    return files


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "target/routing")
    for name, file in write(folder).items():
        print(f"{file}: {len(file.read_text().splitlines())} issues")
