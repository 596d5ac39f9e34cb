#!/usr/bin/env python3
"""Measures what the documentation states about Hob, on this machine, and prints it as a Markdown table.

    cargo build --release && python3 lab/measure/figures.py target/release/hob

It starts the embedded forge and workers on loopback; the agent does nothing but write one file. Linux only: memory is
read from /proc. Nothing outside temporary folders is written.
"""

import datetime
import hmac
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from embedded_forge import Forge, machine, print_table, until

HOB = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "target/release/hob")
ROUNDS = 5
FINISHED = 1_000
SETTINGS = """
agent = "writer"
[agents.writer]
backend = "command"
command = ["sh", "-c", "cat > /dev/null; echo done > done-$HOB_ISSUE.txt"]
[limits]
issues_per_hour = 1000
[poll]
interval = "INTERVAL"
"""


class Site(Forge):
    """The embedded forge with one repository."""

    def __init__(self, folder):
        super().__init__(HOB, folder)
        self.repository("site")

    def issue(self):
        return self.call("POST", "/repos/ann/site/issues", {"title": "Write a file", "body": "Please."})["number"]

    def label(self, number):
        self.call("POST", f"/repos/ann/site/issues/{number}/labels", {"labels": ["code"]})


def hob(forge, folder, *arguments, pause_ms=0):
    """The command and its environment, for a worker on the forge."""
    # With spaced writes reads are held to the forge's limits, too, which faster polls would use up.
    (folder / "hob.toml").write_text(SETTINGS.replace("INTERVAL", "2s" if pause_ms else "20ms"))
    environment = forge.environment(folder) | {
        "GITHUB_REPOSITORY": "ann/site",
        "HOB__TESTING__FORGE__WRITE_INTERVAL_MS": str(pause_ms),
    }
    command = [HOB, "--config", str(folder / "hob.toml"), "--state-dir", str(folder / "state"), "--json", *arguments]
    return command, environment


def memory_mb(pid, field, file="smaps_rollup"):
    for line in pathlib.Path(f"/proc/{pid}/{file}").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    raise SystemExit(f"/proc/{pid}/{file} has no {field}")


def start_ms():
    times = []
    for _ in range(100):
        begun = time.perf_counter()
        subprocess.run([HOB, "--version"], check=True, stdout=subprocess.DEVNULL)
        times.append((time.perf_counter() - begun) * 1000)
    return statistics.median(times)


def calls():
    """Calls of one run over one issue, and of a poll of a worker that runs on and finds nothing new."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        forge = Site(folder)
        command, environment = hob(forge, folder, "run", "--once")
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        # The labels are made once a repository, by the first run that finds work.
        first = forge.issue()
        forge.label(first)
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        forge.label(forge.issue())
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        issue = json.loads(done.stdout.splitlines()[-1])["summary"]["calls"]
        idle_command, _ = hob(forge, folder, "run", "--time", "4s")
        done = subprocess.run(idle_command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        polls = sum(line["event"] == "polled" for line in lines)
        idle = lines[-1]["summary"]["calls"]
        forge.close()
        return issue, idle, polls


def latency(pause_ms):
    """Seconds from the label to the claim and to the pull request, and the worker's memory, medians over the rounds."""
    claims, pulls = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        forge = Site(folder)
        command, environment = hob(forge, folder, "run", pause_ms=pause_ms)
        worker = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        read_until(worker, lambda event: event["event"] == "polled")
        read_until(worker, lambda event: event["event"] == "polled")
        idle = memory_mb(worker.pid, "Pss")
        for _ in range(ROUNDS):
            number = forge.issue()
            begun = time.perf_counter()
            forge.label(number)
            read_until(worker, lambda event: event.get("issue") == number and event.get("state") == "assigned")
            claims.append(time.perf_counter() - begun)
            read_until(worker, lambda event: event.get("issue") == number and event["event"] == "published")
            pulls.append(time.perf_counter() - begun)
            # The next round starts from a worker that waits.
            read_until(worker, lambda event: event["event"] == "polled")
        peak = memory_mb(worker.pid, "VmHWM", "status")
        worker.send_signal(signal.SIGTERM)
        worker.wait(30)
        forge.close()
    return statistics.median(claims), statistics.median(pulls), idle, peak


def woken():
    """Seconds from a webhook about the label to the claim in the ledger, where polls by the clock are an hour apart; the median. An issue
    comes each 25 s, so that some claims find the minute's pushes used up."""
    secret, seconds = "token", []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        forge = Site(folder)
        command, environment = hob(forge, folder, "--set", "poll.interval=1h", "run", "--listen", "0", pause_ms=1000)
        # The labels are made by the first run that finds work.
        forge.label(forge.issue())
        worker = subprocess.Popen(
            command, env=environment | {"HOB_LISTEN_TOKEN": secret}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        page = next(found[1] for line in worker.stderr if (found := re.search(r"serving the page at (http\S+)/$", line)))
        read_until(worker, lambda event: event["event"] == "published")
        for round in range(ROUNDS):
            time.sleep(25)
            number = forge.issue()
            forge.label(number)
            body = json.dumps({"action": "labeled", "repository": {"full_name": "ann/site"}, "sender": {"login": "ann"}}).encode()
            delivery = urllib.request.Request(f"{page}/webhook", body, {
                "Content-Type": "application/json",
                "X-GitHub-Event": "issues",
                "X-GitHub-Delivery": str(round),
                "X-Hub-Signature-256": "sha256=" + hmac.new(secret.encode(), body, "sha256").hexdigest(),
            })
            begun = time.perf_counter()
            urllib.request.urlopen(delivery, timeout=30).close()
            until("the claim", lambda: forge.call("GET", f"/repos/ann/site/git/matching-refs/hob/issues/{number}"), pause=0.01)
            seconds.append(time.perf_counter() - begun)
        worker.send_signal(signal.SIGTERM)
        worker.communicate(timeout=30)
        forge.close()
    return statistics.median(seconds)


def takeover():
    """Seconds from the moment a dead worker's lease is free to the next worker's claim, by the forge's clock, where that
    worker polls as it does by default. Worker and agent are ended by SIGKILL."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        forge = Site(folder)
        lease = {"testing.lease.duration": "9s", "testing.lease.skew": "1s", "testing.forge.timeout": "3s"}
        lease |= {"poll.interval": "30s", "poll.max_interval": "5m"}
        flags = [part for key, value in lease.items() for part in ("--set", f"{key}={value}")]
        command, environment = hob(forge, folder, "run", *flags)
        settings = (folder / "hob.toml").read_text()
        (folder / "hob.toml").write_text(settings.replace("echo done", "test -e again || { touch again; sleep 600; }; echo done"))
        number = forge.issue()
        forge.label(number)
        dead = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        read_until(dead, lambda event: event.get("text", "").startswith("running agent `writer`"))
        time.sleep(1)
        dead.kill()
        dead.wait(30)
        worker = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        read_until(worker, lambda event: event["event"] == "published")
        worker.send_signal(signal.SIGTERM)
        worker.wait(30)
        history, _ = hob(forge, folder, "explain", str(number), "--history")
        (folder / "hob.toml").write_text("")
        told = subprocess.run(history, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        forge.close()
    records = json.loads(told.stdout)["result"]
    at = next(index for index, entry in enumerate(records) if entry["sentence"].startswith("taken over"))
    renewed, taken = (
        datetime.datetime.fromisoformat(records[index]["record"]["renewed_at"]) for index in (at - 1, at)
    )
    return (taken - renewed).total_seconds() - 10


def long_past(finished):
    """Calls and seconds of a process that knows nothing on a repository with so many finished issues, and of their outcomes."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        forge = Site(folder)
        command, environment = hob(forge, folder, "run", "--once")
        number = forge.issue()
        forge.label(number)
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        forge.call("PATCH", f"/repos/ann/site/issues/{number}", {"state": "closed"})
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        history, _ = hob(forge, folder, "explain", str(number), "--history")
        told = subprocess.run(history, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        record = json.loads(told.stdout)["result"][-1]["record"]
        assert record["state"] == "done" and not record.get("lease"), record
        tree = forge.call("GET", "/repos/ann/site/commits/main")["commit"]["tree"]["sha"]
        for other in range(number + 1, number + finished):
            message = "finished\n\n" + json.dumps(record | {"issue": other}) + "\n"
            commit = forge.call("POST", "/repos/ann/site/git/commits", {"message": message, "tree": tree, "parents": []})
            forge.call("POST", "/repos/ann/site/git/refs", {"ref": f"refs/hob/issues/{other}", "sha": commit["sha"]})
        command[command.index("--state-dir") + 1] = str(folder / "fresh")
        begun = time.perf_counter()
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        seconds = time.perf_counter() - begun
        counted, begun = forge.requests(), time.perf_counter()
        outcomes, _ = hob(forge, folder, "outcomes")
        outcomes[outcomes.index("--state-dir") + 1] = str(folder / "fresh, too")
        told = subprocess.run(outcomes, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        outcomes = forge.requests() - counted, time.perf_counter() - begun
        assert json.loads(told.stdout)["result"], told.stdout
        forge.close()
    return json.loads(done.stdout.splitlines()[-1])["summary"]["calls"], seconds, outcomes


def read_until(worker, wanted):
    for line in worker.stdout:
        if wanted(json.loads(line)):
            return
    raise SystemExit("the worker ended early")


def main():
    issue, idle, polls = calls()
    fast_claim, fast_pull, idle_mb, peak_mb = latency(0)
    claim, pull, _, _ = latency(1000)
    past, past_seconds, (outcomes, outcomes_seconds) = long_past(FINISHED)
    takeovers = [takeover() for _ in range(ROUNDS)]
    rows = [
        ("`hob --version`, start to end, median of 100", f"{start_ms():.1f} ms"),
        ("binary", f"{os.path.getsize(HOB) / 2**20:.1f} MiB"),
        ("memory of an idle worker (PSS)", f"{idle_mb:.1f} MB"),
        ("memory of a worker at work (peak RSS)", f"{peak_mb:.1f} MB"),
        (f"label to claim, writes not spaced, median of {ROUNDS}", f"{fast_claim:.2f} s"),
        (f"label to pull request, writes not spaced, median of {ROUNDS}", f"{fast_pull:.2f} s"),
        (f"label to claim, one write a second (the default), median of {ROUNDS}", f"{claim:.2f} s"),
        (f"webhook to claim in the ledger, one write a second (the default), median of {ROUNDS}", f"{woken():.2f} s"),
        (f"label to pull request, one write a second (the default), median of {ROUNDS}", f"{pull:.2f} s"),
        (
            f"a killed worker's lease is free to the next worker's claim, polls every 30 s to 5 min, the longest of {ROUNDS}",
            f"{max(takeovers):.0f} s",
        ),
        ("API calls of a fresh process over one issue: reads that count", str(issue["reads"])),
        ("API calls of a fresh process over one issue: writes", str(issue["writes"])),
        (f"API calls of {polls} idle polls: reads that count, all of them in the first poll", str(idle["reads"])),
        (f"API calls of {polls} idle polls: reads answered by 304, which are free", str(idle["unchanged"])),
        (
            f"a fresh process, {FINISHED} finished issues and nothing to do: reads that count, start to end",
            f"{past['reads']}, {past_seconds:.2f} s",
        ),
        (f"`hob outcomes` of {FINISHED} finished issues, in a fresh process: calls that count, start to end", f"{outcomes}, {outcomes_seconds:.2f} s"),
    ]
    print(f"{machine()}; workers poll every 20 ms to 0.2 s, and every 2 s or more where writes are spaced.\n")
    print_table(rows)


main()
