#!/usr/bin/env bash
# Makes the files of a release for one target: the archive in two forms, a Debian package, the bill of materials and their checksums.
#
#     scripts/release.sh [--target TARGET] [--static | --glibc VERSION] [--out FOLDER]
#     scripts/release.sh --binary FILE [--target TARGET] [--out FOLDER]
#     scripts/release.sh --sums FOLDER
#
# --target TARGET   such as x86_64-unknown-linux-musl; by default this machine's own
# --static          for a target of glibc: link the C library into the program. For trying things where there is no musl
# --glibc VERSION   for a target of glibc: the oldest version that the program runs with, whatever this machine has; needs what
#                   scripts/zigbuild.txt names
# --out FOLDER      where the files go; by default target/release-files
# --xz LEVEL        how hard xz works, 0 to 9; less for files that nobody gets
# --binary FILE     pack this program and build nothing
# --sums FOLDER     only write SHA256SUMS of the files in FOLDER
#
# The same commit and the same tools give the same bytes, in whatever folder: paths are replaced, times are those of the commit,
# and archives are sorted and have no owners. scripts/release_check.sh proves it.
#
# Needs cargo, a C compiler, make, git, python3, xz and GNU tar, which may be called gtar; `musl-gcc` for a target of musl; and
# `dpkg-deb` for the Debian package. Without SOURCE_DATE_EPOCH it has to run in a git checkout.
set -euo pipefail
export LC_ALL=C
# What is packed is readable for all, whoever builds it.
umask 022

fail() {
  printf 'release.sh: %s\n' "$*" >&2
  exit 1
}

say() {
  printf '%s\n' "$*" >&2
}

# sums FOLDER: SHA256SUMS of all that is in it.
sums() {
  (
    cd "$1"
    rm -f SHA256SUMS
    local lines
    lines="$(if command -v sha256sum >/dev/null; then sha256sum -- *; else shasum -a 256 -- *; fi)"
    printf '%s\n' "$lines" >SHA256SUMS
  )
}

target='' static='' glibc='' out='' xz='' binary=''
while [ $# -gt 0 ]; do
  case "$1" in
    --target) target="${2:?--target needs a value}" && shift 2 ;;
    --out) out="${2:?--out needs a value}" && shift 2 ;;
    --binary) binary="$(realpath "${2:?--binary needs a value}")" && shift 2 ;;
    --xz) xz="${2:?--xz needs a value}" && shift 2 ;;
    --sums) sums "${2:?--sums needs a value}" && exit ;;
    --static) static=yes && shift ;;
    --glibc) glibc="${2:?--glibc needs a value}" && shift 2 ;;
    *) fail "there is no option $1; the first lines of this file say which there are" ;;
  esac
done

source="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
cd "$source"
version="$(sed -n '/^\[workspace\.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)"
[ -n "$version" ] || fail "Cargo.toml has no version"
target="${target:-$(rustc -vV | sed -n 's/^host: //p')}"
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"
target_dir="${CARGO_TARGET_DIR:-$source/target}"
out="${out:-$target_dir/release-files}"
mkdir -p "$out"
out="$(cd "$out" && pwd -P)"
name="hob-$version-$target"
tar="$(command -v gtar || command -v tar)"
"$tar" --version | grep -q GNU || fail "GNU tar is not installed"

# A daemon lives for months, and jemalloc gives back what it frees.
features=''
case "$target" in *-linux-*) features=jemalloc ;; esac

build() {
  # .cargo/config.toml says why this one; it is not read where flags are given.
  local flags=(-Csymbol-mangling-version=v0) maps=("$source=/hob" "$target_dir=/hob/target" "${CARGO_HOME:-$HOME/.cargo}=/cargo")
  # Where the source of the standard library is installed, its paths are those of this machine.
  local sysroot commit
  sysroot="$(rustc --print sysroot)"
  commit="$(rustc -vV | sed -n 's/^commit-hash: //p')"
  maps+=("$sysroot/lib/rustlib/src/rust=/rustc/$commit")
  local map c_flags=''
  for map in "${maps[@]}"; do
    flags+=("--remap-path-prefix=$map")
    c_flags+=" -ffile-prefix-map=$map"
  done
  [ -z "$static" ] || flags+=("-Ctarget-feature=+crt-static")
  # `hob --version` says it.
  HOB_COMMIT="$(git rev-parse HEAD 2>/dev/null)" && export HOB_COMMIT
  # libgit2, ring and jemalloc are written in C, and have the paths of their files in what they say.
  export CFLAGS="${CFLAGS:-}$c_flags"
  case "$target" in
    *-musl)
      command -v musl-gcc >/dev/null || fail "musl-gcc is not installed; the package is called musl-tools"
      export "CC_${target//-/_}=musl-gcc"
      # The program relocates itself at its start and so reads the whole table: in this form it is a hundredth of the size. musl
      # reads it since 1.2.4, that of Rust since 1.93. A linker that does not know it for a processor warns and writes the other.
      flags+=("-Clink-arg=-Wl,-z,pack-relative-relocs")
      ;;
  esac
  local build=build
  [ -z "$glibc" ] || build=zigbuild
  # With a target named, these flags are not those of build scripts.
  local joined
  joined="$(printf '%s\x1f' "${flags[@]}")"
  CARGO_ENCODED_RUSTFLAGS="${joined%$'\x1f'}" CARGO_INCREMENTAL=0 \
    cargo "$build" --release --locked --package hob --bin hob --target "$target${glibc:+.$glibc}" ${features:+--features "$features"} >&2
  binary="$target_dir/$target/release/hob"
}

# What people need beside the program goes into `$1`: completions, manual pages.
extras() {
  mkdir -p "$1/completions" "$1/man"
  local shell
  for shell in bash zsh fish powershell; do
    if ! "$binary" completions "$shell" >"$1/completions/hob.$shell" 2>/dev/null; then
      say "This program does not print completions for $shell, so the release has none."
      rm -f "$1/completions/hob.$shell"
    fi
  done
  if ! "$binary" man "$1/man" >/dev/null 2>&1; then
    say "This program does not write manual pages, so the release has none."
  fi
  rmdir "$1/completions" "$1/man" 2>/dev/null || true
}

# The schemas of the settings files, under the names that files of settings have in their first line. One target brings them for all.
schemas() {
  local file
  for file in process:settings repository:repository; do
    "$binary" config schema "${file%:*}" >"$out/hob-${file#*:}.schema.json"
  done
}

# Each file below `$1` gets the time of the commit.
same_time() {
  if touch -d "@$SOURCE_DATE_EPOCH" "$1" 2>/dev/null; then
    find "$1" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  fi
}

# Two forms of the same: the small one, and one for machines without xz.
pack_archive() {
  "$tar" --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" \
    -cf "$1/$name.tar" -C "$1" "$name"
  gzip -n -9 <"$1/$name.tar" >"$out/$name.tar.gz"
  xz "-${xz:-9e}" --threads=1 <"$1/$name.tar" >"$out/$name.tar.xz"
}

# pack_deb STAGE: the Debian package, of what stands in the archive's folder in STAGE.
pack_deb() {
  local from="$1/$name" root="$1/deb" page file arch shell
  case "$target" in
    x86_64-*) arch=amd64 ;;
    aarch64-*) arch=arm64 ;;
    *) fail "there is no name of Debian's for $target" ;;
  esac
  install -D -m 0755 "$from/hob" "$root/usr/bin/hob"
  # The unit in the repository is for a program that was installed by hand.
  install -d "$root/usr/lib/systemd/system" "$root/usr/lib/sysusers.d"
  sed 's|/usr/local/bin/hob|/usr/bin/hob|' packaging/hob.service >"$root/usr/lib/systemd/system/hob.service"
  printf 'u hob - "Hob, a worker for GitHub issues" /var/lib/hob\n' >"$root/usr/lib/sysusers.d/hob.conf"
  local doc="$root/usr/share/doc/hob"
  install -d "$doc/examples/kubernetes"
  install -m 0644 README.md "$from/hob.cdx.json" "$doc/"
  install -m 0644 packaging/compose.yaml "$doc/examples/"
  install -m 0644 packaging/kubernetes/* "$doc/examples/kubernetes/"
  gzip -n -9 <CHANGELOG.md >"$doc/changelog.gz"
  {
    printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: Hob\n\n'
    printf 'Files: *\nCopyright: %s\nLicense: MIT\n' "$(sed -n 's/^Copyright (c) //p' LICENSE)"
    sed -n '/^Permission/,$ { s/^$/./; s/^/ /; p; }' LICENSE
  } >"$doc/copyright"
  for page in "$from"/man/*.1; do
    [ -e "$page" ] || continue
    file="$root/usr/share/man/man1/${page##*/}.gz"
    install -d "$root/usr/share/man/man1"
    gzip -n -9 <"$page" >"$file"
  done
  for shell in bash zsh fish; do
    [ -e "$from/completions/hob.$shell" ] || continue
    case "$shell" in
      bash) file=usr/share/bash-completion/completions/hob ;;
      zsh) file=usr/share/zsh/vendor-completions/_hob ;;
      fish) file=usr/share/fish/vendor_completions.d/hob.fish ;;
    esac
    install -D -m 0644 "$from/completions/hob.$shell" "$root/$file"
  done
  install -d "$root/DEBIAN"
  # A prerelease comes before its release, which Debian writes with a tilde. The size is that of the files, which is the same
  # on every file system.
  cat >"$root/DEBIAN/control" <<END
Package: hob
Version: ${version//-/\~}
Architecture: $arch
Maintainer: The maintainers of Hob <hob-worker@users.noreply.github.com>
Installed-Size: $(find "$root/usr" -type f -printf '%s\n' | awk '{ kib += int(($1 + 1023) / 1024) } END { print kib }')
Depends: ca-certificates, git (>= 1:2.34)
Recommends: bubblewrap
Section: devel
Priority: optional
Homepage: https://github.com/hob-worker/hob
Description: worker for GitHub issues
 Give an issue the label code, and Hob lets a code agent work on it, verifies
 the work with the checks of the repository, and opens a pull request. If it
 cannot finish, it asks one question on the issue.
END
  # The unit is not enabled: it needs a token and settings first.
  cat >"$root/DEBIAN/postinst" <<'END'
#!/bin/sh
set -e
if [ "$1" = configure ] && [ -d /run/systemd/system ]; then
  systemd-sysusers hob.conf
  systemctl daemon-reload
fi
END
  chmod 0755 "$root/DEBIAN/postinst"
  (cd "$root" && find usr -type f | sort | xargs md5sum >DEBIAN/md5sums)
  same_time "$root"
  # One thread and one compression, whatever the machine's default is. Debian of today and of before reads it.
  dpkg-deb --root-owner-group -Zxz ${xz:+"-z$xz"} --threads-max=1 --build "$root" "$out/hob_${version//-/\~}_$arch.deb" >&2
}

[ -n "$binary" ] || build
stage="$(mktemp -d)"
trap 'rm -rf "$stage"' EXIT
mkdir "$stage/$name"
install -m 0755 "$binary" "$stage/$name/hob"
install -m 0644 LICENSE README.md "$stage/$name/"
python3 scripts/sbom.py --target "$target" --features "$features" >"$stage/$name/hob.cdx.json"
# A program for another kind of machine cannot say anything here.
if says="$("$binary" --version 2>/dev/null)"; then
  # A program that was built in a checkout says its commit, too.
  [[ "$says" = "hob $version" || "$says" = "hob $version ("*")" ]] || fail "the program says that it is $says, and Cargo.toml says $version"
  extras "$stage/$name"
else
  say "This program does not run on this machine, so the release has neither completions nor manual pages."
fi
pack_archive "$stage"
cp "$stage/$name/hob.cdx.json" "$out/$name.cdx.json"
# The package has the program that runs on each Debian and each Ubuntu, whatever its C library.
case "$target$static" in
  *-linux-musl | *-linux-gnuyes)
    case "$target" in x86_64-*) schemas ;; esac
    if command -v dpkg-deb >/dev/null; then
      pack_deb "$stage"
    else
      say "dpkg-deb is not installed, so there is no Debian package."
    fi
    ;;
esac
sums "$out"
say "The release is in $out:"
(cd "$out" && wc -c -- * | sed '$d') >&2
