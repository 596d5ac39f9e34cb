# What Hob wrote, one line each, as one object: the rows of a table, how it ended and what it cost. A line that was cut off
# because Hob was killed is left out.

def usd: (map(.metrics | .spend.usd_micros + .running.usd_micros) | add // 0) / 1000000;

[inputs | fromjson? | objects] as $lines
| ($lines | map(select(.event == "result")) | last | .result) as $result
| ($lines | map(select(.event == "error")) | last) as $error
| ($lines | any(.event == "ended")) as $ended
| (
    if $command == "ready" then $result.issues // []
    elif $command == "work" then
      $result // []
      | map({issue, title, state, pull_request, why, usd: (.issue as $n | $sessions | map(select(.issue == $n)) | usd)})
    elif $command == "status" then
      ($wanted | fromjson? // []) as $numbers
      | ($result.issues // [])
      | map({
          issue, title, state, pull_request: .pull.number, why: .blocked.question, usd: ((.spend.usd_micros // 0) / 1000000),
          proof: .work.proof
        }) as $records
      | $numbers | map(. as $n | ($records | map(select(.issue == $n)) | first) // {issue: $n, state: null})
      # What a person has to look at comes first.
      | sort_by(if .state == "blocked" then 0 elif .pull_request == null then 1 else 2 end)
    else
      # Of a pass, what was said last of each issue.
      $lines | map(select(.event == "moved" or .event == "published")) | group_by(.issue)
      | map({
          issue: .[0].issue,
          state: (map(.state // empty) | last),
          pull_request: (map(.pull // empty) | last),
          why: (map(.why // empty) | last)
        })
    end
  ) as $rows
| {
    rows: $rows,
    more: (($result | objects | .more) // 0),
    schedule: (($result | objects | .schedule) // null),
    minutes: (($result | objects | .attempt_minutes) // null),
    usd: (if $command == "status" then $rows | map(.usd // 0) | add // 0 else $sessions | usd end),
    exit: (
      # An issue without a pull request is not a failure of the job: a person is asked, or another run works on it.
      if $error and $error.exit == 8 and $result then 0
      elif $error then $error.exit
      elif $outcome == "failure" or ($result == null and ($ended | not)) then 1
      else 0 end),
    error: (
      if $error then $error.message
      elif $outcome == "skipped" then "Hob was not started, because a step before it failed."
      elif $result == null and ($ended | not) then
        "Hob ended before it told a result. If it held an issue, its lease expires, and the next run goes on."
      elif $outcome == "failure" then "Hob failed and did not say why."
      else null end)
  }
