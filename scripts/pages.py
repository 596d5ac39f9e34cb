#!/usr/bin/env python3
"""Takes pictures of what people read on the forge: issues in each state, pull requests by proof, the dashboard.

    cargo build && python3 scripts/pages.py target/debug/hob target/pages

It starts the embedded forge and real `hob run --once` processes with an agent that is a shell script, on loopback, and has
Chromium draw the forge's pages at the width of a phone. It needs `chromium`. Nothing outside the folder and a temporary one is
written, and only processes that were started here are ended. Look at the pictures: no program can tell whether they read well.
"""

import argparse
import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from embedded_forge import Forge

# CSS pixels: an ordinary phone.
WIDTH = 390
# What an agent does, by the words of its brief.
AGENT = r"""
brief=$(cat)
says() { printf '%s\n' "$1"; }
case "$brief" in
*'Round half a cent'*)
  sed -i 's|// 100|// 100 + (cents * percent % 100 >= 50)|' price.py
  printf '\n    def test_half_a_cent_goes_up(self):\n        self.assertEqual(share(150, 33), 50)\n' >> test_price.py
  says '{"outcome":"done","title":"Round half a cent up","summary":"`share` rounded down; from half a cent it rounds up now."}' ;;
*'Send from 40'*)
  sed -i 's/5000/4000/' price.py
  sed -i 's/(4999), 490/(3999), 490/; s/(5000), 0/(4000), 0/; s/fifty/forty/' test_price.py
  says '{"outcome":"done","title":"Send orders from 40 euros for free","summary":"The limit is 40 euros in place of 50, in code and tests."}' ;;
*'Say the total'*)
  grep -q total price.py || printf '\n\ndef total(parts):\n    return sum(parts)\n' >> price.py
  printf 'test:\n\tpython3 -m unittest -v test_price || true\n' > Makefile
  says '{"outcome":"done","title":"Add `total`","summary":"`total` adds the parts up."}' ;;
*'Louder, please'*)
  printf 'ONE\nTWO\nthree\n' > done.txt
  says '{"outcome":"done","summary":"Shouted where it was asked.\n\nT1: In capitals now.\nT2: This one, too.\nT3: No: three is a name."}' ;;
*'A clock of 12 hours'*)
  printf 'twelve\n' > clock.txt
  says '{"outcome":"done","summary":"Wrote `clock.txt`."}' ;;
*'Use the clock'*)
  printf 'Traceback (most recent call last):\n  File "/work/clock.py", line 3, in <module>\n    import clock\n' >&2
  printf "ModuleNotFoundError: No module named 'clock'\n" >&2
  exit 1 ;;
*'Costly work'*)
  says '{"outcome":"question","question":"It costs a lot. Shall I go on?","usd":6}' ;;
*'Which zone'*)
  says '{"outcome":"question","question":"Should the times be in UTC, or in the zone of whoever reads them?"}' ;;
*'Long work'*)
  says '{"checklist":[{"step":"Read the parser","state":"done"},{"step":"Add a test for empty files","state":"doing"},{"step":"Mend the parser","state":"todo"},{"step":"Run the checks","state":"todo"}]}'
  touch "$GATE.reached"
  while [ ! -e "$GATE" ]; do sleep 0.05; done
  printf 'long\n' > long.txt
  says '{"outcome":"done","summary":"Mended it."}' ;;
*)
  if [ "$HOB_PURPOSE" = plan ]; then
    says '{"outcome":"done","summary":"Accept files that are empty.\n\nSteps:\n- Return an empty document\n- Add a test\n\nFiles:\n- src/parse.rs\n- tests/\n\nQuestions:\n- Is a file of blanks empty, too?"}'
  else
    printf 'one\ntwo\nthree\n' > done.txt
    says '{"outcome":"done","title":"Write the three lines","summary":"Wrote `done.txt`, which the page reads."}'
  fi ;;
esac
"""
# A program with tests, for pull requests that differ in what their proof shows.
PROVED = {
    ".github/hob.toml": 'checks = ["make test"]\n',
    "Makefile": "test:\n\tpython3 -m unittest -v test_price\n",
    "price.py": """def share(cents, percent):
    return cents * percent // 100


def postage(cents):
    return 0 if cents >= 5000 else 490
""",
    "test_price.py": """import unittest

from price import postage, share


class Price(unittest.TestCase):
    def test_a_share(self):
        self.assertEqual(share(200, 50), 100)

    def test_postage_below_fifty(self):
        self.assertEqual(postage(4999), 490)

    def test_no_postage_from_fifty(self):
        self.assertEqual(postage(5000), 0)
""",
}
SETTINGS = """
agent = "scripted"
[agents.scripted]
backend = "command"
command = ["sh", "{agent}"]
env = ["GATE"]
[forge]
pace = "unlimited"
[testing.status]
live = "100ms"
[testing.review]
settle = "0s"
[dashboard]
issue = "auto"
[sandbox]
tier = "none"
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hob", nargs="?", default="target/debug/hob")
    parser.add_argument("folder", nargs="?", default="target/pages", type=pathlib.Path)
    parser.add_argument("--chromium", default="chromium")
    return parser.parse_args()


class Scene:
    """A repository with people and a worker."""

    def __init__(self, forge, hob, folder, name, files=None):
        self.forge, self.folder, self.gate, self.name = forge, folder, folder / "gate", name
        self.path = forge.repository(name, files)
        (folder / "agent.sh").write_text(AGENT)
        (folder / "hob.toml").write_text(SETTINGS.format(agent=folder / "agent.sh"))
        options = ["--config", str(folder / "hob.toml"), "--state-dir", str(folder / "state"), "--repo", f"ann/{name}"]
        self.line = [str(pathlib.Path(hob).resolve()), *options, "run", "--once"]
        self.environment = forge.environment(folder) | {"GATE": str(self.gate)}

    def ask(self, title, body, *labels):
        issue = {"title": title, "body": body, "labels": ["code", *labels]}
        return self.forge.call("POST", f"{self.path}/issues", issue)["number"]

    def say(self, number, words):
        self.forge.call("POST", f"{self.path}/issues/{number}/comments", {"body": words})

    def start(self):
        return subprocess.Popen(self.line, env=self.environment, stderr=subprocess.PIPE, text=True)

    def run(self, times=1):
        for _ in range(times):
            ended = subprocess.run(self.line, env=self.environment, capture_output=True, text=True, timeout=120)
            if ended.returncode:
                sys.exit(f"hob ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")

    def review(self, pull):
        head = self.forge.call("GET", f"{self.path}/pulls/{pull}")["head"]["sha"]
        base = self.forge.call("GET", f"{self.path}/git/ref/heads/main")["object"]["sha"]
        for sha in (head, base):
            red = {"state": "failure", "context": "lint", "description": "E501"}
            self.forge.call("POST", f"{self.path}/statuses/{sha}", red)
        words = ["Louder, please.", "This one as well.", "And this."]
        comments = [{"path": "done.txt", "line": line + 1, "side": "RIGHT", "body": text} for line, text in enumerate(words)]
        review = {"event": "REQUEST_CHANGES", "body": "Nearly there.", "comments": comments}
        self.forge.call("POST", f"{self.path}/pulls/{pull}/reviews", review)


def play(scene, shoot):
    """The lives of a few issues, each with a picture where people would look."""
    planned = scene.ask("Accept empty files", "The parser refuses them.", "plan")
    scene.run()
    shoot("plan", f"issues/{planned}")

    reviewed = scene.ask("Write three lines", "Into `done.txt`.")
    asked = scene.ask("Show when it was built", "Which zone is up to you.")
    scene.run(2)
    shoot("blocked", f"issues/{asked}")
    pull = scene.forge.call("GET", f"{scene.path}/pulls")[0]["number"]
    scene.review(pull)
    time.sleep(1.1)
    scene.run(2)
    shoot("in-review", f"issues/{reviewed}")
    shoot("pull-request", f"pull/{pull}")
    for words in ("/hob help", "/hob cancl", "/hob explain"):
        scene.say(reviewed, words)
    scene.run()
    shoot("commands", f"issues/{reviewed}")

    failed = scene.ask("Show the time", "Use the clock.")
    costly = scene.ask("Rewrite it all", "Costly work.")
    scene.run(2)
    shoot("failed", f"issues/{failed}")
    shoot("budget", f"issues/{costly}")
    scene.say(failed, "A clock of 12 hours will do.")
    scene.run(2)
    shoot("answered", f"issues/{failed}")

    working = scene.ask("Long work", "Long work, with a checklist.")
    child = scene.start()
    wait(lambda: (scene.folder / "gate.reached").exists())
    status = f"{scene.path}/issues/{working}/comments"
    wait(lambda: any("Add a test for empty files" in one["body"] for one in scene.forge.call("GET", status)))
    shoot("in-progress", f"issues/{working}")
    scene.gate.touch()
    child.communicate(timeout=120)
    board = next(one["number"] for one in scene.forge.call("GET", f"{scene.path}/issues") if "Hob" in one["title"])
    time.sleep(61)
    scene.run()
    shoot("dashboard", f"issues/{board}")


def prove(scene, shoot):
    """Three pull requests: one is proven, one changes old tests, one changes what the check runs."""
    asked = {
        "proven": scene.ask("Round half a cent up", "Round half a cent up: 33% of 150 cents are 50 cents, not 49."),
        "old-tests": scene.ask("Postage is free from 40 euros", "Send from 40 euros on for free."),
        "judge": scene.ask("A function for the total", "Say the total of a list of prices."),
    }
    scene.run(3)
    pulls = scene.forge.call("GET", f"{scene.path}/pulls")
    for name, issue in asked.items():
        pull = next(one["number"] for one in pulls if one["body"].find(f"Fixes #{issue}\n") >= 0)
        shoot(f"{name}-pull", f"pull/{pull}")
        shoot(f"{name}-issue", f"issues/{issue}")


def wait(done):
    for _ in range(600):
        if done():
            return
        time.sleep(0.1)
    sys.exit("what the picture is to show did not come within a minute")


def main():
    given = arguments()
    given.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        forge = Forge(str(pathlib.Path(given.hob).resolve()), folder)

        def shoot(repository, name, page):
            picture = given.folder / f"{name}.png"
            flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking"]
            flags += ["--no-first-run", f"--user-data-dir={folder / 'browser'}", f"--window-size={WIDTH},2400"]
            line = [given.chromium, *flags, f"--screenshot={picture.resolve()}", f"{forge.server}/ann/{repository}/{page}"]
            subprocess.run(line, check=True, capture_output=True, timeout=60)
            print(picture)

        try:
            for name, files, scenes in (("site", None, play), ("price", PROVED, prove)):
                scenes(Scene(forge, given.hob, folder, name, files), functools.partial(shoot, name))
        finally:
            forge.close()


if __name__ == "__main__":
    main()
