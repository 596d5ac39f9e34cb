#!/usr/bin/env python3
"""Draws what a command prints to a terminal as an SVG picture.

    python3 scripts/terminal_svg.py --output docs/rehearsal.svg -- target/debug/hob rehearse

The command runs in a pseudo-terminal of its own, so it prints its colours. Only colours, bold and dim are read; every
other control sequence is dropped. The picture has a light and a dark palette and follows the reader's setting. Exits
with the command's exit code. Needs Python's standard library alone.
"""

import argparse
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from html import escape

CHARACTER = 8.4  # Width of one character in pixels, at FONT_SIZE.
LINE = 19  # Height of one line in pixels.
FONT_SIZE = 14
MARGIN = 18
TITLE_BAR = 30

SEQUENCE = re.compile(r"\x1b\[([0-9;:?]*)([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]|[\x00-\x08\x0b-\x1f\x7f]")
COLOURS = {31: "red", 32: "green", 33: "yellow", 34: "blue", 35: "magenta", 36: "cyan"}

STYLE = """
text { font: %dpx ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; }
.back { fill: #16191f; } .bar { fill: #232830; } .plain, .title { fill: #dde2ea; }
.red { fill: #ff7b72; } .green { fill: #6fd08c; } .yellow { fill: #e3b341; }
.blue { fill: #79b8ff; } .magenta { fill: #d2a8ff; } .cyan { fill: #6ad4dd; }
.dim { fill: #98a2b0; } .bold { font-weight: 700; }
@media (prefers-color-scheme: light) {
  .back { fill: #fbfbfa; } .bar { fill: #e9e9e6; } .plain, .title { fill: #1f2328; }
  .red { fill: #b3261e; } .green { fill: #1a7f37; } .yellow { fill: #8a5a00; }
  .blue { fill: #0757b8; } .magenta { fill: #7a35c4; } .cyan { fill: #0b6b74; }
  .dim { fill: #5d6773; }
}
""" % FONT_SIZE


def run(command, columns):
    """Runs the command in a terminal of so many columns; what it printed, and its exit code."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns)}
    environment.pop("NO_COLOR", None)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    printed = bytearray()
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # Linux says EIO when the last writer is gone.
            break
        if not chunk:
            break
        printed += chunk
    return printed.decode("utf-8", "replace"), child.wait()


class Pen:
    """How the next characters look."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.colour, self.bold, self.dim = None, False, False

    def obey(self, parameters):
        numbers = [int(number) for number in re.split("[;:]", parameters) if number.isdigit()] or [0]
        for number in numbers:
            if number == 0:
                self.reset()
            elif number == 1:
                self.bold = True
            elif number == 2:
                self.dim = True
            elif number == 22:
                self.bold, self.dim = False, False
            elif number == 39:
                self.colour = None
            elif number % 60 in COLOURS and number < 98:
                self.colour = COLOURS[number % 60]

    def classes(self):
        colour = self.colour or ("dim" if self.dim else "plain")
        return f"{colour} bold" if self.bold else colour


def read(printed, columns):
    """The lines of the text, each a list of (classes, text); a line that is too long goes on below."""
    pen, lines, width = Pen(), [[]], 0
    at = 0
    # A line that was emptied, as a status is before the next line takes its place, is not in the picture.
    text = re.sub(r"[^\n]*\r\x1b\[K", "", printed.replace("\r\n", "\n")).expandtabs(8)
    for match in [*SEQUENCE.finditer(text), None]:
        piece = text[at : match.start() if match else len(text)]
        for number, part in enumerate(piece.split("\n")):
            if number:
                lines.append([])
                width = 0
            while part:
                if width == columns:
                    lines.append([])
                    width = 0
                fits = part[: columns - width]
                lines[-1].append((pen.classes(), fits))
                width += len(fits)
                part = part[len(fits) :]
        if match:
            at = match.end()
            if match.group(2) == "m":
                pen.obey(match.group(1))
    while lines and not lines[-1]:
        lines.pop()
    return lines


def before(until, lines):
    """The lines before the first that begins with `until`, without empty ones at either end."""
    texts = ["".join(text for _, text in line) for line in lines]
    end = next((row for row, text in enumerate(texts) if until and text.startswith(until)), len(lines))
    filled = [row for row in range(end) if texts[row].strip()]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def draw(lines, columns, title):
    """The picture."""
    width = round(columns * CHARACTER + 2 * MARGIN)
    height = TITLE_BAR + len(lines) * LINE + MARGIN + 8
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape(title)}</title><style>{STYLE}</style>",
        f'<rect class="back" width="{width}" height="{height}" rx="8"/>',
        f'<path class="bar" d="M0 {TITLE_BAR}V8a8 8 0 0 1 8-8H{width - 8}a8 8 0 0 1 8 8V{TITLE_BAR}z"/>',
        f'<text class="title" x="{width / 2}" y="20" text-anchor="middle">{escape(title)}</text>',
    ]
    for row, line in enumerate(lines):
        column, y = 0, TITLE_BAR + (row + 1) * LINE + 2
        for classes, text in line:
            if text.strip():
                x, length = MARGIN + column * CHARACTER, len(text) * CHARACTER
                # The length keeps columns aligned in any font of the reader's.
                out.append(
                    f'<text class="{classes}" x="{x:.1f}" y="{y}" textLength="{length:.1f}" '
                    f'lengthAdjust="spacingAndGlyphs" xml:space="preserve">{escape(text)}</text>'
                )
            column += len(text)
    return "\n".join([*out, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", required=True, help="the SVG file to write")
    parser.add_argument("--title", help="the words in the title bar; without it the command")
    parser.add_argument("--columns", type=int, default=110)
    parser.add_argument("--until", help="draw the lines before the first that begins with this text; without it all")
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    printed, code = run(given.command, given.columns)
    lines = before(given.until, read(printed, given.columns))
    title = given.title or " ".join(given.command)
    with open(given.output, "w", encoding="utf-8") as file:
        file.write(draw(lines, given.columns, title))
    return code


if __name__ == "__main__":
    sys.exit(main())
