import subprocess
import sys
import tempfile
import unittest
from datetime import date

sys.path.append("/app")

from nightline import clock
from nightline.timetable import load

HEADER = "trip,line,days,stop,time\n"

NIGHT = HEADER + """\
N1-a,N1,5,Harbour,23:50
N1-a,N1,5,Market,24:10
N1-a,N1,5,Airport,24:30
N1-b,N1,5,Harbour,24:50
N1-b,N1,5,Airport,25:30
12-1,12,12345,Harbour,08:00
12-1,12,12345,Market,08:15
12-1,12,12345,Airport,08:40
12-2,12,67,Harbour,09:30
12-2,12,67,Airport,10:10
E-1,E,6,Harbour,00:40
E-1,E,6,Market,00:50
E-1,E,6,Airport,01:05
"""

THURSDAY = date(2024, 2, 29)
FRIDAY = date(2024, 3, 1)
SATURDAY = date(2024, 3, 2)
SUNDAY = date(2024, 3, 3)


def table_of(text):
    return load(text.splitlines())


def short(board):
    return [(d.time, d.trip) for d in board]


class NightBusTest(unittest.TestCase):
    def setUp(self):
        self.table = table_of(NIGHT)

    def board(self, *args, **kwargs):
        return short(self.table.departures(*args, **kwargs))

    def test_travel_time_past_midnight(self):
        self.assertEqual(self.table.travel_time("N1-a", "Harbour", "Airport"), 40)
        self.assertEqual(self.table.travel_time("N1-a", "Market", "Airport"), 20)
        self.assertEqual(self.table.travel_time("N1-b", "Harbour", "Airport"), 40)

    def test_travel_time_in_the_day(self):
        self.assertEqual(self.table.travel_time("12-1", "Harbour", "Airport"), 40)

    def test_order_of_calls(self):
        stops = [call.stop for call in self.table.trips["N1-a"].calls]
        self.assertEqual(stops, ["Harbour", "Market", "Airport"])

    def test_order_of_calls_with_shuffled_rows(self):
        table = table_of(HEADER + "x,X,1,C,24:20\nx,X,1,A,23:40\nx,X,1,B,24:00\n")
        self.assertEqual([c.stop for c in table.trips["x"].calls], ["A", "B", "C"])
        self.assertEqual(table.travel_time("x", "A", "C"), 40)

    def test_board_of_the_day_it_sets_out(self):
        self.assertEqual(
            self.board("Harbour", FRIDAY), [("08:00", "12-1"), ("23:50", "N1-a")]
        )
        self.assertEqual(self.board("Market", FRIDAY), [("08:15", "12-1")])

    def test_board_of_the_next_day(self):
        self.assertEqual(
            self.board("Market", SATURDAY), [("00:10", "N1-a"), ("00:50", "E-1")]
        )

    def test_board_mixes_both_timetables_in_order(self):
        self.assertEqual(
            self.board("Harbour", SATURDAY),
            [("00:40", "E-1"), ("00:50", "N1-b"), ("09:30", "12-2")],
        )

    def test_not_on_other_days(self):
        self.assertEqual(self.board("Harbour", THURSDAY), [("08:00", "12-1")])
        self.assertEqual(self.board("Harbour", SUNDAY), [("09:30", "12-2")])

    def test_after_and_limit(self):
        self.assertEqual(
            self.board("Harbour", SATURDAY, after="00:45"),
            [("00:50", "N1-b"), ("09:30", "12-2")],
        )
        self.assertEqual(
            self.board("Harbour", SATURDAY, after="00:50", limit=1),
            [("00:50", "N1-b")],
        )
        self.assertEqual(
            self.board("Harbour", SATURDAY, limit=2),
            [("00:40", "E-1"), ("00:50", "N1-b")],
        )
        self.assertEqual(self.board("Harbour", FRIDAY, after="23:51"), [])

    def test_last_stop_is_no_departure(self):
        for day in (FRIDAY, SATURDAY):
            self.assertEqual(self.board("Airport", day), [])

    def test_whole_departure(self):
        self.assertEqual(
            tuple(self.table.departures("Market", SATURDAY)[0]),
            ("00:10", "N1", "Airport", "N1-a"),
        )

    def test_sunday_night_is_seen_on_monday(self):
        table = table_of(HEADER + "s,S,7,A,24:05\ns,S,7,B,24:15\n")
        self.assertEqual(short(table.departures("A", date(2024, 3, 4))), [("00:05", "s")])
        self.assertEqual(table.departures("A", SUNDAY), [])

    def test_across_the_end_of_a_year(self):
        # 31 December 2024 is a Tuesday.
        table = table_of(HEADER + "y,Y,2,A,24:00\ny,Y,2,B,24:15\n")
        self.assertEqual(short(table.departures("A", date(2025, 1, 1))), [("00:00", "y")])
        self.assertEqual(table.departures("A", date(2024, 12, 31)), [])

    def test_past_two_midnights(self):
        table = table_of(HEADER + "f,F,5,A,22:00\nf,F,5,B,49:15\nf,F,5,C,50:00\n")
        self.assertEqual(table.travel_time("f", "A", "B"), 27 * 60 + 15)
        self.assertEqual(short(table.departures("B", SUNDAY)), [("01:15", "f")])
        self.assertEqual(table.departures("B", SATURDAY), [])
        self.assertEqual(table.departures("B", FRIDAY), [])

    def test_daily_trip_on_consecutive_days(self):
        table = table_of(
            HEADER + "d,D,1234567,A,23:30\nd,D,1234567,B,24:30\nd,D,1234567,C,24:40\n"
        )
        for day in (THURSDAY, FRIDAY, SATURDAY, SUNDAY):
            self.assertEqual(short(table.departures("A", day)), [("23:30", "d")])
            self.assertEqual(short(table.departures("B", day)), [("00:30", "d")])

    def test_trip_that_calls_twice_at_a_stop(self):
        # A loop of more than a day: both calls can fall on one calendar day.
        table = table_of(HEADER + "r,R,12,A,06:00\nr,R,12,A,30:30\nr,R,12,B,31:00\n")
        tuesday = date(2024, 2, 27)
        self.assertEqual(
            short(table.departures("A", tuesday)), [("06:00", "r"), ("06:30", "r")]
        )

    def test_same_minute_is_sorted_by_trip(self):
        table = table_of(
            HEADER
            + "b,L,6,A,00:20\nb,L,6,Z,00:30\na,L,5,A,24:20\na,L,5,Z,24:30\n"
            + "c,L,5,A,24:20\nc,L,5,Z,24:30\n"
        )
        self.assertEqual(
            short(table.departures("A", SATURDAY)),
            [("00:20", "a"), ("00:20", "b"), ("00:20", "c")],
        )

    def test_no_times_are_refused(self):
        for text in ("12:60", "noon", "", "24", "-1:00", "1:2:3"):
            with self.assertRaises(ValueError):
                clock.parse(text)

    def test_command_line(self):
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write(NIGHT)
            file.flush()
            done = subprocess.run(
                [sys.executable, "-B", "-m", "nightline", file.name, "Market", "2024-03-02"],
                cwd="/app", capture_output=True, text=True, check=True,
            )
        self.assertEqual(
            done.stdout, "00:10  N1    Airport\n00:50  E     Airport\n"
        )


if __name__ == "__main__":
    unittest.main()
