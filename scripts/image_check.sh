#!/usr/bin/env bash
# Builds the container image of a release and runs it as docs/deploy.md says: as user 10001, with a root that cannot be
# written, without any capability. In it Hob says its version, shows its settings and runs its rehearsal.
#
#     scripts/image_check.sh PROGRAM
#
# PROGRAM is the static `hob` of a release. Where the base image cannot be fetched, `mmdebstrap` makes one of the same Debian from its
# packages; then all of Containerfile.release is tried but the digest of its base. Needs buildah and crun, as root; what is
# missing is told in a line that begins with `skipped:`.
set -euo pipefail

fail() {
  printf 'image_check.sh: %s\n' "$*" >&2
  exit 1
}

program="$(realpath "${1:?give the program}")"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for tool in buildah crun; do
  command -v "$tool" >/dev/null || { printf 'skipped: the image; %s is not installed\n' "$tool" && exit; }
done
[ "$(id -u)" = 0 ] || { printf 'skipped: the image; building it without root is not tried here\n' && exit; }

work="$(mktemp -d "${TMPDIR:-/tmp}/image-check.XXXXXX")"
# Storage of its own, so that nothing is left and nothing of the machine's is used.
buildah=(buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run")
leave() {
  crun --root "$work/crun" delete --force hob 2>/dev/null || true
  "${buildah[@]}" rm --all >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap leave EXIT
mkdir "$work/context" "$work/bundle" "$work/state" "$work/tmp"
export TMPDIR="$work/tmp"
install -m 0755 "$program" "$work/context/hob"

base="$(sed -n 's/^FROM \([^ ]*\).*/\1/p' Containerfile.release)"
from=()
if ! timeout 120 "${buildah[@]}" pull --quiet "$base" >/dev/null 2>&1; then
  command -v mmdebstrap >/dev/null ||
    { printf 'skipped: the image; %s cannot be fetched, and mmdebstrap is not installed\n' "$base" && exit; }
  printf 'skipped: the digest of the base image; %s cannot be fetched, so mmdebstrap makes a base\n' "$base"
  suite="${base#debian:}"
  mmdebstrap --quiet --variant=minbase --format=tar "${suite%%-slim*}" "$work/base.tar"
  made="$("${buildah[@]}" from scratch)"
  "${buildah[@]}" add --quiet "$made" "$work/base.tar" / >/dev/null
  "${buildah[@]}" commit --quiet --rm "$made" localhost/base >/dev/null
  rm "$work/base.tar"
  from=(--from localhost/base)
fi

"${buildah[@]}" build --quiet "${from[@]}" --isolation chroot --layers=false --format docker --file Containerfile.release \
  --tag localhost/hob "$work/context" >/dev/null
image="$("${buildah[@]}" inspect --type image localhost/hob)"
root="$("${buildah[@]}" mount "$("${buildah[@]}" from localhost/hob)")"
printf 'the image: %d MiB unpacked, of which the program is %d\n' \
  "$(($(du -sxk "$root" | cut -f 1) / 1024))" "$(($(wc -c <"$program") / 1048576))"
chown 10001:10001 "$work/state"

# A container with the image's own user, variables and entry point. Only its volume and two file systems in memory can be written.
configure() {
  python3 - "$work" "$root" "$@" <<'END' 3<<<"$image"
import json, os, sys
work, root, *words = sys.argv[1:]
image = json.load(os.fdopen(3))["Docker"]["config"]
assert image["User"] == "10001:10001", image["User"]
assert image["Healthcheck"]["Test"] == ["CMD", "hob", "--version"], image
assert list(image["Volumes"]) == ["/var/lib/hob"], image
limit = lambda size, more: {"type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev", f"size={size}", *more]}
config = {
    "ociVersion": "1.0.2",
    "root": {"path": root, "readonly": True},
    "hostname": "hob",
    "process": {
        "user": {"uid": 10001, "gid": 10001},
        "args": words if words[0] == "sh" else image["Entrypoint"] + words,
        "env": image["Env"] + ["HOME=/home/hob"],
        "cwd": image["WorkingDir"],
        "capabilities": {name: [] for name in ("bounding", "effective", "inheritable", "permitted", "ambient")},
        "noNewPrivileges": True,
    },
    "mounts": [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
        {"destination": "/tmp", **limit("2g", ["mode=1777"])},
        {"destination": "/home/hob", **limit("1g", ["mode=0700", "uid=10001", "gid=10001"])},
        {"destination": "/var/lib/hob", "type": "bind", "source": f"{work}/state", "options": ["bind", "rw", "nosuid", "nodev"]},
    ],
    "linux": {"namespaces": [{"type": kind} for kind in ("pid", "ipc", "uts", "mount", "network")]},
}
json.dump(config, open(f"{work}/bundle/config.json", "w"))
END
}

run() {
  configure "$@"
  # crun refuses a machine that has both versions of control groups at once, though it needs none here. The mount is not seen
  # outside.
  # shellcheck disable=SC2016 # the shell below reads it
  timeout 300 unshare --mount sh -c '
    mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null
    exec crun --root "$1" --cgroup-manager disabled run --bundle "$2" hob' sh "$work/crun" "$work/bundle"
}

if ! run --version; then
  printf 'skipped: running the image; containers do not start on this machine\n'
  exit
fi
printf 'hob config show, in the image: %d lines\n' "$(run config show --all | wc -l)"
# shellcheck disable=SC2016 # the shell of the container reads it
run sh -c '
  [ "$(id -u)" = 10001 ] || exit 1
  for place in / /usr/local/bin /etc /home; do
    if (: >"$place/written") 2>/dev/null; then echo "$place can be written"; exit 1; fi
  done
  for place in /tmp /home/hob /var/lib/hob; do : >"$place/written" || exit 1; rm "$place/written"; done
  grep -q "^CapBnd:	0000000000000000$" /proc/self/status && grep -q "^NoNewPrivs:	1$" /proc/self/status' ||
  fail "the container can write where it must not, or has rights"
begin=$SECONDS
run rehearse >"$work/says" 2>&1 || { cat "$work/says" >&2 && fail "the rehearsal does not end as it should"; }
printf 'the rehearsal, in the image: %d s\n' "$((SECONDS - begin))"
# It says which tier the runtime lets it have.
sed -n 's/^agents and checks run in //p' "$work/says"
