#!/usr/bin/env bash
set -euo pipefail
cp -r "$(dirname "$0")/files/." .
