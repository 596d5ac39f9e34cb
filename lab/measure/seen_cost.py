#!/usr/bin/env python3
"""Measures what it costs a run to be seen: with the page, its API, metrics and traces all on, and with them read, beside all of them off.

    cargo build --release && python3 lab/measure/seen_cost.py target/release/hob

It starts the embedded forge and runs `hob run --once` over the same number of issues by turns, on loopback: off, on, and on with a reader who
has the page's events open and reads three views, an answer of the API and the metrics each second. The agent is a shell script that writes
one file. The figures are medians; what is on may cost 5 % more. Nothing outside a temporary folder is written, and only processes that
were started here are ended.
"""

import argparse
import contextlib
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from embedded_forge import Forge, machine, print_table

TOKEN = "reader"
WAYS = ["off", "on", "read"]
VIEWS = ["/", "/now", "/health", "/api/v1/issues", "/metrics"]
SETTINGS = """
agent = "writer"
[agents.writer]
backend = "command"
command = ["sh", "-c", "cat > /dev/null; echo x > \\"done-$HOB_ISSUE.txt\\"; echo '{\\"outcome\\":\\"done\\",\\"summary\\":\\"Wrote it.\\"}'"]
[sandbox]
tier = "none"
[forge]
pace = "unlimited"
[limits]
issues_per_hour = 1000
open_pulls = 0
"""


class Reader(threading.Thread):
    """Who looks at a run while it goes on."""

    def __init__(self, page):
        super().__init__(daemon=True)
        self.page, self.ends, self.read = page, threading.Event(), 0

    def get(self, path):
        request = urllib.request.Request(self.page + path, headers={"Authorization": f"Bearer {TOKEN}"})
        return urllib.request.urlopen(request, timeout=30)

    def run(self):
        # The run ends when it likes.
        with contextlib.suppress(OSError, ValueError), self.get("/api/v1/events?after=0") as events:
            threading.Thread(target=lambda: self.drain(events), daemon=True).start()
            while not self.ends.wait(1):
                for view in VIEWS:
                    with self.get(view) as answer:
                        self.read += len(answer.read())

    def drain(self, events):
        with contextlib.suppress(OSError, ValueError):
            while line := events.readline():
                self.read += len(line)


class Bench:
    def __init__(self, hob, forge, folder, issues):
        self.hob, self.forge, self.folder, self.issues, self.number = hob, forge, folder, issues, 0
        (folder / "hob.toml").write_text(SETTINGS)

    def run(self, way, issues):
        """One run over this many issues of a repository of its own: seconds, CPU seconds, peak MiB, counted calls."""
        self.number += 1
        name = f"r{self.number}"
        path = self.forge.repository(name)
        for number in range(issues):
            self.forge.call("POST", f"{path}/issues", {"title": f"Write file {number}", "body": "x", "labels": ["code"]})
        options = ["--config", str(self.folder / "hob.toml"), "--state-dir", str(self.folder / name), "--repo", f"ann/{name}"]
        seen = ["--listen", "0", "--traces", str(self.folder / f"{name}.traces")] if way != "off" else []
        environment = self.forge.environment(self.folder) | ({"HOB_LISTEN_TOKEN": TOKEN} if way != "off" else {})
        before, began = self.forge.requests(), time.monotonic()
        run = subprocess.Popen([self.hob, *options, "run", "--once", *seen], env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        reader = None
        for line in run.stderr:
            if way == "read" and reader is None and (found := re.search(r"(http://\S+)/$", line)):
                reader = Reader(found[1])
                reader.start()
        _pid, status, used = os.wait4(run.pid, 0)
        took = time.monotonic() - began
        run.returncode = os.waitstatus_to_exitcode(status)
        assert run.returncode == 0, run.returncode
        if reader:
            reader.ends.set()
            assert issues == 0 or reader.read > 0, "nobody read anything"
        return took, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, self.forge.requests() - before


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hob", nargs="?", default="target/release/hob")
    parser.add_argument("--issues", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    hob = str(pathlib.Path(given.hob).resolve())
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        # More runs than one account may make in an hour.
        forge = Forge(hob, folder, "--rate-limit", "100000000")
        try:
            bench = Bench(hob, forge, folder, given.issues)
            worked, idle = ({way: [] for way in WAYS} for _ in range(2))
            for _round in range(given.rounds):
                for way in WAYS:
                    worked[way].append(bench.run(way, given.issues))
                    # These are short, and a few do not tell a millisecond.
                    idle[way].extend(bench.run(way, 0) for _ in range(5))
        finally:
            forge.close()

    def row(what, runs, at, each=1, unit="s", digits=3):
        off, *more = (statistics.median(run[at] for run in runs[way]) / each for way in WAYS)
        shown = [f"{one:.{digits}f} {unit} {way} ({100 * (one - off) / off:+.1f} %)" for way, one in zip(WAYS[1:], more)]
        return what, ", ".join([f"{off:.{digits}f} {unit} off", *shown])

    print(machine())
    print_table([
        row("a run with nothing to do: time", idle, 0),
        row("a run with nothing to do: CPU", idle, 1),
        row("an issue: time", worked, 0, given.issues),
        row("an issue: CPU, with git and the agent", worked, 1, given.issues),
        row("peak memory over all issues", worked, 2, unit="MiB", digits=1),
        row("an issue: counted calls", worked, 3, given.issues, "calls", 2),
    ])


if __name__ == "__main__":
    main()
