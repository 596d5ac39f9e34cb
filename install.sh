#!/bin/sh
# Installs Hob from a release on GitHub, for Linux and macOS:
#
#     curl -fsSL https://raw.githubusercontent.com/hob-worker/hob/main/install.sh | sh
#     sh install.sh --version 0.1.0 --to /usr/local/bin
#
# Nothing is unpacked before its checksum is verified, and its attestation where gh is installed; a release without a checksum is
# refused, and so is a newest release that is older than what is installed. Of what was downloaded only `hob --version` is run.
# Works with any POSIX shell, and with curl or GNU wget; needs tar, gzip, awk, and sha256sum or shasum.
set -eu

# Where releases are published.
repository=hob-worker/hob

usage() {
  cat <<END
Installs Hob from a release.

    sh install.sh [--version VERSION] [--to FOLDER] [--base-url URL]

--version VERSION   the release to install, such as 0.1.0; by default the newest that is not a prerelease.
                    An older one than is installed has to be named
--to FOLDER         where the program goes; by default ~/.local/bin
--base-url URL      where releases are downloaded from; by default
                    https://github.com/$repository/releases/download
--help              show this

The variables HOB_INSTALL_VERSION, HOB_INSTALL_TO and HOB_INSTALL_BASE_URL say the same. An option takes precedence.
END
}

# Ends with one sentence. What was begun is removed on the way out.
fail() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}

has() {
  command -v "$1" >/dev/null 2>&1
}

# The name that Rust has for this machine, as it stands in the names of archives.
machine() {
  system=$(uname -s)
  processor=$(uname -m)
  # A shell that macOS translates for Apple's processors is told that it runs on Intel's.
  if [ "$system" = Darwin ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || true)" = 1 ]; then
    processor=arm64
  fi
  case "$processor" in
    x86_64 | amd64) processor=x86_64 ;;
    aarch64 | arm64) processor=aarch64 ;;
    *) fail "there is no release for the processor $processor; build Hob from source" ;;
  esac
  case "$system" in
    Linux) printf '%s-unknown-linux-musl\n' "$processor" ;;
    Darwin) printf '%s-apple-darwin\n' "$processor" ;;
    *) fail "there is no release for $system; build Hob from source" ;;
  esac
}

# Chooses the program that downloads. Archive and checksums come from the same place, so what proves them is the server's
# certificate: a wget that does not look at it must not be used.
choose_client() {
  if has curl; then
    client=curl
  elif has wget; then
    client=wget
    if wget --help 2>&1 | grep -qi busybox; then
      client=busybox
      # Most builds of BusyBox take any certificate, and none tells whether it does.
      case "$base_url" in
        https://*) fail "the wget of BusyBox may not check the certificates of servers; install curl" ;;
      esac
    fi
  else
    fail "neither curl nor wget is installed"
  fi
  # Nothing that began encrypted may go on in the clear. wget has no option for that.
  case "$base_url" in
    https://*) protocols="=https" ;;
    *) protocols="=http,https" ;;
  esac
}

# download URL FILE
download() {
  case "$client" in
    curl)
      # -q: a .curlrc says nothing here.
      curl -q --fail --silent --show-error --location --proto "$protocols" --connect-timeout 20 --max-time 600 --retry 2 \
        --output "$2" "$1"
      ;;
    wget) wget -q -T 60 -O "$2" "$1" ;;
    # Some builds of BusyBox 1.35 crash where they are given a timeout.
    busybox) wget -q -O "$2" "$1" ;;
  esac
}

# The version that `…/releases/latest` leads to. GitHub never leads to a prerelease or a draft there.
newest_version() {
  latest="${base_url%/*}/latest"
  if [ "$client" = curl ]; then
    address=$(curl -q --fail --silent --show-error --location --proto "$protocols" --connect-timeout 20 --max-time 60 \
      --output /dev/null --write-out '%{url_effective}' "$latest") || address=
  else
    # The last redirect is the one that counts. wget has no better way to tell where it arrived.
    address=$(wget -S -O /dev/null "$latest" 2>&1 |
      tr -d '\r' | awk 'tolower($1) == "location:" { address = $2 } END { print address }')
  fi
  case "$address" in
    */tag/v*) printf '%s\n' "${address##*/tag/v}" ;;
    *) fail "the newest release could not be found at $latest; name one with --version" ;;
  esac
}

# The SHA-256 of a file.
sha256() {
  if has sha256sum; then
    sha256sum "$1" | cut -d ' ' -f 1
  else
    shasum -a 256 "$1" | cut -d ' ' -f 1
  fi
}

# verify ARCHIVE: whether it is the file that SHA256SUMS names, both in $work.
verify() {
  # Exactly one line may name the archive, and it has to be a whole digest. Some programs write a star before the name.
  expected=$(awk -v name="$1" '$2 == name || $2 == "*" name { print $1 }' "$work/SHA256SUMS")
  case "$expected" in
    "") fail "SHA256SUMS does not name $1, so nothing was installed" ;;
    *[!0-9a-f]*) fail "SHA256SUMS has no usable checksum of $1, so nothing was installed" ;;
  esac
  [ "${#expected}" -eq 64 ] || fail "SHA256SUMS has no usable checksum of $1, so nothing was installed"
  actual=$(sha256 "$work/$1") || actual=
  [ "$actual" = "$expected" ] ||
    fail "the checksum of $1 is ${actual:-unknown} and should be $expected, so nothing was installed"
}

# older A B: whether A is an older version than B, by their three numbers. A prerelease counts as its release.
older() {
  printf '%s\n%s\n' "$1" "$2" | awk -F '[-.+]' '
    NR == 1 { for (i = 1; i <= 3; i++) first[i] = $i + 0 }
    NR == 2 { for (i = 1; i <= 3; i++) if (first[i] != $i + 0) exit first[i] > $i + 0; exit 1 }'
}

# What leads to the newest release may lead to one whose faults are known: going back has to be meant.
refuse_rollback() {
  [ -x "$to/hob" ] || return 0
  installed=$("$to/hob" --version 2>/dev/null) || return 0
  installed=${installed#hob }
  if older "$version" "$installed"; then
    fail "the newest release, $version, is older than $installed, which is installed; to go back, name it with --version $version"
  fi
}

# attested ARCHIVE: whether the workflow that builds releases built the file in $work. A server that replaces an archive can
# replace SHA256SUMS, but cannot sign as that workflow. The public keys are fetched first, so that only an attestation that is
# missing or wrong is refused, and not a machine that cannot check one.
attested() {
  if [ "$base_url" != "$releases" ]; then
    printf 'Only the checksum was verified, not the attestation: --base-url is not where %s publishes.\n' "$repository" >&2
  elif ! gh attestation trusted-root --hostname github.com >"$work/keys.jsonl" 2>/dev/null; then
    printf 'Only the checksum was verified, not the attestation: gh is not installed, is too old, or cannot fetch the public keys.\n' >&2
  else
    download "$base_url/v$version/attestation.jsonl" "$work/attestation.jsonl" ||
      fail "the release v$version has no attestation.jsonl at $base_url, so nothing was installed"
    gh attestation verify "$work/$1" --hostname github.com --repo "$repository" --bundle "$work/attestation.jsonl" \
      --custom-trusted-root "$work/keys.jsonl" --signer-workflow "$repository/.github/workflows/release.yml" >/dev/null 2>&1 ||
      fail "the attestation of $1 does not say that the release workflow of $repository built it, so nothing was installed"
    printf 'The release workflow of %s built it, by its attestation.\n' "$repository" >&2
  fi
}

main() {
  releases=https://github.com/$repository/releases/download
  version=${HOB_INSTALL_VERSION:-}
  base_url=${HOB_INSTALL_BASE_URL:-$releases}
  to=${HOB_INSTALL_TO:-}
  while [ $# -gt 0 ]; do
    case "$1" in
      --help | -h)
        usage
        exit 0
        ;;
      --version | --to | --base-url)
        if [ $# -lt 2 ] || [ -z "$2" ]; then fail "$1 needs a value"; fi
        case "$1" in
          --version) version=$2 ;;
          --to) to=$2 ;;
          --base-url) base_url=$2 ;;
        esac
        shift 2
        ;;
      *) fail "there is no option $1; see --help" ;;
    esac
  done
  base_url=${base_url%/}
  case "$base_url" in
    # What stands before an @ is a name to sign in with, and the host comes after it.
    *@*) fail "--base-url must not have an @" ;;
    https://*) ;;
    # A mirror or a test on this machine.
    http://127.0.0.1:* | http://localhost:*) ;;
    *) fail "--base-url has to begin with https://" ;;
  esac
  if [ -z "$to" ]; then
    [ -n "${HOME:-}" ] || fail "HOME is not set; say with --to where the program goes"
    to=$HOME/.local/bin
  fi
  # Asked for before anything is downloaded: without it nothing can be verified.
  has sha256sum || has shasum ||
    fail "neither sha256sum nor shasum is installed, so the checksum cannot be computed and nothing was installed"
  for program in awk gzip tar; do
    has "$program" || fail "$program is not installed"
  done
  choose_client

  target=$(machine)
  if [ -z "$version" ]; then
    version=$(newest_version)
    case "$version" in
      *-*) fail "the newest release, $version, is a prerelease; name it with --version if you want it" ;;
    esac
    refuse_rollback
  fi
  version=${version#v}
  # It becomes a part of addresses and paths.
  case "$version" in
    [0-9]*) ;;
    *) fail "$version is not a version such as 0.1.0" ;;
  esac
  case "$version" in
    *[!0-9A-Za-z.+-]*) fail "$version is not a version such as 0.1.0" ;;
  esac

  name=hob-$version-$target
  work=$(mktemp -d)
  new=
  trap 'rm -rf "$work" ${new:+"$new"}' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  printf 'Downloading hob %s for %s\n' "$version" "$target" >&2
  download "$base_url/v$version/SHA256SUMS" "$work/SHA256SUMS" ||
    fail "the release v$version has no SHA256SUMS at $base_url, so nothing was installed"
  # The smaller form, where the release has it and this machine can read it.
  archive=$name.tar.gz unpack=gzip
  if has xz && grep -q "[ *]$name\.tar\.xz\$" "$work/SHA256SUMS"; then archive=$name.tar.xz unpack=xz; fi
  download "$base_url/v$version/$archive" "$work/$archive" ||
    fail "the release v$version has no $archive at $base_url, so nothing was installed"
  verify "$archive"
  attested "$archive"

  # Only the program, and through a pipe: no name or link in the archive decides where something is written.
  if ! "$unpack" -d -c "$work/$archive" | tar -xOf - "$name/hob" >"$work/hob" || [ ! -s "$work/hob" ]; then
    fail "$archive has no $name/hob, so nothing was installed"
  fi

  mkdir -p "$to" || fail "the folder $to cannot be made, so nothing was installed"
  # In the same folder, so that the last step is a rename: a Hob that is running keeps its file, and nobody finds half of one.
  new=$(mktemp "$to/.hob.XXXXXX") || fail "the folder $to cannot be written, so nothing was installed"
  cp "$work/hob" "$new"
  chmod 755 "$new"
  # A program that does not start must not take the place of one that does.
  says=$("$new" --version) || fail "the program does not start on this machine, so nothing was installed"
  [ "$says" = "hob $version" ] || fail "the program says that it is $says and not hob $version, so nothing was installed"
  mv -f "$new" "$to/hob"
  new=

  printf '%s is installed as %s\n' "$says" "$to/hob"
  case ":${PATH:-}:" in
    *":$to:"*) ;;
    *) printf 'This folder is not on your PATH. Add it:\n\n    export PATH="%s:%s"\n\n' "$to" "\$PATH" ;;
  esac
  printf 'Try it without an account or a key: hob rehearse\n'
}

# The last line, so that a download that breaks off runs nothing.
main "$@"
