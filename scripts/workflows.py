#!/usr/bin/env python3
"""Writes the reusable workflows with more permissions, work-checks.yml and work-attested.yml, from work.yml.

    python3 scripts/workflows.py           writes them
    python3 scripts/workflows.py --check   fails where they are not what it would write

They are files of their own because GitHub refuses a run whose caller grants less than a job of the called workflow asks for,
and they are made from one so that they cannot drift apart.
"""

import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / ".github/workflows"
READS = """      checks: read # check runs of its pull requests, and whether they wait for an approval
      actions: read # logs of failed jobs, and whether the schedule is disabled
"""
CHECKS = """# work.yml, and rounds of work for checks of Hob's pull requests that fail: see there for all else.
#
# Made by scripts/workflows.py from work.yml: change that.
#
# A caller grants `contents`, `issues`, `pull-requests` and `statuses: write`, and `checks` and `actions: read`.
name: work-checks
"""
ATTESTED = """# work-checks.yml, and statements of what was shown about its pull requests that GitHub signs: see docs/proof.md.
#
# Made by scripts/workflows.py from work.yml: change that.
#
# A caller grants `contents`, `issues`, `pull-requests` and `statuses: write`, `checks` and `actions: read`, and `id-token` and
# `attestations: write`. The last two are for the job `attest`, which checks nothing out and runs nothing but two actions of GitHub's.
# In a private repository, attestations need GitHub Enterprise Cloud.
name: work-attested
"""
OUTPUTS = """      proofs: ${{ steps.kept.outputs.artifact-id }}
"""
KEEP = """      # The settings are a part of what is signed: an account that may run workflows can run this one with weaker ones.
      - name: Say what the statements come from
        id: artifact
        if: steps.hob.outputs.proofs != ''
        shell: bash
        env:
          PROOFS: ${{ steps.hob.outputs.proofs }}
          SETTINGS: ${{ inputs.settings }}
        run: |
          settings="$(printf %s "$SETTINGS" | shasum -a 256 | cut -c 1-64)"
          jq -ncS --arg settings "$settings" '{
            settings_sha256: $settings, repository: env.GITHUB_REPOSITORY, event: env.GITHUB_EVENT_NAME,
            run: env.GITHUB_RUN_ID, attempt: env.GITHUB_RUN_ATTEMPT
          }' >"$PROOFS/predicate.json"
          printf 'name=%s\\n' "${PROOFS##*/}" >>"$GITHUB_OUTPUT"
      - name: Keep the statements for the next job
        id: kept
        if: steps.artifact.outputs.name != ''
        uses: {upload}
        with:
          name: ${{ steps.artifact.outputs.name }}
          path: ${{ steps.hob.outputs.proofs }}
          if-no-files-found: error
"""
ATTEST = """
  attest:
    name: Attest
    needs: summary
    if: always() && needs.summary.outputs.proofs != ''
    # A verifier may ask for a machine of GitHub's.
    runs-on: ubuntu-24.04
    timeout-minutes: 10
    permissions:
      id-token: write # signs as this workflow
      attestations: write # stores the attestation
      contents: read # reads whose repository it is
    steps:
      - name: Take the statements
        uses: {download}
        with:
          # By its id: all jobs of a run share the names.
          artifact-ids: ${{ needs.summary.outputs.proofs }}
          path: proof
      - name: Sign them
        uses: {attest}
        with:
          subject-path: proof/proof-*.json
          predicate-type: https://github.com/hob-worker/hob/blob/main/docs/proof.md#statement-v1
          predicate-path: proof/predicate.json
"""
ATTEST_ACTION = "actions/attest@1e69f48acb82d1966a394da916b4c1698aa569d6 # v4.2.2"


def fail(sentence):
    sys.exit(f"workflows.py: {sentence}")


def replaced(text, old, new, times):
    if text.count(old) != times:
        fail(f"work.yml should have this {times} times, and has it {text.count(old)} times:\n{old}")
    return text.replace(old, new)


def pinned(action):
    """The action as release.yml pins it."""
    lines = (FOLDER / "release.yml").read_text().splitlines()
    found = {line.split("uses: ")[1] for line in lines if f"uses: {action}@" in line}
    if len(found) != 1:
        fail(f"release.yml pins {action} in {len(found)} ways")
    return found.pop()


def made():
    """The workflows and their names."""
    work = (FOLDER / "work.yml").read_text()
    _, body = work.split("\nname: work\n", 1)
    own = "      statuses: write # says on each head whether it is proven\n"
    body = replaced(body, own, own + READS, 2)
    last = "      spend-usd: ${{ steps.hob.outputs.spend-usd }}\n"
    attested = replaced(body, last, last + OUTPUTS, 1)
    keep = KEEP.replace("{upload}", pinned("actions/upload-artifact"))
    attest = ATTEST.replace("{download}", pinned("actions/download-artifact")).replace("{attest}", ATTEST_ACTION)
    return {"work-checks.yml": CHECKS + body, "work-attested.yml": ATTESTED + attested + keep + attest}


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        fail("the one option is --check")
    for name, text in made().items():
        file = FOLDER / name
        if not sys.argv[1:]:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            fail(f"{name} is not what work.yml makes it: run `python3 scripts/workflows.py`")


main()
