"""The embedded forge as a process of its own, for the scripts that measure Hob: no program by itself."""

import contextlib
import json
import os
import platform
import signal
import socket
import subprocess
import sys
import time
import urllib.request

# Settings with which a check need not wait for much: short polls and leases, no spaced writes, no sandbox.
QUICK = """[sandbox]
tier = "none"
[forge]
pace = "unlimited"
[limits]
issues_per_hour = 1000
open_pulls = 0
[poll]
interval = "1s"
[testing.forge]
timeout = "5s"
[testing.lease]
duration = "15s"
skew = "1s"
"""


class Forge:
    """The embedded forge, with the people's account `ann` and Hob's account `hob`; their names are their tokens."""

    def __init__(self, hob, folder, *flags):
        users = ["--user", "ann:ann:admin", "--user", "hob:hob:write:bot"]
        self.child = subprocess.Popen([hob, "forge", "serve", *users, *flags], stdout=subprocess.PIPE, cwd=folder)
        where = json.loads(self.child.stdout.readline())
        self.api, self.server = where["api_url"], where["server_url"]

    def call(self, method, path, body=None, token="ann"):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.api + path, data, method=method)
        request.add_header("Authorization", f"Bearer {token}")
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def repository(self, name, files=None):
        """Makes a repository of ann's with these files, else a check that does nothing, and a label `code`; its path."""
        self.call("POST", "/user/repos", {"name": name, "auto_init": True})
        path = f"/repos/ann/{name}"
        main = self.call("GET", f"{path}/git/ref/heads/main")["object"]["sha"]
        files = files or {".github/hob.toml": 'checks = ["true"]\n'}
        tree = [{"path": name, "mode": "100644", "type": "blob", "content": text} for name, text in files.items()]
        tree = self.call("POST", f"{path}/git/trees", {"base_tree": main, "tree": tree})["sha"]
        commit = {"message": "Add a check", "tree": tree, "parents": [main]}
        commit = self.call("POST", f"{path}/git/commits", commit)["sha"]
        self.call("PATCH", f"{path}/git/refs/heads/main", {"sha": commit})
        self.call("POST", f"{path}/labels", {"name": "code", "color": "5319e7"})
        return path

    def counts(self):
        """Requests of Hob's account that counted against a rate limit: of REST, and of GraphQL."""
        resources = self.call("GET", "/rate_limit", token="hob")["resources"]
        return resources["core"]["used"], resources["graphql"]["used"]

    def requests(self):
        """The same in all."""
        return sum(self.counts())

    def environment(self, home):
        """What a worker needs that is to work on this forge."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "GITHUB_TOKEN": "hob",
            "GITHUB_API_URL": self.api,
            "GITHUB_SERVER_URL": self.server,
        }

    def close(self):
        self.child.send_signal(signal.SIGINT)
        # It removes its repositories, of which there may be a thousand.
        self.child.wait(300)


def free_ports(number):
    """Ports of this machine that nobody listens at."""
    with contextlib.ExitStack() as taken:
        sockets = [taken.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(number)]
        return [one.getsockname()[1] for one in sockets]


def until(what, holds, patience=90, pause=0.5):
    """Waits until it holds; its value."""
    ends = time.monotonic() + patience
    while time.monotonic() < ends:
        # A server that does not listen yet.
        with contextlib.suppress(OSError):
            if found := holds():
                return found
        time.sleep(pause)
    sys.exit(f"not within {patience} s: {what}")


def machine():
    """The machine, as the documentation names it."""
    with open("/proc/cpuinfo") as lines:
        model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown CPU")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{platform.system()} {platform.release()}, {model}, {os.cpu_count()} cores, {memory:.0f} GiB"


def print_table(rows):
    """Prints figures and their values as a Markdown table."""
    print("| figure | value |\n|---|---|")
    for figure, value in rows:
        print(f"| {figure} | {value} |")
