#!/usr/bin/env bash
# Makes the sandbox's tier `box` possible on this machine: installs bubblewrap where it is missing, and where AppArmor refuses
# it user namespaces, loads a profile that allows them to bubblewrap alone. If that does not help, AppArmor's limit is lifted
# for all programs. A change that did not help is taken back.
#
# It never fails the job: where no box can be had, it says why, and Hob does what its settings say of that. Where a box works
# already, it says nothing, changes nothing and asks nothing of sudo.
#
# Reads HOB_COMMAND. The action starts it with no other variable of the job but PATH.
set -uo pipefail
export LC_ALL=C
exec </dev/null

why=""
# try COMMAND…: runs it for two minutes at most. Where it fails, `why` is the last line that it said.
try() {
  local said code
  said="$(timeout 120 "$@" 2>&1 >/dev/null)"
  code=$?
  [ "$code" -ne 0 ] || return 0
  # It becomes a part of a workflow command.
  why="$(tail -n 1 <<<"$said" | tr -d '%' | tr -cd '[:print:]' | cut -c 1-200)"
  why="${why:-it ended with $code}"
  return 1
}

root() {
  if [ "$(id -u)" = 0 ]; then
    try "$@"
  else
    try sudo -n "$@"
  fi
}

# With the namespaces and the file systems that Hob asks for.
works() {
  try bwrap --unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-net --unshare-cgroup-try --die-with-parent \
    --cap-drop ALL --ro-bind / / --proc /proc --dev /dev --mqueue /dev/mqueue --tmpfs /tmp true
}

made() {
  printf 'A box works on this machine now: %s.\n' "$1"
  exit 0
}

give_up() {
  local sentence="There is no box on this runner, so Hob works in a fence unless its settings demand a box: $1: $why"
  case "${HOB_COMMAND:-}" in
    # Once a run, and not once an issue.
    ready | run) printf '::notice title=Hob::%s\n' "$sentence" ;;
    *) printf '%s\n' "$sentence" ;;
  esac
  exit 0
}

# The same form as the profiles of browsers that Ubuntu has: nothing is confined but what may make user namespaces.
profile() {
  printf '%s\n' 'abi <abi/4.0>,' 'include <tunables/global>' "profile hob-bwrap $program flags=(unconfined) {" '  userns,' '}'
}

if command -v bwrap >/dev/null; then
  works && exit 0
else
  root true || give_up "bubblewrap is not installed, and root's rights cannot be had"
  # Not all of the lists that a runner has are always there; whether that of bubblewrap was shows in the next step.
  root apt-get --quiet update || true
  root apt-get --quiet --yes -o DPkg::Lock::Timeout=60 install --no-install-recommends bubblewrap ||
    give_up "bubblewrap cannot be installed"
  works && made "bubblewrap was installed"
fi

limit=kernel.apparmor_restrict_unprivileged_userns
[ "$(sysctl -n "$limit" 2>/dev/null)" = 1 ] || give_up "bubblewrap does not work"
refused="$why"
root true || give_up "AppArmor refuses bubblewrap user namespaces ($refused), and root's rights cannot be had"

# A profile is found by the path that all links lead to.
program="$(readlink -f "$(command -v bwrap)")"
if [[ "$program" =~ ^[A-Za-z0-9/._-]+$ ]] && profile | root apparmor_parser --replace; then
  works && made "AppArmor has a profile that lets bubblewrap make user namespaces"
  profile | root apparmor_parser --remove
fi
if root sysctl -q -w "$limit=0"; then
  works && made "AppArmor lets every program make user namespaces, until the machine starts again"
  refused="$why"
  root sysctl -q -w "$limit=1"
  why="$refused"
fi
give_up "AppArmor refuses bubblewrap user namespaces, and neither a profile nor $limit helps"
