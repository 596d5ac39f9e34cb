#!/usr/bin/env bash
# Reads Hob's settings before any step has the token: what run.sh needs of them, and whether the sandbox's tier is `none`, where
# an agent could become root by sudo and read the token out of the job's processes.
#
# Where the settings cannot be used, the step that runs Hob says why.
set -euo pipefail
umask 077

[[ "$HOB_PARALLEL" =~ ^[1-9][0-9]{0,3}$ ]] || {
  printf '::error title=Hob::The input parallel is not a number from 1.\n'
  exit 1
}
options=()
if [ -n "$HOB_SETTINGS" ]; then
  printf '%s\n' "$HOB_SETTINGS" >"$HOB_FOLDER/hob.toml"
  options=(--config "$HOB_FOLDER/hob.toml")
fi
env -u GITHUB_ACTIONS -u GITHUB_STEP_SUMMARY "$HOB_FOLDER/hob" --json ${options[@]+"${options[@]}"} config show --all 2>/dev/null |
  jq -r --argjson parallel "$HOB_PARALLEL" '
    # Jobs at the same time have one identity.
    def shared: if . == "unlimited" then . else "github/\((split("/")[1] // "1" | tonumber) * $parallel)" end;
    select(.event == "result") | .result
    | ["tier=\(.sandbox.tier | @sh)", "app=\(.app.id | @sh)", "login=\(.forge.login | @sh)",
       "issues_per_hour=\(.limits.issues_per_hour | @sh)",
       "pace=\(.forge.pace | shared | @sh)"]
    | join("\n")
  ' >"$HOB_FOLDER/settings" || true
tier=''
# shellcheck source=/dev/null
. "$HOB_FOLDER/settings"
[ "$tier" = none ] || exit 0

case "$HOB_COMMAND" in
  work | run) ;;
  *) exit 0 ;;
esac
if [ "${RUNNER_ENVIRONMENT:-}" = github-hosted ] && sudo -n true 2>/dev/null; then
  # The machine ends with the job. Whoever may talk to Docker is root, too. Without these files no program of sudo's allows anything.
  sudo -n chmod 0600 /var/run/docker.sock 2>/dev/null || true
  sudo -n rm -rf /etc/sudoers.d /etc/sudoers
  if sudo -n true 2>/dev/null; then
    printf '::error title=Hob::sandbox.tier is "none", and sudo could not be dropped, so an agent could read the token. %s\n' \
      'Use the tier "fence", which needs nothing of the machine.'
    exit 1
  fi
  echo 'sandbox.tier is "none": sudo and Docker were taken from this job.'
elif [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; then
  printf '::warning title=Hob::%s\n' 'sandbox.tier is "none", and this job is root or can become it: an agent can read the token.'
fi
