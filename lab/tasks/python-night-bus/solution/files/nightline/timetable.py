"""The timetable: trips, the stops they call at, and departure boards."""

import csv
from collections import namedtuple
from dataclasses import dataclass, field
from datetime import timedelta

from nightline import clock

Call = namedtuple("Call", "stop minutes")
Departure = namedtuple("Departure", "time line towards trip")


@dataclass
class Trip:
    id: str
    line: str
    days: frozenset
    calls: list = field(default_factory=list)

    def runs_on(self, day):
        return day.isoweekday() in self.days

    def minutes_at(self, stop):
        for call in self.calls:
            if call.stop == stop:
                return call.minutes
        raise KeyError(f"trip {self.id} does not call at {stop}")


class Timetable:
    def __init__(self, trips):
        self.trips = {trip.id: trip for trip in trips}

    def travel_time(self, trip_id, start, end):
        """How many minutes trip `trip_id` takes from `start` to `end`."""
        trip = self.trips[trip_id]
        return trip.minutes_at(end) - trip.minutes_at(start)

    def departures(self, stop, day, after="00:00", limit=None):
        """What leaves `stop` on the date `day`, at the time `after` or later.

        At most `limit` departures are returned, the first ones.
        """
        earliest = clock.parse(after)
        found = []
        for trip in self.trips.values():
            # Nobody can board where the trip ends.
            for call in trip.calls[:-1]:
                # The trip may have set out on an earlier day than `day`.
                days, minutes = divmod(call.minutes, clock.DAY)
                if (
                    call.stop == stop
                    and minutes >= earliest
                    and trip.runs_on(day - timedelta(days=days))
                ):
                    found.append((minutes, trip.id))
        found.sort()
        return [self._departure(*item) for item in found[:limit]]

    def _departure(self, minutes, trip_id):
        trip = self.trips[trip_id]
        return Departure(
            clock.show(minutes), trip.line, trip.calls[-1].stop, trip.id
        )


def load(lines):
    """Read a timetable from the lines of a CSV file."""
    trips = {}
    for row in csv.DictReader(lines):
        trip = trips.get(row["trip"])
        if trip is None:
            days = frozenset(int(digit) for digit in row["days"])
            trip = trips[row["trip"]] = Trip(row["trip"], row["line"], days)
        trip.calls.append(Call(row["stop"], clock.parse(row["time"])))
    for trip in trips.values():
        trip.calls.sort(key=lambda call: call.minutes)
    return Timetable(trips.values())
