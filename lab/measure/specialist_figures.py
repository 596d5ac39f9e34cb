#!/usr/bin/env python3
"""Measures the profiles, their hand-offs and their prompts against what is asked of them, as a Markdown table.

    cargo build --release && python3 lab/measure/specialist_figures.py target/release/hob

It starts the embedded forge and workers on loopback, with faults drawn from a seed; an agent is a shell script that
adds a line to a file. A figure that misses what is asked for is named below the table, and the exit code is 1. Nothing
outside temporary folders is written, and only processes that were started here are ended.
"""

import argparse
import contextlib
import json
import os
import pathlib
import platform
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from embedded_forge import Forge
from routing_fit import command, result
from routing_split import ROUTING

PROFILES = ROUTING / "profiles"
CORPUS = ROUTING / "corpus.jsonl"
LARGEST = 64 * 1024
# How many issues meet each cause of degradation: after three failed loads the repository's routing is off, too.
EACH = 4
PATIENCE = 300
SETTINGS = """
agent = "base"
[forge]
pace = "unlimited"
[limits]
issues_per_hour = 100000
open_pulls = 0
attempts = 10
[poll]
interval = "50ms"
[testing.forge]
timeout = "2s"
retry_base = "100ms"
[testing.lease]
duration = "6s"
skew = "1s"
[testing.limits]
retry_delay = "1s"
[sandbox]
tier = "none"
"""
# An agent: folder, name, and the line that it ends with. Each of its times costs a process, so a hand-off looks longer
# than it is.
AGENT = """
echo "$HOB_ISSUE $2 start $(date +%s%N)" >> "$1/times"
cat > "$1/brief-$HOB_ISSUE-$2"
echo "$HOB_RUN" >> "$2.txt"
fault=$(cat "$1/fault-$HOB_ISSUE-$2" 2> /dev/null)
rm -f "$1/fault-$HOB_ISSUE-$2"
case "$fault" in
    exit) exit 1 ;;
    signal) kill -9 $$ ;;
    worker) touch "$1/kill-$HOB_ISSUE-$2"; sleep 0.1 ;;
esac
printf '%s\\n' "$3"
echo "$HOB_ISSUE $2 end $(date +%s%N)" >> "$1/times"
"""
# Git, with the times of each push.
GIT = """#!/bin/sh
case " $* " in *" push "*) ;; *) exec git "$@" ;; esac
begun=$(date +%s%N)
git "$@"
code=$?
echo "$begun $(date +%s%N)" >> "${0%/*}/pushes"
exit $code
"""


def arguments():
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hob", nargs="?", default="target/release/hob")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--loads", type=int, default=60, help="how often profiles are loaded")
    parser.add_argument("--issues", type=int, default=20, help="how many chains there are")
    options = parser.parse_args()
    options.hob = os.path.abspath(options.hob)
    return options


class Site(Forge):
    """The embedded forge with one repository of these files, and the settings of a worker: agents by name, with the
    lines that they end with."""

    def __init__(self, hob, folder, files, agents):
        super().__init__(hob, folder, "--rate-limit", "100000000")
        self.hob, self.folder, self.path = hob, folder, self.repository("site")
        main = self.call("GET", f"{self.path}/git/ref/heads/main")["object"]["sha"]
        tree = [{"path": path, "mode": "100644", "type": "blob", "content": text} for path, text in files.items()]
        tree = self.call("POST", f"{self.path}/git/trees", {"base_tree": main, "tree": tree})["sha"]
        commit = {"message": "Add profiles", "tree": tree, "parents": [main]}
        commit = self.call("POST", f"{self.path}/git/commits", commit)["sha"]
        self.call("PATCH", f"{self.path}/git/refs/heads/main", {"sha": commit})
        (folder / "agent.sh").write_text(AGENT)
        (folder / "git.sh").write_text(GIT)
        (folder / "git.sh").chmod(0o755)
        settings = SETTINGS + f'[testing.workspace]\ngit = "{folder}/git.sh"\n'
        for name, line in agents.items():
            command = json.dumps(["sh", f"{folder}/agent.sh", str(folder), name, line])
            # An agent of a profile's own name would work in its place.
            name = name if name == "base" else f"{name}-agent"
            settings += f'[agents.{name}]\nbackend = "command"\ncommand = {command}\n'
        (folder / "hob.toml").write_text(settings)

    def issue(self, title, body, *labels):
        """Opens an issue for Hob; its number."""
        number = self.call("POST", f"{self.path}/issues", {"title": title, "body": body})["number"]
        self.call("POST", f"{self.path}/issues/{number}/labels", {"labels": ["code", *labels]})
        return number

    def start(self, *command):
        """Starts Hob; what it writes is kept in files."""
        environment = self.environment(self.folder) | {"GITHUB_REPOSITORY": "ann/site"}
        flags = ["--config", self.folder / "hob.toml", "--state-dir", self.folder / "state", "--json"]
        with open(self.folder / "out.jsonl", "a") as out, open(self.folder / "err.txt", "a") as err:
            return subprocess.Popen([self.hob, *flags, *command], env=environment, stdout=out, stderr=err)

    def run(self, *command):
        """Runs Hob to its end, in time; the last object that it writes."""
        child = self.start(*command)
        try:
            child.wait(PATIENCE)
        finally:
            child.kill()
            child.wait()
        return json.loads((self.folder / "out.jsonl").read_text().splitlines()[-1])

    def labelled(self, label):
        """The numbers of the issues with a label."""
        found = self.call("GET", f"{self.path}/issues?state=open&labels={label}&per_page=100")
        return {issue["number"] for issue in found if "pull_request" not in issue}

    def pulls(self):
        """The open pull requests by the issue that they are for."""
        pulls = self.call("GET", f"{self.path}/pulls?state=open&per_page=100")
        return {int(re.match(r"hob/(\d+)-", pull["head"]["ref"])[1]): pull for pull in pulls}


@contextlib.contextmanager
def site(hob, files, agents):
    """A site that is gone afterwards."""
    with tempfile.TemporaryDirectory() as name:
        made = Site(hob, pathlib.Path(name), files, agents)
        try:
            yield made
        finally:
            made.close()


def profile(name, own=""):
    """A profile with these keys of Hob's."""
    return f"---\nname: {name}\ndescription: Knows {name}\nhob: {{ {own} }}\n---\nMind {name}.\n"


def hand_off(to, reason="it is theirs"):
    """The last line of an agent that hands off."""
    return json.dumps({"outcome": "hand_off", "to": to, "reason": reason, "done": "my part", "left": "the rest"})


def p95(values):
    """What 95 in 100 do not exceed."""
    return statistics.quantiles(values, n=20, method="inclusive")[-1]


# Load success

KINDS = "damaged, path as a name, unknown key, binary, large, fifo, folder, link, unreadable, duplicate".split(", ")
SOUND = [
    "name: {0}\ndescription: Knows {0}",
    "name: {0}\ndescription: Use it when: all fails. <example>'x'</example>\ntools: Read, Bash(git log:*)\ncolor: red",
    "description: Looks\ntools: ['*']\ntarget: github-copilot\nhandoffs:\n  - label: x",
    "name: {0}\ndescription: Mends\nhob:\n  match:\n    errors: ['E\\d+']\n  approve: low\n  hand_off_to: [code]",
    "name: {0}\ndescription: Answers\nhob:\n  deliverable: comment\n  limits:\n    max_time: 10m\n  questions: [Why?]",
]


def sound(chance, name):
    """A file that is a profile, in one of the forms that there are."""
    content = f"---\n{chance.choice(SOUND).format(name)}\n---\nMind {name}.\n"
    if chance.random() < 0.2:
        content = "\ufeff" + content.replace("\n", "\r\n")
    if chance.random() < 0.1:
        content += "x" * (LARGEST - len(content.encode()))
    return content.encode()


def faulty(chance, kind, name):
    """The content of a file that is no profile, and asks for the name."""
    front = f"name: {name}\ndescription: Wrong"
    if kind == "damaged":
        front = chance.choice([front + "\ntools: [read", "\t: {", "- a\n- b", front + "\nname: twice"])
        whole = f"---\n{front}\n---\nDo it.\n"
        return chance.choice([whole, f"---\nname: {name}\nDo it.\n", f"name: {name}\n", ""]).encode()
    if kind == "path as a name":
        front = f"name: ../../{name}\ndescription: Wrong"
    if kind == "unknown key":
        keys = ["denyed: [write]", "limits: { turns: 3 }", "approve: everything", "Paths: ['src/**']"]
        front += f"\nhob:\n  {chance.choice(keys)}"
    whole = f"---\n{front}\n---\nDo it.\n".encode()
    if kind == "binary":
        return chance.choice([whole, b""]) + b"\xff\xfe" + chance.randbytes(chance.randrange(1, 4000))
    if kind == "large":
        return whole + b"x" * (LARGEST + 1 - len(whole) + chance.randrange(2 * LARGEST))
    return whole


def put(chance, kind, file, content):
    """Puts what is no profile into a folder; false: that cannot be there."""
    in_repository = file.parent.name == "agents"
    if kind == "fifo" and in_repository:
        return False
    if kind == "fifo":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
        (file / "inner.md").write_bytes(content)
    elif kind == "link" and in_repository:
        file.with_suffix(".txt").write_bytes(content)
        file.symlink_to(chance.choice([f"{file.stem}.txt", "/etc/passwd"]))
    elif kind == "link":
        # A link in the operator's own folder is followed: this one leads to itself.
        file.symlink_to(file.name)
    else:
        file.write_bytes(content)
        if kind == "unreadable" and not in_repository:
            file.chmod(0)
            return not os.access(file, os.R_OK)  # root reads it
    return True


def put_sound(chance, places):
    """Fills the places with profiles: their names by place and file."""
    good = {}
    for number in range(chance.randrange(5, 30)):
        place = chance.choice(list(places))
        name = f"{chance.choice('mnop')}{number}{chance.choice(['', '-x', '_y', '-' + 'z' * 30])}"
        file = name + (".agent.md" if place == "github-agents" and chance.random() < 0.5 else ".md")
        (places[place] / file).write_bytes(sound(chance, name))
        good[place, file] = name
    return good


def put_faulty(chance, places, good):
    """Puts faulty files beside them, half of them with the name of a sound one: by place and file, what is wrong."""
    bad, order = {}, list(places)
    for number in range(chance.randrange(5, 30)):
        kind, place = chance.choice(KINDS), chance.choice(order)
        (before, _), taken = chance.choice(list(good.items()))
        name, file = chance.choice([taken, f"q{number}"]), f"a{number}.md"
        if kind == "path as a name":
            # The file's own name would count if it were one.
            file = f"{number} of these.md"
        if kind == "duplicate":
            # Of one name the first counts, by place and file.
            name, place, file = taken, chance.choice(order[order.index(before) :]), f"z{number}.md"
        path = places[place] / file
        if put(chance, kind, path, faulty(chance, kind, name)):
            bad[place, file] = kind
        else:
            path.unlink(missing_ok=True)
    return bad


def git(folder, *command):
    """Runs git without anybody's settings; what it says."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-c", "user.name=ann", "-c", "user.email=ann@example.org", *command]
    done = subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def load_once(hob, chance):
    """Loads the profiles of three places: how many are sound, how many of them are usable, how many files are faulty,
    and how many of these are taken."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        clone, own = folder / "clone", folder / "own"
        places = {"github-agents": clone / ".github/agents", "claude-agents": clone / ".claude/agents", "settings": own}
        for place in places.values():
            place.mkdir(parents=True)
        good = put_sound(chance, places)
        bad = put_faulty(chance, places, good)
        git(clone, "init", "--quiet")
        git(clone, "add", "--all")
        git(clone, "commit", "--quiet", "--allow-empty", "--message", "Profiles")
        for (place, file), kind in bad.items():
            if kind == "unreadable" and place != "settings":
                # Its content is gone from git's objects. Two files with one content share it.
                sha = git(clone, "rev-parse", f"HEAD:{(places[place] / file).relative_to(clone)}")
                (clone / f".git/objects/{sha[:2]}/{sha[2:]}").unlink(missing_ok=True)
        command = [hob, "--state-dir", folder / "state", "--set", f"profiles.folder={own}", "--json", "agent", "list"]
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        done = subprocess.run(command, cwd=clone, env=environment, check=True, stdout=subprocess.PIPE, timeout=60)
    listed = json.loads(done.stdout)["result"]["profiles"]
    in_use = {(entry["source"], entry["file"]): entry["name"] for entry in listed if entry["standing"] == "in-use"}
    loaded = sum(in_use.get(key) == name for key, name in good.items())
    taken = sum(key not in good and key[0] != "ready" for key in in_use)
    return len(good), loaded, len(bad), taken


def loads(options):
    """Load success."""
    chance = random.Random(options.seed)
    counts = [load_once(options.hob, chance) for _ in range(options.loads)]
    good, loaded, bad, taken = (sum(column) for column in zip(*counts))
    figure = f"sound profiles that load, beside {bad} faulty files, {options.loads} loads from three places"
    said = f"{loaded / good:.2%} ({loaded} of {good}); {taken} faulty ones taken"
    return [(figure, "> 95%", said, loaded / good > 0.95 and taken == 0)]


# Degradation


def causes(token):
    """What can go wrong: the profiles, how agents end, and the files that the agents change which then work."""
    on_dns, on_cloud = "backend: dns-agent, hand_off_to: [cloud]", "backend: cloud-agent, hand_off_to: [dns]"
    dns, cloud = {"dns": profile("dns", on_dns)}, {"cloud": profile("cloud", on_cloud)}
    circle = {"dns": hand_off("cloud"), "cloud": hand_off("dns")}
    return {
        "the profile is gone": ({}, {}, ["base"]),
        "its front matter is damaged": ({"dns": "---\nname: dns\ntools: [read\n---\nMind.\n"}, {}, ["base"]),
        "its backend is not there": ({"dns": profile("dns", "backend: nowhere")}, {}, ["base"]),
        "hand-offs in a circle": (dns | cloud, circle, ["cloud", "dns"]),
        "a hand-off to a profile that is gone": (dns, {"dns": hand_off("cloud")}, ["base", "dns"]),
        "a hand-off to a profile that is not a target": (dns | cloud, {"dns": hand_off("sales")}, ["dns"]),
        "a hand-off with a secret": (dns | cloud, {"dns": hand_off("cloud", token)}, ["dns"]),
    }


def degraded(options):
    """Issues that come to a pull request nevertheless, from whom the documentation says."""
    chance = random.Random(options.seed)
    token = "ghp_" + "".join(chance.choices("abcdefghijABCDEFGHIJ0123456789", k=36))
    opened, issues, failures = 0, 0, []
    for cause, (profiles, lines, who) in causes(token).items():
        files = {f".github/agents/{name}.md": text for name, text in profiles.items()}
        files[".github/hob.toml"] = 'agent = "dns"\nchecks = ["true"]\n'
        with site(options.hob, files, {"base": "", "dns": "", "cloud": ""} | lines) as made:
            numbers = [made.issue("Set the zone up", "Please.") for _ in range(EACH)]
            last = made.run("run", "--once")
            pulls = made.pulls()
            faults = [fault_of(made, pulls.get(number), number, (who, token)) for number in numbers]
        issues += len(faults)
        opened += faults.count(None)
        failures += [f"{cause}: {faults.count(why)} of {EACH} issues: {why}" for why in sorted({*faults} - {None})]
        if last["event"] == "error":
            failures.append(f"{cause}: {last['message']}")
    figure = f"issues with a pull request though a profile or a hand-off fails, {len(causes(token))} causes"
    return [(figure, "100%", f"{opened / issues:.1%} ({opened} of {issues})", opened == issues)], failures


def fault_of(made, pull, number, expected):
    """What is wrong with the end of an issue; none: nothing."""
    who, token = expected
    if pull is None:
        return "no pull request"
    files = made.call("GET", f"{made.path}/pulls/{pull['number']}/files")
    names = sorted(file["filename"] for file in files)
    if names != [f"{name}.txt" for name in who]:
        return f"a pull request of {names}, not by {who}"
    shown = [pull, made.call("GET", f"{made.path}/issues/{number}/comments"), made.run("explain", str(number), "--history")]
    shown += [(made.folder / name).read_text() for name in ("out.jsonl", "err.txt")]
    return "the secret is shown" if token in json.dumps(shown) else None


# Chains and the time of a hand-off

CHAIN = [("dns", "cloud"), ("cloud", "security")]


def chains(options):
    """Chains that are completed though agents and workers die, and the times of their hand-offs."""
    chance = random.Random(options.seed)
    names = ["dns", "cloud", "security"]
    files, lines = {}, {"base": "", "security": ""}
    for name, to in zip(names, [*names[1:], ""]):
        files[f".github/agents/{name}.md"] = profile(name, f"backend: {name}-agent, hand_off_to: [{to}]")
        if to:
            lines[name] = hand_off(to)
    with site(options.hob, files, lines) as made:
        numbers = [made.issue("Set the zone up", "Please.", "agent:dns") for _ in range(options.issues)]
        # Almost half of the chains have a fault.
        faults = ["exit", "signal", "worker"] * (options.issues * 9 // 20 // 3)
        for number, fault in zip(chance.sample(numbers, len(faults)), faults):
            (made.folder / f"fault-{number}-{chance.choice(names)}").write_text(fault)
        kills, answered = drive(made, numbers, chance)
        pulls, completed, failures = made.pulls(), 0, []
        for number in numbers:
            entries = made.run("explain", str(number), "--history").get("result") or []
            links = entries[-1]["record"].get("chain", {}).get("links", []) if entries else []
            passed = [(link["from"], link["to"]) for link in links]
            is_complete = number in pulls and passed == CHAIN
            completed += is_complete
            if not is_complete:
                end = "a pull request" if number in pulls else "no pull request"
                failures.append(f"the chain of issue {number} has {end} and the hand-offs {passed}")
        with_push, without = times(made.folder, kills)
    share = completed / options.issues
    figure = (
        f"chains of three profiles completed, {options.issues} issues: {len(faults) // 3} agents exit with 1 (a person "
        f"answers {len(answered)} times), {len(faults) // 3} are killed, {len(kills)} workers are killed"
    )
    rows = [(figure, "> 90%", f"{share:.1%} ({completed} of {options.issues})", share > 0.9)]
    parts = "commit, push of the work, ledger, next process"
    for values, what in [(with_push, parts), (without, "the same without `git push`")]:
        figure = f"end of an agent to the start of the next: {what}; {len(values)} hand-offs"
        said = f"median {statistics.median(values):.0f} ms, p95 {p95(values):.0f} ms"
        rows.append((figure, "< 100 ms", said, p95(values) < 100))
    return rows, failures


def drive(made, numbers, chance):
    """Lets one worker after the other work until all issues are in review: the times of kills, and the issues that were
    answered, each once."""
    worker, kills, answered, ends = made.start("run"), [], set(), time.monotonic() + PATIENCE
    try:
        while time.monotonic() < ends and not made.labelled("in-review").issuperset(numbers):
            for mark in made.folder.glob("kill-*"):
                mark.unlink()
                # The worker's agent still runs then, or it hands over, or has done so.
                time.sleep(chance.uniform(0, 0.25))
                worker.kill()
                worker.wait()
                kills.append(time.time_ns())
                worker = made.start("run")
            for number in made.labelled("blocked") - answered:
                made.call("POST", f"{made.path}/issues/{number}/comments", {"body": "Try again."})
                answered.add(number)
            time.sleep(0.1)
    finally:
        worker.send_signal(signal.SIGTERM)
        try:
            worker.wait(30)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()
    return kills, answered


def times(folder, kills):
    """Milliseconds from the end of an agent to the start of the next, with and without the push, where no worker was
    killed in between."""
    told = [line.split() for line in (folder / "times").read_text().splitlines()]
    pushes = [[int(at) for at in line.split()] for line in (folder / "pushes").read_text().splitlines()]
    ended, with_push, without = {}, [], []
    for issue, name, what, at in sorted(told, key=lambda line: int(line[3])):
        at = int(at)
        before, since = ended.pop(issue, (None, 0))
        if what == "end":
            ended[issue] = name, at
        elif (before, name) in CHAIN and not any(since <= kill <= at for kill in kills):
            pushed = sum(end - begin for begin, end in pushes if since <= begin and end <= at)
            with_push.append((at - since) / 1e6)
            without.append((at - since - pushed) / 1e6)
    return with_push, without


# A specialist's prompt


def prompts(options):
    """What a brief with one profile's instructions saves, against the same brief with those of all."""
    files = {f".github/agents/{file.name}": file.read_text() for file in PROFILES.glob("*.md")}
    names = sorted(file.stem for file in PROFILES.glob("*.md"))
    cases = [json.loads(line) for line in CORPUS.read_text().splitlines()]
    with site(options.hob, files, {"base": ""}) as made:
        issues = {}
        for name in names:
            # A separate issue, of ordinary length.
            own = sorted((case for case in cases if case["profile"] == name), key=lambda case: len(case["body"]))
            issues[name] = made.issue(own[len(own) // 2]["title"], own[len(own) // 2]["body"], f"agent:{name}")
        made.run("run", "--once")
        briefs = {name: (made.folder / f"brief-{number}-base").read_text() for name, number in issues.items()}
    parts = {name: re.search(rf"--- profile {name} (\w+)\n(.*?)\n--- end \1\n", briefs[name], re.S) for name in names}
    saved, bare = [], []
    for name in names:
        brief = len(briefs[name].encode())
        others = [parts[other] for other in names if other != name]
        saved.append(1 - brief / (brief + sum(len(part[0].encode()) for part in others)))
        bare.append(1 - brief / (brief + sum(len(part[2].encode()) for part in others)))
    figure = f"a brief is smaller than with the instructions of all {len(names)} profiles, each between its lines"
    said = f"{statistics.median(saved):.1%} (without these lines: {statistics.median(bare):.1%})"
    return [(figure, "60–70%", said, statistics.median(saved) >= 0.6)]


# Times


def latency(options):
    """How long the router takes for 1,000 issues, by its own clock, and a process for all profiles, from outside; there
    are 50."""
    cases = [json.loads(line) for line in CORPUS.read_text().splitlines()]
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        profiles = folder / "profiles"
        profiles.mkdir()
        files = sorted(PROFILES.glob("*.md"))
        for number in range(50):
            file, of = files[number % len(files)], number // len(files)
            suffix = f"-{of}" if of else ""
            text = re.sub(r"(?m)^name: (.*)$", rf"name: \1{suffix}", file.read_text(), count=1)
            (profiles / f"{file.stem}{suffix}.md").write_text(text)
        for what, length in [("as they are", 0), ("with bodies of 64 KiB", LARGEST)]:
            issues = folder / "issues.jsonl"
            with open(issues, "w", encoding="utf-8") as out:
                for number in range(1000):
                    case = cases[number % len(cases)]
                    body = case["body"] * (1 + length // max(1, len(case["body"])))
                    out.write(json.dumps({**case, "profile": None, "body": body}) + "\n")
            p95_ms = result(command(options.hob, issues, profiles))["p95_ms"]
            rows.append((f"the router, 50 profiles, 1,000 issues {what}", "p95 < 10 ms", f"p95 {p95_ms:.2f} ms", p95_ms < 10))
        environment = {"PATH": os.environ["PATH"], "HOME": name}
        line = [options.hob, "agent", "list", "--json", "--set", f"profiles.folder={profiles}"]
        took = []
        for _ in range(100):
            begun = time.perf_counter()
            subprocess.run(line, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
            took.append(1000 * (time.perf_counter() - begun))
        figure = "`hob agent list` with 50 profiles beside its own, from its start to its end; 100 runs"
        rows.append((figure, "p95 < 1 s", f"p95 {p95(took):.0f} ms", p95(took) < 1000))
    return rows


def state(options):
    """How long an action on the record of an investigation takes, by the session's own times, which are whole
    milliseconds: judged, and the record replaced and synced to the disk."""
    grounds = {"thought": "It says so.", "confidence": "HIGH", "evidence_refs": ["E1"]}
    # The same call again and again would end the run.
    answers = [{**grounds, "question": "Q1", "answer": f"Since noon, {number}."} for number in range(400)]
    calls = [{"name": "answer_question", "arguments": answer} for answer in answers]
    replies = [{"calls": calls[at : at + 10]} for at in range(0, len(calls), 10)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "replies.json").write_text(json.dumps({"cassette": 1, "replies": replies}))
        (folder / "case.md").write_text("It fails\n\n### When?\n\nToday\n")
        (folder / "form.yml").write_text("body:\n  - type: input\n    attributes: { label: When? }\n")
        line = [options.hob, "--state-dir", "state", "--set", "model.default=cassette/replies.json", "agent", "investigate", "-q"]
        line += ["--task", "case.md", "--form", "form.yml", "--agent", "native", "--auto-approve"]
        environment = {"PATH": os.environ["PATH"], "HOME": name}
        # The replies end before there is a conclusion: that is an error, and no matter here.
        subprocess.run(line, cwd=folder, env=environment, capture_output=True)
        told = next(folder.glob("state/sessions/*/transcript.jsonl")).read_text().splitlines()[1:]
    began, took = {}, []
    for event in map(json.loads, told):
        if event["event"] == "action":
            began[event["id"]] = event["at_ms"]
        elif event["event"] == "result":
            took.append(event["at_ms"] - began[event["id"]])
    figure = f"an action on an investigation's record, written and synced; {len(took)} actions"
    return [(figure, "p95 < 5 ms", f"p95 {p95(took):.0f} ms", len(took) == 400 and p95(took) < 5)]


def main():
    """Measures and prints."""
    options = arguments()
    rows = loads(options) + latency(options) + state(options)
    fallen, failures = degraded(options)
    chained, broken = chains(options)
    rows += [*fallen, *chained, *prompts(options)]
    print(f"{platform.system()}, {platform.machine()}, {os.cpu_count()} cores; seed {options.seed}.\n")
    print("| figure | asked for | measured |\n|---|---|---|")
    for figure, asked, measured, _ in rows:
        print(f"| {figure} | {asked} | {measured} |")
    missed = [f"missed: {figure}" for figure, _, _, is_met in rows if not is_met]
    if missed:
        print("\n" + "\n".join(f"- {line}" for line in [*missed, *failures, *broken]))
        sys.exit(1)


if __name__ == "__main__":
    main()
