#!/usr/bin/env bash
# Builds the sources with the hidden tests outside /app, then writes the reward.
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
gcc -std=c11 -D_POSIX_C_SOURCE=200809L -O1 -g -Wall -Wextra -Isrc \
    -o "$work/hidden" src/*.c "$here/hidden.c" &&
timeout 30 "$work/hidden" &&
reward=1
