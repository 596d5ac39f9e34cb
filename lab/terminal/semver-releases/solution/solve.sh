#!/usr/bin/env bash
set -euo pipefail
python3 - <<'PROGRAM'
import re

NUMBER = r"(?:0|[1-9][0-9]*)"
PRE = rf"(?:{NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
VERSION = re.compile(rf"v?({NUMBER})\.({NUMBER})\.({NUMBER})(?:-({PRE}(?:\.{PRE})*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?", re.ASCII)


def key(found):
    core = tuple(int(part) for part in found.group(1, 2, 3))
    if found[4] is None:
        return core, 1, ()
    parts = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in found[4].split(".")]
    return core, 0, tuple(parts)


tags = [line.strip() for line in open("tags.txt", encoding="utf-8") if line.strip()]
found = [(tag, VERSION.fullmatch(tag)) for tag in tags]
versions = sorted(((tag, key(match)) for tag, match in found if match), key=lambda pair: pair[1])
stable = {}
for tag, (core, is_release, _) in versions:
    if is_release:
        stable[core[0]] = tag


def write(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


write("sorted.txt", [tag for tag, _ in versions])
write("stable.txt", [f"{major} {stable[major]}" for major in sorted(stable)])
write("rejected.txt", [tag for tag, match in found if not match])
PROGRAM
