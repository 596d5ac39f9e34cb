#!/usr/bin/env python3
"""Fits the constants of `crates/hob-domain/src/routing/confidence.rs` on the tuning parts of the labelled issues.

    cargo build --release && python3 lab/measure/routing_fit.py target/release/hob

A repository has other profiles than these, and seldom all of them. So the issues are routed many times: in most rounds among
all profiles, else among some of them, drawn at random with a fixed seed; in half of the rounds with profiles as short as other
programs write them (name, description and a body, without `hob:`); and in a third of the rounds with no more of a written issue than its
title and first line. An issue whose profile was not drawn has none. Weights are at least 0, so that more in common never means less
sure. It prints the constants to paste, and how well they fit.
"""

import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from routing_split import write

ROUNDS = 16
NAMES = ["BIAS", "BY_STRENGTH", "BY_SHARE", "BY_RIVAL", "BY_LEAD"]


def command(hob, issues, profiles):
    """The command that routes the issues among the profiles."""
    return [hob, "--json", "eval", "routing", str(issues), "--profiles", str(profiles)]


def result(command):
    """What it says."""
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["result"]


def short(text):
    """A profile without what only Hob reads."""
    return re.sub(r"^hob:\n(?: .*\n)*", "", text, flags=re.M)


def rounds(hob, sets, folder):
    """The cases of all rounds: the likeness of the likeliest profile, and whether it is right."""
    draw = random.Random(13)
    for (name, which), (file, folder_of_profiles) in sets.items():
        if which != "tuning":
            continue
        issues = [json.loads(line) for line in file.read_text().splitlines()]
        files = sorted(folder_of_profiles.glob("*.md"))
        for number in range(ROUNDS):
            # In most rounds all of them, as in a repository whose profiles cover its work.
            drawn = files if number % 4 < 3 else draw.sample(files, draw.randint(len(files) // 2, len(files) - 1))
            drawn_names = {profile_name(file) for file in drawn}
            profiles = folder / f"profiles-{name}-{number}"
            profiles.mkdir()
            for file in drawn:
                text = file.read_text()
                (profiles / file.name).write_text(short(text) if number % 2 else text)
            changed = folder / f"issues-{name}-{number}.jsonl"
            with changed.open("w") as out:
                for issue in issues:
                    profile = issue["profile"] if issue["profile"] in drawn_names else None
                    # What was written for the corpus says more than people do.
                    is_cut = number % 3 == 2 and "source" not in issue
                    body = issue["body"].partition("\n")[0][:100] if is_cut else issue["body"]
                    out.write(json.dumps(issue | {"profile": profile, "body": body}) + "\n")
            yield from result(command(hob, changed, profiles))["cases"]


def profile_name(file):
    """The name of the profile in a file."""
    return file.name.removesuffix(".md").removesuffix(".agent")


def logistic(total):
    """From any number to one between 0 and 1."""
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def factors(weights, case):
    """The two factors of the confidence: that some profile fits, and that it is this one."""
    bias, strength, share, rival, lead = weights
    likeness = case["likeness"]
    fits = logistic(bias + strength * likeness["strength"] + share * likeness["share"] + rival * likeness["rival"])
    return fits, logistic(lead * likeness["lead"])


def chance(weights, case):
    """The confidence that the weights give."""
    fits, leads = factors(weights, case)
    return fits * leads


def fit(cases, steps=3000, rate=0.4):
    """The weights of the greatest likelihood, by gradient descent; all but the first are at least 0."""
    weights = [0.0, 1.0, 1.0, 0.5, 1.0]
    for _ in range(steps):
        slope = [0.0] * len(weights)
        for case in cases:
            fits, leads = factors(weights, case)
            said = min(max(fits * leads, 1e-6), 1 - 1e-6)
            right = float(case["profile"] == case["expected"])
            steep = (right / said - (1 - right) / (1 - said)) * said
            likeness = case["likeness"]
            for at, feature in enumerate([1.0, likeness["strength"], likeness["share"], likeness["rival"]]):
                slope[at] += steep * (1 - fits) * feature
            slope[4] += steep * (1 - leads) * likeness["lead"]
        weights = [weight + rate * step / len(cases) for weight, step in zip(weights, slope)]
        weights[1:] = [max(0.0, weight) for weight in weights[1:]]
    return weights


def main():
    """Fits and prints."""
    hob = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "target/release/hob")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        cases = list(rounds(hob, write(folder / "parts"), folder))
    # Some of the cases: descent over them all would take minutes.
    weights = fit(random.Random(13).sample(cases, min(len(cases), 2000)))
    for name, weight in zip(NAMES, weights):
        print(f"const {name}: f32 = {weight:.2f};")
    confidences = [chance(weights, case) for case in cases]
    right = 0
    for case in cases:
        fits, leads = factors(weights, case)
        choice = case["profile"] if fits * leads >= 1 - fits else None
        right += choice == case["expected"]
    print(f"\n{len(cases)} cases, accuracy {right / len(cases):.3f}")
    for step in range(10):
        inside = [
            (confidence, case["profile"] == case["expected"])
            for confidence, case in zip(confidences, cases)
            if step <= confidence * 10 < step + 1
        ]
        if inside:
            said = sum(confidence for confidence, _ in inside) / len(inside)
            true = sum(right for _, right in inside) / len(inside)
            print(f"said {said:.2f}, true {true:.2f}, {len(inside)} cases")


if __name__ == "__main__":
    main()
