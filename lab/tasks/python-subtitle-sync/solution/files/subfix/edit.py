"""Operations on lists of cues. They return new lists."""

from bisect import bisect_right
from dataclasses import replace
from itertools import pairwise


def shift(cues, millis):
    """Move all cues by `millis`, to later if it is positive."""
    return _retime(cues, lambda time: time + millis)


def sync(cues, points):
    """Move the cues so that at each `(source, target)` of `points` the time
    `source` becomes `target`, and everything else keeps its place between them.
    """
    points = sorted(points)
    if not points:
        raise ValueError("no points to go by")
    for (source, target), (next_source, next_target) in pairwise(points):
        if source == next_source:
            raise ValueError("two points at the same time")
        if target >= next_target:
            raise ValueError("the points would make time run backwards")
    if len(points) == 1:
        [(source, target)] = points
        return shift(cues, target - source)

    # Only inner points part one line from the next: the outer two go on.
    inner = [source for source, _ in points[1:-1]]

    def new_time(time):
        index = bisect_right(inner, time)
        (source, target), (next_source, next_target) = points[index : index + 2]
        run = next_source - source
        rise = (time - source) * (next_target - target)
        # Half of the divisor makes the floor division round, halves up.
        return target + (2 * rise + run) // (2 * run)

    return _retime(cues, new_time)


def _retime(cues, new_time):
    """Map the start and the end of each cue, and drop what is over by zero."""
    result = []
    for cue in cues:
        start, end = new_time(cue.start), new_time(cue.end)
        if end <= 0:
            continue
        number = len(result) + 1
        result.append(replace(cue, number=number, start=max(start, 0), end=end))
    return result
