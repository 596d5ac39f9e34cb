"""Apply hunks to a text."""

import re

from hunkwise.parse import PatchError


def apply(text, hunks):
    """The text after all the hunks have been applied to it."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    result = []
    done = 0
    moved = 0
    for number, hunk in enumerate(hunks, 1):
        # Without old lines, the header names the line before the hunk.
        stated = hunk.old_start - 1 if hunk.old else hunk.old_start
        start = _find(lines, hunk.old, stated + moved, done)
        if start is None:
            raise PatchError(f"hunk {number} does not apply")
        result += lines[done:start]
        result += hunk.new
        done = start + len(hunk.old)
        moved = start - stated
    result += lines[done:]
    if not all(line.endswith("\n") for line in result[:-1]):
        raise PatchError("the patch adds text after a line without a line end")
    return "".join(result)


def _find(lines, old, expected, first):
    """Where `old` is in `lines`, at `first` or later, as near as can be to
    `expected`; None if it is nowhere."""
    if not old:
        return expected if first <= expected <= len(lines) else None
    places = [
        start
        for start in range(first, len(lines) - len(old) + 1)
        if lines[start : start + len(old)] == old
    ]
    # Of two that are equally near, the later one.
    return min(places, key=lambda start: (abs(start - expected), -start), default=None)
