#!/usr/bin/env python3
"""Writes scripts/agent_order.ld, the linker script that puts what an agent's process runs side by side.

    export CARGO_PROFILE_RELEASE_STRIP=none           # programs that have the names of their functions
    cargo build --release --locked -p hob -p hob-bench
    scripts/release.sh --target x86_64-unknown-linux-musl
    python3 scripts/agent_order.py target/release/hob target/x86_64-unknown-linux-musl/release/hob
    python3 scripts/agent_order.py --check target/release/hob    # writes nothing; fails if too much of what runs is elsewhere

It runs an agent below valgrind, which says which functions run, against the scripted model of hob-bench: once for each interface of
a model. A line of the file is the beginning of the mangled names (v0, https://doc.rust-lang.org/rustc/symbol-mangling/v0.html) of a
group of functions, as short as it can be without bringing much that does not run. What changes with a crate's version, or by its
length, is a `*`: hashes of crates and the references to earlier parts of a name. So the file serves for other targets and for later
commits, and names that are gone do no harm. Linux only; needs valgrind and `nm`.
"""

import argparse
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE = ROOT / "scripts/agent_order.ld"
# A group may bring this many bytes that do not run, for each function that does.
SPARE = 600
# The system maps 64 kB around what runs. This much elsewhere is the sign that the file is old.
ELSEWHERE_MAX = 2_000_000
WINDOW = 1 << 16
SECTION = ".text.agent"
# The crates of the processes around a box. They do not start below valgrind, so all of their code is taken: 0.4 MB.
AROUND_BOXES = ("8landlock", "11hob_process", "11hob_sandbox")
MODELS = ("openai/scripted", "anthropic/claude-sonnet-4-5")
# Functions that the compiler takes for rarely called have a prefix of their own. They are small, and some of each kind run.
HEAD = f"""/* What an agent's process runs, written by scripts/agent_order.py. build.rs says what it is for. */
SECTIONS {{
  {SECTION} : {{
    *(.text.unlikely.*)
"""
TAIL = """  }
} INSERT BEFORE .text;
"""
# The parts of a mangled name. A crate's hash and a reference are not the same in each build.
PARTS = re.compile(r"(?P<crate>Cs[0-9A-Za-z]{0,13}_)|(?P<back>B[0-9A-Za-z]{0,3}_)|u?(?P<length>[1-9][0-9]*)_?|[sKL][0-9A-Za-z]{0,6}_|.")


def parts(name):
    """The parts of a name, the last of them empty; names of C are one part."""
    name = re.sub(r"\.llvm\.\d+$", "", name)
    if not name.startswith("_R"):
        return [name, ""]
    found, at = ["_R"], 2
    while at < len(name):
        part = PARTS.match(name, at)
        end = part.end() + int(part["length"] or 0)
        found.append("Cs*_" if part["crate"] else "B*_" if part["back"] else name[at:end])
        at = end
    return [*found, ""]


class Group:
    """All functions whose names begin alike."""

    def __init__(self):
        self.longer, self.run, self.bytes, self.run_bytes = {}, 0, 0, 0

    def add(self, size, runs):
        self.bytes += size
        self.run += runs
        self.run_bytes += size * runs


def groups(programs, spare):
    """The beginnings of names that the file lists, for some programs, each its functions and the names of those that run."""
    root = Group()
    for functions, run in programs:
        for name, (_, size) in functions.items():
            group = root
            for part in parts(name):
                group = group.longer.setdefault(part, Group())
                group.add(size, name in run)

    def walk(group, path):
        if not group.run:
            return
        fits = group.bytes - group.run_bytes <= spare * group.run
        # It ends with an identifier: after a `*`, a single letter would match nearly everything.
        if not group.longer or (fits and path[-1][:1].isdigit()):
            yield "".join(path) + ("*" if path[0] == "_R" else "")
            return
        for part, longer in sorted(group.longer.items()):
            yield from walk(longer, [*path, part])

    return [name for part, group in sorted(root.longer.items()) for name in walk(group, [part])]


def functions_of(binary):
    """The address and the size of each function, by its name."""
    listed = subprocess.run(["nm", "--print-size", binary], capture_output=True, text=True, check=True).stdout
    found = (line.split() for line in listed.splitlines())
    functions = {line[3]: (int(line[0], 16), int(line[1], 16)) for line in found if len(line) == 4 and line[2] in "tTwW"}
    if not functions:
        sys.exit(f"{binary} has no names of functions: build it with CARGO_PROFILE_RELEASE_STRIP=none")
    return functions


def called(file):
    """The names of the functions in what valgrind wrote of a process."""
    found = (re.fullmatch(r"c?fn=(.+?)('\d+)?", line) for line in file.read_text(errors="replace").splitlines())
    return {line[1] for line in found if line}


def run_by_agents(binary, bench):
    """The names of the functions that runs of an agent call: those of all its processes, and those of Hob's small ones beside it."""
    spec = importlib.util.spec_from_file_location("agent_cost", ROOT / "lab/measure/agent_cost.py")
    cost = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(cost)
    every, small = set(), set()
    for model in MODELS:
        with tempfile.TemporaryDirectory(prefix="agent-order-") as state:
            calls = pathlib.Path(state) / "calls"
            calls.mkdir()
            valgrind = ["valgrind", "--quiet", "--tool=callgrind", "--demangle=no", "--trace-children=yes", "--compress-strings=no"]
            command = [*valgrind, f"--callgrind-out-file={calls}/%p", binary]
            commands = [step.format(n=n) for n in range(3) for step in cost.STEPS.values()]
            cost.run(bench, cost.native(command, model), commands, state)
            runs = sorted((called(file) for file in calls.iterdir()), key=len)
            every.update(*runs)
            small.update(*runs[:-1])
    return every, small


def section_of(binary):
    """Where the section is: its address and its size."""
    listed = subprocess.run(["readelf", "--sections", "--wide", binary], capture_output=True, text=True, check=True).stdout
    found = re.search(re.escape(SECTION) + r" +PROGBITS +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", listed)
    return (int(found[1], 16), int(found[2], 16)) if found else sys.exit(f"{binary} was linked without {FILE.name}")


def check(binary, functions, run):
    """Says how much of what runs is not in the section; ends the program with 1 if that is too much."""
    begin, size = section_of(binary)
    elsewhere = {name: functions[name][0] for name in run if not begin <= functions[name][0] < begin + size}
    mapped = len({address // WINDOW for address in elsewhere.values()}) * WINDOW
    print(f"{SECTION} has {size / 1e6:.1f} MB; {len(elsewhere)} of {len(run)} functions that run are elsewhere, on {mapped / 1e6:.1f} MB of pages")
    if mapped > ELSEWHERE_MAX:
        sys.exit(f"{FILE.name} is too old: write it anew with scripts/agent_order.py")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", metavar="HOB", help="a program that has the names of its functions")
    parser.add_argument("--bench", default=str(ROOT / "target/release/hob-bench"), help="the program with the scripted model")
    parser.add_argument("--check", action="store_true", help="write nothing")
    args = parser.parse_args()
    all_processes, small_ones = [], []
    for program in args.programs:
        functions = functions_of(program)
        every, small = (names & functions.keys() for names in run_by_agents(program, args.bench))
        all_processes.append((functions, every))
        small_ones.append((functions, small))
        print(f"{program}: {len(every)} functions of {sum(functions[name][1] for name in every) / 1e6:.1f} MB run")
        if args.check:
            check(program, functions, every)
    if not args.check:
        # What several processes run comes first, and nothing else is there.
        first = [*(f"_R*Cs*_{crate}*" for crate in AROUND_BOXES), *groups(small_ones, 0)]
        names = [*first, *(name for name in groups(all_processes, SPARE) if name not in first)]
        FILE.write_text(HEAD + "".join(f"    *(.text.{name})\n" for name in names) + TAIL)
        print(f"{FILE.name}: {len(names)} lines")


if __name__ == "__main__":
    main()
