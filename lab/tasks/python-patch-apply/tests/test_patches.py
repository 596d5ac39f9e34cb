import difflib
import random
import sys
import unittest

sys.path.append("/app")

from hunkwise import PatchError, apply, parse

HEAD = "--- a/f\n+++ b/f\n"
NO_NEWLINE = "\\ No newline at end of file\n"


def patched(text, body, head=HEAD):
    [patch] = parse(head + body)
    return apply(text, patch.hunks)


def numbered(count):
    return "".join(f"{n}\n" for n in range(1, count + 1))


class Base(unittest.TestCase):
    def refused(self, text, body, message=""):
        with self.assertRaisesRegex(PatchError, message):
            patched(text, body)


class PlaceTest(Base):
    def test_exact(self):
        self.assertEqual(
            patched(numbered(6), "@@ -2,2 +2,2 @@\n 2\n-3\n+x\n"), "1\n2\nx\n4\n5\n6\n"
        )

    def test_moved_down_and_up(self):
        hunk = "@@ -3,3 +3,3 @@\n c\n-d\n+D\n e\n"
        rest = "a\nb\nc\nd\ne\nf\n"
        new = "a\nb\nc\nD\ne\nf\n"
        self.assertEqual(patched("x\ny\nz\n" + rest, hunk), "x\ny\nz\n" + new)
        self.assertEqual(patched(rest[4:], hunk), new[4:])
        many = numbered(5000)
        self.assertEqual(patched(many + rest, hunk), many + new)

    def test_expected_line_beyond_the_end(self):
        self.assertEqual(patched("a\nb\n", "@@ -90 +90 @@\n-b\n+B\n"), "a\nB\n")

    def test_nearest(self):
        lines = ["-"] * 20
        lines[2] = lines[11] = lines[16] = "x"
        text = "\n".join(lines) + "\n"
        for line, hit in ((1, 2), (5, 2), (9, 11), (13, 11), (15, 16), (20, 16)):
            wanted = list(lines)
            wanted[hit] = "y"
            self.assertEqual(
                patched(text, f"@@ -{line} +{line} @@\n-x\n+y\n"),
                "\n".join(wanted) + "\n",
            )

    def test_tie_goes_to_the_later(self):
        self.assertEqual(
            patched("x\n-\n-\n-\nx\n", "@@ -3 +3 @@\n-x\n+y\n"), "x\n-\n-\n-\ny\n"
        )

    def test_exact_place_wins(self):
        self.assertEqual(
            patched("x\nx\nx\n", "@@ -2 +2 @@\n-x\n+y\n"), "x\ny\nx\n"
        )

    def test_move_carries_over(self):
        # Four lines were added on top; the second hunk would also fit nearer to
        # the line in its header.
        text = "n\n" * 4 + "a\nb\nx\nc\nd\ne\nx\n"
        body = "@@ -1,2 +1,2 @@\n a\n-b\n+B\n@@ -7 +7 @@\n-x\n+y\n"
        self.assertEqual(
            patched(text, body), "n\n" * 4 + "a\nB\nx\nc\nd\ne\ny\n"
        )

    def test_move_carries_over_upwards(self):
        text = "a\nx\nb\nc\nx\n"
        body = "@@ -4 +4 @@\n-a\n+A\n@@ -5 +5 @@\n-x\n+y\n"
        # Moved up by three: expected in line 2.
        self.assertEqual(patched(text, body), "A\ny\nb\nc\nx\n")

    def test_move_counts_lines_of_the_original(self):
        # The first hunk grows the text by three, which is no move.
        text = "a\nx\nb\nx\nc\nx\n"
        body = "@@ -1 +1,4 @@\n a\n+1\n+2\n+3\n@@ -4 +7 @@\n-x\n+y\n"
        self.assertEqual(patched(text, body), "a\n1\n2\n3\nx\nb\ny\nc\nx\n")

    def test_move_of_the_hunk_before_not_the_sum(self):
        text = "n\nn\na\nn\nb\nc\n" + "-\n" * 6 + "c\n"
        body = (
            "@@ -1 +1 @@\n-a\n+A\n@@ -2 +2 @@\n-b\n+B\n@@ -10 +10 @@\n-c\n+C\n"
        )
        # Moves: 2, then 3; the last hunk is expected in line 13.
        self.assertEqual(patched(text, body), "n\nn\nA\nn\nB\nc\n" + "-\n" * 6 + "C\n")

    def test_not_before_the_end_of_the_previous(self):
        text = "x\na\nb\nc\nx\n"
        body = "@@ -2,2 +2,2 @@\n a\n-b\n+B\n@@ -1 +1 @@\n-x\n+y\n"
        self.assertEqual(patched(text, body), "x\na\nB\nc\ny\n")

    def test_not_into_the_previous(self):
        body = "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -3 +3 @@\n-c\n+C\n"
        self.refused("a\nb\nc\nd\n", body, "hunk 2")
        self.assertEqual(patched("a\nb\nc\nd\nc\n", body), "a\nB\nc\nd\nC\n")

    def test_not_into_lines_that_the_patch_added(self):
        body = "@@ -1 +1,2 @@\n a\n+x\n@@ -2 +3 @@\n-x\n+y\n"
        self.refused("a\nb\n", body, "hunk 2")

    def test_adjacent_hunks(self):
        body = "@@ -1 +1 @@\n-a\n+A\n@@ -2 +2 @@\n-b\n+B\n"
        self.assertEqual(patched("a\nb\nc\n", body), "A\nB\nc\n")
        self.assertEqual(patched("z\na\nb\nc\n", body), "z\nA\nB\nc\n")

    def test_no_fuzz(self):
        self.refused("1\ntwo\n3\n", "@@ -1,3 +1,3 @@\n 1\n 2\n-3\n+x\n", "hunk 1")
        self.refused("", "@@ -1 +1 @@\n-a\n+b\n", "hunk 1")
        self.refused("a\n", "@@ -1,2 +1 @@\n a\n-a\n", "hunk 1")

    def test_number_in_the_message(self):
        hunks = "".join(f"@@ -{n} +{n} @@\n-{n}\n+x\n" for n in range(1, 12))
        self.refused(numbered(10), hunks, r"hunk 11\b")


class InsertTest(Base):
    def test_after_the_line(self):
        for line in range(4):
            lines = ["1\n", "2\n", "3\n"]
            lines.insert(line, "new\n")
            self.assertEqual(
                patched(numbered(3), f"@@ -{line},0 +{line + 1} @@\n+new\n"),
                "".join(lines),
            )

    def test_new_file(self):
        [patch] = parse("--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n")
        self.assertEqual((patch.old_path, patch.new_path), (None, "f"))
        self.assertEqual(apply("", patch.hunks), "a\nb\n")

    def test_beyond_the_end(self):
        self.refused("1\n2\n", "@@ -3,0 +4 @@\n+x\n", "hunk 1")
        self.refused("", "@@ -1,0 +2 @@\n+x\n", "hunk 1")

    def test_moved_with_the_hunk_before(self):
        body = "@@ -1 +1 @@\n-a\n+A\n@@ -2,0 +3 @@\n+new\n@@ -3 +5 @@\n-x\n+y\n"
        self.assertEqual(
            patched("n\nn\na\nb\nx\nc\nx\n", body), "n\nn\nA\nb\nnew\ny\nc\nx\n"
        )

    def test_moved_before_the_beginning(self):
        # The first hunk moved up by two.
        body = "@@ -3 +3 @@\n-a\n+A\n@@ -1,0 +2 @@\n+new\n"
        self.refused("a\nb\nc\n", body, "hunk 2")

    def test_right_after_the_hunk_before(self):
        body = "@@ -1,2 +1,2 @@\n a\n-b\n+B\n@@ -2,0 +3 @@\n+new\n"
        self.assertEqual(patched("a\nb\nc\n", body), "a\nB\nnew\nc\n")

    def test_within_the_hunk_before(self):
        body = "@@ -1,2 +1,2 @@\n a\n-b\n+B\n@@ -1,0 +2 @@\n+new\n"
        self.refused("a\nb\nc\n", body, "hunk 2")

    def test_removal_without_context(self):
        self.assertEqual(patched(numbered(4), "@@ -2,2 +1,0 @@\n-2\n-3\n"), "1\n4\n")
        self.assertEqual(patched("a\n", "@@ -1 +0,0 @@\n-a\n"), "")


class LineEndTest(Base):
    def test_only_newline_ends_a_line(self):
        for odd in "\r\f\v\x1c\x1d\x1e\x85\u2028\u2029":
            text = f"a{odd}b\n{odd}\nc\n"
            body = f"@@ -2,2 +2,2 @@\n-{odd}\n+<{odd}>\n c\n"
            self.assertEqual(patched(text, body), f"a{odd}b\n<{odd}>\nc\n", repr(odd))

    def test_crlf_text(self):
        self.assertEqual(
            patched("a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+B\r\n"), "a\r\nB\r\n"
        )
        self.refused("a\nb\n", "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+B\r\n", "hunk 1")

    def test_line_end_removed(self):
        body = "@@ -1,2 +1,2 @@\n a\n-b\n+b\n" + NO_NEWLINE
        self.assertEqual(patched("a\nb\n", body), "a\nb")
        self.refused("a\nb", body, "hunk 1")

    def test_line_end_added(self):
        body = "@@ -1,2 +1,2 @@\n a\n-b\n" + NO_NEWLINE + "+b\n"
        self.assertEqual(patched("a\nb", body), "a\nb\n")
        self.refused("a\nb\n", body, "hunk 1")

    def test_missing_in_context(self):
        body = "@@ -1,2 +1,2 @@\n-a\n+A\n b\n" + NO_NEWLINE
        self.assertEqual(patched("a\nb", body), "A\nb")
        self.refused("a\nb\n", body, "hunk 1")
        self.refused("a\nb\nc\n", body, "hunk 1")

    def test_missing_on_both_sides(self):
        body = "@@ -1 +1,2 @@\n-b\n" + NO_NEWLINE + "+b\n+c\n" + NO_NEWLINE
        self.assertEqual(patched("a\nb", body), "a\nb\nc")

    def test_translated_marker(self):
        body = "@@ -1 +1 @@\n-a\n+b\n\\ Kein Zeilenumbruch am Dateiende\n"
        self.assertEqual(patched("a\n", body), "b")

    def test_marker_helps_to_find_the_place(self):
        body = "@@ -1 +1 @@\n-a\n" + NO_NEWLINE + "+b\n"
        self.assertEqual(patched("a\na\na", body), "a\na\nb\n")

    def test_unterminated_text_elsewhere(self):
        self.assertEqual(patched("a\nb", "@@ -1 +1 @@\n-a\n+A\n"), "A\nb")

    def test_line_content_that_starts_with_a_backslash(self):
        body = "@@ -1 +1 @@\n-\\ a\n+\\ b\n"
        self.assertEqual(patched("\\ a\n", body), "\\ b\n")

    def test_nothing_after_an_unterminated_line(self):
        self.refused("a\nb", "@@ -2,0 +3 @@\n+c\n")
        self.refused("a\nb\n", "@@ -1,0 +2 @@\n+x\n" + NO_NEWLINE)
        self.refused("a\nb\n", "@@ -1 +1 @@\n-a\n+A\n" + NO_NEWLINE)
        self.refused(
            "a\n", "@@ -1 +1,2 @@\n a\n+b\n" + NO_NEWLINE + "@@ -1,0 +3 @@\n+c\n"
        )
        self.refused("a\n", "@@ -1 +1,2 @@\n-a\n+b\n" + NO_NEWLINE + "+c\n")

    def test_end_of_the_patch(self):
        for body in ("@@ -1 +1 @@\n-a\n+b", "@@ -1 +1 @@\n-a\n+b\n"):
            self.assertEqual(patched("a\n", body), "b\n")
        for body in ("@@ -1 +1 @@\n-a\n+b\n" + NO_NEWLINE, ):
            self.assertEqual(patched("a\n", body), "b")
            self.assertEqual(patched("a\n", body.rstrip("\n")), "b")


class ReadTest(Base):
    def test_removed_line_that_looks_like_a_header(self):
        text = "select 1;\n-- drop table\n++ x\n"
        body = "@@ -1,3 +1,2 @@\n select 1;\n--- drop table\n ++ x\n"
        self.assertEqual(patched(text, body), "select 1;\n++ x\n")

    def test_removed_and_added_line_like_a_file_header(self):
        body = "@@ -1,2 +1,2 @@\n--- a/x\n+++ b/x\n y\n@@ -4 +4 @@\n-z\n+Z\n"
        self.assertEqual(patched("-- a/x\ny\n-\nz\n", body), "++ b/x\ny\n-\nZ\n")

    def test_lines_that_look_like_hunk_headers(self):
        body = "@@ -1,2 +1,3 @@\n @@ -1 +1 @@\n+@@ -2 +2 @@\n b\n"
        self.assertEqual(
            patched("@@ -1 +1 @@\nb\n", body), "@@ -1 +1 @@\n@@ -2 +2 @@\nb\n"
        )

    def test_signature(self):
        body = "@@ -1,2 +1,2 @@\n a\n-b\n+B\n-- \n2.43.0\n\n"
        self.assertEqual(patched("a\nb\n", body), "a\nB\n")

    def test_several_files(self):
        diff = (
            "From: somebody\n\n---\n f | 2 +-\n\n"
            "diff --git a/f b/f\nindex 1..2 100644\n" + HEAD
            + "@@ -1 +1 @@ class X:\n-a\n+b\n"
            "diff --git a/g b/g\ndeleted file mode 100644\n"
            "--- a/g\t2024-03-01 10:00:00\n+++ /dev/null\n@@ -1,2 +0,0 @@\n--- x\n-y\n"
            "--- a/h\n+++ b/h\n@@ -1 +1,2 @@\n h\n+i\n"
        )
        patches = parse(diff)
        self.assertEqual(
            [(p.old_path, p.new_path, len(p.hunks)) for p in patches],
            [("f", "f", 1), ("g", None, 1), ("h", "h", 1)],
        )
        self.assertEqual(apply("a\n", patches[0].hunks), "b\n")
        self.assertEqual(apply("-- x\ny\n", patches[1].hunks), "")
        self.assertEqual(apply("h\n", patches[2].hunks), "h\ni\n")

    def test_empty_line_is_context(self):
        body = "@@ -1,4 +1,4 @@\n a\n\n-b\n+B\n\n"
        self.assertEqual(patched("a\n\nb\n\n", body), "a\n\nB\n\n")
        self.refused("a\nb\n\n", body)

    def test_empty_line_after_the_hunk_is_none(self):
        self.assertEqual(patched("a\n", "@@ -1 +1 @@\n-a\n+b\n\n\n"), "b\n")

    def test_too_short(self):
        for body in (
            "@@ -1,2 +1,2 @@\n-a\n+b\n",
            "@@ -1,2 +1,2 @@\n-a\n+b",
            "@@ -1 +1 @@\n",
            "@@ -1 +1 @@",
            "@@ -1,2 +1,2 @@\n a\n@@ -5 +5 @@\n-a\n+b\n",
            "@@ -1,2 +1,2 @@\n a\ndiff --git a/x b/x\n",
        ):
            with self.assertRaises(PatchError, msg=body):
                parse(HEAD + body)

    def test_too_long(self):
        for body in (
            "@@ -1 +1 @@\n-a\n-b\n+c\n",
            "@@ -1,2 +1 @@\n-a\n+b\n+c\n-d\n",
            "@@ -0,0 +1,2 @@\n+a\n b\n",
            "@@ -1,2 +0,0 @@\n-a\n b\n",
        ):
            with self.assertRaises(PatchError, msg=body):
                parse(HEAD + body)

    def test_other_lines(self):
        for body in (
            "@@ -1,2 +1,2 @@\n a\nxb\n",
            "@@ -1,2 +1,2 @@\n a\n\tb\n",
            "@@ -1 +1 @@\n" + NO_NEWLINE + "-a\n+b\n",
        ):
            with self.assertRaises(PatchError, msg=body):
                parse(HEAD + body)

    def test_headers(self):
        with self.assertRaises(PatchError):
            parse("@@ -1 +1 @@\n-a\n+b\n")
        with self.assertRaises(PatchError):
            parse(HEAD + "@@ -x +1 @@\n-a\n+b\n")
        self.assertEqual(parse(""), [])
        self.assertEqual(parse("nothing\nof interest\n"), [])


class RandomTest(Base):
    def test_against_difflib(self):
        rng = random.Random(7)
        for _ in range(150):
            old = [rng.choice("abcdef") * 3 for _ in range(rng.randrange(0, 30))]
            new = list(old)
            for _ in range(rng.randrange(1, 5)):
                place = rng.randrange(0, len(new) + 1)
                if new and rng.random() < 0.5:
                    del new[place : place + rng.randrange(1, 3)]
                else:
                    new.insert(place, rng.choice(["xyz", "-- q", "++ r", ""]))
            context = rng.choice([0, 1, 3])
            diff = list(
                difflib.unified_diff(old, new, "a/f", "b/f", n=context, lineterm="")
            )
            if not diff:
                continue
            before = "".join(line + "\n" for line in old)
            after = "".join(line + "\n" for line in new)
            [patch] = parse("\n".join(diff) + "\n")
            self.assertEqual(apply(before, patch.hunks), after, diff)
            if context and old and patch.hunks[0].old:
                top = "".join(f"top {n}\n" for n in range(rng.randrange(1, 9)))
                marked = apply(top + before, patch.hunks)
                self.assertEqual(len(marked), len(top + after))


if __name__ == "__main__":
    unittest.main()
