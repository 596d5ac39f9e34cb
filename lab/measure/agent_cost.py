#!/usr/bin/env python3
"""Measures from outside what Hob's own agent costs beside the model, a bare loop as the floor, and other agents' command lines.

The parent is this program and shares no page with what it measures. Times are this program's clock at the scripted model's requests; CPU is
what the kernel says of the finished process and all it waited for (wait4, in microseconds); memory is the peak of the largest process, and beside
it the share of all processes at the last step (PSS), for which the first one is stopped. A step's CPU is the difference of two runs, with many steps and
with one, so that no start is in it. Linux only.

    cargo build --release -p hob -p hob-bench
    scripts/agents.sh FOLDER claude codex mini-swe-agent pi
    lab/measure/agent_cost.py [--agents FOLDER]

The other agents are run by `hob agent run`, so that Hob's own start, some 10 ms, is in theirs.
"""

import argparse
import json
import os
import pathlib
import platform
import queue
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A step that the shell does itself, and one that starts a program.
STEPS = {"built-in": "echo {n} >> steps.txt", "program": "/bin/echo {n} >> steps.txt"}
# The folder in which scripts/agents.sh installs other agents, and the model that each accepts without looking it up.
PEERS = {
    "claude": ("node_modules/.bin", "claude-sonnet-4-5"),
    "codex": ("node_modules/.bin", "gpt-5.1"),
    "mini-swe-agent": ("bin", "openai/scripted"),
    "pi": ("node_modules/.bin", "openai/scripted"),
}


def descendants(pid):
    """It and the processes below it."""
    found = [pid]
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            # The name is in parentheses, and may have blanks and parentheses.
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            found += descendants(int(entry.name))
    return found


def pss_mb(pid):
    """The memory of it and of the processes below it, while it is stopped; pages that several share count by parts."""
    os.kill(pid, signal.SIGSTOP)
    kilobytes = 0
    for each in descendants(pid):
        try:
            lines = pathlib.Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        kilobytes += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    os.kill(pid, signal.SIGCONT)
    return kilobytes * 1024 / 1e6


def read_lines(stream):
    """A queue of the lines that come, each with the time at which it came."""
    lines = queue.SimpleQueue()

    def read():
        for line in stream:
            lines.put((time.monotonic(), line))

    threading.Thread(target=read, daemon=True).start()
    return lines


def run(bench, subject, commands, state):
    """One run: seconds to the first request, seconds a step, CPU seconds, peak and shared MB, bytes of the first and the last request."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=state))
    (folder / "README.md").write_text("A folder to measure agents in.\n")
    options = [part for command in commands for part in ("--command", command)]
    server = subprocess.Popen([bench, "model-server", *options], stdout=subprocess.PIPE, text=True, bufsize=1)
    try:
        address = json.loads(server.stdout.readline())["address"]
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder.parent),
            "OPENAI_BASE_URL": f"{address}/v1",
            "ANTHROPIC_BASE_URL": address,
            "OPENAI_API_KEY": "no-key-is-needed",
            "ANTHROPIC_API_KEY": "no-key-is-needed",
        }
        began = time.monotonic()
        agent = subprocess.Popen(
            subject(address, folder, state), env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        lines = read_lines(server.stdout)
        seen, stopped = [], 0
        while len(seen) < len(commands) + 1:
            try:
                came, line = lines.get(timeout=1)
            except queue.Empty:
                if os.waitid(os.P_PID, agent.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                    sys.exit(f"{agent.args[0]} ended before its work was done: {' '.join(map(str, agent.args))}")
                continue
            request = json.loads(line)
            # Requests for titles and the like are not steps.
            if "step" in request["kind"] or request["kind"] == "ending":
                seen.append((came - stopped, request["bytes"]))
                if len(seen) == len(commands):
                    pss = pss_mb(agent.pid)
                    stopped = time.monotonic() - seen[-1][0]
        _, status, usage = os.wait4(agent.pid, 0)
        agent.returncode = os.waitstatus_to_exitcode(status)
        done = (folder / "steps.txt").read_text().split()
        if agent.returncode != 0 or len(done) != len(commands):
            sys.exit(f"a run ended with {agent.returncode} after {len(done)} of {len(commands)} steps")
    finally:
        server.kill()
        server.wait()
    steps = seen[: len(commands) + 1]
    return {
        "start": steps[0][0] - began,
        "step": (steps[-1][0] - steps[0][0]) / len(commands),
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss * 1024 / 1e6,
        "pss": pss,
        "first": steps[0][1],
        "last": steps[-1][1],
    }


def measure(bench, subject, command, steps, rounds, state):
    """The medians of some rounds."""
    commands = [command.format(n=n) for n in range(steps)]
    many = [run(bench, subject, commands, state) for _ in range(rounds)]
    one = [run(bench, subject, commands[:1], state) for _ in range(rounds)]
    median = lambda runs, what: statistics.median(result[what] for result in runs)
    return {
        "start_ms": median(many, "start") * 1e3,
        "step_ms": median(many, "step") * 1e3,
        "cpu_step_ms": (median(many, "cpu") - median(one, "cpu")) / (steps - 1) * 1e3,
        "peak_mb": median(many, "peak"),
        "pss_mb": median(many, "pss"),
        "request_first_kb": median(many, "first") / 1e3,
        "request_last_kb": median(many, "last") / 1e3,
    }


def native(command, model="openai/scripted"):
    """Hob's own agent, by this command."""

    def subject(address, folder, state):
        task = pathlib.Path(state) / "task.md"
        task.write_text("Run the commands that the model names.\n")
        settings = [f"model.default={model}", "agent=native", "sandbox.tier=none"]
        chosen = [part for setting in settings for part in ("--set", setting)]
        return [*command, "--state-dir", f"{state}/hob", *chosen, "-q", "agent", "run", "--folder", str(folder), "--task", str(task)]

    return subject


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", type=pathlib.Path, default=ROOT / "target/release", help="where `hob` and `hob-bench` are")
    parser.add_argument("--agents", type=pathlib.Path, help="where scripts/agents.sh installed others; none: Hob and the bare loop alone")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    hob, bench = (str(args.target / name) for name in ("hob", "hob-bench"))

    def peer(name):
        place, model = PEERS[name]
        os.environ["PATH"] = f"{args.agents.resolve() / name / place}:{os.environ['PATH']}"

        def command(address, folder, state):
            task = pathlib.Path(state) / "task.md"
            task.write_text("Run the commands that the model names.\n")
            settings = [f"agents.{name}.backend={name}", f"agents.{name}.model={model}"]
            settings += ["sandbox.tier=none", "budget.issue=0", "budget.day=0"]
            chosen = [part for setting in settings for part in ("--set", setting)]
            run = ["agent", "run", "--agent", name, "--folder", str(folder), "--task", str(task), "--auto-approve"]
            return [hob, "--state-dir", f"{state}/hob", *chosen, "-q", *run]

        return command

    def bare(address, folder, state):
        return [bench, "bare-loop", "--base", f"{address}/v1", "--folder", str(folder)]

    rows = {}
    with tempfile.TemporaryDirectory(prefix="agent-cost-") as state:
        subjects = [("hob native", native([hob])), ("bare loop", bare)]
        if args.agents:
            subjects += [(name, peer(name)) for name in PEERS if (args.agents / name).is_dir()]
        for name, subject in subjects:
            for kind, command in STEPS.items():
                rows[f"{name}, a {kind} as the step"] = measure(bench, subject, command, args.steps, args.rounds, state)
    if args.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"{args.steps} steps, medians of {args.rounds} rounds, {platform.machine()}, kernel {platform.release().split('-')[0]}, {os.cpu_count()} cores\n")
    print("| agent | start to first request, ms | step, ms | CPU a step, ms | peak memory, MB | PSS, MB | request at step 1, kB | at the end, kB |")
    print("|---|---|---|---|---|---|---|---|")
    for name, row in rows.items():
        print(f"| {name} | " + " | ".join(f"{value:.2f}" if value < 10 else f"{value:.1f}" for value in row.values()) + " |")


if __name__ == "__main__":
    main()
