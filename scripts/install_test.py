#!/usr/bin/env python3
"""Tries `install.sh` as a new user would, against a release that this machine serves.

    python3 scripts/install_test.py --binary target/release/hob [--no-rehearsal]
    python3 scripts/install_test.py --release FOLDER [--no-rehearsal]

FOLDER has what `scripts/release.sh` makes. From `--binary` an archive of the same form is made. The server listens at
127.0.0.1 on a free port and answers as GitHub does: `releases/download/vVERSION/FILE`, and a redirect at
`releases/latest`.

The installer runs in an empty root of bubblewrap: `/usr` cannot be written, the home is empty, and nothing else is there.
Once with dash and curl, and once each with what BusyBox and GNU wget bring, where they are installed. Then come releases that it must
refuse, each of which has to leave the home as it was. At the end the installed program runs its rehearsal.

Prints a line for each case with its seconds, and exits with 1 where one is not as it should be. Needs Python 3.11, bubblewrap,
git and curl. What is not installed is told in a line that begins with `skipped:`.
"""

import argparse
import contextlib
import gzip
import hashlib
import http.server
import io
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEADLINE = 300


def target():
    """The target that the installer chooses on this machine."""
    processor = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
    return f"{processor}-unknown-linux-musl"


def archive_of(binary, version, inside="hob"):
    """A release's archive that has `binary`, in memory."""
    folder = f"hob-{version}-{target()}"
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1, mtime=0) as stream:
        with tarfile.open(fileobj=stream, mode="w") as archive:
            entry = tarfile.TarInfo(f"{folder}/{inside}")
            entry.size, entry.mode = len(binary), 0o755
            archive.addfile(entry, io.BytesIO(binary))
    return packed.getvalue()


def line(data, name):
    """A line of SHA256SUMS."""
    return f"{hashlib.sha256(data).hexdigest()}  {name}\n"


class Server:
    """A place where releases are published: files by path, and where `releases/latest` leads."""

    def __init__(self):
        self.files, self.latest, self.asked = {}, None, []
        place = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802, the name that the library calls
                place.asked.append(self.path)
                if self.path == "/releases/latest" and place.latest:
                    self.send_response(302)
                    self.send_header("Location", f"/releases/tag/v{place.latest}")
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                data = place.files.get(self.path)
                if self.path == f"/releases/tag/v{place.latest}":
                    data = b"a page\n"
                self.send_response(404 if data is None else 200)
                self.send_header("Content-Length", str(len(data or b"")))
                self.end_headers()
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    self.wfile.write(data or b"")

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def publish(self, version, files):
        """Puts the files of a release up, and takes all others down."""
        self.files = {f"/releases/download/v{version}/{name}": data for name, data in files.items()}
        self.latest, self.asked = version, []

    @property
    def base_url(self):
        return f"http://127.0.0.1:{self.http.server_port}/releases/download"


class Machine:
    """An empty root with `/usr` and a home, in which programs run as a new user's would."""

    def __init__(self, folder):
        self.home = pathlib.Path(folder) / "home"
        self.tools = pathlib.Path(folder) / "tools"
        self.home.mkdir()
        self.tools.mkdir()

    def only(self, *programs):
        """A folder that has `programs` alone, for PATH."""
        shutil.rmtree(self.tools)
        self.tools.mkdir()
        for name, path in programs:
            (self.tools / name).symlink_to(path)
        return "/tools"

    def empty(self):
        shutil.rmtree(self.home)
        self.home.mkdir()

    def left(self):
        """What the home has, as sorted paths."""
        return sorted(str(path.relative_to(self.home)) for path in self.home.rglob("*") if not path.is_dir())

    def run(self, command, path="/usr/bin:/usr/sbin"):
        """Runs a command, and returns its exit code and what it said."""
        links = [["--symlink", f"usr/{name}", f"/{name}"] for name in ("bin", "sbin", "lib", "lib64")
                 if pathlib.Path(f"/{name}").is_symlink()]
        # Debian finds `awk` by way of /etc/alternatives, and a program looks up the name of its user in /etc/passwd. No
        # certificates: a bare machine has none, and the rehearsal needs none.
        names = ("/etc/alternatives", "/etc/passwd", "/etc/group")
        files = [["--ro-bind-try", name, name] for name in names]
        box = [
            "bwrap", "--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
            "--ro-bind", "/usr", "/usr", *sum(links, []), *sum(files, []),
            "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
            "--ro-bind", ROOT / "install.sh", "/install.sh", "--ro-bind", self.tools, "/tools",
            "--bind", self.home, "/home/new", "--chdir", "/home/new", "--clearenv",
            "--setenv", "HOME", "/home/new", "--setenv", "PATH", path, "--setenv", "LANG", "C.UTF-8",
        ]
        done = subprocess.run(
            [*map(str, box), "--", *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=DEADLINE, text=True, errors="replace", check=False,
        )
        return done.returncode, done.stdout


class Cases:
    """What was tried, and how it went."""

    def __init__(self):
        self.failed = 0

    def tell(self, name, problems, seconds, says):
        print(f"{'ok  ' if not problems else 'BAD '} {seconds:6.2f} s  {name}")
        for problem in problems:
            print(f"              {problem}")
        if problems:
            print("".join(f"            | {said}\n" for said in says.splitlines()), end="")
            self.failed += 1
        sys.stdout.flush()


def installs(cases, machine, name, command, path, version, before=()):
    """An installation that has to succeed, also over what is there before."""
    machine.empty()
    for file in before:
        (machine.home / file).parent.mkdir(parents=True, exist_ok=True)
        (machine.home / file).write_text("the one before\n")
    begin = time.monotonic()
    code, says = machine.run(command, path)
    seconds = time.monotonic() - begin
    problems = []
    if code != 0:
        problems.append(f"it ended with {code}")
    if machine.left() != [".local/bin/hob"]:
        problems.append(f"the home has {machine.left()}")
    if f"hob {version} is installed as /home/new/.local/bin/hob" not in says:
        problems.append("it does not say what is installed where")
    if "not on your PATH" not in says:
        problems.append("it does not warn that the folder is not on PATH")
    if not problems:
        code, said = machine.run(["/home/new/.local/bin/hob", "--version"])
        if (code, said.strip()) != (0, f"hob {version}"):
            problems.append(f"`hob --version` ended with {code} and said {said.strip()!r}")
    cases.tell(name, problems, seconds, says)


def refuses(cases, machine, name, command, path, sentence, before=()):
    """An installation that has to be refused, with a sentence, and that leaves the home as it was."""
    machine.empty()
    for file in before:
        (machine.home / file).parent.mkdir(parents=True, exist_ok=True)
        (machine.home / file).write_text("the one before\n")
    begin = time.monotonic()
    code, says = machine.run(command, path)
    seconds = time.monotonic() - begin
    problems = []
    if code == 0:
        problems.append("it ended with 0")
    if machine.left() != sorted(before):
        problems.append(f"the home has {machine.left()}")
    if any((machine.home / file).read_text() != "the one before\n" for file in before):
        problems.append("the program that was there before is another one")
    spoken = [said for said in says.splitlines() if said.startswith("install.sh: ")]
    if len(spoken) != 1 or not re.search(sentence, spoken[0]):
        problems.append(f"it does not say one sentence with {sentence!r}")
    cases.tell(name, problems, seconds, says)


def good(cases, machine, server, version, install):
    """What has to be installed, by each shell and each program that downloads."""
    path = "/usr/bin:/usr/sbin"
    installs(cases, machine, "dash and curl, the newest release", ["/usr/bin/dash", *install], path, version)
    wanted = ["--version", f"v{version}"]
    command = ["/usr/bin/dash", *install, *wanted]
    installs(cases, machine, "dash and curl, a named release, over another", command, path, version, [".local/bin/hob"])
    installs(cases, machine, "bash as sh", ["/usr/bin/bash", "--posix", *install], path, version)
    if shutil.which("wget"):
        names = ["awk", "cat", "chmod", "cp", "cut", "grep", "gzip", "mkdir", "mktemp", "mv", "rm", "sha256sum", "tar", "tr",
                 "uname", "wget"]
        tools = [(name, shutil.which(name)) for name in names]
        installs(cases, machine, "dash and wget", ["/usr/bin/dash", *install], machine.only(*tools), version)
    else:
        print("skipped: wget is not installed")
    busybox = shutil.which("busybox")
    if busybox:
        tools = machine.only(*((name, busybox) for name in busybox_names(busybox)))
        command = ["/tools/sh", *install]
        installs(cases, machine, "nothing but BusyBox, the newest release", command, tools, version)
        installs(cases, machine, "nothing but BusyBox, a named release", [*command, *wanted], tools, version)
        encrypted = ["--base-url", "https://127.0.0.1:9/releases/download"]
        sentence = "may not check the certificates"
        refuses(cases, machine, "BusyBox's wget where it proves nothing", ["/tools/sh", "/install.sh", *encrypted], tools, sentence)
    else:
        print("skipped: BusyBox is not installed")


def busybox_names(busybox):
    """The programs that a BusyBox has."""
    return subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split()


def bad(cases, machine, server, version, archive, install):
    """What has to be refused."""
    name, path, shell = f"hob-{version}-{target()}.tar.gz", "/usr/bin:/usr/sbin", ["/usr/bin/dash", *install]
    there = [".local/bin/hob"]

    server.publish(version, {name: archive, "SHA256SUMS": line(b"another file", name).encode()})
    refuses(cases, machine, "a wrong checksum", shell, path, "the checksum of .* should be", there)
    server.publish(version, {name: archive})
    refuses(cases, machine, "no SHA256SUMS", shell, path, "has no SHA256SUMS", there)
    server.publish(version, {name: archive, "SHA256SUMS": line(archive, f"x{name}").encode()})
    refuses(cases, machine, "an archive that SHA256SUMS does not name", shell, path, "does not name", there)
    server.publish(version, {name: archive, "SHA256SUMS": 2 * line(archive, name).encode()})
    refuses(cases, machine, "an archive that SHA256SUMS names twice", shell, path, "no usable checksum", there)
    server.publish(version, {name: archive, "SHA256SUMS": f"{'0' * 40}  {name}\n".encode()})
    refuses(cases, machine, "a checksum that is too short", shell, path, "no usable checksum", there)
    server.publish(version, {name: archive, "SHA256SUMS": b""})
    refuses(cases, machine, "an empty SHA256SUMS", shell, path, "does not name", there)
    server.publish(version, {"SHA256SUMS": line(archive, name).encode()})
    refuses(cases, machine, "no archive", shell, path, "has no hob-", there)
    half = archive[: len(archive) // 2]
    server.publish(version, {name: half, "SHA256SUMS": line(archive, name).encode()})
    refuses(cases, machine, "half an archive", shell, path, "the checksum of .* should be", there)

    server.publish(version, {name: archive, "SHA256SUMS": line(archive, name).encode()})
    server.latest = "9.0.0-rc.1"
    refuses(cases, machine, "a prerelease as the newest release", shell, path, "is a prerelease", there)
    if any("download" in path for path in server.asked):
        cases.tell("a prerelease is not even downloaded", [f"asked for: {server.asked}"], 0, "")
    server.latest = None
    refuses(cases, machine, "no release at all", shell, path, "could not be found", there)

    # Without a program that computes checksums nothing may be installed, and nothing is downloaded.
    server.publish(version, {name: archive, "SHA256SUMS": line(archive, name).encode()})
    names = ["awk", "cat", "curl", "grep", "gzip", "mkdir", "mktemp", "rm", "tar", "tr", "uname"]
    tools = machine.only(*((name, shutil.which(name)) for name in names))
    refuses(cases, machine, "no sha256sum and no shasum", shell, tools, "cannot be computed", there)
    if server.asked:
        cases.tell("without sha256sum nothing is asked for", [f"asked for: {server.asked}"], 0, "")

    # The checksum is right, and the contents are not.
    for told, data, sentence in [
        ("an archive without the program", archive_of(b"", version, inside="other"), "has no hob-"),
        ("a program that does not start", archive_of(b"#!/bin/sh\nexit 3\n", version), "does not start"),
        ("a program of another version", archive_of(b"#!/bin/sh\necho hob 0.0.1\n", version), "says that it is hob 0.0.1"),
    ]:
        server.publish(version, {name: data, "SHA256SUMS": line(data, name).encode()})
        refuses(cases, machine, told, shell, path, sentence, there)
    address = ["--base-url", f"http://127.0.0.1:1@localhost:{server.http.server_port}/releases/download"]
    refuses(cases, machine, "an address with a name to sign in with", ["/usr/bin/dash", "/install.sh", *address], path, "an @")
    address = ["--base-url", "http://example.com/releases/download"]
    refuses(cases, machine, "an address in the clear", ["/usr/bin/dash", "/install.sh", *address], path, "https://")
    server.publish(version, {name: archive, "SHA256SUMS": line(archive, name).encode()})
    refuses(cases, machine, "a folder that cannot be written", [*shell, "--to", "/usr/bin"], path, "cannot be written", there)


def rehearse(cases, machine, install):
    """From nothing to the end of the rehearsal, as the README says it."""
    machine.empty()
    begin = time.monotonic()
    code, says = machine.run(["/usr/bin/dash", *install])
    installed = time.monotonic() - begin
    cases.tell("a new user: the installer", [f"it ended with {code}"] if code else [], installed, says)
    begin = time.monotonic()
    code, says = machine.run(["/home/new/.local/bin/hob", "rehearse"])
    seconds = time.monotonic() - begin
    cases.tell("a new user: hob rehearse, to its end", [f"it ended with {code}"] if code else [], seconds, says)
    print(f"from nothing to the rehearsal's end: {installed + seconds:.1f} s")


def main():
    parser = argparse.ArgumentParser(description="Tries install.sh against a release that this machine serves.")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--binary", type=pathlib.Path, help="a program to make a release of")
    source.add_argument("--release", type=pathlib.Path, help="a folder that scripts/release.sh made")
    parser.add_argument("--no-rehearsal", action="store_true", help="leave `hob rehearse` out")
    given = parser.parse_args()
    for program in ("bwrap", "curl", "git"):
        if not shutil.which(program):
            sys.exit(f"install_test.py: `{program}` is not installed")

    with tempfile.TemporaryDirectory() as folder:
        if given.binary:
            plain = pathlib.Path(folder) / "hob"
            # A debug build has ten times as many symbols as program.
            if subprocess.run(["strip", "-o", plain, given.binary], check=False).returncode:
                shutil.copy(given.binary, plain)
            version = subprocess.run([plain, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
            archive = archive_of(plain.read_bytes(), version)
            name = f"hob-{version}-{target()}.tar.gz"
            files = {name: archive, "SHA256SUMS": line(archive, name).encode()}
        else:
            files = {path.name: path.read_bytes() for path in given.release.iterdir() if path.is_file()}
            names = [name for name in files if re.fullmatch(rf"hob-.+-{target()}\.tar\.gz", name)]
            if len(names) != 1:
                sys.exit(f"install_test.py: {given.release} has no archive for {target()}")
            archive, version = files[names[0]], names[0].removeprefix("hob-").removesuffix(f"-{target()}.tar.gz")
        server, machine, cases = Server(), Machine(folder), Cases()
        install = ["/install.sh", "--base-url", server.base_url]
        server.publish(version, files)
        good(cases, machine, server, version, install)
        bad(cases, machine, server, version, archive, install)
        if not given.no_rehearsal:
            server.publish(version, files)
            rehearse(cases, machine, install)
    if cases.failed:
        sys.exit(f"install_test.py: {cases.failed} cases are not as they should be")


if __name__ == "__main__":
    os.umask(0o022)
    main()
