#!/usr/bin/env python3
"""Runs the prisoner of `examples/prisoner` in every tier, as root and as another user, and writes the table in docs/design/attacks.md.

    cargo build --bin hob --example prisoner && python3 lab/measure/prisoner.py target/debug
    python3 lab/measure/prisoner.py --check target/debug     # writes nothing; fails where something got through

Needs Linux, bubblewrap and setpriv; without the rights of root only the own user is tried. The metadata address of clouds
and the machine's name server are asked, as an agent could.
"""

import datetime
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

TRUST = pathlib.Path(__file__).resolve().parents[2] / "docs/design/attacks.md"
BEGIN, END = "<!-- prisoner:begin -->", "<!-- prisoner:end -->"
STRANGER = "12345"
# A column's name, the tier, and the filter that the guard runs below.
SETTINGS = [
    ("none", "none", None),
    ("fence", "fence", None),
    ("fence, no namespaces", "fence", "no-namespaces"),
    ("box", "box", None),
]
WORDS = {"held": "held", "got through": "through", "not applicable here": "–"}


def guard(folder, user, tier, below):
    """What the guard says, as this user."""
    prisoner = str(folder / "prisoner")
    command = []
    if user != str(os.geteuid()):
        command += ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--"]
    if below:
        command += [prisoner, "below", below, "--"]
    command += [prisoner, "guard", tier, str(folder / "hob")]
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
    done = subprocess.run(command, env=environment, cwd="/", stdout=subprocess.PIPE, text=True, timeout=300)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}")
    return json.loads(done.stdout)


def cells(results):
    """One word where all users had the same, else one a user."""
    words = [WORDS[result] for result in results]
    return words[0] if len(set(words)) == 1 else " / ".join(words)


def table(programs):
    """The lines of the table, and what is said above it."""
    users = [str(os.geteuid())] + ([STRANGER] if os.geteuid() == 0 else [])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        shutil.copy(programs / "examples/prisoner", folder / "prisoner")
        shutil.copy(programs / "hob", folder / "hob")
        for user in users:
            said = guard(folder, user, "fence", "no-landlock")
            if not said["refused"]:
                raise SystemExit("a fence without Landlock started something")
        found = {}
        for setting, tier, below in SETTINGS:
            for user in users:
                for attempt in guard(folder, user, tier, below)["attempts"]:
                    row = found.setdefault((attempt["group"], attempt["name"]), {})
                    row.setdefault(setting, []).append(attempt["result"])
    rows = [(name, [cells(row[setting]) for setting, _, _ in SETTINGS]) for (_, name), row in found.items()]
    who = "as root and, behind the stroke where it differs, as another user" if len(users) == 2 else f"as user {users[0]}"
    today = datetime.date.today().isoformat()
    above = f"{len(rows)} attempts on {today}, Linux {platform.release()}, {who}; `–`: the machine has nothing to try it on."
    return above, rows


def written(above, rows):
    """The text between the marks."""
    names = ["attempt"] + [setting for setting, _, _ in SETTINGS]
    lines = [f"| {' | '.join(names)} |", "|" + "---|" * len(names)]
    lines += [f"| {' | '.join([name, *words])} |" for name, words in rows]
    return "\n".join([BEGIN, above, "", *lines, END])


def promised(text):
    """The table's cells, by attempt."""
    inner = text.split(BEGIN)[1].split(END)[0]
    rows = [line[2:-2].split(" | ") for line in inner.splitlines() if line.startswith("| ")]
    return {name: words for name, *words in rows}


def broken(rows, text):
    """What got through although the table says that it is held, and what the table lacks."""
    known = promised(text)
    for name, words in rows:
        if name not in known:
            yield f"{name}: not in the table"
            continue
        for (setting, _, _), word, said in zip(SETTINGS[1:], words[1:], known[name][1:]):
            if "through" in word and word != said:
                yield f"{name}: {setting}: the table says `{said}`, found `{word}`"


def main():
    arguments = sys.argv[1:]
    check = "--check" in arguments
    folders = [argument for argument in arguments if argument != "--check"]
    above, rows = table(pathlib.Path(folders[0] if folders else "target/debug").resolve())
    text = TRUST.read_text()
    if check:
        problems = list(broken(rows, text))
        print(above)
        for problem in problems:
            print(problem)
        raise SystemExit(1 if problems else 0)
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    TRUST.write_text(before + written(above, rows) + after)
    print(above)


main()
