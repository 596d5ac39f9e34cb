#!/usr/bin/env bash
# Proves what a release promises, on this machine: two builds in two folders give the same bytes; the program is static, starts in an
# empty root and has no path of this machine in it; the archive is small; the Debian package is whole; the installer takes the
# release, and the installed program runs its rehearsal. Then cuts a release of a throw-away copy.
#
#     scripts/release_check.sh [--target TARGET] [--once] [--light] [--keep FOLDER]
#
# --target TARGET   by default this machine's target of musl; where Rust has no standard library for it, that of glibc with the
#                   C library linked in, which says so in a line that begins with `skipped:`
# --once            build once, and leave the comparison out
# --light           optimise and compress little, which takes far less time: all is shown but the size
# --keep FOLDER     copy the files of the release to FOLDER
#
# Builds in folders that are removed, two beside each other: they need 2 GB of memory each. Needs what scripts/release.sh needs, and
# bubblewrap, curl and readelf.
set -euo pipefail
export LC_ALL=C

# Of the archive, compressed.
most_bytes=$((11 * 1024 * 1024))

fail() {
  printf 'release_check.sh: %s\n' "$*" >&2
  exit 1
}

step() {
  printf -- '-- %s (at %d s)\n' "$1" "$SECONDS"
}

target='' once='' light='' keep=''
while [ $# -gt 0 ]; do
  case "$1" in
    --target) target="${2:?--target needs a value}" && shift 2 ;;
    --keep) keep="${2:?--keep needs a value}" && shift 2 ;;
    --once) once=yes && shift ;;
    --light) light=yes && shift ;;
    *) fail "there is no option $1; the first lines of this file say which there are" ;;
  esac
done
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"

static=() packing=()
if [ -z "$target" ]; then
  host="$(rustc -vV | sed -n 's/^host: //p')"
  target="${host/-gnu/-musl}"
  if ! [ -d "$(rustc --print target-libdir --target "$target")" ] || ! command -v musl-gcc >/dev/null; then
    printf 'skipped: %s; Rust has no standard library for it here, or there is no musl-gcc. %s is built in its place\n' \
      "$target" "$host"
    target="$host"
    static=(--static)
  fi
fi

if [ -n "$light" ]; then
  export CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
  packing=(--xz 1)
fi

work="$(mktemp -d "${TMPDIR:-/tmp}/release-check.XXXXXX")"
trap 'wait; rm -rf "$work"' EXIT

# What git would commit. A file that is deleted and not committed is still listed.
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
  if [ -e "$file" ] || [ -L "$file" ]; then printf '%s\0' "$file"; fi
done | tar --null --files-from=- -cf "$work/tree.tar"

# release FOLDER OUT: builds it in a folder of its own.
release() {
  mkdir -p "$1"
  tar -xf "$work/tree.tar" -C "$1"
  CARGO_TARGET_DIR="$1/target" bash "$1/scripts/release.sh" --target "$target" "${static[@]}" "${packing[@]}" --out "$2"
  rm -rf "$1"
}

step "a release for $target${once:+, once}"
if [ -z "$once" ]; then
  # Beside the first: most of the time, a build links on one core.
  release "$work/another/with-a-longer-name" "$work/again" >"$work/again.log" 2>&1 &
  again=$!
fi
release "$work/one" "$work/out"
if [ -z "$once" ]; then
  wait "$again" || { cat "$work/again.log" >&2 && fail "the build in another folder failed"; }
  diff -r "$work/out" "$work/again" || fail "two builds in two folders differ"
  printf 'two builds in two folders gave the same bytes\n'
fi
if [ -n "$keep" ]; then
  mkdir -p "$keep"
  cp "$work"/out/* "$keep/"
fi

step "checksums"
(cd "$work/out" && sha256sum --check --strict SHA256SUMS)

step "size"
archive="$(echo "$work"/out/hob-*.tar.gz)"
small="${archive%.gz}.xz"
bytes="$(wc -c <"$small")"
printf '%s: %d bytes, of at most %d; as a .tar.gz %d\n' "${small##*/}" "$bytes" "$most_bytes" "$(wc -c <"$archive")"
if [ -n "$light" ]; then
  printf 'skipped: the size of a release, which is optimised more than this program\n'
elif [ "$bytes" -gt "$most_bytes" ]; then
  fail "the archive is too large"
fi
cmp <(xz -d <"$small") <(gzip -d <"$archive") || fail "the two forms of the archive differ"

step "the program by itself"
tar -xzf "$archive" -C "$work"
hob="$(echo "$work"/hob-*/hob)"
readelf --program-headers --wide "$hob" | grep -q INTERP && fail "the program needs an interpreter, so it is not static"
readelf --dynamic --wide "$hob" | grep -q NEEDED && fail "the program needs shared libraries"
readelf --sections --wide "$hob" | grep -q ' \.symtab ' && fail "the program is not stripped"
case "$target" in
  x86_64-*-musl)
    readelf --sections --wide "$hob" | grep ' \.relr\.dyn ' >/dev/null || fail "the program has its relocations in the long form"
    ;;
esac
case "$target" in
  *-linux-*)
    # Hardly anything would be in it without the names that the list has, which `-Csymbol-mangling-version=v0` gives.
    agents="$(readelf --sections --wide "$hob" | sed -n 's/.* \.text\.agent  *PROGBITS *[0-9a-f]* [0-9a-f]* \([0-9a-f]*\) .*/\1/p')"
    [ $((0x${agents:-0})) -gt 1000000 ] || fail "what agents run is not side by side in the program: see build.rs"
    ;;
esac
# Of whoever built it, and different elsewhere.
for path in "${CARGO_HOME:-$HOME/.cargo}" "$(rustc --print sysroot)" "$PWD" "$work"; do
  if grep --text --quiet --fixed-strings "$path/" "$hob"; then
    grep --text --only-matching --fixed-strings "$path/" "$hob" | sort | uniq -c >&2
    fail "the program has the path $path in it"
  fi
done
empty_root=(bwrap --die-with-parent --unshare-all --ro-bind "$hob" /hob --proc /proc --dev /dev --tmpfs /tmp --clearenv)
"${empty_root[@]}" /hob --version
settings="$("${empty_root[@]}" --setenv HOME /tmp /hob config show --all | wc -l)"
printf 'hob config show, in an empty root: %d lines\n' "$settings"

step "the bill of materials"
python3 - "$work"/out/*.cdx.json <<'END'
import json, sys
bill = json.load(open(sys.argv[1]))
components = bill["components"]
assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
assert len({one["bom-ref"] for one in components}) == len(components) > 100
ours = [one["name"] for one in components if "hashes" not in one]
assert all(name.startswith("hob-") or name == "github-emulator" for name in ours), ours
assert all(one["licenses"] for one in components)
known = {one["bom-ref"] for one in components} | {bill["metadata"]["component"]["bom-ref"]}
assert all(set(one["dependsOn"]) <= known for one in bill["dependencies"])
shipped = sum(one["scope"] == "required" for one in components)
print(f"{shipped} packages in the program, {len(components) - shipped} that only its build uses")
END

step "the Debian package"
if deb="$(ls "$work"/out/*.deb 2>/dev/null)"; then
  dpkg-deb --field "$deb" Package Version Architecture Depends Recommends Installed-Size
  dpkg-deb --extract "$deb" "$work/deb"
  dpkg-deb --control "$deb" "$work/control"
  (cd "$work/deb" && md5sum --check --strict --quiet "$work/control/md5sums")
  cmp "$work/deb/usr/bin/hob" "$hob"
  dpkg-deb --contents "$deb" | awk '$2 != "root/root" { print; bad = 1 } END { exit bad }' ||
    fail "the package has files that are not root's"
  if command -v systemd-analyze >/dev/null; then
    # It always ends with 0, so that what it says has to be read. The program of this package is not installed here.
    sed -i 's|^ExecStart=/usr/bin/hob|ExecStart=/bin/true|' "$work/deb/usr/lib/systemd/system/hob.service"
    says="$(systemd-analyze verify --man=no "$work/deb/usr/lib/systemd/system/hob.service" 2>&1)"
    [ -z "$says" ] || fail "systemd does not understand the unit: $says"
    printf 'systemd understands the unit\n'
  else
    printf 'skipped: systemd is not installed, so the unit of the package was not verified\n'
  fi
else
  printf 'skipped: dpkg-deb is not installed, so there is no Debian package\n'
fi

step "the installer"
# It chooses the target of musl, so a program of glibc is packed anew under that name.
if [ ${#static[@]} -gt 0 ]; then
  python3 scripts/install_test.py --binary "$hob"
else
  python3 scripts/install_test.py --release "$work/out"
fi

step "a release is cut, of a copy"
bash scripts/cut_release.sh --self-test
