"""Read unified diffs."""

import re
from dataclasses import dataclass

_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class PatchError(ValueError):
    """The patch cannot be read or applied."""


@dataclass(frozen=True)
class Hunk:
    """Replaces the lines `old`, at the line `old_start`, with the lines `new`.

    The lines include their line ends.
    """

    old_start: int
    old: list
    new: list


@dataclass(frozen=True)
class FilePatch:
    old_path: str | None
    new_path: str | None
    hunks: list


def parse(text):
    """The patches in a diff, one for each file."""
    lines = text.removesuffix("\n").split("\n")
    patches = []
    index = 0
    while index < len(lines):
        if _is_file_header(lines, index):
            old_path, new_path = _path(lines[index]), _path(lines[index + 1])
            patches.append(FilePatch(old_path, new_path, []))
            index += 2
        elif lines[index].startswith("@@ "):
            if not patches:
                raise PatchError(f"line {index + 1}: a hunk, but of which file?")
            hunk, index = _read_hunk(lines, index)
            patches[-1].hunks.append(hunk)
        else:
            # Git and mail programs write all sorts of things between the files.
            index += 1
    return patches


def _is_file_header(lines, index):
    return lines[index].startswith("--- ") and (
        index + 1 < len(lines) and lines[index + 1].startswith("+++ ")
    )


def _path(line):
    # A tab separates the path from the time of the last change.
    path = line[4:].split("\t")[0].rstrip()
    if path == "/dev/null":
        return None
    return re.sub(r"^[ab]/", "", path)


def _read_hunk(lines, index):
    """The hunk whose header is `lines[index]`, and the index of what follows."""
    header = _HEADER.match(lines[index])
    if not header:
        raise PatchError(f"line {index + 1}: a damaged hunk header")
    old_count, new_count = (int(header[n] or 1) for n in (2, 4))
    old, new = [], []
    index += 1
    while len(old) < old_count or len(new) < new_count:
        if index == len(lines):
            raise PatchError("the patch ends within a hunk")
        # An empty line was a blank before somebody stripped it.
        kind, content = lines[index][:1] or " ", lines[index][1:] + "\n"
        if kind not in (" ", "-", "+"):
            raise PatchError(f"line {index + 1}: not a line of a hunk")
        index += 1
        if index < len(lines) and lines[index].startswith("\\ "):
            content = content.removesuffix("\n")
            index += 1
        if kind in (" ", "-"):
            old.append(content)
        if kind in (" ", "+"):
            new.append(content)
        if len(old) > old_count or len(new) > new_count:
            raise PatchError(f"line {index}: more lines than the hunk should have")
    return Hunk(int(header[1]), old, new), index
