#!/usr/bin/env python3
"""Says which tests cover the known attacks, and whether they fail without their defence.

    python3 scripts/attacks.py list [--tests]
    python3 scripts/attacks.py without [--folder FOLDER] [ATTACK…]

`list` reads the doc comments of the tests ("Attack corpus A1") and the tables of docs/design/attacks.md. It prints each attack with
the number of its tests and the tiers of the sandbox that they run in, or with `--tests` their names. The last line is the
sum. Errors, exit code 1, are an attack of the table that no test names, one that a test names and no table, and one that has
a test and neither a defence in scripts/attacks.toml nor a reason in its table `inherent`.

`without` copies the repository into FOLDER, takes the defences of scripts/attacks.toml out of the copy, round by round, and
runs the tests that are to fail then. It prints what each of them said; a test that passes is an error, exit code 1. The
copy and what was built are kept, so that the next time only what changed is built. It is no part of CI: a round builds
everything anew. That the tests pass with their defences is what `cargo test` says.

Needs Python 3.11 and, for `without`, git and cargo.
"""

import argparse
import collections
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECTION = "Attacks that tests cover"
NOT_APPLICABLE = "Not applicable"
# The corpus: each letter with its last number.
CORPUS = {"A": 11, "B": 19, "C": 33, "D": 51, "E": 66, "F": 76, "G": 83, "H": 92, "I": 104, "J": 130, "K": 154, "L": 163}
NAME = re.compile(r"\b([A-L]\d{1,3})\b")
# A test that waits longer waits for ever.
PATIENCE_SECONDS = 600


@dataclasses.dataclass(frozen=True)
class Test:
    file: str
    name: str
    tiers: tuple
    # Whether it stands in a `mod tests` of its file.
    inner: bool

    def program(self):
        """What cargo builds it into: `it`, `hob-domain`, or `hob-egress/egress`."""
        match pathlib.PurePath(self.file).parts:
            case ("tests", name, *_):
                return name
            case ("crates" | "lab", package, "tests", name, *_):
                return f"{package}/{name.removesuffix('.rs')}"
            case ("crates" | "lab", package, *_):
                return package
        return "hob"

    def path(self):
        """What the program calls it."""
        parts = list(pathlib.PurePath(self.file).with_suffix("").parts)
        root = next(at for at, part in enumerate(parts) if part in ("src", "tests"))
        modules = parts[root + (2 if parts[root] == "tests" else 1) :]
        if modules and modules[-1] in ("mod", "main", "lib"):
            modules.pop()
        return "::".join([*modules, *(["tests"] if self.inner else []), self.name])


def corpus():
    names, first = [], 1
    for letter, last in CORPUS.items():
        names += [f"{letter}{number}" for number in range(first, last + 1)]
        first = last + 1
    return names


def tests_of(file, text):
    """The attacks that the tests of a file name."""
    lines = text.splitlines()
    named = []
    for at, line in enumerate(lines):
        if found := re.match(r"\s*/// Attack corpus ([^:]*)", line):
            named += NAME.findall(found[1])
        elif named and (found := re.match(r"\s*(?:pub(?:\([a-z]+\))? )?(?:async )?fn (\w+)", line)):
            test = Test(file, found[1], tiers(lines[at:]), line.startswith(" "))
            yield from ((name, test) for name in named)
            named = []
        elif named and not re.match(r"\s*(///|#\[)", line):
            raise SystemExit(f"{file}:{at + 1}: an attack is named before something that is no test")


def tiers(lines):
    """The tiers that a test names in its body: those of a child that it starts itself."""
    indent = re.match(r"\s*", lines[0])[0]
    body = []
    for line in lines[1:]:
        if line.startswith(f"{indent}}}"):
            break
        body.append(line)
    body = "\n".join(body)
    return tuple(name for name in ("fence", "box") if f"Tier::{name.title()}" in body or "TIERS" in body)


def covered():
    tests = collections.defaultdict(dict)
    for folder in ("src", "crates", "lab", "tests"):
        for file in sorted((ROOT / folder).rglob("*.rs")):
            shown = str(file.relative_to(ROOT))
            for name, test in tests_of(shown, file.read_text()):
                tests[name][test] = None
    return {name: list(of) for name, of in tests.items()}


def table(title):
    """The rows of the table below a heading of docs/design/attacks.md, by their first cell."""
    rows, inside = {}, False
    for line in (ROOT / "docs/design/attacks.md").read_text().splitlines():
        if found := re.match(r"(#+) (.*)", line):
            inside = found[2] == title
        elif inside and (found := re.match(r"\| ([A-L]\d+) \| (.*) \|$", line)):
            rows[found[1]] = found[2]
    return rows


def defences():
    """The defences, and by attack why it has none."""
    told = tomllib.loads((ROOT / "scripts/attacks.toml").read_text())
    return told["without"], told["inherent"]


def stale():
    """Defences whose text does not stand once in its file any more."""
    for defence in defences()[0]:
        count = (ROOT / defence["file"]).read_text().count(defence["find"])
        if count != 1:
            yield defence["file"], defence["find"].strip(), count


def show_list(with_tests):
    tests, told, away = covered(), table(SECTION), table(NOT_APPLICABLE)
    taken_out, inherent = defences()
    taken_out = {name for defence in taken_out for name in defence["tests"]}
    wrong = []
    for name in corpus():
        of = tests.get(name, [])
        if with_tests:
            print(f"{name}: {told.get(name) or away.get(name) or '(not in docs/design/attacks.md)'}")
            for test in of:
                tier = f" ({', '.join(test.tiers)})" if test.tiers else ""
                print(f"    {test.file} {test.name}{tier}")
        else:
            tier = " ".join(sorted({tier for test in of for tier in test.tiers}, reverse=True))
            state = f"{len(of):2}" if of else "not applicable" if name in away else "none"
            print(f"{name:5} {state:3} {tier}".rstrip())
        if not of and name in told:
            wrong.append(f"{name} has no test")
        if of and name not in told:
            wrong.append(f"{name} has no row in docs/design/attacks.md")
        if of and name not in taken_out and name not in inherent:
            wrong.append(f"{name} has a test, and attacks.toml no defence that it fails without")
        if name in inherent and (name in taken_out or not of):
            wrong.append(f"{name} is inherent in attacks.toml, and has a defence there or no test")
    unknown = sorted((set(tests) | set(told) | set(away) | taken_out | set(inherent)) - set(corpus()))
    wrong += [f"{name} is no attack of the corpus" for name in unknown]
    wrong += [f"attacks.toml: {file} has {count} times: {find}" for file, find, count in stale()]
    wrong += [
        f"attacks.toml: no test {test} names {name}"
        for defence in defences()[0]
        for name, test in defence["tests"].items()
        if not any(one.name == test for one in tests.get(name, []))
    ]
    every = {test for of in tests.values() for test in of}
    held = {tier: sum(tier in test.tiers for test in every) for tier in ("fence", "box")}
    count = sum(name in tests for name in corpus())
    print(
        f"attacks: {count} of {len(corpus())} have tests, {len(away)} are not applicable, "
        f"{len(corpus()) - count - sum(name not in tests for name in away)} have none; {len(every)} tests, "
        f"{held['fence']} of them in a fence and {held['box']} in a box; "
        f"{len(taken_out)} of the attacks with a defence that is taken out, {len(inherent)} with a reason why there is none"
    )
    for line in wrong:
        print(f"attacks: {line}", file=sys.stderr)
    return bool(wrong)


def run(*command, **options):
    return subprocess.run(command, check=True, text=True, **options)


def synchronise(tree):
    """Makes the copy what the repository is; files that did not change keep their times."""
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT, capture_output=True)
    wanted = {name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}
    for name in wanted:
        write(tree / name, (ROOT / name).read_bytes(), (ROOT / name).stat().st_mode)
    for place in sorted(tree.rglob("*"), reverse=True):
        if place.is_file() and str(place.relative_to(tree)) not in wanted:
            place.unlink()


def write(place, content, mode=None):
    if not place.is_file() or place.read_bytes() != content:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    if mode is not None:
        place.chmod(mode & 0o777)


def take_out(tree, of_a_round):
    """The copy's files without these defences."""
    texts = {}
    for defence in of_a_round:
        file = defence["file"]
        text = texts.setdefault(file, (ROOT / file).read_text())
        if text.count(defence["find"]) != 1:
            raise SystemExit(f"attacks.toml: {file} has {text.count(defence['find'])} times: {defence['find'].strip()}")
        texts[file] = text.replace(defence["find"], defence["with"])
    for file, text in texts.items():
        write(tree / file, text.encode())


def build(tree, programs, folder):
    """The built test programs, by what attacks.toml calls them."""
    command = ["cargo", "test", "--locked", "--no-run", "--message-format", "json-render-diagnostics"]
    own = {name: f"hob/{name}".split("/")[-2:] for name in sorted(programs) if name == "it" or "/" in name}
    units = [word for program in sorted(programs - set(own)) for word in ("--package", program)]
    jobs = [(None, [*units, "--lib"])] if units else []
    jobs += [(program, ["--package", package, "--test", test]) for program, (package, test) in own.items()]
    environment = os.environ | {"CARGO_TARGET_DIR": str(folder / "target"), "CARGO_INCREMENTAL": "0"}
    places = {}
    for program, words in jobs:
        built = subprocess.run(command + words, cwd=tree, env=environment, text=True, stdout=subprocess.PIPE)
        if built.returncode:
            raise SystemExit("attacks.toml: what is left without the defences does not compile")
        for line in built.stdout.splitlines():
            message = json.loads(line)
            if message.get("executable") and message.get("profile", {}).get("test"):
                places[program or message["target"]["name"].replace("_", "-")] = message["executable"]
    return places


def outcome(tree, program, test):
    """How a test ended, and the first line of what it said."""
    command = [program, test, "--exact", "--test-threads=1"]
    environment = os.environ | {"RUST_BACKTRACE": "0"}
    try:
        ended = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        return "failed", "did not end"
    said = ended.stdout + ended.stderr
    if "running 1 test" not in said:
        return "missing", "no such test"
    if ended.returncode == 0:
        return "passed", "the test passes without its defence"
    after = said.partition("panicked at ")[2].splitlines()
    return "failed", " ".join(line.strip() for line in after[1:3])[:100] if after else f"exit code {ended.returncode}"


def without(folder, only):
    (wanted, _), tests = defences(), covered()
    if only:
        wanted = [defence for defence in wanted if set(defence["tests"]) & set(only)]
    rounds = collections.defaultdict(list)
    for defence in wanted:
        rounds[defence.get("round", 1)].append(defence)
    tree = folder / "tree"
    tree.mkdir(parents=True, exist_ok=True)
    rows, count = [], 0
    for number in sorted(rounds):
        synchronise(tree)
        take_out(tree, rounds[number])
        named = [
            (attack, test)
            for defence in rounds[number]
            for attack, name in defence["tests"].items()
            for test in tests.get(attack, [])
            if test.name == name and (not only or attack in only)
        ]
        programs = build(tree, {test.program() for _, test in named}, folder)
        count += len(rounds[number])
        for attack, test in named:
            result, said = outcome(tree, programs[test.program()], test.path())
            rows.append(result)
            print(f"{attack:5} {result:7} {test.name}\n              {said}", flush=True)
    synchronise(tree)
    bad = [result for result in rows if result != "failed"]
    print(f"attacks: {count} defences taken out, {len(rows) - len(bad)} of {len(rows)} tests failed without theirs")
    return bool(bad)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="which tests cover which attack")
    listing.add_argument("--tests", action="store_true", help="name the tests")
    taking = commands.add_parser("without", help="whether tests fail without their defence")
    taking.add_argument("--folder", type=pathlib.Path, default=ROOT / "target/attacks", help="where the copy is kept")
    taking.add_argument("attacks", nargs="*", metavar="ATTACK", help="only those")
    given = parser.parse_args()
    if given.command == "list":
        return show_list(given.tests)
    return without(given.folder.resolve(), given.attacks)


if __name__ == "__main__":
    sys.exit(main())
