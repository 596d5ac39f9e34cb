import random
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction
from math import floor

sys.path.append("/app")

from subfix import edit, srt
from subfix.srt import Cue

FILM = """\
1
00:00:10,000 --> 00:00:12,000
Hello?

2
00:00:20,000 --> 00:00:25,000
Anybody
at home?

3
00:00:40,000 --> 00:00:41,000
No.
"""


def cue(start, end, number=1, text="x"):
    return Cue(number, start, end, text)


class SyncTest(unittest.TestCase):
    def sync(self, cues, points):
        self.assertTrue(hasattr(edit, "sync"), "subfix.edit.sync is missing")
        return edit.sync(cues, points)

    def times(self, cues, points):
        return [(c.start, c.end) for c in self.sync(cues, points)]

    def at(self, time, points):
        """Where the single time goes; it has to be after zero."""
        [result] = self.sync([cue(time, time)], points)
        self.assertEqual(result.start, result.end)
        self.assertIs(type(result.start), int)
        return result.end

    def test_one_point_shifts(self):
        cues = srt.parse(FILM)
        self.assertEqual(self.sync(cues, [(5000, 5400)]), edit.shift(cues, 400))
        self.assertEqual(self.sync(cues, [(13000, 0)]), edit.shift(cues, -13000))

    def test_two_points(self):
        points = [(10000, 20000), (20000, 40000)]
        for time, expected in (
            (10000, 20000), (20000, 40000), (15000, 30000), (5000, 10000),
            (1, 2), (30000, 60000), (10001, 20002),
        ):
            self.assertEqual(self.at(time, points), expected)

    def test_order_of_points_does_not_matter(self):
        points = [(10000, 11000), (20000, 22000), (30000, 40000), (50000, 41000)]
        wanted = self.times(srt.parse(FILM), points)
        rng = random.Random(3)
        for _ in range(5):
            shuffled = list(points)
            rng.shuffle(shuffled)
            before = list(shuffled)
            self.assertEqual(self.times(srt.parse(FILM), shuffled), wanted)
            self.assertEqual(shuffled, before)

    def test_each_segment_has_its_own_slope(self):
        points = [(1000, 1000), (2000, 3000), (3000, 3500), (4000, 9500)]
        for time, expected in (
            (500, None), (750, 500), (1500, 2000), (2000, 3000), (2500, 3250),
            (3000, 3500), (3500, 6500), (4000, 9500), (5000, 15500),
        ):
            if expected is None:
                self.assertEqual(self.sync([cue(time, time)], points), [])
            else:
                self.assertEqual(self.at(time, points), expected)

    def test_start_and_end_in_different_segments(self):
        points = [(0, 0), (1000, 1000), (2000, 4000)]
        self.assertEqual(self.times([cue(500, 1500)], points), [(500, 2500)])

    def test_rounding(self):
        # Half the speed: odd times end in half a millisecond.
        points = [(1000, 1000), (3000, 2000)]
        self.assertEqual(self.at(1001, points), 1001)
        self.assertEqual(self.at(1003, points), 1002)
        self.assertEqual(self.at(999, points), 1000)
        self.assertEqual(self.at(997, points), 999)
        thirds = [(3000, 1000), (6000, 2000)]
        self.assertEqual([self.at(t, thirds) for t in (3001, 3002, 2999, 2998)],
                         [1000, 1001, 1000, 999])

    def test_rounding_below_zero(self):
        # -0.5 is rounded up to 0: a cue that ends there is over.
        points = [(1000, 0), (3000, 1000)]
        self.assertEqual(self.times([cue(900, 999)], points), [])
        self.assertEqual(self.times([cue(900, 1001)], points), [(0, 1)])

    def test_exact_for_large_times(self):
        points = [(0, 0), (10**17, 3 * 10**17 + 1)]
        time = 10**17 - 1
        exact = Fraction(time * (3 * 10**17 + 1), 10**17)
        self.assertEqual(self.at(time, points), floor(exact + Fraction(1, 2)))

    def test_random_against_fractions(self):
        rng = random.Random(11)
        for _ in range(200):
            count = rng.randrange(2, 6)
            sources = sorted(rng.sample(range(1, 5000), count))
            targets = sorted(rng.sample(range(1, 5000), count))
            points = list(zip(sources, targets))
            time = rng.randrange(0, 6000)
            index = 0
            while index < count - 2 and time > sources[index + 1]:
                index += 1
            (a, b), (c, d) = points[index], points[index + 1]
            exact = b + Fraction((time - a) * (d - b), c - a)
            wanted = floor(exact + Fraction(1, 2))
            if wanted > 0:
                self.assertEqual(self.at(time, points), wanted)
            else:
                self.assertEqual(self.sync([cue(time, time)], points), [])

    def test_dropped_clamped_and_numbered(self):
        cues = [cue(0, 1000, 7), cue(500, 2000, 8, "a"), cue(3000, 4000, 9, "b\nc")]
        self.assertEqual(
            self.sync(cues, [(1000, 0), (2000, 500)]),
            [cue(0, 500, 1, "a"), cue(1000, 1500, 2, "b\nc")],
        )

    def test_cues_are_not_sorted(self):
        cues = [cue(3000, 4000, 1, "late"), cue(1000, 2000, 2, "early")]
        self.assertEqual(
            [c.text for c in self.sync(cues, [(0, 1), (10, 12)])], ["late", "early"]
        )

    def test_input_stays(self):
        cues = srt.parse(FILM)
        self.sync(cues, [(0, 1000), (1000, 3000)])
        self.assertEqual(cues, srt.parse(FILM))

    def test_no_cues(self):
        self.assertEqual(self.sync([], [(0, 1)]), [])

    def test_refused(self):
        for points in (
            [],
            [(1000, 1000), (1000, 2000)],
            [(1000, 1000), (1000, 1000)],
            [(1000, 1000), (2000, 1000)],
            [(1000, 2000), (2000, 1000)],
            [(1000, 1000), (3000, 3000), (2000, 3500)],
        ):
            with self.assertRaises(ValueError):
                self.sync(srt.parse(FILM), points)
            with self.assertRaises(ValueError):
                self.sync([], points)


class CommandTest(unittest.TestCase):
    def run_subfix(self, *args, film=FILM):
        with tempfile.NamedTemporaryFile("w", suffix=".srt") as file:
            file.write(film)
            file.flush()
            return subprocess.run(
                [sys.executable, "-B", "-m", "subfix", *args, file.name],
                cwd="/app", capture_output=True, text=True,
            )

    def test_sync(self):
        done = self.run_subfix(
            "sync", "--at", "00:00:20,000=00:00:30,000", "--at", "00:00:10,000=00:00:10,500"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, """\
1
00:00:10,500 --> 00:00:14,400
Hello?

2
00:00:30,000 --> 00:00:39,750
Anybody
at home?

3
00:01:09,000 --> 00:01:10,950
No.
""")

    def test_one_point(self):
        done = self.run_subfix("sync", "--at", "00:00:13,000=00:00:00,000")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith(
            "1\n00:00:07,000 --> 00:00:12,000\nAnybody\nat home?\n"))

    def test_bad_points(self):
        for points in (
            ["00:00:13,000"],
            ["13=14"],
            ["00:00:13,000="],
            ["=00:00:13,000"],
            ["00:00:13,000=00:00:14"],
            ["00:00:01,000=00:00:02,000=00:00:03,000"],
            ["00:00:01,000=00:00:02,000", "nonsense"],
            ["00:00:01,000=00:00:02,000", "00:00:01,000=00:00:04,000"],
            ["00:00:01,000=00:00:02,000", "00:00:02,000=00:00:01,000"],
        ):
            args = [arg for point in points for arg in ("--at", point)]
            done = self.run_subfix("sync", *args)
            self.assertEqual(done.returncode, 2, points)
            self.assertEqual(done.stdout, "")
            self.assertTrue(done.stderr.startswith("subfix: "), done.stderr)

    def test_without_points(self):
        done = self.run_subfix("sync")
        self.assertEqual((done.returncode, done.stdout), (2, ""))

    def test_shift_still_works(self):
        done = self.run_subfix("shift", "1.25")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("00:00:11,250 --> 00:00:13,250", done.stdout)


if __name__ == "__main__":
    unittest.main()
