"""Apply hunks to a text."""

from hunkwise.parse import PatchError


def apply(text, hunks):
    """The text after all the hunks have been applied to it."""
    lines = text.splitlines(keepends=True)
    result = []
    done = 0
    for number, hunk in enumerate(hunks, 1):
        start = hunk.old_start - 1
        end = start + len(hunk.old)
        if start < done or lines[start:end] != hunk.old:
            raise PatchError(f"hunk {number} does not apply")
        result += lines[done:start]
        result += hunk.new
        done = end
    return "".join(result + lines[done:])
