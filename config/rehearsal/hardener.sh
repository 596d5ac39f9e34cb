# The agent of the profile `security` in the rehearsal: it closes the hole, and hands off the rest.
cat > /dev/null
sed '/^minutes=/a\
case $1 in\
"" | *[!0-9.]*) echo "pace.sh: not a number of minutes: $1" >\&2 && exit 2 ;;\
esac' pace.sh > pace.new && cat pace.new > pace.sh && rm pace.new
echo '{"outcome": "hand_off", "to": "docs", "reason": "The README should say which input is refused", "done": "pace.sh refuses input that is not a number.", "left": "A line in the README: exit code 2 for input that is not a number.", "evidence": ["pace.sh"]}'
