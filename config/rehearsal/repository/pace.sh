#!/bin/sh
# Prints a number of minutes as hours and minutes: `pace.sh 90` prints `1 h 30 min`.
minutes=$1
if [ "$minutes" -gt 60 ]; then
    echo "$((minutes / 60)) h $((minutes % 60)) min"
else
    echo "$minutes min"
fi
