# The agent of the profile `docs` in the rehearsal: it goes on with what `security` handed over.
brief=$(cat)
case $brief in
*'The profile `security` worked on this before you'*"exit code 2"*) ;;
*) echo "this was not handed over" >&2 && exit 1 ;;
esac
printf '\nInput that is no number is refused, with exit code 2.\n' >> README.md
echo '{"outcome": "done", "title": "Refuse input that is no number", "summary": "`pace.sh` refuses what is no number with exit code 2 before it computes anything, so that no input is evaluated. The README says so."}'
