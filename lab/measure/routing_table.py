#!/usr/bin/env python3
"""Measures the router, on this machine, and prints what docs/design/routing.md says of it as Markdown tables.

    cargo build --release && python3 lab/measure/routing_table.py target/release/hob
"""

import os
import pathlib
import sys
import tempfile

from routing_fit import command, result, short
from routing_split import ROUTING, write

PROFILES = ROUTING / "profiles"
# The thresholds of the settings, by default.
CONFIDENCE, COMPLEXITY = 0.70, 3


def percent(part):
    """A part of one as people read it."""
    return f"{100 * part:.1f}%"


def confusion(table):
    """The confusion table: a row for each right answer, with what was chosen instead."""
    print("\n| right | issues | chosen rightly | chosen instead |\n|---|---|---|---|")
    for right, chosen in table.items():
        others = ", ".join(f"{choice} {count}" for choice, count in chosen.items() if choice != right)
        print(f"| {right} | {sum(chosen.values())} | {chosen.get(right, 0)} | {others or '–'} |")


def main():
    """Measures and prints."""
    hob = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "target/release/hob")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        parts = write(folder)
        bare = folder / "profiles"
        bare.mkdir()
        for file in PROFILES.glob("*.md"):
            (bare / file.name).write_text(short(file.read_text()))
        sets = {
            f"{name}, {'only measured' if which == 'test' else 'tuned on'}": files
            for (name, which), files in parts.items()
        }
        sets["lab-later without `hob:`, only measured"] = (parts["lab-later", "test"][0], bare)
        found = {name: result(command(hob, *files)) for name, files in sets.items()}
        switches = result(command(hob, ROUTING / "switches.jsonl", PROFILES))["switches"]
    print(
        "| issues | number | accuracy | calibration error | engaged | with the right one | others engaged | right of all engaged | p95 |"
        "\n|---|---|---|---|---|---|---|---|---|"
    )
    for name, figures in found.items():
        gate, cases = figures["gate"], figures["cases"]
        others = [case for case in cases if case["expected"] is None]
        loaded = sum(case["confidence"] > CONFIDENCE and case["complexity"] > COMPLEXITY for case in others)
        print(
            f"| {name} | {figures['issues']} | {percent(figures['accuracy'])} | {figures['calibration_error']:.3f} "
            f"| {percent(gate['engagement'])} | {percent(gate['right'] / (len(cases) - len(others)))} "
            f"| {loaded} of {len(others)} | {percent(gate['precision'])} | {figures['p95_ms']:.2f} ms |"
        )
    print(
        f"\nOf {switches['messages']} messages the right profile goes on after {switches['right']}; {switches['missed']} "
        f"did not switch and should have, {switches['wrong']} switched and should not have."
    )
    confusion(found["lab-later, only measured"]["confusion"])


if __name__ == "__main__":
    main()
