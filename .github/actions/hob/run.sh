#!/usr/bin/env bash
# Says which token this is, masks the secrets, and becomes Hob. Hob's results go to a file for the next step.
set -euo pipefail
umask 077

# What a value says is not repeated: it may come from whoever set the input.
refuse() {
  printf '::error title=Hob::%s\n' "$1"
  exit 2
}

# mask TEXT: the runner hides it, line by line, wherever it would be logged.
mask() {
  local line
  while IFS= read -r line || [ -n "$line" ]; do
    line="${line%$'\r'}"
    # In outputs and lines of the log, a short text would hide what has nothing to do with it.
    [ "${#line}" -ge 8 ] || continue
    line="${line//%/%25}"
    printf '::add-mask::%s\n' "$line"
  done <<<"$1"
}
for variable in $(compgen -e); do
  case "$variable" in
    *_FILE) ;;
    *KEY* | *TOKEN* | *SECRET* | *PASSWORD* | *PASSWD* | *CREDENTIAL* | HOB_WEBHOOK_URL) mask "${!variable}" ;;
  esac
done

announce() {
  case "$HOB_COMMAND" in
    # Once a run, and not once an issue.
    ready | run) printf '::%s title=Hob::%s\n' "$1" "$2" ;;
    *) printf '%s\n' "$2" ;;
  esac
}
[ -n "$GITHUB_TOKEN" ] || refuse "There is no token: the input github-token is empty."
if [ "$HOB_OWN_TOKEN" = true ]; then
  announce notice "Hob works with the job's own token. No CI starts by itself on its pull requests: a person has to approve it. \
A token of an App or a fine-grained one does not have that limit."
  # The job's own token cannot look up its account.
  export HOB__FORGE__LOGIN="${HOB__FORGE__LOGIN:-github-actions[bot]}"
else
  case "$GITHUB_TOKEN" in
    ghs_*)
      announce notice "Hob works with the token of an App. CI starts on its pull requests. The App's account, such as \
helper[bot], should be the setting forge.login: such a token cannot look it up."
      ;;
    github_pat_*) announce notice "Hob works with a fine-grained token. CI starts on its pull requests." ;;
    ghp_*)
      announce warning "Hob works with a classic token, which reaches every repository of its account. CI starts on its pull \
requests, and it would with a fine-grained token for this repository alone."
      ;;
    *) announce notice "Hob works with a token of an unknown kind. Whether CI starts on its pull requests depends on it." ;;
  esac
fi

number() {
  [[ "$2" =~ ^[1-9][0-9]{0,9}$ ]] || refuse "The input $1 is not a number from 1."
}
options=(--json --state-dir "$HOB_FOLDER/state")
if [ -n "$HOB_SETTINGS" ]; then
  printf '%s\n' "$HOB_SETTINGS" >"$HOB_FOLDER/hob.toml"
  options+=(--config "$HOB_FOLDER/hob.toml")
fi
case "$HOB_COMMAND" in
  ready)
    options+=(ready)
    if [ -n "$HOB_LIMIT" ]; then
      number limit "$HOB_LIMIT"
      options+=(--limit "$HOB_LIMIT")
    fi
    if [ -n "$HOB_SHARD" ]; then
      [[ "$HOB_SHARD" =~ ^[1-9][0-9]*/[1-9][0-9]*$ ]] || refuse "The input shard is not a part such as 2/3."
      options+=(--shard "$HOB_SHARD")
    fi
    ;;
  work)
    number issue "$HOB_ISSUE"
    options+=(work "$HOB_ISSUE")
    ;;
  run)
    options+=(run --once)
    if [ -n "$HOB_LIMIT" ]; then
      number limit "$HOB_LIMIT"
      options+=(--max-issues "$HOB_LIMIT")
    fi
    ;;
  status) options+=(status) ;;
  *) refuse "The input command is none of ready, work, run and status." ;;
esac
# Split at white space and nothing else: no pattern and no quote in it means anything.
read -r -d '' -a extra <<<"$HOB_ARGS" || true
options+=(${extra[@]+"${extra[@]}"})

if [ "$HOB_COMMAND" = run ]; then
  # Its own summary, annotations and groups tell more of a pass than the next step could; commands are stopped within groups.
  exec "$HOB_FOLDER/hob" "${options[@]}" >"$HOB_FOLDER/results.jsonl"
fi
# Progress names issues and what agents say. Commands stay stopped until the end of this step, because nobody learns the token.
token="$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
printf '::stop-commands::%s\n' "$token"
# The next step writes the summary and the annotations, so Hob must not.
exec env -u GITHUB_ACTIONS -u GITHUB_STEP_SUMMARY "$HOB_FOLDER/hob" "${options[@]}" >"$HOB_FOLDER/results.jsonl"
