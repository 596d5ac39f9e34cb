#!/usr/bin/env python3
"""Writes the recording of each task below lab/tasks and lab/terminal: its solution as the replies of a model.

    python3 scripts/eval_recordings.py            writes recording.json beside each task.toml
    python3 scripts/eval_recordings.py --check    fails where one is not what it would write
    hob eval run lab/tasks --recorded           plays them: the native agent solves each task with its own tools

The replies look at the files that the solution changes, edit them part by part, and say that the work is done; the second `done` answers the
last look that the agent asks for. Where the solution is a script alone, the shell runs it. A recording is a solution by hand in the agent's words, not what a model once said.
"""

import argparse
import difflib
import json
import pathlib
import sys

LAB = pathlib.Path(__file__).resolve().parent.parent / "lab"


def unique(old, lines, first, last):
    """The lines from `first` to `last` with as many around them as it takes for their text to stand there once."""
    text = "".join(old)
    before, after = 0, 0
    while True:
        begin, end = max(0, first - before), min(len(old), last + after)
        part = "".join(old[begin:end])
        if part and text.count(part) == 1:
            return part, "".join(old[begin:first]) + "".join(lines) + "".join(old[last:end])
        if begin == 0 and end == len(old):
            sys.exit("a whole file appears twice in itself")
        before, after = before + 1, after + 1


def edits(path, old, new):
    """The calls that turn one text into the other, from the end to the beginning, so that each part is still unique."""
    old, new = old.splitlines(keepends=True), new.splitlines(keepends=True)
    changes = [code for code in difflib.SequenceMatcher(None, old, new, False).get_opcodes() if code[0] != "equal"]
    # Changes that are close to each other are one: what an edit needs around it must not be another's.
    merged = []
    for _, a, b, c, d in changes:
        if merged and a - merged[-1][1] < 4:
            merged[-1] = (merged[-1][0], b, merged[-1][2], d)
        else:
            merged.append((a, b, c, d))
    calls = []
    for a, b, c, d in reversed(merged):
        part, instead = unique(old, new[c:d], a, b)
        calls.append({"name": "edit", "arguments": {"path": path, "old": part, "new": instead}})
        old = old[:a] + new[c:d] + old[b:]
    if old != new:
        sys.exit(f"the edits of {path} do not make its solution")
    return calls


def shell(task):
    """The calls that run the solution's script: a look, the script, and a look at what it left."""
    script = (task / "solution/solve.sh").read_text().split("\n", 1)[1]
    commands = ["ls -la /app", f"cd /app && bash <<'SOLVE'\n{script}SOLVE", "cd /app && git status --short 2>/dev/null; ls -la"]
    return [{"calls": [{"name": "shell", "arguments": {"command": command}}]} for command in commands]


def recording(task):
    before, after = task / "environment/files", task / "solution/files"
    if not after.is_dir():
        return tape(task, shell(task), "what the task asks for")
    changed = sorted(path.relative_to(after) for path in after.rglob("*") if path.is_file())
    looks = [{"name": "read", "arguments": {"path": str(path)}} for path in changed if (before / path).exists()]
    replies = [{"text": "I look at what is there first.", "calls": looks}] if looks else []
    for path in changed:
        new = (after / path).read_text()
        if (before / path).exists():
            calls = edits(str(path), (before / path).read_text(), new)
        else:
            calls = [{"name": "write", "arguments": {"path": str(path), "text": new}}]
        replies.append({"calls": calls})
    return tape(task, replies, ", ".join(map(str, changed)))


def tape(task, replies, changed):
    title = (task / "instruction.md").read_text().splitlines()[0].lstrip("# ")
    done = {"calls": [{"name": "done", "arguments": {"title": title, "summary": f"Changed {changed}."}}]}
    tape = {"cassette": 1, "note": "written by scripts/eval_recordings.py", "replies": replies + [done, done]}
    return json.dumps(tape, indent=1) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    stale = []
    for task in sorted(path.parent for folder in ("tasks", "terminal") for path in (LAB / folder).glob("*/task.toml")):
        text, place = recording(task), task / "recording.json"
        if check and (not place.is_file() or place.read_text() != text):
            stale.append(task.name)
        elif not check:
            place.write_text(text)
    if stale:
        sys.exit(f"stale: {', '.join(stale)}; run python3 scripts/eval_recordings.py")


if __name__ == "__main__":
    main()
