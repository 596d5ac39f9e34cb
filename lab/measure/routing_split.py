#!/usr/bin/env python3
"""Splits the labelled issues of the router into tuning parts and test parts, and writes them.

    python3 lab/measure/routing_split.py [FOLDER]      # FOLDER/tuning.jsonl, FOLDER/test.jsonl, …; target/routing by default

Issues that were written for the corpus go by the hash of their title, real ones by the hash of their repository, so that no
repository is in both parts: an issue stays where it is when the corpus grows. Constants and lists are tuned on the tuning parts; the
test parts are only measured.
"""

import hashlib
import json
import pathlib
import sys

ROUTING = pathlib.Path(__file__).resolve().parents[2] / "lab/routing"
# Each set with its issues, its profiles, and the share of the issues that is only measured.
SETS = {
    "written": ("corpus.jsonl", "profiles", 0.4),
    "real": ("real/issues.jsonl", "profiles", 0.5),
    "real-plain": ("real/plain.jsonl", "plain/profiles", 0.5),
    "real-fresh": ("real/fresh.jsonl", "fresh/profiles", 0.5),
}


def part(issue, share):
    """The part that an issue belongs to."""
    key = issue["source"].partition("#")[0].lower() if "source" in issue else issue["title"]
    number = int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big")
    return "test" if number < share * 2**32 else "tuning"


def write(folder):
    """Writes the parts into the folder, and returns by set and part the file and the folder of profiles."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for name, (issues, profiles, share) in SETS.items():
        parts = {"tuning": [], "test": []}
        for line in (ROUTING / issues).read_text().splitlines():
            parts[part(json.loads(line), share)].append(line)
        for which, lines in parts.items():
            file = folder / f"{name}-{which}.jsonl"
            file.write_text("".join(f"{line}\n" for line in lines))
            found[name, which] = (file, ROUTING / profiles)
    return found


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "target/routing")
    for file, _ in write(folder).values():
        print(f"{file}: {len(file.read_text().splitlines())} issues")
