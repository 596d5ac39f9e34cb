"""Real clients against the embedded forge, which none of their authors knows: `python run.py PATH-TO-HOB`.

Forty operations each by PyGithub, github3.py, ghapi, Octokit and `gh`. An operation that the forge refuses counts as
failed. Needs the packages of `requirements.txt`, and those of `package.json` one folder up.

Renovate makes its pass over a repository, too, where the folder `renovate` has its packages.
"""

import contextlib
import datetime
import json
import os
import pathlib
import select
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import ghapi_script
import gh_script
import github3_script
import pygithub_script
import renovate_script

HERE = pathlib.Path(__file__).resolve().parent
USERS = {"ada": "admin", "max": "maintain", "wil": "write", "renovate": "write:bot"}


class Forge:
    """Where the forge is, for plain clients and for `gh`, which speaks nothing but TLS."""

    def __init__(self, ready, folder):
        self.api_url, self.server_url = ready["api_url"], ready["server_url"]
        self.folder = folder
        self.gh = str(pathlib.Path(sys.executable).parent / "gh")
        self.tls_port = None

    def token(self, login):
        return f"token-of-{login}"

    def gh_environment(self, login):
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "GH_CONFIG_DIR": str(self.folder / "gh"),
            "GH_HOST": f"localhost:{self.tls_port}",
            "GH_ENTERPRISE_TOKEN": self.token(login),
            "GH_NO_UPDATE_NOTIFIER": "1",
            "GH_PROMPT_DISABLED": "1",
            "NO_COLOR": "1",
            "SSL_CERT_FILE": str(self.folder / "certificate.pem"),
        }


@contextlib.contextmanager
def started(hob, folder):
    """The forge, until the end of the block."""
    users = [word for login, role in USERS.items() for word in ("--user", f"{login}:token-of-{login}:{role}")]
    command = [hob, "forge", "serve", "--listen", "127.0.0.1:0", *users]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        try:
            yield Forge(json.loads(child.stdout.readline()), folder)
        finally:
            child.terminate()


def certificate(folder):
    """A certificate for `localhost` that the folder alone knows; answers the server's side of TLS with it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "certificate.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(key.private_bytes(*form))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    return context


def relay(front, back):
    """Bytes both ways, until either side ends. In one thread: OpenSSL's connections must not be read and written at once."""
    other = {front: back, back: front}
    with contextlib.suppress(OSError):
        while True:
            # What OpenSSL has decrypted already makes its socket readable no more.
            ready = [front] if front.pending() else select.select(list(other), [], [])[0]
            for source in ready:
                data = source.recv(1 << 16)
                if not data:
                    return
                other[source].sendall(data)


def terminate_tls(forge, folder):
    """Takes TLS connections on a free port and passes their bytes on to the forge, as long as the process lives."""
    context = certificate(folder)
    listener = socket.create_server(("127.0.0.1", 0))
    forge.tls_port = listener.getsockname()[1]
    behind = ("127.0.0.1", int(forge.server_url.rsplit(":", 1)[1]))

    def serve(plain):
        with contextlib.suppress(OSError), context.wrap_socket(plain, server_side=True) as front:
            with socket.create_connection(behind) as back:
                relay(front, back)

    def accept():
        while True:
            plain, _ = listener.accept()
            threading.Thread(target=serve, args=(plain,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def octokit(forge):
    """The script for Node; its last line has the counts."""
    command = ["node", str(HERE / "octokit.mjs"), forge.api_url, forge.token("ada"), forge.token("max")]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=300, check=True)
    *told, counts = done.stdout.splitlines()
    print("\n".join(told))
    counts = json.loads(counts)
    return counts["passed"], counts["failed"]


def main():
    if len(sys.argv) != 2:
        raise SystemExit("usage: python run.py PATH-TO-HOB")
    hob = shutil.which(sys.argv[1]) or sys.argv[1]
    sys.stdout.reconfigure(line_buffering=True)
    with tempfile.TemporaryDirectory(prefix="hob-clients-") as name:
        folder = pathlib.Path(name)
        with started(hob, folder) as forge:
            terminate_tls(forge, folder)
            scripts = [pygithub_script.run, github3_script.run, ghapi_script.run, octokit, gh_script.run, renovate_script.run]
            results = [script(forge) for script in scripts]
    passed, failed = (sum(numbers) for numbers in zip(*results))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
