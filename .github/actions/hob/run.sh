#!/usr/bin/env bash
# Says whose identity this is, masks the secrets, and becomes Hob. Hob's results go to a file for the next step.
set -euo pipefail
umask 077

# What a value says is not repeated: it may come from anyone who set the input.
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
number() {
  [[ "$2" =~ ^[1-9][0-9]{0,9}$ ]] || refuse "The input $1 is not a number from 1."
}

# What settings.sh found; nothing where the settings cannot be used, which Hob tells.
app=0 login='' issues_per_hour=0 pace=''
if [ -s "$HOB_FOLDER/settings" ]; then
  # shellcheck source=/dev/null
  . "$HOB_FOLDER/settings"
fi
# An input that is not given is empty, and so is a secret that is not there.
if [ -n "$HOB_INPUT_APP_KEY" ]; then
  export HOB_APP_PRIVATE_KEY="$HOB_INPUT_APP_KEY"
fi
if [ -n "$HOB_INPUT_APP_ID" ]; then
  number app-id "$HOB_INPUT_APP_ID"
  [ -n "${HOB_APP_PRIVATE_KEY:-}${HOB_APP_PRIVATE_KEY_FILE:-}" ] || refuse "The input app-id is given, and the secret \
app-private-key is empty: is it there, and does the caller hand it on?"
  app="$HOB_INPUT_APP_ID"
  export HOB__APP__ID="$app"
fi
[ -z "$HOB_INPUT_APP_KEY" ] || [ "$app" != 0 ] ||
  refuse "The secret app-private-key is given, and the App's number is not: give the input app-id."
unset HOB_INPUT_APP_ID HOB_INPUT_APP_KEY
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
if [ "$app" != 0 ]; then
  # Hob makes tokens of its own, and none other is of use to it.
  unset GITHUB_TOKEN
  announce notice "Hob signs in as a GitHub App. CI starts on its pull requests."
elif [ -z "$GITHUB_TOKEN" ]; then
  refuse "There is no token: the input github-token is empty."
elif [ "$HOB_OWN_TOKEN" = true ]; then
  # GitHub does not hand on a secret that is empty, so that nobody can tell it from one that was not given.
  case "$login" in
    '' | 'github-actions[bot]') ;;
    *)
      refuse "The setting forge.login names another account than github-actions[bot], and there is no token but the job's own: the \
secret \`token\` is empty, or the caller does not hand it on."
      ;;
  esac
  announce notice "Hob works with the job's own token. No CI starts by itself on its pull requests: a person has to approve it. \
An App (input app-id, secret app-private-key) or a fine-grained token does not have that limit. A secret \`token\` that is empty \
counts as none."
  # An issue takes about 34 requests that count, and the repository has 1,000 an hour, for all of its workflows.
  [ "$issues_per_hour" -le 30 ] || announce warning "limits.issues_per_hour is above 30, and with the job's own token the \
repository has 1,000 requests an hour. An App has more."
  # The job's own token cannot look up its account.
  export HOB__FORGE__LOGIN="github-actions[bot]"
else
  case "$GITHUB_TOKEN" in
    ghs_*)
      announce notice "Hob works with the token of an App, which ends after an hour. CI starts on its pull requests. The App's \
account, such as helper[bot], should be the setting forge.login: such a token cannot look it up. With the App's number and key, Hob \
makes and renews tokens by itself."
      ;;
    github_pat_*) announce notice "Hob works with a fine-grained token. CI starts on its pull requests." ;;
    ghp_*)
      announce warning "Hob works with a classic token, which reaches every repository of its account. CI starts on its pull \
requests, and it would with a fine-grained token for this repository alone."
      ;;
    *) announce notice "Hob works with a token of an unknown kind. Whether CI starts on its pull requests depends on it." ;;
  esac
fi

options=(--json --state-dir "$HOB_FOLDER/state")
if [ -f "$HOB_FOLDER/hob.toml" ]; then
  options+=(--config "$HOB_FOLDER/hob.toml")
fi
# Jobs at the same time have one identity, and it has one limit.
if [ -n "$pace" ]; then
  export HOB__FORGE__PACE="$pace"
fi
case "$HOB_COMMAND" in
  ready)
    options+=(status --ready)
    limit="${HOB_LIMIT:-256}"
    number limit "$limit"
    # A matrix has no more jobs: GitHub fails a run that asks for more.
    options+=(--limit "$((limit < 256 ? limit : 256))")
    if [ -n "$HOB_SHARD" ]; then
      [[ "$HOB_SHARD" =~ ^[1-9][0-9]*/[1-9][0-9]*$ ]] || refuse "The input shard is not a part such as 2/3."
      options+=(--shard "$HOB_SHARD")
    fi
    ;;
  work)
    number issue "$HOB_ISSUE"
    options+=(run "$HOB_ISSUE")
    ;;
  run)
    options+=(run --once)
    if [ -n "$HOB_LIMIT" ]; then
      number limit "$HOB_LIMIT"
      options+=(--limit "$HOB_LIMIT")
    fi
    ;;
  status)
    [ -n "$HOB_ISSUES" ] || refuse "The input issues is empty. If it comes from another job: GitHub drops an output that contains a secret, \
such as one that is just \`12\`. Make that secret longer."
    options+=(status)
    ;;
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
