import unittest

from sizes import naturalsize


class Sizes(unittest.TestCase):
    def test_units(self):
        for value, text in [(0, "0 Bytes"), (1, "1 Byte"), (999, "999 Bytes"), (1000, "1.0 kB"), (1_500_000, "1.5 MB")]:
            self.assertEqual(naturalsize(value), text)
        self.assertEqual(naturalsize(10**18), "1000.0 PB")

    def test_binary_and_gnu(self):
        self.assertEqual(naturalsize(2048, binary=True), "2.0 KiB")
        self.assertEqual(naturalsize(2048, gnu=True), "2.0K")
        self.assertEqual(naturalsize(5, gnu=True), "5B")

    def test_format(self):
        self.assertEqual(naturalsize(1234567, format="%.3f"), "1.235 MB")
        self.assertEqual(naturalsize(1234567, format="about %.1f"), "about 1.2 MB")
