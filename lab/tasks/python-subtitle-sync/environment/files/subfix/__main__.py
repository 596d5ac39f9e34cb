"""The command line."""

import argparse
import sys
from decimal import Decimal, InvalidOperation

from subfix import edit, srt


def seconds(text):
    try:
        return int(Decimal(text) * 1000)
    except (InvalidOperation, ValueError, OverflowError):
        raise argparse.ArgumentTypeError(f"not a number of seconds: {text!r}")


def run_shift(args, cues):
    return edit.shift(cues, args.seconds)


def build_parser():
    parser = argparse.ArgumentParser(
        prog="subfix", description="Repairs the times in subtitles."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("shift", help="move all subtitles")
    command.add_argument("seconds", type=seconds)
    command.add_argument("file")
    command.set_defaults(run=run_shift)

    return parser


def main():
    args = build_parser().parse_args()
    try:
        with open(args.file, encoding="utf-8-sig") as file:
            cues = srt.parse(file.read())
        result = args.run(args, cues)
    except (OSError, ValueError) as error:
        print(f"subfix: {error}", file=sys.stderr)
        return 2
    sys.stdout.write(srt.dump(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
