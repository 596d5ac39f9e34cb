#!/usr/bin/env python3
"""Learns the router's weights from the tuning parts of the labelled issues: how the topics that an issue names speak for each field
of work, and what common words do (`field_weights.txt` and `field_words.txt` of `crates/hob-domain/src/routing`, written), and the
constants of `confidence.rs` (printed).

    pip install scikit-learn && python3 lab/measure/routing_fit.py      # after routing_words.py

1. Fields: a multinomial logistic regression of an issue's topic on how much it says on each topic of `topics.txt`, and on what its
   common words mean (`routing_words.py`).
2. Constants: a conditional logistic regression of the right profile, or none, on the chance of its field (from a regression that did
   not see the issue's repository) and on what the issue and the profile have in common. A repository has other profiles than these,
   and seldom all of them: so also with some of the profiles, drawn at random with a fixed seed, and as short as other programs write
   them (name, description and a body, without `hob:`). An issue whose profile was not drawn has none.

It prints how well that fits, each issue judged by weights that were learned without its repository. The test parts are not read.
"""

import json
import os
import pathlib
import random
import re
import subprocess
import tempfile

import numpy
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from routing_split import ROUTING, UNKNOWN, short, write
from routing_words import FILE as MEANINGS

ROOT = ROUTING.parents[1]
ROUTER = ROOT / "crates/hob-domain/src/routing"
# For each topic of the labelled issues, the topics of `topics.txt` by which a profile has it; none, if it is no specialist's.
FIELDS = {
    "a11y": "accessibility",
    "api": "backend",
    "auth": "auth",
    "build": "build",
    "ci": "ci",
    "cli": "cli",
    "data": "data",
    "database": "database",
    "docs": "docs",
    "embedded": "embedded",
    "frontend": "frontend design",
    "games": "games",
    "i18n": "i18n",
    "infra": "containers cloud",
    "messaging": "messaging",
    "ml": "ml",
    "mobile": "mobile",
    "network": "networking tls",
    "none": "",
    "observability": "observability",
    "payments": "payments",
    "performance": "performance memory",
    "privacy": "privacy",
    "search": "search",
    "security": "security",
    "testing": "testing",
}
# The topics of issues that were written for a set of profiles.
WRITTEN = {
    "billing": "payments",
    "event-bus": "messaging",
    "firmware": "embedded",
    "game-dev": "games",
    "ml-researcher": "ml",
    "privacy-counsel": "privacy",
    "search-relevance": "search",
    "shell-tools": "cli",
    "translator": "i18n",
}
# How strongly large weights are avoided, and the parts for judging (by repository).
INVERSE_PENALTY, PARTS = 1.0, 5
# Draws of profiles of each set, and how much an issue counts in one.
DRAWS, OF_DRAW = 4, 0.34
# As in `fields.rs` and `confidence.rs`.
PART_DAMPING, CLAIMED, NEAREST, UNCLAIMED_KIND, DAMPING, CHANCE_MIN, COUNT = 2.0, 0.4, 6, 0.3, 0.7, 0.01, 10
KINDS = {"docs", "i18n", "performance", "security", "testing"}
# The weight of meanings beside topics, and as in `fields.rs`: damping, and how characters stand for numbers.
OF_WORDS, WORD_DAMPING, ZERO, RAREST, RARITY_UNIT, WORD_UNIT, WORD_MAX = 3.0, 0.5, ord("O"), ord("!"), 90, 10, 45
NAMES = ["BY_FIELD", "BY_STRENGTH", "BY_NAMED", "OF_NONE", "NONE_BY_KNOWN", "NONE_BY_RIVAL"]


def profile_name(file):
    """The name of the profile in a file."""
    return file.name.removesuffix(".md").removesuffix(".agent")


def jobs(folder):
    """Pairs of a file of issues and a folder of profiles: all profiles of each set, and draws."""
    draw = random.Random(5)
    for (name, which), (file, profiles) in write(folder / "parts").items():
        if which != "tuning":
            continue
        files = sorted(profiles.glob("*.md"))
        for number in range(DRAWS + 1):
            drawn = files if number < 2 else draw.sample(files, draw.randint(len(files) // 2, len(files) - 1))
            names = {profile_name(file) for file in drawn}
            of_draw = folder / f"{name}-{number}"
            of_draw.mkdir()
            for one in drawn:
                text = one.read_text()
                (of_draw / one.name).write_text(short(text) if number % 2 else text)
            issues = [json.loads(line) for line in file.read_text().splitlines()]
            for issue in issues:
                issue["profile"] = issue["profile"] if issue["profile"] in names else None
            changed = folder / f"{name}-{number}.jsonl"
            changed.write_text("".join(json.dumps(issue) + "\n" for issue in issues))
            yield changed, of_draw, number > 0


def features(folder):
    """For each job: its name, whether it is a draw, the profiles, and the issues with what the router sees of them."""
    found = list(jobs(folder))
    listed = folder / "jobs"
    listed.write_text("".join(json.dumps([str(file), str(profiles)]) + "\n" for file, profiles, _ in found))
    test = "cargo test --locked -q -p hob-domain --lib routing::features -- --ignored".split()
    subprocess.run(test, check=True, cwd=ROOT, env=os.environ | {"HOB_ROUTING_JOBS": str(listed)}, stdout=subprocess.DEVNULL)
    for file, _, is_draw in found:
        profiles, *seen = [json.loads(line) for line in file.with_suffix(".features").read_text().splitlines()]
        issues = [json.loads(line) for line in file.read_text().splitlines()]
        yield file.stem, is_draw, profiles, list(zip(issues, seen))


def topic_of(issue):
    """The field of an issue; several if it may be any of them."""
    if "source" in issue:
        return (issue["topic"] or "none").split("+")
    profile = issue["profile"]
    return [WRITTEN.get(profile, profile) or "none"]


def vector(amounts, topics):
    """What the regression sees: for each topic the logarithm of its amount, its part, and whether it is the most."""
    amounts = numpy.array([amounts.get(topic, 0.0) for topic in topics])
    is_most = (amounts > 0) & (amounts == amounts.max())
    return numpy.concatenate([numpy.log1p(amounts), amounts / (amounts.sum() + PART_DAMPING), is_most])


class Words:
    """Common words and their meanings."""

    def __init__(self):
        with numpy.load(MEANINGS) as found:
            self.words, self.meanings, self.rarity = found["words"].tolist(), found["meanings"], found["rarity"]
        self.place = {word: at for at, word in enumerate(self.words)}

    def vector(self, words):
        """The meaning of an issue, from its words with how much each says."""
        known = [(self.place[word], says) for word, says in words if word in self.place]
        places, says = [at for at, _ in known], numpy.array([says for _, says in known])
        squares = numpy.square(says * self.rarity[places]).sum()
        return OF_WORDS * (says @ self.meanings[places]) / numpy.sqrt(squares + WORD_DAMPING)

    def table(self, weights):
        """The words with their weights for each field, as `fields.rs` reads them."""
        of_words = OF_WORDS * self.meanings @ weights.T
        of_words -= of_words.mean(axis=1, keepdims=True)
        numbers = numpy.clip(numpy.rint(of_words * WORD_UNIT), -WORD_MAX, WORD_MAX).astype(int)
        return "".join(
            f"{word} {chr(RAREST + round(RARITY_UNIT * rarity))}{''.join(chr(ZERO + number) for number in of_word)}\n"
            for word, rarity, of_word in zip(self.words, self.rarity, numbers)
        )


def learn(vectors, labels):
    """The regression; an issue of several fields counts for each of them in part."""
    rows = [(vector, field, 1 / len(fields)) for vector, fields in zip(vectors, labels) for field in fields]
    seen, fields, counts = zip(*rows)
    return LogisticRegression(C=INVERSE_PENALTY, max_iter=500).fit(numpy.array(seen), fields, sample_weight=counts)


def chances(model, vectors, names):
    """How likely each issue is about each field."""
    found = numpy.zeros((len(vectors), len(names)))
    found[:, [names.index(name) for name in model.classes_]] = model.predict_proba(numpy.array(vectors))
    return found


def claims(profiles, names):
    """For each field, which part of it is which profile's."""
    shares = numpy.array([
        [max([profile["topics"].get(topic, 0.0) for topic in FIELDS[name].split()] or [0.0]) for profile in profiles]
        for name in names
    ])
    most = shares.max(axis=1, keepdims=True)
    near = numpy.where(most >= CLAIMED, (shares / numpy.maximum(most, 1e-9)) ** NEAREST, 0.0)
    return most**2 * near / numpy.maximum(near.sum(axis=1, keepdims=True), 1e-9), (shares >= CLAIMED).any(axis=0)


class Case:
    """The issues of a job as numbers."""

    def __init__(self, name, is_draw, profiles, rows, chance_of, fields):
        self.name, self.weight = name, OF_DRAW if is_draw else 1.0
        scores = numpy.array([seen["scores"] for _, seen in rows])
        self.named = numpy.array([seen["named"] for _, seen in rows])
        known, self.rival = (numpy.array([seen[key] for _, seen in rows]) for key in ["known", "rival"])
        parts, has_field = claims(profiles, fields)
        is_undone = (parts.sum(axis=1) == 0) & numpy.isin(fields, list(KINDS))
        chances_of = numpy.array([chance_of[key(issue)] for issue, _ in rows]) * numpy.where(is_undone, UNCLAIMED_KIND, 1)
        of_profile = chances_of / chances_of.sum(axis=1, keepdims=True) @ parts
        own = numpy.where(has_field, 0.0, numpy.clip(scores / (known[:, None] + DAMPING), 0, 1))
        taken = own.sum(axis=1, keepdims=True)
        self.field = numpy.where(has_field, of_profile * numpy.maximum(1 - taken, 0), own / numpy.maximum(taken, 1))
        self.field = numpy.maximum(self.field, numpy.clip(self.named / (known[:, None] + DAMPING), 0, 1))
        self.scores, self.known = scores, known
        names = [profile["name"] for profile in profiles]
        of_issue = [issue["profile"] for issue, _ in rows]
        self.right = numpy.array([len(names) if profile is None else names.index(profile) for profile in of_issue])

    def confidences(self, constants):
        """How sure it is of each profile, and last of none."""
        field, strength, named, none, known, rival = constants
        chance = lambda of: field * numpy.log(of + CHANCE_MIN)
        of_profiles = (
            chance(self.field) + strength * numpy.log(self.scores + DAMPING) + named * numpy.log1p(self.named)
        )
        left = numpy.maximum(1 - self.field.sum(axis=1), 0)
        of_none = none + chance(left) + known * numpy.log(self.known + DAMPING) + rival * numpy.log(self.rival + DAMPING)
        all_of = numpy.column_stack([of_profiles, of_none])
        sure = numpy.exp(all_of - all_of.max(axis=1, keepdims=True))
        return sure / sure.sum(axis=1, keepdims=True)

    def loss(self, constants):
        """How unlikely the truth is."""
        said = self.confidences(constants)[numpy.arange(len(self.right)), self.right]
        return -self.weight * numpy.log(numpy.maximum(said, 1e-6)).sum()

    def figures(self, constants):
        """Issues, accuracy, calibration error."""
        sure = self.confidences(constants)
        best = sure[:, :-1].argmax(axis=1)
        confidence, right = sure[:, :-1].max(axis=1), best == self.right
        bins = numpy.minimum((confidence * COUNT).astype(int), COUNT - 1)
        apart = sum(abs((confidence - right)[bins == one].sum()) for one in range(COUNT)) / len(right)
        return len(right), (sure.argmax(axis=1) == self.right).mean(), apart


def key(issue):
    """What tells an issue from others."""
    return issue.get("source", "").lower(), issue["title"], issue["body"]


def table(model, topics):
    """The weights as `fields.rs` reads them."""
    lines = [
        "# How topics speak for each field of work, learned by lab/measure/routing_fit.py: `field: topics by which a profile has",
        "# it | bias | topic weight-by-amount weight-by-part weight-of-being-the-most, …`, in hundredths.",
    ]
    for name, bias, weights in zip(model.classes_, model.intercept_, model.coef_):
        of_topics = weights[: 3 * len(topics)].reshape(3, -1).T
        of_topic = [
            f"{topic} " + " ".join(f"{100 * weight:.0f}" for weight in weights)
            for topic, weights in zip(topics, of_topics)
            if numpy.abs(weights).max() >= 0.05
        ]
        lines.append(f"{name}: {FIELDS[name]} | {100 * bias:.0f} | {', '.join(of_topic)}")
    return "\n".join(lines) + "\n"


def main():
    """Learns, writes and prints."""
    lines = (ROUTER / "topics.txt").read_text().splitlines()
    topics = [line.partition(": ")[0].lstrip("!~") for line in lines if line and not line.startswith("#")]
    with tempfile.TemporaryDirectory() as folder:
        found = [
            (name, is_draw, profiles, [row for row in rows if "present" not in row[0]])
            for name, is_draw, profiles, rows in features(pathlib.Path(folder))
        ]
    words = Words()
    rows = {}
    for _, is_draw, _, issues in found:
        for issue, seen in issues:
            if not is_draw and issue.get("topic") != UNKNOWN and key(issue) not in rows:
                seen_of = numpy.concatenate([vector(seen["amounts"], topics), words.vector(seen["words"])])
                rows[key(issue)] = seen_of, topic_of(issue), key(issue)[0].partition("#")[0] or issue["title"]
    vectors, labels, groups = (list(part) for part in zip(*rows.values()))
    fields = sorted(FIELDS)
    chance_of = {}
    for seen, unseen in GroupKFold(PARTS).split(vectors, groups=groups):
        model = learn([vectors[at] for at in seen], [labels[at] for at in seen])
        of_unseen = chances(model, [vectors[at] for at in unseen], fields)
        chance_of |= {list(rows)[at]: chance for at, chance in zip(unseen, of_unseen)}
    cases = [Case(*job, chance_of, fields) for job in found]
    total = lambda constants: sum(case.loss(constants) for case in cases) / 1000 + 0.001 * numpy.square(constants).sum()
    start = [1.0, 1.0, 0.3, 0.0, 0.5, 0.3]
    constants = minimize(total, start, method="Nelder-Mead", options={"maxiter": 800, "fatol": 1e-5}).x
    model = learn(vectors, labels)
    (ROUTER / "field_weights.txt").write_text(table(model, topics))
    (ROUTER / "field_words.txt").write_text(words.table(model.coef_[:, 3 * len(topics) :]))
    for name, constant in zip(NAMES, constants):
        print(f"const {name}: f32 = {constant:.2f};")
    print("\n| issues | number | accuracy | calibration error |\n|---|---|---|---|")
    for case in cases:
        number, accuracy, apart = case.figures(constants)
        print(f"| {case.name} | {number} | {100 * accuracy:.1f}% | {apart:.3f} |")


if __name__ == "__main__":
    main()
