#!/usr/bin/env bash
set -euo pipefail
cat > repair <<'PROGRAM'
#!/usr/bin/env python3
import json
import os
import shutil
import sys


class Torn(Exception):
    pass


class Broken(Exception):
    pass


def number(data, at, mark):
    end = data.find(b"\r\n", at)
    line = data[at:end] if end >= 0 else data[at:]
    if line[:1] not in (b"", mark):
        raise Broken
    digits = line[1:]
    if end < 0:
        # The rest of the file may be the beginning of such a line.
        if digits.rstrip(b"\r").strip(b"0123456789"):
            raise Broken
        raise Torn
    if not digits.isdigit():
        raise Broken
    return int(digits), end + 2


def command(data, at):
    count, at = number(data, at, b"*")
    words = []
    for _ in range(count):
        length, at = number(data, at, b"$")
        if at + length + 2 > len(data):
            tail = data[at + length:]
            if tail not in (b"", b"\r"):
                raise Broken
            raise Torn
        if data[at + length:at + length + 2] != b"\r\n":
            raise Broken
        words.append(data[at:at + length])
        at += length + 2
    return words, at


def read(data):
    at, begun, commands = 0, None, []
    good, kept = 0, 0
    while at < len(data):
        if data[at:at + 1] == b"#":
            end = data.find(b"\r\n", at)
            if end < 0:
                break
            at = end + 2
            if begun is None:
                good = at
            continue
        try:
            words, end = command(data, at)
        except Torn:
            break
        name = words[0].upper() if words else b""
        if name == b"MULTI":
            begun = at
        commands.append(words)
        at = end
        if name == b"EXEC":
            begun = None
        if begun is None:
            good, kept = at, len(commands)
    return good, commands[:kept]


def main():
    log, report = sys.argv[1:]
    with open(log, "rb") as file:
        data = file.read()
    try:
        good, commands = read(data)
    except Broken:
        sys.exit(1)
    keys = set()
    for words in commands:
        name = words[0].upper() if words else b""
        if name == b"SET":
            keys.add(words[1])
        elif name == b"DEL":
            keys.difference_update(words[1:])
    shutil.copyfile(log, log + ".broken")
    os.truncate(log, good)
    with open(report, "w") as file:
        json.dump({"size_before": len(data), "size_after": good, "commands": len(commands), "keys": len(keys)}, file)


main()
PROGRAM
chmod +x repair
./repair /app/store/appendonly.aof /app/report.json
