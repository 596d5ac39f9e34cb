#!/usr/bin/env bash
# Puts Hob into a new folder of the job, whose path is the output `folder`. The archive of the release is verified before
# anything is unpacked, each time: also where it was kept by an earlier job on this machine, which could have put anything there.
#
# Reads HOB_VERSION, HOB_SHA256 and HOB_BASE_URL. Works with the bash of macOS.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"

# Ends with one sentence, which holds nothing that was downloaded.
refuse() {
  printf '::error title=Hob::%s\n' "$1"
  exit 1
}

sha256() {
  if command -v sha256sum >/dev/null; then
    sha256sum <"$1" | cut -c 1-64
  else
    shasum -a 256 <"$1" | cut -c 1-64
  fi
}

is_digest() {
  [[ "$1" =~ ^[0-9a-f]{64}$ ]]
}

# curl with this run's limits; -q: a .curlrc on the machine does not count.
client() {
  curl -q --fail --silent --show-error --proto "$protocols" --connect-timeout 20 --max-time 300 --retry 3 \
    --max-filesize 500000000 "$@"
}

for program in curl git jq tar; do
  command -v "$program" >/dev/null || refuse "The program \`$program\` is not installed on this runner."
done
command -v sha256sum >/dev/null || command -v shasum >/dev/null ||
  refuse "Neither sha256sum nor shasum is installed on this runner, so no release can be verified."

# The repository that publishes the releases: a fork's own. `github.action_repository` is not to be relied on in a composite action.
repository="$(<"$here/source")"
base="${HOB_BASE_URL:-https://github.com/$repository/releases/download}"
base="${base%/}"
if [[ "$base" =~ ^https:// ]]; then
  # Nothing that began encrypted goes on in the clear.
  protocols="=https"
elif [[ "$base" =~ ^http://(127\.0\.0\.1|localhost)(:[0-9]+)?/ ]]; then
  protocols="=http,https"
else
  refuse "The input base-url has to begin with https://."
fi

case "$(uname -m)" in
  x86_64 | amd64) machine=x86_64 ;;
  aarch64 | arm64) machine=aarch64 ;;
  *) refuse "There is no release of Hob for this runner's processor." ;;
esac
case "$(uname -s)" in
  Linux) target="$machine-unknown-linux-musl" ;;
  Darwin) target="$machine-apple-darwin" ;;
  *) refuse "There is no release of Hob for this runner's system; it runs on Linux and macOS." ;;
esac

# older A B: whether A is an older version than B, by their three numbers.
older() {
  local first second at
  IFS=. read -r -a first <<<"${1%%-*}"
  IFS=. read -r -a second <<<"${2%%-*}"
  for at in 0 1 2; do
    [ "${first[$at]}" -eq "${second[$at]}" ] || {
      [ "${first[$at]}" -lt "${second[$at]}" ]
      return
    }
  done
  return 1
}

pinned="$(<"$here/version")"
version="${HOB_VERSION:-$pinned}"
if [ "$version" = latest ]; then
  # GitHub leads from there to the newest release that is neither a draft nor a prerelease.
  address="$(client --location --output /dev/null --write-out '%{url_effective}' "${base%/*}/latest")" ||
    refuse "The newest release could not be found; name one with the input version."
  version="${address##*/tag/v}"
  [[ "$version" =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] ||
    refuse "The newest release could not be told, or it is a prerelease; name one with the input version."
  # What leads to the newest release may lead to one whose faults are known: going back has to be meant.
  ! older "$version" "$pinned" ||
    refuse "The newest release, $version, is older than $pinned, which belongs to this action; to go back, set the input version to $version."
fi
# It becomes a part of addresses and paths.
[[ "$version" =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] ||
  refuse "The input version is neither a version, such as 0.1.0, nor \`latest\`."

name="hob-$version-$target"
archive="$name.tar.gz"
store="${RUNNER_TOOL_CACHE:-$RUNNER_TEMP}/hob/$version/$machine"
mkdir -p "$store"
new="$(mktemp -d "$store/.new.XXXXXX")"
trap 'rm -rf "$new"' EXIT

expected="$(tr 'A-F' 'a-f' <<<"${HOB_SHA256:-}")"
[ -z "$expected" ] || is_digest "$expected" || refuse "The input sha256 is not a SHA-256: 64 digits and letters from a to f."

if [ -z "$expected" ]; then
  client --location --output "$new/SHA256SUMS" "$base/v$version/SHA256SUMS" ||
    refuse "Release $version has no file SHA256SUMS, so nothing was unpacked."
  # One line names the archive. Some programs write a star before a name.
  expected="$(awk -v name="$archive" '$2 == name || $2 == "*" name { print $1 }' "$new/SHA256SUMS")"
  is_digest "$expected" || refuse "The file SHA256SUMS of release $version has no checksum of $archive, so nothing was unpacked."
fi

# A copy, because another job may replace the file between the look and the unpacking.
if [ -f "$store/$archive" ] && cp "$store/$archive" "$new/$archive" && [ "$(sha256 "$new/$archive")" = "$expected" ]; then
  printf 'Hob %s is on this machine already, and its archive has the SHA-256 %s.\n' "$version" "$expected"
else
  client --location --output "$new/$archive" "$base/v$version/$archive" ||
    refuse "Release $version has no $archive, or it could not be downloaded."
  actual="$(sha256 "$new/$archive")"
  [ "$actual" = "$expected" ] ||
    refuse "The checksum of $archive is $actual and should be $expected, so nothing was unpacked."
  # Renamed, so that jobs at the same time find a whole file or none.
  cp "$new/$archive" "$new/keep"
  mv -f "$new/keep" "$store/$archive"
  printf 'Hob %s was downloaded, and its archive has the SHA-256 %s.\n' "$version" "$expected"
fi

# Whoever can replace an archive can replace SHA256SUMS, but cannot sign as the workflow that builds releases. The attestation is a
# file of the release because gh fetches none without a token, and this step has none. The public keys are fetched first, so that
# only an attestation that is missing or wrong fails the job, and not a machine that cannot check one.
if [ -z "${HOB_SHA256:-}${HOB_BASE_URL:-}" ]; then
  if gh attestation trusted-root --hostname github.com >"$new/keys.jsonl" 2>/dev/null; then
    client --location --output "$new/attestation.jsonl" "$base/v$version/attestation.jsonl" ||
      refuse "Release $version has no file attestation.jsonl, or it could not be downloaded, so nothing was unpacked."
    gh attestation verify "$new/$archive" --hostname github.com --repo "$repository" --bundle "$new/attestation.jsonl" \
      --custom-trusted-root "$new/keys.jsonl" --signer-workflow "$repository/.github/workflows/release.yml" >/dev/null 2>&1 ||
      refuse "The attestation of $archive does not say that the release workflow of $repository built it, so nothing was unpacked."
    printf 'The release workflow of %s built it, by its attestation.\n' "$repository"
  else
    printf 'Only its checksum was verified, not its attestation: gh is not installed, is too old, or cannot fetch the public keys.\n'
  fi
fi

folder="$(mktemp -d "$RUNNER_TEMP/hob.XXXXXX")"
# Only the program, and through a pipe: no name or link in the archive decides where something is written.
tar -xzOf "$new/$archive" "$name/hob" >"$folder/hob" || refuse "There is no $name/hob in $archive."
chmod 700 "$folder/hob"
printf 'folder=%s\n' "$folder" >>"$GITHUB_OUTPUT"
