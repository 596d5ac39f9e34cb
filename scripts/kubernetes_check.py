#!/usr/bin/env python3
"""Has Jobs of Kubernetes work on issues: two dispatchers with `executor.job`, an API, and pods that are processes.

    cargo build --features kubernetes && python3 scripts/kubernetes_check.py target/debug/hob

It starts the embedded forge and, on loopback, a small API of Kubernetes: Jobs with labels, watches and 409, as
https://kubernetes.io/docs/reference/using-api/api-concepts/ describes them, with a controller that starts the command of a Job's
container. No pod has a token: it has a pass, and a Service of all dispatchers as its forge. The answer to the first request for a Job is
withheld, and the dispatcher that asked is killed; another one is killed and started anew while agents work. One pod is evicted while its
agent works; one waits for a node, and one in Kueue's queue, from which it is preempted once. In the end each issue has one pull request,
no agent ran beside a Job, none ran twice but that of the evicted pod, and a pass opened nothing of another repository. It ends with 1 and
says what was not so.

It needs openssl, for the API's certificate. No cluster takes part: what a real one refuses of the manifests is in `kubernetes_manifests.py`.
"""

import argparse
import base64
import collections
import copy
import http.server
import json
import os
import pathlib
import queue
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from embedded_forge import QUICK, Forge, free_ports, machine, print_table, until

AGENT = """cat > /dev/null
echo "$HOB_ISSUE ${{JOB_NAME:-none}}" >> {folder}/ran
if test "$HOB_ISSUE" = {evicted} && mkdir {folder}/waited 2> /dev/null; then sleep 600; fi
if test "$HOB_ISSUE" = {preempted} && mkdir {folder}/preempted 2> /dev/null; then sleep 600; fi
echo done > "done-$HOB_ISSUE.txt"
echo '{{"outcome":"done","title":"Write a file"}}'"""
SETTINGS = """agent = "scripted"
jobs = 8
[executor]
job = "{folder}/job.yaml"
[agents.scripted]
backend = "command"
command = ["sh", "{folder}/agent.sh"]
env = ["JOB_NAME"]
""" + QUICK
JOB = """apiVersion: batch/v1
kind: Job
metadata:
  labels: {{ kueue.x-k8s.io/queue-name: agents }}
spec:
  template:
    spec:
      containers:
        - name: hob
          image: hob
          command: [{hob}]
          args: [--config, {folder}/hob.toml, --state-dir, {folder}/node]
          env: [{{ name: GITHUB_API_URL, value: "http://127.0.0.1:{port}/forge" }}]
"""
KUBECONFIG = """apiVersion: v1
kind: Config
current-context: here
contexts: [{{ name: here, context: {{ cluster: here, user: here, namespace: hob }} }}]
clusters: [{{ name: here, cluster: {{ server: "https://127.0.0.1:{port}", certificate-authority: {folder}/tls.crt }} }}]
users: [{{ name: here, user: {{ token: {token} }} }}]
"""
TOKEN = "the-dispatcher"
ISSUES = 6
EVICTED, UNSCHEDULED, PREEMPTED = 2, 3, 4
# The API ends a watch after as many seconds.
WATCH = 5


class Service:
    """One address for all dispatchers: each connection goes to the next one that listens."""

    def __init__(self, ports):
        self.ports, self.turn, self.taken = ports, 0, collections.Counter()
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self.connect, args=(client,), daemon=True).start()

    def connect(self, client):
        for _ in self.ports:
            self.turn += 1
            port = self.ports[self.turn % len(self.ports)]
            try:
                dispatcher = socket.create_connection(("127.0.0.1", port))
            except OSError:
                continue
            self.taken[port] += 1
            back = threading.Thread(target=self.copy, args=(dispatcher, client), daemon=True)
            back.start()
            self.copy(client, dispatcher)
            back.join()
            break
        client.close()

    def copy(self, one, other):
        try:
            while data := one.recv(1 << 16):
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self.server.close()


class Cluster:
    """An API with Jobs, pods and Kueue's workloads, and the controllers of one node."""

    def __init__(self, folder, environment):
        self.folder, self.environment = folder, environment
        self.lock = threading.RLock()
        self.version, self.jobs, self.pods, self.workloads = 0, {}, {}, {}
        self.watchers, self.children, self.environments, self.answers = [], {}, [], collections.Counter()
        self.withheld, self.released = threading.Event(), threading.Event()
        cluster = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def is_known(self):
                if self.headers["Authorization"] == f"Bearer {TOKEN}":
                    return True
                cluster.refuse(self, 401, "Unauthorized")
                return False

            def do_GET(self):
                if self.is_known():
                    cluster.get(self)

            def do_POST(self):
                if self.is_known():
                    cluster.post(self)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        subject = ["-subj", "/CN=here", "-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"]
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", *subject,
             "-keyout", folder / "tls.key", "-out", folder / "tls.crt"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, handler, code, body):
        self.answers[code] += 1
        data = json.dumps(body).encode()
        handler.send_response(code)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def refuse(self, handler, code, message):
        self.answer(handler, code, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message})

    def get(self, handler):
        address = urllib.parse.urlsplit(handler.path)
        asked = dict(urllib.parse.parse_qsl(address.query))
        resource = address.path.rsplit("/", 1)[1]
        if "/v1beta2/" in address.path:
            return self.refuse(handler, 404, "the server could not find the requested resource")
        if asked.get("watch") == "true":
            return self.watch(handler, asked)
        with self.lock:
            objects = {"jobs": self.jobs, "pods": self.pods, "workloads": self.workloads}.get(resource, {})
            items = [copy.deepcopy(one) for one in objects.values() if selected(one, asked)]
            body = {"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": str(self.version)}, "items": items}
        self.answer(handler, 200, body)

    def watch(self, handler, asked):
        events = queue.Queue()
        with self.lock:
            changed = [job for job in self.jobs.values() if int(job["metadata"]["resourceVersion"]) > int(asked["resourceVersion"])]
            for job in changed:
                events.put({"type": "MODIFIED", "object": copy.deepcopy(job)})
            self.watchers.append(events)
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.close_connection = True
        ends = time.monotonic() + WATCH
        try:
            while (left := ends - time.monotonic()) > 0:
                try:
                    event = events.get(timeout=left)
                except queue.Empty:
                    break
                if selected(event["object"], asked):
                    handler.wfile.write(json.dumps(event).encode() + b"\n")
                    handler.wfile.flush()
        except OSError:
            pass
        with self.lock:
            self.watchers.remove(events)

    def post(self, handler):
        job = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        name = job["metadata"]["name"]
        with self.lock:
            if name in self.jobs:
                return self.refuse(handler, 409, f'jobs.batch "{name}" already exists')
            first, again = not self.jobs, self.of_issue(issue_of(job))
            job["metadata"] |= {"uid": f"uid-{name}", "namespace": "hob"}
            self.write(job, suspend=issue_of(job) == PREEMPTED)
        if first:
            # The dispatcher that asked is killed before it hears of it.
            self.withheld.set()
            self.released.wait(60)
        if again or issue_of(job) not in (EVICTED, UNSCHEDULED, PREEMPTED):
            self.begin(name)
        elif issue_of(job) == UNSCHEDULED:
            unscheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available"}
            self.pod(name, {"phase": "Pending", "conditions": [unscheduled]})
        elif issue_of(job) == PREEMPTED:
            self.wait_in_queue(name, "insufficient unused quota for cpu")
        try:
            self.answer(handler, 201, job)
        except OSError:
            pass

    def write(self, job, suspend=False, **status):
        with self.lock:
            self.version += 1
            job["metadata"]["resourceVersion"] = str(self.version)
            job["spec"]["suspend"], job["status"] = suspend, status
            self.jobs[job["metadata"]["name"]] = job
            for events in self.watchers:
                events.put({"type": "MODIFIED", "object": copy.deepcopy(job)})

    def pod(self, name, status):
        with self.lock:
            labels = {"batch.kubernetes.io/job-name": name}
            self.pods[name] = {"metadata": {"name": f"{name}-0", "labels": labels}, "status": status}

    def wait_in_queue(self, name, message):
        conditions = [{"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": message}]
        kind = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload"}
        metadata = {"name": name, "labels": {"kueue.x-k8s.io/job-uid": f"uid-{name}"}}
        with self.lock:
            self.workloads[name] = kind | {"metadata": metadata, "status": {"conditions": conditions}}
            self.pods.pop(name, None)
            self.write(self.jobs[name], suspend=True)

    def begin(self, name):
        """Starts the pod, as a process."""
        container = self.jobs[name]["spec"]["template"]["spec"]["containers"][0]
        given = {one["name"]: one["value"] for one in container["env"]}
        environment = self.environment | given | {"JOB_NAME": name}
        with open(self.folder / f"pod-{name}.log", "ab") as log:
            child = subprocess.Popen(
                container["command"] + container["args"], env=environment, cwd=self.folder,
                stdout=log, stderr=log, start_new_session=True)
        self.children[name] = child
        self.environments.append(environment)
        self.pod(name, {"phase": "Running"})
        self.write(self.jobs[name], active=1, ready=1)
        threading.Thread(target=self.reap, args=(name, child), daemon=True).start()

    def reap(self, name, child):
        code = child.wait()
        with self.lock:
            if self.children.get(name) is not child:
                return
            if code == 0:
                condition = {"type": "Complete", "status": "True"}
                return self.write(self.jobs[name], succeeded=1, conditions=[condition])
            state = {"terminated": {"exitCode": code % 256, "reason": "Error"}}
            status = {"name": "hob", "image": "", "imageID": "", "ready": False, "restartCount": 0, "state": state}
            self.pod(name, {"phase": "Failed", "containerStatuses": [status]})
            self.fail(name)

    def fail(self, name):
        condition = {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "Job has reached the limit"}
        self.write(self.jobs[name], failed=1, conditions=[condition])

    def kill(self, name):
        """Ends a pod at once, as a node that is lost does."""
        child = self.children.pop(name)
        os.killpg(child.pid, 9)
        child.wait()

    def evict(self, name):
        self.kill(name)
        self.pod(name, {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory"})
        self.fail(name)

    def of_issue(self, issue):
        with self.lock:
            return next((name for name, job in self.jobs.items() if issue_of(job) == issue), None)

    def close(self):
        for name in list(self.children):
            if self.children[name].poll() is None:
                self.kill(name)
        self.server.shutdown()


def issue_of(job):
    return int(job["metadata"]["labels"]["hob/issue"])


def selected(one, asked):
    pairs = [pair.split("=") for pair in asked.get("labelSelector", "").split(",") if pair]
    return all(one["metadata"]["labels"].get(key) == value for key, value in pairs)


def status(address, authorization, method="GET"):
    """The status that a request with this authorization gets."""
    request = urllib.request.Request(address, method=method, headers={"Authorization": authorization})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def opened(forge, service, cluster):
    """What a pass opens that it should not, and the other way round."""
    container = next(iter(cluster.jobs.values()))["spec"]["template"]["spec"]["containers"][0]
    given = {one["name"]: one["value"] for one in container["env"]}
    secret, forwarded = given["GITHUB_TOKEN"], f"http://127.0.0.1:{service.port}/forge"
    bearer = f"Bearer {secret}"
    basic = "Basic " + base64.b64encode(f"x-access-token:{secret}".encode()).decode()
    refs = "info/refs?service=git-upload-pack"
    for address, authorization, method, expected in [
        (f"{forwarded}/repos/ann/site", bearer, "GET", 200),
        (f"{forwarded}/git/ann/site.git/{refs}", basic, "GET", 200),
        (f"{forwarded}/repos/ann/other", bearer, "GET", 403),
        (f"{forwarded}/repos/ann/site/%2e%2e/other", bearer, "GET", 403),
        (f"{forwarded}/git/ann/other.git/{refs}", basic, "GET", 403),
        (f"{forwarded}/app/installations/1/access_tokens", bearer, "POST", 403),
        (f"{forwarded}/repos/ann/site", bearer[:-1] + ("A" if bearer[-1] != "A" else "B"), "GET", 401),
        (f"{forwarded}/repos/ann/site", "Bearer hob", "GET", 401),
        (f"{forge.api}/repos/ann/site", bearer, "GET", 401),
    ]:
        if (found := status(address, authorization, method)) != expected:
            yield f"{method} {address} is answered with {found}, and should be with {expected}"


def check(hob, forge, cluster, folder):
    """What happened, as rows, and what was not as it should be."""
    path = forge.repository("site")
    (folder / "agent.sh").write_text(AGENT.format(folder=folder, evicted=EVICTED, preempted=PREEMPTED))
    (folder / "hob.toml").write_text(SETTINGS.format(folder=folder))
    forge.repository("other")
    ports = dict(zip(["one", "two", "three"], free_ports(3)))
    service = Service(list(ports.values()))
    (folder / "job.yaml").write_text(JOB.format(folder=folder, hob=hob, port=service.port))
    (folder / "kubeconfig").write_text(KUBECONFIG.format(folder=folder, port=cluster.server.server_address[1], token=TOKEN))
    for _ in range(ISSUES):
        forge.call("POST", f"{path}/issues", {"title": "Write a file", "body": "Please.", "labels": ["code"]})
    environment = forge.environment(folder) | {"KUBECONFIG": str(folder / "kubeconfig")}
    common = [hob, "--repo", "ann/site", "--config", str(folder / "hob.toml")]
    dispatchers, wrong, begun = [], [], time.monotonic()

    def start(name):
        with open(folder / f"{name}.log", "ab") as log:
            command = [*common, "--state-dir", str(folder / name), "run", "--listen", str(ports[name])]
            dispatchers.append(subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log))

    def in_review():
        issues = forge.call("GET", f"{path}/issues?state=open&per_page=100&labels=in-review")
        return [issue for issue in issues if "pull_request" not in issue]

    def logs():
        return "".join((folder / f"{name}.log").read_text() for name in ["two", "three"])

    def explains(issue, words):
        command = [*common, "--state-dir", str(folder / "asks"), "explain", str(issue)]
        asked = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=60)
        said = " ".join(asked.stdout.replace("|", " ").split())
        if words not in said:
            wrong.append(f"`hob explain {issue}` does not say `{words}`: {asked.stdout}{asked.stderr}")

    try:
        start("one")
        until("the first Job is made", cluster.withheld.is_set)
        dispatchers[0].kill()
        dispatchers[0].wait(60)
        cluster.released.set()
        start("two")
        start("three")
        until("each issue has a Job", lambda: all(cluster.of_issue(issue) for issue in range(1, ISSUES + 1)))
        explains(UNSCHEDULED, "Unschedulable: 0/3 nodes are available")
        explains(PREEMPTED, "it waits in Kueue's queue `agents`: insufficient unused quota for cpu")
        # One that follows the Job before its pod takes the issue up learns how it ends.
        until("the Job to evict is followed", lambda: f"`{cluster.of_issue(EVICTED)}`: it has no pod yet" in logs())
        cluster.begin(cluster.of_issue(EVICTED))
        cluster.begin(cluster.of_issue(UNSCHEDULED))
        cluster.begin(cluster.of_issue(PREEMPTED))
        until("the agents to stop are at work", lambda: (folder / "waited").exists() and (folder / "preempted").exists())
        wrong += opened(forge, service, cluster)
        # A transfer that breaks off would postpone its issue for minutes.
        until("the others are in review", lambda: len(in_review()) == ISSUES - 2)
        dispatchers[1].kill()
        dispatchers[1].wait(60)
        start("two")
        evicted, preempted = cluster.of_issue(EVICTED), cluster.of_issue(PREEMPTED)
        cluster.evict(evicted)
        cluster.kill(preempted)
        cluster.wait_in_queue(preempted, "Preempted to accommodate a workload")
        # Longer than a lease: nobody else may take it up while its Job waits.
        time.sleep(20)
        cluster.begin(preempted)
        pod = cluster.jobs[evicted]["spec"]["template"]["spec"]["containers"][0]
        given = {one["name"]: one["value"] for one in pod["env"]}
        found = status(f"{given['GITHUB_API_URL']}/repos/ann/site", f"Bearer {given['GITHUB_TOKEN']}")
        if found != 401:
            wrong.append(f"the pass of the Job that failed is answered with {found}, and should be with 401")
        until("each issue is in review", lambda: len(in_review()) == ISSUES)
    finally:
        seconds = time.monotonic() - begun
        for dispatcher in dispatchers:
            dispatcher.terminate()
            dispatcher.wait(60)
        service.close()
    pulls = forge.call("GET", f"{path}/pulls?state=all&per_page=100")
    ran = [line.split() for line in (folder / "ran").read_text().splitlines()]
    heads = {pull["head"]["ref"].split("-")[0] for pull in pulls}
    if len(pulls) != ISSUES or len(heads) != ISSUES:
        wrong.append(f"{ISSUES} issues have {len(pulls)} pull requests of {len(heads)} issues")
    again = {str(EVICTED): 2, str(PREEMPTED): 2}
    for issue, times in collections.Counter(issue for issue, _ in ran).items():
        if times != again.get(issue, 1):
            wrong.append(f"the agent of issue {issue} ran {times} times")
    if any(job not in cluster.jobs for _, job in ran):
        wrong.append(f"an agent ran outside of a Job: {ran}")
    # A pod that asked the dispatcher that was killed may fail before it takes its issue up, and another Job comes then.
    if len({job for _, job in ran}) != ISSUES + 1:
        wrong.append(f"agents ran in {len({job for _, job in ran})} Jobs, not in {ISSUES + 1}, one more for the evicted pod")
    says = f"the Job `{evicted}` failed: Evicted: The node was low on resource: memory"
    if says not in logs():
        wrong.append(f"no dispatcher says `{says}`")
    if any("hob" in pod.values() for pod in cluster.environments):
        wrong.append("a pod has the dispatcher's token")
    if any(f":{service.port}/" in pull["body"] for pull in pulls):
        wrong.append("a pull request links to the dispatcher")
    return wrong, [
        ("connections of pods to each dispatcher", "; ".join(str(service.taken[port]) for port in ports.values())),
        ("issues; pull requests", f"{ISSUES}; {len(pulls)}"),
        ("Jobs; agents that ran, each in a Job", f"{len(cluster.jobs)}; {len(ran)}"),
        ("requests that the API refused because the Job was there (409)", str(cluster.answers[409])),
        ("from the start to the last pull request, after a lease of 15 s had expired", f"{seconds:.0f} s"),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hob", type=pathlib.Path)
    parser.add_argument("--keep", action="store_true", help="print the logs")
    options = parser.parse_args()
    hob = str(options.hob.resolve())
    with tempfile.TemporaryDirectory(prefix="hob-kubernetes-") as folder:
        folder = pathlib.Path(folder)
        forge = Forge(hob, folder)
        cluster = Cluster(folder, {"PATH": os.environ["PATH"], "HOME": str(folder)})
        try:
            wrong, rows = check(hob, forge, cluster, folder)
        finally:
            if options.keep:
                for log in sorted(folder.glob("*.log")):
                    print(f"===== {log.name}\n{log.read_text(errors='replace')[-4000:]}")
            cluster.close()
            forge.close()
    print(f"{machine()}.\n")
    print_table(rows)
    for sentence in wrong:
        print(f"- {sentence}")
    sys.exit(bool(wrong))


main()
