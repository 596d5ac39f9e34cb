#!/usr/bin/env bash
# Run from the project's folder: bash tests/packlist_test.sh
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

printf '# results\n*.o\n\nbuild\n' >"$work/ignore"
actual=$(printf '%s\n' src/main.c src/main.o build/tool docs/build.md | bash bin/packlist -i "$work/ignore")
if [[ $actual != $'src/main.c\ndocs/build.md' ]]; then
    printf 'unexpected list:\n%s\n' "$actual" >&2
    exit 1
fi
echo ok
