# The `command` agent of the rehearsal: reads its brief on standard input, asks when the brief has no answer to its
# question, and edits the folder when it has one. The last line it prints is its result.
brief=$(cat)
case $brief in
*"--- answer of"*[Rr]ound*down*) ;;
*)
    echo '{"outcome": "question", "question": "Should fractions of a minute be rounded down or up?"}'
    exit 0
    ;;
esac
sed 's/^minutes=\$1$/minutes=${1%%.*}/' pace.sh > pace.new && cat pace.new > pace.sh && rm pace.new
sed 's/^exit \$status$/expect 90.5 "1 h 30 min"\nexit $status/' test.sh > test.new && cat test.new > test.sh && rm test.new
printf '\nFractions of a minute are rounded down.\n' >> README.md
echo '{"outcome": "done", "summary": "Fractions of a minute are rounded down, as the answer on the issue says. There is a case for it in test.sh and a line in the README."}'
