# The agent of the profile `security` in the rehearsal: it closes the hole, and hands the rest over.
cat > /dev/null
sed '/^minutes=/a\
case $1 in\
"" | *[!0-9.]*) echo "pace.sh: not a number of minutes: $1" >\&2 && exit 2 ;;\
esac' pace.sh > pace.new && cat pace.new > pace.sh && rm pace.new
echo '{"outcome": "hand_over", "to": "docs", "reason": "The README is to say which input is refused", "done": "pace.sh refuses what is no number.", "left": "A line in the README: exit code 2 for input that is no number.", "evidence": ["pace.sh"]}'
