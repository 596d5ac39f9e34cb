"""Variables in files such as `.env`."""

import re


def parse(text):
    """The variables of a text: `NAME=value` a line, with or without `export`. Comments begin with `#`."""
    found = {}
    for line in text.splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("export "):
            line = line[len("export "):].lstrip()
        name, equals, value = line.partition("=")
        name = name.strip()
        if not equals or not name.replace("_", "a").isalnum():
            continue
        found[name] = unquoted(value)
    return found


def unquoted(value):
    """A value without its quotes and its comment, which white space separates from it."""
    bare = value.strip()
    if bare[:1] in ("'", '"'):
        end = bare.find(bare[0], 1)
        if end > 0:
            return bare[1:end]
    return re.split(r"\s#", value, maxsplit=1)[0].strip()
