"""The command line: print the departure board of one stop."""

import argparse
from datetime import date

from nightline.timetable import load


def main():
    parser = argparse.ArgumentParser(prog="nightline", description=__doc__)
    parser.add_argument("file")
    parser.add_argument("stop")
    parser.add_argument("day", type=date.fromisoformat)
    parser.add_argument("--after", default="00:00", metavar="HH:MM")
    parser.add_argument("--limit", type=int)
    args = parser.parse_args()

    with open(args.file, newline="", encoding="utf-8") as file:
        table = load(file)
    for departure in table.departures(
        args.stop, args.day, after=args.after, limit=args.limit
    ):
        print(f"{departure.time}  {departure.line:<6}{departure.towards}")


if __name__ == "__main__":
    main()
