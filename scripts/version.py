#!/usr/bin/env python3
"""The version of Hob, in all files that state it. `scripts/cut_release.sh` uses it.

    python3 scripts/version.py show            prints it
    python3 scripts/version.py set VERSION     writes a later one, and moves what is unreleased in CHANGELOG.md below it
    python3 scripts/version.py notes VERSION   prints the section of CHANGELOG.md, as the text of the release

The date of a section is that of SOURCE_DATE_EPOCH, else today, in UTC. Needs Python 3.11 and nothing else.
"""

import argparse
import datetime
import os
import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
# <https://semver.org>, without build metadata: an archive's name, a tag and a package's version have no common form for it.
NUMBER = r"(?:0|[1-9][0-9]*)"
PART = rf"(?:{NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
SEMVER = re.compile(rf"({NUMBER})\.({NUMBER})\.({NUMBER})(?:-({PART}(?:\.{PART})*))?")
# Beside Cargo.toml and Cargo.lock: the file, and the text around the version in it.
PLACES = [
    (".github/actions/hob/version", "", "\n"),
    ("examples/workflow.yml", "/work.yml@v", " # zizmor"),
    ("examples/schedule.yml", "/work.yml@v", " # zizmor"),
    ("docs/actions.md", "/.github/actions/hob@v", "\n"),
    ("docs/settings.md", "/releases/download/v", "/hob-settings.schema.json"),
]


def refuse(sentence):
    sys.exit(f"version.py: {sentence}")


def rank(version):
    """What versions are sorted by. A prerelease comes before its release."""
    found = SEMVER.fullmatch(version)
    if not found:
        refuse(f"{version} is not a version such as 1.2.3 or 1.2.3-rc.1")
    parts = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in (found[4] or "").split(".") if part]
    return tuple(int(found[n]) for n in (1, 2, 3)), not parts, parts


def current():
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def rewritten(path, text, old, new):
    """`text` with the one place of `old` changed."""
    if text.count(old) != 1:
        refuse(f"{path} has {old!r} {text.count(old)} times and should have it once")
    return text.replace(old, new)


def write(new):
    old = current()
    if rank(new) <= rank(old):
        refuse(f"{new} is not later than {old}")
    changed = {}

    text = (ROOT / "Cargo.toml").read_text()
    head, mark, rest = text.partition("[workspace.package]\n")
    changed["Cargo.toml"] = head + mark + rest.replace(f'version = "{old}"', f'version = "{new}"', 1)

    # Our own packages are those without a source.
    blocks = (ROOT / "Cargo.lock").read_text().split("\n\n")
    ours = f'version = "{old}"'
    for at, block in enumerate(blocks):
        if block.startswith("[[package]]") and "\nsource = " not in block and ours in block.splitlines():
            blocks[at] = block.replace(ours, f'version = "{new}"', 1)
    changed["Cargo.lock"] = "\n\n".join(blocks)

    for path, before, after in PLACES:
        if (ROOT / path).exists():
            place = f"{before}{old}{after}", f"{before}{new}{after}"
            changed[path] = rewritten(path, (ROOT / path).read_text(), *place)

    text = (ROOT / "CHANGELOG.md").read_text()
    if not section(text, "Unreleased").strip():
        refuse("CHANGELOG.md has nothing below `## [Unreleased]`")
    now = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.UTC) \
        if "SOURCE_DATE_EPOCH" in os.environ else datetime.datetime.now(datetime.UTC)
    title = f"## [Unreleased]\n\n## [{new}] - {now:%Y-%m-%d}\n"
    changed["CHANGELOG.md"] = rewritten("CHANGELOG.md", text, "## [Unreleased]\n", title)

    # Nothing is written before all of it is known to be right.
    for path, text in changed.items():
        (ROOT / path).write_text(text)
        print(path)


def section(text, name):
    """What stands below a version's title in CHANGELOG.md."""
    found = re.search(rf"^## \[{re.escape(name)}\][^\n]*\n(.*?)(?=^## \[|\Z)", text, re.MULTILINE | re.DOTALL)
    if not found:
        refuse(f"CHANGELOG.md has no section {name}")
    return found[1]


def main():
    parser = argparse.ArgumentParser(description="The version of Hob, in all files that state it.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("show", help="print the version")
    commands.add_parser("set", help="write a later version").add_argument("version")
    commands.add_parser("notes", help="print the changes of a version").add_argument("version")
    given = parser.parse_args()
    if given.command == "show":
        print(current())
    elif given.command == "set":
        write(given.version)
    else:
        print(section((ROOT / "CHANGELOG.md").read_text(), given.version).strip())


if __name__ == "__main__":
    main()
