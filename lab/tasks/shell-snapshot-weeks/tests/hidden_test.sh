#!/usr/bin/env bash
# Hidden tests of prune; run in the project's folder.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

check() { # check WHAT EXPECTED ACTUAL
    if [[ $2 == "$3" ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'not ok: %s\n--- expected\n%s\n--- actual\n%s\n' "$1" "$2" "$3"
    fi
}

names() { printf 'home-%s\n' "$@"; }

check "the example of the issue" "\
keep home-2025-01-06 weekly:2025-W02
keep home-2025-01-02 weekly:2025-W01
delete home-2024-12-30
keep home-2024-12-23 weekly:2024-W52
keep home-2024-12-16 weekly:2024-W51" \
    "$(names 2024-12-16 2024-12-23 2024-12-30 2025-01-02 2025-01-06 | bash bin/prune -d 0 -m 0 -w 4 -v)"

check "January days of week 53 of the year before" "\
keep home-2021-01-04 weekly:2021-W01
keep home-2021-01-03 weekly:2020-W53
delete home-2020-12-31
delete home-2020-12-28
keep home-2020-12-27 weekly:2020-W52" \
    "$(names 2020-12-27 2020-12-28 2020-12-31 2021-01-03 2021-01-04 | bash bin/prune -d 0 -m 0 -w 3 -v)"

check "January days of week 52 of the year before" "\
keep home-2023-01-02 weekly:2023-W01
keep home-2023-01-01 weekly:2022-W52
delete home-2022-12-26" \
    "$(names 2022-12-26 2023-01-01 2023-01-02 | bash bin/prune -d 0 -m 0 -w 9 -v)"

check "what is deleted, without -v" "home-2024-12-30" \
    "$(names 2024-12-16 2024-12-23 2024-12-30 2025-01-02 2025-01-06 | bash bin/prune -d 0 -m 0 -w 4)"

# Every day around New Year for many years, against date(1).
days=()
for ((year = 1970; year <= 2105; year++)); do
    for day in 01-01 01-02 01-03 01-04 01-05 01-08 02-28 03-01 07-04 12-24 12-27 12-28 12-29 12-30 12-31; do
        days+=("$year-$day")
    done
done
printf '%s\n' "${days[@]}" | date -u -f - '+%Y-%m-%d %G-W%V' |
    LC_ALL=C sort -r |
    while read -r day week; do
        if [[ $week == "${last:-}" ]]; then
            echo "delete s-$day"
        else
            echo "keep s-$day weekly:$week"
        fi
        last=$week
    done >"$work/expected"
printf 's-%s\n' "${days[@]}" | bash bin/prune -d 0 -m 0 -w 99999 -v >"$work/actual"
check "$(grep -c . "$work/expected") days agree with date(1)" "" \
    "$(diff "$work/expected" "$work/actual" | head -n 20)"

# No process for each name: a date that counts its calls.
mkdir "$work/bin"
printf '#!/bin/sh\necho x >>%s/forks\nexec /usr/bin/env -i PATH=/usr/bin:/bin date "$@"\n' "$work" >"$work/bin/date"
chmod +x "$work/bin/date"
: >"$work/forks"
names 2020-12-28 2021-01-03 2022-06-01 2022-06-02 2023-01-01 2024-12-30 2024-12-31 2025-01-01 |
    PATH=$work/bin:$PATH bash bin/prune -w 5 -v >/dev/null
check "date is not started for each name" yes \
    "$( (($(wc -l <"$work/forks") < 4)) && echo yes)"

# What worked before.
check "the reasons of one snapshot" "\
keep home-2024-11-04 daily:2024-11-04 weekly:2024-W45 monthly:2024-11
keep home-2024-11-03 weekly:2024-W44
delete home-2024-11-02
keep home-2024-10-31 monthly:2024-10" \
    "$(names 2024-11-02 2024-11-04 2024-10-31 2024-11-03 | bash bin/prune -d 1 -w 2 -m 2 -v)"
check "names without a date are reported only" "
prune: no date in the name: lost+found
prune: no date in the name: home-2023-02-29" \
    "
$(printf '%s\n' lost+found home-2023-02-29 home-2024-02-29 | bash bin/prune 2>&1)"
check "no input" "" "$(bash bin/prune </dev/null 2>&1)"
check "months" "$(names 2024-10-01 2024-09-30 2024-08-31)" \
    "$(names 2024-08-31 2024-09-30 2024-10-01 2024-10-31 2024-12-31 | bash bin/prune -d 1 -w 1 -m 2)"
bash bin/prune -w x </dev/null >/dev/null 2>&1
check "a bad count is a usage error" 2 $?

echo "$passed passed, $failed failed"
((failed == 0 && passed == 11))
