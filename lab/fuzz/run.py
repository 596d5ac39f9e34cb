#!/usr/bin/env python3
"""Fuzzes what Hob reads from others, each target for so many seconds, and prints a table of it.

    cargo install cargo-fuzz
    python3 lab/fuzz/run.py 3600              # all targets, an hour each
    python3 lab/fuzz/run.py 60 hello mail     # these two

It begins with the samples that unit tests have, and with what earlier runs found, below `lab/fuzz/corpus`. An input that breaks something is
kept below `lab/fuzz/artifacts`, and the exit code is 1. Without the nightly compiler there is no sanitizer; the code has no unsafe part of its own.
"""

import json
import pathlib
import re
import ssl
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGETS = ("hello", "updates", "launch", "ledger", "mail", "review")
ONE = "1" * 40


def packet(line):
    return f"{len(line) + 4:04x}{line}"


def hello():
    """The first message of a TLS client."""
    sent = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), sent, server_hostname="ok.example")
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        return sent.read()


def samples(target):
    """The first inputs of a target."""
    if target == "hello":
        return [hello()]
    if target == "ledger":
        lines = (ROOT / "crates/hob-domain/src/issue/ledger-v1.jsonl").read_text().splitlines()
        return [json.loads(line)["message"] for line in lines]
    if target in ("mail", "review"):
        shapes = (ROOT / "crates/hob-domain/src/conversation/shapes.txt").read_text()
        return [shape.partition("\n")[2] for shape in re.split(r"(?m)^#### ", shapes)[1:]]
    if target == "updates":
        update = packet(f"{'0' * 40} {ONE} refs/heads/hob/7\0 report-status-v2 agent=git/2.47.3")
        return ["0000", update + "0000PACK", update]
    return []


def fuzz(target, seconds):
    """Runs one target; returns its row, and whether nothing broke."""
    corpus = HERE / "corpus" / target
    corpus.mkdir(parents=True, exist_ok=True)
    for number, sample in enumerate(samples(target)):
        (corpus / f"sample-{number}").write_bytes(sample if isinstance(sample, bytes) else sample.encode())
    command = ["cargo", "fuzz", "run", "--fuzz-dir", HERE, "--sanitizer", "none", target, "--"]
    limits = [f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"]
    run = subprocess.run([*command, *limits], cwd=ROOT, capture_output=True, text=True)
    runs = re.search(r"number_of_executed_units: (\d+)", run.stderr)
    covered = re.findall(r"cov: (\d+)", run.stderr)
    if run.returncode:
        print(run.stderr[-4000:], file=sys.stderr)
    count = f"{int(runs[1]):,}" if runs else "?"
    found = "nothing" if run.returncode == 0 else "see `artifacts`"
    return f"| `{target}` | {count} | {covered[-1] if covered else '?'} | {found} |", run.returncode == 0


def main():
    if len(sys.argv) < 2 or not sys.argv[1].isdecimal():
        sys.exit(__doc__)
    whole = True
    print("| target | inputs | places reached | found |\n|---|---|---|---|")
    for target in sys.argv[2:] or TARGETS:
        row, fine = fuzz(target, int(sys.argv[1]))
        print(row, flush=True)
        whole &= fine
    sys.exit(0 if whole else 1)


if __name__ == "__main__":
    main()
