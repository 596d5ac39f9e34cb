"""Times of the day, as whole minutes."""

import re

DAY = 24 * 60

_TIME = re.compile(r"(\d{1,2}):([0-5]\d)")


def parse(text):
    """The minutes from midnight to the time `text`, written HH:MM."""
    match = _TIME.fullmatch(text.strip())
    if not match:
        raise ValueError(f"not a time: {text!r}")
    hours, minutes = map(int, match.groups())
    return (hours * 60 + minutes) % DAY


def show(minutes):
    """The time that is `minutes` after midnight, written HH:MM."""
    return f"{minutes // 60:02d}:{minutes % 60:02d}"
