# The agent of the profile `docs` in the rehearsal: it continues with what `security` handed off.
brief=$(cat)
case $brief in
*'The profile `security` worked on this before you'*"exit code 2"*) ;;
*) echo "this was not handed off" >&2 && exit 1 ;;
esac
printf '\nInput that is not a number is refused, with exit code 2.\n' >> README.md
echo '{"outcome": "done", "title": "Refuse input that is not a number", "summary": "`pace.sh` refuses input that is not a number with exit code 2 before it computes anything, so that no input is evaluated. The README says so."}'
