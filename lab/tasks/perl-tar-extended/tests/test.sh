#!/usr/bin/env bash
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p /logs/verifier
reward=0
if perl "$here/hidden.t"; then
    reward=1
fi
echo "$reward" >/logs/verifier/reward.txt
exit 0
