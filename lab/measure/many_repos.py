#!/usr/bin/env python3
"""Counts what many idle repositories cost a worker: the reads of a round of polls that count against the rate limit.

    cargo build --release && python3 lab/measure/many_repos.py target/release/hob

It starts the embedded forge with 100 repositories, each with three issues that wait for a person's answer, and one
`hob run` over all of them, on loopback. Nothing happens on any issue, so a poll reads only what it has read before: the
exit code is 1 if more reads of a round count than `--reads` says. Before that, it measures commands that know nothing of
the repositories. Nothing outside a temporary folder is written, and only processes that were started here are ended.

    python3 lab/measure/many_repos.py target/release/hob --repositories 1 --issues 100 --finished 10000

does so for one repository with a long past.

    python3 lab/measure/many_repos.py target/release/hob --issues 30 --delay 100 --interval 10s --heard 3

measures instead how soon people are heard where many wait: three times from a label to the claim, and, while every job of the worker is busy,
from `/hob explain` on a blocked issue to its answer. Each request takes 100 ms.
"""

import argparse
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from embedded_forge import Forge, machine, print_table, until

# Commands of a process that knows nothing yet.
FRESH = (["status"], ["status", "--json"], ["status", "--ready"], ["run", "--once"], ["outcomes"])
# Idle polls are at most so many intervals apart.
SLOWEST = 10
SETTINGS = """
agent = "asker"
[agents.asker]
backend = "command"
command = ["sh", "-c", "grep -q 'Take long' && sleep 3600; echo '{{\\"outcome\\":\\"question\\",\\"question\\":\\"Which?\\"}}'"]
[forge]
pace = "unlimited"
[poll]
interval = "{interval}"
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hob", nargs="?", default="target/release/hob")
    parser.add_argument("--repositories", type=int, default=100)
    parser.add_argument("--issues", type=int, default=3, help="blocked issues in each")
    parser.add_argument("--finished", type=int, default=0, help="ledgers of finished issues in each")
    parser.add_argument("--rounds", type=int, default=20, help="rounds that are counted, after those in which polls become rare")
    parser.add_argument("--reads", type=float, default=5, help="most reads that count in a round")
    parser.add_argument("--interval", default="100ms", help="poll.interval")
    parser.add_argument("--delay", type=int, default=0, help="milliseconds that each request takes")
    parser.add_argument("--heard", type=int, default=0, help="measure so many times how soon people are heard")
    parser.add_argument("--minutes", type=float, default=10, help="give up after this time")
    return parser.parse_args()


def open_issue(forge, repository, labels, title="Paint the shed"):
    # As long as a real one, and as hard to compress; the same for all, so that each is the text that the record says was approved.
    body = "\n".join(hashlib.sha256(str(line).encode()).hexdigest() for line in range(40))
    issue = {"title": title, "body": body, "labels": labels}
    return forge.call("POST", f"{repository}/issues", issue)["number"]


def command(hob, forge, folder, names, interval="100ms"):
    (folder / "hob.toml").write_text(SETTINGS.format(interval=interval))
    repositories = [part for name in names for part in ("--repo", f"ann/{name}")]
    options = ["--config", str(folder / "hob.toml"), "--state-dir", str(folder / "state"), "--json"]
    return [hob, *options, *repositories, "run"], forge.environment(folder)


def blocked(hob, forge, folder):
    """An issue that Hob itself has blocked: its record, and its status comment."""
    repository = forge.repository("model")
    number = open_issue(forge, repository, ["code"])
    line, environment = command(hob, forge, folder, ["model"])
    subprocess.run([*line, "--once"], env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    tip = forge.call("GET", f"{repository}/git/ref/hob/issues/{number}")["object"]["sha"]
    record = json.loads(forge.call("GET", f"{repository}/git/commits/{tip}")["message"].split("\n\n", 1)[1])
    assert record["state"] == "blocked", record
    comment = forge.call("GET", f"{repository}/issues/comments/{record['comments']['status']}")
    return record, comment["body"]


def fill(forge, name, issues, record, comment):
    """A repository whose issues are blocked as that one is."""
    repository = forge.repository(name)
    tree = forge.call("GET", f"{repository}/commits/main")["commit"]["tree"]["sha"]
    for _ in range(issues):
        number = open_issue(forge, repository, ["code", "blocked"])
        told = forge.call("POST", f"{repository}/issues/{number}/comments", {"body": comment}, token="hob")
        own = record | {"issue": number, "comments": record["comments"] | {"status": told["id"]}}
        message = "blocked\n\n" + json.dumps(own) + "\n"
        commit = {"message": message, "tree": tree, "parents": []}
        commit = forge.call("POST", f"{repository}/git/commits", commit)["sha"]
        forge.call("POST", f"{repository}/git/refs", {"ref": f"refs/hob/issues/{number}", "sha": commit})


def finish(forge, folder, name, finished, record):
    """So many ledgers of finished issues, with the highest numbers, in one push."""
    record = record | {"state": "done", "blocked": None, "comments": record["comments"] | {"question": None}}
    repository = f"/repos/ann/{name}"
    tree = forge.call("GET", f"{repository}/commits/main")["commit"]["tree"]["sha"]
    place = folder / f"{name}.git"
    address = forge.server.replace("://", "://ann:ann@") + f"/ann/{name}.git"
    git = lambda *args, **more: subprocess.run(["git", "-C", str(place), *args], check=True, **more)
    subprocess.run(["git", "clone", "--quiet", "--bare", address, str(place)], check=True)
    lines = []
    for issue in range(1_000_000, 1_000_000 + finished):
        message = "finished\n\n" + json.dumps(record | {"issue": issue}) + "\n"
        lines.append(f"commit refs/hob/issues/{issue}\ncommitter hob <hob@example.com> 1767225600 +0000\n")
        lines.append(f"data {len(message.encode())}\n{message}\nM 040000 {tree} \n\n")
    git("fast-import", "--quiet", input="".join(lines).encode())
    git("push", "--quiet", "origin", "refs/hob/issues/*:refs/hob/issues/*")


def fresh(line, environment, forge, folder, arguments):
    """What a command costs in a process that knows nothing yet."""
    line = line[:-1]
    line[line.index("--state-dir") + 1] = str(folder / "fresh" / "-".join(arguments))
    counted, begun = forge.requests(), time.perf_counter()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    child = subprocess.Popen([*line, *arguments], env=environment, **quiet)
    _, status, used = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - begun
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, arguments
    processor, memory = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    counts = f"{forge.requests() - counted}; {seconds:.2f} s; {processor:.2f} s; {memory:.0f} MB"
    return f"`hob {' '.join(arguments)}`: calls that count; time; of processors, with its children; peak memory", counts


def first_round(worker, repositories):
    """Reads the worker's events until it has polled each repository; the others are read beside, or the worker would wait for its reader."""
    polled = set()
    for line in worker.stdout:
        event = json.loads(line)
        assert event["event"] != "failed", line
        if event["event"] == "polled":
            polled.add(event.get("repo"))
        if len(polled) == repositories:
            threading.Thread(target=worker.stdout.read, daemon=True).start()
            return
    raise SystemExit("the worker ended early")


def seconds_of(interval):
    return float(interval[:-2]) / 1000 if interval.endswith("ms") else float(interval[:-1])


def heard(forge, worker, options):
    """How soon a fresh issue is claimed, and a command on a blocked one answered while every job is busy."""
    places = [f"/repos/ann/site{n * 37 % options.repositories}" for n in range(options.heard)]

    def claimed(place, issue):
        return any(ref["ref"].endswith(f"/{issue}") for ref in forge.call("GET", f"{place}/git/matching-refs/hob/issues/{issue}"))

    def answered(place, issue):
        return any("hob:reply" in comment["body"] for comment in forge.call("GET", f"{place}/issues/{issue}/comments"))

    def seconds(what, holds):
        begun = time.monotonic()
        until(what, holds, options.minutes * 60, 0.1)
        return time.monotonic() - begun

    claims = []
    for place in places:
        issue = open_issue(forge, place, ["code"])
        claims.append(seconds("a claim", lambda: claimed(place, issue)))
    busy = open_issue(forge, places[0], ["code"], "Take long")
    seconds("the claim of the long one", lambda: claimed(places[0], busy))
    answers = []
    for place in places:
        forge.call("POST", f"{place}/issues/1/comments", {"body": "/hob explain"})
        answers.append(seconds("an answer", lambda: answered(place, 1)))
    shown = lambda times: ", ".join(f"{each:.0f}" for each in times) + " s"
    return [
        ("label to claim of a fresh issue", shown(claims)),
        ("`/hob explain` on a blocked issue to its answer, the worker's only job busy", shown(answers)),
    ]


def memory_mb(pid, kind):
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith(kind):
            return int(line.split()[1]) / 1024
    return 0


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def idle(forge, worker, options, started):
    """What the first round costs, and a later one in which nothing happens."""
    first, took = forge.requests() - started[0], time.monotonic() - started[1]
    a_round = SLOWEST * seconds_of(options.interval)
    # Polls become as rare as they may, and each issue was looked at.
    time.sleep(2 * a_round + 30)
    before, used, begun = forge.requests(), processor_seconds(worker.pid), time.monotonic()
    time.sleep(options.rounds * a_round)
    # A request under way counts until its answer turns out to be unchanged: `before` may hold one or two of those.
    each = max(0, forge.requests() - before) / options.rounds
    core = (processor_seconds(worker.pid) - used) / (time.monotonic() - begun)
    own, all_of_it = memory_mb(worker.pid, "Pss_Anon:"), memory_mb(worker.pid, "Pss:")
    return each, [
        ("first round: calls that count; time", f"{first}; {took:.1f} s"),
        (f"a later round, each {a_round:g} s: calls that count; of a core", f"{each:.1f}; {core:.1%}"),
        ("the worker's memory: its own; with the program's pages", f"{own:.1f} MB; {all_of_it:.1f} MB"),
    ]


def main():
    options = arguments()
    options.hob = os.path.abspath(options.hob)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        slow = [{"path": "/**", "login": "hob[bot]", "what": {"delay": options.delay}}] if options.delay else []
        (folder / "faults.json").write_text(json.dumps(slow))
        flags = ("--rate-limit", "100000000", "--faults", str(folder / "faults.json"))
        forge = Forge(options.hob, folder, *flags)
        record, comment = blocked(options.hob, forge, folder)
        names = [f"site{n}" for n in range(options.repositories)]
        for each in names:
            fill(forge, each, options.issues, record, comment)
            if options.finished:
                finish(forge, folder, each, options.finished, record)
        line, environment = command(options.hob, forge, folder, names, options.interval)
        # An issue that changed within the last minute is read by itself, since lists may lag behind it.
        time.sleep(62)
        if options.finished:
            # The first run lists what is finished.
            fresh(line, environment, forge, folder / "first", ["run", "--once"])
        rows = [] if options.heard else [fresh(line, environment, forge, folder, asked) for asked in FRESH]
        started = forge.requests(), time.monotonic()
        worker = subprocess.Popen(
            [*line, "--time", f"{options.minutes}m"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        first_round(worker, options.repositories)
        if options.heard:
            each, found = 0, heard(forge, worker, options)
        else:
            each, found = idle(forge, worker, options, started)
        worker.send_signal(signal.SIGTERM)
        worker.wait(timeout=60)
        forge.close()
    print(f"{machine()}.\n")
    print_table(
        [
            (
                "repositories; blocked issues in each; finished ledgers; time of a request",
                f"{options.repositories}; {options.issues}; {options.finished}; {options.delay} ms",
            ),
            *found,
            *rows,
        ]
    )
    sys.exit(each > options.reads)


main()
