#!/usr/bin/env python3
"""Counts what many idle repositories cost a worker: the reads of a round of polls that count against the rate limit.

    cargo build --release && python3 lab/measure/many_repos.py target/release/hob

It starts the embedded forge with 100 repositories, each with three issues that wait for a person's answer, and with `--in-review 3` as
many whose pull request is open, and one `hob run` over all of them, on loopback. Nothing happens on any issue, so a poll reads only what it has read before: the
exit code is 1 if more reads of a round count than `--reads` says. Before that, it measures commands that know nothing of
the repositories. Nothing outside a temporary folder is written, and only processes that were started here are ended.

    python3 lab/measure/many_repos.py target/release/hob --repositories 1 --issues 100 --finished 10000

does so for one repository with a long past.

    python3 lab/measure/many_repos.py target/release/hob --issues 30 --delay 100 --interval 10s --heard 3

measures instead how soon people are heard where many wait: three times from a label to the claim, and, while every job of the worker is busy,
from `/hob explain` on a blocked issue to its answer. Each request takes 100 ms.

    python3 lab/measure/many_repos.py target/release/hob --series repositories=1,10,100,1000
    python3 lab/measure/many_repos.py target/release/hob --repositories 1 --series issues=100,1000,10000

measure these beside each other, and fit how the calls of a round grow: the slope of their logarithms, 0 where they do not grow and 1 where they
grow as what is named.
"""

import argparse
import concurrent.futures
import hashlib
import json
import math
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
# Issues of which each is changed in a round of its own.
CHANGES = 3
SETTINGS = """
agent = "asker"
[agents.asker]
backend = "command"
command = ["sh", "-c", '''
case $(cat) in
*'Take long'*) sleep 3600 ;;
*'Make done'*) echo done > done.txt; exit ;;
esac
echo '{{"outcome":"question","question":"Which?"}}'
''']
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
    parser.add_argument("--in-review", type=int, default=0, help="issues in review in each")
    parser.add_argument("--finished", type=int, default=0, help="ledgers of finished issues in each")
    parser.add_argument("--rounds", type=int, default=20, help="rounds that are counted, after those in which polls become rare")
    parser.add_argument("--reads", type=float, default=5, help="most reads that count in a round")
    parser.add_argument("--interval", default="100ms", help="poll.interval")
    parser.add_argument("--delay", type=int, default=0, help="milliseconds that each request takes")
    parser.add_argument("--heard", type=int, default=0, help="measure so many times how soon people are heard")
    parser.add_argument("--minutes", type=float, default=10, help="give up after this time")
    parser.add_argument("--series", help="several sizes, such as repositories=1,10,100, and how the calls grow with them")
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


def worked_on(hob, forge, folder, title, state):
    """An issue that Hob itself has brought to this state: its record, and its status comment."""
    repository = forge.repository(state)
    number = open_issue(forge, repository, ["code"], title)
    line, environment = command(hob, forge, folder, [state])
    subprocess.run([*line, "--once"], env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    tip = forge.call("GET", f"{repository}/git/ref/hob/issues/{number}")["object"]["sha"]
    record = json.loads(forge.call("GET", f"{repository}/git/commits/{tip}")["message"].split("\n\n", 1)[1])
    assert record["state"] == state, record
    comment = forge.call("GET", f"{repository}/issues/comments/{record['comments']['status']}")
    return record, comment["body"]


def commit_at(forge, repository, ref, tree, message, parents=()):
    commit = {"message": message, "tree": tree, "parents": list(parents)}
    commit = forge.call("POST", f"{repository}/git/commits", commit)["sha"]
    forge.call("POST", f"{repository}/git/refs", {"ref": ref, "sha": commit})
    return commit


def opened_pull(forge, repository, number, base, tree):
    """The issue's pull request by Hob: what the record has of it."""
    branch = f"hob/{number}-make-done"
    head = commit_at(forge, repository, f"refs/heads/{branch}", tree, "Make done", [base])
    pull = {"title": "Make done", "head": branch, "base": "main", "body": f"Fixes #{number}"}
    return branch, head, forge.call("POST", f"{repository}/pulls", pull, token="hob")["number"]


def fill(forge, name, blocked, in_review):
    """A repository with so many issues that are blocked as that one is, and so many in review; each is a number, a record and a comment."""
    repository = forge.repository(name)
    main = forge.call("GET", f"{repository}/commits/main")
    tree, base = main["commit"]["tree"]["sha"], main["sha"]
    done = [{"path": "done.txt", "mode": "100644", "type": "blob", "content": "done\n"}]
    done = forge.call("POST", f"{repository}/git/trees", {"base_tree": tree, "tree": done})["sha"]
    for issues, title, record, comment in (blocked, in_review):
        for _ in range(issues):
            number = open_issue(forge, repository, ["code", record["state"]], title)
            told = forge.call("POST", f"{repository}/issues/{number}/comments", {"body": comment}, token="hob")
            own = record | {"issue": number, "comments": record["comments"] | {"status": told["id"]}}
            if record["state"] == "in-review":
                branch, head, pull = opened_pull(forge, repository, number, base, done)
                own["work"] = record["work"] | {"branch": record["work"]["branch"] | {"name": branch}, "head": head}
                proof = record["pull"]["proof"] | {"head": head}
                own["pull"] = record["pull"] | {"number": pull, "introduced": {"pull": pull}, "proof": proof}
                # Hob writes its ledger last.
                own["renewed_at"] = forge.call("GET", f"{repository}/issues/{number}")["updated_at"]
            message = f"{record['state']}\n\n{json.dumps(own)}\n"
            commit_at(forge, repository, f"refs/hob/issues/{number}", tree, message)


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


def counts_since(forge, before):
    return [now - then for now, then in zip(forge.counts(), before)]


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
    """What the first round costs, a later one in which nothing happens, and one in which one issue changed."""
    took, (rest, graphql) = time.monotonic() - started[1], counts_since(forge, started[0])
    a_round = SLOWEST * seconds_of(options.interval)
    # Polls become as rare as they may, and each issue was looked at.
    time.sleep(2 * a_round + 30)
    before, used, begun = forge.counts(), processor_seconds(worker.pid), time.monotonic()
    time.sleep(options.rounds * a_round)
    # A request under way counts until its answer turns out to be unchanged: `before` may hold one or two of those.
    later = [max(0, count) / options.rounds for count in counts_since(forge, before)]
    core = (processor_seconds(worker.pid) - used) / (time.monotonic() - begun)
    own, all_of_it = memory_mb(worker.pid, "Pss_Anon:"), memory_mb(worker.pid, "Pss:")
    changed = sum(later) + what_a_change_adds(forge, options, a_round)
    return (sum(later), changed), [
        ("first round: calls that count, REST and GraphQL; time", f"{rest}, {graphql}; {took:.1f} s"),
        (f"a later round, each {a_round:g} s: the same; of a core", f"{later[0]:.1f}, {later[1]:.1f}; {core:.1%}"),
        ("a round in which one issue changed: both; a mean", f"{changed:.1f}"),
        ("the worker's memory: its own; with the program's pages", f"{own:.1f} MB; {all_of_it:.1f} MB"),
    ]


def what_a_change_adds(forge, options, a_round):
    """The calls for an issue that got a label which means nothing to Hob: those that as many rounds without a change do not make."""

    def calls(change):
        before = forge.requests()
        change()
        # Polls of the repository are more frequent after a change, and then become as rare as before.
        time.sleep(options.rounds * a_round)
        return forge.requests() - before

    added = 0
    for n in range(CHANGES):
        place = f"/repos/ann/site{n * 37 % options.repositories}/issues/{n + 1}/labels"
        added += calls(lambda: forge.call("POST", place, {"labels": ["later"]})) - calls(lambda: None)
    return added / CHANGES


def measure(options):
    """The calls of a later round without and with a change, and all figures as rows."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        slow = [{"path": "/**", "login": "hob[bot]", "what": {"delay": options.delay}}] if options.delay else []
        (folder / "faults.json").write_text(json.dumps(slow))
        flags = ("--rate-limit", "100000000", "--faults", str(folder / "faults.json"))
        forge = Forge(options.hob, folder, *flags)
        blocked = (options.issues, "Paint the shed", *worked_on(options.hob, forge, folder, "Paint the shed", "blocked"))
        in_review = (options.in_review, "Make done", *worked_on(options.hob, forge, folder, "Make done", "in-review"))
        names = [f"site{n}" for n in range(options.repositories)]
        for each in names:
            fill(forge, each, blocked, in_review)
            if options.finished:
                finish(forge, folder, each, options.finished, blocked[2])
        line, environment = command(options.hob, forge, folder, names, options.interval)
        # An issue that changed within the last minute is read by itself, since lists may lag behind it.
        time.sleep(62)
        if options.finished:
            # The first run lists what is finished.
            fresh(line, environment, forge, folder / "first", ["run", "--once"])
        asked_before = () if options.heard or options.series else FRESH
        rows = [fresh(line, environment, forge, folder, asked) for asked in asked_before]
        started = forge.counts(), time.monotonic()
        worker = subprocess.Popen(
            [*line, "--time", f"{options.minutes}m"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        first_round(worker, options.repositories)
        if options.heard:
            calls, found = (0, 0), heard(forge, worker, options)
        else:
            calls, found = idle(forge, worker, options, started)
        worker.send_signal(signal.SIGTERM)
        worker.wait(timeout=60)
        forge.close()
    named = "repositories; issues in each: blocked, in review; finished ledgers; time of a request"
    size = f"{options.repositories}; {options.issues}, {options.in_review}; {options.finished}; {options.delay} ms"
    return calls, [(named, size), *found, *rows]


def slope(sizes, calls):
    """The exponent of growth: the least-squares slope of the logarithms."""
    points = [(math.log(size), math.log(max(1, count))) for size, count in zip(sizes, calls)]
    middle = [sum(values) / len(points) for values in zip(*points)]
    over = sum((x - middle[0]) * (y - middle[1]) for x, y in points)
    return over / sum((x - middle[0]) ** 2 for x, _ in points)


def series(options):
    """Measures all sizes beside each other, since they wait most of the time, and says how the calls grow."""
    what, sizes = options.series.split("=")
    sizes = [int(size) for size in sizes.split(",")]
    each = [argparse.Namespace(**vars(options) | {what: size}) for size in sizes]
    with concurrent.futures.ThreadPoolExecutor(len(sizes)) as pool:
        found = [calls for calls, _ in pool.map(measure, each)]
    print(f"{machine()}.\n\n| {what} | calls of a later round | of one in which one issue changed |\n|---|---|---|")
    for size, (later, changed) in zip(sizes, found):
        print(f"| {size:,} | {later:.1f} | {changed:.1f} |")
    exponents = [slope(sizes, calls) for calls in zip(*found)]
    print("| exponent | " + " | ".join(f"{exponent:.2f}" for exponent in exponents) + " |")


def main():
    options = arguments()
    options.hob = os.path.abspath(options.hob)
    if options.series:
        return series(options)
    (later, _), rows = measure(options)
    print(f"{machine()}.\n")
    print_table(rows)
    sys.exit(later > options.reads)


main()
