# The `command` agent of the rehearsal: reads its brief on standard input, asks when the brief has no answer to its
# question, and edits the folder when it has one. Its first test shows nothing, which Hob tells it once. The last line it
# prints is its result.
brief=$(cat)
case $brief in
*"--- answer of"*[Rr]ound*down*) ;;
*)
    echo '{"outcome": "question", "question": "Should fractions of a minute be rounded down or up?"}'
    exit 0
    ;;
esac
edit() { sed "$1" "$2" > edited && cat edited > "$2" && rm edited; }
case $brief in
*"also pass without the change"*)
    edit 's/^expect 125 .*/expect 90.5 "1 h 30 min"/' tests/run.sh
    echo '{"outcome": "done", "summary": "Fractions of a minute are rounded down, as the answer on the issue says. `tests/run.sh` has a case with a fraction now, and the README a line."}'
    ;;
*)
    edit 's/^minutes=\$1$/minutes=${1%%.*}/' pace.sh
    edit 's/^echo "1\.\.\$cases"$/expect 125 "2 h 5 min"\n&/' tests/run.sh
    printf '\nFractions of a minute are rounded down.\n' >> README.md
    echo '{"outcome": "done", "summary": "Fractions of a minute are rounded down, as the answer on the issue says. There is one more case in tests/run.sh and a line in the README."}'
    ;;
esac
