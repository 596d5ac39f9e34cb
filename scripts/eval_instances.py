#!/usr/bin/env python3
"""Makes the repositories of lab/instances, and the file of their instances.

    python3 scripts/eval_instances.py FOLDER      makes a repository for each folder of lab/instances below FOLDER
    python3 scripts/eval_instances.py --write     writes lab/instances/instances.jsonl
    hob eval run lab/instances/instances.jsonl --repositories FOLDER --test-command 'python3 -m unittest -v {tests}' --agent AGENT

An instance is a defect that a public project had, in code that was written for it here. `FOLDER/base` is what the agent begins with,
`FOLDER/tests` and `FOLDER/solution` are the files that the tests and the solution change. A commit has the same id on each machine:
its author and its time are fixed.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

INSTANCES = pathlib.Path(__file__).resolve().parent.parent / "lab/instances"
WHO = {f"GIT_{who}_{what}": text for who in ("AUTHOR", "COMMITTER") for what, text in [
    ("NAME", "base"), ("EMAIL", "base@localhost"), ("DATE", "2026-11-01T12:00:00+00:00")]}
BARE = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C"}


def git(folder, *args):
    environment = {**os.environ, **WHO, **BARE}
    done = subprocess.run(["git", *args], cwd=folder, env=environment, check=True, capture_output=True, text=True)
    return done.stdout


def repository(source, folder):
    """A repository of one commit; its id."""
    shutil.copytree(source / "base", folder, ignore=shutil.ignore_patterns("__pycache__"))
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    git(folder, "init", "--quiet", "--initial-branch", "main", "--object-format", "sha1")
    git(folder, "-c", "core.autocrlf=false", "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--no-verify", "--message", "base")
    return git(folder, "rev-parse", "HEAD").strip()


def patch(folder, files):
    """The change from the repository to the same with these files."""
    shutil.copytree(files, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    text = git(folder, "-c", "core.fileMode=false", "diff", "--no-color", "--no-ext-diff")
    git(folder, "reset", "--quiet", "--hard")
    return text


def instances():
    lines = []
    with tempfile.TemporaryDirectory() as place:
        for source in sorted(path for path in INSTANCES.iterdir() if path.is_dir()):
            folder = pathlib.Path(place, source.name)
            about = json.loads((source / "about.json").read_text())
            line = {
                "instance_id": about["instance_id"],
                "repo": source.name.replace("__", "/"),
                "base_commit": repository(source, folder),
                "problem_statement": (source / "issue.md").read_text(),
                "test_patch": patch(folder, source / "tests"),
                "patch": patch(folder, source / "solution"),
                "FAIL_TO_PASS": about["FAIL_TO_PASS"],
                "PASS_TO_PASS": about["PASS_TO_PASS"],
            }
            lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    return "".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    place = INSTANCES / "instances.jsonl"
    if given.write:
        place.write_text(instances())
    elif not place.is_file() or place.read_text() != instances():
        sys.exit("lab/instances/instances.jsonl is stale: run python3 scripts/eval_instances.py --write")
    if given.folder:
        given.folder.mkdir(parents=True, exist_ok=True)
        for source in sorted(path for path in INSTANCES.iterdir() if path.is_dir()):
            repository(source, given.folder / source.name)


if __name__ == "__main__":
    main()
