#!/usr/bin/env python3
"""Lets many workers work on many issues, kills some of them, and counts what came of it.

    cargo build --release && python3 lab/measure/crowd.py target/release/hob

It starts the embedded forge, 20 `hob run` processes, each with a state folder of its own, and 200 issues, all on
loopback; the agent does nothing but write one file. Five workers are killed (SIGKILL) in the middle of it, and each is
replaced. In the end each issue has to have one pull request, one status comment and a ledger that nobody holds: anything
else is printed, and the exit code is 1. Nothing outside a temporary folder is written, and only processes that were
started here are ended.

The default budget of a day lets ten attempts run at once. With agents that take their time, the other workers find no
room, and may cost next to nothing meanwhile:

    python3 lab/measure/crowd.py target/release/hob --kills 0 --work 3 --lease 30 --acquisitions 1.15 --calls 90
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from embedded_forge import Forge, machine, print_table

SETTINGS = """
agent = "writer"
[agents.writer]
backend = "command"
command = ["sh", "-c", "cat > /dev/null; sleep {work}; echo done > done-$HOB_ISSUE.txt"]
[forge]
pace = "unlimited"
[limits]
issues_per_hour = 100000
open_pulls = 0
attempts = 10
[poll]
interval = "{interval}"
[testing.forge]
timeout = "{timeout}s"
retry_base = "100ms"
[testing.lease]
duration = "{lease}s"
skew = "1s"
[testing.limits]
retry_delay = "1s"
"""
MARK = "<!-- hob:status -->"
REPOSITORY = "/repos/ann/site"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hob", nargs="?", default="target/release/hob")
    parser.add_argument("--issues", type=int, default=200)
    parser.add_argument("--workers", type=int, default=20)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=int, default=2, help="forge.timeout, in seconds")
    parser.add_argument("--lease", type=int, default=6, help="lease.duration, in seconds")
    parser.add_argument("--work", type=float, default=0, help="how long an agent works, in seconds")
    parser.add_argument("--interval", default="200ms", help="poll.interval")
    parser.add_argument("--acquisitions", type=float, help="most acquisitions of a lease an issue, on average")
    parser.add_argument("--calls", type=float, help="most API calls that count an issue, on average")
    parser.add_argument("--minutes", type=float, default=10, help="give up after this time")
    parser.add_argument("--kinds", action="store_true", help="print which calls they were; the workers log each one")
    return parser.parse_args()


class Site(Forge):
    """The embedded forge with one repository."""

    def __init__(self, hob, folder):
        super().__init__(hob, folder, "--rate-limit", "100000000")
        self.repository("site")

    def list(self, path):
        """All pages of a list."""
        found, page = [], 1
        while True:
            sign = "&" if "?" in path else "?"
            part = self.call("GET", f"{REPOSITORY}{path}{sign}per_page=100&page={page}")
            found += part
            if len(part) < 100:
                return found
            page += 1

    def count(self, label):
        return len([issue for issue in self.list(f"/issues?state=open&labels={label}") if "pull_request" not in issue])


class Crowd:
    """The workers, and what became of them."""

    def __init__(self, options, forge, folder):
        self.options, self.forge, self.folder = options, forge, folder
        self.started, self.alive, self.ended = 0, [], 0
        (folder / "hob.toml").write_text(SETTINGS.format(**vars(options)))
        for _ in range(options.workers):
            self.start()

    def start(self):
        self.started += 1
        home = self.folder / f"worker-{self.started}"
        home.mkdir()
        environment = self.forge.environment(home) | {"GITHUB_REPOSITORY": "ann/site", "HOB_LOG": "json"}
        if self.options.kinds:
            environment["RUST_LOG"] = "hob=warn,hob_forge=debug"
        command = [self.options.hob, "--config", str(self.folder / "hob.toml")]
        command += ["--state-dir", str(home / "state")]
        with open(home / "out.jsonl", "w") as out, open(home / "err.txt", "w") as err:
            child = subprocess.Popen([*command, "--json", "run"], env=environment, stdout=out, stderr=err)
        self.alive.append(child)

    def kill(self, chance):
        """Kills one worker and starts another in its place."""
        victim = self.alive.pop(chance.randrange(len(self.alive)))
        victim.kill()
        victim.wait()
        self.start()

    def replace_ended(self):
        """A worker that ended by itself is a fault, and is replaced so that the rest can be seen."""
        for child in [child for child in self.alive if child.poll() is not None]:
            self.alive.remove(child)
            self.ended += 1
            self.start()

    def close(self):
        for child in self.alive:
            child.send_signal(signal.SIGTERM)
        ends = time.monotonic() + 30
        for child in self.alive:
            try:
                child.wait(max(0, ends - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def failures(self):
        """What the workers told of failures, the most frequent first, numbers left out."""
        told = collections.Counter()
        for file in self.folder.glob("worker-*/out.jsonl"):
            for line in file.read_text().splitlines():
                try:
                    event = json.loads(line)
                except ValueError:
                    continue  # the last line of a worker that was killed
                if event.get("event") == "failed":
                    told["".join("N" if c.isdigit() else c for c in event["reason"])[:160]] += 1
        return told.most_common(5)


def kinds(folder):
    """How often each kind of call counted, the most frequent first, with numbers, names and commits left out."""
    counted = collections.Counter()
    for file in folder.glob("worker-*/err.txt"):
        for line in file.read_text().splitlines():
            try:
                event = json.loads(line)
            except ValueError:
                continue  # the last line of a worker that was killed
            call = next((span for span in event.get("spans", []) if span["name"] == "forge_call"), None)
            status = event.get("fields", {}).get("status")
            if call and status and status != 304:
                path = call["path"].removeprefix(REPOSITORY)
                path = re.sub(r"[0-9a-f]{40}", "SHA", path)
                counted[f"{call['method']} {re.sub(r'[0-9]+', 'N', path)} {status}"] += 1
    return counted.most_common()


def work(options, forge, crowd, numbers):
    """Waits until every issue is in review, killing on the way; says how long it took, and the kills."""
    chance = random.Random(options.seed)
    # A worker is killed when this many issues are in review, and a moment later.
    moments = sorted(chance.sample(range(1, max(2, options.issues * 9 // 10)), options.kills))
    begun, killed = time.monotonic(), 0
    while time.monotonic() - begun < options.minutes * 60:
        done = forge.count("in-review")
        while killed < len(moments) and done >= moments[killed]:
            time.sleep(chance.random())
            crowd.kill(chance)
            killed += 1
        crowd.replace_ended()
        if done == len(numbers):
            break
        time.sleep(0.5)
    return time.monotonic() - begun, killed


def holders(forge):
    """The issues whose ledger names a holder, and the generation of each ledger."""
    held, generations = [], {}
    # All at once: this list has no pages.
    for ref in forge.call("GET", f"{REPOSITORY}/git/matching-refs/hob/issues/"):
        commit = forge.call("GET", f"{REPOSITORY}/git/commits/{ref['object']['sha']}")
        record = json.loads(commit["message"].split("\n\n", 1)[1])
        generations[record["issue"]] = record["generation"]
        if record.get("lease") is not None:
            held.append(record["issue"])
    return held, generations


def rest(forge, seconds):
    """Waits at most so long until no ledger is held: the last label comes before the release."""
    ends = time.monotonic() + seconds
    while True:
        held, generations = holders(forge)
        if not held or time.monotonic() > ends:
            return held, generations
        time.sleep(1)


def violations(forge, numbers, pulls, comments, ledgers, crowd):
    """All that is not as it has to be, one sentence each."""
    found = []
    labels = {issue["number"]: {label["name"] for label in issue["labels"]} for issue in forge.list("/issues?state=all")}
    found += [f"issue {n} has the labels {sorted(labels[n])}" for n in numbers if labels[n] != {"code", "in-review"}]
    heads = collections.Counter(pull["head"]["ref"].split("-")[0] for pull in pulls)
    found += [f"{count} pull requests come from branches {head}-…" for head, count in heads.items() if count > 1]
    found += [f"issue {n} has no pull request" for n in numbers if f"hob/{n}" not in heads]
    found += [f"issue {n} has {comments[n]} status comments" for n in numbers if comments[n] != 1]
    held, generations = ledgers
    found += [f"issue {n} has no ledger" for n in numbers if n not in generations]
    found += [f"the lease of issue {n} is still held" for n in held]
    if crowd.ended:
        found.append(f"{crowd.ended} workers ended by themselves")
    return found


def main():
    options = arguments()
    options.hob = os.path.abspath(options.hob)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        forge = Site(options.hob, folder)
        numbers = []
        for _ in range(options.issues):
            number = forge.call("POST", REPOSITORY + "/issues", {"title": "Write a file", "body": "Please."})["number"]
            forge.call("POST", f"{REPOSITORY}/issues/{number}/labels", {"labels": ["code"]})
            numbers.append(number)
        crowd = Crowd(options, forge, folder)
        try:
            seconds, killed = work(options, forge, crowd, numbers)
            # What did not end in time is told as it is.
            held, generations = rest(forge, min(3 * options.lease + 30, max(0, options.minutes * 60 - seconds)))
            requests = forge.requests()
        finally:
            crowd.close()
        pulls = forge.list("/pulls?state=all")
        comments = {
            n: sum(comment["body"].startswith(MARK) for comment in forge.list(f"/issues/{n}/comments")) for n in numbers
        }
        wrong = violations(forge, numbers, pulls, comments, (held, generations), crowd)
        if killed < options.kills:
            wrong.append(f"only {killed} of {options.kills} workers could be killed")
        acquired, called = sum(generations.values()) / options.issues, requests / options.issues
        wrong += [
            f"{figure:.2f} {what} an issue, and {most} at most"
            for figure, most, what in [(acquired, options.acquisitions, "acquisitions"), (called, options.calls, "calls")]
            if most is not None and figure > most
        ]
        failures, calls = crowd.failures(), kinds(folder) if options.kinds else []
        forge.close()
    rows = [
        ("workers; killed and replaced", f"{options.workers}; {killed} (seed {options.seed})"),
        ("issues", str(options.issues)),
        ("pull requests; of one issue at most", f"{len(pulls)}; {most(pull['head']['ref'].split('-')[0] for pull in pulls)}"),
        ("status comments; on one issue at most", f"{sum(comments.values())}; {max(comments.values())}"),
        ("leases held at the end", str(len(held))),
        ("acquisitions; of one issue at most", f"{sum(generations.values())}; {max(generations.values(), default=0)}"),
        ("wall time", f"{seconds:.0f} s"),
        ("API calls that count, an issue, idle polls included", f"{called:.0f}"),
    ]
    print(f"{machine()}; lease {options.lease} s, agents of {options.work:g} s.\n")
    print_table(rows)
    if calls:
        print("\n| call that counts | an issue |\n|---|---|")
        for kind, count in calls[:40]:
            print(f"| {kind} | {count / options.issues:.2f} |")
    if failures:
        print("\nWhat workers told of failures, by frequency:")
        for reason, count in failures:
            print(f"- {count} × {reason}")
    if wrong:
        print(f"\n{len(wrong)} violations:")
        for sentence in wrong[:50]:
            print(f"- {sentence}")
        sys.exit(1)


def most(names):
    return max(collections.Counter(names).values(), default=0)


main()
