import unittest

from subfix import srt
from subfix.edit import shift

FILM = """\
1
00:00:01,000 --> 00:00:02,500
Hello?

2
00:00:04,000 --> 00:00:06,000
Anybody
at home?
"""


class EditTest(unittest.TestCase):
    def test_round_trip(self):
        self.assertEqual(srt.dump(srt.parse(FILM)), FILM)

    def test_shift(self):
        cues = shift(srt.parse(FILM), 250)
        self.assertEqual([(c.start, c.end) for c in cues], [(1250, 2750), (4250, 6250)])

    def test_shift_drops_what_is_over(self):
        cues = shift(srt.parse(FILM), -5000)
        self.assertEqual(
            [(c.number, c.start, c.end) for c in cues], [(1, 0, 1000)]
        )


if __name__ == "__main__":
    unittest.main()
