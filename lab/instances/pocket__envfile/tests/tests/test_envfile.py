import unittest

from envfile import parse


class Parse(unittest.TestCase):
    def test_values(self):
        self.assertEqual(parse("A=1\nexport B = two words \n# C=3\nnot a line\n"), {"A": "1", "B": "two words"})

    def test_quotes(self):
        self.assertEqual(parse("A=\"x # y\" # z\nB='#'\n"), {"A": "x # y", "B": "#"})

    def test_comments(self):
        self.assertEqual(parse("A=1 # one\nB=2\t# two\n"), {"A": "1", "B": "2"})

    def test_a_hash_within_a_word_is_a_part_of_it(self):
        text = "COLOUR=#ff0000\nPASSWORD=p@ss#word\nURL=http://host/y#part # the page\nTWO=a#b c#d #e\n"
        wanted = {"COLOUR": "#ff0000", "PASSWORD": "p@ss#word", "URL": "http://host/y#part", "TWO": "a#b c#d"}
        self.assertEqual(parse(text), wanted)

    def test_a_comment_behind_the_sign_is_a_comment(self):
        self.assertEqual(parse("A= # nothing\nB=\nC=\t#\n"), {"A": "", "B": "", "C": ""})
