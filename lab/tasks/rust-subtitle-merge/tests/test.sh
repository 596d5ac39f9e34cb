#!/usr/bin/env bash
# Builds the library and the hidden tests outside /app, then writes the reward.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
reward=0

finish() {
    rm -rf "$work"
    mkdir -p /logs/verifier
    echo "$reward" > /logs/verifier/reward.txt
    exit 0
}
trap finish EXIT

cd /app
rustc --edition 2021 --crate-type rlib --crate-name subtitles \
    src/lib.rs -o "$work/libsubtitles.rlib" &&
rustc --edition 2021 --test --extern "subtitles=$work/libsubtitles.rlib" \
    "$here/hidden.rs" -o "$work/hidden" &&
timeout 30 "$work/hidden" &&
reward=1
