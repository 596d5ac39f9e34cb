#!/usr/bin/env python3
"""What of an agent's requests a vendor's prompt cache would have, and what a run costs at list prices, beside other agents.

    cargo build --release -p hob -p hob-bench
    scripts/agents.sh FOLDER claude codex mini-swe-agent
    lab/measure/cache_cost.py --agents FOLDER [--steps 30 100]

Each agent runs the same commands against a scripted model, through a proxy in this program that keeps the requests. The caches are then
computed, not asked: no vendor is reached. The rules are the vendors' own, read 2026-11:

- OpenAI ("Prompt caching"): the longest beginning that an earlier request of the run had, from 1,024 tokens on, in steps of 128.
- Anthropic ("Prompt caching"): beginnings that end at a mark (`cache_control`), from 1,024 tokens on; a mark is found again where a mark of this
  request is at most 20 blocks behind it. What is marked anew is written, at 1.25 times the price.

A token is counted as four bytes of JSON. Answers of the commands have 1.5 kB, replies of the model are short, as the script has them: a
real model's words and thinking come on top for all agents alike. Requests that offer no tools (titles, summaries) count as well.
"""

import argparse
import http.client
import http.server
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import threading
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
# US dollars for a million tokens: sent, read from the cache, written to it. The vendors' price lists, read 2026-11.
PRICES = {"openai": (1.25, 0.125, 1.25), "anthropic": (3.0, 0.30, 3.75)}
LEAST, STEP, LOOK_BACK = 1024, 128, 20
# A name of the table, the agent, its model, further settings.
AGENTS = [
    ("hob native, responses", "native", "openai/gpt-5.1", ["testing.model.openai_interface=responses"]),
    ("hob native, chat completions", "native", "openai/gpt-5.1", ["testing.model.openai_interface=chat"]),
    ("codex", "codex", "gpt-5.1", []),
    ("mini-swe-agent", "mini-swe-agent", "openai/gpt-5.1", []),
    ("hob native, messages", "native", "anthropic/claude-sonnet-4-5", []),
    ("claude", "claude", "claude-sonnet-4-5", []),
]
PROGRAMS = {"codex": "node_modules/.bin", "claude": "node_modules/.bin", "mini-swe-agent": "bin"}


class Proxy(http.server.BaseHTTPRequestHandler):
    """Passes everything on, and keeps the bodies of requests to a model."""

    protocol_version = "HTTP/1.1"
    target, seen = "", []

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if any(self.path.split("?")[0].endswith(end) for end in ("/responses", "/chat/completions", "/messages")):
            self.seen.append((self.path, json.loads(body)))
        self.pass_on("POST", body)

    def do_GET(self):
        self.pass_on("GET", b"")

    def pass_on(self, method, body):
        upstream = http.client.HTTPConnection(urllib.parse.urlsplit(self.target).netloc)
        keep = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "accept-encoding", "connection")}
        upstream.request(method, self.path, body, keep)
        answer = upstream.getresponse()
        data = answer.read()
        self.send_response(answer.status)
        self.send_header("content-type", answer.getheader("content-type", "text/plain"))
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def blocks(path, body):
    """The parts of a request in the order in which they are cached, each as text, and whether it has a mark."""
    parts = []

    def add(value):
        marked = isinstance(value, dict) and "cache_control" in value
        if marked:
            value = {key: inner for key, inner in value.items() if key != "cache_control"}
        parts.append((json.dumps(value, separators=(",", ":")), marked))

    for tool in body.get("tools") or []:
        add(tool)
    system = body.get("system") or body.get("instructions") or []
    for block in [system] if isinstance(system, str) else system:
        add(block)
    for message in body.get("messages") or body.get("input") or []:
        content = message.get("content")
        if path.split("?")[0].endswith("/messages") and isinstance(content, list):
            parts.append((message["role"], False))
            for block in content:
                add(block)
        else:
            add(message)
    return parts


def openai(requests):
    """Tokens sent, read and written of each request."""
    earlier, rows = [], []
    for path, body in requests:
        text = "".join(part for part, _ in blocks(path, body))
        known = max((len(os.path.commonprefix([text, other])) for other in earlier), default=0) // 4
        read = known // STEP * STEP if known >= LEAST else 0
        rows.append((len(text) // 4, read, 0))
        earlier.append(text)
    return rows


def anthropic(requests):
    """The same by marks."""
    written, rows = set(), []
    for path, body in requests:
        parts = blocks(path, body)
        begin, ends, marks = "", [], []
        for place, (part, marked) in enumerate(parts):
            begin += part
            ends.append(begin)
            if marked:
                marks.append(place)
        read = 0
        for mark in marks:
            for place in range(mark, max(-1, mark - LOOK_BACK), -1):
                if hash(ends[place]) in written:
                    read = max(read, len(ends[place]) // 4)
                    break
        last = len(ends[marks[-1]]) // 4 if marks else 0
        read = read if read >= LEAST else 0
        write = max(0, last - read) if last >= LEAST else 0
        written.update(hash(ends[mark]) for mark in marks if len(ends[mark]) // 4 >= LEAST)
        rows.append((len(begin) // 4, read, write))
    return rows


def run(args, agent, model, settings, steps):
    """The requests of one run."""
    with tempfile.TemporaryDirectory(prefix="cache-cost-") as state:
        folder = pathlib.Path(state) / "work"
        folder.mkdir()
        (folder / "text.txt").write_text("".join(f"line {number} of a file to read\n" for number in range(2000)))
        task = pathlib.Path(state) / "task.md"
        task.write_text("Run the commands that the model names.\n")
        commands = [f"tail -n +{number * 10} text.txt | head -c 1500" for number in range(1, steps + 1)]
        options = [part for command in commands for part in ("--command", command)]
        server = subprocess.Popen([args.target / "hob-bench", "model-server", *options], stdout=subprocess.PIPE, text=True)
        proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
        try:
            Proxy.target, Proxy.seen = json.loads(server.stdout.readline())["address"], []
            threading.Thread(target=server.stdout.read, daemon=True).start()
            threading.Thread(target=proxy.serve_forever, daemon=True).start()
            address = f"http://127.0.0.1:{proxy.server_port}"
            path = os.environ["PATH"]
            if agent in PROGRAMS:
                path = f"{args.agents / agent / PROGRAMS[agent]}:{path}"
            environment = {
                "PATH": path,
                "HOME": os.environ["HOME"],
                "OPENAI_BASE_URL": f"{address}/v1",
                "ANTHROPIC_BASE_URL": address,
                "OPENAI_API_KEY": "no-key-is-needed",
                "ANTHROPIC_API_KEY": "no-key-is-needed",
            }
            own = [f"model.default={model}"] if agent == "native" else [f"agents.{agent}.backend={agent}", f"agents.{agent}.model={model}"]
            chosen = [part for setting in [*own, *settings, "sandbox.tier=none", "budget.issue=0", "budget.day=0"] for part in ("--set", setting)]
            command = [args.target / "hob", "--state-dir", f"{state}/hob", *chosen, "-q", "agent", "run", "--agent", agent]
            command += ["--folder", folder, "--task", task, "--auto-approve"]
            ended = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if ended.returncode != 0:
                print(f"{agent}: ended with {ended.returncode}: {ended.stderr.strip()[-500:]}", file=sys.stderr)
            return list(Proxy.seen)
        finally:
            proxy.shutdown()
            proxy.server_close()
            server.kill()
            server.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=pathlib.Path, help="where scripts/agents.sh installed the others; none: Hob alone")
    parser.add_argument("--target", type=pathlib.Path, default=ROOT / "target/release", help="where `hob` and `hob-bench` are")
    parser.add_argument("--steps", type=int, nargs="+", default=[30, 100])
    args = parser.parse_args()
    args.agents = args.agents and args.agents.resolve()
    print(f"{platform.machine()}, kernel {platform.release().split('-')[0]}; requests as sent, caches and dollars computed\n")
    print("| agent | steps | requests | tokens sent | cached | US dollars | without a cache |")
    print("|---|---|---|---|---|---|---|")
    for name, agent, model, settings in AGENTS:
        if agent in PROGRAMS and not (args.agents and (args.agents / agent).is_dir()):
            continue
        for steps in args.steps:
            requests = run(args, agent, model, settings, steps)
            vendor = "anthropic" if "claude" in model else "openai"
            rows = (anthropic if vendor == "anthropic" else openai)(requests)
            sent, read, written = (sum(column) for column in zip(*rows, strict=True)) if rows else (0, 0, 0)
            price, cached, write = PRICES[vendor]
            usd = ((sent - read - written) * price + read * cached + written * write) / 1e6
            print(f"| {name} | {steps} | {len(rows)} | {sent:,} | {read / max(sent, 1):.1%} | {usd:.3f} | {sent * price / 1e6:.3f} |", flush=True)


if __name__ == "__main__":
    main()
