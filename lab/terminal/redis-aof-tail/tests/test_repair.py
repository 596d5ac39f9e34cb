"""The log of the task, and logs that the agent has not seen."""

import json
import pathlib
import subprocess
import tempfile
import unittest


def command(*words):
    words = [word if isinstance(word, bytes) else word.encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def repaired(data):
    """The exit code, what is left of the log, the report, and the copy."""
    with tempfile.TemporaryDirectory() as folder:
        log, report = pathlib.Path(folder, "log.aof"), pathlib.Path(folder, "report.json")
        log.write_bytes(data)
        code = subprocess.run(["/app/repair", log, report], timeout=20).returncode
        copy = pathlib.Path(folder, "log.aof.broken")
        said = json.loads(report.read_text()) if report.exists() else None
        return code, log.read_bytes(), said, copy.read_bytes() if copy.exists() else None


class Repair(unittest.TestCase):
    def test_the_log_of_the_store(self):
        kept = pathlib.Path("/app/store/appendonly.aof").read_bytes()
        before = pathlib.Path("/app/store/appendonly.aof.broken").read_bytes()
        self.assertTrue(before.startswith(kept) and before.endswith(b"$4\r\nEX"))
        self.assertTrue(kept.endswith(command("SET", "city", "Zürich")))
        report = json.loads(pathlib.Path("/app/report.json").read_text())
        self.assertEqual(report, {"size_before": len(before), "size_after": len(kept), "commands": 9, "keys": 4})

    def test_a_torn_end_goes(self):
        whole = command("SET", "a", "1") + command("SET", "b", "EXEC\r\n*1\r\n")
        last = command("SET", "c", "3")
        for cut in range(1, len(last), 4):
            code, left, report, copy = repaired(whole + last[:cut])
            self.assertEqual((code, left, copy), (0, whole, whole + last[:cut]), cut)
            self.assertEqual((report["commands"], report["keys"], report["size_after"]), (2, 2, len(whole)), cut)

    def test_half_a_transaction_goes_with_its_beginning(self):
        whole = command("SET", "a", "1") + command("MULTI") + command("DEL", "a") + command("exec") + b"#TS:1\r\n"
        half = command("mUlTi") + command("SET", "b", "EXEC") + b"#TS:2\r\n"
        for data in (whole + half, whole + half + command("EXEC")[:-1]):
            code, left, report, _ = repaired(data)
            self.assertEqual((code, left, report["commands"], report["keys"]), (0, whole, 4, 0))

    def test_a_log_that_is_fine_stays(self):
        whole = command("SELECT", "0") + command("SET", b"\x00\xff", "x" * 5000)
        code, left, report, _ = repaired(whole)
        self.assertEqual((code, left, report["keys"], report["size_before"]), (0, whole, 1, len(whole)))
        self.assertEqual(repaired(b"")[2], {"size_before": 0, "size_after": 0, "commands": 0, "keys": 0})

    def test_a_log_that_is_broken_elsewhere_is_left_alone(self):
        good = command("SET", "a", "1")
        for data in (good + b"oops\r\n" + good, good[:-2] + b"xx" + good, good.replace(b"$3", b"$2") + good, b"*x\r\n" + good):
            code, left, report, copy = repaired(data)
            self.assertEqual((code, left, report, copy), (1, data, None, None), data)


unittest.main()
