#!/usr/bin/env bash
# Runs the hidden tests against what is left in /app and records the reward.
tests=$(cd "$(dirname "$0")" && pwd)
mkdir -p /logs/verifier
if python3 -P -B "$tests/test_repair.py" -v; then
  reward=1
else
  reward=0
fi
echo "$reward" >/logs/verifier/reward.txt
exit 0
