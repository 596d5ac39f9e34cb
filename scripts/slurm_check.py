#!/usr/bin/env python3
"""Has the real Slurm work on issues: `hob run` with `executor.command`, a controller, a node and its jobs.

    cargo build && python3 scripts/slurm_check.py target/debug/hob

It starts the embedded forge, munge, `slurmctld` and `slurmd` on loopback, and two dispatchers that submit a job for each issue by
`sbatch --wait`. One job is cancelled while its agent works, and one dispatcher is killed. In the end each issue has one pull request,
and no agent ran outside of a job. It needs Debian's packages munge, slurmctld, slurmd and slurm-client, and root, as a node's
daemon does. Nothing outside a temporary folder is written, and only processes that were started here are ended. It ends with 1 and
says what was not so.
"""

import argparse
import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from embedded_forge import QUICK, Forge, free_ports, machine, print_table, until

# The agent says in which job it is, and the victim waits to be cancelled.
AGENT = """cat > /dev/null
echo "$HOB_ISSUE ${{SLURM_JOB_ID:-none}}" >> {folder}/ran
if test "$HOB_ISSUE" = {victim} && mkdir {folder}/waited 2> /dev/null; then sleep 600; fi
echo done > "done-$HOB_ISSUE.txt"
echo '{{"outcome":"done","title":"Write a file"}}'"""
SETTINGS = """agent = "scripted"
jobs = 4
[executor]
command = ["sbatch", "--wait", "--quiet", "--output={folder}/job-%j.log", "--wrap", "exec {hob} --config {folder}/hob.toml --state-dir {folder}/node run {{issue}} --repo {{repo}}"]
[agents.scripted]
backend = "command"
command = ["sh", "{folder}/agent.sh"]
env = ["SLURM_JOB_ID"]
""" + QUICK
CONTROLLER = """ClusterName=hob
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmctldPort={controller}
SlurmdPort={node}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state-of-slurm
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} State=UNKNOWN
PartitionName=work Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
"""
ISSUES = 8
VICTIM = 3


class Cluster:
    """A controller and a node of Slurm on loopback."""

    def __init__(self, folder):
        self.folder, self.children = folder, []
        controller, node = free_ports(2)
        host = socket.gethostname().split(".")[0]
        text = CONTROLLER.format(folder=folder, host=host, controller=controller, node=node, cores=os.cpu_count())
        (folder / "slurm.conf").write_text(text)
        (folder / "cgroup.conf").write_text("CgroupPlugin=autodetect\nCgroupMountpoint=/sys/fs/cgroup\n")
        for name in ["state-of-slurm", "spool"]:
            (folder / name).mkdir()
        self.environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}
        self.host = host

    def begin(self):
        folder = self.folder
        key = folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        munge = ["--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge.socket"]
        munge += [f"--{name}-file={folder}/munged.{name}" for name in ["log", "pid", "seed"]]
        self.start("munged", *munge)
        until("munge answers", lambda: (folder / "munge.socket").exists())
        self.start("slurmctld", "-D", "-c")
        self.start("slurmd", "-D", "-N", self.host)
        until("a node is idle", lambda: "idle" in self.ask("sinfo", "--noheader", "--format=%T"))

    def start(self, program, *arguments):
        found = shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin") or sys.exit(f"{program} is not installed")
        with open(self.folder / f"{program}.out", "wb") as log:
            command = [found, *arguments]
            self.children.append(subprocess.Popen(command, env=self.environment, cwd=self.folder, stdout=log, stderr=log))

    def ask(self, *command):
        asked = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60)
        return asked.stdout if asked.returncode == 0 else ""

    def close(self):
        self.ask("scancel", "--user=root")
        for child in reversed(self.children):
            child.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(30)


def check(hob, forge, cluster, folder):
    """What happened, as rows, and what was not as it should be."""
    path = forge.repository("site")
    (folder / "agent.sh").write_text(AGENT.format(folder=folder, victim=VICTIM))
    (folder / "hob.toml").write_text(SETTINGS.format(folder=folder, hob=hob))
    for _ in range(ISSUES):
        forge.call("POST", f"{path}/issues", {"title": "Write a file", "body": "Please.", "labels": ["code"]})
    environment = forge.environment(folder) | {"SLURM_CONF": str(folder / "slurm.conf")}
    dispatchers = []
    begun = time.monotonic()
    for name in ["one", "two"]:
        command = [hob, "--repo", "ann/site", "--config", str(folder / "hob.toml"), "--state-dir", str(folder / name), "run"]
        with open(folder / f"{name}.log", "wb") as log:
            dispatchers.append(subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log))
    try:
        until("the victim's agent is at work", (folder / "waited").exists)
        dispatchers[0].kill()
        ran = [line.split() for line in (folder / "ran").read_text().splitlines()]
        job = next(job for issue, job in ran if issue == str(VICTIM))
        cluster.ask("scancel", "--signal=KILL", "--full", job)
        issues = f"{path}/issues?state=open&per_page=100&labels=in-review"
        until("each issue is in review", lambda: len([i for i in forge.call("GET", issues) if "pull_request" not in i]) == ISSUES)
    finally:
        seconds = time.monotonic() - begun
        for dispatcher in dispatchers:
            dispatcher.terminate()
            dispatcher.wait(60)
    pulls = forge.call("GET", f"{path}/pulls?state=all&per_page=100")
    ran = [line.split() for line in (folder / "ran").read_text().splitlines()]
    heads = {pull["head"]["ref"].split("-")[0] for pull in pulls}
    wrong = []
    if len(pulls) != ISSUES or len(heads) != ISSUES:
        wrong.append(f"{ISSUES} issues have {len(pulls)} pull requests of {len(heads)} issues")
    if len(ran) != ISSUES + 1:
        wrong.append(f"agents ran {len(ran)} times and should have run {ISSUES + 1} times, once more for the cancelled job: {ran}")
    if any(job == "none" for _, job in ran):
        wrong.append(f"an agent ran outside of a job: {ran}")
    jobs = len(list(folder.glob("job-*.log")))
    return wrong, [
        ("issues; pull requests", f"{ISSUES}; {len(pulls)}"),
        ("agents that ran, each in a job of Slurm", str(len(ran))),
        ("jobs that two dispatchers submitted", str(jobs)),
        ("from the start to the last pull request, after a lease of 15 s had expired", f"{seconds:.0f} s"),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hob", type=pathlib.Path)
    parser.add_argument("--keep", action="store_true", help="print the logs")
    options = parser.parse_args()
    hob = str(options.hob.resolve())
    with tempfile.TemporaryDirectory(prefix="hob-slurm-") as folder:
        folder = pathlib.Path(folder)
        forge = Forge(hob, folder)
        cluster = Cluster(folder)
        try:
            cluster.begin()
            wrong, rows = check(hob, forge, cluster, folder)
            version = cluster.ask("sinfo", "--version").strip()
        finally:
            if options.keep:
                for log in sorted(folder.glob("*.log")) + sorted(folder.glob("*.out")):
                    print(f"===== {log.name}\n{log.read_text(errors='replace')[-4000:]}")
            cluster.close()
            forge.close()
    print(f"{version}, {machine()}.\n")
    print_table(rows)
    for sentence in wrong:
        print(f"- {sentence}")
    sys.exit(bool(wrong))


main()
