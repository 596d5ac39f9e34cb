#!/usr/bin/env python3
"""Measures a pass with nothing to do of Hob and of Renovate over one repository of the embedded forge.

    npm install --prefix FOLDER --ignore-scripts renovate@39 && python3 lab/measure/peer.py target/release/hob FOLDER/node_modules/.bin/renovate

Requests are those that count. Memory is the peak of the resident pages of the largest process.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from embedded_forge import Forge, machine

SETTINGS = 'agent = "idle"\n[agents.idle]\nbackend = "command"\ncommand = ["true"]\n'
ROUNDS = 5


def measured(command, environment):
    """Seconds, seconds of processor time, and megabytes of a program that ends well."""
    begun = time.monotonic()
    child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{command[0]} ended with {os.waitstatus_to_exitcode(status)}")
    return time.monotonic() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6


def main():
    hob, renovate = (str(pathlib.Path(program).resolve()) for program in sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        forge = Forge(hob, folder)
        try:
            forge.repository("site")
            (folder / "hob.toml").write_text(SETTINGS)
            home = forge.environment(folder)
            peer = {"PLATFORM": "github", "ENDPOINT": forge.api + "/", "TOKEN": "hob", "REPOSITORIES": "ann/site"}
            peer |= {"ONBOARDING": "false", "REQUIRE_CONFIG": "optional", "BASE_DIR": str(folder / "renovate")}
            own = [hob, "--config", str(folder / "hob.toml"), "--state-dir", str(folder / "state"), "run", "--once"]
            print(f"{machine()}\n\n| program | requests | s | processor, s | MB |\n|---|---|---|---|---|")
            for program, command, environment in [
                ("hob run --once", own, home | {"GITHUB_REPOSITORY": "ann/site"}),
                ("renovate", [renovate], home | {f"RENOVATE_{key}": value for key, value in peer.items()}),
            ]:
                before = forge.requests()
                rounds = [measured(command, environment) for _ in range(ROUNDS)]
                requests = (forge.requests() - before) / ROUNDS
                time_taken, processor, memory = map(statistics.median, zip(*rounds))
                print(f"| {program} | {requests:g} | {time_taken:.3f} | {processor:.3f} | {memory:.0f} |")
        finally:
            forge.close()


if __name__ == "__main__":
    main()
