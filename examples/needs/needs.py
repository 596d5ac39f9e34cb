#!/usr/bin/env python3
"""Tries what ordinary test suites do: servers, pools, terminals, shared memory, locks, other languages' runtimes.

    python3 needs.py          # one JSON line for each: its name, and `works`, `fails` or `missing`, with why
    python3 needs.py NAME     # that one alone, in this process

Each is tried in a process and a folder of its own. `missing`: this machine has not what it takes, wherever it runs.
"""

import array
import asyncio
import concurrent.futures
import ctypes
import fcntl
import http.server
import json
import mmap
import multiprocessing
import os
import pty
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from multiprocessing import shared_memory

PATIENCE_SECONDS = 30
NEEDS = {}


class Missing(Exception):
    """This machine has not what it takes."""


def need(name):
    def keep(function):
        NEEDS[name] = function
        return function

    return keep


def program(*names):
    for name in names:
        if found := shutil.which(name):
            return found
    raise Missing(f"{' or '.join(names)} is not installed")


def run(*command, **options):
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, **options)
    assert ended.returncode == 0, f"{command[0]} ended with {ended.returncode}: {(ended.stderr or ended.stdout)[-300:]}"
    return ended.stdout


def free(family, kind, host):
    if family == socket.AF_INET6 and not os.path.exists("/proc/net/if_inet6"):
        raise Missing("the kernel has no IPv6")
    served = socket.socket(family, kind)
    served.bind((host, 0))
    return served


def echoes(served, connect):
    """A thread accepts one connection and says what it hears."""
    served.listen()

    def answer():
        peer, _ = served.accept()
        peer.sendall(peer.recv(16))

    threading.Thread(target=answer, daemon=True).start()
    client = connect()
    client.sendall(b"hello")
    assert client.recv(16) == b"hello"


def over_tcp(family, host, to=None):
    served = free(family, socket.SOCK_STREAM, host)
    port = served.getsockname()[1]
    echoes(served, lambda: socket.create_connection((to or host, port), 5))


def over_udp(family, host):
    served = free(family, socket.SOCK_DGRAM, host)
    client = socket.socket(family, socket.SOCK_DGRAM)
    client.sendto(b"hello", served.getsockname()[:2])
    assert served.recv(16) == b"hello"


@need("a TCP server on 127.0.0.1, and a client")
def _():
    over_tcp(socket.AF_INET, "127.0.0.1")


@need("a TCP server on ::1, and a client")
def _():
    over_tcp(socket.AF_INET6, "::1")


@need("a TCP server on all addresses")
def _():
    over_tcp(socket.AF_INET, "0.0.0.0", "127.0.0.1")


@need("a TCP server, asked as `localhost`")
def _():
    over_tcp(socket.AF_INET, "127.0.0.1", "localhost")


@need("a free port, found and left, then taken")
def _():
    for _ in range(20):
        found = free(socket.AF_INET, socket.SOCK_STREAM, "127.0.0.1")
        port = found.getsockname()[1]
        found.close()
        served = socket.socket()
        served.bind(("127.0.0.1", port))
        echoes(served, lambda: socket.create_connection(("127.0.0.1", port), 5))
        served.close()


@need("a server that ends, and is seen to")
def _():
    served = free(socket.AF_INET, socket.SOCK_STREAM, "127.0.0.1")
    served.listen()
    client = socket.create_connection(served.getsockname(), 5)
    accepted, _ = served.accept()
    accepted.close()
    assert client.recv(1) == b""
    address = served.getsockname()
    served.close()
    try:
        socket.create_connection(address, 5)
    except ConnectionRefusedError:
        return
    raise AssertionError("a closed server was reached")


@need("a UDP server on 127.0.0.1")
def _():
    over_udp(socket.AF_INET, "127.0.0.1")


@need("a UDP server on ::1")
def _():
    over_udp(socket.AF_INET6, "::1")


@need("an HTTP server in a thread")
def _():
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://127.0.0.1:{server.server_port}/", timeout=5) as page:
        assert page.status == 200


@need("an HTTP server that is another process")
def _():
    command = [sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        try:
            line = server.stdout.readline()
            assert "port" in line, line
            port = int(line.split("port ")[1].split()[0])
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            assert opener.open(f"http://127.0.0.1:{port}/", timeout=5).status == 200
        finally:
            server.kill()


@need("a server and a client of asyncio")
def _():
    async def talk():
        async def answer(reader, writer):
            writer.write(await reader.readline())
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
        writer.write(b"hello\n")
        assert await reader.readline() == b"hello\n"
        server.close()

    asyncio.run(talk())


def over_unix(path):
    served = socket.socket(socket.AF_UNIX)
    served.bind(path)

    def connect():
        client = socket.socket(socket.AF_UNIX)
        client.connect(path)
        return client

    echoes(served, connect)


@need("a Unix socket in its folder")
def _():
    over_unix("here.sock")


@need("a Unix socket in a temporary folder")
def _():
    with tempfile.TemporaryDirectory() as folder:
        over_unix(os.path.join(folder, "s"))


@need("Unix datagrams")
def _():
    served = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    served.bind("data.sock")
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"hello", "data.sock")
    assert served.recv(16) == b"hello"


@need("an abstract Unix socket")
def _():
    over_unix(f"\0needs-{os.getpid()}")


@need("a pair of stream sockets")
def _():
    one, other = socket.socketpair()
    one.send(b"hello")
    assert other.recv(16) == b"hello"


@need("a pair of datagram sockets")
def _():
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.send(b"hello")
    assert other.recv(16) == b"hello"


@need("a descriptor that is passed on")
def _():
    one, other = socket.socketpair()
    with open("passed", "w+") as file:
        file.write("hello")
        file.flush()
        one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file.fileno()]))])
    _, passed, _, _ = other.recvmsg(1, socket.CMSG_LEN(4))
    descriptor = array.array("i", passed[0][2])[0]
    assert os.pread(descriptor, 16, 0) == b"hello"


def double(number):
    return number * 2


def pool(method):
    with multiprocessing.get_context(method).Pool(2) as workers:
        assert workers.map(double, range(10)) == list(range(0, 20, 2))


@need("a pool of processes by `fork`")
def _():
    pool("fork")


@need("a pool of processes by `spawn`")
def _():
    pool("spawn")


@need("a pool of processes by `forkserver`")
def _():
    pool("forkserver")


@need("a process pool of `concurrent.futures`")
def _():
    with concurrent.futures.ProcessPoolExecutor(2) as workers:
        assert list(workers.map(double, range(10))) == list(range(0, 20, 2))


@need("a manager of `multiprocessing`")
def _():
    with multiprocessing.Manager() as manager:
        shared = manager.dict(a=1)
        shared["b"] = 2
        assert dict(shared) == {"a": 1, "b": 2}


@need("a semaphore that processes share")
def _():
    lock = multiprocessing.Lock()
    with lock:
        other = multiprocessing.Process(target=lock.acquire, kwargs={"block": False})
        other.start()
        other.join()
    assert other.exitcode == 0


@need("a queue between processes")
def _():
    queue = multiprocessing.Queue()
    other = multiprocessing.Process(target=queue.put, args=("hello",))
    other.start()
    assert queue.get(timeout=10) == "hello"
    other.join()


@need("shared memory by a name")
def _():
    made = shared_memory.SharedMemory(create=True, size=4096)
    try:
        made.buf[:5] = b"hello"
        other = shared_memory.SharedMemory(made.name)
        assert bytes(other.buf[:5]) == b"hello"
        other.close()
    finally:
        made.close()
        made.unlink()


@need("memory that is shared with a child")
def _():
    shared = mmap.mmap(-1, 4096)
    if (child := os.fork()) == 0:
        shared[:5] = b"hello"
        os._exit(0)
    os.waitpid(child, 0)
    assert shared[:5] == b"hello"


@need("a file in memory (`memfd`)")
def _():
    descriptor = os.memfd_create("needs")
    os.write(descriptor, b"hello")
    assert os.pread(descriptor, 16, 0) == b"hello"


@need("System V shared memory")
def _():
    libc = ctypes.CDLL(None, use_errno=True)
    made = libc.shmget(0, 4096, 0o1600)
    assert made >= 0, os.strerror(ctypes.get_errno())
    libc.shmctl(made, 0, None)


@need("a POSIX queue of messages")
def _():
    libc = ctypes.CDLL("librt.so.1", use_errno=True)
    name = f"/needs-{os.getpid()}".encode()
    made = libc.mq_open(name, os.O_CREAT | os.O_RDWR, 0o600, None)
    assert made >= 0, os.strerror(ctypes.get_errno())
    libc.mq_unlink(name)


@need("a pseudo-terminal")
def _():
    ours, theirs = pty.openpty()
    os.write(theirs, b"hello\n")
    assert os.read(ours, 16).startswith(b"hello")
    assert os.isatty(theirs) and os.ttyname(theirs)


@need("a program with a terminal of its own")
def _():
    child, terminal = pty.fork()
    if child == 0:
        os.execvp("sh", ["sh", "-c", "test -t 0 && test -t 1 && echo has-one </dev/tty"])
    said = b""
    while select.select([terminal], [], [], 10)[0]:
        try:
            some = os.read(terminal, 1024)
        except OSError:
            break
        if not some:
            break
        said += some
    os.waitpid(child, 0)
    assert b"has-one" in said, said


@need("a file in `/tmp`")
def _():
    with tempfile.NamedTemporaryFile(dir="/tmp") as file:
        file.write(b"hello")


@need("a file where temporary files are")
def _():
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"hello")


@need("a file in `/dev/shm`")
def _():
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        file.write(b"hello")


@need("a file in the home")
def _():
    folder = os.path.join(os.path.expanduser("~"), ".cache", "needs")
    os.makedirs(folder, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        file.write(b"hello")


@need("changes of files, watched (`inotify`)")
def _():
    libc = ctypes.CDLL(None, use_errno=True)
    watcher = libc.inotify_init()
    assert watcher >= 0 and libc.inotify_add_watch(watcher, b".", 0x100) >= 0, os.strerror(ctypes.get_errno())
    open("new", "w").close()
    assert b"new" in os.read(watcher, 4096)


@need("a lock on a file")
def _():
    with open("locked", "w") as file, open("locked") as other:
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            raise AssertionError("it was had twice")
        except BlockingIOError:
            pass
        fcntl.lockf(file, fcntl.LOCK_EX)


@need("a named pipe")
def _():
    os.mkfifo("pipe")
    threading.Thread(target=lambda: open("pipe", "w").write("hello"), daemon=True).start()
    assert open("pipe").read() == "hello"


@need("links, renames and a sparse file")
def _():
    with open("a", "wb") as file:
        file.truncate(1 << 30)
        os.posix_fallocate(file.fileno(), 0, 4096)
    os.link("a", "b")
    os.symlink("a", "c")
    os.rename("b", "d")
    assert os.path.samefile("c", "d")


@need("signals between its processes")
def _():
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as child:
        os.killpg(child.pid, signal.SIGTERM)
        assert child.wait(10) == -signal.SIGTERM


@need("a child that outlives its parent within the run")
def _():
    run("sh", "-c", "(sleep 0.2; echo hello > late) &")
    for _ in range(100):
        if os.path.exists("late"):
            return
        time.sleep(0.1)
    raise AssertionError("it was ended")


@need("a hundred threads")
def _():
    threads = [threading.Thread(target=time.sleep, args=(0.1,)) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@need("`epoll`, `eventfd` and timers")
def _():
    waiting = select.epoll()
    event = os.eventfd(0)
    waiting.register(event, select.EPOLLIN)
    threading.Timer(0.05, os.eventfd_write, (event, 1)).start()
    assert waiting.poll(10)
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    signal.pause()


@need("what `/proc` says of the processor and of itself")
def _():
    assert os.cpu_count() and len(os.sched_getaffinity(0)) and os.readlink("/proc/self/exe")
    assert "processor" in open("/proc/cpuinfo").read().lower() and "MemTotal" in open("/proc/meminfo").read()


@need("what the machine says of its limits (`cgroup`)")
def _():
    for name in ("cpu.max", "cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us", "memory.max", "memory/memory.limit_in_bytes"):
        file = os.path.join("/sys/fs/cgroup", name)
        if os.path.exists(file):
            with open(file) as limit:
                assert limit.read().strip()


@need("a program that it made")
def _():
    with open("own", "w") as file:
        file.write("#!/bin/sh\necho made\n")
    os.chmod("own", 0o755)
    assert run("./own") == "made\n"


@need("a C program, compiled and run")
def _():
    compiler = program("cc", "gcc", "clang")
    with open("a.c", "w") as file:
        file.write('#include <stdio.h>\nint main(void) { puts("made"); return 0; }\n')
    run(compiler, "a.c", "-o", "a.out")
    assert run("./a.out") == "made\n"


@need("a repository that is made and cloned")
def _():
    git = program("git")
    run(git, "init", "-q", "one")
    name = ["-c", "user.name=a", "-c", "user.email=a@localhost"]
    run(git, "-C", "one", *name, "commit", "-q", "--allow-empty", "-m", "first")
    run(git, "clone", "-q", f"file://{os.getcwd()}/one", "other")
    assert run(git, "-C", "other", "log", "--format=%s") == "first\n"


@need("a virtual environment of Python")
def _():
    run(sys.executable, "-m", "venv", "--without-pip", "environment")
    assert run("environment/bin/python", "-c", "print('made')") == "made\n"


def node(script):
    with open("main.js", "w") as file:
        file.write(script)
    assert run(program("node"), "main.js").strip() == "hello"


@need("Node: a server and a client")
def _():
    node(
        "const h = require('http'); const s = h.createServer((q, r) => r.end('hello')).listen(0, '127.0.0.1', () => "
        "h.get({port: s.address().port, host: '127.0.0.1'}, r => r.on('data', d => { console.log(String(d)); process.exit(0) })))"
    )


@need("Node: a cluster")
def _():
    node(
        "const c = require('cluster'), n = require('net'); if (c.isPrimary) { const w = c.fork(); "
        "w.on('message', p => n.connect(p, '127.0.0.1').on('data', d => { console.log(String(d)); w.kill(); process.exit(0) })) } "
        "else n.createServer(s => s.end('hello')).listen(0, '127.0.0.1', function () { process.send(this.address().port) })"
    )


@need("Node: threads")
def _():
    node(
        "const { Worker } = require('worker_threads'); new Worker(\"require('worker_threads').parentPort.postMessage('hello')\", "
        "{ eval: true }).on('message', m => { console.log(m); process.exit(0) })"
    )


@need("Node: a child with a channel")
def _():
    with open("child.js", "w") as file:
        file.write("process.on('message', m => { process.send(m); process.disconnect() })")
    node("const p = require('child_process').fork('./child.js'); p.on('message', m => console.log(m)); p.send('hello')")


@need("Java")
def _():
    assert "version" in run("sh", "-c", f"{program('java')} -version 2>&1")


@need("Go: a program, built and run")
def _():
    go = program("go")
    with open("main.go", "w") as file:
        file.write('package main\nimport "fmt"\nfunc main() { fmt.Println("made") }\n')
    assert run(go, "run", "main.go") == "made\n"


@need("a browser without a window")
def _():
    browser = program("chromium", "chromium-browser", "google-chrome", "firefox")
    said = run(browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "data:text/html,<p>made</p>")
    assert "made" in said


@need("PostgreSQL, started by a test")
def _():
    places = sorted(os.path.join("/usr/lib/postgresql", version, "bin") for version in listed("/usr/lib/postgresql"))
    if not places:
        raise Missing("PostgreSQL is not installed")
    if os.geteuid() == 0:
        raise Missing("PostgreSQL does not run as root")
    run(os.path.join(places[-1], "initdb"), "-D", "data", "-A", "trust")
    options = f"-c listen_addresses=127.0.0.1 -c port=54329 -c unix_socket_directories={os.getcwd()}"
    run(os.path.join(places[-1], "pg_ctl"), "-D", "data", "-o", options, "-l", "log", "-w", "start")
    try:
        assert "1" in run(os.path.join(places[-1], "psql"), "-h", os.getcwd(), "-p", "54329", "-c", "select 1", "postgres")
    finally:
        run(os.path.join(places[-1], "pg_ctl"), "-D", "data", "stop")


@need("Redis, started by a test")
def _():
    server = program("redis-server")
    with subprocess.Popen([server, "--port", "0", "--unixsocket", "redis.sock"], stdout=subprocess.DEVNULL) as started:
        try:
            client = socket.socket(socket.AF_UNIX)
            for _ in range(100):
                if os.path.exists("redis.sock"):
                    break
                time.sleep(0.05)
            client.connect("redis.sock")
            client.sendall(b"PING\r\n")
            assert client.recv(16) == b"+PONG\r\n"
        finally:
            started.kill()


def listed(folder):
    return os.listdir(folder) if os.path.isdir(folder) else []


def one(name):
    """Tries it here, and says how it went on the last line."""
    try:
        NEEDS[name]()
        result, why = "works", ""
    except Missing as error:
        result, why = "missing", str(error)
    except BaseException as error:  # pylint: disable=broad-except
        result, why = "fails", f"{type(error).__name__}: {error}"
    print(json.dumps({"name": name, "result": result, "why": why[:300]}), flush=True)
    # Threads and children that hang are not waited for.
    os._exit(0)


def tried(name):
    with tempfile.TemporaryDirectory(dir=".", ignore_cleanup_errors=True) as folder:
        command = [sys.executable, os.path.abspath(__file__), name]
        try:
            ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=2 * PATIENCE_SECONDS)
            last = (ended.stdout.strip().splitlines() or [""])[-1]
            return json.loads(last) if last.startswith("{") else failed(name, ended.stderr[-300:])
        except subprocess.TimeoutExpired:
            return failed(name, "it did not end")


def failed(name, why):
    return {"name": name, "result": "fails", "why": why}


if __name__ == "__main__":
    if len(sys.argv) > 1:
        one(sys.argv[1])
    with concurrent.futures.ThreadPoolExecutor(2) as several:
        for found in several.map(tried, NEEDS):
            print(json.dumps(found), flush=True)
