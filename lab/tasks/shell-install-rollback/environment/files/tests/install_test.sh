#!/usr/bin/env bash
# Run from the project's folder: bash tests/install_test.sh
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$work/release/bin"
echo 'echo hello' >"$work/release/bin/tool"
echo '755 - bin/tool' >"$work/manifest"

[[ $(bash bin/install-manifest "$work/manifest" "$work/release" "$work/target") == 'installed 1 files' ]]
[[ -x $work/target/bin/tool ]]

echo '755 - bin/missing' >"$work/manifest"
if bash bin/install-manifest "$work/manifest" "$work/release" "$work/target" 2>/dev/null; then
    echo 'a missing file must be an error' >&2
    exit 1
fi
echo ok
