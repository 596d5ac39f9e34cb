#!/usr/bin/env bash
# Runs the hidden tests against a copy of /app and records the reward.
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p /logs/verifier
if python3 -P -B "$here/test_make.py" -v; then
  reward=1
else
  reward=0
fi
echo "$reward" > /logs/verifier/reward.txt
exit 0
