#!/usr/bin/env python3
"""The reusable workflows that are made from work.yml: the same jobs with more permissions.

    python3 scripts/workflows.py            writes them
    python3 scripts/workflows.py --check    fails where a file is not what would be written

GitHub starts no workflow whose caller grants less than a job asks for, whatever its `if`, so permissions are an interface: one
more in work.yml would break each caller. New ones are in files of their own:

- work-checks.yml: what rounds of work on failed checks need to see;
- work-attested.yml: the same, and a job that attests what was shown.

The actions that release.yml uses have its pins. Needs Python 3.11 and nothing else.
"""

import argparse
import pathlib
import re
import sys

WORKFLOWS = pathlib.Path(__file__).resolve().parent.parent / ".github/workflows"

HEAD = """\
# Made from work.yml by scripts/workflows.py: change it there.
#
"""
CHECKS_HEAD = """\
# work.yml with the permissions to see checks, so that Hob works on those that fail, and marks no pull request as ready whose
# checks it cannot see. A caller grants what the jobs ask for: see docs/operations.md.
"""
ATTESTED_HEAD = """\
# work-checks.yml with a job that attests what was shown of each pull request: docs/proof-v1.md says what that proves, and how to
# verify it. For public repositories, and for those of organisations with Enterprise Cloud. A caller grants what the jobs ask for.
"""

SEES_CHECKS = """\
      checks: read # sees which checks fail, and why
      statuses: read # sees statuses, which are checks, too
      actions: read # sees logs, and runs that wait for an approval
"""
PROOFS = """\
      proofs: ${{ steps.proofs.outputs.artifact-id }}
"""
KEEP = """\
      - name: Keep what was shown
        id: proofs
        if: steps.hob.outputs.proofs != ''
        uses: {upload}
        with:
          # The first issue tells two calls in one run apart.
          name: hob-proofs-${{{{ github.run_id }}}}-${{{{ github.run_attempt }}}}-${{{{ fromJSON(steps.hob.outputs.issues)[0] }}}}
          path: ${{{{ steps.hob.outputs.proofs }}}}
          if-no-files-found: error
"""
# Whoever runs in this job signs in this workflow's name: it checks nothing out, and runs no program of its own.
ATTEST = """\
  attest:
    name: Attest what was shown
    needs: summary
    # Also after a job that failed: what was published is published.
    if: "!cancelled() && needs.summary.outputs.proofs != ''"
    runs-on: ubuntu-24.04
    timeout-minutes: 10
    permissions:
      contents: read # what actions/attest asks for
      id-token: write # proves to the signing service that this is this workflow
      attestations: write # stores the attestation
    steps:
      - name: Take the statements
        uses: {download}
        with:
          # Names are shared by all jobs of a run, ids are not.
          artifact-ids: ${{{{ needs.summary.outputs.proofs }}}}
          path: proof
      - name: Attest each statement
        uses: actions/attest@1e69f48acb82d1966a394da916b4c1698aa569d6 # v4.2.2
        with:
          subject-path: proof/proof-*.json
          predicate-type: https://github.com/hob-worker/hob/blob/main/docs/proof-v1.md
          predicate-path: proof/predicate.json
"""


def fail(sentence):
    sys.exit(f"workflows.py: {sentence}")


def pinned(action):
    found = set(re.findall(rf"uses: ({action}@[0-9a-f]{{40}} # v\S+)", (WORKFLOWS / "release.yml").read_text()))
    if len(found) != 1:
        fail(f"release.yml has {len(found)} pins of {action}")
    return found.pop()


class Workflow:
    """work.yml in its parts: what stands before its jobs, and each job."""

    def __init__(self, text):
        head, jobs, rest = text.partition("\njobs:\n")
        parts = re.split(r"^  ([\w-]+):\n", rest, flags=re.M)
        if not jobs or parts[0].strip():
            fail("work.yml has no list of jobs")
        self.head, self.jobs = head, dict(zip(parts[1::2], (f"{job.strip(chr(10))}\n" for job in parts[2::2])))

    def call(self, name, head):
        """Names the workflow, and says what it is in place of the comment above."""
        _comment, found, rest = self.head.partition("\nname: work\n")
        if not found:
            fail("work.yml has no line `name: work`")
        self.head = f"{HEAD}{head}name: {name}\n{rest}"

    def add(self, job, key, lines):
        """Adds lines at the end of a job's map or list `key`."""
        text, times = re.subn(
            rf"^    {key}:\n(?:(?:      .*)?\n)*?(?=    \S|\Z)", lambda found: found[0] + lines, self.jobs.get(job, ""), flags=re.M
        )
        if times != 1:
            fail(f"the job `{job}` of work.yml has {times} times `{key}:`")
        self.jobs[job] = text

    def text(self):
        jobs = "\n".join(f"  {name}:\n{job}" for name, job in self.jobs.items())
        return f"{self.head}\njobs:\n{jobs}"


def made():
    source = (WORKFLOWS / "work.yml").read_text()
    checks, attested = Workflow(source), Workflow(source)
    if set(checks.jobs) != {"find", "work", "summary"}:
        fail(f"work.yml has the jobs {', '.join(checks.jobs)}: say here what permissions they get")
    for workflow in [checks, attested]:
        for job in ["find", "work"]:
            workflow.add(job, "permissions", SEES_CHECKS)
    checks.call("work-checks", CHECKS_HEAD)
    attested.call("work-attested", ATTESTED_HEAD)
    attested.add("summary", "outputs", PROOFS)
    attested.add("summary", "steps", KEEP.format(upload=pinned("actions/upload-artifact")))
    attested = f"{attested.text()}\n{ATTEST.format(download=pinned('actions/download-artifact'))}"
    return {"work-checks.yml": checks.text(), "work-attested.yml": attested}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    for name, text in made().items():
        file = WORKFLOWS / name
        if not check:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            fail(f"{name} is not what work.yml makes: run `python3 scripts/workflows.py`")


main()
