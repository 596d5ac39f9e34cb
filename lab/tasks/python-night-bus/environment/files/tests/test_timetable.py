import unittest
from datetime import date

from nightline.timetable import load

LINES = """\
trip,line,days,stop,time
12-1,12,12345,Harbour,08:00
12-1,12,12345,Market,08:15
12-1,12,12345,Airport,08:40
12-2,12,67,Harbour,09:30
12-2,12,67,Airport,10:10
""".splitlines()


class TimetableTest(unittest.TestCase):
    def setUp(self):
        self.table = load(LINES)

    def test_travel_time(self):
        self.assertEqual(self.table.travel_time("12-1", "Harbour", "Airport"), 40)

    def test_board_of_a_weekday(self):
        board = self.table.departures("Harbour", date(2024, 3, 1))
        self.assertEqual([(d.time, d.trip) for d in board], [("08:00", "12-1")])

    def test_last_stop_is_no_departure(self):
        self.assertEqual(self.table.departures("Airport", date(2024, 3, 1)), [])


if __name__ == "__main__":
    unittest.main()
