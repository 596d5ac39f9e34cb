#!/usr/bin/env bash
# Compares what is in /app with what is wanted, and records the reward.
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p /logs/verifier
reward=1
for name in sorted stable rejected; do
  if ! diff -u "$here/$name.txt" "/app/$name.txt"; then
    echo "$name.txt is not what is wanted"
    reward=0
  fi
done
echo "$reward" > /logs/verifier/reward.txt
exit 0
