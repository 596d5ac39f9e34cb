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

    def test_a_rounded_number_takes_the_next_unit(self):
        for value, text in [(999_999, "1.0 MB"), (999_949, "999.9 kB"), (999_950, "1.0 MB"), (-999_999, "-1.0 MB")]:
            self.assertEqual(naturalsize(value), text)
        self.assertEqual(naturalsize(2**20 - 1, binary=True), "1.0 MiB")
        self.assertEqual(naturalsize(2**30 - 1, gnu=True), "1.0G")
        self.assertEqual(naturalsize(999_999, format="%.3f"), "999.999 kB")
        self.assertEqual(naturalsize(999_999, format="%d"), "999 kB")

    def test_there_is_no_unit_above_the_last(self):
        self.assertEqual(naturalsize(999_999 * 10**12), "1000.0 PB")
        self.assertEqual(naturalsize(10**21), "1000000.0 PB")

    def test_a_format_with_words_is_not_a_number(self):
        self.assertEqual(naturalsize(999_999, format="size %.1f"), "size 1.0 MB")
        self.assertEqual(naturalsize(999_999, format="%.1f of 1000.0"), "1.0 of 1000.0 MB")
