#!/bin/sh
# Checks pace.sh: prints a line for each case and exits with 1 when one is wrong.
status=0
expect() {
    got=$(sh pace.sh "$1")
    if [ "$got" = "$2" ]; then
        echo "ok    $1 is $2"
    else
        echo "WRONG $1 should be $2, but is $got"
        status=1
    fi
}
expect 5 "5 min"
expect 59 "59 min"
expect 60 "1 h 0 min"
expect 90 "1 h 30 min"
exit $status
