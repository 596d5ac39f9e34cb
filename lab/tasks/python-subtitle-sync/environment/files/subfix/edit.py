"""Operations on lists of cues. They return new lists."""

from dataclasses import replace


def shift(cues, millis):
    """Move all cues by `millis`, to later if it is positive."""
    return _retime(cues, lambda time: time + millis)


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
