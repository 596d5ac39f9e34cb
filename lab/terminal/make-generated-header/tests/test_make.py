"""What `make` does in a copy of the folder. Times are set, so that no test waits for a clock."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

OBJECTS = ["src/main.o", "src/table.o", "src/util.o"]
MADE = ["list", "src/names.h", *OBJECTS]


class Make(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.folder = pathlib.Path(self.place.name, "app")
        shutil.copytree("/app", self.folder)
        for name in MADE:
            (self.folder / name).unlink(missing_ok=True)
        self.sources = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        for path in self.sources:
            os.utime(path, (1_000, 1_000))

    def make(self, *args):
        return subprocess.run(["make", *args], cwd=self.folder, capture_output=True, text=True, timeout=60)

    def built(self):
        """Makes everything and sets what was made to one time, in the order of its making."""
        for path in self.sources:
            os.utime(path, (1_000, 1_000))
        self.assertEqual(self.make().returncode, 0)
        for at, name in enumerate(["src/names.h", *OBJECTS, "list"]):
            os.utime(self.folder / name, (2_000 + at, 2_000 + at))

    def changed(self, name):
        """What is made anew after a file was changed."""
        self.built()
        os.utime(self.folder / name, (3_000, 3_000))
        before = {name: (self.folder / name).stat().st_mtime for name in MADE}
        self.assertEqual(self.make().returncode, 0)
        return {name for name in MADE if (self.folder / name).stat().st_mtime != before[name]}

    def test_each_object_is_made_by_itself(self):
        for name in OBJECTS:
            self.make("clean")
            made = self.make(name)
            self.assertEqual(made.returncode, 0, made.stderr)
            self.assertTrue((self.folder / name).exists())

    def test_many_jobs(self):
        made = self.make("-j8")
        self.assertEqual(made.returncode, 0, made.stderr)
        said = subprocess.run([self.folder / "list"], capture_output=True, text=True).stdout
        self.assertEqual(said, "- ash\n- birch\n- cedar\n")

    def test_what_a_change_reaches(self):
        with_names = {"src/names.h", "src/main.o", "src/table.o", "list"}
        self.assertEqual(self.changed("names.txt"), with_names)
        self.assertEqual(self.changed("gen.sh"), with_names)
        self.assertEqual(self.changed("src/util.h"), {"src/main.o", "src/util.o", "list"})
        self.assertEqual(self.changed("src/table.c"), {"src/table.o", "list"})

    def test_a_second_run_runs_nothing(self):
        self.built()
        self.assertEqual(self.make("-q").returncode, 0)

    def test_a_failing_generator_leaves_no_header(self):
        (self.folder / "names.txt").write_text("ash\nbad name\n")
        self.assertNotEqual(self.make().returncode, 0)
        self.assertFalse((self.folder / "src/names.h").exists())
        self.assertNotEqual(self.make().returncode, 0)

    def test_clean_removes_what_was_made(self):
        (self.folder / "src/kept.o").write_text("not made here\n")
        self.built()
        self.assertEqual(self.make("clean").returncode, 0)
        left = {path for path in self.folder.rglob("*") if path.is_file()}
        self.assertEqual(left, {*self.sources, self.folder / "src/kept.o"})

    def test_the_sources_are_as_they_were(self):
        self.assertIn(b"is not a name", (self.folder / "gen.sh").read_bytes())
        self.assertEqual((self.folder / "src/table.c").read_text().count("names.h"), 1)


unittest.main()
