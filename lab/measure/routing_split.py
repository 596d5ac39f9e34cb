#!/usr/bin/env python3
"""Splits the labelled issues of the router into tuning parts and test parts, and writes them.

    python3 lab/measure/routing_split.py [FOLDER]      # FOLDER/tuning.jsonl, FOLDER/test.jsonl, …; target/routing by default

Issues that were written for the corpus go by the hash of their title, real ones by the hash of their repository, so that no
repository is in both parts: an issue stays where it is when the corpus grows. Constants and lists are tuned on the tuning parts; the
test parts are only measured.

A real issue has a topic, or null if no specialist fits. `lab/routing/sets.json` says for each set of profiles which of them a topic
belongs to; a topic that has none there, and is not `unclear`, belongs to the base agent.
"""

import hashlib
import json
import pathlib
import sys

ROUTING = pathlib.Path(__file__).resolve().parents[2] / "lab/routing"
# Real issues, by when they were gathered. The test part of the earlier ones was looked at once, that of the later ones never.
REAL = {"earlier": ["real/issues.jsonl", "real/plain.jsonl", "real/fresh.jsonl"], "later": ["real/topics.jsonl"]}
# Each set of written issues with its profiles.
WRITTEN = {
    "written": ("corpus.jsonl", "profiles"),
    "written-plain": ("plain/issues.jsonl", "plain/profiles"),
    "written-fresh": ("fresh/issues.jsonl", "fresh/profiles"),
}
# The share of the issues that is only measured.
SHARE = {"written": 0.4, "real": 0.5}
# The topic of issues about which two maintainers would disagree.
UNKNOWN = "?"


def part(issue):
    """The part that an issue belongs to."""
    is_real = "source" in issue
    key = issue["source"].partition("#")[0].lower() if is_real else issue["title"]
    number = int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big")
    return "test" if number < SHARE["real" if is_real else "written"] * 2**32 else "tuning"


def lines(file):
    """The issues of a file."""
    return [json.loads(line) for line in (ROUTING / file).read_text().splitlines()]


def labelled(issues, names):
    """The issues with the profile that is right in a set of profiles."""
    unclear = {UNKNOWN, *names["unclear"]}
    for issue in issues:
        if issue["topic"] not in unclear:
            yield {**issue, "profile": names["topics"].get(issue["topic"])}


def write(folder):
    """Writes the parts into the folder, and returns by set and part the file and the folder of profiles."""
    folder.mkdir(parents=True, exist_ok=True)
    sets = {name: (lines(issues), profiles) for name, (issues, profiles) in WRITTEN.items()}
    for name, names in json.loads((ROUTING / "sets.json").read_text()).items():
        for when, files in REAL.items():
            issues = [issue for file in files for issue in lines(file)]
            sets[f"{name}-{when}"] = list(labelled(issues, names)), names["profiles"]
    found = {}
    for name, (issues, profiles) in sets.items():
        for which in ["tuning", "test"]:
            file = folder / f"{name}-{which}.jsonl"
            file.write_text("".join(f"{json.dumps(issue)}\n" for issue in issues if part(issue) == which))
            found[name, which] = (file, ROUTING / profiles)
    return found


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "target/routing")
    for file, _ in write(folder).values():
        print(f"{file}: {len(file.read_text().splitlines())} issues")
