"""Reading and writing SubRip files."""

import re
from dataclasses import dataclass

_TIME = re.compile(r"(\d{2,}):([0-5]\d):([0-5]\d),(\d{3})")


@dataclass(frozen=True)
class Cue:
    """A subtitle. `start` and `end` are in milliseconds."""

    number: int
    start: int
    end: int
    text: str


def parse_time(text):
    """The milliseconds of a time written HH:MM:SS,mmm."""
    match = _TIME.fullmatch(text.strip())
    if not match:
        raise ValueError(f"not a time: {text!r}")
    hours, minutes, seconds, millis = map(int, match.groups())
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + millis


def format_time(millis):
    """The opposite of `parse_time`."""
    seconds, millis = divmod(millis, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{seconds:02d},{millis:03d}"


def parse(text):
    """The cues of a SubRip file."""
    cues = []
    for block in re.split(r"\n(?:[ \t]*\n)+", text.strip()):
        if not block:
            continue
        lines = block.split("\n")
        if len(lines) < 2 or "-->" not in lines[1]:
            raise ValueError(f"not a subtitle: {lines[0]!r}")
        start, end = map(parse_time, lines[1].split("-->"))
        cues.append(Cue(int(lines[0]), start, end, "\n".join(lines[2:])))
    return cues


def dump(cues):
    """The text of a SubRip file with these cues."""
    return "\n".join(
        f"{cue.number}\n{format_time(cue.start)} --> {format_time(cue.end)}\n"
        f"{cue.text}\n"
        for cue in cues
    )
