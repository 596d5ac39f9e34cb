import unittest

from envfile import parse


class Parse(unittest.TestCase):
    def test_values(self):
        self.assertEqual(parse("A=1\nexport B = two words \n# C=3\nnot a line\n"), {"A": "1", "B": "two words"})

    def test_quotes(self):
        self.assertEqual(parse("A=\"x # y\" # z\nB='#'\n"), {"A": "x # y", "B": "#"})

    def test_comments(self):
        self.assertEqual(parse("A=1 # one\nB=2\t# two\n"), {"A": "1", "B": "2"})
