#!/bin/sh
# Checks pace.sh: a line of TAP for each case, and exit code 1 if one is wrong.
cases=0 status=0
expect() {
    cases=$((cases + 1))
    got=$(sh pace.sh "$1" 2>&1)
    if [ "$got" = "$2" ]; then
        echo "ok $cases - $1 is $2"
    else
        printf 'not ok %s - %s is %s\n# It is %s.\n' "$cases" "$1" "$2" "$got"
        status=1
    fi
}
expect 5 "5 min"
expect 59 "59 min"
expect 90 "1 h 30 min"
echo "1..$cases"
exit $status
