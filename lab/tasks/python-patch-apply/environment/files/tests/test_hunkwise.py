import unittest

from hunkwise import PatchError, apply, parse

TEXT = "one\ntwo\nthree\nfour\nfive\nsix\n"

DIFF = """\
diff --git a/numbers.txt b/numbers.txt
index 5e1c309..7d2a1f4 100644
--- a/numbers.txt
+++ b/numbers.txt
@@ -1,3 +1,3 @@
 one
-two
+2
 three
@@ -5,2 +5,3 @@ four
 five
+five and a half
 six
"""


class HunkwiseTest(unittest.TestCase):
    def test_parse(self):
        [patch] = parse(DIFF)
        self.assertEqual((patch.old_path, patch.new_path), ("numbers.txt",) * 2)
        self.assertEqual(len(patch.hunks), 2)

    def test_apply(self):
        [patch] = parse(DIFF)
        self.assertEqual(
            apply(TEXT, patch.hunks),
            "one\n2\nthree\nfour\nfive\nfive and a half\nsix\n",
        )

    def test_does_not_apply(self):
        [patch] = parse(DIFF)
        with self.assertRaisesRegex(PatchError, "hunk 2"):
            apply(TEXT.replace("six", "seven"), patch.hunks)


if __name__ == "__main__":
    unittest.main()
