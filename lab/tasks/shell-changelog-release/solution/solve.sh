#!/usr/bin/env bash
set -eu
cp -r "$(dirname "$0")/files/." .
