#!/usr/bin/env bash
set -e
cp -r "$(dirname "$0")/files/." .
