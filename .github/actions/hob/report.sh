#!/usr/bin/env bash
# Turns Hob's results into outputs, a step summary, annotations and lines of the log, and ends as Hob did. Titles and reasons
# are foreign text: they go from jq to a file or the log and never into a shell, and commands are stopped around them.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"

# What was unpacked and fetched is of no use to a later step, and a runner that stays has only so much room.
trap 'rm -rf "$HOB_FOLDER"' EXIT

# The agents' sessions in this folder say what this very step cost. They need no token.
sessions='[]'
if [ "$HOB_COMMAND" = work ] || [ "$HOB_COMMAND" = run ]; then
  sessions="$(env -u GITHUB_ACTIONS -u GITHUB_STEP_SUMMARY "$HOB_FOLDER/hob" --json --state-dir "$HOB_FOLDER/state" session list |
    jq -c 'select(.event == "result") | .result')" || true
fi
touch "$HOB_FOLDER/results.jsonl"
jq -nRc --arg command "$HOB_COMMAND" --arg outcome "$HOB_OUTCOME" --arg wanted "${HOB_ISSUES:-}" \
  --argjson sessions "${sessions:-[]}" -f "$here/results.jq" <"$HOB_FOLDER/results.jsonl" >"$HOB_FOLDER/report.json"

show() {
  jq -r --arg part "$1" --arg command "$HOB_COMMAND" --arg site "$GITHUB_SERVER_URL/$GITHUB_REPOSITORY" \
    -f "$here/report.jq" "$HOB_FOLDER/report.json"
}
# Numbers and nothing else.
show outputs >>"$GITHUB_OUTPUT"

# Statements of what was shown about the pull requests, each in its envelope. They outlive this step.
if [ "$HOB_COMMAND" = status ]; then
  proofs="$(mktemp -d "$RUNNER_TEMP/hob-proofs.XXXXXX")"
  while IFS= read -r row; do
    file="$proofs/proof-$(jq '.issue | floor' <<<"$row").json"
    jq -cS .proof <<<"$row" >"$file"
  done < <(jq -c '.rows[] | select(.proof != null)' "$HOB_FOLDER/report.json")
  rmdir "$proofs" 2>/dev/null || printf 'proofs=%s\n' "$proofs" >>"$GITHUB_OUTPUT"
fi

token="$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
printf '::stop-commands::%s\n' "$token"
show log
printf '::%s::\n' "$token"
# Hob itself has written those of a pass.
if [ "$HOB_COMMAND" != run ]; then
  show summary >>"$GITHUB_STEP_SUMMARY"
  show annotations
fi
exit "$(show exit)"
